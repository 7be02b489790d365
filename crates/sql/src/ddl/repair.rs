//! Rewrites statements that the parser does not take, without moving anything in them.
//!
//! Every edit keeps the number of characters, so that places in messages stay
//! those of the source. What an edit takes away is either read here or reported.

mod alter;
mod edits;

use std::ops::Range;

use crate::dialect::DialectName;
use crate::lex::{Lexer, LexerRules, Position, Token, TokenKind};
use crate::limitation::Severity;

pub(super) use alter::alter_table;
use edits::Edits;

/// Something taken out of a statement.
#[derive(Clone, Debug)]
pub(super) struct RemovedSyntax {
    pub(super) severity: Severity,
    /// Where, relative to the statement.
    pub(super) at: Position,
    pub(super) input: String,
    pub(super) why: &'static str,
}

/// A CREATE TABLE that the parser can read, and what it does not need to.
#[derive(Debug, Default)]
pub(super) struct TableText {
    /// The statement with everything below blanked.
    pub(super) text: String,
    /// INHERITS.
    pub(super) inherits: Vec<String>,
    /// LIKE elements.
    pub(super) likes: Vec<LikeClause>,
    /// STRICT.
    pub(super) strict: bool,
    /// WITHOUT ROWID.
    pub(super) without_rowid: bool,
    /// `PRIMARY KEY (id AUTOINCREMENT)`.
    pub(super) counter: bool,
    /// Whether any column or constraint is left to parse.
    pub(super) has_elements: bool,
    /// The constraints among the elements, which the table can do without when they do not parse;
    /// as ranges of characters, which edits leave in their places.
    pub(super) constraints: Vec<Range<usize>>,
    /// Everything else that was taken out.
    pub(super) removed: Vec<RemovedSyntax>,
}

/// `LIKE other INCLUDING …` inside a CREATE TABLE.
#[derive(Clone, Debug)]
pub(super) struct LikeClause {
    /// The other table.
    pub(super) name: String,
    /// How many columns stand before it.
    pub(super) columns_before: usize,
    /// INCLUDING CONSTRAINTS.
    pub(super) checks: bool,
    /// INCLUDING INDEXES.
    pub(super) indexes: bool,
    /// INCLUDING DEFAULTS.
    pub(super) defaults: bool,
}

/// Words that may follow the body of a CREATE TABLE without changing which rows it takes.
const OPTIONS: &[&str] = &[
    "ENGINE",
    "TYPE",
    "DEFAULT",
    "CHARSET",
    "CHARACTER",
    "COLLATE",
    "COMMENT",
    "AUTO_INCREMENT",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "PACK_KEYS",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "DATA",
    "INDEX",
    "CONNECTION",
    "ENCRYPTION",
    "COMPRESSION",
    "PAGE_COMPRESSED",
    "PAGE_CHECKSUM",
    "TRANSACTIONAL",
    "TABLESPACE",
    "WITH",
    "WITHOUT",
    "USING",
    "INHERITS",
    "PARTITION",
    "ON",
    "STRICT",
    "AS",
    "SELECT",
];

/// Lexes a statement that has no comments left.
pub(super) fn tokens(text: &str, dialect: DialectName) -> Vec<Token<'_>> {
    Lexer::new(text, LexerRules::of(Some(dialect)))
        .filter(|token| token.kind != TokenKind::Comment)
        .collect()
}

/// Prepares a CREATE TABLE.
pub(super) fn create_table(text: &str, dialect: DialectName) -> TableText {
    let tokens = tokens(text, dialect);
    let mut out = TableText::default();
    let mut edits = Edits::default();
    anywhere(&tokens, &mut edits, &mut out.removed);
    let Some((open, close)) = body(&tokens) else {
        out.has_elements = true;
        out.text = edits.apply(text);
        return out;
    };
    let mut columns = 0;
    let mut dropped = Vec::new();
    let elements = elements(&tokens, open + 1, close);
    for (index, element) in elements.iter().enumerate() {
        let part = tokens.get(element.clone()).unwrap_or_default();
        let kind = element_kind(part, text);
        match kind {
            ElementKind::Column => {
                columns += 1;
                column(part, &mut edits);
            }
            ElementKind::Constraint => {
                constraint(part, &mut edits, &mut out);
                if let (Some(first), Some(last)) = (part.first(), part.last()) {
                    let characters = |at| text.get(..at).unwrap_or_default().chars().count();
                    out.constraints
                        .push(characters(first.start.offset)..characters(last.end()));
                }
            }
            ElementKind::Like => out.likes.extend(like(part, columns)),
            ElementKind::Drop(severity, why) => {
                out.removed.push(removed(part, text, severity, why))
            }
            ElementKind::Empty => continue,
        }
        if matches!(kind, ElementKind::Like | ElementKind::Drop(..)) {
            dropped.push(index);
        }
    }
    out.has_elements = elements.len() > dropped.len();
    blank_elements(&tokens, &elements, &dropped, open, close, &mut edits);
    tail(&tokens, close, text, &mut edits, &mut out);
    out.text = edits.apply(text);
    out
}

