//! LIKE, GLOB, SIMILAR TO and regular expressions, by distance to the pattern.

use std::cell::RefCell;
use std::rc::Rc;

use isobath_distance::pattern::{PatternPiece, matches};
use isobath_distance::{STEP, Truth};
use regex::Regex;
use rustc_hash::FxHashMap;

use crate::dialect::DialectName;
use crate::expr::{Expr, PatternKind};
use crate::value::Value;

use super::collate::Collation;
use super::error::{EvalError, RaisedError, raise, unsupported};
use super::evaluator::Evaluator;
use super::format;
use super::static_type::StaticType;

impl<'a> Evaluator<'a> {
    /// `expr LIKE pattern` and similar operators.
    pub(super) fn like(
        self,
        expr: &'a Expr,
        pattern: &'a Expr,
        escape: Option<char>,
        kind: PatternKind,
    ) -> Result<Truth, EvalError> {
        let pattern_expr = pattern;
        let (text, pattern_value) = (self.value(expr)?, self.value(pattern)?);
        if self.typed() {
            for side in [expr, pattern] {
                let kind = self.kind(side);
                if !kind.is_text() {
                    return match kind {
                        StaticType::Other | StaticType::Bytes => {
                            unsupported("a pattern over this type")
                        }
                        _ => raise(RaisedError::TypeMismatch),
                    };
                }
            }
        }
        let (Some(text), Some(pattern)) = (self.subject(&text)?, self.subject(&pattern_value)?)
        else {
            return Ok(self.unknown());
        };
        let collation = match expr {
            _ if self.dialect == DialectName::MySql => self.collation_of(&[expr, pattern_expr]),
            Expr::Column(column) => Collation::of(column.collation.as_deref(), self.dialect),
            _ => Collation::of(None, self.dialect),
        };
        match kind {
            PatternKind::Like | PatternKind::Ilike => {
                let folds = match (kind, self.dialect) {
                    (PatternKind::Ilike, DialectName::Ansi | DialectName::Postgres) => true,
                    (PatternKind::Ilike, _) => return unsupported("ILIKE"),
                    (_, DialectName::Sqlite) => true,
                    (_, DialectName::MySql) => collation.ignores_case(),
                    _ => false,
                };
                if folds
                    && self.dialect != DialectName::Sqlite
                    && !(text.is_ascii() && pattern.is_ascii())
                {
                    return unsupported("case beyond ASCII");
                }
                // SQLite has no escape character unless the statement names one.
                let escape = match (escape, self.dialect) {
                    (None, DialectName::Sqlite) => None,
                    (None, _) => Some('\\'),
                    (some, _) => some,
                };
                let pieces = like_pieces(&pattern, escape, self.dialect)?;
                Ok(if folds {
                    let lower: Vec<PatternPiece> = pieces
                        .into_iter()
                        .map(|piece| match piece {
                            PatternPiece::Char(c) => PatternPiece::Char(c.to_ascii_lowercase()),
                            other => other,
                        })
                        .collect();
                    matches(&text.to_ascii_lowercase(), &lower)
                } else {
                    matches(&text, &pieces)
                })
            }
            PatternKind::Glob if self.dialect == DialectName::Sqlite => {
                Ok(matches(&text, &glob_pieces(&pattern)?))
            }
            PatternKind::Glob => unsupported("GLOB"),
            PatternKind::SimilarTo if self.typed() => {
                let regex = similar_to_regex(&pattern, escape.unwrap_or('\\'))?;
                search(&regex, &text, false)
            }
            PatternKind::SimilarTo => unsupported("SIMILAR TO"),
            PatternKind::Regex | PatternKind::RegexInsensitive => {
                let insensitive = match (kind, self.dialect) {
                    (_, DialectName::Sqlite) => return unsupported("REGEXP without a function"),
                    (PatternKind::RegexInsensitive, DialectName::MySql) => {
                        return unsupported("~*");
                    }
                    (PatternKind::RegexInsensitive, _) => true,
                    (_, DialectName::MySql) => collation.ignores_case(),
                    _ => false,
                };
                if insensitive && !(text.is_ascii() && pattern.is_ascii()) {
                    return unsupported("case beyond ASCII");
                }
                // Line ends are where the languages differ.
                if text.contains('\n') {
                    return unsupported("a regular expression over several lines");
                }
                search(&plain_regex(&pattern)?, &text, insensitive)
            }
        }
    }

