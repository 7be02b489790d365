//! Parameters keep their identity while conditions are moved, copied and dropped.
//!
//! A bare `?` means its position, so a target that swaps two conditions would
//! bind the wrong values. While a query is worked on, every parameter therefore
//! carries a mark with its index; printing removes the marks and reports them.

use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::target::Span;

/// Private-use characters, which no SQL text has reason to hold.
const OPEN: char = '\u{f5b0}';
const CLOSE: char = '\u{f5b1}';

/// Where a text holds a mark already, line and column from one.
pub(super) fn marked(text: &str) -> Option<(u64, u64)> {
    let at = text.find([OPEN, CLOSE])?;
    let before = text.get(..at)?;
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.chars().rev().take_while(|ch| *ch != '\n').count() as u64 + 1;
    Some((line, column))
}

/// A parameter where a query mentions it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterMention {
    /// Which of the query's parameters, from 0; repeated names and numbers share an index, every
    /// bare `?` or `%s` has its own.
    pub index: usize,
    /// As the query writes it.
    pub written: String,
    /// Where it stands.
    pub span: Span,
}

/// The tokens of a query in which every style of parameter is a numbered placeholder, `$1` being
/// the first to appear unless it says its number itself, and the parameters as written.
pub(crate) fn joined(tokens: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, Vec<ParameterMention>) {
    let mut mentions = Vec::new();
    let mut tokens = mark(tokens);
    for token in &mut tokens {
        let Token::Placeholder(text) = &mut token.token else {
            continue;
        };
        let (written, index) = unmark(text);
        if let Some(index) = index.first() {
            let digits = written.strip_prefix(['?', '$']).unwrap_or_default();
            *text = if digits.parse::<usize>().is_ok() {
                format!("${digits}")
            } else {
                format!("${}", index + 1)
            };
            mentions.push(ParameterMention {
                index: *index,
                written,
                span: Span {
                    line: token.span.start.line,
                    column: token.span.start.column,
                    end_line: token.span.end.line,
                    // The parser's spans end after the last character.
                    end_column: token.span.end.column.saturating_sub(1),
                },
            });
        }
    }
    (tokens, mentions)
}

/// Rewrites the tokens of a query so that every style of parameter is one marked placeholder.
pub(super) fn mark(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut names: Vec<Option<String>> = Vec::new();
    let mut marked = Vec::with_capacity(tokens.len());
    let mut after_operand = false;
    let mut idx = 0;
    while let Some(rest @ [token, ..]) = tokens.get(idx..) {
        let (text, length) = match parameter(rest, after_operand) {
            Some(found) => found,
            None => {
                if !matches!(token.token, Token::Whitespace(_)) {
                    after_operand = ends_operand(&token.token);
                }
                marked.push(token.clone());
                idx += 1;
                continue;
            }
        };
        let name = (text != "?" && text != "%s").then(|| text.clone());
        let known = name
            .as_ref()
            .and_then(|name| names.iter().position(|of| of.as_ref() == Some(name)));
        let index = known.unwrap_or(names.len());
        if known.is_none() {
            names.push(name);
        }
        let first = token.span;
        let token = Token::Placeholder(format!("{text}{OPEN}{index}{CLOSE}"));
        let span = rest
            .iter()
            .take(length)
            .fold(first, |span, token| span.union(&token.span));
        marked.push(TokenWithSpan::new(token, span));
        after_operand = true;
        idx += length;
    }
    marked
}

/// Removes the marks from printed SQL and returns the indices in order of appearance.
pub(crate) fn unmark(sql: &str) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(sql.len());
    let mut indices = Vec::new();
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once(OPEN) {
        text.push_str(before);
        match after.split_once(CLOSE) {
            Some((index, after)) => {
                indices.extend(index.parse::<usize>());
                rest = after;
            }
            None => rest = after,
        }
    }
    text.push_str(rest);
    (text, indices)
}

/// The parameter that starts here, as written, and how many tokens it takes.
fn parameter(tokens: &[TokenWithSpan], after_operand: bool) -> Option<(String, usize)> {
    let token = |n: usize| tokens.get(n).map(|token| &token.token);
    match token(0)? {
        Token::Placeholder(text) => Some((text.clone(), 1)),
        // PostgreSQL's own `?` operators follow an operand.
        Token::Question if !after_operand => Some(("?".to_owned(), 1)),
        Token::Colon if !after_operand => match token(1)? {
            Token::Word(word) if word.quote_style.is_none() => {
                Some((format!(":{}", word.value), 2))
            }
            Token::Number(number, _) => Some((format!(":{number}"), 2)),
            _ => None,
        },
        Token::AtSign if !after_operand => match token(1)? {
            Token::Word(word) if word.quote_style.is_none() => {
                Some((format!("@{}", word.value), 2))
            }
            _ => None,
        },
        Token::Word(word) if is_variable(word) => Some((word.value.clone(), 1)),
        // The styles of Python's drivers; after an operand, `%` is the remainder.
        Token::Mod if !after_operand => match token(1)? {
            Token::Word(word) if is_s(word) => Some(("%s".to_owned(), 2)),
            Token::LParen => match (token(2)?, token(3)?, token(4)?) {
                (Token::Word(name), Token::RParen, Token::Word(word)) if is_s(word) => {
                    Some((format!("%({})s", name.value), 5))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// `@name`, and `$1` where the dialect takes it for a word.
fn is_variable(word: &Word) -> bool {
    let numbered = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    word.quote_style.is_none()
        && (word.value.starts_with('@') && !word.value.starts_with("@@")
            || word.value.strip_prefix('$').is_some_and(numbered))
}

fn is_s(word: &Word) -> bool {
    word.quote_style.is_none() && word.value == "s"
}

/// Whether an infix operator could follow.
fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Word(word) => {
            word.quote_style.is_some()
                || !sqlparser::keywords::RESERVED_FOR_COLUMN_ALIAS.contains(&word.keyword)
                    && !is_before_operand(&word.value)
        }
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::RParen
        | Token::RBracket
        | Token::Placeholder(_) => true,
        _ => false,
    }
}

/// Whether a word is a keyword after which an operand comes, so that `?`, `%` and `:` begin a
/// parameter there and are no operators.
pub fn is_before_operand(word: &str) -> bool {
    const WORDS: [&str; 32] = [
        "ALL",
        "AND",
        "ANY",
        "BETWEEN",
        "BY",
        "CASE",
        "DISTINCT",
        "DIV",
        "ELSE",
        "ESCAPE",
        "FROM",
        "HAVING",
        "ILIKE",
        "IN",
        "INTERVAL",
        "IS",
        "LIKE",
        "LIMIT",
        "MOD",
        "NOT",
        "OFFSET",
        "ON",
        "OR",
        "REGEXP",
        "RETURNING",
        "RLIKE",
        "SELECT",
        "SET",
        "THEN",
        "VALUES",
        "WHEN",
        "WHERE",
    ];
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}
