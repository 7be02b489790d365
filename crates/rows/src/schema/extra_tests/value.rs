//! Extra tests for type limits, DEFAULTs and generated columns.

use isobath_sql::dialect::StoreError;
use isobath_sql::eval;
use isobath_sql::memory::ViolationKind;
use isobath_sql::row::Statement;
use isobath_sql::schema::Filled;
use isobath_sql::{Cell, DataType, Row, Value};
use rust_decimal::Decimal;

use super::seeded_table::SeededTable;
use crate::schema::case::TestCase;

/// Longest text that is written out in a test.
const LONGEST: u32 = 300;

/// A value at or past a limit of a type, and how a sentence calls it.
struct LimitValue {
    value: Value,
    description: String,
}

/// For each column: the greatest value that fits, one past it, and one of another kind.
pub(super) fn types(seeded: &SeededTable<'_>) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (at, column) in seeded.definition.columns.iter().enumerate() {
        if column.filled != Filled::No {
            continue;
        }
        let refused = |value: &Value| {
            let stored = seeded.dialect.store_in(value, seeded.definition, at);
            matches!(stored, Err(error) if !matches!(error, StoreError::Unknown(_)))
        };
        let (fits, past) = limits(&column.data_type);
        let name = &column.name;
        if let Some(LimitValue { value, description }) = past
            && refused(&value)
        {
            cases.extend(refusal(
                seeded,
                at,
                value,
                format!("{description} in {name}"),
            ));
            // Without an enforced limit the greatest value shows nothing.
            cases.extend(fits.and_then(|LimitValue { value, description }| {
                let name = format!("{} accepts {description} in {name}", seeded.name());
                seeded.accepted(name, &seeded.parents, insert(seeded, at, value), &[])
            }));
        }
        if let Some(LimitValue { value, description }) = wrong_type_value(&column.data_type)
            && refused(&value)
        {
            cases.extend(refusal(
                seeded,
                at,
                value,
                format!("{description} in {name}"),
            ));
        }
    }
    cases
}

/// For each column with a DEFAULT: leaving it out stores the default.
pub(super) fn defaults(seeded: &SeededTable<'_>) -> Vec<TestCase> {
    let columns = seeded.definition.columns.iter().enumerate();
    columns
        .filter(|(_, column)| column.filled == Filled::No)
        .filter_map(|(at, column)| {
            let default = column.default.as_ref()?;
            // A sequence continues where others left it, so its next number is not known.
            if eval::is_next_number(default) {
                return None;
            }
            let name = format!("{} fills {} with its default", seeded.name(), column.name);
            let statement = with_cell(seeded, at, Cell::Default);
            seeded.accepted(
                name,
                &seeded.parents,
                statement,
                &[(seeded.table, vec![at])],
            )
        })
        .collect()
}

/// For each column that only the database fills: it does, and refuses a value.
pub(super) fn generated(seeded: &SeededTable<'_>) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (at, column) in seeded.definition.columns.iter().enumerate() {
        let name = seeded.name();
        if let Filled::Generated(_) = &column.filled {
            let description = format!("{name} computes {}", column.name);
            let statement = Statement::Insert(seeded.row.clone());
            cases.extend(seeded.accepted(
                description,
                &seeded.parents,
                statement,
                &[(seeded.table, vec![at])],
            ));
        }
        if matches!(column.filled, Filled::Generated(_) | Filled::CounterAlways) {
            let description = format!("{name} rejects a value for {}", column.name);
            let value = Cell::Value(Value::Int(1));
            let statement = with_cell(seeded, at, value);
            cases.extend(
                seeded.rejected(description, &seeded.parents, statement, |violation| {
                    matches!(violation.kind, ViolationKind::GivenGenerated { .. })
                }),
            );
        }
    }
    cases
}

fn refusal(
    seeded: &SeededTable<'_>,
    at: usize,
    value: Value,
    description: String,
) -> Option<TestCase> {
    let name = format!("{} rejects {description}", seeded.name());
    let statement = insert(seeded, at, value);
    seeded.rejected(
        name,
        &seeded.parents,
        statement,
        |violation| matches!(violation.kind, ViolationKind::Type { column, .. } if column == at),
    )
}

fn insert(seeded: &SeededTable<'_>, at: usize, value: Value) -> Statement {
    with_cell(seeded, at, Cell::Value(value))
}

fn with_cell(seeded: &SeededTable<'_>, at: usize, cell: Cell) -> Statement {
    let mut row: Row = seeded.row.clone();
    row.cells[at] = cell;
    Statement::Insert(row)
}

/// The greatest value of a type and one past it, where the type has a limit that fits into a test.
fn limits(data_type: &DataType) -> (Option<LimitValue>, Option<LimitValue>) {
    let edge = |value, description: String| Some(LimitValue { value, description });
    if let Some(range) = data_type.integer_range() {
        let greatest = *range.end();
        return (
            edge(Value::Int(greatest), greatest.to_string()),
            edge(Value::Int(greatest + 1), (greatest + 1).to_string()),
        );
    }
    match data_type {
        DataType::Decimal {
            precision: Some(precision),
            scale,
        } => {
            let scale = scale.unwrap_or(0);
            let digits = precision.saturating_sub(scale);
            if *precision > 18 || scale > *precision {
                return (None, None);
            }
            let past = Decimal::from(10i64.pow(digits));
            let greatest = Decimal::new(10i64.pow(*precision) - 1, scale);
            (
                edge(Value::Decimal(greatest), greatest.to_string()),
                edge(Value::Decimal(past), past.to_string()),
            )
        }
        data_type => match data_type.max_chars() {
            Some(most @ 1..LONGEST) => {
                let text = |length: u32| Value::Text("x".repeat(length as usize));
                (
                    edge(text(most), format!("{most} characters")),
                    edge(text(most + 1), format!("{} characters", most + 1)),
                )
            }
            _ => (None, None),
        },
    }
}

/// A text that is no value of the type.
fn wrong_type_value(data_type: &DataType) -> Option<LimitValue> {
    let text = match data_type {
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } => {
            "not a number"
        }
        DataType::Boolean => "not a boolean",
        DataType::Date => "not a date",
        DataType::Time { .. } => "not a time",
        DataType::Timestamp { .. } => "not a timestamp",
        DataType::Uuid => "not a uuid",
        DataType::Json { .. } => "{not json",
        DataType::Enum { .. } => "no such label",
        _ => return None,
    };
    Some(LimitValue {
        value: Value::text(text),
        description: format!("'{text}'"),
    })
}
