//! Strings that match a regular expression.
//!
//! A pattern is read in the ECMA-262 dialect of JSON Schema, turned into a tree, and texts are
//! *derived* from that tree. Only the text is kept: to change one, it is parsed back into the parts
//! of the tree it came from, one part is derived anew, and the rest stays as it was.

mod dialect;
mod parse;
mod sample;
mod tree;

use std::fmt;
use std::sync::{Arc, OnceLock};

use fastrand::Rng;
use regex::Regex;

use crate::format::{self, Shape};
use crate::rule::Rule;
use crate::text::{check_length, length};
use tree::Tree;

/// Why a pattern cannot be modelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// `(?=…)`, `(?!…)`, `(?<=…)` or `(?<!…)`.
    #[error("lookaround is not supported")]
    Lookaround,
    /// `\1` or `\k<name>`.
    #[error("back reference is not supported")]
    BackReference,
    /// It is not a regular expression.
    #[error("not a regular expression: {0}")]
    Syntax(String),
    /// It describes texts of more than a hundred thousand characters.
    #[error("the shortest match of this pattern is too long")]
    TooLong,
    /// No text matches it, or none of the allowed length was found.
    #[error("no string of the allowed length matches")]
    NoText,
}

/// A regular expression and how to derive texts from it; shared by all genes that use it.
pub struct Pattern {
    source: Box<str>,
    translated: Box<str>,
    tree: Tree,
    /// Anchors or word boundaries inside the tree: a derived text has to be checked.
    needs_check: bool,
    regex: OnceLock<Option<Regex>>,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Pattern {
    /// Reads a pattern as ECMA-262 writes it, unanchored as in JSON Schema.
    ///
    /// # Errors
    /// When it is malformed or outside what can be derived from; see [`PatternError`].
    pub fn new(source: &str) -> Result<Self, PatternError> {
        let translated = dialect::translate(source)?;
        let hir = regex_syntax::ParserBuilder::new()
            .nest_limit(80)
            .build()
            .parse(&translated)
            .map_err(|e| PatternError::Syntax(brief(&e)))?;
        let tree = Tree::new(&hir)?;
        Ok(Self {
            source: source.into(),
            translated: translated.into(),
            needs_check: tree.has_inner_looks(),
            tree,
            regex: OnceLock::new(),
        })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the pattern is found in `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        // Compiled on first use: documents hold many patterns that no run ever reads back.
        match self.regex.get_or_init(|| Regex::new(&self.translated).ok()) {
            Some(regex) => regex.is_match(text),
            None => parse::derivation(&self.tree, text).is_some(),
        }
    }
}

/// The last line of the parser's message is the reason; the others draw the place.
fn brief(error: &regex_syntax::Error) -> String {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default();
    reason.trim_start_matches("error: ").to_owned()
}

/// Texts of a pattern with length bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternDomain {
    pattern: Arc<Pattern>,
    min: u32,
    max: Option<u32>,
    format: Option<Shape>,
}

impl PatternDomain {
    /// Texts of `pattern` with at least `min` and at most `max` characters.
    ///
    /// # Errors
    /// [`PatternError::NoText`] when no such text is found.
    pub fn new(pattern: Arc<Pattern>, min: u32, max: Option<u32>) -> Result<Self, PatternError> {
        Self::build(pattern, min, max, None)
    }

    /// Texts of a named format; breaking it breaks `format`. `None` if the format has no pattern
    /// or no text of an allowed length.
    #[must_use]
    pub fn format(name: &str, min: u32, max: Option<u32>) -> Option<Self> {
        let (shape, pattern) = format::pattern(name)?;
        Self::build(pattern, min, max, Some(shape)).ok()
    }

    /// The same texts without the empty one; `None` if it is not among them or is the only one.
    #[must_use]
    pub fn not_empty(&self) -> Option<Self> {
        self.check("").ok()?;
        Self::build(self.pattern.clone(), self.min.max(1), self.max, self.format).ok()
    }

    fn build(
        pattern: Arc<Pattern>,
        min: u32,
        max: Option<u32>,
        format: Option<Shape>,
    ) -> Result<Self, PatternError> {
        let domain = Self {
            pattern,
            min,
            max,
            format,
        };
        // Length and pattern may contradict each other; trying is the only honest proof.
        domain
            .try_sample(&mut Rng::with_seed(1))
            .map(|_| domain)
            .ok_or(PatternError::NoText)
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The least number of characters.
    #[must_use]
    pub fn min(&self) -> u32 {
        self.min
    }

    /// The greatest number of characters, if any.
    #[must_use]
    pub fn max(&self) -> Option<u32> {
        self.max
    }

    /// The rule that a text outside the pattern breaks.
    pub(crate) fn rule(&self) -> Rule {
        if self.format.is_some() {
            Rule::Format
        } else {
            Rule::Pattern
        }
    }

    pub(crate) fn check(&self, text: &str) -> Result<(), Rule> {
        check_length(length(text), self.min, self.max)?;
        // Texts of a format that the pattern would not make are texts of the format all the same.
        let accepted = match self.format {
            Some(shape) => shape
                .accepts(text)
                .unwrap_or_else(|| self.pattern.matches(text)),
            None => self.pattern.matches(text),
        };
        if accepted { Ok(()) } else { Err(self.rule()) }
    }

    fn accepts(&self, text: &str) -> bool {
        check_length(length(text), self.min, self.max).is_ok()
            && (!self.pattern.needs_check || self.pattern.matches(text))
    }

    fn try_sample(&self, rng: &mut Rng) -> Option<Arc<str>> {
        let mut text = String::new();
        for attempt in 0..200 {
            text.clear();
            self.pattern
                .tree
                .sample(rng, self.min, self.max, attempt, &mut text);
            if self.accepts(&text) {
                return Some(text.as_str().into());
            }
        }
        None
    }

    pub(crate) fn sample(&self, rng: &mut Rng) -> Arc<str> {
        self.try_sample(rng)
            .or_else(|| self.try_sample(&mut Rng::with_seed(1)))
            .unwrap_or_else(|| "".into())
    }

    /// A different text of the pattern; `None` when none is found, as in a pattern of one word.
    pub(crate) fn mutate(&self, rng: &mut Rng, text: &str, large: bool) -> Option<Arc<str>> {
        if !large && let Some(parts) = parse::derivation(&self.pattern.tree, text) {
            let mut next = String::new();
            for _ in 0..16 {
                next.clear();
                if self.pattern.tree.vary(rng, text, &parts, &mut next)
                    && next != text
                    && self.accepts(&next)
                {
                    return Some(next.as_str().into());
                }
            }
        }
        (0..16)
            .filter_map(|_| self.try_sample(rng))
            .find(|next| &**next != text)
    }
}

#[cfg(test)]
mod tests;
