//! Rows with a cost: those that are there, and the nearest of those that are not.

use std::borrow::Cow;

use crate::eval::Stop;
use crate::value::Value;

/// The cost of having nothing at all to start from.
pub(super) const NOTHING: f64 = 1e6;

/// The most rows that are really there in one relation.
const MOST_ROWS: usize = 100_000;

/// The most rows that are not there but carried along as near misses.
const MOST_NEAR: usize = 64;

/// A row and what keeps it out; zero when nothing does.
#[derive(Clone, Debug)]
pub(super) struct Costed<'r> {
    pub(super) row: Cow<'r, [Value]>,
    pub(super) cost: f64,
    /// What it would take to be rid of the row, by the conditions that let it in.
    pub(super) to_remove: f64,
}

/// The rows of a relation.
#[derive(Debug, Default)]
pub(super) struct Pool<'r> {
    /// Rows of cost zero, in order.
    pub(super) there: Vec<Costed<'r>>,
    /// The nearest of the others, in no order.
    pub(super) near: Vec<Costed<'r>>,
    /// Above this cost a row would not be kept.
    bar: Option<f64>,
}

impl<'r> Pool<'r> {
    /// Whether a row of this cost is worth making.
    pub(super) fn wants(&self, cost: f64) -> bool {
        cost == 0.0 || self.bar.is_none_or(|bar| cost < bar)
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// When there are more rows than a fixture ever has.
    pub(super) fn push(&mut self, costed: Costed<'r>) -> Result<(), Stop> {
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
                // Stable, so that of equals the first stay.
                self.near.sort_by(|a, b| a.cost.total_cmp(&b.cost));
                self.near.truncate(MOST_NEAR);
                self.bar = self.near.last().map(|last| last.cost);
            }
        }
        Ok(())
    }

    /// The least cost of a row that is not there.
    pub(super) fn near_cost(&self) -> f64 {
        self.near
            .iter()
            .map(|costed| costed.cost)
            .fold(NOTHING, f64::min)
    }
}

/// Squeezes a distance into `0..1`, so that unlike distances can be added.
///
/// By its logarithm, because `d / (d + 1)` no longer moves where dates and
/// money lie apart: a step of one in 10⁹ must still count.
pub(super) fn normalize(distance: f64) -> f64 {
    let logarithm = distance.ln_1p();
    logarithm / (logarithm + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costed(cost: f64) -> Costed<'static> {
        Costed {
            row: Cow::Owned(Vec::new()),
            cost,
            to_remove: 1.0,
        }
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
    fn one_step_counts_also_far_away() {
        assert!(normalize(1e9) < normalize(1e9 + 1.0));
        assert_eq!(normalize(0.0), 0.0);
        assert!(normalize(f64::MIN_POSITIVE) > 0.0);
    }
}
