//! A writer per test language, chosen by name from a closed registry.

use crate::suite::{Suite, SuiteDialect};

mod dbt;
mod fixtures;
mod json;
pub(crate) mod junit;
pub(crate) mod layout;
pub mod name;
mod pgtap;
pub(crate) mod pytest;
pub(crate) mod rust;
mod sql;
mod sqlx;
pub(crate) mod text;

/// A file that a writer produced, for the caller to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path relative to the output folder, with forward slashes.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// Prints a suite in one test language.
pub trait Writer: Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// Prints `suite`. The same suite gives the same files, byte for byte.
    ///
    /// The first file is the suite itself; further ones are what it takes to run it.
    ///
    /// # Errors
    ///
    /// When this language cannot express the suite at all.
    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError>;
}

/// Why a suite could not be printed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The test language belongs to another engine.
    #[error("{writer} supports {only} only, not {}", .dialect.product())]
    Dialect {
        /// The writer.
        writer: &'static str,
        /// The engine it is for.
        only: &'static str,
        /// The dialect of the suite.
        dialect: SuiteDialect,
    },
    /// The test language is for queries, and the suite is not about queries.
    #[error("{writer} supports query tests only; {schema} has none")]
    OnlyQueries {
        /// The writer.
        writer: &'static str,
        /// The suite's schema.
        schema: String,
    },
    /// There is no such writer.
    #[error("unknown test language `{name}` (expected one of: {})", names().join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
}

/// All writers, in the order in which they are offered.
pub const ALL: &[&dyn Writer] = &[
    &sql::Sql,
    &pytest::Pytest,
    &junit::Junit,
    &rust::Rust,
    &pgtap::Pgtap,
    &json::Json,
    &fixtures::Fixtures,
    &sqlx::Sqlx,
    &dbt::Dbt,
];

/// Refuses suites that are not about queries.
fn only_queries(writer: &'static str, suite: &Suite) -> Result<(), WriteError> {
    if suite.queries.is_empty() {
        let schema = suite.schema.clone();
        return Err(WriteError::OnlyQueries { writer, schema });
    }
    Ok(())
}

/// The names of all writers.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|writer| writer.name()).collect()
}

/// The writer called `name`.
///
/// # Errors
///
/// When there is none; the message lists those that exist.
pub fn by_name(name: &str) -> Result<&'static dyn Writer, WriteError> {
    ALL.iter()
        .copied()
        .find(|writer| writer.name() == name)
        .ok_or_else(|| WriteError::Unknown { name: name.into() })
}
