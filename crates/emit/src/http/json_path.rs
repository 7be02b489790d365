//! Paths into JSON documents.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The way from the root of a JSON document to a value, e.g. `["tags", 0]`; empty for the root.
///
/// Unlike a JSON Pointer it tells the key `"0"` from the index `0`, as test languages must.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonPath(pub Vec<JsonKey>);

/// One step into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JsonKey {
    /// Into an array.
    Index(usize),
    /// Into an object.
    Name(String),
}

impl JsonPath {
    /// The document itself.
    pub fn root() -> Self {
        JsonPath::default()
    }

    /// The member called `name` of the value here.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(JsonKey::Name(name.into()));
        self
    }

    /// The item `index` of the array here.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(JsonKey::Index(index));
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
            return JsonPath::root();
        }
        let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
        let keys = pointer.split('/').map(|token| match token.parse() {
            Ok(index) if token == "0" || !token.starts_with(['0', '+']) => JsonKey::Index(index),
            _ => JsonKey::Name(token.replace("~1", "/").replace("~0", "~")),
        });
        JsonPath(keys.collect())
    }

    /// The value here, if `document` has one.
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, key| match key {
            JsonKey::Index(index) => value.as_array()?.get(*index),
            JsonKey::Name(name) => value.as_object()?.get(name),
        })
    }

    /// The value here, to be changed, if `document` has one.
    pub fn find_mut<'a>(&self, document: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(document, |value, key| match key {
            JsonKey::Index(index) => value.as_array_mut()?.get_mut(*index),
            JsonKey::Name(name) => value.as_object_mut()?.get_mut(name),
        })
    }

    /// The place of the parent, and the last key.
    pub fn split(&self) -> Option<(JsonPath, &JsonKey)> {
        let (last, parents) = self.0.split_last()?;
        Some((JsonPath(parents.to_vec()), last))
    }
}

/// As a JSON Pointer.
impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in &self.0 {
            match key {
                JsonKey::Index(index) => write!(f, "/{index}")?,
                JsonKey::Name(name) => {
                    write!(f, "/{}", name.replace('~', "~0").replace('/', "~1"))?
                }
            }
        }
        Ok(())
    }
}

impl From<&str> for JsonPath {
    fn from(pointer: &str) -> Self {
        JsonPath::from_pointer(pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_and_printed_back() {
        for pointer in ["", "/a", "/a/0/b", "/a~1b/m~0n", "/", "/01"] {
            assert_eq!(JsonPath::from_pointer(pointer).to_string(), pointer);
        }
        assert_eq!(JsonPath::from_pointer("token").to_string(), "/token");
    }

    #[test]
    fn a_key_that_looks_like_an_index_stays_a_key_in_json() {
        let place = JsonPath::root().name("codes").name("200").index(1);
        let text = serde_json::to_string(&place).unwrap();
        assert_eq!(text, r#"["codes","200",1]"#);
        assert_eq!(serde_json::from_str::<JsonPath>(&text).unwrap(), place);
        let document = serde_json::json!({"codes": {"200": ["a", "b"]}});
        assert_eq!(place.find(&document), Some(&Value::from("b")));
    }
}
