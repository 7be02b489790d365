//! Statement texts: splitting, and where their parameters stand.

#![deny(clippy::indexing_slicing)]

use std::borrow::Cow;
use std::ops::Range;

use crate::coverage::is_before_operand;
use crate::dialect::DialectName;
use crate::lex::{Lexer, LexerRules, TokenKind};

/// The statements in a text, without the semicolons between them.
///
/// Bodies of procedures are not understood: they are cut at their semicolons, too.
pub fn split(text: &str, dialect: DialectName) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut start = None;
    let mut end = 0;
    for token in Lexer::new(text, LexerRules::of(Some(dialect))) {
        if token.is_symbol(";") {
            statements.extend(start.take().and_then(|start| text.get(start..end)));
        } else if token.kind != TokenKind::Comment {
            start.get_or_insert(token.start.offset);
            end = token.end();
        }
    }
    statements.extend(start.and_then(|start| text.get(start..end)));
    statements
}

/// A text with `value(n)` in place of its n-th placeholder, counted from zero: `$1` and so on in PostgreSQL, `?` elsewhere.
///
/// Placeholders without a value stay.
pub fn fill(
    text: &str,
    dialect: DialectName,
    value: impl Fn(usize) -> Option<String>,
) -> Cow<'_, str> {
    let mut n = 0;
    replace(text, dialect, |_, written| {
        if dialect == DialectName::Postgres {
            let number: usize = written.strip_prefix('$')?.parse().ok()?;
            value(number.checked_sub(1)?)
        } else {
            n += usize::from(written == "?");
            (written == "?").then(|| value(n - 1)).flatten()
        }
    })
}

/// A text with other text in place of its parameters, which are given with their number from zero and as written;
/// those for which there is `None` stay.
pub fn replace(
    text: &str,
    dialect: DialectName,
    mut with: impl FnMut(usize, &str) -> Option<String>,
) -> Cow<'_, str> {
    let mut replaced = String::new();
    let mut copied = 0;
    for (number, place) in parameters(text, dialect).into_iter().enumerate() {
        let written = text.get(place.clone()).unwrap_or_default();
        if let Some(value) = with(number, written) {
            replaced.push_str(text.get(copied..place.start).unwrap_or_default());
            replaced.push_str(&value);
            copied = place.end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    replaced.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(replaced)
}

/// Whether a parameter after this text takes an array: `x = ANY(` stands before it.
pub fn takes_array(before: &str) -> bool {
    let Some(before) = before.trim_end().strip_suffix('(') else {
        return false;
    };
    let word = before.trim_end();
    let start = word.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let word = start.map_or(word, |start| word.get(start + 1..).unwrap_or_default());
    let quantifiers = ["any", "all", "some"];
    quantifiers
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
}

/// Where the parameters of a text stand, in order: `?`, `?1`, `$1`, `:name`, `@name`, `%s`, `%(name)s`.
pub fn parameters(text: &str, dialect: DialectName) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut lexer = Lexer::new(text, LexerRules::of(Some(dialect)));
    // Whether what stands before is an operand, after which `?`, `%` and `:` are operators.
    let mut after_operand = false;
    while let Some(token) = lexer.next() {
        let start = token.start.offset;
        let from_here = text.get(start..).unwrap_or_default();
        let is_operand = match token.kind {
            TokenKind::Comment => after_operand,
            TokenKind::Text | TokenKind::Quoted | TokenKind::Number => true,
            TokenKind::Word if is_variable(token.text) => {
                places.push(start..token.end());
                true
            }
            TokenKind::Word => !is_before_operand(token.text),
            TokenKind::Symbol => match parameter_length(from_here, after_operand) {
                0 => matches!(token.text, ")" | "]" | "::"),
                length => {
                    places.push(start..start + length);
                    lexer.advance(length - token.text.len());
                    true
                }
            },
        };
        after_operand = is_operand;
    }
    places
}

