//! What a service wants in a field, in the words of its validator.

use std::sync::Arc;

use isobath_genes::{DateTimeKind, Specialization};
use serde_json::{Map, Value};

/// What a field must be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constraint {
    /// It must be there.
    Required,
    /// It must not be there.
    Forbidden,
    /// It must be one of these values.
    OneOf(Vec<Value>),
    /// Text that can be described: a format, a pattern, a number in text.
    Text(Specialization),
    /// A JSON value of this type.
    Type(JsonType),
    /// A number of at least this.
    AtLeast(f64),
    /// A number of at most this.
    AtMost(f64),
    /// Text or a list of at least this length.
    MinLength(u32),
    /// Text or a list of at most this length.
    MaxLength(u32),
}

/// The types of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// The constraint behind an error code with its parameters, as pydantic, ajv, zod and joi report them.
pub(crate) fn from_code(code: &str, parameters: &Map<String, Value>) -> Option<Constraint> {
    let number = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| parameters.get(*name)?.as_f64())
    };
    let list = |names: &[&str]| {
        let values = names
            .iter()
            .find_map(|name| parameters.get(*name)?.as_array())?;
        (!values.is_empty()).then(|| Constraint::OneOf(values.clone()))
    };
    let text = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| parameters.get(*name)?.as_str())
    };
    let code = code
        .trim_start_matches("value_error.")
        .trim_start_matches("type_error.");
    match code {
        "missing" | "required" | "any.required" | "NotNull" | "NotBlank" | "NotEmpty" => {
            Some(Constraint::Required)
        }
        "extra_forbidden" | "additionalProperties" | "object.unknown" | "extra" => {
            Some(Constraint::Forbidden)
        }
        "enum" | "literal_error" | "invalid_enum_value" | "any.only" | "const"
        | "invalid_value" => list(&[
            "allowedValues",
            "enum_values",
            "options",
            "valids",
            "values",
            "permitted",
        ])
        .or_else(|| quoted_values(text(&["expected"])?)),
        "union_tag_invalid" => quoted_values(text(&["expected_tags"])?),
        "string_pattern_mismatch" | "pattern" | "str.regex" | "string.pattern.base" => {
            let pattern = text(&["pattern", "regex"])?;
            Some(Constraint::Text(Specialization::Pattern(pattern.into())))
        }
        "greater_than_equal" | "greater_than" | "number.not_ge" | "number.not_gt" | "minimum"
        | "exclusiveMinimum" | "number.min" | "number.greater" => {
            let strict = code.contains("gt") || code == "greater_than" || code.starts_with("excl");
            let bound = number(&["ge", "gt", "limit_value", "limit", "minimum"])?;
            Some(Constraint::AtLeast(bound + f64::from(u8::from(strict))))
        }
        "less_than_equal" | "less_than" | "number.not_le" | "number.not_lt" | "maximum"
        | "exclusiveMaximum" | "number.max" | "number.less" => {
            let strict = code.contains("lt") || code == "less_than" || code.starts_with("excl");
            let bound = number(&["le", "lt", "limit_value", "limit", "maximum"])?;
            Some(Constraint::AtMost(bound - f64::from(u8::from(strict))))
        }
        "string_too_short" | "too_short" | "minLength" | "minItems" | "any_str.min_length"
        | "string.min" | "array.min" | "too_small" => {
            let least = number(&["min_length", "limit", "limit_value", "minimum"])?;
            Some(Constraint::MinLength(least as u32))
        }
        "string_too_long" | "too_long" | "maxLength" | "maxItems" | "any_str.max_length"
        | "string.max" | "array.max" | "too_big" => {
            let most = number(&["max_length", "limit", "limit_value", "maximum"])?;
            Some(Constraint::MaxLength(most as u32))
        }
        "format" | "invalid_string" | "invalid_format" => format(text(&["format", "validation"])?),
        "type" | "invalid_type" => json_type(text(&["type", "expected"])?),
        "Pattern" => None,
        code => from_type_name(code),
    }
}

