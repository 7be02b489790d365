//! Rows with a cost: the matching rows, and the nearest of the others.

use smallvec::SmallVec;

use crate::eval::{EvalError, RowPart};

/// The cost of having nothing at all to start from.
pub(super) const NOTHING: f64 = 1e6;

/// The most rows that are really there in one relation.
const MAX_ROWS: usize = 100_000;

/// The most rows that are not there but carried along as near misses.
const MAX_NEAR: usize = 16;

/// The parts that a row is made of; what belongs to enclosing queries comes first.
pub(super) type RowParts<'r> = SmallVec<[RowPart<'r>; 3]>;

/// A row put together from parts, and what keeps it out.
pub(super) type CostedRow<'r> = Costed<RowParts<'r>>;

/// The rows of a relation.
pub(super) type RelationRows<'r> = RowPool<RowParts<'r>>;

/// A row, however it is kept, and what keeps it out; zero when nothing does.
#[derive(Clone, Debug)]
pub(super) struct Costed<R> {
    pub(super) row: R,
    pub(super) cost: f64,
    /// What conditions of WHERE will add that a join has judged already.
    pub(super) prepaid: f64,
    /// What it would take to be rid of the row, by the conditions that let it in.
    pub(super) to_remove: f64,
    /// The first step that it does not pass, and its distance there.
    pub(super) failed: Option<FailedStep>,
}

/// Where a row came to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FailedStep {
    /// How many steps it had passed before.
    pub(super) passed: u32,
    /// The distance in the step that it does not pass.
    pub(super) distance: f64,
}

impl<R> Costed<R> {
    /// A row that is there.
    pub(super) fn matching(row: R) -> Self {
        Self {
            row,
            cost: 0.0,
            prepaid: 0.0,
            to_remove: 1.0,
            failed: None,
        }
    }

    /// What keeps it out, with what is known to come.
    pub(super) fn total(&self) -> f64 {
        self.cost + self.prepaid
    }

    /// Whether nothing keeps it out so far.
    pub(super) fn is_there(&self) -> bool {
        self.total() == 0.0
    }

    /// Adds the price of passing a step, of which `passed` come before.
    pub(super) fn add_cost(&mut self, price: f64, passed: u32) {
        self.cost += price;
        if price > 0.0 && self.failed.is_none() {
            self.failed = Some(FailedStep {
                passed,
                distance: price,
            });
        }
    }
}

/// The rows of a relation, however they are kept.
#[derive(Debug)]
pub(super) struct RowPool<R> {
    /// Rows of cost zero, in order.
    pub(super) matching: Vec<Costed<R>>,
    /// The nearest of the others; in order once they are settled.
    pub(super) near_misses: Vec<Costed<R>>,
    /// Above this cost a row would not be kept.
    cost_limit: Option<f64>,
}

impl<R> Default for RowPool<R> {
    fn default() -> Self {
        Self {
            matching: Vec::new(),
            near_misses: Vec::new(),
            cost_limit: None,
        }
    }
}

impl<R> RowPool<R> {
    /// Whether a row of this cost is worth making.
    pub(super) fn would_keep(&self, cost: f64) -> bool {
        cost == 0.0 || self.cost_limit.is_none_or(|cost_limit| cost < cost_limit)
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// When there are more rows than a fixture ever has.
    pub(super) fn push(&mut self, costed: Costed<R>) -> Result<(), EvalError> {
        if costed.is_there() {
            if self.matching.len() == MAX_ROWS {
                return Err(EvalError::unsupported(format!(
                    "a product of more than {MAX_ROWS} rows"
                )));
            }
            self.matching.push(costed);
        } else if self.would_keep(costed.total()) {
            self.near_misses.push(costed);
            if self.near_misses.len() >= 2 * MAX_NEAR {
                self.truncate();
            }
        }
        Ok(())
    }

    /// Leaves the nearest of the rows that are not there, the nearest first.
    pub(super) fn truncate(&mut self) {
        // Stable, so that of equals the first stay.
        self.near_misses
            .sort_by(|a, b| a.total().total_cmp(&b.total()));
        if self.near_misses.len() >= MAX_NEAR {
            self.near_misses.truncate(MAX_NEAR);
            self.cost_limit = self.near_misses.last().map(Costed::total);
        }
    }

    /// The same rows, kept in another way.
    pub(super) fn map<T>(self, mut made: impl FnMut(R) -> T) -> RowPool<T> {
        let mut each = |rows: Vec<Costed<R>>| -> Vec<Costed<T>> {
            let rows = rows.into_iter();
            rows.map(|costed| Costed {
                row: made(costed.row),
                cost: costed.cost,
                prepaid: costed.prepaid,
                to_remove: costed.to_remove,
                failed: costed.failed,
            })
            .collect()
        };
        RowPool {
            matching: each(self.matching),
            near_misses: each(self.near_misses),
            cost_limit: self.cost_limit,
        }
    }

    /// The rows, those that are there first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Costed<R>> {
        self.matching.iter().chain(&self.near_misses)
    }

    /// How many rows it has in all.
    pub(super) fn len(&self) -> usize {
        self.matching.len() + self.near_misses.len()
    }

    /// The least cost of a row that is not there.
    pub(super) fn nearest_cost(&self) -> f64 {
        self.near_misses
            .iter()
            .map(Costed::total)
            .fold(NOTHING, f64::min)
    }

    /// Where the row came to an end that got furthest: after most steps, then nearest to the next.
    pub(super) fn furthest_failure(&self) -> Option<FailedStep> {
        let failed = self.near_misses.iter().filter_map(|costed| costed.failed);
        failed.reduce(|best, other| {
            let further = other.passed > best.passed
                || other.passed == best.passed && other.distance < best.distance;
            if further { other } else { best }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costed(cost: f64) -> CostedRow<'static> {
        let mut costed = Costed::matching(RowParts::new());
        costed.add_cost(cost, 0);
        costed
    }

    #[test]
    fn a_pool_keeps_the_nearest_misses() {
        let mut row_pool = RowPool::default();
        for number in 0..1000 {
            row_pool.push(costed(f64::from(1000 - number))).unwrap();
        }
        assert!(row_pool.near_misses.len() < 2 * MAX_NEAR);
        assert_eq!(row_pool.nearest_cost(), 1.0);
        assert!(row_pool.would_keep(0.5));
        assert!(!row_pool.would_keep(500.0));
    }

    #[test]
    fn only_the_first_step_that_is_not_passed_counts_as_failed() {
        let mut row = costed(0.0);
        row.add_cost(0.0, 1);
        row.add_cost(0.5, 2);
        row.add_cost(0.7, 3);
        assert_eq!(row.cost, 1.2);
        let failed = FailedStep {
            passed: 2,
            distance: 0.5,
        };
        assert_eq!(row.failed, Some(failed));
    }
}