    /// The text that a pattern is matched against, `None` for NULL.
    fn subject(self, value: &Value) -> Result<Option<String>, EvalError> {
        match value {
            Value::Null => Ok(None),
            Value::Bytes(_) => unsupported("a pattern over bytes"),
            other => match format::text(other, self.dialect) {
                Some(text) => Ok(Some(text)),
                None => unsupported("the text of this value"),
            },
        }
    }
}

fn like_pieces(
    pattern: &str,
    escape: Option<char>,
    dialect: DialectName,
) -> Result<Vec<PatternPiece>, EvalError> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        pieces.push(if Some(c) == escape {
            match (chars.next(), dialect) {
                (Some(next), _) => PatternPiece::Char(next),
                (None, DialectName::Ansi | DialectName::Postgres) => {
                    // Whether this is an error depends on whether the match gets there.
                    return unsupported("a pattern that ends in its escape character");
                }
                (None, DialectName::MySql) => PatternPiece::Char(c),
                (None, DialectName::Sqlite) => {
                    return unsupported("a pattern that ends in its escape character");
                }
            }
        } else {
            match c {
                '%' => PatternPiece::Many,
                '_' => PatternPiece::One,
                c => PatternPiece::Char(c),
            }
        });
    }
    Ok(pieces)
}

fn glob_pieces(pattern: &str) -> Result<Vec<PatternPiece>, EvalError> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '*' => PatternPiece::Many,
            '?' => PatternPiece::One,
            '[' => {
                let negated = chars.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                // A bracket right after the opening is a member.
                if chars.next_if_eq(&']').is_some() {
                    ranges.push((']', ']'));
                }
                loop {
                    match chars.next() {
                        None => return unsupported("a GLOB set without an end"),
                        Some(']') => break,
                        Some('-') => match (ranges.last_mut(), chars.peek()) {
                            (Some(range), Some(&high)) if high != ']' => {
                                range.1 = high;
                                chars.next();
                            }
                            _ => ranges.push(('-', '-')),
                        },
                        Some(c) => ranges.push((c, c)),
                    }
                }
                PatternPiece::Set { ranges, negated }
            }
            c => PatternPiece::Char(c),
        });
    }
    Ok(pieces)
}

/// Whether and how nearly a text matches a regular expression.
fn search(pattern: &str, text: &str, insensitive: bool) -> Result<Truth, EvalError> {
    let regex = compiled(pattern, insensitive)?;
    if regex.is_match(text) {
        return Ok(Truth::holds(STEP));
    }
    Ok(Truth::fails(regex_distance(&regex, text)))
}

/// How much of a text stands in the way: the fewest characters at its end and start
/// whose loss would let the pattern match, or its whole length and one more.
fn regex_distance(regex: &Regex, text: &str) -> f64 {
    let ends = text.char_indices().map(|(at, _)| at).rev();
    for (lost, end) in ends.enumerate().take(64) {
        if text.get(..end).is_some_and(|start| regex.is_match(start)) {
            return STEP + lost as f64;
        }
    }
    STEP + text.chars().count() as f64
}

/// Patterns by text and case; `None` for those that do not compile.
type PatternCache = FxHashMap<(String, bool), Option<Rc<Regex>>>;

thread_local! {
    static COMPILED: RefCell<PatternCache> =
        RefCell::new(FxHashMap::default());
}

/// A compiled pattern; a schema has few, so they are all kept.
fn compiled(pattern: &str, insensitive: bool) -> Result<Rc<Regex>, EvalError> {
    COMPILED.with_borrow_mut(|cache| {
        let key = (pattern.to_owned(), insensitive);
        let entry = cache.entry(key).or_insert_with(|| {
            regex::RegexBuilder::new(pattern)
                .case_insensitive(insensitive)
                .unicode(true)
                .dot_matches_new_line(true)
                .build()
                .ok()
                .map(Rc::new)
        });
        match entry {
            Some(regex) => Ok(Rc::clone(regex)),
            None => unsupported(format!("the regular expression '{pattern}'")),
        }
    })
}

