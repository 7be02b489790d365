//! Database seeding: rows that candidates insert, and distances of SQL statements to returning
//! rows.
//!
//! [`LiveDatabase`] is used while candidates run: it resets the database, inserts the rows of a
//! candidate ([`SeededRows`]), and computes for each statement of the service how far the rows are
//! from matching it ([`ObservedQuery`]). [`RowSeeder`] is used while candidates are made: it knows
//! the statements of each candidate that returned no rows, and builds rows for them. See
//! `docs/design/database.md`.

mod database;
mod observed;
mod producers;
mod rules;
mod score;
mod seeder;
mod snapshot;
mod substitution;
#[cfg(test)]
mod tests;

use isobath_rows::set::Inserted;
use isobath_sql::Value;
use serde_json::{Number, Value as Json};

pub use database::{DatabaseReport, LiveDatabase, SeedingCost};
pub use observed::{ObservedQuery, StatementReport, Statements, UnsupportedStatement};
pub(crate) use producers::with_row_producers;
pub use rules::{CoverageRule, RuleDistance, RuleReport};
pub use score::StatementTarget;
pub use seeder::RowSeeder;

/// Configuration of database seeding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedingConfig {
    /// Candidates insert rows.
    pub rows: bool,
    /// SQL distances guide the search.
    pub distance: bool,
    /// The coverage rules of statements are targets of the search.
    pub rules: bool,
}

impl Default for SeedingConfig {
    fn default() -> Self {
        Self {
            rows: true,
            distance: true,
            rules: false,
        }
    }
}

/// The inserted rows of a candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeededRows {
    /// The rows as they are stored, by id.
    pub rows: Inserted,
    /// Why a row, and those after it, were left out.
    pub refused: Option<String>,
}

/// How references to a cell of a row begin; the number of the column follows.
const ROW: &str = "row/";

/// The place of a column of a row, for a reference to it.
#[must_use]
pub fn place(column: usize) -> String {
    format!("{ROW}{column}")
}

/// The column that a place names, if it is one of a row.
#[must_use]
pub fn column(place: &str) -> Option<usize> {
    place.strip_prefix(ROW)?.parse().ok()
}

impl SeededRows {
    /// What a reference to a row names.
    #[must_use]
    pub fn value(&self, row: u32, place: &str) -> Option<Json> {
        let value = self.rows.get(&row)?.get(column(place)?)?.as_ref()?;
        json(value)
    }
}

/// A value as an input would have it; `None` for NULL and for what no input can say.
#[must_use]
pub fn json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Null | Value::Bytes(_) | Value::Interval(_) => return None,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(number) => match i64::try_from(*number) {
            Ok(number) => Json::from(number),
            Err(_) => Json::from(u64::try_from(*number).ok()?),
        },
        Value::Float(number) => Json::Number(Number::from_f64(*number)?),
        Value::Decimal(_) => {
            let text = value.to_string();
            match text.parse::<i64>() {
                Ok(whole) => Json::from(whole),
                Err(_) => Json::Number(Number::from_f64(text.parse().ok()?)?),
            }
        }
        Value::Json(text) => serde_json::from_str(text).ok()?,
        Value::DateTime(at) => Json::String(format!("{}T{}", at.date(), at.time())),
        Value::Text(_) | Value::Date(_) | Value::Time(_) | Value::Instant(_) | Value::Uuid(_) => {
            Json::String(value.to_string())
        }
    })
}
