//! OpenAPI 2.0, 3.0, 3.1 and 3.2, as JSON or YAML, to an [`Api`].
//!
//! A document is read in place: every part is known by its JSON Pointer, references are followed
//! when they are met, and what is outside the model becomes a [`Limitation`] with its place. One bad
//! operation never loses the others. The reader opens nothing; a [`Loader`] fetches what documents
//! refer to.

pub mod api;
mod body;
pub mod document;
pub mod limitation;
mod parameter;
mod reader;
mod response;
pub mod schema;
mod security;
mod source;

pub use api::{
    Api, Body, BodyMedia, DocumentedResponse, Encoding, Expression, Link, MediaKind, Operation,
    Parameter, ParameterLocation, PathPiece, ResponseHeader, ResponseMedia, SecurityRequirement,
    SecurityScheme, Server, StatusPattern, Style, Version, Xml,
};
pub(crate) use body::media_kind;
pub use document::{Loader, NoLoader};
pub use limitation::{Limitation, LimitationKind, Limitations, SourceLocation};
pub use reader::{ReadError, read};
pub use schema::{Bundle, SchemaId};

#[cfg(test)]
mod tests;

/// Parses JSON or YAML; a mistake has a line and a column.
pub fn parse_text(text: &str) -> Result<serde_json::Value, (usize, usize, String)> {
    source::parse(text).map_err(|error| (error.line, error.column, error.message))
}
