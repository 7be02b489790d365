//! Recursive queries, round by round and within bounds.

use crate::eval::{EvalError, RowPart, normalized};
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::{QueryEvaluator, QueryOutcome};
use super::model::Query;

/// The most rounds; databases have limits of their own, none of them lower.
const MAX_ROUNDS: usize = 200;

/// The most rows of all rounds.
const MAX_ROWS: usize = 10_000;

/// The rows of the round before, as the recursive part of a query reads them.
#[derive(Clone, Copy)]
pub(super) struct WorkingTable<'a> {
    /// The number of the recursive query.
    pub(super) number: usize,
    pub(super) rows: &'a [(Vec<Value>, f64)],
    /// That of a recursive query around it.
    pub(super) outer: Option<&'a WorkingTable<'a>>,
}

impl<'a> WorkingTable<'a> {
    /// The rows of a recursive query's last round.
    pub(super) fn of(&self, number: usize) -> Option<&'a [(Vec<Value>, f64)]> {
        if self.number == number {
            Some(self.rows)
        } else {
            self.outer.and_then(|outer| outer.of(number))
        }
    }
}

impl<'a> QueryEvaluator<'a> {
    /// The rows of the first operand, then those that the second makes of each round.
    pub(super) fn recursive(
        &self,
        query: &Query,
        [first, step]: [&Query; 2],
        all: bool,
        number: usize,
        outer: &[RowPart<'a>],
    ) -> Result<QueryOutcome, EvalError> {
        let mut outcome = self.outcome(first, outer, true)?;
        let width = outcome.rows.first().map_or(0, |(row, _)| row.len());
        let pairs: Vec<ComparedExprs<'_>> = (0..width)
            .map(|column| ComparedExprs::output(query, column))
            .collect();
        let found = std::mem::take(&mut outcome.rows);
        let mut rows = Vec::new();
        let mut last = self.fresh(found, &rows, &pairs, all)?;
        for _ in 0..MAX_ROUNDS {
            if last.is_empty() {
                outcome.rows = rows;
                return Ok(outcome);
            }
            rows.extend(last.iter().cloned());
            if rows.len() > MAX_ROWS {
                return Err(EvalError::unsupported(format!(
                    "a recursive query of more than {MAX_ROWS} rows"
                )));
            }
            let working = WorkingTable {
                number,
                rows: &last,
                outer: self.working,
            };
            let run = QueryEvaluator {
                working: Some(&working),
                ..*self
            };
            let next = run.outcome(step, outer, true)?;
            outcome
                .near_misses
                .extend(next.near_misses.into_iter().take(64));
            outcome.near_misses.truncate(256);
            outcome.distance = outcome.distance.min(normalized(next.distance));
            last = self.fresh(next.rows, &rows, &pairs, all)?;
        }
        Err(EvalError::unsupported(format!(
            "a recursive query of more than {MAX_ROUNDS} rounds"
        )))
    }

    /// The rows that are new; with ALL, every row is.
    fn fresh(
        &self,
        found: Vec<(Vec<Value>, f64)>,
        known: &[(Vec<Value>, f64)],
        pairs: &[ComparedExprs<'_>],
        all: bool,
    ) -> Result<Vec<(Vec<Value>, f64)>, EvalError> {
        if all {
            return Ok(found);
        }
        let mut fresh: Vec<(Vec<Value>, f64)> = Vec::new();
        for (row, to_remove) in found {
            let mut seen = false;
            for (other, _) in known.iter().chain(&fresh) {
                if self.all_same(pairs, &row, other)? {
                    seen = true;
                    break;
                }
            }
            if !seen {
                fresh.push((row, to_remove));
            }
        }
        Ok(fresh)
    }
}
