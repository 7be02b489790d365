//! Coverage targets: queries that must return a row.

use isobath_sql::query::{Query, ResolveError, parse};
use isobath_sql::{DialectName, Schema};

/// A query that must return a row for something to be covered.
#[derive(Clone, Debug)]
pub struct Target {
    /// The query's text.
    pub sql: String,
    /// The rule that it comes from, where that is known.
    pub rule: String,
    /// What it asks for, for people.
    pub says: String,
    /// The query, or why we cannot evaluate it.
    pub query: Result<Query, ResolveError>,
}

impl Target {
    /// Reads a target; `syntax` is how it is written.
    pub fn read(sql: &str, rule: &str, says: &str, schema: &Schema, syntax: DialectName) -> Self {
        Self {
            sql: sql.to_owned(),
            rule: rule.to_owned(),
            says: says.to_owned(),
            query: parse(sql, schema, syntax),
        }
    }
}
