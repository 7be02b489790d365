//! A small shop, the schema of all tests here.

use crate::schema::{Column, Constraint, ConstraintKind, Filled};
use crate::{DataType, Schema, SourceLocation, Table};

/// Customers, their orders, and what is in these. `!` marks NOT NULL.
pub(super) fn shop() -> Schema {
    let tables = [
        (
            "customers",
            "id int!, name text, country text, age int, vip bool, born date",
        ),
        (
            "orders",
            "id int!, customer_id int, status text!, total decimal!, placed timestamp, note text",
        ),
        (
            "items",
            "order_id int!, product text!, quantity int!, price decimal",
        ),
    ];
    Schema {
        name: "shop".to_owned(),
        tables: tables
            .map(|(name, columns)| table(name, columns).into())
            .to_vec(),
    }
}

fn table(name: &str, columns: &str) -> Table {
    let mut constraints = Vec::new();
    let mut parsed = Vec::new();
    for (index, column) in columns.split(", ").enumerate() {
        let (name, declared) = column.split_once(' ').unwrap_or((column, "text"));
        if declared.ends_with('!') {
            constraints.push(Constraint::unnamed(ConstraintKind::NotNull {
                column: index,
            }));
        }
        let declared = declared.trim_end_matches('!');
        let data_type = match declared {
            "int" => DataType::INT,
            "decimal" => DataType::Decimal {
                precision: Some(10),
                scale: Some(2),
            },
            "bool" => DataType::Boolean,
            "date" => DataType::Date,
            "timestamp" => DataType::Timestamp {
                precision: 0,
                zoned: false,
            },
            _ => DataType::Text,
        };
        parsed.push(Column {
            name: name.to_owned(),
            data_type,
            declared: declared.to_owned(),
            default: None,
            filled: Filled::No,
            collation: None,
        });
    }
    Table {
        name: name.to_owned(),
        namespace: None,
        columns: parsed,
        constraints,
        strict: false,
        without_rowid: false,
        location: SourceLocation::default(),
    }
}