/// The type in a code such as `int_parsing`, `string_type` or `uuid_parsing`.
fn from_type_name(code: &str) -> Option<Constraint> {
    let name = code
        .trim_end_matches("_parsing")
        .trim_end_matches("_type")
        .trim_end_matches("_from_float")
        .trim_end_matches(".base");
    match name {
        "datetime" | "datetime_from_date" | "timezone_aware" => format("date-time"),
        "date" | "date_from_datetime" => format("date"),
        "uuid" | "string.guid" => format("uuid"),
        "url" | "string.uri" => format("uri"),
        "string.email" | "email" => format("email"),
        "dict" | "model" | "model_attributes" | "mapping" => {
            Some(Constraint::Type(JsonType::Object))
        }
        "list" | "set" | "tuple" => Some(Constraint::Type(JsonType::Array)),
        name => json_type(name),
    }
}

fn json_type(name: &str) -> Option<Constraint> {
    Some(Constraint::Type(match name {
        "string" | "str" | "text" => JsonType::String,
        "integer" | "int" => JsonType::Integer,
        "number" | "float" | "decimal" | "double" => JsonType::Number,
        "boolean" | "bool" => JsonType::Boolean,
        "array" | "list" => JsonType::Array,
        "object" | "dict" | "map" => JsonType::Object,
        _ => return None,
    }))
}

/// Text of a format by its name.
pub(crate) fn format(name: &str) -> Option<Constraint> {
    let text = match name {
        "date-time" | "datetime" => Specialization::DateTime(DateTimeKind::DateTime),
        "date" => Specialization::DateTime(DateTimeKind::Date),
        "time" => Specialization::DateTime(DateTimeKind::LocalTime),
        "uuid" | "guid" => Specialization::Uuid,
        "uri" | "url" => Specialization::Uri,
        "email" => Specialization::Pattern("^[a-z]{1,8}@example\\.(com|org)$".into()),
        "ipv4" | "ip" => Specialization::OneOf(vec!["127.0.0.1".into(), "192.0.2.7".into()]),
        "ipv6" => Specialization::OneOf(vec!["::1".into()]),
        "hostname" => Specialization::Pattern("^[a-z]{1,8}\\.example\\.com$".into()),
        _ => return None,
    };
    Some(Constraint::Text(text))
}

