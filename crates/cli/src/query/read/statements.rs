//! Reads the statements of SQL text, and the names given by comments.

use isobath_sql::DialectName;
use isobath_sql::lex::{Lexer, LexerRules, TokenKind};

use isobath_rows::query::cover::QueryText;

/// The statements of a text.
///
/// A statement is named by `-- name: x` before it (sqlc, aiosql), by the comment line right above
/// it, by its file when it is the only one there (sqlx), and otherwise by file and line.
pub(super) fn read(text: &str, file: &str, dialect: DialectName) -> Vec<QueryText> {
    let mut found: Vec<QueryText> = Vec::new();
    let mut line = 1;
    let mut counted = 0;
    for (start, end, name) in statements(text, dialect) {
        let passed = text.get(counted..start).unwrap_or_default();
        line += passed.matches('\n').count() as u64;
        counted = start;
        let column = before_on_line(text, start).chars().count();
        // Columns count from the beginning of the line, also when the statement does not begin there.
        let sql = without_sqlc(text.get(start..end).unwrap_or_default().trim_end());
        found.push(QueryText {
            id: name.unwrap_or_default(),
            sql: format!("{}{sql}", " ".repeat(column)),
            line,
            ..QueryText::default()
        });
    }
    let only = found.len() == 1;
    for given in &mut found {
        if given.id.is_empty() {
            given.id = if only {
                file.to_owned()
            } else {
                format!("{file}:{}", given.line)
            };
        }
    }
    found
}

/// What comments say about the statement that follows.
#[derive(Default)]
struct StatementName {
    /// `-- name: x`.
    given: Option<String>,
    /// The first line of the comment right above.
    above: Option<String>,
}

impl StatementName {
    fn comment(&mut self, comment: &str) {
        let words =
            comment.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '/' | '*' | '#'));
        if let Some(said) = words.strip_prefix("name:") {
            let name = said.split_whitespace().next().unwrap_or_default();
            // aiosql marks the kind of a query by the name's last characters.
            let name = name.trim_end_matches(['^', '!', '$', '<', '*', '#']);
            self.given = (!name.is_empty()).then(|| name.to_owned());
        } else if self.above.is_none() && !words.is_empty() && !words.contains('\n') {
            let words = words.trim_end_matches(['.', ':']);
            if words.chars().count() <= 80 {
                self.above = Some(words.to_owned());
            }
        }
    }

    fn take(&mut self) -> Option<String> {
        let StatementName { given, above } = std::mem::take(self);
        given.or(above)
    }
}

/// Where the statements of a text start and end, and their names.
fn statements(text: &str, dialect: DialectName) -> Vec<(usize, usize, Option<String>)> {
    let mut found = Vec::new();
    let mut name = StatementName::default();
    let mut start = None;
    let mut read = 0;
    let rules = LexerRules::of(Some(dialect)).without_version_comments();
    for token in Lexer::new(text, rules) {
        let at = token.start.offset;
        if start.is_none() && has_blank_line(text.get(read..at).unwrap_or_default()) {
            // A comment that stands apart is not about the next statement.
            name.above = None;
        }
        if token.is_symbol(";") {
            let name = name.take();
            found.extend(start.take().map(|start| (start, at, name)));
        } else if token.kind != TokenKind::Comment {
            start.get_or_insert(at);
        } else if start.is_none() && begins_line(text, at) {
            name.comment(token.text);
        }
        read = token.end();
    }
    found.extend(start.map(|start| (start, text.len(), name.take())));
    found
}

/// Whether nothing stands before a place on its line: a comment there is not about what ends before it.
fn begins_line(text: &str, at: usize) -> bool {
    before_on_line(text, at).trim().is_empty()
}

