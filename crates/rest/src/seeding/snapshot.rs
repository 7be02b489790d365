//! SQL statements that restore the database snapshot, for suites.

use isobath_exec::test_database::{Tables, with_referring_tables};
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
        let baseline = self.state.initial_image();
        let rows = |table: usize| {
            let content = baseline.get(table)?;
            let is_small = content.is_complete && content.rows.len() <= MAX_SNAPSHOT_ROWS;
            is_small.then_some(content.rows.as_slice())
        };
        let switch = self.state.foreign_key_switch();
        statements(self.schema(), self.state.dialect(), tables, &rows, switch)
    }
}

/// Statements that restore tables and all that refer to them, as far as their rows are known.
fn statements<'a>(
    schema: &Schema,
    dialect: DialectName,
    tables: &Tables,
    rows: &dyn Fn(usize) -> Option<&'a [Vec<Value>]>,
    switch: Option<[&str; 2]>,
) -> Vec<String> {
    let tables = with_referring_tables(schema, tables.clone(), |table| rows(table).is_some());
    let order: Vec<(usize, &[Vec<Value>])> = table_order(schema)
        .into_iter()
        .filter(|table| tables.contains(table))
        .filter_map(|table| Some((table, rows(table)?)))
        .collect();
    if order.is_empty() {
        return Vec::new();
    }
    let [off, on] = switch.map_or([None, None], |switch| {
        switch.map(|sql| Some(sql.to_owned()))
    });
    let deletes = order.iter().rev().map(|(table, _)| {
        let name = table_name(schema.table(*table), dialect);
        format!("DELETE FROM {name}")
    });
    let inserts = order.iter().flat_map(|(table, rows)| {
        let inserts = rows.iter();
        let inserts = inserts.map(|row| insert_again(schema, *table, row, dialect));
        inserts.chain(restart_counter(schema, *table, rows, dialect))
    });
    off.into_iter()
        .chain(deletes)
        .chain(inserts)
        .chain(on)
        .collect()
}

/// The INSERT that puts a row back as it was.
fn insert_again(schema: &Schema, table: usize, row: &[Value], dialect: DialectName) -> String {
    let columns = &schema.table(table).columns;
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

/// The statement that lets a table continue counting after its rows.
fn restart_counter(
    schema: &Schema,
    table: usize,
    rows: &[Vec<Value>],
    dialect: DialectName,
) -> Option<String> {
    let of = schema.table(table);
    let column = of.columns.iter().position(|column| {
        matches!(column.filled, Filled::Counter | Filled::CounterAlways)
            || column
                .default
                .as_ref()
                .is_some_and(isobath_sql::eval::is_next_number)
    })?;
    let greatest = rows.iter().filter_map(|row| match row.get(column) {
        Some(Value::Int(number)) => Some(*number),
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
            identifier(&of.column(column).name, dialect),
            greatest + 1
        ),
        DialectName::Postgres => format!(
            "SELECT setval(pg_get_serial_sequence({}, {}), {}, {})",
            literal(&Value::text(name), dialect),
            literal(&Value::text(of.column(column).name.as_str()), dialect),
            greatest.max(1),
            greatest > 0
        ),
        DialectName::MySql => format!(
            "ALTER TABLE {name} AUTO_INCREMENT = {} /* {} */",
            greatest + 1,
            identifier(&of.column(column).name, dialect)
        ),
    })
}

#[cfg(test)]
mod tests {
    use isobath_sql::ddl::{Source, load};

    use super::*;

    #[test]
    fn tables_that_refer_to_a_restored_one_are_restored_with_it() {
        let ddl = "CREATE TABLE TEAM (ID INTEGER PRIMARY KEY);
            CREATE TABLE PLAYER (ID INTEGER PRIMARY KEY, TEAM_ID INTEGER REFERENCES TEAM (ID), CAPTAIN_ID INTEGER REFERENCES PLAYER (ID));
            CREATE TABLE STADIUM (ID INTEGER PRIMARY KEY);";
        let source = Source {
            name: "schema.sql".to_owned(),
            text: ddl.to_owned(),
        };
        let schema = load("schema", &[source], Some(DialectName::Ansi)).schema;
        let one = [vec![Value::from(1)]];
        let two = [vec![Value::from(1), Value::from(1), Value::Null]];
        let rows = |table: usize| Some(if table == 1 { &two[..] } else { &one[..] });
        let switch = Some(["OFF", "ON"]);
        let written = Tables::from([0]);
        let restored = statements(&schema, DialectName::Ansi, &written, &rows, switch);
        assert_eq!(
            restored,
            [
                "OFF",
                "DELETE FROM PLAYER",
                "DELETE FROM TEAM",
                r#"INSERT INTO TEAM ("ID") VALUES (1)"#,
                r#"INSERT INTO PLAYER ("ID", TEAM_ID, CAPTAIN_ID) VALUES (1, 1, NULL)"#,
                "ON",
            ]
        );
        // A table whose rows are not known stays as it is.
        let unknown = |table: usize| (table != 1).then_some(&one[..]);
        let restored = statements(&schema, DialectName::Ansi, &written, &unknown, None);
        assert_eq!(
            restored,
            ["DELETE FROM TEAM", r#"INSERT INTO TEAM ("ID") VALUES (1)"#]
        );
    }
}
