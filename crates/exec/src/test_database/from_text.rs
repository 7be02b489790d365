//! Converts text values to the types of their columns.

use isobath_sql::types::DataType;
use isobath_sql::{DialectName, Table, Value};

/// Rows of texts, which is all that a database inside a service tells, as the columns of their table mean them.
pub(super) fn rows(
    mut rows: Vec<Vec<Value>>,
    table: &Table,
    dialect: DialectName,
) -> Vec<Vec<Value>> {
    for row in &mut rows {
        for (cell, column) in row.iter_mut().zip(&table.columns) {
            let from_text = match (&*cell, &column.data_type) {
                (Value::Text(text), DataType::Bytes { .. }) => bytes(text).map(Value::Bytes),
                _ => dialect.dialect().store(cell, column, true).ok(),
            };
            // What is not understood stays the text that it is.
            if let Some(from_text) = from_text {
                *cell = from_text;
            }
        }
    }
    rows
}

/// Bytes that are told in hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let digits = std::str::from_utf8(pair)
                .ok()
                .filter(|pair| pair.len() == 2);
            u8::from_str_radix(digits?, 16).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_what_their_columns_hold() {
        let ddl = "CREATE TABLE t (a BIGINT, b BOOLEAN, c VARCHAR(9), d TIMESTAMP, e VARBINARY(9), f DECIMAL(9,2), g UUID)";
        let source = isobath_sql::ddl::Source {
            name: "t".to_owned(),
            text: ddl.to_owned(),
        };
        let loaded = isobath_sql::ddl::load("t", &[source], Some(DialectName::Ansi));
        let cells = [
            "7",
            "TRUE",
            "7",
            "2020-01-02 03:04:05.5",
            "00ff",
            "1.50",
            "7f1dbaf2-1c77-4a0e-a0ba-2f7f8ab4b3aa",
        ];
        let row = cells.map(|cell| Value::Text(cell.to_owned())).to_vec();
        let from_text = rows(vec![row], &loaded.schema.tables[0], DialectName::Ansi);
        let told: Vec<String> = from_text[0].iter().map(kind).collect();
        assert_eq!(
            told.join(", "),
            "Int 7, Bool true, Text 7, DateTime, Bytes [0, 255], Decimal 1.50, Uuid"
        );
    }

    fn kind(value: &Value) -> String {
        match value {
            Value::Int(number) => format!("Int {number}"),
            Value::Bool(truth) => format!("Bool {truth}"),
            Value::Text(text) => format!("Text {text}"),
            Value::DateTime(_) => "DateTime".to_owned(),
            Value::Bytes(bytes) => format!("Bytes {bytes:?}"),
            Value::Decimal(number) => format!("Decimal {number}"),
            Value::Uuid(_) => "Uuid".to_owned(),
            other => format!("{other:?}"),
        }
    }
}
