//! One source file becomes one that tells what it does.
//!
//! Every wrapper is `match (operands) { names => … }`, as `assert_eq!` does: a
//! scrutinee is not the end of a temporary's life, so guards, borrows and drops
//! stay where they were. Each operand is evaluated once, in the old order, and
//! the old operator or method is applied to it.

mod arms;
mod calls;
mod conditions;
mod faults;
mod macros;
mod walk;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use isobath_protocol::{Target, TargetKind};
use proc_macro2::Span;
use syn::visit::Visit;

use crate::cfg::Cfg;
use crate::text::{self, Edit, Finished};

/// What a site does, for the list of those that had to be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SiteKind {
    /// A statement, an arm or a closure body that is counted.
    Hit,
    /// A condition without operands.
    Flag,
    /// A comparison.
    Comparison,
    /// A replaced method.
    Method,
    /// A parser.
    Parser,
    /// `?`.
    Question,
    /// A `match` with literals.
    Match,
    /// An operand of a comparison that is copied, and not borrowed; refused where it cannot be
    /// copied, which costs nothing but another round.
    Copy,
}

impl SiteKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Flag => "flag",
            Self::Comparison => "comparison",
            Self::Method => "method",
            Self::Parser => "parser",
            Self::Question => "question",
            Self::Match => "match",
            Self::Copy => "copy",
        }
    }

    /// Whether it takes an expression apart, and so may not compile.
    pub(crate) fn wraps(self) -> bool {
        self != Self::Hit
    }
}

/// A place that was rewritten.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// What it does.
    pub shape: SiteKind,
    /// Where it was in the source, in bytes.
    pub range: (usize, usize),
    /// The line, counted from one.
    pub line: u32,
}

/// Sites of one version of one file that are left as they are.
#[derive(Clone, Debug, Default)]
pub struct SkippedSites {
    /// They did not compile.
    pub sites: BTreeSet<(SiteKind, usize, usize)>,
}

/// How many branch sites there were, and their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteCounts {
    /// Conditions, comparisons, replaced methods, matches and `?` that tell their outcome.
    pub instrumented: usize,
    /// Such sites that did not compile when rewritten.
    pub dropped: usize,
    /// Such sites inside macros that are not looked into.
    pub in_macros: usize,
    /// Such sites in constants.
    pub in_constants: usize,
}

impl SiteCounts {
    /// Adds those of another file.
    pub fn add(&mut self, other: Self) {
        self.instrumented += other.instrumented;
        self.dropped += other.dropped;
        self.in_macros += other.in_macros;
        self.in_constants += other.in_constants;
    }

    /// The share of branch sites that tell their outcome.
    pub fn share(self) -> f64 {
        let all = self.instrumented + self.dropped + self.in_macros + self.in_constants;
        if all == 0 {
            1.0
        } else {
            self.instrumented as f64 / all as f64
        }
    }
}

/// A rewritten file whose targets have no numbers yet.
#[derive(Clone, Debug)]
pub struct Rewritten {
    marked: String,
    /// The sites; their numbers are their places here.
    pub sites: Vec<Site>,
    /// The targets, numbered from zero.
    pub targets: Vec<Target>,
    /// What was seen.
    pub counts: SiteCounts,
}

/// A rewritten file, ready to be compiled.
#[derive(Clone, Debug)]
pub struct NumberedFile {
    /// The text.
    pub text: String,
    /// Where each site ended up in it.
    pub sites: Vec<(Site, Range<usize>)>,
    /// The targets, with their numbers.
    pub targets: Vec<Target>,
}

impl Rewritten {
    /// Gives the targets the numbers from `base` on.
    pub fn number(&self, base: u32) -> NumberedFile {
        let Finished {
            text,
            sites,
            columns,
        } = text::finish(&self.marked, base);
        let mut targets = self.targets.clone();
        for (target, column) in columns {
            if let Some(target) = targets.get_mut(target as usize) {
                target.compiled_column = column;
            }
        }
        for target in &mut targets {
            target.id += base;
        }
        let sites = sites
            .into_iter()
            .filter_map(|(number, range)| Some((self.sites.get(number)?.clone(), range)))
            .collect();
        NumberedFile {
            text,
            sites,
            targets,
        }
    }
}

/// A hash of a source, so that what is known of one version is not used for another.
pub fn fingerprint(source: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    hasher.finish()
}

