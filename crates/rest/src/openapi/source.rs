//! The text of a document: JSON or YAML in, one JSON value out, and the line of any place in it.
//!
//! Lines are not kept with the value, because nearly all of them would never be shown. They are
//! found by reading the text again, along one JSON Pointer, when a message needs one.

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json};

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Nesting beyond which a document is refused; JSON has the same bound in `serde_json`.
const MAX_DEPTH: usize = 128;
/// Values beyond which a document is refused; aliases can multiply a few lines into billions.
const MAX_VALUES: usize = 4_000_000;

/// Why a text is not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// Reads JSON if the text starts like JSON, and YAML else.
pub(crate) fn parse(text: &str) -> Result<Json, SyntaxError> {
    let text = text.trim_start_matches('\u{feff}');
    if is_json(text) {
        serde_json::from_str(text).map_err(|error| SyntaxError {
            line: error.line(),
            column: error.column(),
            message: strip_place(&error.to_string()),
        })
    } else {
        parse_yaml(text)
    }
}

/// A flow mapping of YAML starts with a brace, too, but rarely with a name in quotes.
fn is_json(text: &str) -> bool {
    let mut chars = text.chars().filter(|c| !c.is_whitespace());
    match chars.next() {
        Some('{') => matches!(chars.next(), Some('"' | '}') | None),
        Some('[') => true,
        _ => false,
    }
}

fn strip_place(message: &str) -> String {
    message
        .split(" at line ")
        .next()
        .unwrap_or(message)
        .to_owned()
}

/// A collection that is being read.
enum Open {
    List(Vec<Json>, usize),
    Map(Map<String, Json>, Option<String>, usize),
}

struct YamlReader {
    open: Vec<Open>,
    anchors: Vec<(usize, Json)>,
    root: Option<Json>,
    n_values: usize,
}

fn parse_yaml(text: &str) -> Result<Json, SyntaxError> {
    let mut reader = YamlReader {
        open: Vec::new(),
        anchors: Vec::new(),
        root: None,
        n_values: 0,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| SyntaxError {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            message: error.info().to_owned(),
        })?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        reader.event(event).map_err(|message| SyntaxError {
            line: span.start.line(),
            column: span.start.col() + 1,
            message: message.to_owned(),
        })?;
    }
    reader.root.ok_or(SyntaxError {
        line: 1,
        column: 1,
        message: "the document is empty".into(),
    })
}

impl YamlReader {
    fn event(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain
                    || tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                if let Some(Open::Map(_, key @ None, _)) = self.open.last_mut() {
                    // `200:` is a number to YAML and a name to us.
                    *key = Some(text.into_owned());
                    return Ok(());
                }
                let json = if is_text {
                    Json::String(text.into_owned())
                } else {
                    plain_scalar(&text)
                };
                self.add(json, anchor)
            }
            Event::SequenceStart(anchor, _) => self.start(Open::List(Vec::new(), anchor)),
            Event::MappingStart(anchor, _) => self.start(Open::Map(Map::new(), None, anchor)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items, anchor)) => self.add(Json::Array(items), anchor),
                Some(Open::Map(map, _, anchor)) => self.add(Json::Object(map), anchor),
                None => Err("unexpected end of a collection"),
            },
            Event::Alias(id) => {
                let known = self.anchors.iter().rev().find(|(anchor, _)| *anchor == id);
                let json = match known {
                    Some((_, json)) => json.clone(),
                    None => return Err("an alias refers to itself"),
                };
                self.n_values += count(&json);
                if self.n_values > MAX_VALUES {
                    return Err("aliases expand to too many values");
                }
                self.add(json, 0)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn start(&mut self, open: Open) -> Result<(), &'static str> {
        if self.open.len() >= MAX_DEPTH {
            return Err("nesting is too deep");
        }
        if let Some(Open::Map(_, None, _)) = self.open.last() {
            return Err("a key must be a string");
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, json: Json, anchor: usize) -> Result<(), &'static str> {
        self.n_values += 1;
        if self.n_values > MAX_VALUES {
            return Err("the document has too many values");
        }
        if anchor > 0 {
            self.n_values += count(&json);
            self.anchors.push((anchor, json.clone()));
        }
        match self.open.last_mut() {
            None => self.root = Some(json),
            Some(Open::List(items, _)) => items.push(json),
            Some(Open::Map(map, key, _)) => match key.take() {
                None => match json {
                    Json::String(text) => *key = Some(text),
                    _ => return Err("a key must be a string"),
                },
                Some(name) if name == "<<" => merge(map, json),
                Some(name) => {
                    map.insert(name, json);
                }
            },
        }
        Ok(())
    }
}

/// The merge key of YAML 1.1, which people use in documents all the same.
fn merge(map: &mut Map<String, Json>, from: Json) {
    match from {
        Json::Object(other) => {
            for (name, json) in other {
                map.entry(name).or_insert(json);
            }
        }
        Json::Array(others) => others.into_iter().for_each(|other| merge(map, other)),
        _ => {}
    }
}

