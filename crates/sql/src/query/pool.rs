//! Rows with a cost: those that are there, and the nearest of those that are not.

use smallvec::SmallVec;

use crate::eval::{Part, Stop};

/// The cost of having nothing at all to start from.
pub(super) const NOTHING: f64 = 1e6;

/// The most rows that are really there in one relation.
const MOST_ROWS: usize = 100_000;

/// The most rows that are not there but carried along as near misses.
const MOST_NEAR: usize = 16;

/// The parts that a row is made of; what belongs to enclosing queries comes first.
pub(super) type Parts<'r> = SmallVec<[Part<'r>; 3]>;

/// A row put together from parts, and what keeps it out.
pub(super) type CostedRow<'r> = Costed<Parts<'r>>;

/// The rows of a relation.
pub(super) type Rows<'r> = Pool<Parts<'r>>;

/// A row, however it is kept, and what keeps it out; zero when nothing does.
#[derive(Clone, Debug)]
pub(super) struct Costed<R> {
    pub(super) row: R,
    pub(super) cost: f64,
    /// What it would take to be rid of the row, by the conditions that let it in.
    pub(super) to_remove: f64,
    /// The first step that it does not pass, and its distance there.
    pub(super) failed: Option<Failed>,
}

/// Where a row came to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Failed {
    /// How many steps it had passed before.
    pub(super) passed: u32,
    /// The distance in the step that it does not pass.
    pub(super) distance: f64,
}

impl<R> Costed<R> {
    /// A row that is there.
    pub(super) fn there(row: R) -> Self {
        Self {
            row,
            cost: 0.0,
            to_remove: 1.0,
            failed: None,
        }
    }

    /// Adds the price of passing a step, of which `passed` come before.
    pub(super) fn pays(&mut self, price: f64, passed: u32) {
        self.cost += price;
        if price > 0.0 && self.failed.is_none() {
            self.failed = Some(Failed {
                passed,
                distance: price,
            });
        }
    }
}

/// The rows of a relation, however they are kept.
#[derive(Debug)]
pub(super) struct Pool<R> {
    /// Rows of cost zero, in order.
    pub(super) there: Vec<Costed<R>>,
    /// The nearest of the others; in order once they are settled.
    pub(super) near: Vec<Costed<R>>,
    /// Above this cost a row would not be kept.
    bar: Option<f64>,
}

impl<R> Default for Pool<R> {
    fn default() -> Self {
        Self {
            there: Vec::new(),
            near: Vec::new(),
            bar: None,
        }
    }
}

impl<R> Pool<R> {
    /// Whether a row of this cost is worth making.
    pub(super) fn wants(&self, cost: f64) -> bool {
        cost == 0.0 || self.bar.is_none_or(|bar| cost < bar)
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// When there are more rows than a fixture ever has.
    pub(super) fn push(&mut self, costed: Costed<R>) -> Result<(), Stop> {
        if costed.cost == 0.0 {
            if self.there.len() == MOST_ROWS {
                return Err(Stop::unsupported(format!(
                    "a product of more than {MOST_ROWS} rows"
                )));
            }
            self.there.push(costed);
        } else if self.wants(costed.cost) {
            self.near.push(costed);
            if self.near.len() >= 2 * MOST_NEAR {
                self.settle();
            }
        }
        Ok(())
    }

    /// Leaves the nearest of the rows that are not there, the nearest first.
    pub(super) fn settle(&mut self) {
        // Stable, so that of equals the first stay.
        self.near.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        if self.near.len() >= MOST_NEAR {
            self.near.truncate(MOST_NEAR);
            self.bar = self.near.last().map(|last| last.cost);
        }
    }

    /// The same rows, kept in another way.
    pub(super) fn map<T>(self, mut made: impl FnMut(R) -> T) -> Pool<T> {
        let mut each = |rows: Vec<Costed<R>>| -> Vec<Costed<T>> {
            let rows = rows.into_iter();
            rows.map(|costed| Costed {
                row: made(costed.row),
                cost: costed.cost,
                to_remove: costed.to_remove,
                failed: costed.failed,
            })
            .collect()
        };
        Pool {
            there: each(self.there),
            near: each(self.near),
            bar: self.bar,
        }
    }

    /// The rows, those that are there first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Costed<R>> {
        self.there.iter().chain(&self.near)
    }

    /// How many rows it has in all.
    pub(super) fn len(&self) -> usize {
        self.there.len() + self.near.len()
    }

    /// The least cost of a row that is not there.
    pub(super) fn near_cost(&self) -> f64 {
        self.near
            .iter()
            .map(|costed| costed.cost)
            .fold(NOTHING, f64::min)
    }

    /// Where the row came to an end that got furthest: after most steps, then nearest to the next.
    pub(super) fn furthest(&self) -> Option<Failed> {
        let failed = self.near.iter().filter_map(|costed| costed.failed);
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
        let mut costed = Costed::there(Parts::new());
        costed.pays(cost, 0);
        costed
    }

    #[test]
    fn a_pool_keeps_the_nearest_misses() {
        let mut pool = Pool::default();
        for number in 0..1000 {
            pool.push(costed(f64::from(1000 - number))).unwrap();
        }
        assert!(pool.near.len() < 2 * MOST_NEAR);
        assert_eq!(pool.near_cost(), 1.0);
        assert!(pool.wants(0.5));
        assert!(!pool.wants(500.0));
    }

    #[test]
    fn only_the_first_step_that_is_not_passed_counts_as_failed() {
        let mut row = costed(0.0);
        row.pays(0.0, 1);
        row.pays(0.5, 2);
        row.pays(0.7, 3);
        assert_eq!(row.cost, 1.2);
        let failed = Failed {
            passed: 2,
            distance: 0.5,
        };
        assert_eq!(row.failed, Some(failed));
    }
}
