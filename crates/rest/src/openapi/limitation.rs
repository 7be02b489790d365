//! Unsupported parts of a document, with their location, counted by kind.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What kind of construct is outside the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitationKind {
    /// A `$ref` has no target, or its document could not be loaded.
    UnresolvedReference,
    /// References that lead in a circle without any content.
    ReferenceCycle,
    /// A schema requires itself, or so many levels that no value fits it.
    EndlessSchema,
    /// A keyword of JSON Schema that values are not made for, such as `not`.
    SchemaKeyword,
    /// A pattern that texts cannot be derived from.
    Pattern,
    /// A format we do not know; values are free text.
    Format,
    /// A part of the document has the wrong type and was left out.
    Malformed,
    /// Rules that no value can meet together; the weaker ones were dropped.
    Contradiction,
    /// An example or default does not fit its own schema.
    MisfitExample,
    /// A content type that bodies are not made for.
    ContentType,
    /// A parameter in a place or style we do not write.
    Parameter,
    /// The path has a placeholder that no parameter describes, or the reverse.
    PathTemplate,
    /// The same operation, parameter or operation id twice.
    Duplicate,
    /// A security scheme that needs more than a header, a query parameter or a cookie.
    Security,
    /// A link that leads to no operation or has an expression we cannot evaluate.
    Link,
    /// A callback or webhook: a call that the service makes, not we.
    Callback,
    /// The document is larger than the reader follows.
    TooLarge,
}

impl LimitationKind {
    /// A stable name for reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnresolvedReference => "unresolved-reference",
            Self::ReferenceCycle => "reference-cycle",
            Self::EndlessSchema => "endless-schema",
            Self::SchemaKeyword => "schema-keyword",
            Self::Pattern => "pattern",
            Self::Format => "format",
            Self::Malformed => "malformed",
            Self::Contradiction => "contradiction",
            Self::MisfitExample => "misfit-example",
            Self::ContentType => "content-type",
            Self::Parameter => "parameter",
            Self::PathTemplate => "path-template",
            Self::Duplicate => "duplicate",
            Self::Security => "security",
            Self::Link => "link",
            Self::Callback => "callback",
            Self::TooLarge => "too-large",
        }
    }
}

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    /// The file or URL.
    pub location: Arc<str>,
    /// JSON Pointer inside it.
    pub pointer: Arc<str>,
    /// Line and column from one, where they are known.
    pub line_column: Option<(usize, usize)>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.location)?;
        if let Some((line, column)) = self.line_column {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, "#{}", self.pointer)
    }
}

/// One construct that is outside the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limitation {
    /// What kind it is.
    pub kind: LimitationKind,
    /// What exactly, quoting the document.
    pub detail: String,
    /// Where.
    pub place: SourceLocation,
}

impl fmt::Display for Limitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.kind.name(), self.detail, self.place)
    }
}

/// How many limitations are kept in full; beyond that they are only counted.
const KEPT: usize = 2_000;

/// All limitations of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limitations {
    /// Each, in the order of the document, up to two thousand.
    pub list: Vec<Limitation>,
    /// How many there are of each kind, without bound.
    pub counts: BTreeMap<LimitationKind, usize>,
}

impl Limitations {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How many there are of one kind.
    #[must_use]
    pub fn count(&self, kind: LimitationKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, kind: LimitationKind, detail: String, place: SourceLocation) {
        *self.counts.entry(kind).or_default() += 1;
        if self.list.len() < KEPT {
            self.list.push(Limitation {
                kind,
                detail,
                place,
            });
        }
    }
}