fn count(json: &Json) -> usize {
    match json {
        Json::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Json::Object(map) => 1 + map.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// A plain scalar by the core schema of YAML 1.2.
fn plain_scalar(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "true" | "True" | "TRUE" => return Json::Bool(true),
        "false" | "False" | "FALSE" => return Json::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(n) = unsigned.parse::<i64>() {
        return Json::from(n);
    }
    if let Ok(n) = unsigned.parse::<u64>() {
        return Json::from(n);
    }
    let radix = |prefix: &str, radix| {
        text.strip_prefix(prefix)
            .and_then(|digits| u64::from_str_radix(digits, radix).ok())
    };
    if let Some(n) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Json::from(n);
    }
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
        && unsigned
            .chars()
            .all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
    if is_number
        && let Ok(x) = unsigned.parse::<f64>()
        && let Some(number) = Number::from_f64(x)
    {
        return Json::Number(number);
    }
    Json::String(text.to_owned())
}

/// Line and column, both from one, of the value at a JSON Pointer.
pub(crate) fn locate(text: &str, pointer: &str) -> Option<(usize, usize)> {
    let segments: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
        .collect();
    if is_json(text.trim_start_matches('\u{feff}')) {
        locate_json(text, &segments)
    } else {
        locate_yaml(text, &segments)
    }
}

fn locate_json(text: &str, segments: &[String]) -> Option<(usize, usize)> {
    let body = text.trim_start_matches('\u{feff}');
    let mut at: &str = serde_json::from_str::<&RawValue>(body).ok()?.get();
    for segment in segments {
        at = if at.starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(at).ok()?;
            items.get(segment.parse::<usize>().ok()?)?.get()
        } else {
            let map: std::collections::BTreeMap<String, &RawValue> =
                serde_json::from_str(at).ok()?;
            map.get(segment)?.get()
        };
    }
    // A raw value borrows from the text, so its distance from the start is its offset.
    let offset = (at.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let before = text.get(..offset)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    Some((before.matches('\n').count() + 1, line.chars().count() + 1))
}

fn locate_yaml(text: &str, segments: &[String]) -> Option<(usize, usize)> {
    /// A collection on the way: how many of the segments lead to it, and what comes next.
    struct Level {
        is_map: bool,
        /// Whether this collection is on the path.
        depth: Option<usize>,
        index: usize,
        key: Option<String>,
    }
    let mut levels: Vec<Level> = Vec::new();
    let mut found = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let is_value = matches!(
            event,
            Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::MappingStart(..)
                | Event::Alias(_)
        );
        if let Event::Scalar(name, ..) = &event
            && let Some(level) = levels.last_mut()
            && level.is_map
            && level.key.is_none()
        {
            level.key = Some(name.to_string());
            continue;
        }
        let mut depth = None;
        if is_value {
            depth = match levels.last_mut() {
                None => Some(0),
                Some(level) => {
                    let name = match level.key.take() {
                        Some(key) => key,
                        None => {
                            level.index += 1;
                            (level.index - 1).to_string()
                        }
                    };
                    level
                        .depth
                        .filter(|&depth| segments.get(depth) == Some(&name))
                        .map(|depth| depth + 1)
                }
            };
            if depth == Some(segments.len()) {
                found = Some((span.start.line(), span.start.col() + 1));
                break;
            }
        }
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => levels.push(Level {
                is_map: matches!(event, Event::MappingStart(..)),
                depth,
                index: 0,
                key: None,
            }),
            Event::SequenceEnd | Event::MappingEnd => {
                levels.pop();
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_and_json_read_the_same() {
        let yaml = "a: 1\n'b':\n  - true\n  - ~\n  - '3'\n  - 1.5\n200:\n  c: [x, 0x10, -7]\n";
        let json = json!({
            "a": 1, "b": [true, null, "3", 1.5], "200": {"c": ["x", 16, -7]}
        });
        assert_eq!(parse(yaml), Ok(json.clone()));
        assert_eq!(parse(&json.to_string()), Ok(json));
    }

    #[test]
    fn anchors_and_merge_keys_are_followed() {
        let yaml = "base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\nagain: *b\n";
        let json = parse(yaml).expect("anchors are defined");
        assert_eq!(json["use"], json!({"x": 1, "y": 3}));
        assert_eq!(json["again"], json!({"x": 1, "y": 2}));
    }

    #[test]
    fn places_are_found_in_both_formats() {
        let json = "{\n  \"a\": [1,\n    {\"b~/\": 2}]\n}";
        assert_eq!(locate(json, "/a/1/b~0~1"), Some((3, 13)));
        assert_eq!(locate(json, ""), Some((1, 1)));
        assert_eq!(locate(json, "/a/7"), None);
        let yaml = "a:\n  - 1\n  - b: 2\n    c: {d: 5}\n";
        assert_eq!(locate(yaml, "/a/1/c/d"), Some((4, 12)));
        assert_eq!(locate(yaml, "/a/1/b"), Some((3, 8)));
    }

    #[test]
    fn syntax_errors_say_where() {
        let error = parse("{\n \"a\": }").expect_err("a value is missing");
        assert_eq!((error.line, error.column), (2, 7));
        let error = parse("a: [1, 2\nb: 3").expect_err("a bracket is missing");
        assert!(error.line >= 1 && !error.message.is_empty());
        assert!(parse("").is_err());
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let mut yaml = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            let uses = vec![format!("*a{}", i - 1); 10].join(", ");
            yaml.push_str(&format!("a{i}: &a{i} [{uses}]\n"));
        }
        let error = parse(&yaml).expect_err("a billion values");
        assert!(
            error.message.contains("too many values"),
            "{}",
            error.message
        );
    }

    #[test]
    fn deep_nesting_is_refused_without_overflow() {
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&"- ".repeat(10_000)).is_err());
    }
}
