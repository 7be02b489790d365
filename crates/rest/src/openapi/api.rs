//! The API model, independent of the OpenAPI version.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{Model, NodeId};
use serde_json::Value as Json;

use super::limitation::{Limitations, SourceLocation};
use super::schema::{Bundle, SchemaId};

/// A whole API.
#[derive(Debug)]
pub struct Api {
    /// The version of OpenAPI of the document.
    pub version: Version,
    /// `info.title`, if there is one.
    pub title: String,
    /// Servers of the API; may be relative or empty.
    pub servers: Vec<Server>,
    /// Everything that can be called, in the order of the document.
    pub operations: Vec<Operation>,
    /// How callers identify themselves, by name.
    pub security_schemes: BTreeMap<Arc<str>, SecurityScheme>,
    /// What inputs and answers may be; shared by all genes of the API.
    pub model: Arc<Model>,
    /// How values are named in XML, by node.
    pub xml: BTreeMap<NodeId, Xml>,
    /// The schemas of responses, to check them with.
    pub bundle: Bundle,
    /// What could not be modelled.
    pub limitations: Limitations,
}

/// The version of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// Swagger 2.0.
    V2_0,
    /// OpenAPI 3.0.
    V3_0,
    /// OpenAPI 3.1.
    V3_1,
    /// OpenAPI 3.2.
    V3_2,
}

/// A server of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Absolute or relative URL, with variables at their defaults.
    pub url: String,
}

impl Api {
    /// An operation by its index.
    ///
    /// # Panics
    ///
    /// When the index is not of this API.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "indexes of operations come from the API that they are used with; the journal checks those that it reads"
    )]
    pub fn operation(&self, index: usize) -> &Operation {
        &self.operations[index]
    }

    /// Leaves out the operations that are not to be kept; links to them lead nowhere.
    pub fn retain_operations(&mut self, keep: impl Fn(&Operation) -> bool) {
        let mut new_indexes = Vec::with_capacity(self.operations.len());
        let mut n_kept = 0;
        self.operations.retain(|operation| {
            let is_kept = keep(operation);
            new_indexes.push(is_kept.then_some(n_kept));
            n_kept += usize::from(is_kept);
            is_kept
        });
        let responses = self
            .operations
            .iter_mut()
            .flat_map(|operation| &mut operation.responses);
        for link in responses.flat_map(|response| &mut response.links) {
            link.target = link.target.and_then(|old| *new_indexes.get(old)?);
        }
    }
}

/// Something that can be called: a method on a path.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The method, in capitals.
    pub method: Arc<str>,
    /// The path as it is written, such as `/pets/{id}`.
    pub path: Arc<str>,
    /// The path cut at its placeholders.
    pub segments: Vec<PathPiece>,
    /// `operationId`, if there is one.
    pub operation_id: Option<Arc<str>>,
    /// Tags.
    pub tags: Vec<Arc<str>>,
    /// Whether the operation is deprecated.
    pub deprecated: bool,
    /// Parameters in path, query, header and cookie.
    pub parameters: Vec<Parameter>,
    /// The body, if one may be sent.
    pub body: Option<Body>,
    /// What may come back.
    pub responses: Vec<DocumentedResponse>,
    /// Alternative security requirements; empty means public.
    pub security: Vec<SecurityRequirement>,
    /// Servers of this operation alone; empty means those of the API.
    pub servers: Vec<Server>,
    /// All inputs as one node: an object with `path`, `query`, `header`, `cookie` (objects of
    /// parameters by name) and `body` (a choice of content types), each only if it has something.
    pub input: NodeId,
    /// Where it stands in the document.
    pub place: SourceLocation,
}

impl Operation {
    /// Method and path, as in `GET /pets/{id}`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The response that describes a status: the code itself, else its range, else the default.
    #[must_use]
    pub fn response(&self, status: u16) -> Option<&DocumentedResponse> {
        let find = |pattern: StatusPattern| self.responses.iter().find(|r| r.status == pattern);
        find(StatusPattern::Code(status))
            .or_else(|| find(StatusPattern::Range((status / 100) as u8)))
            .or_else(|| find(StatusPattern::Default))
    }

    /// The parameter of a name in a place.
    #[must_use]
    pub fn parameter(&self, location: ParameterLocation, name: &str) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.location == location && *parameter.name == *name)
    }
}

/// A piece of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPiece {
    /// Text that is sent as it is.
    Text(Arc<str>),
    /// The name of a path parameter.
    Parameter(Arc<str>),
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParameterLocation {
    /// A placeholder of the path.
    Path,
    /// The query string.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

impl ParameterLocation {
    /// The name of the group of parameters in [`Operation::input`].
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// How a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// `a=1,2` or `a=1&a=2`.
    Form,
    /// `1,2`.
    Simple,
    /// `.1.2`.
    Label,
    /// `;a=1,2`.
    Matrix,
    /// `a=1%202`.
    SpaceDelimited,
    /// `a=1|2`.
    PipeDelimited,
    /// `a=1%092`, of Swagger.
    TabDelimited,
    /// `a[b]=1`.
    DeepObject,
    /// The value as JSON text.
    Json,
    /// The value is the whole query string, of 3.2.
    WholeQuery,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// Where it goes.
    pub location: ParameterLocation,
    /// Whether it must be sent.
    pub required: bool,
    /// How it is written.
    pub style: Style,
    /// Whether items and properties are written one by one.
    pub explode: bool,
    /// Whether reserved characters are left as they are.
    pub allow_reserved: bool,
    /// What it may be.
    pub node: NodeId,
}

/// A request body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Whether it must be sent.
    pub required: bool,
    /// One entry per content type, in the order of the options of the `body` node.
    pub media: Vec<BodyMedia>,
}

