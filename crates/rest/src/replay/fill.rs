//! Fills captured values into stored requests.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use isobath_emit::http::{Body, MultipartPart, PartContent, Placeholder, Request, Text, TextPiece};
use isobath_exec::http::{Method, Request as SentText};
use serde_json::Value;

use super::Captured;
use crate::action::{multipart_body, percent_encoded};

/// Fills holes with what earlier calls gave.
pub(super) struct Filler<'a> {
    base: &'a str,
    captured: &'a Captured,
}

impl<'a> Filler<'a> {
    pub(super) fn new(base: &'a str, captured: &'a Captured) -> Self {
        Self { base, captured }
    }

    /// A request as it is sent.
    pub(super) fn request(&self, request: &Request) -> Result<SentText, String> {
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| format!("invalid HTTP method `{}`", request.method))?;
        let mut url = self.url(&request.path)?;
        for (name, value) in &request.query {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&percent_encoded(name));
            url.push('=');
            url.push_str(&percent_encoded(&self.text(value)?));
        }
        let mut sent = SentText::new(method, url);
        if let Some(body) = &request.body {
            let (content_type, bytes) = self.body(body)?;
            sent = sent.header("Content-Type", content_type).body(bytes);
        }
        for (name, value) in &request.headers {
            sent.headers
                .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
            sent = sent.header(name.clone(), self.text(value)?);
        }
        let cookies = request.cookies.iter();
        let cookies = cookies
            .map(|(name, value)| Ok(format!("{name}={}", self.text(value)?)))
            .collect::<Result<Vec<_>, String>>()?;
        if !cookies.is_empty() {
            sent = sent.header("Cookie", cookies.join("; "));
        }
        Ok(sent)
    }

    fn url(&self, path: &Text) -> Result<String, String> {
        if let Some(TextPiece::Captured(_)) = path.0.first() {
            let reference = self.text(path)?;
            let base = url::Url::parse(&format!("{}/", self.base))
                .map_err(|error| format!("{}: {error}", self.base))?;
            return base
                .join(&reference)
                .map(String::from)
                .map_err(|error| format!("`{reference}`: {error}"));
        }
        let mut url = String::new();
        for piece in &path.0 {
            match piece {
                TextPiece::Literal(text) => url.push_str(text),
                piece => url.push_str(&percent_encoded(&self.piece(piece)?)),
            }
        }
        if url.starts_with("http://") || url.starts_with("https://") {
            Ok(url)
        } else {
            Ok(format!("{}{url}", self.base))
        }
    }

    /// A text with its pieces filled in.
    pub(super) fn text(&self, text: &Text) -> Result<String, String> {
        text.0.iter().map(|piece| self.piece(piece)).collect()
    }

    fn piece(&self, piece: &TextPiece) -> Result<String, String> {
        match piece {
            TextPiece::Literal(text) => Ok(text.clone()),
            TextPiece::Captured(variable) => self.variable(variable).map(plain),
            TextPiece::Secret(secret) => std::env::var(&secret.variable)
                .ok()
                .or_else(|| secret.value.clone())
                .ok_or_else(|| format!("environment variable {} is not set", secret.variable)),
        }
    }

    fn variable(&self, name: &str) -> Result<&Value, String> {
        let found = self.captured.get(name);
        found.ok_or_else(|| format!("no earlier call captured `{name}`"))
    }

    /// JSON with its holes filled in.
    pub(super) fn json(&self, value: &Value, holes: &[Placeholder]) -> Result<Value, String> {
        let mut value = value.clone();
        for hole in holes {
            let filled = match hole.value.as_captured() {
                Some(variable) => self.variable(variable)?.clone(),
                None => Value::String(self.text(&hole.value)?),
            };
            let at = hole.at.find_mut(&mut value);
            *at.ok_or_else(|| format!("nothing found at `{}`", hole.at))? = filled;
        }
        Ok(value)
    }

    fn body(&self, body: &Body) -> Result<(String, Vec<u8>), String> {
        match body {
            Body::Json {
                value,
                placeholders,
                content_type,
            } => {
                let value = self.json(value, placeholders)?;
                Ok((content_type.clone(), value.to_string().into_bytes()))
            }
            Body::Form(fields) => {
                let pairs = fields.iter().map(|(name, value)| {
                    let value = percent_encoded(&self.text(value)?);
                    Ok(format!("{}={value}", percent_encoded(name)))
                });
                let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
                let content_type = "application/x-www-form-urlencoded".to_owned();
                Ok((content_type, pairs.join("&").into_bytes()))
            }
            Body::Multipart(parts) => {
                let parts = parts.iter().map(|part| self.part(part));
                let (boundary, bytes) = multipart_body(parts.collect::<Result<_, _>>()?);
                Ok((format!("multipart/form-data; boundary={boundary}"), bytes))
            }
            Body::Text { content_type, text } => {
                Ok((content_type.clone(), self.text(text)?.into_bytes()))
            }
            Body::Binary {
                content_type,
                base64,
            } => Ok((content_type.clone(), bytes(base64)?)),
        }
    }

    fn part(&self, part: &MultipartPart) -> Result<crate::action::FormPart, String> {
        Ok(crate::action::FormPart {
            name: part.name.clone(),
            file_name: part.file_name.clone(),
            content_type: part.content_type.clone(),
            bytes: match &part.content {
                PartContent::Text(text) => self.text(text)?.into_bytes(),
                PartContent::Base64(base64) => bytes(base64)?,
            },
        })
    }
}

fn bytes(base64: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD
        .decode(base64)
        .map_err(|error| format!("invalid base64: {error}"))
}

/// A value as it stands inside text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
