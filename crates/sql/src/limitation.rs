//! Limitations: input that we do not support, with its location.

use std::fmt;

/// A place in an input, counted from one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// The file, or another name of the input.
    pub source: String,
    /// Line, from 1; 0 when the input has no lines (a live catalogue).
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.source)
        } else {
            write!(f, "{}:{}:{}", self.source, self.line, self.column)
        }
    }
}

/// How much a limitation costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something that cannot change which rows are accepted (a view, an index, an owner).
    Ignored,
    /// Something that may change which rows are accepted (a trigger, an EXCLUDE constraint).
    Unsupported,
    /// Text that could not be parsed.
    Syntax,
}

/// A part of the input that is not in the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limitation {
    /// How much it costs.
    pub severity: Severity,
    /// Where it starts.
    pub location: SourceLocation,
    /// The statement or clause, shortened to one line.
    pub input: String,
    /// Why it is not in the model, a lowercase fragment.
    pub why: String,
}
