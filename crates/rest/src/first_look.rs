//! What each GET returned when it was first called in a run: the nearest to a fresh start that can be seen of a
//! service that is not reset.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use isobath_exec::http::Method;
use isobath_genes::Gene;
use serde_json::Value;

use crate::exchange::{Exchange, texts_in};
use crate::openapi::Api;
use crate::resource::plain_name;

/// Responses that are kept at most, and how long each may be.
const MAX_LOOKS: usize = 2_000;
const MAX_BODY: usize = 100_000;
/// Written texts that are remembered at most.
const MAX_WRITTEN: usize = 500_000;

/// A user and the body of the first response to them.
type UserBody = (Option<usize>, Arc<Value>);

/// The first response of each user to each GET, by URL.
#[derive(Debug, Default)]
pub struct FirstLooks(Mutex<Looks>);

#[derive(Debug, Default)]
struct Looks {
    bodies: BTreeMap<String, Vec<UserBody>>,
    /// The URLs that were looked at before anything was written.
    untouched: BTreeSet<String>,
    /// Inputs without optional parts with which an operation succeeded before anything was written.
    plain: BTreeMap<usize, Gene>,
    /// Whether a call that may write succeeded.
    is_written: bool,
    /// Hashes of the texts that calls which may write were sent.
    written: BTreeSet<u64>,
    /// Per operation, the texts and numbers that its response had before anything was written.
    texts: BTreeMap<usize, BTreeSet<String>>,
}

impl FirstLooks {
    /// Keeps a response, if it is the first one.
    pub(crate) fn note(&self, exchange: &Exchange) {
        // What is refused may be written all the same.
        if exchange.request.method != Method::GET {
            let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for text in exchange.sent.iter().flat_map(|sent| texts_in(sent, 0)) {
                if looks.written.len() < MAX_WRITTEN {
                    looks.written.insert(hash(text));
                }
            }
        }
        let response = exchange.response().filter(|_| exchange.succeeded());
        let Some(response) = response.filter(|response| response.body.len() <= MAX_BODY) else {
            return;
        };
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if exchange.request.method != Method::GET {
            looks.is_written = true;
        } else if looks.bodies.len() < MAX_LOOKS {
            if !looks.is_written {
                looks.untouched.insert(exchange.request.url.clone());
            }
            let of_users = looks.bodies.entry(exchange.request.url.clone());
            let of_users = of_users.or_default();
            if of_users.iter().all(|(user, _)| *user != exchange.user) {
                let body = match &exchange.body {
                    Some(body) => body.clone(),
                    None => Value::String(response.text().into_owned()),
                };
                of_users.push((exchange.user, Arc::new(body)));
            }
        }
    }