/// Rewrites one file.
///
/// # Errors
///
/// When the file cannot be parsed, or the result would not have the same lines; the file
/// is then left as it is.
pub fn rewrite(
    unit: &str,
    path: &str,
    source: &str,
    cfg: &Cfg,
    skip: &SkippedSites,
) -> Result<Rewritten, String> {
    if text::has_marks(source) {
        return Err("the source holds characters that we mark with".into());
    }
    let file = syn::parse_file(source).map_err(|error| format!("not understood: {error}"))?;
    let mut rewriter = Rewriter {
        unit,
        path,
        source,
        // `syn` takes a byte order mark off before it counts.
        offset: source.len() - source.strip_prefix('\u{FEFF}').unwrap_or(source).len(),
        cfg,
        skip,
        edits: Vec::new(),
        sites: Vec::new(),
        targets: Vec::new(),
        functions: Vec::new(),
        constant: false,
        asynchronous: None,
        counts: SiteCounts::default(),
    };
    rewriter.visit_file(&file);
    let marked = text::render(source, 0..source.len(), &rewriter.edits);
    let rewritten = Rewritten {
        marked,
        sites: rewriter.sites,
        targets: rewriter.targets,
        counts: rewriter.counts,
    };
    let text = rewritten.number(0).text;
    if text.lines().count() != source.lines().count() {
        return Err("the lines would move".into());
    }
    match syn::parse_file(&text) {
        Ok(_) => Ok(rewritten),
        Err(error) => Err(format!("the result would not parse: {error}")),
    }
}

/// The state of a walk over one file.
struct Rewriter<'a> {
    unit: &'a str,
    path: &'a str,
    source: &'a str,
    offset: usize,
    cfg: &'a Cfg,
    skip: &'a SkippedSites,
    edits: Vec<Edit>,
    sites: Vec<Site>,
    targets: Vec<Target>,
    functions: Vec<String>,
    /// Inside a constant, where nothing can be called.
    constant: bool,
    /// The innermost body, where that may be left at an await and gone on with.
    asynchronous: Option<Range<usize>>,
    counts: SiteCounts,
}

impl Rewriter<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        let range = span.byte_range();
        range.start + self.offset..range.end + self.offset
    }

    fn source_of(&self, range: &Range<usize>) -> &str {
        self.source.get(range.clone()).unwrap_or_default()
    }

    /// Whether a site of this shape here may be rewritten.
    fn allowed(&self, shape: SiteKind, range: &Range<usize>) -> bool {
        !self.constant && !self.skip.sites.contains(&(shape, range.start, range.end))
    }

    /// Makes targets of these kinds for one place, and returns the number of the first.
    fn targets(&mut self, kinds: &[TargetKind], span: Span, range: &Range<usize>) -> u32 {
        let first = self.targets.len() as u32;
        let at = span.start();
        let text: String = self
            .source_of(range)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut short: String = text.chars().take(60).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        for (kind, id) in kinds.iter().zip(first..) {
            let column = at.column as u32 + 1;
            self.targets.push(Target {
                id,
                kind: *kind,
                unit: self.unit.into(),
                file: self.path.into(),
                line: at.line as u32,
                column,
                compiled_column: column,
                function: self.functions.join("::"),
                text: short.clone(),
            });
        }
        first
    }

    /// Replaces a range by the text of a site.
    fn replace(&mut self, shape: SiteKind, span: Span, range: Range<usize>, text: &str) {
        let number = self.sites.len();
        self.sites.push(Site {
            shape,
            range: (range.start, range.end),
            line: span.start().line as u32,
        });
        self.edits.push(Edit {
            range,
            text: text::site(number, text),
        });
    }

    /// Inserts text that is no site.
    fn insert(&mut self, at: usize, text: String) {
        self.edits.push(Edit {
            range: at..at,
            text,
        });
    }

    /// The rendered text of a range from the edits made since `mark`.
    fn rendered(&self, mark: usize, range: Range<usize>) -> String {
        text::render(self.source, range, &self.edits[mark..])
    }

    fn breaks(&self, range: Range<usize>) -> String {
        text::breaks(self.source, range)
    }

    /// Counts a branch site that is told or not.
    fn count(&mut self, instrumented: bool) {
        if instrumented {
            self.counts.instrumented += 1;
        } else if self.constant {
            self.counts.in_constants += 1;
        } else {
            self.counts.dropped += 1;
        }
    }

    /// The call that counts a target.
    fn hit(target: u32) -> String {
        format!("::isobath_rt::hit({});", text::target(target))
    }
}