/// A regular expression in the part of the language that all engines share.
fn plain_regex(pattern: &str) -> Result<String, EvalError> {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    let refuse = || unsupported(format!("the regular expression '{pattern}'"));
    let mut atom = false;
    let mut depth = 0i32;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('d') => {
                    out.push_str("[0-9]");
                    atom = true;
                }
                Some(c) if !c.is_ascii_alphanumeric() && c.is_ascii() => {
                    out.push('\\');
                    out.push(c);
                    atom = true;
                }
                _ => return refuse(),
            },
            '[' => {
                out.push_str(&bracket(&mut chars).ok_or_else(|| {
                    EvalError::unsupported(format!("the regular expression '{pattern}'"))
                })?);
                atom = true;
            }
            '*' | '+' | '?' | '{' => {
                if !atom {
                    return refuse();
                }
                out.push(c);
                if c == '{' {
                    let mut seen = false;
                    loop {
                        match chars.next() {
                            Some('}') if seen => break,
                            Some(d) if d.is_ascii_digit() => {
                                out.push(d);
                                seen = true;
                            }
                            Some(',') if seen => out.push(','),
                            _ => return refuse(),
                        }
                    }
                    out.push('}');
                }
                // Lazy and possessive forms differ between engines.
                atom = false;
            }
            '(' => {
                if chars.peek() == Some(&'?') || chars.peek() == Some(&'*') {
                    return refuse();
                }
                depth += 1;
                out.push_str("(?:");
                atom = false;
            }
            ')' => {
                depth -= 1;
                if depth < 0 {
                    return refuse();
                }
                out.push(')');
                atom = true;
            }
            '|' | '^' => {
                out.push(c);
                atom = false;
            }
            '$' => {
                out.push_str("\\z");
                atom = false;
            }
            '.' => {
                out.push('.');
                atom = true;
            }
            '}' | ']' => return refuse(),
            c => {
                out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
                atom = true;
            }
        }
    }
    if depth != 0 || out.is_empty() {
        return refuse();
    }
    Ok(out)
}

/// A bracket expression after its opening, copied when it is plain.
fn bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut out = String::from("[");
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut members = 0;
    loop {
        match chars.next()? {
            ']' if members > 0 => break,
            '[' if chars.peek() == Some(&':') => {
                let class: String = chars.by_ref().take_while(|c| *c != ']').collect();
                // Take the closing bracket of the class with it.
                let known = [
                    ":alpha:", ":digit:", ":alnum:", ":upper:", ":lower:", ":space:",
                ];
                if !known.contains(&class.as_str()) {
                    return None;
                }
                out.push('[');
                out.push_str(&class);
                out.push(']');
                members += 1;
            }
            '[' | ']' | '\\' | '&' | '~' | '^' => return None,
            '-' if members > 0 && chars.peek() != Some(&']') => {
                let high = chars.next()?;
                if !high.is_ascii_alphanumeric() {
                    return None;
                }
                out.push('-');
                out.push(high);
            }
            c => {
                if !c.is_alphanumeric() {
                    out.push('\\');
                }
                if c.is_ascii() || c.is_alphanumeric() {
                    out.push(c);
                } else {
                    return None;
                }
                members += 1;
            }
        }
    }
    out.push(']');
    Some(out)
}

/// SIMILAR TO as a regular expression over the whole text.
fn similar_to_regex(pattern: &str, escape: char) -> Result<String, EvalError> {
    let mut out = String::from("\\A(?:");
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == escape {
            match chars.next() {
                Some(c) if c != '"' => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
                _ => return unsupported(format!("the pattern '{pattern}'")),
            }
            continue;
        }
        match c {
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '[' => match bracket(&mut chars) {
                Some(set) => out.push_str(&set),
                None => return unsupported(format!("the pattern '{pattern}'")),
            },
            '(' => out.push_str("(?:"),
            ')' | '|' | '*' | '+' | '?' | '{' | '}' | ',' => out.push(c),
            c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out.push_str(")\\z");
    Ok(out)
}
