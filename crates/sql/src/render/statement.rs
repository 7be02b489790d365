//! INSERT, UPDATE and DELETE.

use super::ident::{identifier, table_name};
use super::literal::literal;
use crate::dialect::DialectName;
use crate::row::{Cell, Row, Statement};
use crate::schema::{Schema, Table};
use crate::value::Value;

/// A statement of a test as SQL; more than one text where rows go in together.
///
/// Rows that refer to each other in a circle are one statement in PostgreSQL
/// (foreign keys are checked at its end) and a transaction with deferred keys in
/// SQLite. MySQL checks every row at once, so there the checks are off
/// meanwhile, which also means that they do not happen.
pub fn statement(schema: &Schema, statement: &Statement, dialect: DialectName) -> Vec<String> {
    match statement {
        Statement::Insert(row) => vec![insert(schema, row, dialect)],
        Statement::InsertTogether(rows) => together(schema, rows, dialect),
        Statement::Update { table, set, only } => {
            let Some(of) = schema.tables.get(*table) else {
                return Vec::new();
            };
            let set: Vec<String> = set
                .iter()
                .map(|(column, cell)| {
                    let value = match cell {
                        Cell::Value(value) => literal(value, dialect),
                        Cell::Default => default_of(of, *column, dialect),
                    };
                    format!("{} = {value}", column_name(of, *column, dialect))
                })
                .collect();
            vec![format!(
                "UPDATE {} SET {}{}",
                table_name(of, dialect),
                set.join(", "),
                filter(of, only, dialect)
            )]
        }
        Statement::Delete { table, only } => {
            let Some(of) = schema.tables.get(*table) else {
                return Vec::new();
            };
            vec![format!(
                "DELETE FROM {}{}",
                table_name(of, dialect),
                filter(of, only, dialect)
            )]
        }
    }
}

/// The INSERT of a row; columns left to their default are left out.
pub fn insert(schema: &Schema, row: &Row, dialect: DialectName) -> String {
    let Some(table) = schema.tables.get(row.table) else {
        return String::new();
    };
    let name = table_name(table, dialect);
    let mut columns = Vec::new();
    let mut values = Vec::new();
    for (index, cell) in row.cells.iter().enumerate() {
        if let Cell::Value(value) = cell {
            columns.push(column_name(table, index, dialect));
            values.push(literal(value, dialect));
        }
    }
    if columns.is_empty() {
        return match dialect {
            DialectName::MySql => format!("INSERT INTO {name} () VALUES ()"),
            DialectName::Ansi | DialectName::Postgres | DialectName::Sqlite => {
                format!("INSERT INTO {name} DEFAULT VALUES")
            }
        };
    }
    format!(
        "INSERT INTO {name} ({}) VALUES ({})",
        columns.join(", "),
        values.join(", ")
    )
}

fn together(schema: &Schema, rows: &[Row], dialect: DialectName) -> Vec<String> {
    let inserts = rows.iter().map(|row| insert(schema, row, dialect));
    match dialect {
        DialectName::Postgres => {
            let mut inserts: Vec<String> = inserts.collect();
            let Some(last) = inserts.pop() else {
                return Vec::new();
            };
            if inserts.is_empty() {
                return vec![last];
            }
            let earlier: Vec<String> = inserts
                .iter()
                .enumerate()
                .map(|(index, insert)| format!("row_{} AS ({insert})", index + 1))
                .collect();
            vec![format!("WITH {} {last}", earlier.join(", "))]
        }
        DialectName::Sqlite => ["BEGIN", "PRAGMA defer_foreign_keys = ON"]
            .map(str::to_owned)
            .into_iter()
            .chain(inserts)
            .chain(["COMMIT".to_owned()])
            .collect(),
        DialectName::MySql => ["SET FOREIGN_KEY_CHECKS = 0".to_owned()]
            .into_iter()
            .chain(inserts)
            .chain(["SET FOREIGN_KEY_CHECKS = 1".to_owned()])
            .collect(),
        DialectName::Ansi => ["START TRANSACTION", "SET CONSTRAINTS ALL DEFERRED"]
            .map(str::to_owned)
            .into_iter()
            .chain(inserts)
            .chain(["COMMIT".to_owned()])
            .collect(),
    }
}

/// `SET column = DEFAULT`, which SQLite does not have.
fn default_of(table: &Table, column: usize, dialect: DialectName) -> String {
    if dialect != DialectName::Sqlite {
        return "DEFAULT".to_owned();
    }
    table
        .columns
        .get(column)
        .and_then(|column| column.default.as_ref())
        .map_or_else(
            || "NULL".to_owned(),
            |default| super::expression(default, dialect),
        )
}

fn filter(table: &Table, only: &[(usize, Value)], dialect: DialectName) -> String {
    if only.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = only
        .iter()
        .map(|(column, value)| {
            let name = column_name(table, *column, dialect);
            match value {
                Value::Null => format!("{name} IS NULL"),
                value => format!("{name} = {}", literal(value, dialect)),
            }
        })
        .collect();
    format!(" WHERE {}", parts.join(" AND "))
}

fn column_name(table: &Table, column: usize, dialect: DialectName) -> String {
    table
        .columns
        .get(column)
        .map(|column| identifier(&column.name, dialect))
        .unwrap_or_default()
}
