//! Queries from files: statements of .sql files, lines of .jsonl files.

use std::path::Path;

use isobath_sql::ddl::Source;
use serde::Deserialize;

use crate::input::{self, InputError};

/// One query of an input.
#[derive(Debug)]
pub(crate) struct Given {
    /// Its name in reports.
    pub id: String,
    /// Its text.
    pub sql: String,
    /// Targets that came with it.
    pub targets: Vec<String>,
    /// Line of the file at which it starts, from one.
    pub line: u64,
    /// What is wrong with the line, when it is no query at all.
    pub broken: Option<String>,
}

/// A line of a .jsonl file.
#[derive(Deserialize)]
struct Record {
    id: Option<String>,
    query: String,
    #[serde(default)]
    targets: Vec<String>,
}

/// Reads the queries of a path, with the texts that they came from.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<(Source, Vec<Given>)>, InputError> {
    let input = input::read(path)?;
    let mut all = Vec::new();
    for source in input.sources {
        let lines = Path::new(&source.name)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"));
        let given = if lines || source.text.trim_start().starts_with('{') {
            records(&source.text)
        } else {
            statements(&source.text, &input.name)
        };
        all.push((source, given));
    }
    Ok(all)
}

fn records(text: &str) -> Vec<Given> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            let number = number as u64 + 1;
            match serde_json::from_str::<Record>(line) {
                Ok(record) => Given {
                    id: record.id.unwrap_or_else(|| number.to_string()),
                    sql: record.query,
                    targets: record.targets,
                    line: number,
                    broken: None,
                },
                Err(error) => Given {
                    id: number.to_string(),
                    sql: String::new(),
                    targets: Vec::new(),
                    line: number,
                    broken: Some(error.to_string()),
                },
            }
        })
        .collect()
}

/// The statements of a text; `-- name: x` before one (as sqlc writes it) names it.
fn statements(text: &str, file: &str) -> Vec<Given> {
    let mut given = Vec::new();
    let mut start = None;
    let mut name = None;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &text[at..];
        let length = match bytes[at] {
            b'-' if rest.starts_with("--") => {
                let comment = rest.lines().next().unwrap_or("");
                if start.is_none()
                    && let Some(said) = comment.trim_start_matches('-').trim().strip_prefix("name:")
                {
                    name = said.split_whitespace().next().map(str::to_owned);
                }
                comment.len()
            }
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            quote @ (b'\'' | b'"' | b'`') => {
                start.get_or_insert(at);
                let closing = bytes[at + 1..].iter().position(|byte| *byte == quote);
                closing.map_or(rest.len(), |end| end + 2)
            }
            b';' => {
                take(text, file, start.take(), at, name.take(), &mut given);
                1
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    start.get_or_insert(at);
                }
                1
            }
        };
        at += length.max(1);
    }
    take(text, file, start, bytes.len(), name, &mut given);
    given
}

fn take(
    text: &str,
    file: &str,
    start: Option<usize>,
    end: usize,
    name: Option<String>,
    given: &mut Vec<Given>,
) {
    let Some(start) = start else {
        return;
    };
    let line = text[..start].matches('\n').count() as u64 + 1;
    let column = start - text[..start].rfind('\n').map_or(0, |at| at + 1);
    // Columns count from the beginning of the line, also when the statement does not begin there.
    let sql = format!("{}{}", " ".repeat(column), text[start..end].trim_end());
    given.push(Given {
        id: name.unwrap_or_else(|| format!("{file}:{line}")),
        sql,
        targets: Vec::new(),
        line,
        broken: None,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart_and_named() {
        let text = "-- name: GetUser :one\nSELECT ';' FROM a; SELECT 2\n;;\n-- x; y\n";
        let given = statements(text, "q");
        let found: Vec<_> = given
            .iter()
            .map(|given| (given.id.as_str(), given.line, given.sql.trim_start()))
            .collect();
        assert_eq!(
            found,
            [("GetUser", 2, "SELECT ';' FROM a"), ("q:2", 2, "SELECT 2")]
        );
    }

    #[test]
    fn a_broken_line_does_not_lose_the_others() {
        let given = records("{\"query\": \"SELECT 1\"}\n{oops\n");
        assert_eq!(given.len(), 2);
        assert!(given[0].broken.is_none() && given[1].broken.is_some());
    }
}
