//! Reads the statements of SQL text, and the names given by comments.

use super::QueryText;

/// The statements of a text.
///
/// A statement is named by `-- name: x` before it (sqlc, aiosql), by the comment line right above
/// it, by its file when it is the only one there (sqlx), and otherwise by file and line.
pub(super) fn read(text: &str, file: &str) -> Vec<QueryText> {
    let mut found: Vec<QueryText> = Vec::new();
    let mut reader = StatementReader {
        text,
        at: 0,
        start: None,
        name: StatementName::default(),
    };
    let mut line = 1;
    let mut counted = 0;
    while let Some((start, end, name)) = reader.statement() {
        line += text[counted..start].matches('\n').count() as u64;
        counted = start;
        let before = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let column = text[before..start].chars().count();
        // Columns count from the beginning of the line, also when the statement does not begin there.
        let sql = without_sqlc(text[start..end].trim_end());
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

struct StatementReader<'a> {
    text: &'a str,
    at: usize,
    start: Option<usize>,
    name: StatementName,
}

impl StatementReader<'_> {
    /// The next statement: where it starts and ends, and its name.
    fn statement(&mut self) -> Option<(usize, usize, Option<String>)> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let rest = &self.text[self.at..];
            let length = match bytes[self.at] {
                b'-' if rest.starts_with("--") => self.line_comment(rest),
                b'#' if self.start.is_none() => self.line_comment(rest),
                b'/' if rest.starts_with("/*") => {
                    let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
                    if self.is_heading() {
                        self.name.comment(&rest[..length]);
                    }
                    length
                }
                quote @ (b'\'' | b'"' | b'`') => {
                    self.start.get_or_insert(self.at);
                    let closing = bytes[self.at + 1..].iter().position(|byte| *byte == quote);
                    closing.map_or(rest.len(), |end| end + 2)
                }
                b'$' if dollar_tag(rest).is_some() => {
                    self.start.get_or_insert(self.at);
                    let tag = dollar_tag(rest).unwrap_or_default();
                    let closing = rest[tag.len()..].find(tag);
                    closing.map_or(rest.len(), |end| end + 2 * tag.len())
                }
                b';' => {
                    let end = self.at;
                    self.at += 1;
                    let name = self.name.take();
                    if let Some(start) = self.start.take() {
                        return Some((start, end, name));
                    }
                    continue;
                }
                b'\n' if self.start.is_none() && blank_line(&rest[1..]) => {
                    // A comment that stands apart is not about the next statement.
                    self.name.above = None;
                    1
                }
                byte => {
                    if !byte.is_ascii_whitespace() {
                        self.start.get_or_insert(self.at);
                    }
                    rest.chars().next().map_or(1, char::len_utf8)
                }
            };
            self.at += length.max(1);
        }
        let start = self.start.take()?;
        Some((start, bytes.len(), self.name.take()))
    }

    fn line_comment(&mut self, rest: &str) -> usize {
        let comment = rest.lines().next().unwrap_or("");
        if self.is_heading() {
            self.name.comment(comment);
        }
        comment.len()
    }

    /// Whether a comment here is about the statement that follows: it stands outside of statements,
    /// and not behind the end of one.
    fn is_heading(&self) -> bool {
        let line = self.text[..self.at].rfind('\n').map_or(0, |end| end + 1);
        self.start.is_none() && self.text[line..self.at].trim().is_empty()
    }
}

fn blank_line(rest: &str) -> bool {
    rest.contains('\n')
        && rest
            .lines()
            .next()
            .is_none_or(|line| line.trim().is_empty())
}

/// `$tag$` at the beginning of a text; `$1` is none.
fn dollar_tag(rest: &str) -> Option<&str> {
    let end = rest[1..].find('$')? + 2;
    let name = &rest[1..end - 1];
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    plain.then(|| &rest[..end])
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
            let Some(length) = text[start..].find(')') else {
                break;
            };
            let inner = &text[start + call.len()..start + length];
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
        read(text, "q")
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
    fn what_sqlc_adds_to_sql_becomes_plain_parameters() {
        let text =
            "SELECT sqlc.embed(u) FROM u WHERE a = sqlc.arg('city') AND b IN (sqlc.slice(ids))";
        let sql = &read(text, "q")[0].sql;
        assert_eq!(sql.len(), text.len());
        let words: Vec<&str> = sql.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "SELECT u.* FROM u WHERE a = :city AND b IN (:ids )"
        );
    }
}
