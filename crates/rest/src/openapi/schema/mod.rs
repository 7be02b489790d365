//! Schemas of a document: as nodes that values are made from, and as JSON Schema to check answers.

mod bundle;
mod domain;
mod facts;
mod nodes;

pub(crate) use bundle::BundleBuilder;
pub use bundle::{Bundle, SchemaId};
pub(crate) use nodes::{Direction, NodeBuilder};
