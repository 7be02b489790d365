//! Retired names and phrases do not come back. The glossary has a term of the field for each of them.

use std::sync::LazyLock;

use regex::Regex;

use crate::{assert_none, tracked};

/// Words that no identifier in `crates` may contain, with the word to use.
const WORDS: [(&str, &str); 17] = [
    ("beneath", "with_database"),
    ("cook", "reuse_successful_prefix"),
    ("errand", "OutboundRequest"),
    ("fate", "status"),
    ("first_rows", "snapshot"),
    ("goal", "target"),
    ("habits", "SamplingConfig"),
    ("keeper", "supervisor"),
    ("lead_up", "setup_rows"),
    ("lesson", "InputHint"),
    ("lore", "taint"),
    ("nearness", "distance"),
    ("outwards", "with_mocks"),
    ("sought", "target_rows"),
    ("spice", "apply_random_variation"),
    ("station", "MockServer"),
    ("chromosome", "candidate"),
];

/// Patterns that no text for people may contain, with what to write instead.
const PHRASES: [(&str, &str); 13] = [
    ("where chance begins", "random seed"),
    ("who decides what to try next", "search algorithm"),
    ("goes on with a run", "resume an interrupted run"),
    (r"is no \w+; known are", "unknown … (expected one of: …)"),
    ("nobody listens", "connection refused"),
    ("holes in (access|security)", "broken access control"),
    ("broken promises of http", "HTTP semantics violations"),
    ("reads what others wrote", "parser"),
    ("rubbish", "fuzz"),
    ("known by a number of its own", "registered"),
    (
        r"(bring|brings|put|puts|putting) (back )?the first (rows|state)",
        "reset",
    ),
    ("stand where they stood", "are reset"),
    ("no value of .+ is such that", "infeasible: …"),
];

/// Rust source without comments, texts and characters.
fn code_only(source: &str) -> String {
    let skipped = Regex::new(
        r##"(?s)//[^\n]*|/\*.*?\*/|b?r#+".*?"#+|b?r"[^"]*"|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'"##,
    );
    let skipped = skipped.expect("a constant pattern");
    skipped.replace_all(source, " ").into_owned()
}

/// An identifier as words in lower case, joined by underscores, with an underscore at each end.
fn words(identifier: &str) -> String {
    let mut words = String::from("_");
    let mut before = '_';
    for c in identifier.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(c.to_ascii_lowercase());
        before = c;
    }
    words.push('_');
    words
}

fn retired_identifiers(path: &str, source: &str) -> Vec<String> {
    let identifier = Regex::new(r"\b[A-Za-z_]\w*\b").expect("a constant pattern");
    let code = code_only(source);
    let mut found = Vec::new();
    for identifier in identifier.find_iter(&code) {
        let words = words(identifier.as_str());
        for (word, better) in WORDS {
            if words.contains(&format!("_{word}_")) || words.contains(&format!("_{word}s_")) {
                let identifier = identifier.as_str();
                found.push(format!(
                    "{path}: `{identifier}`: {word} is retired; see `{better}`"
                ));
            }
        }
    }
    found
}

fn retired_phrases(path: &str, text: &str) -> Vec<String> {
    static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let patterns = PHRASES.map(|(phrase, _)| Regex::new(&format!("(?i){phrase}")));
        let patterns = patterns.into_iter();
        patterns
            .map(|pattern| pattern.expect("a constant pattern"))
            .collect()
    });
    let mut found = Vec::new();
    for (pattern, (phrase, better)) in PATTERNS.iter().zip(PHRASES) {
        for place in pattern.find_iter(text) {
            let at = text[..place.start()].lines().count().max(1);
            found.push(format!(
                "{path}:{at}: \"{phrase}\" is retired; write \"{better}\""
            ));
        }
    }
    found
}

fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

#[test]
fn retired_identifiers_do_not_come_back() {
    let files = tracked();
    let sources = files
        .iter()
        .filter(|(path, _)| is_source(path) && path.ends_with(".rs"));
    let found: Vec<String> = sources
        .flat_map(|(path, text)| retired_identifiers(path, text))
        .collect();
    assert_none(&found);
}

/// Help texts are in the sources, and in the generated page of options.
#[test]
fn retired_phrases_do_not_come_back() {
    let is_read = |path: &str| {
        let is_page = path.starts_with("docs/") || !path.contains('/');
        is_source(path) || is_page || path.starts_with("fuzz/") || path.starts_with("drivers/")
    };
    let files = tracked();
    let pages = files.iter().filter(|(path, _)| is_read(path));
    let found: Vec<String> = pages
        .flat_map(|(path, text)| retired_phrases(path, text))
        .collect();
    assert_none(&found);
}

#[test]
fn planted_names_and_phrases_are_found() {
    let source = "// A goal.\nfn goals(a: Station) -> Lore { first_rows_of(\"keeper\", 'x', r#\"fate\"#) }\n\
                  fn cookies(explore: Galore) {}\n";
    let found = retired_identifiers("a.rs", source);
    assert_eq!(
        found,
        [
            "a.rs: `goals`: goal is retired; see `target`",
            "a.rs: `Station`: station is retired; see `MockServer`",
            "a.rs: `Lore`: lore is retired; see `taint`",
            "a.rs: `first_rows_of`: first_rows is retired; see `snapshot`",
        ]
    );
    let found = retired_phrases(
        "a.md",
        "Seed: where\nWhere chance begins.\n`x` is no engine; known are y\n",
    );
    assert_eq!(found.len(), 2, "{found:?}");
}
