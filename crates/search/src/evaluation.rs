//! Scores per target, and the evaluation of a candidate.

use std::cmp::Ordering;

use crate::target::TargetId;

/// The score of a candidate for one target.
///
/// Invariant: `value` is in 0..=1, and 1 means covered; `secondary` is a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    target: TargetId,
    value: f64,
    secondary: f64,
}

impl Score {
    /// A score; what is outside of 0..=1 is moved to the nearer end, and what is not a number is 0.
    pub fn new(target: TargetId, value: f64) -> Self {
        let value = if value.is_nan() {
            0.0
        } else {
            value.clamp(0.0, 1.0)
        };
        Self {
            target,
            value,
            secondary: 0.0,
        }
    }

    /// The score of a covered target.
    pub fn covered(target: TargetId) -> Self {
        Self::new(target, 1.0)
    }

    /// The score of a distance, which is 1 when the distance is 0 and falls towards 0 as `1 / (1 + distance)`.
    ///
    /// A distance too large for the difference to show still scores above 0: the target was reached.
    pub fn of_distance(target: TargetId, distance: f64) -> Self {
        if distance <= 0.0 {
            return Self::covered(target);
        }
        let value = 1.0 / (1.0 + distance);
        // A tiny distance must not round to "covered", nor a huge one to "never reached".
        Self::new(target, value.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON))
    }

    /// The same score with a secondary objective: a distance that decides between equal scores, smaller is better.
    pub fn with_secondary(mut self, distance: f64) -> Self {
        self.secondary = if distance.is_nan() {
            f64::MAX
        } else {
            distance
        };
        self
    }

    /// Which target.
    pub fn target(&self) -> TargetId {
        self.target
    }

    /// The score, in 0..=1.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The secondary objective; 0 unless there is one.
    pub fn secondary(&self) -> f64 {
        self.secondary
    }

    /// Whether the target is covered.
    pub fn is_covered(&self) -> bool {
        self.value >= 1.0
    }

    /// Orders scores of one target: the better one is greater.
    pub fn cmp_quality(&self, other: &Self) -> Ordering {
        self.value
            .total_cmp(&other.value)
            .then_with(|| other.secondary.total_cmp(&self.secondary))
    }
}

/// What running a candidate taught us.
///
/// Invariant: the scores are ordered by target, one for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    scores: Vec<Score>,
    /// What it cost, in whatever the budget is counted in (calls, statements).
    pub cost: u64,
}

impl Evaluation {
    /// An evaluation; of several scores for one target the best counts.
    pub fn new(mut scores: Vec<Score>, cost: u64) -> Self {
        let by_target = |a: &Score, b: &Score| a.target.cmp(&b.target);
        if !scores.is_sorted_by(|a, b| a.target < b.target) {
            // The better score first, so that it is the one that is kept.
            scores.sort_by(|a, b| by_target(a, b).then_with(|| b.cmp_quality(a)));
            scores.dedup_by_key(|score| score.target);
        }
        Self { scores, cost }
    }

    /// The scores, ordered by target.
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// The score of one target, if it was touched.
    pub fn score(&self, target: TargetId) -> Option<&Score> {
        self.scores
            .binary_search_by_key(&target, |score| score.target)
            .ok()
            .and_then(|index| self.scores.get(index))
    }

    /// Whether it covers a target.
    pub fn covers(&self, target: TargetId) -> bool {
        self.score(target).is_some_and(Score::is_covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(index: usize) -> TargetId {
        TargetId::from_index(index)
    }

    #[test]
    fn scores_stay_in_their_range_whatever_they_are_made_of() {
        let value = |value| Score::new(target(0), value).value();
        assert_eq!([value(-1.0), value(f64::NAN), value(7.0)], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn only_a_distance_of_zero_covers() {
        let of = |distance| Score::of_distance(target(0), distance);
        assert!(of(0.0).is_covered());
        assert!(!of(1e-300).is_covered());
        assert!(of(f64::INFINITY).value() > 0.0);
        assert!(of(3.0).value() > of(4.0).value());
    }

    #[test]
    fn of_several_scores_for_one_target_the_best_counts() {
        let evaluation = Evaluation::new(
            vec![
                Score::new(target(2), 0.1),
                Score::new(target(1), 0.3).with_secondary(4.0),
                Score::new(target(1), 0.3).with_secondary(2.0),
                Score::new(target(2), 1.0),
            ],
            1,
        );
        assert_eq!(evaluation.scores().len(), 2);
        assert_eq!(evaluation.score(target(1)).unwrap().secondary(), 2.0);
        assert!(evaluation.covers(target(2)));
        assert!(!evaluation.covers(target(3)));
    }
}
