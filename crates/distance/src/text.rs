//! Character-wise distances of strings.
//!
//! Equality counts position by position: the difference of two characters is
//! squeezed below one, and a missing character costs a whole one, so that a
//! string of the right length is always nearer than one that is too short or
//! too long (seed 002 charges the widest possible character difference there).
//! [`edit`] lets characters move, as the enhanced edit distance of seed 001.

use std::cmp::Ordering;

use crate::order::Relation;
use crate::truth::{Truth, normalize};

/// Any relation between two strings, by code points.
pub fn compare(relation: Relation, a: &str, b: &str) -> Truth {
    judge(relation, a.cmp(b), a.chars(), b.chars())
}

/// Any relation between two strings, letters in either case being the same (ASCII).
pub fn compare_ignoring_case(relation: Relation, a: &str, b: &str) -> Truth {
    let fold = |c: char| c.to_ascii_lowercase();
    let ordering = a.chars().map(fold).cmp(b.chars().map(fold));
    judge(relation, ordering, a.chars().map(fold), b.chars().map(fold))
}

/// The outcome of a relation whose verdict `ordering` decides, over characters already folded.
pub fn judge(
    relation: Relation,
    ordering: Ordering,
    a: impl Iterator<Item = char>,
    b: impl Iterator<Item = char>,
) -> Truth {
    let gap = match relation {
        Relation::Equal | Relation::NotEqual => positions(a, b),
        _ => first_difference(a, b),
    };
    relation.judge(ordering, gap)
}

/// Sum over positions; a missing character costs one.
pub fn positions(mut a: impl Iterator<Item = char>, mut b: impl Iterator<Item = char>) -> f64 {
    let mut sum = 0.0;
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) => sum += substitution(x, y),
            (None, None) => return sum,
            _ => sum += 1.0,
        }
    }
}

/// How far two strings lie apart in their order: halved by every character that they share at the start.
///
/// The first difference decides the order, so what comes later must never
/// outweigh what comes before: among strings that part at the same place the
/// nearer character is nearer, and one that parts later is nearer still.
pub fn first_difference(
    mut a: impl Iterator<Item = char>,
    mut b: impl Iterator<Item = char>,
) -> f64 {
    let mut scale = 1.0;
    let gap = loop {
        match (a.next(), b.next()) {
            // The smallest scale is still a step.
            (Some(x), Some(y)) if x == y => scale = f64::max(scale / 2.0, 1e-12),
            (Some(x), Some(y)) => break f64::from((x as u32).abs_diff(y as u32)),
            (Some(_), None) => break 1.0 + a.count() as f64,
            (None, Some(_)) => break 1.0 + b.count() as f64,
            (None, None) => return 0.0,
        }
    };
    scale * (1.0 + normalize(gap)) / 2.0
}

/// The edit distance in which replacing a character costs less the nearer the two are.
pub fn edit(a: &str, b: &str) -> f64 {
    let b: Vec<char> = b.chars().collect();
    // The cost of what was read of `a` against nothing, and against the beginning of `b` up to each character.
    let mut without = 0.0;
    let mut costs: Vec<f64> = (1..=b.len()).map(|n| n as f64).collect();
    for x in a.chars() {
        let mut diagonal = without;
        without += 1.0;
        let mut left = without;
        for (cost, &y) in costs.iter_mut().zip(&b) {
            let above = *cost;
            *cost = (diagonal + substitution(x, y))
                .min(above + 1.0)
                .min(left + 1.0);
            (diagonal, left) = (above, *cost);
        }
    }
    costs.last().copied().unwrap_or(without)
}

/// The cost of replacing one character by another, below one.
pub(crate) fn substitution(a: char, b: char) -> f64 {
    normalize(f64::from((a as u32).abs_diff(b as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_character_is_nearer_than_a_missing_one() {
        let near = compare(Relation::Equal, "fop", "foo").to_true();
        let far = compare(Relation::Equal, "foz", "foo").to_true();
        let short = compare(Relation::Equal, "fo", "foo").to_true();
        assert!(near < far && far < short, "{near} {far} {short}");
    }

    #[test]
    fn editing_forgives_a_shift() {
        assert_eq!(edit("xfoo", "foo"), 1.0);
        assert_eq!(edit("foo", "foo"), 0.0);
    }

    #[test]
    fn a_string_that_parts_later_is_nearer_in_the_order() {
        let at = |text: &str| compare(Relation::GreaterOrEqual, text, "2020-05-05").to_true();
        let ladder = [
            "",
            "1000",
            "1999-01-01",
            "2019-09-09",
            "2020-01-01",
            "2020-05-04",
        ];
        let distances: Vec<f64> = ladder.iter().map(|text| at(text)).collect();
        assert!(
            distances.windows(2).all(|pair| pair[1] <= pair[0]),
            "{distances:?}"
        );
        assert!(at("2020-05-04") > 0.0);
    }

    #[test]
    fn case_can_be_ignored() {
        assert_eq!(
            compare_ignoring_case(Relation::Equal, "FoO", "foo").verdict(),
            Some(true)
        );
        assert_eq!(
            compare_ignoring_case(Relation::Less, "A", "b").verdict(),
            Some(true)
        );
    }
}
