//! The outcome of a comparison and the logic that combines outcomes.

use std::ops::Not;

/// The outcome of a comparison, with the distance to either verdict.
///
/// Invariant: both distances are non-negative and finite, and they are never
/// both zero. A zero names the verdict; when neither is zero the comparison is
/// unknown, as in SQL. The operators then follow Kleene's logic by arithmetic
/// alone, so no caller has to treat NULL as a special case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    to_true: f64,
    to_false: f64,
}

/// The distance charged for a verdict that is simply wrong, when nothing finer is known.
pub const STEP: f64 = 1.0;

/// No distance is greater, so that sums of them stay finite.
const LIMIT: f64 = f64::MAX / 1e6;

impl Truth {
    /// Certainly true, one step from false.
    pub const TRUE: Self = Self {
        to_true: 0.0,
        to_false: STEP,
    };
    /// Certainly false, one step from true.
    pub const FALSE: Self = Self {
        to_true: STEP,
        to_false: 0.0,
    };
    /// Neither: a comparison with NULL.
    pub const UNKNOWN: Self = Self {
        to_true: STEP,
        to_false: STEP,
    };

    /// Neither, because a value is missing: farther from both verdicts than values usually are.
    ///
    /// Where unlike distances are added or the least is taken, a wrong value is
    /// then nearer than none, so that a search does not settle on NULL.
    pub const MISSING: Self = Self {
        to_true: 1e9,
        to_false: 1e9,
    };

    /// True, with the distance that would make it false (at least a tiny step).
    pub fn holds(to_false: f64) -> Self {
        Self {
            to_true: 0.0,
            to_false: positive(to_false),
        }
    }

    /// False, with the distance that would make it true (at least a tiny step).
    pub fn fails(to_true: f64) -> Self {
        Self {
            to_true: positive(to_true),
            to_false: 0.0,
        }
    }

    /// A plain verdict without gradient.
    pub fn of(verdict: Option<bool>) -> Self {
        match verdict {
            Some(true) => Self::TRUE,
            Some(false) => Self::FALSE,
            None => Self::UNKNOWN,
        }
    }

    /// `Some(true)`, `Some(false)`, or `None` when unknown.
    pub fn verdict(self) -> Option<bool> {
        if self.to_true == 0.0 {
            Some(true)
        } else if self.to_false == 0.0 {
            Some(false)
        } else {
            None
        }
    }

    /// The distance to being true; zero when it is.
    pub fn to_true(self) -> f64 {
        self.to_true
    }

    /// The distance to being false; zero when it is.
    pub fn to_false(self) -> f64 {
        self.to_false
    }

    /// The same verdict with both distances rescaled; zero must stay zero, and nothing else become it.
    #[must_use]
    pub fn rescaled(self, by: impl Fn(f64) -> f64) -> Self {
        let side = |distance: f64| match distance {
            0.0 => 0.0,
            other => positive(by(other)),
        };
        Self {
            to_true: side(self.to_true),
            to_false: side(self.to_false),
        }
    }

    /// The same verdict at another distance from being true; a verdict that is true stays at none.
    #[must_use]
    pub fn with_distance_to_true(self, to_true: f64) -> Self {
        if self.to_true == 0.0 {
            return self;
        }
        Self {
            to_true: positive(to_true),
            ..self
        }
    }

    /// Conjunction: all must hold, the cheapest one breaks it.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            to_true: (self.to_true + other.to_true).min(LIMIT),
            to_false: self.to_false.min(other.to_false),
        }
    }

    /// Disjunction: the cheapest one makes it hold, all must be broken.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        !(!self).and(!other)
    }
}

impl Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        Self {
            to_true: self.to_false,
            to_false: self.to_true,
        }
    }
}

/// Squeezes a distance into `0..1`, keeping its order, so that unlike distances can be added.
pub fn normalize(distance: f64) -> f64 {
    distance / (distance + 1.0)
}

/// A distance that is not zero and not infinite, whatever the arithmetic gave.
fn positive(distance: f64) -> f64 {
    if distance.is_nan() {
        STEP
    } else {
        distance.clamp(f64::MIN_POSITIVE, LIMIT)
    }
}
