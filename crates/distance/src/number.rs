//! Korel's distances for comparisons of numbers.

use crate::truth::{STEP, Truth};

/// `a = b`.
pub fn equal(a: f64, b: f64) -> Truth {
    let gap = (a - b).abs();
    if a == b {
        Truth::holds(STEP)
    } else {
        Truth::fails(gap)
    }
}

/// `a < b`.
pub fn less(a: f64, b: f64) -> Truth {
    if a < b {
        Truth::holds(b - a)
    } else {
        Truth::fails(a - b + STEP)
    }
}

/// `a <= b`.
pub fn less_or_equal(a: f64, b: f64) -> Truth {
    if a <= b {
        Truth::holds(b - a + STEP)
    } else {
        Truth::fails(a - b)
    }
}
