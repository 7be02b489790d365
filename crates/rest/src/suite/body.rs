//! Converts sent bodies back to readable request bodies.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use isobath_emit::http::{
    Body, JsonPath, MultipartPart, PartContent, Placeholder, Secret, Text, TextPiece,
};
use isobath_genes::push_segment;
use serde_json::Value;

/// Texts that suites do not write as they were seen.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    /// Placeholders, with the variables that fill them.
    pub(super) generated: Vec<(String, String)>,
    /// Fields and their secret values, with the environment variables that hold them.
    pub(super) secrets: Vec<(String, String, String)>,
}

impl Placeholders {
    /// A text with its placeholders filled in.
    pub(super) fn text(&self, raw: &str) -> Text {
        let mut text = Text::default();
        let mut rest = raw;
        while let Some((at, holder, variable)) = self
            .generated
            .iter()
            .filter(|(holder, _)| !holder.is_empty())
            .filter_map(|(holder, variable)| Some((rest.find(holder.as_str())?, holder, variable)))
            .min_by_key(|(at, ..)| *at)
        {
            if at > 0 {
                text = text.then(TextPiece::literal(&rest[..at]));
            }
            text = text.then(TextPiece::captured(variable.clone()));
            rest = &rest[at + holder.len()..];
        }
        if !rest.is_empty() || text.0.is_empty() {
            text = text.then(TextPiece::literal(rest));
        }
        text
    }

    /// The value of a field: a secret if it is one.
    pub(super) fn field(&self, name: &str, raw: &str) -> Text {
        let secret = self
            .secrets
            .iter()
            .find(|(field, value, _)| field == name && value == raw);
        match secret {
            Some((_, value, variable)) => Text(vec![TextPiece::Secret(Secret {
                variable: variable.clone(),
                value: Some(value.clone()),
            })]),
            None => self.text(raw),
        }
    }

    fn holes(&self, value: &Value, name: &str, at: &mut String, holes: &mut Vec<Placeholder>) {
        let end = at.len();
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    push_segment(at, name);
                    self.holes(value, name, at, holes);
                    at.truncate(end);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    push_segment(at, &index.to_string());
                    self.holes(value, name, at, holes);
                    at.truncate(end);
                }
            }
            Value::String(raw) => {
                let text = self.field(name, raw);
                if text.literal().is_none() {
                    holes.push(Placeholder {
                        at: JsonPath::from_pointer(at),
                        value: text,
                    });
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The body that was sent as these bytes. `bound` are the places of the input that are captured.
pub(super) fn body(
    bytes: &[u8],
    content_type: &str,
    bound: &[(String, String)],
    placeholders: &Placeholders,
) -> Body {
    let base = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if base.ends_with("json")
        && let Ok(value) = serde_json::from_slice::<Value>(bytes)
    {
        let mut holes: Vec<Placeholder> = bound
            .iter()
            .filter_map(|(pointer, variable)| {
                let at = pointer.strip_prefix("/body")?;
                value.pointer(at)?;
                Some(Placeholder {
                    at: JsonPath::from_pointer(at),
                    value: Text::captured(variable.clone()),
                })
            })
            .collect();
        let mut marked = Vec::new();
        placeholders.holes(&value, "", &mut String::new(), &mut marked);
        marked.retain(|hole| !holes.iter().any(|other| other.at == hole.at));
        holes.extend(marked);
        return Body::Json {
            value,
            placeholders: holes,
            content_type: content_type.to_owned(),
        };
    }
    let field = |name: &str, raw: &str| {
        let mut pointer = String::from("/body");
        push_segment(&mut pointer, name);
        match bound.iter().find(|(place, _)| *place == pointer) {
            Some((_, variable)) => Text::captured(variable.clone()),
            None => placeholders.field(name, raw),
        }
    };
    if base == "multipart/form-data"
        && let Some(parts) = parts(bytes, content_type, &field)
    {
        return Body::Multipart(parts);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if base == "application/x-www-form-urlencoded" => Body::Form(
            form_urlencoded::parse(text.as_bytes())
                .map(|(name, value)| (name.to_string(), field(&name, &value)))
                .collect(),
        ),
        // The boundary is part of the type, so another multipart body is kept as it was sent.
        Ok(text) if !base.starts_with("multipart/") => Body::Text {
            content_type: content_type.to_owned(),
            text: placeholders.text(text),
        },
        _ => Body::Binary {
            content_type: content_type.to_owned(),
            base64: BASE64_STANDARD.encode(bytes),
        },
    }
}

/// The parts of a form, as [`crate::action`] writes it; `None` when it is written in another way.
fn parts(
    bytes: &[u8],
    content_type: &str,
    field: &dyn Fn(&str, &str) -> Text,
) -> Option<Vec<MultipartPart>> {
    let (_, boundary) = content_type.split_once("boundary=")?;
    let fence = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut rest = bytes.strip_prefix(fence.as_bytes())?;
    loop {
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let head_end = find(rest, b"\r\n\r\n")?;
        let (head, after) = rest.split_at_checked(head_end)?;
        let head = std::str::from_utf8(head).ok()?;
        rest = after.get(4..)?;
        let end = find(rest, format!("\r\n{fence}").as_bytes())?;
        let (content, after) = rest.split_at_checked(end)?;
        rest = after.get(2 + fence.len()..)?;
        let header = |wanted: &str| {
            head.split("\r\n").find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case(wanted).then(|| value.to_owned())
            })
        };
        let disposition = header("content-disposition")?;
        let quoted = |marker: &str| {
            let (_, after) = disposition.split_once(marker)?;
            Some(after.split('"').next().unwrap_or_default().to_owned())
        };
        let name = quoted("; name=\"")?;
        let content = match std::str::from_utf8(content) {
            Ok(text) => PartContent::Text(field(&name, text)),
            Err(_) => PartContent::Base64(BASE64_STANDARD.encode(content)),
        };
        parts.push(MultipartPart {
            name,
            file_name: quoted("; filename=\""),
            content_type: header("content-type"),
            content,
        });
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_parts_is_read_back() {
        let sent = b"--fence\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n\
            --fence\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file.bin\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\xff\x00\r\n\r\n--fence--\r\n";
        let bound = [("/body/note".to_owned(), "note_id".to_owned())];
        let body = body(
            sent,
            "multipart/form-data; boundary=fence",
            &bound,
            &Placeholders::default(),
        );
        assert_eq!(
            body,
            Body::Multipart(vec![
                MultipartPart {
                    name: "note".into(),
                    file_name: None,
                    content_type: None,
                    content: PartContent::Text(Text::captured("note_id")),
                },
                MultipartPart {
                    name: "file".into(),
                    file_name: Some("file.bin".into()),
                    content_type: Some("application/octet-stream".into()),
                    content: PartContent::Base64("/wANCg==".into()),
                },
            ])
        );
    }

    #[test]
    fn what_is_broken_is_kept_as_bytes() {
        let body = body(
            b"--x",
            "multipart/form-data; boundary=y",
            &[],
            &Placeholders::default(),
        );
        assert!(matches!(body, Body::Binary { .. }), "{body:?}");
    }

    #[test]
    fn forms_read_ids_from_answers() {
        let bound = [("/body/boat".to_owned(), "boat_id".to_owned())];
        let body = body(
            b"boat=7&note=a+b",
            "application/x-www-form-urlencoded",
            &bound,
            &Placeholders::default(),
        );
        assert_eq!(
            body,
            Body::Form(vec![
                ("boat".into(), Text::captured("boat_id")),
                ("note".into(), Text::from("a b")),
            ])
        );
    }
}
