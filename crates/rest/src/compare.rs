//! Differences between two JSON bodies, and which of them are expected (timestamps, versions).

use std::collections::BTreeSet;

use isobath_genes::{push_segment, same};
use serde_json::Value;

/// The places, as JSON Pointers, at which two bodies differ; of a part that is on one side only, its root.
///
/// Lists of different lengths differ as a whole: there is no telling which item is which.
#[must_use]
pub(crate) fn differences(a: &Value, b: &Value) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    walk(a, b, &mut String::new(), &mut places);
    places
}

fn walk(a: &Value, b: &Value, at: &mut String, places: &mut BTreeSet<String>) {
    let mut below = |segment: &str, pair: Option<(&Value, &Value)>| {
        let end = at.len();
        push_segment(at, segment);
        match pair {
            Some((a, b)) => walk(a, b, at, places),
            None => {
                places.insert(at.clone());
            }
        }
        at.truncate(end);
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                below(name, b.get(name).map(|other| (value, other)));
            }
            for name in b.keys().filter(|name| !a.contains_key(*name)) {
                below(name, None);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, pair) in a.iter().zip(b).enumerate() {
                below(&index.to_string(), Some(pair));
            }
        }
        (a, b) if same(a, b) => {}
        _ => {
            places.insert(at.clone());
        }
    }
}

/// Whether the place is in `places` or below one of them.
#[must_use]
pub(crate) fn is_within(place: &str, places: &BTreeSet<String>) -> bool {
    places.iter().any(|root| {
        place
            .strip_prefix(root.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Whether what stands there is expected to change with every write: a time stamp, a version number.
#[must_use]
pub(crate) fn is_bookkeeping(place: &str) -> bool {
    const WORDS: [&str; 12] = [
        "updated",
        "modified",
        "changed",
        "version",
        "revision",
        "etag",
        "timestamp",
        "lastaccess",
        "lastseen",
        "touched",
        "synced",
        "generated",
    ];
    let name: String = place
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word)) || name == "rev" || name.ends_with("time")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_that_differs_is_named_once() {
        let a = json!({"id": 1, "tags": ["a", "b"], "owner": {"name": "ada", "age": 3}, "old": 1, "size": 1.0});
        let b = json!({"id": 2, "tags": ["a", "c"], "owner": {"name": "ada"}, "new": 1, "size": 1});
        let places: Vec<String> = differences(&a, &b).into_iter().collect();
        assert_eq!(places, ["/id", "/new", "/old", "/owner/age", "/tags/1"]);
        assert!(differences(&a, &a).is_empty());
    }

    #[test]
    fn lists_of_different_lengths_differ_as_a_whole() {
        assert_eq!(
            differences(&json!({"tags": [1]}), &json!({"tags": [1, 2]})),
            BTreeSet::from(["/tags".into()])
        );
        assert_eq!(
            differences(&json!([]), &json!([1])),
            BTreeSet::from([String::new()])
        );
    }

    #[test]
    fn a_place_below_another_is_within_it() {
        let places = BTreeSet::from(["/a/b".to_owned()]);
        assert!(is_within("/a/b", &places) && is_within("/a/b/c", &places));
        assert!(!is_within("/a/bc", &places) && !is_within("/a", &places));
    }

    #[test]
    fn bookkeeping_is_told_by_its_name() {
        assert!(
            [
                "/updatedAt",
                "/meta/last_modified",
                "/version",
                "/rev",
                "/startTime"
            ]
            .iter()
            .all(|place| is_bookkeeping(place))
        );
        assert!(
            !["/notes", "/tags", "/revenue", "/sometimes"]
                .iter()
                .any(|place| is_bookkeeping(place))
        );
    }
}