/// A body in one content type.
#[derive(Clone, Debug)]
pub struct BodyMedia {
    /// The content type that is sent.
    pub content_type: Arc<str>,
    /// How values are written.
    pub kind: MediaKind,
    /// What it may be.
    pub node: NodeId,
    /// How single properties of a form or multipart body are written.
    pub encoding: BTreeMap<Arc<str>, Encoding>,
    /// The name of the outermost XML element.
    pub xml_root: Option<Arc<str>>,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MediaKind {
    /// JSON.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/…`.
    Multipart,
    /// XML.
    Xml,
    /// Plain text.
    Text,
    /// Bytes.
    Binary,
}

/// How a property of a form or multipart body is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The content type of the part.
    pub content_type: Option<Arc<str>>,
    /// How lists and objects are written in a form.
    pub style: Style,
    /// Whether items and properties are written one by one.
    pub explode: bool,
}

/// How a value is named in XML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Xml {
    /// The name of the element or attribute.
    pub name: Option<Arc<str>>,
    /// The namespace of the element.
    pub namespace: Option<Arc<str>>,
    /// The prefix of the name.
    pub prefix: Option<Arc<str>>,
    /// Whether it is an attribute of its parent.
    pub attribute: bool,
    /// Whether the items of a list stand in an element of their own.
    pub wrapped: bool,
}

/// Which statuses a response describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatusPattern {
    /// One status.
    Code(u16),
    /// A hundred of them, by the first digit.
    Range(u8),
    /// All that are not described otherwise.
    Default,
}

impl StatusPattern {
    /// Reads `404`, `4XX` or `default`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("default") {
            return Some(Self::Default);
        }
        if let [digit, b'x' | b'X', b'x' | b'X'] = text.as_bytes() {
            let digit = digit.wrapping_sub(b'0');
            return (1..=5).contains(&digit).then_some(Self::Range(digit));
        }
        let code: u16 = text.parse().ok()?;
        (100..=599).contains(&code).then_some(Self::Code(code))
    }
}

/// A documented answer.
#[derive(Clone, Debug)]
pub struct DocumentedResponse {
    /// Which statuses it describes.
    pub status: StatusPattern,
    /// Headers that may or must be there.
    pub headers: Vec<ResponseHeader>,
    /// Bodies by content type; empty means that no body is described.
    pub media: Vec<ResponseMedia>,
    /// What can be done next with the response.
    pub links: Vec<Link>,
}

/// A documented header of a response.
#[derive(Clone, Debug)]
pub struct ResponseHeader {
    /// Its name.
    pub name: Arc<str>,
    /// Whether it must be there.
    pub required: bool,
    /// What it may be.
    pub node: Option<NodeId>,
}

/// A documented body of a response.
#[derive(Clone, Debug)]
pub struct ResponseMedia {
    /// The content type, which may have wildcards.
    pub content_type: Arc<str>,
    /// The schema to check it with.
    pub schema: Option<SchemaId>,
    /// What it may be, to learn names and types from.
    pub node: Option<NodeId>,
}

/// From a response to a further call.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: Arc<str>,
    /// The operation it leads to, as an index into [`Api::operations`].
    pub target: Option<usize>,
    /// Parameters by name, which may be qualified as in `path.id`.
    pub parameters: Vec<(Arc<str>, Expression)>,
    /// The body to send.
    pub body: Option<Expression>,
}

/// What a link takes a value from.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A JSON Pointer into the body of the response.
    ResponseBody(Arc<str>),
    /// A header of the response.
    ResponseHeader(Arc<str>),
    /// A JSON Pointer into the body that was sent.
    RequestBody(Arc<str>),
    /// A parameter that was sent.
    RequestParameter(ParameterLocation, Arc<str>),
    /// The URL that was called.
    Url,
    /// The method that was used.
    Method,
    /// The status of the response.
    StatusCode,
    /// A value that the link itself gives.
    Constant(Json),
}

impl Expression {
    /// Whether values flow this way. Where a thing is depends on where the service is, so whole URLs do not.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        !matches!(self, Self::Url)
    }
}

/// Security schemes that are all required, with scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecurityRequirement {
    /// Names of schemes, and scopes.
    pub schemes: Vec<(Arc<str>, Vec<Arc<str>>)>,
}

/// How callers identify themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecurityScheme {
    /// A key in a header, query parameter or cookie.
    ApiKey {
        /// Its name.
        name: Arc<str>,
        /// Where it goes.
        location: ParameterLocation,
    },
    /// The `Authorization` header with a scheme such as `basic` or `bearer`.
    Http {
        /// The scheme, in small letters.
        scheme: Arc<str>,
    },
    /// A bearer token from somewhere else.
    OAuth2 {
        /// Token URL, if documented.
        token_url: Option<Arc<str>>,
    },
    /// A bearer token from an OpenID provider.
    OpenIdConnect {
        /// Where the provider describes itself.
        url: Arc<str>,
    },
    /// A certificate of the client.
    MutualTls,
}
