//! Selects stable assertions about a response body.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use isobath_emit::http::{BodyCheck, JsonPath, JsonType, Placeholder, Text};
use regex::Regex;
use serde_json::Value;

use crate::compare::is_within;

/// Facts checked about one body at most; more would hide what matters.
const MAX_CHECKS: usize = 25;
/// Items of a list whose parts are checked.
const MAX_ITEMS: usize = 3;
/// Bodies with more values than that are not written out as a whole.
const MAX_LEAVES: usize = 12;

/// How long before and after a run a time that a response tells may come from the clock: deadlines lie ahead.
const BACK: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
const AHEAD: jiff::SignedDuration = jiff::SignedDuration::from_hours(24 * 400);

/// Whether a value is a message for people: in a refusal they tell of lines and columns, and change with every version.
pub(super) fn is_message(value: &Value) -> bool {
    let words = value.as_str().filter(|text| text.contains(' '));
    words.is_some_and(|text| text.contains(|c: char| c.is_ascii_digit()))
}

/// A day as ISO 8601 writes it.
static DAY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d{2}-\d{2}").expect("a constant pattern"));

/// Whether a value may be a current timestamp: equal in two runs within a second, different later.
///
/// Days alone count only around `now`; dates that lie ahead are more often meant than computed.
pub(super) fn is_moment(value: &Value, now: jiff::Timestamp) -> bool {
    let is_near = |then: jiff::Timestamp, ahead: jiff::SignedDuration| {
        let distance = then.duration_since(now);
        -BACK <= distance && distance <= ahead
    };
    let utc = |at: jiff::civil::DateTime| at.to_zoned(jiff::tz::TimeZone::UTC).ok();
    match value {
        Value::String(text) if text.len() >= 8 => {
            let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
                let local = text.parse::<jiff::civil::DateTime>().ok();
                let local = local.filter(|_| text.contains(':'));
                utc(local?).map(|at| at.timestamp())
            });
            if let Some(instant) = instant {
                return is_near(instant, AHEAD);
            }
            let of_mail = jiff::fmt::rfc2822::parse(text).ok();
            if let Some(at) = of_mail {
                return is_near(at.timestamp(), AHEAD);
            }
            // Also inside a text, such as the name of a file: `export-2026-11-18-02-21`.
            let days = DAY.find_iter(text).map(|day| day.as_str());
            days.chain([text.as_str()]).any(|day| {
                let day = day.parse::<jiff::civil::Date>().ok();
                let noon = day.and_then(|day| utc(day.at(12, 0, 0, 0)));
                noon.is_some_and(|at| is_near(at.timestamp(), BACK))
            })
        }
        Value::Number(number) => number.as_i64().is_some_and(|number| {
            let seconds = jiff::Timestamp::from_second(number);
            let milliseconds = jiff::Timestamp::from_millisecond(number);
            [seconds, milliseconds]
                .into_iter()
                .flatten()
                .any(|at| is_near(at, AHEAD))
        }),
        _ => false,
    }
}

/// Whether a value is an identifier made by chance or from a clock: a UUID of version 1, 4, 6 or 7.
pub(super) fn is_random_id(value: &Value) -> bool {
    static UUID: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1467][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$")
            .expect("a constant pattern")
    });
    value.as_str().is_some_and(|text| UUID.is_match(text))
}

/// Whether a value is a list of texts. Its order may be that of a set, which another process may walk in another order.
pub(super) fn is_list_of_texts(value: &Value) -> bool {
    let items = value.as_array();
    items.is_some_and(|items| items.len() > 1 && items.iter().all(Value::is_string))
}

/// Adds the places of the outermost values that are such.
pub(super) fn places_of(
    value: &Value,
    is_such: &dyn Fn(&Value) -> bool,
    at: &mut String,
    places: &mut BTreeSet<String>,
) {
    let end = at.len();
    let mut below = |segment: &str, value: &Value| {
        isobath_genes::push_segment(at, segment);
        places_of(value, is_such, at, places);
        at.truncate(end);
    };
    match value {
        value if is_such(value) => {
            places.insert(at.clone());
        }
        Value::Object(object) => object.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(items) => {
            (items.iter().enumerate()).for_each(|(index, item)| below(&index.to_string(), item))
        }
        _ => {}
    }
}

