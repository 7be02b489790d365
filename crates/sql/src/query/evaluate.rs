//! Running a query over rows in memory.
//!
//! # Rows with a cost
//!
//! The paper behind this job scores a query by the steps that were not reached
//! and by the distance in the first unsatisfied one. That forgets all but one
//! step at a time, and has nothing to say about outer joins and groups. Here
//! every relation is a list of rows *with a cost*: the cost is zero for a row
//! that is really there, and otherwise the sum of the (normalised) distances
//! of the conditions that keep it out. Each operator adds its own part:
//!
//! - a join pairs rows and adds the distance of ON to true; an outer join also
//!   offers the row padded with NULLs, at the price of making ON false for
//!   every partner that it has;
//! - WHERE adds its distance to true;
//! - groups are made of the rows that are there; HAVING adds its distance,
//!   and, because a group often lacks *one more row*, how near another row is
//!   to joining it.
//!
//! The result is the rows of cost zero, and the least cost is how far the query
//! is from returning one. Only a bounded number of rows that are not there is
//! carried along, so that a product of many relations stays cheap. What goes
//! wrong on a row that is not there goes unnoticed, as it does in a database.

use std::cell::Cell;

use jiff::civil::DateTime;

use crate::dialect::{Dialect, DialectName};
use crate::eval::{Env, EvalError, RaisedError, Row, RowPart, normalized};
use crate::expr::Expr;
use crate::value::Value;

use super::model::{Query, QueryBody};
use super::recursive::WorkingTable;
use super::row_pool::NOTHING;

/// Where a query finds the rows of tables.
pub trait Relations {
    /// The rows of a table, a value per column.
    fn rows(&self, table: usize) -> &[Vec<Value>];

    /// The most combinations of rows that one evaluation looks at; a query that needs more is not evaluated.
    fn max_combinations(&self) -> u64 {
        4_000_000
    }
}

impl Relations for Vec<Vec<Vec<Value>>> {
    fn rows(&self, table: usize) -> &[Vec<Value>] {
        self.get(table).map_or(&[], Vec::as_slice)
    }
}

/// What a query made of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryEvaluation {
    /// The rows it returns.
    pub rows: Vec<Vec<Value>>,
    /// How far it is from returning a row: zero when it does.
    pub distance: f64,
    /// How far it is from returning none: zero when it does.
    pub to_empty: f64,
    /// The distance of the paper (equation 2): how many steps no row reached, plus the squeezed distance of the
    /// nearest row in the first step that it does not pass; zero when a row is returned.
    pub stepwise: f64,
}

/// Runs a query.
///
/// # Errors
///
/// When a part of it is outside what we evaluate, or when the database would raise an error.
pub fn evaluate(
    query: &Query,
    relations: &dyn Relations,
    parameters: &[Value],
    dialect: &dyn Dialect,
) -> Result<QueryEvaluation, EvalError> {
    evaluate_at(query, relations, parameters, None, dialect)
}

/// Runs a query at a given time, which NOW and similar functions answer.
///
/// # Errors
///
/// As for [`evaluate`].
pub fn evaluate_at(
    query: &Query,
    relations: &dyn Relations,
    parameters: &[Value],
    now: Option<DateTime>,
    dialect: &dyn Dialect,
) -> Result<QueryEvaluation, EvalError> {
    let spent = Cell::new(0);
    let run = QueryEvaluator {
        relations,
        parameters,
        now,
        dialect,
        working: None,
        spent: &spent,
    };
    let outcome = run.outcome(query, &[], true)?;
    let (distance, to_empty) = (outcome.distance_to_rows(), outcome.distance_to_empty());
    let stepwise = outcome.stepwise_to_some();
    Ok(QueryEvaluation {
        rows: outcome.rows.into_iter().map(|(row, _)| row).collect(),
        distance,
        to_empty,
        stepwise,
    })
}

/// How far a query is from returning a row, without making the rows: what a search asks for.
///
/// # Errors
///
/// As for [`evaluate`].
pub fn distance(
    query: &Query,
    relations: &dyn Relations,
    parameters: &[Value],
    now: Option<DateTime>,
    dialect: &dyn Dialect,
) -> Result<f64, EvalError> {
    measure(query, relations, parameters, now, dialect).0
}

/// As [`distance`], and how many combinations of rows were looked at for it.
pub fn measure(
    query: &Query,
    relations: &dyn Relations,
    parameters: &[Value],
    now: Option<DateTime>,
    dialect: &dyn Dialect,
) -> (Result<f64, EvalError>, u64) {
    let spent = Cell::new(0);
    let run = QueryEvaluator {
        relations,
        parameters,
        now,
        dialect,
        working: None,
        spent: &spent,
    };
    let outcome = run.outcome(query, &[], false);
    let distance = outcome.map(|outcome| outcome.distance_to_rows());
    (distance, spent.get())
}

/// One evaluation: everything that stays the same in it.
#[derive(Clone, Copy)]
pub(super) struct QueryEvaluator<'a> {
    pub(super) relations: &'a dyn Relations,
    pub(super) parameters: &'a [Value],
    pub(super) now: Option<DateTime>,
    pub(super) dialect: &'a dyn Dialect,
    /// The rows of the round before, inside a recursive query.
    pub(super) working: Option<&'a WorkingTable<'a>>,
    /// The combinations of rows looked at so far.
    pub(super) spent: &'a Cell<u64>,
}

/// A query's rows with their costs.
pub(super) struct QueryOutcome {
    /// The rows returned, in order, each with the price of removing it; without values when nobody asked for them.
    pub(super) rows: Vec<(Vec<Value>, f64)>,
    /// Rows that are not returned, as they would be, with their cost.
    pub(super) near_misses: Vec<(Vec<Value>, f64)>,
    /// The least cost of a row, when none is returned.
    pub(super) distance: f64,
    /// The steps that no row reached, and the distance in the one before them: equation 2 of the paper.
    pub(super) stepwise: f64,
    /// What an aggregate over no rows lacks to have one.
    pub(super) missing_row_cost: f64,
}