/// The constraint that a message states, by the phrases that validators share.
pub(crate) fn from_message(message: &str) -> Option<Constraint> {
    let lower = message.to_lowercase();
    let has = |phrase: &str| lower.contains(phrase);
    let number = || number_in(&lower);
    if let Some(values) = listed_values(message) {
        return Some(values);
    }
    if let Some(format) = date_format_in(message) {
        return Some(Constraint::Text(Specialization::Pattern(format.into())));
    }
    if has("unknown field") || has("not allowed") || has("unrecognized") || has("should not exist")
    {
        return Some(Constraint::Forbidden);
    }
    if let Some(pattern) = pattern_in(message) {
        return Some(Constraint::Text(Specialization::Pattern(pattern.into())));
    }
    let is_about_length =
        has("character") || has("length") || has(" items") || has("elements") || has("size");
    if is_about_length
        && (has("at least") || has("shorter than") || has("minimum") || has("less than"))
        && !has("no more")
        && !has("at most")
    {
        return Some(Constraint::MinLength(number()? as u32));
    }
    if is_about_length
        && (has("at most")
            || has("no more than")
            || has("longer than")
            || has("maximum")
            || has("fewer than"))
    {
        return Some(Constraint::MaxLength(number()? as u32));
    }
    if has("greater than or equal")
        || has("must not be less than")
        || has("at least")
        || has("minimum")
        || has("must be >=")
    {
        return Some(Constraint::AtLeast(number()?));
    }
    if has("less than or equal")
        || has("must not be greater than")
        || has("at most")
        || has("maximum")
        || has("must be <=")
    {
        return Some(Constraint::AtMost(number()?));
    }
    if has("greater than") || has("must be >") {
        return Some(Constraint::AtLeast(number()? + 1.0));
    }
    if has("less than") || has("must be <") {
        return Some(Constraint::AtMost(number()? - 1.0));
    }
    const FORMATS: [(&str, &str); 9] = [
        ("uuid", "uuid"),
        ("e-mail", "email"),
        ("email", "email"),
        ("url", "uri"),
        ("uri", "uri"),
        ("localdatetime", "date-time"),
        ("date-time", "date-time"),
        ("datetime", "date-time"),
        ("localdate", "date"),
    ];
    if let Some((_, name)) = FORMATS.iter().find(|(word, _)| has(word)) {
        return format(name);
    }
    const TYPES: [(&str, JsonType); 13] = [
        ("integer", JsonType::Integer),
        ("int32", JsonType::Integer),
        ("int64", JsonType::Integer),
        ("i32", JsonType::Integer),
        ("i64", JsonType::Integer),
        ("`int`", JsonType::Integer),
        ("number", JsonType::Number),
        ("boolean", JsonType::Boolean),
        ("a list", JsonType::Array),
        ("an array", JsonType::Array),
        ("sequence", JsonType::Array),
        ("an object", JsonType::Object),
        ("a string", JsonType::String),
    ];
    let is_about_type = has("must be")
        || has("expected")
        || has("valid")
        || has("should be")
        || has("deserialize")
        || has("of type");
    if is_about_type && let Some((_, kind)) = TYPES.iter().find(|(word, _)| has(word)) {
        return Some(Constraint::Type(*kind));
    }
    let is_required = has("required")
        || has("must not be null")
        || has("must not be blank")
        || has("must not be empty")
        || has("should not be empty")
        || has("may not be null")
        || has("may not be blank")
        || has("can't be blank")
        || has("is missing");
    is_required.then_some(Constraint::Required)
}

/// The values that a message lists: `one of 'a', 'b'`, `one of: a, b`, `Enum class: [A, B]`.
fn listed_values(message: &str) -> Option<Constraint> {
    const LEADS: [&str; 9] = [
        "one of the following values:",
        "accepted for Enum class:",
        "one of the following:",
        "allowed values:",
        "one of the values",
        "must be one of",
        "expected one of",
        "is not one of",
        "one of",
    ];
    let rest = LEADS
        .iter()
        .find_map(|lead| message.split_once(lead))
        .map(|(_, rest)| rest)
        .or_else(|| {
            // pydantic: Input should be 'A', 'B' or 'C'.
            let rest = message.strip_prefix("Input should be ")?;
            rest.starts_with('\'').then_some(rest)
        })?;
    if let Some(values) = quoted_values(rest) {
        return Some(values);
    }
    let rest = rest.trim_start_matches([':', ' ']);
    let inner = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, _)) => inner,
        None => rest.split(['.', ';', '(']).next()?,
    };
    let values: Vec<Value> = inner
        .split([',', '|'])
        .flat_map(|value| value.split(" or "))
        .map(|value| value.trim().trim_matches(['"', '\'', '`']))
        .filter(|value| !value.is_empty() && value.len() <= 60 && !value.contains(' '))
        .map(|value| Value::String(value.to_owned()))
        .collect();
    (values.len() > 1 || (values.len() == 1 && rest.starts_with('[')))
        .then_some(Constraint::OneOf(values))
}

/// The values in quotes of a text.
fn quoted_values(text: &str) -> Option<Constraint> {
    for quote in ['\'', '"', '`'] {
        let values: Vec<Value> = text
            .split(quote)
            .skip(1)
            .step_by(2)
            .filter(|value| value.len() <= 80)
            .map(|value| Value::String(value.to_owned()))
            .collect();
        if !values.is_empty() && text.matches(quote).count() % 2 == 0 {
            return Some(Constraint::OneOf(values));
        }
    }
    None
}

