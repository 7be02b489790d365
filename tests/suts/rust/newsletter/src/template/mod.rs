//! The language of templates: `{{ name | upper }}`, `{% if name %}…{% else %}…{% end %}` and
//! `{# remarks #}` between plain text.

mod parse;
mod render;

pub(crate) use parse::parse;
pub(crate) use render::Values;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Value {
        name: String,
        filters: Vec<Filter>,
    },
    If {
        condition: Condition,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
}

/// What an `if` asks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// The value is there, not empty and not `false`.
    Set(String),
    Not(Box<Condition>),
    Equal(String, String),
}

/// What is done with a value before it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    Upper,
    Lower,
    Title,
    Trim,
    Truncate(usize),
    Default(String),
}

/// A template that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(Vec<Node>);

/// Why a template is not understood, or cannot be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("has `{0}` in line {1} that is not closed")]
    Open(&'static str, usize),
    #[error("has {0} in line {1}")]
    Tag(String, usize),
    #[error("has the unknown filter `{0}` in line {1}")]
    Filter(String, usize),
    #[error("nests conditions deeper than {0}")]
    Deep(usize),
    #[error("needs `{0}`, which is not given")]
    Missing(String),
}
