//! Lists of public pastes, page by page: each page tells where the next one starts.

use std::fmt;
use std::str::FromStr;

use actix_web::web::{Data, Json, Query};
use actix_web::{Responder, get};
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

use crate::id::Id;
use crate::language::by_name;
use crate::models::{Paste, PasteView};
use crate::problem::{Problem, Result};
use crate::schema::pastes;
use crate::service::Shared;
use crate::store::on_database;

const USUAL: i64 = 20;
const MOST: i64 = 100;

/// The last paste of a page, by which the next page is found.
#[derive(Clone, Debug, PartialEq)]
struct Cursor {
    created_at: i64,
    id: Id,
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || Problem::invalid("after", "is not from a page of this list");
        let (created_at, id) = text.split_once('.').ok_or_else(bad)?;
        Ok(Self {
            created_at: i64::from_str_radix(created_at, 36).map_err(|_| bad())?,
            id: id.parse().map_err(|_| bad())?,
        })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = Vec::new();
        let mut rest = self.created_at.unsigned_abs();
        loop {
            digits.push(char::from_digit((rest % 36) as u32, 36).unwrap_or('0'));
            rest /= 36;
            if rest == 0 {
                break;
            }
        }
        if self.created_at < 0 {
            digits.push('-');
        }
        write!(f, "{}.{}", digits.iter().rev().collect::<String>(), self.id)
    }
}

/// What is first in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Newest,
    Oldest,
}

/// Which pastes are wanted.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    syntax: Option<String>,
    author: Option<String>,
    title: Option<String>,
    day: Option<String>,
    #[serde(default)]
    order: Order,
    limit: Option<i64>,
    after: Option<String>,
}

/// A page.
#[derive(Serialize)]
pub(crate) struct Page {
    pastes: Vec<PasteView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The seconds at which a day starts and ends.
fn day(text: &str) -> Result<(i64, i64)> {
    let format = time::macros::format_description!("[year]-[month]-[day]");
    let day = Date::parse(text, &format)
        .map_err(|error| Problem::invalid("day", format!("is not like 2024-02-29: {error}")))?;
    let start = day.midnight().assume_utc().unix_timestamp();
    Ok((start, start + 24 * 60 * 60))
}

fn query(wanted: &Wanted, now: OffsetDateTime) -> Result<pastes::BoxedQuery<'static, Sqlite>> {
    let mut query = pastes::table
        .filter(pastes::visibility.eq("public"))
        .filter(
            pastes::expires_at
                .is_null()
                .or(pastes::expires_at.gt(now.unix_timestamp())),
        )
        .into_boxed();
    if let Some(name) = &wanted.syntax {
        let Some(syntax) = by_name(name) else {
            return Err(Problem::invalid("syntax", "is unknown; see /syntaxes"));
        };
        query = query.filter(pastes::syntax.eq(syntax.name));
    }
    if let Some(author) = &wanted.author {
        query = query.filter(pastes::author.eq(author.clone()));
    }
    if let Some(title) = &wanted.title {
        let pattern = format!("%{}%", escaped(title));
        query = query.filter(pastes::title.like(pattern).escape('\\'));
    }
    if let Some(text) = &wanted.day {
        let (start, end) = day(text)?;
        query = query.filter(pastes::created_at.ge(start).and(pastes::created_at.lt(end)));
    }
    if let Some(after) = &wanted.after {
        let Cursor { created_at, id } = after.parse()?;
        let id = id.to_string();
        let same_time = pastes::created_at.eq(created_at);
        query = match wanted.order {
            Order::Newest => query.filter(
                pastes::created_at
                    .lt(created_at)
                    .or(same_time.and(pastes::id.lt(id))),
            ),
            Order::Oldest => query.filter(
                pastes::created_at
                    .gt(created_at)
                    .or(same_time.and(pastes::id.gt(id))),
            ),
        };
    }
    Ok(match wanted.order {
        Order::Newest => query.order((pastes::created_at.desc(), pastes::id.desc())),
        Order::Oldest => query.order((pastes::created_at.asc(), pastes::id.asc())),
    })
}

/// A text without special characters of `LIKE`.
pub(crate) fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let special = matches!(c, '%' | '_' | '\\');
            special.then_some('\\').into_iter().chain([c])
        })
        .collect()
}

/// `GET /pastes`
#[get("/pastes")]
pub(crate) async fn list(shared: Data<Shared>, wanted: Query<Wanted>) -> Result<impl Responder> {
    let limit = wanted.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::invalid(
            "limit",
            format!("is not between 1 and {MOST}"),
        ));
    }
    let page = on_database(&shared, move |connection, now| {
        let mut found: Vec<Paste> = query(&wanted, now)?
            .limit(limit + 1)
            .select(Paste::as_select())
            .load(connection)?;
        let more = found.len() as i64 > limit;
        found.truncate(limit as usize);
        let next = match found.last() {
            Some(last) if more => Some(Cursor {
                created_at: last.created_at,
                id: last
                    .id
                    .parse()
                    .map_err(|error| Problem::Id(last.id.clone(), error))?,
            }),
            _ => None,
        };
        let pastes = found
            .into_iter()
            .filter(|paste| !paste.is_over(now))
            .map(Paste::view)
            .collect::<Result<_>>()?;
        Ok(Page {
            pastes,
            next: next.map(|cursor| cursor.to_string()),
        })
    })
    .await?;
    Ok(Json(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back() {
        for created_at in [0, 35, 36, 1_700_000_000, -5] {
            let cursor = Cursor {
                created_at,
                id: Id::from_number(7),
            };
            let read: Result<Cursor> = cursor.to_string().parse();
            assert_eq!(read.ok(), Some(cursor));
        }
        assert!("nothing".parse::<Cursor>().is_err());
    }
}
