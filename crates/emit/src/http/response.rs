//! An expected response: status, headers, and the stable parts of the body.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonPath;
use super::request::Placeholder;

/// An expected response. Everything that is given is checked, nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpectedResponse {
    /// The status.
    pub status: u16,
    /// The media type without parameters, e.g. `application/json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderCheck>,
    /// The stable parts of the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodyCheck>,
}

/// What a header must be like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderCheck {
    /// Its name.
    pub name: String,
    /// Its value; without one it only has to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// One fact about a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum BodyCheck {
    /// The JSON at a place is this.
    Equals {
        /// Where.
        at: JsonPath,
        /// The value.
        value: Value,
        /// Places in it at which something captured must be; what stands there in `value` is a
        /// sample.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        placeholders: Vec<Placeholder>,
    },
    /// The JSON at a place is what an earlier step captured.
    Same {
        /// Where.
        at: JsonPath,
        /// The variable.
        variable: String,
    },
    /// The JSON at a place is of this type.
    Type {
        /// Where.
        at: JsonPath,
        /// The type.
        is: JsonType,
    },
    /// The JSON at a place is an array of so many items.
    Length {
        /// Where.
        at: JsonPath,
        /// How many.
        items: usize,
    },
    /// The JSON at a place is an array with this among its items.
    Includes {
        /// Where.
        at: JsonPath,
        /// The item.
        value: Value,
    },
    /// There is something at this place, be it null.
    Present {
        /// Where.
        at: JsonPath,
    },
    /// There is nothing at this place, though its parent is there.
    Absent {
        /// Where.
        at: JsonPath,
    },
    /// The body as text contains this.
    Contains {
        /// The text.
        text: String,
    },
    /// The body as text is this.
    TextEquals {
        /// The text.
        text: String,
    },
    /// There is no body.
    Empty,
}

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without fraction.
    Integer,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl ExpectedResponse {
    /// An answer of which only the status matters.
    pub fn status(status: u16) -> Self {
        ExpectedResponse {
            status,
            ..ExpectedResponse::default()
        }
    }

    /// The same with JSON as media type.
    #[must_use]
    pub fn as_json(mut self) -> Self {
        self.content_type = Some("application/json".into());
        self
    }

    /// The same with one more fact about the body.
    #[must_use]
    pub fn check(mut self, check: BodyCheck) -> Self {
        self.body.push(check);
        self
    }

    /// The same with a value that must be found in the body.
    #[must_use]
    pub fn equals(self, at: impl Into<JsonPath>, value: impl Into<Value>) -> Self {
        self.check(BodyCheck::Equals {
            at: at.into(),
            value: value.into(),
            placeholders: Vec::new(),
        })
    }

    /// Whether the body is read as JSON.
    pub fn reads_json(&self) -> bool {
        self.body.iter().any(BodyCheck::reads_json)
    }
}

impl BodyCheck {
    /// Whether it is about JSON.
    pub fn reads_json(&self) -> bool {
        match self {
            BodyCheck::Equals { .. }
            | BodyCheck::Same { .. }
            | BodyCheck::Type { .. }
            | BodyCheck::Length { .. }
            | BodyCheck::Includes { .. }
            | BodyCheck::Present { .. }
            | BodyCheck::Absent { .. } => true,
            BodyCheck::Contains { .. } | BodyCheck::TextEquals { .. } | BodyCheck::Empty => false,
        }
    }
}

impl JsonType {
    /// The type of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(number) if number.is_f64() => JsonType::Number,
            Value::Number(_) => JsonType::Integer,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }
}
