//! Where something stands in a JSON document.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The way from the root of a JSON document to a value, e.g. `["tags", 0]`; empty for the root.
///
/// Unlike a JSON Pointer it tells the key `"0"` from the index `0`, as test languages must.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(pub Vec<Key>);

/// One step into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Key {
    /// Into an array.
    Index(usize),
    /// Into an object.
    Name(String),
}

impl Place {
    /// The document itself.
    pub fn root() -> Self {
        Place::default()
    }

    /// The member called `name` of the value here.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(Key::Name(name.into()));
        self
    }

    /// The item `index` of the array here.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Key::Index(index));
        self
    }

    /// Whether this is the document itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The place a JSON Pointer names, as far as it can be told without the document: numbers are
    /// taken for indices. A missing slash at the start is forgiven.
    pub fn from_pointer(pointer: &str) -> Self {
        if pointer.is_empty() {
            return Place::root();
        }
        let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
        let keys = pointer.split('/').map(|token| match token.parse() {
            Ok(index) if token == "0" || !token.starts_with(['0', '+']) => Key::Index(index),
            _ => Key::Name(token.replace("~1", "/").replace("~0", "~")),
        });
        Place(keys.collect())
    }

    /// The value here, if `document` has one.
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, key| match key {
            Key::Index(index) => value.as_array()?.get(*index),
            Key::Name(name) => value.as_object()?.get(name),
        })
    }

    /// The value here, to be changed, if `document` has one.
    pub fn find_mut<'a>(&self, document: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(document, |value, key| match key {
            Key::Index(index) => value.as_array_mut()?.get_mut(*index),
            Key::Name(name) => value.as_object_mut()?.get_mut(name),
        })
    }

    /// The place of the parent, and the last key.
    pub fn split(&self) -> Option<(Place, &Key)> {
        let (last, parents) = self.0.split_last()?;
        Some((Place(parents.to_vec()), last))
    }
}

/// As a JSON Pointer.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in &self.0 {
            match key {
                Key::Index(index) => write!(f, "/{index}")?,
                Key::Name(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1"))?,
            }
        }
        Ok(())
    }
}

impl From<&str> for Place {
    fn from(pointer: &str) -> Self {
        Place::from_pointer(pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_and_printed_back() {
        for pointer in ["", "/a", "/a/0/b", "/a~1b/m~0n", "/", "/01"] {
            assert_eq!(Place::from_pointer(pointer).to_string(), pointer);
        }
        assert_eq!(Place::from_pointer("token").to_string(), "/token");
    }

    #[test]
    fn a_key_that_looks_like_an_index_stays_a_key_in_json() {
        let place = Place::root().name("codes").name("200").index(1);
        let text = serde_json::to_string(&place).unwrap();
        assert_eq!(text, r#"["codes","200",1]"#);
        assert_eq!(serde_json::from_str::<Place>(&text).unwrap(), place);
        let document = serde_json::json!({"codes": {"200": ["a", "b"]}});
        assert_eq!(place.find(&document), Some(&Value::from("b")));
    }
}
