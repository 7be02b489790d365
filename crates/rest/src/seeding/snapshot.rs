//! SQL statements that restore the database snapshot, for suites.

use isobath_exec::test_database::Tables;
use isobath_sql::render::{identifier, insert, literal, table_name, table_order};
use isobath_sql::schema::Filled;
use isobath_sql::{Cell, DialectName, Row, Schema, Value};

use super::database::LiveDatabase;

/// Rows of one table that a suite carries; larger tables are left as they are.
const MAX_SNAPSHOT_ROWS: usize = 200;

impl LiveDatabase {
    /// Statements that delete all rows of tables, insert the snapshot, and reset sequences.
    ///
    /// A table with more rows than a suite should carry is left as it is.
    #[must_use]
    pub fn snapshot_statements(&self, tables: &Tables) -> Vec<String> {
        let (schema, dialect) = (self.schema(), self.state.dialect());
        let baseline = self.state.initial_image();
        let order: Vec<usize> = table_order(schema)
            .into_iter()
            .filter(|table| tables.contains(table))
            .filter(|table| {
                baseline.get(*table).is_some_and(|content| {
                    content.is_complete && content.rows.len() <= MAX_SNAPSHOT_ROWS
                })
            })
            .collect();
        let mut statements = Vec::new();
        if dialect == DialectName::MySql && !order.is_empty() {
            statements.push("SET FOREIGN_KEY_CHECKS = 0".to_owned());
        }
        for &table in order.iter().rev() {
            let name = table_name(&schema.tables[table], dialect);
            statements.push(format!("DELETE FROM {name}"));
        }
        for &table in &order {
            let rows = baseline.get(table).map_or(&[][..], |content| &content.rows);
            statements.extend(
                rows.iter()
                    .map(|row| insert_again(schema, table, row, dialect)),
            );
            statements.extend(restart_counter(schema, table, rows, dialect));
        }
        if dialect == DialectName::MySql && !order.is_empty() {
            statements.push("SET FOREIGN_KEY_CHECKS = 1".to_owned());
        }
        statements
    }
}

/// The INSERT that puts a row back as it was.
fn insert_again(schema: &Schema, table: usize, row: &[Value], dialect: DialectName) -> String {
    let columns = &schema.tables[table].columns;
    let cells = row
        .iter()
        .zip(columns)
        .map(|(value, column)| match column.filled {
            Filled::Generated(_) => Cell::Default,
            Filled::No | Filled::Counter | Filled::CounterAlways => Cell::Value(value.clone()),
        });
    let row = Row {
        table,
        cells: cells.collect(),
    };
    let statement = insert(schema, &row, dialect);
    let counts_always = columns
        .iter()
        .any(|column| column.filled == Filled::CounterAlways);
    if dialect == DialectName::Postgres && counts_always {
        return statement.replacen(") VALUES (", ") OVERRIDING SYSTEM VALUE VALUES (", 1);
    }
    statement
}

/// The statement that lets a table go on counting after its rows.
fn restart_counter(
    schema: &Schema,
    table: usize,
    rows: &[Vec<Value>],
    dialect: DialectName,
) -> Option<String> {
    let of = &schema.tables[table];
    let column = of.columns.iter().position(|column| {
        matches!(column.filled, Filled::Counter | Filled::CounterAlways)
            || column
                .default
                .as_ref()
                .is_some_and(isobath_sql::eval::is_next_number)
    })?;
    let greatest = rows.iter().filter_map(|row| match row[column] {
        Value::Int(number) => Some(number),
        _ => None,
    });
    let greatest = greatest.max().unwrap_or(0).max(0);
    let name = table_name(of, dialect);
    Some(match dialect {
        DialectName::Sqlite => format!(
            "UPDATE sqlite_sequence SET seq = {greatest} WHERE name = {}",
            literal(&Value::text(of.name.as_str()), dialect)
        ),
        DialectName::Ansi => format!(
            "ALTER TABLE {name} ALTER COLUMN {} RESTART WITH {}",
            identifier(&of.columns[column].name, dialect),
            greatest + 1
        ),
        DialectName::Postgres => format!(
            "SELECT setval(pg_get_serial_sequence({}, {}), {}, {})",
            literal(&Value::text(name), dialect),
            literal(&Value::text(of.columns[column].name.as_str()), dialect),
            greatest.max(1),
            greatest > 0
        ),
        DialectName::MySql => format!(
            "ALTER TABLE {name} AUTO_INCREMENT = {} /* {} */",
            greatest + 1,
            identifier(&of.columns[column].name, dialect)
        ),
    })
}
