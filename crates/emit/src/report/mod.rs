//! Reports of schema and query runs as neutral data, and their pages (Markdown, HTML).
//!
//! `model` and its pages are about schemas, [`query`] and its pages about queries.

mod html;
pub(crate) mod markdown;
mod model;
mod mutants;
pub(crate) mod page;
pub mod query;
mod query_html;
mod query_markdown;

pub use html::html;
pub use markdown::markdown;
pub use model::*;
pub use query_html::query_html;
pub use query_markdown::query_markdown;
