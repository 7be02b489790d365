//! `match` on literals: how far the value is from each arm.

use isobath_distance::STEP;
use isobath_protocol::{InputUse, score};

use crate::view::{View, view};
use crate::{link, measure, track};

/// A literal of a pattern.
#[derive(Clone, Copy, Debug)]
pub enum Val {
    /// A text.
    S(&'static str),
    /// An integer.
    I(i128),
    /// A character.
    C(char),
    /// Integers from, to.
    R(i128, i128),
}

/// The value of a `match` whose arms with literals have these targets, from the first on.
#[inline]
pub fn arms<T: ?Sized>(first: u32, value: &T, arms: &[&[Val]]) {
    if link::awake() {
        seen(first, &view(value), arms);
    }
}

/// The value of a `matches!` with these literals; the target is that one of them is met.
#[inline]
pub fn among<T: ?Sized>(target: u32, value: &T, literals: &[Val]) {
    if let Some(map) = link::map() {
        let value = view(value);
        seen(target, &value, &[literals]);
        if literals
            .iter()
            .any(|literal| distance(&value, *literal) == Some(0.0))
        {
            map.cover(target);
        }
    }
}

fn seen(first: u32, value: &View<'_>, arms: &[&[Val]]) {
    let Some(map) = link::map() else { return };
    for (target, literals) in (first..).zip(arms) {
        if map.covered(target) {
            continue;
        }
        // What is met may still be refused by a guard, so it is near and not covered.
        let nearest = literals
            .iter()
            .map(|literal| distance(value, *literal).unwrap_or(STEP))
            .fold(f64::INFINITY, f64::min);
        if nearest.is_finite() {
            map.record(target, score(nearest));
        }
    }
    if let View::Text(text) = value
        && track::tracked(text)
    {
        let texts = arms.iter().flat_map(|arm| arm.iter());
        let texts: Vec<String> = texts
            .filter_map(|literal| match literal {
                Val::S(text) => Some((*text).to_owned()),
                _ => None,
            })
            .collect();
        if !texts.is_empty() {
            track::used(first, text, InputUse::Equal, texts);
        }
    }
}

fn distance(value: &View<'_>, literal: Val) -> Option<f64> {
    match literal {
        Val::S(text) => measure::equality(value, &View::Text(text.into())),
        Val::I(number) => measure::equality(value, &View::Int(number)),
        Val::C(c) => measure::equality(value, &View::Char(c)),
        Val::R(low, high) => {
            measure::range(value, Some(&View::Int(low)), Some(&View::Int(high)), true)
        }
    }
}
