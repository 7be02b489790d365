//! Many subscribers at once, from a table of addresses and names.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use serde::Serialize;
use uuid::Uuid;

use crate::address::{Address, AddressError};
use crate::app::App;
use crate::auth::Admin;
use crate::error::{Error, Result};
use crate::input::{Body, Path};
use crate::lists;

/// The most rows of one table.
const MOST: usize = 500;

/// A row that was not taken, and why.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Skipped {
    line: usize,
    why: String,
}

/// What came of a table.
#[derive(Debug, Serialize)]
pub(crate) struct Imported {
    added: usize,
    known: usize,
    skipped: Vec<Skipped>,
}

/// Why a line is not a row.
#[derive(Debug, PartialEq, thiserror::Error)]
enum RowError {
    #[error("has a quote that is not closed")]
    Quote,
    #[error("has {0} columns, not one or two")]
    Columns(usize),
    #[error("{0}")]
    Address(#[from] AddressError),
    #[error("repeats an address")]
    Repeated,
}

/// The columns of a line; quotes may hold commas and doubled quotes.
fn columns(line: &str) -> Result<Vec<String>, RowError> {
    let mut columns = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = columns.len() - 1;
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                columns[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => columns.push(String::new()),
            _ => columns[last].push(letter),
        }
    }
    if quoted {
        return Err(RowError::Quote);
    }
    Ok(columns)
}

fn row(line: &str) -> Result<(Address, String), RowError> {
    let columns = columns(line)?;
    match columns.as_slice() {
        [address] => Ok((address.parse()?, String::new())),
        [address, name] => Ok((address.parse()?, name.trim().chars().take(60).collect())),
        other => Err(RowError::Columns(other.len())),
    }
}

/// `POST /admin/lists/{slug}/import`
pub(crate) async fn import(
    State(app): State<App>,
    _: Admin,
    Path(slug): Path<String>,
    headers: HeaderMap,
    text: String,
) -> Result<Body<Imported>> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(str::trim);
    match kind {
        Some("text/csv" | "text/plain") => {}
        other => {
            let other = other.unwrap_or("a body without a type");
            return Err(Error::Malformed(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("cannot read {other}; send text/csv"),
            ));
        }
    }
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(nth, line)| (nth + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .skip_while(|(nth, line)| *nth == 1 && line.to_ascii_lowercase().starts_with("email"))
        .collect();
    if lines.is_empty() {
        return Err(Error::invalid("body", "has no rows"));
    }
    if lines.len() > MOST {
        return Err(Error::invalid("body", format!("has more than {MOST} rows")));
    }
    let mut seen = BTreeSet::new();
    let mut report = Imported {
        added: 0,
        known: 0,
        skipped: Vec::new(),
    };
    let now = app.now().as_second();
    let mut transaction = app.store.begin().await?;
    let list = lists::by_slug(&mut transaction, &slug).await?;
    for (line, text) in lines {
        let row = row(text).and_then(|(address, name)| {
            if seen.insert(address.clone()) {
                Ok((address, name))
            } else {
                Err(RowError::Repeated)
            }
        });
        let (address, name) = match row {
            Ok(row) => row,
            Err(error) => {
                let why = error.to_string();
                report.skipped.push(Skipped { line, why });
                continue;
            }
        };
        let inserted = sqlx::query(
            "INSERT OR IGNORE INTO subscribers (list_id, email, name, state, token, token_expires, created_at)
             VALUES (?1, ?2, ?3, 'confirmed', ?4, ?5, ?5)",
        )
        .bind(list.id)
        .bind(address.as_str())
        .bind(name)
        .bind(Uuid::new_v4().to_string())
        .bind(now)
        .execute(&mut *transaction)
        .await?;
        if inserted.rows_affected() == 1 {
            report.added += 1;
        } else {
            report.known += 1;
        }
    }
    transaction.commit().await?;
    Ok(Body(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_together() {
        let found = columns(r#"a@b.org,"Lovelace, ""Ada""""#);
        assert_eq!(
            found,
            Ok(vec!["a@b.org".to_owned(), "Lovelace, \"Ada\"".to_owned()])
        );
        assert_eq!(columns("\"a"), Err(RowError::Quote));
        assert_eq!(row("a@b.org,x,y"), Err(RowError::Columns(3)));
        assert_eq!(row("nobody"), Err(RowError::Address(AddressError::NoAt)));
    }
}
