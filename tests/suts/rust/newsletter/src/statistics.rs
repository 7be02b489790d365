//! Numbers about lists, campaigns and letters.

use std::collections::BTreeMap;

use axum::extract::State;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use regex::Regex;
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;
use std::sync::LazyLock;

use crate::address::Address;
use crate::app::App;
use crate::auth::Editor;
use crate::error::{Error, Result};
use crate::input::{Body, Query};
use crate::lists;
use crate::store::time;

/// The longest period, in days.
const LONGEST: i32 = 400;

/// Weeks as of ISO 8601.
static WEEK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\d{4})-W(\d{2})$").expect("the pattern is a constant"));

/// Of what the numbers are wanted: days, or a week such as `2024-W09`.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    list: Option<String>,
    from: Option<String>,
    until: Option<String>,
    week: Option<String>,
}

fn day(field: &'static str, text: &str) -> Result<Date> {
    text.parse()
        .map_err(|_| Error::invalid(field, "is not a day such as 2024-02-29"))
}

impl Wanted {
    /// The first and the last day.
    fn period(&self, today: Date) -> Result<(Date, Date)> {
        let (from, until) = match (&self.week, &self.from, &self.until) {
            (Some(week), None, None) => Self::week(week)?,
            (Some(_), ..) => return Err(Error::invalid("week", "goes without from and until")),
            (None, from, until) => {
                let until = match until {
                    Some(text) => day("until", text)?,
                    None => today,
                };
                let from = match from {
                    Some(text) => day("from", text)?,
                    None => until
                        .checked_sub(30.days())
                        .map_err(|_| Error::invalid("until", "is too early"))?,
                };
                (from, until)
            }
        };
        let days = (until - from).get_days();
        match days {
            ..0 => Err(Error::invalid("until", "is before from")),
            _ if days > LONGEST => Err(Error::invalid("from", "is too long ago")),
            _ => Ok((from, until)),
        }
    }

    fn week(text: &str) -> Result<(Date, Date)> {
        let bad = || Error::invalid("week", "is not a week such as 2024-W09");
        let parts = WEEK.captures(text).ok_or_else(bad)?;
        let year = parts[1].parse().map_err(|_| bad())?;
        let week = parts[2].parse().map_err(|_| bad())?;
        let monday = jiff::civil::ISOWeekDate::new(year, week, jiff::civil::Weekday::Monday)
            .map_err(|_| bad())?
            .date();
        let sunday = monday.checked_add(6.days()).map_err(|_| bad())?;
        Ok((monday, sunday))
    }
}

/// The numbers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    from: Date,
    until: Date,
    subscribers: BTreeMap<String, i64>,
    campaigns: BTreeMap<String, i64>,
    deliveries: BTreeMap<String, i64>,
    per_day: BTreeMap<String, usize>,
    domains: Vec<Domain>,
    /// The share of letters that arrived, in percent.
    delivered_percent: Option<f64>,
}

/// How many readers are at a domain.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Domain {
    name: String,
    readers: usize,
}

macro_rules! counts {
    ($db:expr, $list:expr, $statement:literal) => {{
        let counts: Vec<(String, i64)> = sqlx::query_as($statement)
            .bind($list)
            .fetch_all(&mut *$db)
            .await?;
        counts.into_iter().collect::<BTreeMap<_, _>>()
    }};
}

/// The domains with the most readers.
fn domains(addresses: &[String], most: usize) -> Vec<Domain> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for address in addresses
        .iter()
        .filter_map(|text| text.parse::<Address>().ok())
    {
        *counts.entry(address.domain().to_owned()).or_default() += 1;
    }
    let mut domains: Vec<Domain> = counts
        .into_iter()
        .map(|(name, readers)| Domain { name, readers })
        .collect();
    domains.sort_by(|a, b| b.readers.cmp(&a.readers).then_with(|| a.name.cmp(&b.name)));
    domains.truncate(most);
    domains
}

/// How many came on which day.
async fn per_day(
    db: &mut SqliteConnection,
    list: Option<i64>,
    (from, until): (Date, Date),
) -> Result<BTreeMap<String, usize>> {
    let start = |day: Date| -> Result<i64> {
        let zoned = day.to_zoned(TimeZone::UTC);
        Ok(zoned
            .map_err(|error| Error::invalid("from", error.to_string()))?
            .timestamp()
            .as_second())
    };
    let after = until
        .checked_add(1.day())
        .map_err(|_| Error::invalid("until", "is too far away"))?;
    let times: Vec<i64> = sqlx::query_scalar(
        "SELECT created_at FROM subscribers WHERE (?1 IS NULL OR list_id = ?1) AND created_at >= ?2 AND created_at < ?3",
    )
    .bind(list)
    .bind(start(from)?)
    .bind(start(after)?)
    .fetch_all(db)
    .await?;
    let mut days = BTreeMap::new();
    for at in times {
        let day = time(at)?.to_zoned(TimeZone::UTC).date();
        *days.entry(day.to_string()).or_insert(0) += 1;
    }
    Ok(days)
}

fn percent(deliveries: &BTreeMap<String, i64>) -> Option<f64> {
    let of = |state: &str| deliveries.get(state).copied().unwrap_or(0);
    let (delivered, failed) = (of("delivered"), of("failed"));
    let all = delivered + failed;
    if all == 0 {
        return None;
    }
    let share = delivered as f64 / all as f64;
    Some((share * 1000.0).round() / 10.0)
}

/// `GET /admin/statistics`
pub(crate) async fn overview(
    State(app): State<App>,
    _: Editor,
    Query(wanted): Query<Wanted>,
) -> Result<Body<Overview>> {
    let today = Timestamp::to_zoned(app.now(), TimeZone::UTC).date();
    let (from, until) = wanted.period(today)?;
    let mut db = app.store.connection().await?;
    let list = match &wanted.list {
        Some(slug) => Some(lists::by_slug(&mut db, slug).await?.id),
        None => None,
    };
    let subscribers = counts!(
        db,
        list,
        "SELECT state, count(*) FROM subscribers WHERE ?1 IS NULL OR list_id = ?1 GROUP BY state"
    );
    let campaigns = counts!(
        db,
        list,
        "SELECT state, count(*) FROM campaigns WHERE ?1 IS NULL OR list_id = ?1 GROUP BY state"
    );
    let deliveries = counts!(
        db,
        list,
        "SELECT d.state, count(*) FROM deliveries d JOIN campaigns c ON c.id = d.campaign_id
         WHERE ?1 IS NULL OR c.list_id = ?1 GROUP BY d.state"
    );
    let addresses: Vec<String> = sqlx::query_scalar(
        "SELECT email FROM subscribers WHERE state = 'confirmed' AND (?1 IS NULL OR list_id = ?1)",
    )
    .bind(list)
    .fetch_all(&mut *db)
    .await?;
    Ok(Body(Overview {
        from,
        until,
        delivered_percent: percent(&deliveries),
        per_day: per_day(&mut db, list, (from, until)).await?,
        domains: domains(&addresses, 5),
        subscribers,
        campaigns,
        deliveries,
    }))
}
