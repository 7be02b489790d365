//! Membership in a set and in a range, built from single comparisons.

use crate::truth::Truth;

/// `x IN (…)` from the outcomes of `x = element`: the nearest element counts.
///
/// The empty set has no members.
pub fn any(equalities: impl IntoIterator<Item = Truth>) -> Truth {
    equalities
        .into_iter()
        .reduce(Truth::or)
        .unwrap_or(Truth::FALSE)
}

/// `x BETWEEN low AND high` from the outcomes of `low <= x` and `x <= high`.
pub fn between(above_low: Truth, below_high: Truth) -> Truth {
    above_low.and(below_high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    #[test]
    fn the_nearest_element_counts() {
        let among = any([1.0, 5.0, 100.0].map(|e| number::equal(7.0, e)));
        assert_eq!(among.to_true(), 2.0);
        assert_eq!(any([]).verdict(), Some(false));
    }

    #[test]
    fn between_points_at_the_nearer_bound() {
        let at = |x| between(number::less_or_equal(3.0, x), number::less_or_equal(x, 5.0));
        assert_eq!(at(1.0).to_true(), 2.0);
        assert_eq!(at(9.0).to_true(), 4.0);
        assert_eq!(at(4.0).to_false(), 2.0);
    }
}
