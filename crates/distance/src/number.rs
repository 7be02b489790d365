//! Korel's distances for comparisons of numbers.

use std::cmp::Ordering;

use crate::order::Relation;
use crate::truth::Truth;

/// Any relation between two numbers; NaN equals itself and lies above all others.
pub fn compare(relation: Relation, a: f64, b: f64) -> Truth {
    relation.judge(order(a, b), gap(a, b))
}

/// `a = b`.
pub fn equal(a: f64, b: f64) -> Truth {
    compare(Relation::Equal, a, b)
}

/// `a < b`.
pub fn less(a: f64, b: f64) -> Truth {
    compare(Relation::Less, a, b)
}

/// `a <= b`.
pub fn less_or_equal(a: f64, b: f64) -> Truth {
    compare(Relation::LessOrEqual, a, b)
}

/// The order of two numbers, total: NaN equals itself and lies above all others.
pub fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// How far two numbers are apart.
pub fn gap(a: f64, b: f64) -> f64 {
    (a - b).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_an_equality_is_the_difference() {
        assert_eq!(equal(4.0, 7.0).to_true(), 3.0);
        assert_eq!(equal(7.0, 7.0).verdict(), Some(true));
    }

    #[test]
    fn infinite_differences_stay_finite() {
        let truth = less(f64::INFINITY, f64::NEG_INFINITY);
        assert!(truth.to_true().is_finite());
        assert_eq!(truth.verdict(), Some(false));
    }
}
