//! Assertions about the database rows that a test leaves.
//!
//! Only values that are the same in every run: no generated keys, no timestamps.

use isobath_emit::http::{ExpectedRow, Text};
use isobath_exec::test_database::Tables;
use isobath_rows::set::NewCell;
use isobath_sql::Value;
use isobath_sql::render::{identifier, literal, table_name};
use isobath_sql::schema::Filled;

use super::TestBuilder;
use super::rows::{SuiteDatabaseContext, seeded};
use crate::exchange::Exchange;
use crate::job::Test;
use crate::seeding;

/// Maximum number of row checks per test.
const MAX_ROW_CHECKS: usize = 8;

/// A row with its table.
type TableRow = (usize, Vec<Value>);

/// The rows that the calls of a test left, and those that they took.
#[derive(Debug, Default)]
struct NetEffect {
    left: Vec<TableRow>,
    taken: Vec<TableRow>,
}

impl NetEffect {
    /// What calls did in all; `None` where that is not known.
    fn of(exchanges: &[Exchange]) -> Option<Self> {
        let mut net = Self::default();
        for exchange in exchanges.iter().filter(|one| one.operation.is_some()) {
            let effect = exchange.trace.effect.as_ref().filter(|it| it.is_complete)?;
            for change in &effect.changes {
                if let Some(before) = &change.before {
                    let is_it = |row: &TableRow| row.0 == change.table && row.1 == *before;
                    match net.left.iter().position(is_it) {
                        Some(at) => {
                            net.left.remove(at);
                        }
                        None if change.after.is_none() => {
                            net.taken.push((change.table, before.clone()));
                        }
                        None => {}
                    }
                }
                if let Some(after) = &change.after {
                    net.left.push((change.table, after.clone()));
                }
            }
        }
        Some(net)
    }
}

/// Bookkeeping tables, written by reads and rejected calls: logs, counters, sessions.
pub(super) fn bookkeeping(tests: &[Test]) -> Tables {
    let exchanges = tests
        .iter()
        .flat_map(|test| test.exchanges.iter().chain(&test.again));
    let careless = exchanges.filter(|exchange| {
        let method = exchange.request.method.as_str();
        !exchange.succeeded() || matches!(method, "GET" | "HEAD" | "OPTIONS")
    });
    careless
        .filter_map(|exchange| exchange.trace.effect.as_ref())
        .flat_map(|effect| effect.changes.iter().map(|change| change.table))
        .collect()
}