impl QueryOutcome {
    /// How far it is from a row.
    pub(super) fn distance_to_rows(&self) -> f64 {
        if self.rows.is_empty() {
            self.distance.max(f64::MIN_POSITIVE)
        } else {
            0.0
        }
    }

    /// How far it is from a row by the steps of the paper.
    fn stepwise_to_some(&self) -> f64 {
        if self.rows.is_empty() {
            self.stepwise.max(f64::MIN_POSITIVE)
        } else {
            0.0
        }
    }

    /// How far it is from no row.
    pub(super) fn distance_to_empty(&self) -> f64 {
        self.rows.iter().map(|(_, to_remove)| to_remove).sum()
    }

    /// The least cost of a row that is not returned.
    pub(super) fn nearest_cost(&self) -> f64 {
        self.near_misses
            .iter()
            .map(|(_, cost)| *cost)
            .fold(NOTHING, f64::min)
    }
}

impl<'a> QueryEvaluator<'a> {
    /// Runs a query below an enclosing row; `shown` when the values of its rows matter and not only their number.
    pub(super) fn outcome(
        &self,
        query: &Query,
        outer: &[RowPart<'a>],
        shown: bool,
    ) -> Result<QueryOutcome, EvalError> {
        let mut outcome = match &query.body {
            QueryBody::Select(select) => {
                if self.dialect.name() == DialectName::MySql
                    && select.distinct
                    && query.offset.is_some()
                    && select
                        .items
                        .iter()
                        .all(|item| item.expr.columns().is_empty())
                {
                    // MariaDB stops at the first row and forgets the OFFSET.
                    return Err(EvalError::unsupported("OFFSET into DISTINCT constants"));
                }
                // What DISTINCT merges, OFFSET does not count.
                let shown = shown || (select.distinct && query.offset.is_some());
                self.select(select, outer, &query.order_by, shown)?
            }
            QueryBody::Set {
                all,
                left,
                right,
                recursive: Some(number),
                ..
            } => {
                let mut rows = self.recursive(query, [left, right], *all, *number, outer)?;
                self.sort_output(&mut rows.rows, query)?;
                rows
            }
            QueryBody::Set {
                op,
                all,
                left,
                right,
                recursive: None,
            } => {
                let both = (
                    self.outcome(left, outer, true)?,
                    self.outcome(right, outer, true)?,
                );
                let mut combined = self.combine(*op, *all, query, both)?;
                self.sort_output(&mut combined.rows, query)?;
                combined
            }
            QueryBody::Values(rows) => {
                let env = self.env(Row::Parts(outer));
                let rows = rows
                    .iter()
                    .map(|row| {
                        row.iter()
                            .map(|expr| crate::eval::value_in(expr, env, self.dialect))
                            .collect()
                    })
                    .map(|row: Result<Vec<Value>, EvalError>| row.map(|row| (row, 1.0)))
                    .collect::<Result<Vec<_>, EvalError>>()?;
                QueryOutcome {
                    rows,
                    near_misses: Vec::new(),
                    distance: 0.0,
                    stepwise: 0.0,
                    missing_row_cost: 0.0,
                }
            }
        };
        if query.limit.is_some() || query.offset.is_some() {
            self.cut(&mut outcome, query, outer)?;
        }
        Ok(outcome)
    }

    /// LIMIT and OFFSET.
    fn cut(
        &self,
        outcome: &mut QueryOutcome,
        query: &Query,
        outer: &[RowPart<'a>],
    ) -> Result<(), EvalError> {
        let count = |expr: &Expr| -> Result<Option<usize>, EvalError> {
            match crate::eval::value_in(expr, self.env(Row::Parts(outer)), self.dialect)? {
                Value::Null => Ok(None),
                Value::Int(count) => match usize::try_from(count) {
                    Ok(count) => Ok(Some(count)),
                    // SQLite takes a negative number for no limit, the others for a mistake.
                    Err(_) if self.dialect.takes_first_of_many() => Ok(None),
                    Err(_) => Err(RaisedError::InvalidArgument.into()),
                },
                other => Err(EvalError::unsupported(format!("LIMIT {other}"))),
            }
        };
        let count = |expr: &Option<Expr>| expr.as_ref().map(count).transpose().map(Option::flatten);
        let offset = count(&query.offset)?.unwrap_or(0);
        if offset > 0 {
            let missing = offset.saturating_add(1).saturating_sub(outcome.rows.len());
            if missing > 0 {
                outcome.distance = missing as f64 + normalized(outcome.nearest_cost());
            }
            outcome.rows.drain(..offset.min(outcome.rows.len()));
        }
        if let Some(limit) = count(&query.limit)? {
            outcome.rows.truncate(limit);
            if limit == 0 {
                outcome.distance = NOTHING;
            }
        }
        Ok(())
    }

    /// Notes that so many combinations of rows are about to be looked at.
    ///
    /// # Errors
    ///
    /// When they are too many.
    pub(super) fn charge(&self, combinations: usize) -> Result<(), EvalError> {
        let spent = self.spent.get().saturating_add(combinations as u64);
        let most = self.relations.max_combinations();
        if spent > most {
            let what = format!("a query over more than {most} combinations of rows");
            return Err(EvalError::unsupported(what));
        }
        self.spent.set(spent);
        Ok(())
    }

    pub(super) fn env<'e>(&'e self, row: Row<'e>) -> Env<'e> {
        Env {
            row,
            now: self.now,
            ..Env::queried(&[], self.parameters)
        }
    }
}
