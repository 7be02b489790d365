//! How much was published when.

use std::collections::BTreeMap;

use axum::extract::State;
use chrono::{Datelike, Months, NaiveDate, Weekday};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::Result;
use crate::input::{Body, Query};
use crate::validate::Violations;

/// The year, and perhaps the month, that is asked for.
#[derive(Deserialize)]
pub(crate) struct Period {
    year: i32,
    month: Option<u32>,
}

/// Counts of a period.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Archive {
    from: NaiveDate,
    until: NaiveDate,
    total: usize,
    days: BTreeMap<NaiveDate, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    busiest: Option<NaiveDate>,
    on_weekends: usize,
}

impl Period {
    /// The first day, and the first day after.
    fn span(&self) -> Result<(NaiveDate, NaiveDate), Violations> {
        if !(1970..=9999).contains(&self.year) {
            return Err(Violations::of("year", "is not between 1970 and 9999"));
        }
        let (month, length) = match self.month {
            None => (1, 12),
            Some(month @ 1..=12) => (month, 1),
            Some(_) => return Err(Violations::of("month", "is not between 1 and 12")),
        };
        let from = NaiveDate::from_ymd_opt(self.year, month, 1);
        let until = from.and_then(|from| from.checked_add_months(Months::new(length)));
        from.zip(until)
            .ok_or_else(|| Violations::of("year", "is too far away"))
    }
}

/// `GET /api/archive`
pub(crate) async fn by_month(
    State(app): State<App>,
    Query(period): Query<Period>,
) -> Result<Body<Archive>> {
    let (from, until) = period.span()?;
    let mut db = app.store.connection().await?;
    let times: Vec<String> = sqlx::query_scalar(
        "SELECT published_at FROM articles WHERE state <> 'draft' AND published_at >= ?1 AND published_at < ?2",
    )
    .bind(from.to_string())
    .bind(until.to_string())
    .fetch_all(&mut *db)
    .await?;
    let mut days = BTreeMap::new();
    for time in &times {
        let Some(day) = time.get(..10).and_then(|day| day.parse::<NaiveDate>().ok()) else {
            continue;
        };
        *days.entry(day).or_insert(0) += 1;
    }
    let on_weekends = days
        .iter()
        .filter(|(day, _)| matches!(day.weekday(), Weekday::Sat | Weekday::Sun))
        .map(|(_, count)| count)
        .sum();
    // The first of several equal ones: `max_by_key` would take the last.
    let busiest = days
        .iter()
        .rev()
        .max_by_key(|(_, count)| **count)
        .map(|(day, _)| *day);
    Ok(Body(Archive {
        from,
        until,
        total: days.values().sum(),
        days,
        busiest,
        on_weekends,
    }))
}
