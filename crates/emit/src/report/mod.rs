//! What a run found out, as neutral data, and its pages: Markdown and one offline HTML file.

mod model;

pub use model::*;
