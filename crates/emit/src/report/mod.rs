//! What a run found out, as neutral data, and its pages: Markdown and one offline HTML file.

mod html;
mod markdown;
mod model;

pub use html::html;
pub use markdown::markdown;
pub use model::*;
