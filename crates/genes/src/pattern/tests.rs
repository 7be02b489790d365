use super::*;

fn domain(pattern: &str) -> PatternDomain {
    let pattern = Arc::new(Pattern::new(pattern).expect("a pattern we support"));
    PatternDomain::new(pattern, 0, None).expect("a pattern with texts")
}

#[test]
fn samples_match_the_pattern_they_come_from() {
    for pattern in [
        r"^[a-z]{2,5}$",
        r"^\d{3}-\d{4}$",
        r"^(foo|bar)+baz?$",
        r"abc",
        r"^a.c$",
        r"^[\w.-]+@[\w-]+\.[a-z]{2,}$",
        r"^#[0-9A-Fa-f]{6}$",
        r"^(^a|b)c$",
        r"\bword\b",
        r"^[^\s]+$",
        r"^\p{L}+$",
        r"^[A-Z]{2}[0-9]{2}(?:[ ]?[0-9A-Z]{4}){3}$",
        r"^$|^x+$",
        r"(^[0-9]*$)",
        r"^\/[a-z\/]*$",
        r"^[[&~-]+$",
    ] {
        let domain = domain(pattern);
        let mut rng = Rng::with_seed(7);
        for _ in 0..50 {
            let text = domain.sample(&mut rng);
            assert!(domain.pattern.matches(&text), "{pattern} made {text:?}");
            let next = domain.mutate(&mut rng, &text, false);
            let next = next.unwrap_or_else(|| panic!("{pattern} has more than {text:?}"));
            assert!(
                domain.pattern.matches(&next),
                "{pattern}: {text:?} became {next:?}"
            );
            assert_ne!(text, next);
        }
    }
}

#[test]
fn a_small_step_keeps_most_of_the_text() {
    let domain = domain(r"^[a-z]+:[0-9]{4}:(red|green|blue)$");
    let mut rng = Rng::with_seed(3);
    let text = "shop:1234:green";
    for _ in 0..40 {
        let next = domain
            .mutate(&mut rng, text, false)
            .expect("there are others");
        let kept = text
            .split(':')
            .zip(next.split(':'))
            .filter(|(a, b)| a == b)
            .count();
        assert_eq!(kept, 2, "one of three parts changes in {next}");
    }
}

#[test]
fn length_bounds_and_pattern_hold_together() {
    let pattern = Arc::new(Pattern::new("^[a-z]+$").expect("simple"));
    let domain = PatternDomain::new(pattern.clone(), 20, Some(22)).expect("possible");
    let mut rng = Rng::with_seed(1);
    for _ in 0..20 {
        assert!((20..=22).contains(&domain.sample(&mut rng).len()));
    }
    let short = Arc::new(Pattern::new("^[a-z]{1,3}$").expect("simple"));
    assert_eq!(
        PatternDomain::new(short, 5, None),
        Err(PatternError::NoText)
    );
}

#[test]
fn digits_and_word_characters_are_those_of_ascii() {
    let pattern = Pattern::new(r"^\d\w$").expect("simple");
    assert!(pattern.matches("1a"));
    assert!(
        !pattern.matches("\u{0661}a"),
        "an Arabic digit is no ECMA digit"
    );
    assert!(!pattern.matches("1é"));
}

#[test]
fn a_pattern_without_anchors_is_searched_for() {
    let pattern = Pattern::new("b+").expect("simple");
    assert!(pattern.matches("abc"));
    assert!(!pattern.matches("ac"));
}

#[test]
fn what_cannot_be_modelled_says_what_it_is() {
    let kind = |pattern| Pattern::new(pattern).expect_err("outside the model");
    assert_eq!(kind(r"^(?=.*\d).{8,}$"), PatternError::Lookaround);
    assert_eq!(kind(r"(?<!a)b"), PatternError::Lookaround);
    assert_eq!(kind(r"^(a)\1$"), PatternError::BackReference);
    assert_eq!(kind(r"(?<x>a)\k<x>"), PatternError::BackReference);
    assert_eq!(kind(r"^a{200000}$"), PatternError::TooLong);
    assert_eq!(kind(r"^[]$"), PatternError::NoText);
    assert!(matches!(kind("(a"), PatternError::Syntax(_)));
    assert!(matches!(kind("[a"), PatternError::Syntax(_)));
    assert!(matches!(kind("a\\"), PatternError::Syntax(_)));
    assert!(matches!(kind(r"\ud800"), PatternError::Syntax(_)));
}

#[test]
fn escapes_that_only_ecma_has_are_understood() {
    for (pattern, text) in [
        (r"^\u0041\x42$", "AB"),
        (r"^\ud83d\ude00$", "😀"),
        (r"^\cJ$", "\n"),
        (r"^a{,2}$", "a{,2}"),
        (r"^{x}$", "{x}"),
        (r"^[^]$", "\n"),
        (r"^[a[]$", "["),
        (r"^[\w-.]$", "-"),
        (r"^\-\_\e$", "-_e"),
        (r"^[\b]$", "\u{8}"),
    ] {
        assert!(
            domain(pattern).pattern.matches(text),
            "{pattern} on {text:?}"
        );
    }
}

#[test]
fn patterns_that_explode_in_backtracking_do_not_hang() {
    let domain = domain(r"^(([a-z]+)+)+$");
    let mut rng = Rng::with_seed(5);
    let text = format!("{}1", "a".repeat(200));
    assert!(parse::derivation(&domain.pattern.tree, &text).is_none());
    assert!(domain.mutate(&mut rng, &"a".repeat(200), false).is_some());
}