/// `@name`; `@@name` belongs to the system.
fn is_variable(word: &str) -> bool {
    word.len() > 1 && word.starts_with('@') && !word.starts_with("@@")
}

/// The length of the parameter at the beginning of a text; zero when it begins with something else.
fn parameter_length(text: &str, after_operand: bool) -> usize {
    let mut rest = text.chars();
    let first = rest.next();
    let rest = rest.as_str();
    let word = |rest: &str| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        end.unwrap_or(rest.len())
    };
    let named = match word(rest) {
        0 => 0,
        name => 1 + name,
    };
    match first {
        Some('$') => named,
        Some('?') if !after_operand => 1 + rest.bytes().take_while(u8::is_ascii_digit).count(),
        Some(':') if !after_operand => named,
        Some('%') if !after_operand && rest.starts_with('s') && named == 2 => 2,
        Some('%') if !after_operand && rest.starts_with('(') => {
            rest.find(")s").map_or(0, |close| close + 3)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_cut_at_their_semicolons_only() {
        let text = "SELECT ';' -- ;\n; /* ; */ ;INSERT INTO \"a;b\" VALUES ($$;$$);";
        assert_eq!(
            split(text, DialectName::Postgres),
            ["SELECT ';'", "INSERT INTO \"a;b\" VALUES ($$;$$)"]
        );
        assert_eq!(split("SELECT 'a\\';b'", DialectName::MySql).len(), 1);
        assert!(split(" ; -- nothing", DialectName::MySql).is_empty());
    }

    #[test]
    fn placeholders_are_filled_outside_of_texts_names_and_comments() {
        let value = |n: usize| (n < 12).then(|| format!("<{n}>"));
        let fill = |text, dialect| fill(text, dialect, value).into_owned();
        assert_eq!(
            fill(
                "a=$1 and b='$2' and \"$3\"=$12::int -- $4\n or c=$13",
                DialectName::Postgres
            ),
            "a=<0> and b='$2' and \"$3\"=<11>::int -- $4\n or c=$13"
        );
        assert_eq!(
            fill(
                "a=? and b='?' and `?`=? # ?\n or c = \"?\"",
                DialectName::MySql
            ),
            "a=<0> and b='?' and `?`=<1> # ?\n or c = \"?\""
        );
        assert_eq!(
            fill("data ? 'a' and x$1 = $$ $1 $$", DialectName::Postgres),
            "data ? 'a' and x$1 = $$ $1 $$"
        );
        assert_eq!(fill("a = $0", DialectName::Postgres), "a = $0");
    }

    #[test]
    fn a_backslash_before_a_quote_is_read_as_the_dialect_reads_it() {
        let places = |sql: &str, dialect| {
            let places = parameters(sql, dialect).into_iter();
            places
                .map(|place| sql[place].to_owned())
                .collect::<Vec<_>>()
        };
        let escaped = r"a = 'it\'s' AND b = ? AND c = 'no ?'";
        assert_eq!(places(escaped, DialectName::MySql), ["?"]);
        let plain = r"a = '\' AND b = ? AND c = 'no ?'";
        assert_eq!(places(plain, DialectName::Postgres), ["?"]);
        assert_eq!(
            places(r"a = E'\'' AND b = $1", DialectName::Postgres),
            ["$1"]
        );
        let quoted = "a = $x$ ? $x$ AND b = ? /* ? /* ? */ ? */ AND c #> ? AND d = ?";
        assert_eq!(places(quoted, DialectName::Postgres), ["?", "?", "?"]);
    }

    #[test]
    fn what_only_looks_like_a_parameter_is_none() {
        for dialect in [
            DialectName::Postgres,
            DialectName::MySql,
            DialectName::Sqlite,
        ] {
            for sql in [
                "a LIKE '?%s' AND b = '$1'",
                "a % s = 1",
                "a::text = b -- why?",
                "@@version = 1",
            ] {
                assert!(parameters(sql, dialect).is_empty(), "{sql}");
            }
        }
    }
}
