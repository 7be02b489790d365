//! What of a body can be relied on, and is worth asserting.

use std::collections::{BTreeMap, BTreeSet};

use isobath_emit::http::{Check, Hole, JsonType, Place, Text};
use serde_json::Value;

use crate::compare::is_within;

/// Facts checked about one body at most; more would hide what matters.
const MOST_CHECKS: usize = 25;
/// Items of a list whose parts are checked.
const MOST_ITEMS: usize = 3;
/// Bodies with more values than that are not written out as a whole.
const MOST_LEAVES: usize = 12;

/// Adds the messages for people in a refusal: they tell of lines and columns and change with every version.
pub(super) fn messages(value: &Value, at: &mut String, restless: &mut BTreeSet<String>) {
    let end = at.len();
    let mut below = |segment: &str, value: &Value, restless: &mut BTreeSet<String>| {
        isobath_genes::push_segment(at, segment);
        messages(value, at, restless);
        at.truncate(end);
    };
    match value {
        Value::Object(object) => object
            .iter()
            .for_each(|(name, value)| below(name, value, restless)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| below(&index.to_string(), item, restless)),
        Value::String(text)
            if text.contains(' ') && text.contains(|c: char| c.is_ascii_digit()) =>
        {
            restless.insert(at.clone());
        }
        _ => {}
    }
}

/// The stable facts of a body. At the places of `same` stands what was captured under a name.
pub(super) fn facts(
    body: &Value,
    restless: &BTreeSet<String>,
    same: &BTreeMap<String, String>,
) -> Vec<Check> {
    if restless.iter().all(|place| same.contains_key(place)) && leaves(body) <= MOST_LEAVES {
        let holes = same.iter().map(|(at, variable)| Hole {
            at: Place::from_pointer(at),
            value: Text::captured(variable.clone()),
        });
        return vec![Check::Equals {
            at: Place::root(),
            value: body.clone(),
            holes: holes.collect(),
        }];
    }
    let mut checks = Vec::new();
    let mut collected = Collected {
        restless,
        same,
        checks: &mut checks,
    };
    collected.add(body, &mut String::new());
    if checks.is_empty() {
        checks.push(Check::Type {
            at: Place::root(),
            is: JsonType::of(body),
        });
    }
    checks.truncate(MOST_CHECKS);
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
    restless: &'a BTreeSet<String>,
    same: &'a BTreeMap<String, String>,
    checks: &'a mut Vec<Check>,
}

impl Collected<'_> {
    fn add(&mut self, value: &Value, at: &mut String) {
        if self.checks.len() >= MOST_CHECKS {
            return;
        }
        if let Some(variable) = self.same.get(at.as_str()) {
            self.checks.push(Check::Same {
                at: Place::from_pointer(at),
                variable: variable.clone(),
            });
            return;
        }
        if is_within(at, self.restless) {
            return;
        }
        let end = at.len();
        match value {
            Value::Array(items) => {
                self.checks.push(Check::Length {
                    at: Place::from_pointer(at),
                    items: items.len(),
                });
                for (index, item) in items.iter().take(MOST_ITEMS).enumerate() {
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
            value => self.checks.push(Check::Equals {
                at: Place::from_pointer(at),
                value: value.clone(),
                holes: Vec::new(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    #[test]
    fn what_changes_and_what_is_for_people_is_not_asserted() {
        let body =
            json!({"id": 7, "code": "E42", "detail": "bad at line 1 column 9", "tags": ["a", "b"]});
        let mut restless = BTreeSet::from(["/id".to_owned()]);
        messages(&body, &mut String::new(), &mut restless);
        let places: Vec<String> = facts(&body, &restless, &BTreeMap::new())
            .into_iter()
            .map(|check| match check {
                Check::Equals { at, value, .. } => format!("{:?} = {value}", at.0),
                Check::Length { items, .. } => format!("{items} items"),
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
