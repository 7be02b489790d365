//! Coverage targets: queries that must return a row.

use isobath_sql::query::{Query, ResolveError, parse};
use isobath_sql::{DialectName, Schema, coverage};

use super::parameter;

/// A query that must return a row for something to be covered.
#[derive(Clone, Debug)]
pub struct QueryTarget {
    /// The query's text.
    pub sql: String,
    /// The rule that it comes from, where that is known.
    pub rule: String,
    /// What it asks for, for people.
    pub says: String,
    /// The situation alone, without what follows from it.
    pub situation: String,
    /// For each place of a parameter in `sql`, which of the covered query's parameters it is.
    pub parameters: Vec<usize>,
    /// Whether a parameter is an array. We give it one element, so what is impossible with one may be possible with more.
    pub(super) takes_array: bool,
    /// The part of the covered query that it exercises, where that is known.
    pub clause: Option<coverage::Clause>,
    /// The query, with the covered query's numbers of parameters, or why we cannot evaluate it.
    pub query: Result<Query, ResolveError>,
}

impl QueryTarget {
    /// Reads a target that stands for itself; `syntax` is how it is written.
    pub fn read(sql: &str, rule: &str, says: &str, schema: &Schema, syntax: DialectName) -> Self {
        let parameters = parameter::numbers(sql, syntax);
        Self::with_parameters(sql, rule, says, parameters, schema, syntax)
    }

    /// A target that a criterion made of a query in this dialect.
    pub fn of(target: &coverage::CoverageTarget, schema: &Schema, syntax: DialectName) -> Self {
        let made = Self::with_parameters(
            &target.sql,
            &target.label(),
            &target.description.to_string(),
            target.parameters.clone(),
            schema,
            syntax,
        );
        Self {
            situation: target.description.situation.clone(),
            clause: Some(target.clause.clone()),
            ..made
        }
    }

    /// Reads a target; `parameters` says which of the covered query's each of its parameters is.
    pub(super) fn with_parameters(
        sql: &str,
        rule: &str,
        says: &str,
        parameters: Vec<usize>,
        schema: &Schema,
        syntax: DialectName,
    ) -> Self {
        let query = if parameters.is_empty() {
            parse(sql, schema, syntax)
        } else {
            let numbered = parameter::numbered(sql, &parameters, syntax);
            parse(&numbered, schema, syntax)
        };
        Self {
            sql: sql.to_owned(),
            rule: rule.to_owned(),
            says: says.to_owned(),
            takes_array: parameter::arrays(sql, syntax).contains(&true),
            situation: says.to_owned(),
            parameters,
            clause: None,
            query,
        }
    }
}
