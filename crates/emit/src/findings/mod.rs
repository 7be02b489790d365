//! What a REST run found out, as neutral data, and its formats.
//!
//! # Reading order
//!
//! [`RestReport`] is everything there is to say; [`Event`] says it while it happens. The functions
//! each turn a report into the text of one file: [`junit`], [`sarif`], [`wfc`], [`markdown`] and
//! [`html`]; `report.json` is [`RestReport::to_json`].

mod database;
mod event;
mod html;
mod junit;
mod markdown;
mod model;
mod outgoing;
mod plot;
mod sarif;
mod source;
mod statements;
mod wfc;

pub use database::{ConstraintView, DatabaseView, DriftView, ViolationView};
pub use event::Event;
pub use html::html;
pub use junit::junit;
pub use markdown::markdown;
pub use model::{
    CodeView, FaultView, FileView, LeftOutTest, MissedBranch, OperationView, Progress,
    RestLimitation, RestReport, SCHEMA_VERSION, Severity, Share, SourceLocation, StatusCount,
    SuiteView, TestCall, TestCase, UncoveredTarget,
};
pub use outgoing::OutgoingView;
pub use sarif::sarif;
pub use statements::{RuleView, StatementView};
pub use wfc::wfc;
