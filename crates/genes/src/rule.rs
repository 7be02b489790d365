//! The rules of a schema, and where a value violates one.

use std::fmt;

/// One rule of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The value has the type of the schema.
    Type,
    /// Null only where it is allowed.
    NotNull,
    /// A required property is present.
    Required,
    /// A number is not below its lower bound.
    Minimum,
    /// A number is not above its upper bound.
    Maximum,
    /// A number is a multiple of the step.
    MultipleOf,
    /// A text or binary is not too short.
    MinLength,
    /// A text or binary is not too long.
    MaxLength,
    /// A text matches its pattern.
    Pattern,
    /// A text has its format, such as a date or a UUID.
    Format,
    /// The value is one of those listed.
    Enum,
    /// An array has enough items.
    MinItems,
    /// An array has not too many items.
    MaxItems,
    /// The items of an array differ.
    UniqueItems,
    /// An object has enough properties.
    MinProperties,
    /// An object has not too many properties.
    MaxProperties,
    /// An object has no properties that its schema does not know.
    AdditionalProperties,
    /// The value fits at least one of the alternatives.
    Choice,
    /// The bytes of a body are well formed. No value breaks it: only a request does.
    Syntax,
    /// A body has a documented content type. No value breaks it: only a request does.
    ContentType,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Type,
        Self::NotNull,
        Self::Required,
        Self::Minimum,
        Self::Maximum,
        Self::MultipleOf,
        Self::MinLength,
        Self::MaxLength,
        Self::Pattern,
        Self::Format,
        Self::Enum,
        Self::MinItems,
        Self::MaxItems,
        Self::UniqueItems,
        Self::MinProperties,
        Self::MaxProperties,
        Self::AdditionalProperties,
        Self::Choice,
        Self::Syntax,
        Self::ContentType,
    ];

    /// The rule that a keyword of JSON Schema states.
    #[must_use]
    pub fn by_keyword(keyword: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.keyword() == keyword)
    }

    /// The keyword that states the rule in JSON Schema, or in the document.
    #[must_use]
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::NotNull => "nullable",
            Self::Required => "required",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::MultipleOf => "multipleOf",
            Self::MinLength => "minLength",
            Self::MaxLength => "maxLength",
            Self::Pattern => "pattern",
            Self::Format => "format",
            Self::Enum => "enum",
            Self::MinItems => "minItems",
            Self::MaxItems => "maxItems",
            Self::UniqueItems => "uniqueItems",
            Self::MinProperties => "minProperties",
            Self::MaxProperties => "maxProperties",
            Self::AdditionalProperties => "additionalProperties",
            Self::Choice => "oneOf",
            Self::Syntax => "syntax",
            Self::ContentType => "content",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

/// A value does not fit its schema: which rule, and where, as a JSON Pointer into the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("breaks `{rule}` at `{pointer}`")]
pub struct Mismatch {
    /// JSON Pointer of the place; empty for the whole value.
    pub pointer: String,
    /// The first rule found broken.
    pub rule: Rule,
}

impl Mismatch {
    pub(crate) fn here(rule: Rule) -> Self {
        Self {
            pointer: String::new(),
            rule,
        }
    }

    pub(crate) fn under(mut self, segment: &str) -> Self {
        let mut pointer = String::with_capacity(self.pointer.len() + segment.len() + 1);
        push_segment(&mut pointer, segment);
        pointer.push_str(&self.pointer);
        self.pointer = pointer;
        self
    }
}

/// Appends `/segment` to a JSON Pointer, escaped as RFC 6901 asks.
pub fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}