/// What stands before a place on its line.
fn before_on_line(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// Whether white space between two tokens has an empty line in it.
fn has_blank_line(gap: &str) -> bool {
    gap.matches('\n').count() > 1
}

/// sqlc's own calls as plain SQL, with blanks so that nothing after them moves.
fn without_sqlc(sql: &str) -> String {
    let mut text = sql.to_owned();
    for (call, sigil, tail) in [
        ("sqlc.arg(", ":", ""),
        ("sqlc.narg(", ":", ""),
        ("sqlc.slice(", ":", ""),
        ("sqlc.embed(", "", ".*"),
    ] {
        while let Some(start) = text.find(call) {
            let called = text.get(start + call.len()..).unwrap_or_default();
            let Some((inner, _)) = called.split_once(')') else {
                break;
            };
            let length = call.len() + inner.len();
            let name = inner.trim().trim_matches(['\'', '"']);
            let plain = format!("{sigil}{name}{tail}");
            let blanks = " ".repeat((length + 1).saturating_sub(plain.len()));
            text.replace_range(start..=start + length, &format!("{plain}{blanks}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, u64, String)> {
        read(text, "q", DialectName::Postgres)
            .into_iter()
            .map(|given| (given.id, given.line, given.sql.trim_start().to_owned()))
            .collect()
    }

    fn all(expected: &[(&str, u64, &str)]) -> Vec<(String, u64, String)> {
        let expected = expected.iter();
        expected
            .map(|(id, line, sql)| ((*id).to_owned(), *line, (*sql).to_owned()))
            .collect()
    }

    #[test]
    fn statements_are_told_apart_and_named() {
        let text = "-- name: GetUser :one\nSELECT ';' FROM a; SELECT 2\n;;\n-- x; y\n";
        assert_eq!(
            names(text),
            all(&[("GetUser", 2, "SELECT ';' FROM a"), ("q:2", 2, "SELECT 2")])
        );
    }

    #[test]
    fn the_comment_right_above_names_a_statement_and_one_apart_does_not() {
        let text = "-- Copyright.\n\nSELECT 1;\n\n-- Open orders.\n-- More about them.\nSELECT 2;\n/* name: Third */ SELECT 3;";
        assert_eq!(
            names(text),
            all(&[
                ("q:3", 3, "SELECT 1"),
                ("Open orders", 7, "SELECT 2"),
                ("Third", 8, "SELECT 3")
            ])
        );
    }

    #[test]
    fn letters_beyond_ascii_are_letters() {
        let text = "SELECT größe FROM straße; -- é\nSELECT 'ß;' AS über";
        assert_eq!(
            names(text),
            all(&[
                ("q:1", 1, "SELECT größe FROM straße"),
                ("q:2", 2, "SELECT 'ß;' AS über")
            ])
        );
    }

    #[test]
    fn the_only_statement_of_a_file_is_named_by_the_file() {
        assert_eq!(names("SELECT $$;$$"), all(&[("q", 1, "SELECT $$;$$")]));
        assert_eq!(names("SELECT $1 + $2"), all(&[("q", 1, "SELECT $1 + $2")]));
    }

    #[test]
    fn quotes_and_comments_are_those_of_the_dialect() {
        let escaped = r"SELECT 'it\'s; fine'; # not; here
SELECT 2";
        let ends = |dialect| read(escaped, "q", dialect).len();
        assert_eq!(ends(DialectName::MySql), 2);
        let nested = "SELECT 1 /* a /* b; */ c; */ + 2; SELECT E'\\';'";
        assert_eq!(read(nested, "q", DialectName::Postgres).len(), 2);
    }

    #[test]
    fn what_sqlc_adds_to_sql_becomes_plain_parameters() {
        let text =
            "SELECT sqlc.embed(u) FROM u WHERE a = sqlc.arg('city') AND b IN (sqlc.slice(ids))";
        let sql = &read(text, "q", DialectName::Postgres)[0].sql;
        assert_eq!(sql.len(), text.len());
        let words: Vec<&str> = sql.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "SELECT u.* FROM u WHERE a = :city AND b IN (:ids )"
        );
    }
}
