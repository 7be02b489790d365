//! A request, with placeholders that are filled in when the test runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonPath;

/// A request as a test makes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The method, in upper case.
    pub method: String,
    /// The path below the base URL. Literal pieces are percent-encoded already; captured ones are
    /// encoded when the test runs. A path that *begins* with a captured piece is a reference (such
    /// as a `Location`) and is resolved against the base URL as it is.
    pub path: Text,
    /// The query parameters in order, not encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<(String, Text)>,
    /// Headers, besides those of the user and the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, Text)>,
    /// Cookies, besides those of the user. Values are sent as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<(String, Text)>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// The user on whose behalf it is made; none is anonymous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// JSON.
    Json {
        /// The document.
        value: Value,
        /// Places in it that are filled in when the test runs; what stands there in `value` is a
        /// sample.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        placeholders: Vec<Placeholder>,
        /// The media type.
        #[serde(default = "json_type", skip_serializing_if = "is_json_type")]
        content_type: String,
    },
    /// `application/x-www-form-urlencoded`.
    Form(Vec<(String, Text)>),
    /// `multipart/form-data`.
    Multipart(Vec<MultipartPart>),
    /// Text of any media type, also JSON or XML that is deliberately broken.
    Text {
        /// The media type.
        content_type: String,
        /// The text.
        text: Text,
    },
    /// Bytes of any media type.
    Binary {
        /// The media type.
        content_type: String,
        /// The bytes, in standard base64 with padding.
        base64: String,
    },
}

/// A place in a JSON body that is filled in when the test runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placeholder {
    /// Where.
    pub at: JsonPath,
    /// With what. A single captured piece keeps its JSON type; anything else becomes a string.
    pub value: Text,
}

/// One part of a multipart body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultipartPart {
    /// The name of the field.
    pub name: String,
    /// The file name, when the part is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// The media type, where it is not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// What it holds.
    pub content: PartContent,
}

/// What a part of a multipart body holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartContent {
    /// Text.
    Text(Text),
    /// Bytes, in standard base64 with padding.
    Base64(String),
}

/// Text of pieces that are literal or known only when the test runs. As JSON it is a plain string
/// when it is one literal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TextForm", into = "TextForm")]
pub struct Text(pub Vec<TextPiece>);

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextPiece {
    /// Just this.
    Literal(String),
    /// What an earlier step of the test captured under this name.
    Captured(String),
    /// Something not to be shown in reports.
    Secret(Secret),
}

/// A value that an environment variable holds or overrides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The environment variable.
    pub variable: String,
    /// The value to use without that variable. Where there is none, the variable must be set, and
    /// the secret is nowhere in the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TextForm {
    Plain(String),
    Pieces(Vec<TextPiece>),
}

impl From<TextForm> for Text {
    fn from(form: TextForm) -> Self {
        match form {
            TextForm::Plain(text) => Text::from(text),
            TextForm::Pieces(pieces) => Text(pieces),
        }
    }
}

impl From<Text> for TextForm {
    fn from(text: Text) -> Self {
        match <[TextPiece; 1]>::try_from(text.0) {
            Ok([TextPiece::Literal(text)]) => TextForm::Plain(text),
            Ok(pieces) => TextForm::Pieces(pieces.into()),
            Err(pieces) if pieces.is_empty() => TextForm::Plain(String::new()),
            Err(pieces) => TextForm::Pieces(pieces),
        }
    }
}

fn json_type() -> String {
    "application/json".into()
}

fn is_json_type(text: &str) -> bool {
    text == "application/json"
}

impl Request {
    /// An anonymous request without query, headers and body.
    pub fn new(method: impl Into<String>, path: impl Into<Text>) -> Self {
        Request {
            method: method.into(),
            path: path.into(),
            ..Request::default()
        }
    }

    /// The same on behalf of a user.
    #[must_use]
    pub fn by(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The same with a query parameter.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<Text>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Text>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same with a body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.body = Some(body);
        self
    }

    /// The same with a JSON body.
    #[must_use]
    pub fn json(self, value: Value) -> Self {
        self.body(Body::json(value))
    }

