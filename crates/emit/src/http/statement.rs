//! What tests consist of, once for every test language: statements over expressions.
//!
//! [`super::lower`] makes them of a suite; a test language prints them.

use serde_json::Value;

use super::external::MockedResponse;
use super::json_path::{JsonKey, JsonPath};
use super::request::Secret;
use super::response::JsonType;
use super::suite::UniqueValue;

/// A value that is known when the test runs, or before.
#[derive(Clone, Debug)]
pub(crate) enum Expr<'a> {
    /// A text.
    Literal(String),
    /// A number of things, or a status.
    Number(usize),
    /// A JSON document, with expressions in place of some of its values.
    Json(&'a Value, Vec<(&'a JsonPath, Expr<'a>)>),
    /// A variable, with the type that it has.
    Variable(String),
    /// A text of pieces, of which at least one is known only when the test runs.
    Text(Vec<Piece<'a>>),
    /// A reference such as a `Location`, resolved against the base URL.
    Resolved(Box<Expr<'a>>),
    /// A text that no other run has used.
    Unique(&'a UniqueValue),
    /// A part of the response that a variable holds.
    Of(String, Part<'a>),
    /// The value at a place in a JSON document.
    At(Box<Expr<'a>>, JsonPath),
    /// The last segment of the path in a reference, decoded.
    LastSegment(Box<Expr<'a>>),
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'a> {
    /// Just this.
    Literal(&'a str),
    /// What a variable holds, as text.
    Variable {
        /// The variable.
        name: String,
        /// Whether it is percent-encoded to stand in a path.
        encode: bool,
    },
    /// A secret.
    Secret(&'a Secret),
}

/// A part of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// The status.
    Status,
    /// The media type, in lower case and without parameters.
    MediaType,
    /// A header.
    Header(&'a str),
    /// A cookie.
    Cookie(&'a str),
    /// The body as text.
    Text,
    /// The body as text, without the white space around it.
    TrimmedText,
    /// The body as JSON.
    Json,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) user: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) path: Expr<'a>,
    /// Values that are captured keep their types.
    pub(crate) query: Pairs<'a>,
    /// All values are texts.
    pub(crate) headers: Pairs<'a>,
    /// All values are texts.
    pub(crate) cookies: Pairs<'a>,
    pub(crate) body: Option<CallBody<'a>>,
}

/// Names with values, in order.
pub(crate) type Pairs<'a> = Vec<(&'a str, Expr<'a>)>;

/// The body of a request.
#[derive(Clone, Debug)]
pub(crate) enum CallBody<'a> {
    /// A JSON document.
    Json {
        document: Expr<'a>,
        content_type: &'a str,
    },
    /// `application/x-www-form-urlencoded`; values that are captured keep their types.
    Form(Pairs<'a>),
    /// `multipart/form-data`.
    Multipart(Vec<FormPart<'a>>),
    /// Text of any media type.
    Text {
        text: Expr<'a>,
        content_type: &'a str,
    },
    /// Bytes in base64.
    Binary {
        base64: &'a str,
        content_type: &'a str,
    },
}

/// A part of a multipart body.
#[derive(Clone, Debug)]
pub(crate) struct FormPart<'a> {
    pub(crate) name: &'a str,
    pub(crate) file_name: Option<&'a str>,
    pub(crate) content_type: Option<&'a str>,
    /// Text, or bytes in base64.
    pub(crate) content: Result<Expr<'a>, &'a str>,
}

/// One thing that a test does.
#[derive(Clone, Debug)]
pub(crate) enum Statement<'a> {
    /// A remark.
    Comment(&'a str),
    /// An empty line.
    Blank,
    /// Prepares a response of an external service.
    Mock(&'a MockedResponse),
    /// Runs a shell command, which must succeed.
    Run(&'a str),
    /// Runs statements of SQL.
    RunSql(&'a [String]),
    /// Gives a value a name.
    Let(String, Expr<'a>),
    /// Inserts or expects a row by a chain of calls; its key may go to a variable.
    Row(Option<String>, Vec<String>),
    /// Sends a request; the response goes to a variable.
    Send(String, Call<'a>),
    /// Sends a request that gets no whole response: in time, or at all.
    NoResponse { call: Call<'a>, timed_out: bool },
    /// The status of a response is below 400.
    Succeeded(&'static str),
    /// A value is what is expected.
    Equal {
        actual: Expr<'a>,
        expected: Expr<'a>,
    },
    /// A JSON value has a type.
    Type(Expr<'a>, JsonType),
    /// A JSON array has so many items.
    Length(Expr<'a>, usize),
    /// A JSON array has an item.
    Includes(Expr<'a>, &'a Value),
    /// A JSON object or array has a value under a key, or has none.
    Has(Expr<'a>, &'a JsonKey, bool),
    /// A response has a header.
    HasHeader(String, &'a str),
    /// The text of a response contains a text.
    Contains(String, &'a str),
    /// A response has no body.
    Empty(String),
}

impl<'a> Call<'a> {
    /// The headers, with the media type of the body where they do not name one.
    pub(crate) fn typed_headers(&self, content_type: Option<&str>) -> Pairs<'a> {
        let mut headers = self.headers.clone();
        let is_type = |(name, _): &(&str, Expr<'_>)| name.eq_ignore_ascii_case("content-type");
        if let Some(content_type) = content_type
            && !headers.iter().any(is_type)
        {
            headers.push(("Content-Type", Expr::Literal(content_type.into())));
        }
        headers
    }
}
