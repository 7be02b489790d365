//! From DDL text to a schema.
//!
//! A text is cut into statements ([`split`](self)), each is parsed by itself,
//! and what it says is applied in order, so that folders of migrations end in
//! the schema that a database would hold. Everything that does not end up in
//! the model is a [`Limitation`] with its place.

#![deny(clippy::indexing_slicing)]

mod alter;
mod apply;
mod constraints;
mod detect_dialect;
mod excerpt;
mod fold;
mod load;
mod migration_order;
pub(crate) mod parse;
mod repair;
mod split;
mod table;

use crate::dialect::DialectName;
use crate::limitation::Limitation;
use crate::schema::Schema;

pub use excerpt::excerpt;
pub use fold::load_for_engine;
pub use load::load;
pub use migration_order::{SkippedMigration, migration_order};

/// One input text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's path as the user wrote it, or another name.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// What loading gave.
#[derive(Clone, Debug)]
pub struct LoadedSchema {
    /// The tables and constraints understood.
    pub schema: Schema,
    /// The dialect it was read in.
    pub dialect: DialectName,
    /// Why that dialect: the construct that gave it away, or that it was asked for.
    pub evidence: String,
    /// Everything that is not in the model.
    pub limitations: Vec<Limitation>,
    /// How many statements there were.
    pub statements: usize,
}