    /// Whether a call that may write succeeded so far.
    pub(crate) fn is_written(&self) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.is_written
    }

    /// Whether a value is a text that some call wrote and that nobody saw before: it may be that of a resource which a
    /// fresh service has, too, and others may have given it.
    pub(crate) fn may_be_written(&self, value: &Value) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        value.as_str().is_some_and(|text| {
            let mut seen = looks.texts.values();
            looks.written.contains(&hash(text)) && !seen.any(|texts| texts.contains(text))
        })
    }

    /// Whether a value of something that was there before anything was written may have been another one then: it is
    /// known only of texts that were seen then.
    pub(crate) fn may_have_changed(&self, value: &Value) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |text: &str| looks.texts.values().any(|texts| texts.contains(text));
        match value {
            Value::Object(members) => members.is_empty() && looks.is_written,
            Value::Array(items) => items.is_empty() && looks.is_written,
            Value::String(text) => looks.is_written && !is_known(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => looks.is_written,
        }
    }

    /// What the same request of each user returned first; a text where that was not JSON.
    #[must_use]
    pub fn of(&self, exchange: &Exchange) -> Vec<Arc<Value>> {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_users = looks.bodies.get(&exchange.request.url).into_iter();
        of_users
            .flatten()
            .map(|(_, body)| Arc::clone(body))
            .collect()
    }

    /// Whether nobody knows what the same request returned before anything was written.
    pub(crate) fn is_unknown(&self, exchange: &Exchange) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.is_written && !looks.untouched.contains(&exchange.request.url)
    }

    /// Takes note that an operation succeeded with this input before anything was written, and of what it returned.
    pub(crate) fn note_input(&self, operation: usize, input: Gene, body: Option<&Value>) {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.plain.insert(operation, input);
        let texts = looks.texts.entry(operation).or_default();
        let listed = body.and_then(listed_numbers);
        let is_listed = listed.is_some();
        texts.extend(listed.into_iter().flatten());
        let mut left: Vec<(&str, &Value)> = body.into_iter().map(|body| ("id", body)).collect();
        while let Some((name, value)) = left.pop() {
            match value {
                Value::String(text) => {
                    texts.insert(text.clone());
                }
                // Other numbers count or measure something.
                Value::Number(number) if is_identifier(name) && !is_listed => {
                    texts.insert(number.to_string());
                }
                Value::Array(items) => left.extend(items.iter().map(|item| (name, item))),
                Value::Object(members) => {
                    left.extend(members.iter().map(|(name, value)| (name.as_str(), value)));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    /// Whether what a path names by this text was there before anything was written: in the collection above the path,
    /// where one was looked at, else in any response. There a number may count anything, so it is not taken for a name.
    pub(crate) fn had(&self, api: &Api, path: &str, text: &str) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_above = |operation: usize| {
            let collection = api.operation(operation).path.trim_end_matches('/');
            let below = path.strip_prefix(collection);
            !collection.is_empty() && below.is_some_and(|below| below.starts_with("/{"))
        };
        let mut above = looks
            .texts
            .iter()
            .filter(|(operation, _)| is_above(**operation))
            .peekable();
        if above.peek().is_some() {
            return above.any(|(_, texts)| texts.contains(text));
        }
        let is_number = text.parse::<f64>().is_ok();
        !is_number && looks.texts.values().any(|texts| texts.contains(text))
    }

    /// Whether an operation returned this text, or this number as an identifier, before anything was written.
    pub(crate) fn returned(&self, operation: usize, text: &str) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = looks.texts.get(&operation);
        texts.is_some_and(|texts| texts.contains(text))
    }

    /// The input with which the operation of an exchange succeeded before anything was written.
    pub(crate) fn first_input(&self, exchange: &Exchange) -> Option<Gene> {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.plain.get(&exchange.operation?).cloned()
    }
}

/// Deterministic: the same for all runs.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// How deep the lists of a response are looked for.
const LIST_DEPTH: usize = 2;

/// The numbers that identify the items of a list. Where a response has several lists, those that are in all of them: nobody
/// knows which one the path is about. `None` where there is no list of objects.
fn listed_numbers(body: &Value) -> Option<BTreeSet<String>> {
    fn lists<'a>(value: &'a Value, depth: usize, found: &mut Vec<&'a [Value]>) {
        match value {
            Value::Array(items) if items.iter().all(Value::is_object) => found.push(items),
            Value::Object(members) if depth > 0 => {
                let values = members.values();
                values.for_each(|value| lists(value, depth - 1, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    lists(body, LIST_DEPTH, &mut found);
    let numbers = |items: &[Value]| -> BTreeSet<String> {
        let members = items.iter().filter_map(Value::as_object).flatten();
        members
            .filter(|(name, value)| is_identifier(name) && value.is_number())
            .map(|(_, value)| value.to_string())
            .collect()
    };
    found
        .into_iter()
        .map(numbers)
        .reduce(|all, numbers| all.intersection(&numbers).cloned().collect())
}

/// Whether a number identifies an item of one of several lists, and nobody knows what it would identify elsewhere.
pub(crate) fn is_of_one_list(body: &Value, place: &str) -> bool {
    let mut segments = place.rsplit('/').skip(1);
    let is_item = segments
        .next()
        .is_some_and(|at| at.parse::<usize>().is_ok());
    let number = body.pointer(place).filter(|value| value.is_number());
    number.filter(|_| is_item).is_some_and(|number| {
        let listed = listed_numbers(body);
        listed.is_some_and(|listed| !listed.contains(&number.to_string()))
    })
}

/// Whether a number of this name identifies something.
fn is_identifier(name: &str) -> bool {
    let name = plain_name(name);
    let endings = ["id", "ids", "pk", "key", "number", "no", "code"];
    endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_of_one_list_are_names_and_of_several_lists_those_of_all() {
        let listed = |body: Value| listed_numbers(&body).map(|all| all.into_iter().collect());
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let users = json!([{ "id": 1, "age": 30 }, { "id": 2, "tags": [{ "id": 9 }] }]);
        assert_eq!(listed(users.clone()), texts(&["1", "2"]));
        let of_page = json!({ "count": 2, "data": { "items": users.clone() } });
        assert_eq!(listed(of_page), texts(&["1", "2"]));
        let with_roles = json!({ "users": users.clone(), "roles": [{ "id": 2 }, { "id": 3 }] });
        assert_eq!(listed(with_roles.clone()), texts(&["2"]));
        let is_of_one = |place: &str| is_of_one_list(&with_roles, place);
        let places = ["/users/0/id", "/users/1/id", "/roles/0/id", "/users/1/tags"];
        assert_eq!(places.map(is_of_one), [true, false, false, false]);
        let nobody = json!({ "users": [], "roles": users });
        assert_eq!(listed(nobody), texts(&[]));
        assert_eq!(listed(json!({ "id": 3 })), None::<Vec<String>>);
    }
}
