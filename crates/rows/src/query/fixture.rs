//! A fixture: rows to insert, parameter values, and the targets that they cover.

use isobath_sql::eval::EvalError;
use isobath_sql::query::{Query, evaluate_at};
use isobath_sql::{Row, Value};

use super::candidate::Candidate;
use super::construct::SolverContext;

/// Rows to insert and parameters to bind, and the targets that they cover.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fixture {
    /// The rows in the order of insertion, parents before children. A column that need not be set
    /// is left to its default.
    pub rows: Vec<Row>,
    /// The same rows as a database stores them, and one value per parameter of the query.
    pub candidate: Candidate,
    /// The targets that it covers, by their index.
    pub covers: Vec<usize>,
    /// For each of them the rows of the candidate that cover it, by table and place; `None` when
    /// that may be any.
    pub witnesses: Vec<Option<Vec<(usize, usize)>>>,
}

impl Fixture {
    /// One value per parameter of the query, in the order of their numbers; NULL where it does not matter.
    pub fn parameters(&self) -> &[Value] {
        &self.candidate.parameters
    }

    /// How many rows it has.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// What a query returns over it.
    ///
    /// # Errors
    ///
    /// When a part of the query is outside what we evaluate, or when the database would raise an error.
    pub fn result(
        &self,
        query: &Query,
        context: SolverContext<'_>,
    ) -> Result<Vec<Vec<Value>>, EvalError> {
        result(query, &self.candidate, context)
    }
}

/// What a query returns over a candidate.
pub(super) fn result(
    query: &Query,
    candidate: &Candidate,
    context: SolverContext<'_>,
) -> Result<Vec<Vec<Value>>, EvalError> {
    let (now, dialect) = (Some(context.now), context.dialect);
    let evaluated = evaluate_at(query, candidate, &candidate.parameters, now, dialect);
    evaluated.map(|evaluated| evaluated.rows)
}
