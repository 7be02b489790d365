//! Distances between what was seen.

use std::cmp::Ordering;
use std::sync::OnceLock;

use isobath_distance::text::positions;
use isobath_distance::{Relation, STEP, Truth, date, number, text};

use crate::view::View;

/// How far a comparison with this verdict is from either outcome.
///
/// The verdict is the program's own. Where our distance would say otherwise (an
/// `Ord` of the service's taste, NaN) it gives way.
pub(crate) fn compare(
    relation: Relation,
    left: &View<'_>,
    right: &View<'_>,
    verdict: bool,
) -> Truth {
    agree(distance(relation, left, right), verdict)
}

/// Whether texts and replaced methods have distances; they have, unless `ISOBATH_METHODS` is `off`.
pub(crate) fn methods() -> bool {
    static METHODS: OnceLock<bool> = OnceLock::new();
    *METHODS.get_or_init(|| std::env::var_os("ISOBATH_METHODS").is_none_or(|word| word != "off"))
}

fn distance(relation: Relation, left: &View<'_>, right: &View<'_>) -> Option<Truth> {
    use View::{Bytes, Char, Float, Int, Moment, Text};
    if matches!(left, Moment(_) | Text(_) | Bytes(_)) && !methods() {
        return None;
    }
    Some(match (left, right) {
        (Int(a), Int(b)) => relation.judge(a.cmp(b), a.abs_diff(*b) as f64),
        (Char(a), Char(b)) => relation.judge(a.cmp(b), f64::from((*a as u32).abs_diff(*b as u32))),
        (Float(a), Float(b)) => number::compare(relation, *a, *b),
        (Int(a), Float(b)) => number::compare(relation, *a as f64, *b),
        (Float(a), Int(b)) => number::compare(relation, *a, *b as f64),
        (Moment(a), Moment(b)) => date::compare(relation, *a, *b),
        (Text(a), Text(b)) => text::compare(relation, a, b),
        (Bytes(a), Bytes(b)) => bytes(relation, a, b),
        (Text(a), Bytes(b)) => bytes(relation, a.as_bytes(), b),
        (Bytes(a), Text(b)) => bytes(relation, a, b.as_bytes()),
        _ => return None,
    })
}

fn bytes(relation: Relation, a: &[u8], b: &[u8]) -> Truth {
    let chars = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<Vec<_>>();
    text::judge(
        relation,
        a.cmp(b),
        chars(a).into_iter(),
        chars(b).into_iter(),
    )
}

/// The distance if it says what the program found, else the bare verdict.
pub(crate) fn agree(truth: Option<Truth>, verdict: bool) -> Truth {
    match truth {
        Some(truth) if truth.verdict() == Some(verdict) => truth,
        _ => Truth::of(Some(verdict)),
    }
}

/// The distance between two values being equal, if anything is known about it.
pub(crate) fn equality(left: &View<'_>, right: &View<'_>) -> Option<f64> {
    distance(Relation::Equal, left, right).map(Truth::to_true)
}

/// How far a text is from starting with another (seed 002: its first characters count).
pub(crate) fn prefix(text: &str, wanted: &str) -> f64 {
    positions(text.chars().take(wanted.chars().count()), wanted.chars())
}

/// How far a text is from ending with another.
pub(crate) fn suffix(text: &str, wanted: &str) -> f64 {
    let from = text.chars().count().saturating_sub(wanted.chars().count());
    positions(text.chars().skip(from), wanted.chars())
}

/// How far a text is from containing another: the nearest of its parts counts.
pub(crate) fn part(text: &str, wanted: &str) -> f64 {
    let length = wanted.chars().count();
    let parts = text.chars().count().saturating_sub(length) + 1;
    (0..parts.min(256))
        .map(|from| positions(text.chars().skip(from).take(length), wanted.chars()))
        .fold(f64::INFINITY, f64::min)
}

/// How far a text is from another, letters in either case being the same.
pub(crate) fn ignoring_case(text_: &str, wanted: &str) -> f64 {
    text::compare_ignoring_case(Relation::Equal, text_, wanted).to_true()
}

/// How far a value is from lying in a range; `None` stands for no bound.
pub(crate) fn range(
    value: &View<'_>,
    low: Option<&View<'_>>,
    high: Option<&View<'_>>,
    inclusive: bool,
) -> Option<f64> {
    let upper = if inclusive {
        Relation::LessOrEqual
    } else {
        Relation::Less
    };
    let above = low.map(|low| distance(Relation::LessOrEqual, low, value));
    let below = high.map(|high| distance(upper, value, high));
    let to_true = |side: Option<Option<Truth>>| match side {
        None => Some(0.0),
        Some(truth) => truth.map(Truth::to_true),
    };
    Some(to_true(above)? + to_true(below)?)
}

/// A truth with this distance to true, or the bare verdict.
pub(crate) fn found(distance: Option<f64>, verdict: bool) -> Truth {
    match distance.filter(|_| methods()) {
        Some(distance) if !verdict => Truth::fails(if distance > 0.0 { distance } else { STEP }),
        _ => Truth::of(Some(verdict)),
    }
}

/// How far a length is from zero, or from more than zero.
pub(crate) fn empty(length: usize) -> Truth {
    Relation::Equal.judge(
        if length == 0 {
            Ordering::Equal
        } else {
            Ordering::Greater
        },
        length as f64,
    )
}