    /// Every text that is filled in when the test runs.
    pub(crate) fn texts(&self) -> Vec<&Text> {
        let pairs = [&self.query, &self.headers, &self.cookies];
        let mut texts: Vec<&Text> = vec![&self.path];
        texts.extend(pairs.into_iter().flatten().map(|(_, text)| text));
        match &self.body {
            Some(Body::Json { placeholders, .. }) => {
                texts.extend(placeholders.iter().map(|placeholder| &placeholder.value))
            }
            Some(Body::Form(fields)) => texts.extend(fields.iter().map(|(_, text)| text)),
            Some(Body::Multipart(parts)) => {
                texts.extend(parts.iter().filter_map(|part| match &part.content {
                    PartContent::Text(text) => Some(text),
                    PartContent::Base64(_) => None,
                }));
            }
            Some(Body::Text { text, .. }) => texts.push(text),
            Some(Body::Binary { .. }) | None => {}
        }
        texts
    }

    /// Takes the values of secrets out, also where they stand as a sample; says which they were.
    pub(crate) fn take_secrets(&mut self) -> Vec<(String, String)> {
        if let Some(Body::Json {
            value,
            placeholders,
            ..
        }) = &mut self.body
        {
            for placeholder in placeholders
                .iter()
                .filter(|placeholder| placeholder.value.has_secret())
            {
                if let Some(sample) = placeholder.at.find_mut(value) {
                    *sample = Value::from("…");
                }
            }
        }
        let texts = self.texts_mut().into_iter();
        texts.flat_map(Text::take_secrets).collect()
    }

    /// Every text that is filled in when the test runs, to be changed.
    fn texts_mut(&mut self) -> Vec<&mut Text> {
        let pairs = [&mut self.query, &mut self.headers, &mut self.cookies];
        let mut texts: Vec<&mut Text> = vec![&mut self.path];
        texts.extend(pairs.into_iter().flatten().map(|(_, text)| text));
        match &mut self.body {
            Some(Body::Json { placeholders, .. }) => {
                texts.extend(
                    placeholders
                        .iter_mut()
                        .map(|placeholder| &mut placeholder.value),
                );
            }
            Some(Body::Form(fields)) => texts.extend(fields.iter_mut().map(|(_, text)| text)),
            Some(Body::Multipart(parts)) => {
                texts.extend(parts.iter_mut().filter_map(|part| match &mut part.content {
                    PartContent::Text(text) => Some(text),
                    PartContent::Base64(_) => None,
                }));
            }
            Some(Body::Text { text, .. }) => texts.push(text),
            Some(Body::Binary { .. }) | None => {}
        }
        texts
    }
}

impl Body {
    /// A JSON body.
    pub fn json(value: Value) -> Self {
        Body::Json {
            value,
            placeholders: Vec::new(),
            content_type: json_type(),
        }
    }
}

impl Text {
    /// What an earlier step captured.
    pub fn captured(variable: impl Into<String>) -> Self {
        Text(vec![TextPiece::Captured(variable.into())])
    }

    /// The same with more at its end.
    #[must_use]
    pub fn then(mut self, piece: TextPiece) -> Self {
        self.0.push(piece);
        self
    }

    /// The text, where it is literal all through.
    pub fn literal(&self) -> Option<String> {
        self.0
            .iter()
            .map(|piece| match piece {
                TextPiece::Literal(text) => Some(text.as_str()),
                TextPiece::Captured(_) | TextPiece::Secret(_) => None,
            })
            .collect()
    }

    /// The captured variable, where the text is nothing else.
    pub fn as_captured(&self) -> Option<&str> {
        match self.0.as_slice() {
            [TextPiece::Captured(variable)] => Some(variable),
            _ => None,
        }
    }

    fn has_secret(&self) -> bool {
        let mut pieces = self.0.iter();
        pieces.any(|piece| matches!(piece, TextPiece::Secret(_)))
    }

    /// Takes the values of secrets out, and says which they were, by variable.
    pub(crate) fn take_secrets(&mut self) -> Vec<(String, String)> {
        let secrets = self.0.iter_mut().filter_map(|piece| match piece {
            TextPiece::Secret(secret) => Some((secret.variable.clone(), secret.value.take()?)),
            TextPiece::Literal(_) | TextPiece::Captured(_) => None,
        });
        secrets.collect()
    }

    /// The captured variables in it.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TextPiece::Captured(variable) => Some(variable.as_str()),
            TextPiece::Literal(_) | TextPiece::Secret(_) => None,
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(vec![TextPiece::Literal(text.into())])
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(vec![TextPiece::Literal(text)])
    }
}

impl TextPiece {
    /// A literal piece.
    pub fn literal(text: impl Into<String>) -> Self {
        TextPiece::Literal(text.into())
    }

    /// A captured piece.
    pub fn captured(variable: impl Into<String>) -> Self {
        TextPiece::Captured(variable.into())
    }
}