impl TestBuilder<'_> {
    /// What must be in the database after the calls, and what must not. Nothing of tests that show faults, for what these leave
    /// may be wrong.
    pub(super) fn state(&self) -> Vec<ExpectedRow> {
        let Some(database) = self.database else {
            return Vec::new();
        };
        if !self.test.faults.is_empty() {
            return Vec::new();
        }
        let (Some(net), Some(again)) = (
            NetEffect::of(&self.test.exchanges),
            NetEffect::of(&self.test.again),
        ) else {
            return Vec::new();
        };
        let mut asked: Vec<ExpectedRow> = Vec::new();
        for (is_there, rows, twins) in [
            (true, &net.left, &again.left),
            (false, &net.taken, &again.taken),
        ] {
            if rows.len() != twins.len() {
                continue;
            }
            for (row, twin) in rows.iter().zip(twins) {
                if row.0 != twin.0 || database.bookkeeping.contains(&row.0) {
                    continue;
                }
                let cells = self.stable(database, row, &twin.1);
                // Others may look like a row that is gone, unless it is told by its key.
                let table = database.schema.table(row.0);
                let is_told = is_there || {
                    let key = table.primary_key().unwrap_or_default();
                    !key.is_empty() && key.iter().all(|at| cells.iter().any(|(of, _)| of == at))
                };
                if cells.is_empty() || !is_told {
                    continue;
                }
                let name = |at: usize| identifier(&table.column(at).name, database.dialect);
                let state = ExpectedRow {
                    table: table_name(table, database.dialect),
                    cells: cells
                        .into_iter()
                        .map(|(at, text)| (name(at), text))
                        .collect(),
                    exists: is_there,
                };
                if asked.len() < MAX_ROW_CHECKS && !asked.contains(&state) {
                    asked.push(state);
                }
            }
        }
        asked
    }

    /// The cells of a row that will be the same again.
    fn stable(
        &self,
        database: &SuiteDatabaseContext,
        row: &TableRow,
        twin: &[Value],
    ) -> Vec<(usize, Text)> {
        let (table, values) = row;
        let columns = values.iter().zip(twin).enumerate();
        columns
            .filter_map(|(column, (value, again))| {
                // A key may differ and still be known by the row that it is of.
                if let Some((parent, of)) = database.given_out(*table, column) {
                    return Some((column, self.key(database, parent, of, value, again)?));
                }
                (value == again && is_lasting(value)).then(|| {
                    let text = literal(value, database.dialect);
                    (column, Text::from(text))
                })
            })
            .collect()
    }

    /// How a test refers to a generated key: of a row it inserted, or of an existing row.
    fn key(
        &self,
        database: &SuiteDatabaseContext,
        table: usize,
        column: usize,
        value: &Value,
        again: &Value,
    ) -> Option<Text> {
        if value.is_null() || again.is_null() {
            let is_null = value.is_null() && again.is_null();
            return is_null.then(|| Text::from(literal(value, database.dialect)));
        }
        let same = || (value == again).then(|| Text::from(literal(value, database.dialect)));
        let brought = seeded(&self.test.exchanges);
        let again_brought = seeded(&self.test.again);
        for row in self
            .test
            .candidate
            .rows
            .iter()
            .filter(|row| row.table == table)
        {
            let stored = |of: Option<&seeding::SeededRows>| -> Option<Value> {
                of?.rows.get(&row.id)?.get(column)?.clone()
            };
            if stored(brought).as_ref() != Some(value)
                || stored(again_brought).as_ref() != Some(again)
            {
                continue;
            }
            let variable = self.variables.get(&(row.id, seeding::place(column)));
            return match (variable, row.cells.get(column)) {
                (Some(variable), _) => Some(Text::captured(variable.clone())),
                (None, Some(NewCell::Value(_))) => same(),
                (None, _) => None,
            };
        }
        let first = database.baseline.get(table)?;
        let mut first = first.rows.iter().filter_map(|row| row.get(column));
        first.any(|known| known == value).then(same)?
    }
}

impl SuiteDatabaseContext {
    /// Whose number a column holds that the database gives out: its own, or that of the row it refers to.
    fn given_out(&self, table: usize, column: usize) -> Option<(usize, usize)> {
        let (mut table, mut column) = (table, column);
        // A key that is a foreign key leads on; a circle has no first.
        for _ in 0..self.schema.tables.len() {
            let of = self.schema.table(table);
            let definition = of.columns.get(column)?;
            let counts = definition
                .default
                .as_ref()
                .is_some_and(isobath_sql::eval::is_next_number);
            if counts || matches!(definition.filled, Filled::Counter | Filled::CounterAlways) {
                return Some((table, column));
            }
            let mut keys = of.foreign_keys();
            (table, column) = keys.find_map(|key| {
                let at = key.columns.iter().position(|other| *other == column)?;
                Some((key.parent, *key.parent_columns.get(at)?))
            })?;
        }
        None
    }
}

/// Whether a value is stable: no timestamp, and no type that SQL compares inexactly.
fn is_lasting(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Decimal(_) => true,
        // Seconds and milliseconds since 1970, from 2017 to 2096.
        Value::Int(number) => {
            !(1_500_000_000..4_000_000_000).contains(number)
                && !(1_500_000_000_000..4_000_000_000_000).contains(number)
        }
        Value::Text(text) => {
            let day = text.get(..10).unwrap_or_default();
            day.parse::<jiff::civil::Date>().is_err()
                && !(text.contains(':') && text.parse::<jiff::civil::Time>().is_ok())
                && text.chars().count() <= LONGEST
        }
        Value::Float(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::Instant(_)
        | Value::Interval(_)
        | Value::Uuid(_)
        | Value::Json(_)
        | Value::Bytes(_) => false,
    }
}

/// Longer texts tell readers nothing.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_do_not_last() {
        for text in [
            "2026-01-01",
            "2026-01-01 10:00:00",
            "2026-01-01T10:00:00Z",
            "10:00:00",
        ] {
            assert!(!is_lasting(&Value::text(text)), "{text}");
        }
        for number in [1_763_300_000, 1_763_300_000_123] {
            assert!(!is_lasting(&Value::from(number)), "{number}");
        }
        for value in [
            Value::text("open"),
            Value::from(42),
            Value::Null,
            Value::text("2026"),
        ] {
            assert!(is_lasting(&value), "{value:?}");
        }
    }
}
