//! Types with their limits, DEFAULTs and generated columns.

use isobath_sql::dialect::StoreError;
use isobath_sql::eval;
use isobath_sql::memory::ViolationKind;
use isobath_sql::row::Statement;
use isobath_sql::schema::Filled;
use isobath_sql::{Cell, DataType, Row, Value};
use rust_decimal::Decimal;

use super::stage::Stage;
use crate::schema::case::TestCase;

/// Longest text that is written out in a test.
const LONGEST: u32 = 300;

/// A value at or past a limit of a type, and how a sentence calls it.
struct Edge {
    value: Value,
    says: String,
}

/// For each column: the greatest value that fits, one past it, and one of another kind.
pub(super) fn types(stage: &Stage<'_>) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (at, column) in stage.definition.columns.iter().enumerate() {
        if column.filled != Filled::No {
            continue;
        }
        let refused = |value: &Value| {
            let stored = stage.dialect.store_in(value, stage.definition, at);
            matches!(stored, Err(error) if !matches!(error, StoreError::Unknown(_)))
        };
        let (fits, past) = limits(&column.data_type);
        let name = &column.name;
        if let Some(Edge { value, says }) = past
            && refused(&value)
        {
            cases.extend(refusal(stage, at, value, format!("{says} in {name}")));
            // Without an enforced limit the greatest value shows nothing.
            cases.extend(fits.and_then(|Edge { value, says }| {
                let name = format!("{} accepts {says} in {name}", stage.name());
                stage.accepted(name, &stage.parents, insert(stage, at, value), &[])
            }));
        }
        if let Some(Edge { value, says }) = stranger(&column.data_type)
            && refused(&value)
        {
            cases.extend(refusal(stage, at, value, format!("{says} in {name}")));
        }
    }
    cases
}

/// For each column with a DEFAULT: leaving it out stores the default.
pub(super) fn defaults(stage: &Stage<'_>) -> Vec<TestCase> {
    let columns = stage.definition.columns.iter().enumerate();
    columns
        .filter(|(_, column)| column.filled == Filled::No)
        .filter_map(|(at, column)| {
            let default = column.default.as_ref()?;
            // A sequence goes on where others left it, so its next number is not known.
            if eval::is_next_number(default) {
                return None;
            }
            let name = format!("{} fills {} with its default", stage.name(), column.name);
            let act = with_cell(stage, at, Cell::Default);
            stage.accepted(name, &stage.parents, act, &[(stage.table, vec![at])])
        })
        .collect()
}

/// For each column that only the database fills: it does, and refuses a value.
pub(super) fn generated(stage: &Stage<'_>) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (at, column) in stage.definition.columns.iter().enumerate() {
        let name = stage.name();
        if let Filled::Generated(_) = &column.filled {
            let says = format!("{name} computes {}", column.name);
            let act = Statement::Insert(stage.row.clone());
            cases.extend(stage.accepted(says, &stage.parents, act, &[(stage.table, vec![at])]));
        }
        if matches!(column.filled, Filled::Generated(_) | Filled::CounterAlways) {
            let says = format!("{name} rejects a value for {}", column.name);
            let value = Cell::Value(Value::Int(1));
            let act = with_cell(stage, at, value);
            cases.extend(stage.rejected(says, &stage.parents, act, |violation| {
                matches!(violation.kind, ViolationKind::GivenGenerated { .. })
            }));
        }
    }
    cases
}

fn refusal(stage: &Stage<'_>, at: usize, value: Value, says: String) -> Option<TestCase> {
    let name = format!("{} rejects {says}", stage.name());
    let act = insert(stage, at, value);
    stage.rejected(
        name,
        &stage.parents,
        act,
        |violation| matches!(violation.kind, ViolationKind::Type { column, .. } if column == at),
    )
}

fn insert(stage: &Stage<'_>, at: usize, value: Value) -> Statement {
    with_cell(stage, at, Cell::Value(value))
}

fn with_cell(stage: &Stage<'_>, at: usize, cell: Cell) -> Statement {
    let mut row: Row = stage.row.clone();
    row.cells[at] = cell;
    Statement::Insert(row)
}

/// The greatest value of a type and one past it, where the type has a limit that fits into a test.
fn limits(data_type: &DataType) -> (Option<Edge>, Option<Edge>) {
    let edge = |value, says: String| Some(Edge { value, says });
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
fn stranger(data_type: &DataType) -> Option<Edge> {
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
    Some(Edge {
        value: Value::text(text),
        says: format!("'{text}'"),
    })
}