/// Adds the places that other tests change where nothing resets the service between them: lists of resources, and how
/// many there are.
pub(super) fn shared_places(value: &Value, at: &mut String, places: &mut BTreeSet<String>) {
    const COUNTS: [&str; 8] = [
        "count", "total", "size", "length", "pages", "next", "previous", "last",
    ];
    const PAGE_LINKS: [&str; 4] = ["next", "previous", "prev", "last"];
    let end = at.len();
    match value {
        // A number alone is a count.
        Value::Number(_) if at.is_empty() => {
            places.insert(String::new());
        }
        // What is empty now, others may fill, and some services only do so a while later.
        Value::Array(items) if items.is_empty() || items.iter().any(Value::is_object) => {
            places.insert(at.clone());
        }
        Value::Object(object) if object.is_empty() => {
            places.insert(at.clone());
        }
        Value::Object(object) => {
            let is_tally = object.len() > 1 && object.values().all(Value::is_number);
            for (name, value) in object {
                isobath_genes::push_segment(at, name);
                let lower = name.to_ascii_lowercase();
                let is_count = is_tally || COUNTS.iter().any(|count| lower.contains(count));
                let is_page_link =
                    PAGE_LINKS.contains(&&*lower) && (value.is_null() || value.is_string());
                if value.is_number() && is_count || is_page_link {
                    places.insert(at.clone());
                } else {
                    shared_places(value, at, places);
                }
                at.truncate(end);
            }
        }
        _ => {}
    }
}

/// The stable facts of a body. At the places of `same` stands what was captured under a name.
pub(super) fn facts(
    body: &Value,
    changes_anyway: &BTreeSet<String>,
    same: &BTreeMap<String, String>,
) -> Vec<BodyCheck> {
    if changes_anyway.iter().all(|place| same.contains_key(place)) && leaves(body) <= MAX_LEAVES {
        let holes = same.iter().map(|(at, variable)| Placeholder {
            at: JsonPath::from_pointer(at),
            value: Text::captured(variable.clone()),
        });
        return vec![BodyCheck::Equals {
            at: JsonPath::root(),
            value: body.clone(),
            placeholders: holes.collect(),
        }];
    }
    let mut checks = Vec::new();
    let mut collected = Collected {
        changes_anyway,
        same,
        checks: &mut checks,
    };
    collected.add(body, &mut String::new());
    // Where there is nothing to count, a count may be null.
    let is_shared_count = body.is_number() && changes_anyway.contains("");
    if checks.is_empty() && !is_shared_count {
        checks.push(BodyCheck::Type {
            at: JsonPath::root(),
            is: JsonType::of(body),
        });
    }
    checks.truncate(MAX_CHECKS);
    checks
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(leaves).sum::<usize>().max(1),
        Value::Object(object) => object.values().map(leaves).sum::<usize>().max(1),
        _ => 1,
    }
}

/// Facts about the parts of a body, one by one.
struct Collected<'a> {
    changes_anyway: &'a BTreeSet<String>,
    same: &'a BTreeMap<String, String>,
    checks: &'a mut Vec<BodyCheck>,
}