/// Where a range of characters lies in a text.
pub(super) fn bytes(text: &str, characters: &Range<usize>) -> Range<usize> {
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let start = places.nth(characters.start).unwrap_or(text.len());
    let end = match characters.len() {
        0 => start,
        more => places.nth(more - 1).unwrap_or(text.len()),
    };
    start..end
}

/// The statement without one more range of elements, after the parser refused it there.
pub(super) fn without(text: &str, range: &Range<usize>) -> String {
    let mut edits = Edits::default();
    let before = text.get(..range.start).unwrap_or_default().trim_end();
    let after = text.get(range.end..).unwrap_or_default().trim_start();
    match (before.strip_suffix(','), after.strip_prefix(',')) {
        (Some(before), _) => edits.blank(before.len()..range.end),
        (_, Some(after)) => edits.blank(range.start..text.len() - after.len()),
        _ => edits.blank(range.clone()),
    }
    edits.apply(text)
}

/// What is done with one element of a CREATE TABLE or one action of an ALTER TABLE.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Column,
    Constraint,
    Like,
    Drop(Severity, &'static str),
    Empty,
}

const NON_UNIQUE: &str = "an index that is not unique refuses no row";

fn element_kind(part: &[Token<'_>], text: &str) -> ElementKind {
    let Some(first) = part.first() else {
        return ElementKind::Empty;
    };
    let second = part.get(1);
    if first.is("LIKE") && second.is_some_and(|token| token.kind != TokenKind::Symbol) {
        return ElementKind::Like;
    }
    if is_index(part) {
        return ElementKind::Drop(Severity::Ignored, NON_UNIQUE);
    }
    let named = usize::from(first.is("CONSTRAINT")) * 2;
    let Some(keyword) = part.get(named) else {
        return ElementKind::Constraint;
    };
    let followed_by = |symbol: &str| part.get(named + 1).is_some_and(|t| t.is_symbol(symbol));
    let next_is = |word: &str| part.get(named + 1).is_some_and(|t| t.is(word));
    if keyword.is("EXCLUDE") && (next_is("USING") || followed_by("(")) {
        return ElementKind::Drop(
            Severity::Unsupported,
            "EXCLUDE constraints are not supported",
        );
    }
    if keyword.is("PERIOD") && next_is("FOR") {
        return ElementKind::Drop(Severity::Unsupported, "periods are not supported");
    }
    let _ = text;
    let constraint = named > 0
        || (keyword.is("PRIMARY") && next_is("KEY"))
        || (keyword.is("FOREIGN") && next_is("KEY"))
        || (keyword.is("CHECK") && followed_by("("))
        || (keyword.is("UNIQUE")
            && part.get(1).is_some_and(|token| {
                token.is_symbol("(") || token.is("KEY") || token.is("INDEX") || token.is("NULLS")
            }))
        || (keyword.is("UNIQUE") && part.get(2).is_some_and(|token| token.is_symbol("(")));
    if constraint {
        ElementKind::Constraint
    } else {
        ElementKind::Column
    }
}

/// `KEY name (column)`, `INDEX (column)`, `FULLTEXT KEY …`; but not a column called key.
fn is_index(part: &[Token<'_>]) -> bool {
    let at = |index: usize| part.get(index);
    let Some(first) = at(0) else { return false };
    if (first.is("FULLTEXT") || first.is("SPATIAL"))
        && at(1).is_some_and(|t| {
            t.is("KEY")
                || t.is("INDEX")
                || t.is_symbol("(")
                || at(2).is_some_and(|t| t.is_symbol("("))
        })
    {
        return true;
    }
    if !first.is("KEY") && !first.is("INDEX") {
        return false;
    }
    let open = (1..4).find(|&index| at(index).is_some_and(|t| t.is_symbol("(")));
    match open {
        Some(1) => true,
        Some(open) => at(open + 1).is_some_and(|t| t.kind != TokenKind::Number),
        None => at(2).is_some_and(|t| t.is("USING")) || at(1).is_some_and(|t| t.is("USING")),
    }
}

/// The parentheses around the columns of a CREATE TABLE, as token indices.
fn body(tokens: &[Token<'_>]) -> Option<(usize, usize)> {
    let table = tokens.iter().position(|token| token.is("TABLE"))?;
    let mut at = table + 1;
    while tokens
        .get(at)
        .is_some_and(|token| token.is("IF") || token.is("NOT") || token.is("EXISTS"))
    {
        at += 1;
    }
    // name, or schema.name, or database.schema.name
    at += 1;
    while tokens.get(at).is_some_and(|token| token.is_symbol(".")) {
        at += 2;
    }
    tokens.get(at).filter(|token| token.is_symbol("("))?;
    let close = matching(tokens, at)?;
    Some((at, close))
}

/// The index of the parenthesis that closes the one at `open`.
fn matching(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is_symbol("(") {
            depth += 1;
        } else if token.is_symbol(")") {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// Ranges of tokens between commas that are in no inner parentheses.
fn elements(tokens: &[Token<'_>], from: usize, to: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = from;
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().take(to).skip(from) {
        if token.is_symbol("(") || token.is_symbol("[") {
            depth += 1;
        } else if token.is_symbol(")") || token.is_symbol("]") {
            depth = depth.saturating_sub(1);
        } else if token.is_symbol(",") && depth == 0 {
            found.push(start..index);
            start = index + 1;
        }
    }
    found.push(start..to);
    found
}

/// Blanks elements together with one comma each, so that the rest stays a list. Those that are dropped are in order.
fn blank_elements(
    tokens: &[Token<'_>],
    elements: &[Range<usize>],
    dropped: &[usize],
    open: usize,
    close: usize,
    edits: &mut Edits,
) {
    let is_dropped = |index: &usize| dropped.binary_search(index).is_ok();
    let first_kept = (0..elements.len()).find(|index| !is_dropped(index));
    for (index, element) in elements.iter().enumerate() {
        if !is_dropped(&index) {
            continue;
        }
        // The parenthesis or the commas around it.
        let before = if index == 0 { open } else { element.start - 1 };
        let (Some(before), Some(after)) = (tokens.get(before), tokens.get(element.end.min(close)))
        else {
            continue;
        };
        // Before the first kept element the comma after it goes, else the one before it.
        let goes_with_next = first_kept.is_some_and(|kept| index < kept);
        let start = match goes_with_next || index == 0 {
            true => before.end(),
            false => before.start.offset,
        };
        let end = match goes_with_next {
            true => after.end(),
            false => after.start.offset,
        };
        edits.blank(start..end);
    }
}

fn removed(part: &[Token<'_>], text: &str, severity: Severity, why: &'static str) -> RemovedSyntax {
    let start = part.first().map_or(0, |token| token.start.offset);
    let end = part.last().map_or(start, Token::end);
    RemovedSyntax {
        severity,
        at: part.first().map_or(
            Position {
                offset: 0,
                line: 1,
                column: 1,
            },
            |token| token.start,
        ),
        input: text.get(start..end).unwrap_or_default().to_owned(),
        why,
    }
}

/// Edits that hold wherever the words stand.
fn anywhere(tokens: &[Token<'_>], edits: &mut Edits, out: &mut Vec<RemovedSyntax>) {
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        let range = token.start.offset..token.end();
        if token.is("BETWEEN") {
            if let Some(next) = next {
                let range = next.start.offset..next.end();
                if next.is("SYMMETRIC") {
                    // Read back by the conversion of expressions; nobody writes BETWEEN NOT NOT.
                    edits.replace(range, "NOT NOT");
                } else if next.is("ASYMMETRIC") {
                    edits.blank(range);
                }
            }
        } else if token.is("ON") && next.is_some_and(|next| next.is("CONFLICT")) {
            let Some(policy) = tokens.get(index + 2) else {
                continue;
            };
            if policy.is("REPLACE") || policy.is("IGNORE") {
                out.push(RemovedSyntax {
                    severity: Severity::Unsupported,
                    at: token.start,
                    input: format!("ON CONFLICT {}", policy.text),
                    why: "rows in conflict are refused in the model, not replaced or ignored",
                });
            }
            edits.blank(range.start..policy.end());
        }
    }
}

/// Column attributes that the parser does not know.
fn column(part: &[Token<'_>], edits: &mut Edits) {
    for (index, token) in part.iter().enumerate() {
        let range = token.start.offset..token.end();
        let next = part.get(index + 1);
        if index == 0 {
            continue;
        }
        if token.is("ZEROFILL") {
            edits.blank(range);
        } else if token.is("PERSISTENT") {
            edits.replace(range, "STORED");
        } else if (token.is("STORAGE") || token.is("COMPRESSION") || token.is("CHARSET"))
            && let Some(next) = next
            && next.kind == TokenKind::Word
        {
            edits.blank(range.start..next.end());
        } else if ["TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT"]
            .iter()
            .any(|word| token.is(word))
            && next.is_some_and(|next| next.is_symbol("("))
            && let (Some(_), Some(last)) = (part.get(index + 2), part.get(index + 3))
            && last.is_symbol(")")
            && let Some(open) = next
        {
            edits.blank(open.start.offset..last.end());
        }
    }
}

/// What dumps write after the columns of a key.
fn constraint(part: &[Token<'_>], edits: &mut Edits, out: &mut TableText) {
    let key = part
        .iter()
        .position(|token| token.is("PRIMARY") || token.is("UNIQUE"))
        .filter(|&index| index <= 2);
    let Some(key) = key else { return };
    let Some(open) = part.iter().position(|token| token.is_symbol("(")) else {
        return;
    };
    let Some(close) = matching(part, open) else {
        return;
    };
    for (using, method) in pairs(part.get(key..open).unwrap_or_default()) {
        if using.is("USING") {
            edits.blank(using.start.offset..method.end());
        }
    }
    for token in part.get(open..close).unwrap_or_default() {
        if token.is("AUTOINCREMENT") {
            out.counter = true;
            edits.blank(token.start.offset..token.end());
        }
    }
    let keep = [
        "DEFERRABLE",
        "INITIALLY",
        "NOT",
        "DEFERRED",
        "IMMEDIATE",
        "INCLUDE",
    ];
    let rest = part.iter().skip(close + 1);
    let storage: Vec<&Token<'_>> = rest
        .take_while(|token| !keep.iter().any(|word| token.is(word)))
        .collect();
    if let (Some(first), Some(last)) = (storage.first(), storage.last()) {
        edits.blank(first.start.offset..last.end());
    }
}

fn like(part: &[Token<'_>], columns_before: usize) -> Option<LikeClause> {
    let name_end = part
        .iter()
        .position(|token| token.is("INCLUDING") || token.is("EXCLUDING"))
        .unwrap_or(part.len());
    let (name, options) = part.split_at_checked(name_end)?;
    let name = name.iter().skip(1).map(|token| token.text).collect();
    let mut like = LikeClause {
        name,
        columns_before,
        checks: false,
        indexes: false,
        defaults: false,
    };
    for (word, option) in pairs(options) {
        let on = word.is("INCLUDING");
        if !on && !word.is("EXCLUDING") {
            continue;
        }
        if option.is("ALL") || option.is("CONSTRAINTS") {
            like.checks = on;
        }
        if option.is("ALL") || option.is("INDEXES") {
            like.indexes = on;
        }
        if ["ALL", "DEFAULTS", "IDENTITY", "GENERATED"]
            .iter()
            .any(|word| option.is(word))
        {
            like.defaults = on;
        }
    }
    Some(like)
}

/// Each token with the one after it.
fn pairs<'a, 't>(tokens: &'a [Token<'t>]) -> impl Iterator<Item = (&'a Token<'t>, &'a Token<'t>)> {
    tokens.iter().zip(tokens.iter().skip(1))
}

/// Reads and blanks what follows the body of a CREATE TABLE.
fn tail(tokens: &[Token<'_>], close: usize, text: &str, edits: &mut Edits, out: &mut TableText) {
    let rest = tokens.get(close + 1..).unwrap_or_default();
    let Some(first) = rest.first() else { return };
    let known =
        first.is_symbol(",") || first.is_symbol(";") || OPTIONS.iter().any(|word| first.is(word));
    if !known {
        return;
    }
    for (index, token) in rest.iter().enumerate() {
        let next = rest.get(index + 1);
        if token.is("STRICT") {
            out.strict = true;
        } else if token.is("WITHOUT") && next.is_some_and(|next| next.is("ROWID")) {
            out.without_rowid = true;
        } else if token.is("INHERITS") && next.is_some_and(|next| next.is_symbol("(")) {
            let end = matching(rest, index + 1).unwrap_or(rest.len());
            let list = rest.get(index + 2..end).unwrap_or_default();
            for name in list.split(|token| token.is_symbol(",")) {
                out.inherits
                    .push(name.iter().map(|token| token.text).collect());
            }
        } else if token.is("PARTITION") && next.is_some_and(|next| next.is("BY")) {
            out.removed.push(removed(
                rest.get(index..).unwrap_or_default(),
                text,
                Severity::Unsupported,
                "partitions are not supported: rows outside every partition count as accepted",
            ));
            break;
        } else if token.is("AS") || token.is("SELECT") {
            out.removed.push(removed(
                rest.get(index..).unwrap_or_default(),
                text,
                Severity::Unsupported,
                "columns that come from a query are not in the model",
            ));
            break;
        }
    }
    let last = rest.last().map_or(first.end(), Token::end);
    edits.blank(first.start.offset..last);
}
