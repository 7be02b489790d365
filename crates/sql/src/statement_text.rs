//! Statement texts: splitting, and filling values in for placeholders.

use std::borrow::Cow;

use crate::ddl::lex::{Lexer, LexerRules, TokenKind};
use crate::dialect::DialectName;

/// The statements in a text, without the semicolons between them.
///
/// Bodies of procedures are not understood: they are cut at their semicolons, too.
pub fn split(text: &str, dialect: DialectName) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut start = None;
    let mut end = 0;
    for token in Lexer::new(text, LexerRules::of(Some(dialect))) {
        if token.is_symbol(";") {
            statements.extend(start.take().map(|start| &text[start..end]));
        } else if token.kind != TokenKind::Comment {
            start.get_or_insert(token.start.offset);
            end = token.end();
        }
    }
    statements.extend(start.map(|start| &text[start..end]));
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
    let mut filled = String::new();
    let mut copied = 0;
    let mut put = |from: usize, to: usize, value: Option<String>| {
        if let Some(value) = value {
            filled.push_str(&text[copied..from]);
            filled.push_str(&value);
            copied = to;
        }
    };
    if dialect == DialectName::Postgres {
        let mut dollar = None;
        for token in Lexer::new(text, LexerRules::of(Some(dialect))) {
            if let Some(at) = dollar.take()
                && token.kind == TokenKind::Number
                && token.start.offset == at + 1
            {
                let digits = token.text.bytes().take_while(u8::is_ascii_digit).count();
                let number = token.text[..digits].parse::<usize>().ok();
                let value = number
                    .and_then(|number| number.checked_sub(1))
                    .and_then(&value);
                put(at, at + 1 + digits, value);
            }
            dollar = token.is_symbol("$").then_some(token.start.offset);
        }
    } else {
        let mut n = 0;
        for token in Lexer::new(text, LexerRules::of(Some(dialect))) {
            if token.is_symbol("?") {
                put(token.start.offset, token.end(), value(n));
                n += 1;
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    filled.push_str(&text[copied..]);
    Cow::Owned(filled)
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
}