impl Collected<'_> {
    fn add(&mut self, value: &Value, at: &mut String) {
        if self.checks.len() >= MAX_CHECKS {
            return;
        }
        if let Some(variable) = self.same.get(at.as_str()) {
            self.checks.push(BodyCheck::Same {
                at: JsonPath::from_pointer(at),
                variable: variable.clone(),
            });
            return;
        }
        if is_within(at, self.changes_anyway) {
            return;
        }
        let end = at.len();
        match value {
            Value::Array(items) => {
                self.checks.push(BodyCheck::Length {
                    at: JsonPath::from_pointer(at),
                    items: items.len(),
                });
                for (index, item) in items.iter().take(MAX_ITEMS).enumerate() {
                    at.push_str(&format!("/{index}"));
                    self.add(item, at);
                    at.truncate(end);
                }
            }
            Value::Object(object) if !object.is_empty() => {
                for (name, value) in object {
                    isobath_genes::push_segment(at, name);
                    self.add(value, at);
                    at.truncate(end);
                }
            }
            value => self.checks.push(BodyCheck::Equals {
                at: JsonPath::from_pointer(at),
                value: value.clone(),
                placeholders: Vec::new(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_clock_may_have_said_is_told_from_other_times() {
        let now: jiff::Timestamp = "2026-03-04T05:06:07Z".parse().expect("a moment");
        for said in [
            json!("2026-03-04T05:06:07Z"),
            json!("2026-03-04T06:06:08.123+01:00"),
            json!("2026-03-04 05:06:07"),
            json!("Wed, 04 Mar 2026 05:06:07 GMT"),
            json!("2026-03-04"),
            json!("export-at-2026-03-04-05-06"),
            json!("2026-04-03T05:06:07Z"),
            json!(now.as_second()),
            json!(now.as_millisecond() + 60_000),
        ] {
            assert!(is_moment(&said, now), "{said}");
        }
        for meant in [
            json!("2020-01-01T00:00:00Z"),
            json!("2026-05-01"),
            json!("1999-12-31"),
            json!("20260304-17"),
            json!("today"),
            json!(42),
            json!(true),
        ] {
            assert!(!is_moment(&meant, now), "{meant}");
        }
    }

    #[test]
    fn identifiers_made_by_chance_are_told_from_others() {
        assert!(is_random_id(&json!("e64d2c38-3238-4639-9a69-54e0328abe0f")));
        for id in [
            json!("00000000-0000-0000-0000-000000000000"),
            json!("cfbff0d1-9375-5685-968c-48ce8b15ae17"),
            json!("boat-17"),
            json!(17),
        ] {
            assert!(!is_random_id(&id), "{id}");
        }
    }

    #[test]
    fn lists_of_resources_and_their_counts_are_shared() {
        let check = |body: Value, expected: &[&str]| {
            let mut places = BTreeSet::new();
            shared_places(&body, &mut String::new(), &mut places);
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            assert_eq!(places, expected, "{body}");
        };
        check(
            json!({"total": 2, "boats": [{"id": 1}], "tags": ["a"], "page": {"size": 9, "name": "x"}}),
            &["/boats", "/page/size", "/total"],
        );
        check(
            json!({"next": null, "last": "http://x/boats?page=9", "first": "http://x/boats"}),
            &["/last", "/next"],
        );
        check(
            json!({"drafts": [], "byName": {}, "sizes": [1, 2]}),
            &["/byName", "/drafts"],
        );
        check(json!([]), &[""]);
        check(json!(17), &[""]);
        check(json!({"moored": 3, "away": 0}), &["/away", "/moored"]);
    }

    #[test]
    fn lists_of_texts_may_come_in_any_order() {
        let body = json!({"rights": ["read", "write"], "tags": ["a"], "sizes": [2, 1]});
        let mut places = BTreeSet::new();
        places_of(&body, &is_list_of_texts, &mut String::new(), &mut places);
        assert_eq!(places, BTreeSet::from(["/rights".to_owned()]));
    }

    #[test]
    fn what_changes_and_what_is_for_people_is_not_asserted() {
        let body =
            json!({"id": 7, "code": "E42", "detail": "bad at line 1 column 9", "tags": ["a", "b"]});
        let mut changes_anyway = BTreeSet::from(["/id".to_owned()]);
        places_of(&body, &is_message, &mut String::new(), &mut changes_anyway);
        let places: Vec<String> = facts(&body, &changes_anyway, &BTreeMap::new())
            .into_iter()
            .map(|check| match check {
                BodyCheck::Equals { at, value, .. } => format!("{:?} = {value}", at.0),
                BodyCheck::Length { items, .. } => format!("{items} items"),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(places.len(), 4, "{places:?}");
        assert!(
            !places
                .iter()
                .any(|place| place.contains("id") && place.contains('7'))
        );
    }
}
