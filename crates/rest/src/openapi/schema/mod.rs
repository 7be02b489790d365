//! Schemas of a document: as gene nodes, and as JSON Schema for checking responses.

mod bundle;
mod domain;
mod facts;
mod nodes;

pub(crate) use bundle::BundleBuilder;
pub use bundle::{Bundle, SchemaId};
pub(crate) use nodes::{Direction, NodeBuilder};
