//! The report of a REST run as neutral data, and its formats.
//!
//! # Reading order
//!
//! [`RestReport`] is everything there is to say; [`RunEvent`] says it while it happens. The functions
//! each turn a report into the text of one file: [`junit`], [`sarif`], [`wfc`], [`markdown`] and
//! [`html`]; `report.json` is [`RestReport::to_json`].

mod junit;
mod sarif;
mod wfc;
mod markdown;
mod html;

mod database;
mod event;
mod model;
mod outbound;
mod plot;
mod source;
mod statements;

pub use database::{ConstraintView, DatabaseView, DriftView, ViolationView};
pub use event::RunEvent;
pub use html::html;
pub use junit::junit;
pub(crate) use junit::without_total_of_skipped;
pub use markdown::markdown;
pub use model::{
    CodeView, ExcludedTest, FaultView, FileView, MissedBranch, OperationView, Progress,
    RestLimitation, RestReport, SCHEMA_VERSION, Severity, Share, SourceLocation, StatusCount,
    SuiteView, TestCall, TestCase, UncoveredTarget,
};
pub use outbound::OutboundView;
pub use sarif::sarif;
pub use statements::{RuleView, StatementView};
pub use wfc::wfc;
