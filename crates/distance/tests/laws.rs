//! Laws that every outcome obeys: Kleene's logic, and a zero exactly at the verdict.

use isobath_distance::date::{self, DateParts};
use isobath_distance::pattern::{self, PatternPiece};
use isobath_distance::{Relation, Truth, member, number, text};
use proptest::prelude::*;

fn well_formed(truth: Truth) {
    let (t, f) = (truth.to_true(), truth.to_false());
    assert!(
        t.is_finite() && f.is_finite() && t >= 0.0 && f >= 0.0,
        "{truth:?}"
    );
    assert!(t > 0.0 || f > 0.0, "{truth:?}");
    assert_eq!(truth.verdict() == Some(true), t == 0.0);
    assert_eq!(truth.verdict() == Some(false), f == 0.0);
}

fn any_truth() -> impl Strategy<Value = Truth> {
    (any::<f64>(), 0..3u8).prop_map(|(distance, kind)| match kind {
        0 => Truth::holds(distance),
        1 => Truth::fails(distance),
        _ => Truth::UNKNOWN,
    })
}

fn relation() -> impl Strategy<Value = Relation> {
    prop::sample::select(Relation::ALL.to_vec())
}

fn kleene_and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

proptest! {
    #[test]
    fn conjunction_disjunction_and_negation_are_kleenes(a in any_truth(), b in any_truth()) {
        for truth in [a, b, a.and(b), a.or(b), !a] {
            well_formed(truth);
        }
        prop_assert_eq!(a.and(b).verdict(), kleene_and(a.verdict(), b.verdict()));
        prop_assert_eq!((!a).verdict(), a.verdict().map(|v| !v));
        let or = kleene_and((!a).verdict(), (!b).verdict()).map(|v| !v);
        prop_assert_eq!(a.or(b).verdict(), or);
    }

    #[test]
    fn long_conjunctions_stay_finite(parts in prop::collection::vec(any_truth(), 1..40)) {
        well_formed(parts.iter().copied().reduce(Truth::and).unwrap());
        well_formed(member::any(parts));
    }

    #[test]
    fn numbers_are_compared_as_they_are(r in relation(), a in any::<f64>(), b in any::<f64>()) {
        let truth = number::compare(r, a, b);
        well_formed(truth);
        prop_assert_eq!(truth.verdict(), Some(r.holds(number::order(a, b))));
    }

    #[test]
    fn strings_are_compared_as_they_are(r in relation(), a in "[a-dA-D]{0,4}", b in "[a-dA-D]{0,4}") {
        let truth = text::compare(r, &a, &b);
        well_formed(truth);
        prop_assert_eq!(truth.verdict(), Some(r.holds(a.cmp(&b))));
        let (x, y) = (a.to_lowercase(), b.to_lowercase());
        let folded = text::compare_ignoring_case(r, &a, &b);
        well_formed(folded);
        prop_assert_eq!(folded.verdict(), Some(r.holds(x.cmp(&y))));
        prop_assert_eq!(text::edit(&a, &b) == 0.0, a == b);
    }

    #[test]
    fn moments_are_compared_as_they_are(
        r in relation(),
        a in (1990i32..2030, 1u8..13, 1u8..29, 0u8..24),
        b in (1990i32..2030, 1u8..13, 1u8..29, 0u8..24),
    ) {
        let parts = |(year, month, day, hour)| DateParts { year, month, day, hour, ..DateParts::default() };
        let truth = date::compare(r, parts(a), parts(b));
        well_formed(truth);
        prop_assert_eq!(truth.verdict(), Some(r.holds(a.cmp(&b))));
    }

    #[test]
    fn a_pattern_made_of_the_string_itself_matches(s in "[a-c]{0,6}", hide in any::<u8>()) {
        let pieces: Vec<PatternPiece> = s
            .chars()
            .enumerate()
            .map(|(i, c)| match hide >> i & 1 {
                0 => PatternPiece::Char(c),
                _ if i % 2 == 0 => PatternPiece::One,
                _ => PatternPiece::Many,
            })
            .collect();
        well_formed(pattern::matches(&s, &pieces));
        prop_assert_eq!(pattern::distance(&s, &pieces), 0.0);
        let longer = format!("{s}z");
        let exact: Vec<PatternPiece> = s.chars().map(PatternPiece::Char).collect();
        prop_assert_eq!(pattern::matches(&longer, &exact).verdict(), Some(false));
    }
}
