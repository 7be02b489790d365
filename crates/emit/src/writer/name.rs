//! Names as identifiers of a test language: safe, readable, unique.
//!
//! Suites come from files too, so no writer trusts an id to be an identifier or to be unique.

use std::collections::BTreeMap;

use crate::suite::Test;

/// The ASCII words of `text` in lower case, joined by underscores; empty when there is none.
#[must_use]
pub fn underscored(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('_') && !out.is_empty() {
            out.push('_');
        }
    }
    while out.ends_with('_') {
        out.pop();
    }
    out
}

/// As [`underscored`], with `camelCase` split into words.
#[must_use]
pub fn snake_case(text: &str) -> String {
    underscored(&split_camel_case(text, |c| c.is_ascii_lowercase()))
}

/// A lower-case ASCII slug of `text`, never empty and never starting with a digit.
pub(crate) fn slug(text: &str) -> String {
    let mut out = underscored(text);
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert_str(0, "n_");
        while out.ends_with('_') {
            out.pop();
        }
    }
    out
}

/// The slug of a name in which `CamelCase` is words, also after a digit.
pub(crate) fn snake(text: &str) -> String {
    slug(&split_camel_case(text, |c| {
        c.is_ascii_lowercase() || c.is_ascii_digit()
    }))
}

/// `text` with an underscore before each upper-case letter that follows one of `ends_word`.
fn split_camel_case(text: &str, ends_word: impl Fn(char) -> bool) -> String {
    let mut words = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_uppercase() && ends_word(before) {
            words.push('_');
        }
        words.push(c);
        before = c;
    }
    words
}

/// The slug of a test's id, or of its name where the id has no letter to show.
pub(crate) fn of_test(test: &Test) -> String {
    readable(&test.id, &test.name)
}

/// The slug of `id`, or of `name` where the id has no letter to show.
pub(crate) fn readable(id: &str, name: &str) -> String {
    let shows = id.contains(|c: char| c.is_ascii_alphanumeric());
    slug(if shows { id } else { name })
}

/// `text` in PascalCase, as for a class.
pub(crate) fn pascal(text: &str) -> String {
    slug(text)
        .split('_')
        .filter(|part| !part.is_empty())
        .map(capitalized)
        .collect()
}

/// A word with a capital as its first letter.
pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Hands out identifiers, each once within the scope.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: BTreeMap<String, u32>,
}

impl Names {
    /// `wanted`, or `wanted_2`, `wanted_3`, … when it is taken.
    pub(crate) fn unique(&mut self, wanted: String) -> String {
        // Class files and test files meet on file systems that ignore case.
        let key = wanted.to_ascii_lowercase();
        let mut n = *self.taken.get(&key).unwrap_or(&0);
        if n == 0 {
            self.taken.insert(key, 1);
            return wanted;
        }
        loop {
            n += 1;
            let candidate = format!("{wanted}_{n}");
            if !self.taken.contains_key(&format!("{key}_{n}")) {
                self.taken.insert(format!("{key}_{n}"), 1);
                self.taken.insert(key, n);
                return candidate;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_always_an_identifier() {
        for (text, expected) in [
            ("orders rejects Ünicode", "orders_rejects_nicode"),
            ("", "n"),
            ("日本", "n"),
            ("2fast", "n_2fast"),
            ("--a--b--", "a_b"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn camel_case_is_words() {
        assert_eq!(snake("GetUserByID"), "get_user_by_id");
        assert_eq!(snake("list_v2Orders"), "list_v2_orders");
    }

    #[test]
    fn colliding_names_are_numbered_without_new_collisions() {
        let mut names = Names::default();
        let given: Vec<String> = ["a", "a_2", "a", "a"]
            .map(|wanted| names.unique(wanted.into()))
            .into();
        assert_eq!(given, ["a", "a_2", "a_3", "a_4"]);
    }
}
