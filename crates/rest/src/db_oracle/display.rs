//! Renders rows and row changes as text.

use isobath_emit::http::is_secret_value;
use isobath_exec::test_database::RowChange;
use isobath_sql::{Schema, Value};
use serde_json::Value as Json;

use crate::redact::MASK;

/// The longest a value is shown.
const LONGEST: usize = 60;

/// A row change in one line.
pub(super) fn change(schema: &Schema, change: &RowChange) -> String {
    let Some(table) = schema.tables.get(change.table) else {
        return String::new();
    };
    let name = |column: usize| {
        table
            .columns
            .get(column)
            .map_or("?", |column| column.name.as_str())
    };
    let whole = |row: &[Value]| {
        let cells = row.iter().enumerate();
        let cells: Vec<String> = cells
            .map(|(column, cell)| format!("{} = {}", name(column), value(name(column), cell)))
            .collect();
        cells.join(", ")
    };
    match (&change.before, &change.after) {
        (None, Some(row)) => format!("{}: new row ({})", table.name, whole(row)),
        (Some(row), None) => format!("{}: deleted row ({})", table.name, whole(row)),
        (Some(before), Some(after)) => {
            let changed: Vec<String> = change
                .columns()
                .into_iter()
                .filter_map(|column| {
                    Some(format!(
                        "{} {} became {}",
                        name(column),
                        value(name(column), before.get(column)?),
                        value(name(column), after.get(column)?)
                    ))
                })
                .collect();
            format!(
                "{}: row {} changed ({})",
                table.name,
                key(schema, change.table, before),
                changed.join(", ")
            )
        }
        (None, None) => String::new(),
    }
}

/// What tells a row from others, in words.
pub(super) fn key(schema: &Schema, table: usize, row: &[Value]) -> String {
    let Some(table) = schema.tables.get(table) else {
        return String::new();
    };
    let columns: Vec<usize> = match table.primary_key() {
        Some(key) => key.to_vec(),
        None => (0..table.columns.len()).collect(),
    };
    let parts: Vec<String> = columns
        .into_iter()
        .filter_map(|column| {
            let name = &table.columns.get(column)?.name;
            Some(format!("{name} = {}", value(name, row.get(column)?)))
        })
        .collect();
    parts.join(", ")
}

fn value(column: &str, value: &Value) -> String {
    let text = match value {
        Value::Text(text) if is_secret_value(column, text) => MASK.to_owned(),
        Value::Text(text) => format!("'{text}'"),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// Whether a cell holds what was sent; `None` where that cannot be told.
///
/// Spaces around and the case of letters do not count: services may tidy what they are sent.
pub(super) fn holds(cell: &Value, sent: &Json) -> Option<bool> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match (cell, sent) {
        (Value::Null, Json::Null) => Some(true),
        (Value::Null, Json::String(text)) if text.is_empty() => None,
        (Value::Text(text), Json::Null) if text.is_empty() => None,
        (Value::Null, Json::Array(_) | Json::Object(_)) => None,
        (_, Json::Array(_) | Json::Object(_)) => None,
        (Value::Null, _) | (_, Json::Null) => Some(false),
        (Value::Bool(truth), Json::Bool(sent)) => Some(truth == sent),
        (Value::Int(number), Json::Bool(sent)) => Some(*number == i128::from(*sent)),
        (Value::Int(_) | Value::Decimal(_) | Value::Float(_), Json::Number(sent)) => {
            let (held, sent) = (number(&cell.to_string())?, sent.as_f64()?);
            Some((held - sent).abs() <= 1e-9 * held.abs().max(1.0))
        }
        (Value::Text(text), Json::String(sent)) => {
            Some(text.trim().to_lowercase() == sent.trim().to_lowercase())
        }
        (Value::Text(text), Json::Number(sent)) => (*text == sent.to_string()).then_some(true),
        (_, Json::String(sent)) => (cell.to_string() == *sent).then_some(true),
        _ => None,
    }
}

/// Whether a text, such as a part of a path, names a value.
pub(super) fn names(text: &str, cell: &Value) -> bool {
    !cell.is_null() && cell.to_string() == text
}