fn number_in(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let negative = text[..start].ends_with('-');
    let digits: String = text[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let number: f64 = digits.trim_end_matches('.').parse().ok()?;
    Some(if negative { -number } else { number })
}

/// A regular expression that a message shows after words such as "match" or "pattern".
fn pattern_in(message: &str) -> Option<&str> {
    let (_, rest) = ["regex", "regular expression", "pattern", "match"]
        .iter()
        .find_map(|word| message.split_once(word))?;
    let at = rest.find(['^', '/'])?;
    let rest = &rest[at..];
    if let Some(rest) = rest.strip_prefix('/') {
        return rest
            .rsplit_once('/')
            .map(|(pattern, _)| pattern)
            .filter(|pattern| pattern.len() > 1);
    }
    let end = rest.find('$').map_or_else(
        || rest.find(['"', '\'', '`', ' ']).unwrap_or(rest.len()),
        |end| end + 1,
    );
    (end > 1).then(|| &rest[..end])
}

/// A date format that a text shows (`dd-MM-yyyy`, `YYYY-MM-DD hh:mm:ss`), as a pattern.
pub(crate) fn date_format_in(text: &str) -> Option<String> {
    let is_part = |c: char| "yYMmdDHhsSTZ-/.: '".contains(c);
    let mut best: Option<&str> = None;
    let mut at = 0;
    while let Some(found) = text[at..].find(|c| "yYdDM".contains(c)) {
        let start = at + found;
        at = start + 1;
        // The last letter of a word, as in `instead: YYYY-MM-DD`, begins no format.
        if !before_is_boundary(text, start) {
            continue;
        }
        let end = text[start..]
            .find(|c| !is_part(c))
            .map_or(text.len(), |end| start + end);
        let word = text[start..end].trim_end_matches([' ', '.', ':', '\'', '-']);
        let lower = word.to_lowercase();
        let is_format = lower.contains("yy") && word.contains("MM") && lower.contains("dd");
        if is_format && best.is_none_or(|best| word.len() > best.len()) {
            best = Some(word);
        }
        at = end.max(at);
    }
    date_pattern(best?)
}

fn before_is_boundary(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_ascii_alphanumeric())
}

/// The pattern of a date format in the letters that Java, JavaScript and DRF share.
fn date_pattern(format: &str) -> Option<String> {
    let mut pattern = String::from("^");
    let chars: Vec<char> = format.chars().collect();
    let mut at = 0;
    let mut is_after_hours = false;
    while let Some(&c) = chars.get(at) {
        let same = chars.iter().skip(at).take_while(|other| **other == c);
        let run = same.count();
        at += run;
        match (c, run) {
            ('y' | 'Y', 4) => pattern.push_str("20[0-3][0-9]"),
            ('y' | 'Y', 2) => pattern.push_str("[0-3][0-9]"),
            ('M', 2) => pattern.push_str("(0[1-9]|1[0-2])"),
            ('d' | 'D', 2) => pattern.push_str("(0[1-9]|1[0-9]|2[0-8])"),
            ('H' | 'h', 2) => {
                is_after_hours = true;
                pattern.push_str("(0[1-9]|1[0-2])");
            }
            ('m', 2) if is_after_hours => pattern.push_str("[0-5][0-9]"),
            ('m', 2) => pattern.push_str("(0[1-9]|1[0-2])"),
            ('s', 2) => pattern.push_str("[0-5][0-9]"),
            ('S', 1..=9) => pattern.push_str(&"[0-9]".repeat(run)),
            ('Z', 1) => pattern.push('Z'),
            ('T', 1) => pattern.push('T'),
            ('\'', _) => {}
            ('-' | '/' | ':' | ' ', 1) => pattern.push(c),
            ('.', 1) => pattern.push_str("\\."),
            _ => return None,
        }
    }
    pattern.push('$');
    Some(pattern)
}

impl Constraint {
    /// What a value of a gene that is text should become, where the constraint says that.
    pub(crate) fn specialization(&self) -> Option<Specialization> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::OneOf(values) => {
                let texts: Option<Vec<Arc<str>>> = values
                    .iter()
                    .map(|value| value.as_str().map(Arc::from))
                    .collect();
                texts.map(Specialization::OneOf)
            }
            _ => None,
        }
    }
}
