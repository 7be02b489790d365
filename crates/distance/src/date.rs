//! Part-wise distances of dates and times.

use std::cmp::Ordering;

use crate::order::Relation;
use crate::truth::Truth;

/// A moment in its calendar parts; what a value lacks (the time of a date) is zero.
///
/// The derived order is the order of moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateParts {
    /// Year.
    pub year: i32,
    /// Month, from 1.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Nanosecond.
    pub nano: u32,
}

/// Any relation between two moments.
///
/// Equality sums the differences of the parts (seed 001), because a search
/// moves one part at a time. Order uses the elapsed days instead, since a sum
/// of parts can shrink while the moment moves the wrong way.
pub fn compare(relation: Relation, a: DateParts, b: DateParts) -> Truth {
    let ordering: Ordering = a.cmp(&b);
    let gap = match relation {
        Relation::Equal | Relation::NotEqual => by_parts(a, b),
        _ => (days(a) - days(b)).abs(),
    };
    relation.judge(ordering, gap)
}

/// The sum of the differences of all parts.
pub fn by_parts(a: DateParts, b: DateParts) -> f64 {
    f64::from(a.year.abs_diff(b.year))
        + f64::from(a.month.abs_diff(b.month))
        + f64::from(a.day.abs_diff(b.day))
        + f64::from(a.hour.abs_diff(b.hour))
        + f64::from(a.minute.abs_diff(b.minute))
        + f64::from(a.second.abs_diff(b.second))
        + f64::from(a.nano.abs_diff(b.nano)) / 1e9
}

/// Days since a fixed day, fractions included; strictly increasing over real dates.
fn days(at: DateParts) -> f64 {
    // The civil-from-days construction: years start in March so that the leap day comes last.
    let year = i64::from(at.year) - i64::from(at.month <= 2);
    let month = i64::from(at.month);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + i64::from(at.day) - 1;
    let day = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let seconds = f64::from(at.hour) * 3600.0
        + f64::from(at.minute) * 60.0
        + f64::from(at.second)
        + f64::from(at.nano) / 1e9;
    day as f64 + seconds / 86_400.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: i32, month: u8, day: u8) -> DateParts {
        DateParts {
            year,
            month,
            day,
            ..DateParts::default()
        }
    }

    #[test]
    fn equality_sums_the_parts() {
        let equal = compare(Relation::Equal, day(2020, 3, 10), day(2018, 4, 10));
        assert_eq!(equal.to_true(), 3.0);
    }

    #[test]
    fn order_counts_days() {
        let less = compare(Relation::LessOrEqual, day(2020, 3, 1), day(2020, 2, 28));
        assert_eq!(less.to_true(), 2.0);
    }
}
