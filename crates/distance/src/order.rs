//! What every comparison of ordered things shares: a relation, an ordering and a gap.
//!
//! The ordering decides the verdict, exactly; the gap, in floating point, only
//! says how far. So a comparison of wide integers or long decimals never gets a
//! wrong verdict from rounding.

use std::cmp::Ordering;

use crate::truth::{STEP, Truth};

/// The six relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Relation {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    /// Whether it holds of two things that are ordered so.
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }

    /// The outcome for two things that are ordered so and lie `gap` apart (Korel's rules).
    ///
    /// A strict relation between equals is one [`STEP`] away, on whatever scale the gap has.
    pub fn judge(self, ordering: Ordering, gap: f64) -> Truth {
        let gap = if ordering.is_eq() { 0.0 } else { gap.abs() };
        let holds = self.holds(ordering);
        let distance = match self {
            Self::Equal | Self::NotEqual if ordering.is_eq() => STEP,
            Self::Equal | Self::NotEqual => gap,
            // Leaving `<` means reaching equality; leaving `<=` means passing it.
            Self::Less | Self::Greater if holds => gap,
            Self::Less | Self::Greater => gap + STEP,
            Self::LessOrEqual | Self::GreaterOrEqual if holds => gap + STEP,
            Self::LessOrEqual | Self::GreaterOrEqual => gap,
        };
        if holds {
            Truth::holds(distance)
        } else {
            Truth::fails(distance)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_relation_between_equals_is_one_step_away() {
        let less = Relation::Less.judge(Ordering::Equal, 0.0);
        assert_eq!(less.verdict(), Some(false));
        assert_eq!(less.to_true(), STEP);
        assert_eq!(
            Relation::LessOrEqual.judge(Ordering::Equal, 0.0).to_false(),
            STEP
        );
    }

    #[test]
    fn a_gap_that_rounds_to_zero_keeps_the_verdict() {
        let equal = Relation::Equal.judge(Ordering::Less, 0.0);
        assert_eq!(equal.verdict(), Some(false));
        assert!(equal.to_true() > 0.0);
    }
}
