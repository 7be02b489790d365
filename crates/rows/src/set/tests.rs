use std::sync::Arc;

use isobath_sql::ddl::{Source, load};
use isobath_sql::query::{distance, parse, shape};
use isobath_sql::{DialectName, Value, render};

use super::*;

fn existing_rows(ddl: &str, existing: &[(&str, &[Value])]) -> ExistingRows {
    let source = Source {
        name: "test".to_owned(),
        text: ddl.to_owned(),
    };
    let schema = Arc::new(load("test", &[source], Some(DialectName::Sqlite)).schema);
    let mut rows = vec![Vec::new(); schema.tables.len()];
    for (table, row) in existing {
        rows[schema.table_index(table).expect("a table")].push(row.to_vec());
    }
    let now = jiff::civil::date(2024, 7, 1).at(12, 0, 0, 0);
    ExistingRows::new(schema, DialectName::Sqlite, now, rows)
}

/// The rows that make a statement return a row, as INSERTs; `inputs` are what the test sends.
fn built(existing_rows: &ExistingRows, sql: &str, inputs: &[&str]) -> String {
    let query = parse(sql, &existing_rows.schema, existing_rows.dialect).expect("a query");
    let rows = existing_rows.build(&query, &[], 0).expect("rows");
    let constants = shape(sql, existing_rows.dialect).constants;
    let links = LinkContext {
        rows: &[],
        inserted: &Inserted::new(),
        constants: &constants,
        is_input: &|text| inputs.contains(&text),
    };
    let (rows, _) = existing_rows.link(&rows, &links, 7);
    shown(existing_rows, &rows)
}

fn shown(existing_rows: &ExistingRows, rows: &[NewRow]) -> String {
    let line = |row: &NewRow| {
        let table = &existing_rows.schema.tables[row.table];
        let cells = row.cells.iter().zip(&table.columns);
        let cells: Vec<String> = cells
            .map(|(cell, column)| match cell {
                NewCell::Default => format!("{}: default", column.name),
                NewCell::Value(value) => {
                    format!(
                        "{}: {}",
                        column.name,
                        render::literal(value, existing_rows.dialect)
                    )
                }
                NewCell::Of { row, column: of } => format!("{}: #{row}.{of}", column.name),
            })
            .collect();
        format!("#{} {}: {}", row.id, table.name, cells.join(", "))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

const FOO: &str = "CREATE TABLE foo (id INTEGER PRIMARY KEY, x INT NOT NULL, y INT NOT NULL);
    CREATE TABLE bar (id INTEGER PRIMARY KEY REFERENCES foo (id), y INT CHECK (y > 10));";

#[test]
fn rows_are_built_for_what_a_statement_asks_and_tied_by_their_keys() {
    let existing_rows = existing_rows(FOO, &[]);
    insta::assert_snapshot!(built(&existing_rows, "SELECT id FROM foo WHERE x = 1177 AND y = 536", &[]), @"#7 foo: id: default, x: 1177, y: 536");
    // The number that an input names is the database's to give, and the input's to follow.
    insta::assert_snapshot!(built(&existing_rows, "SELECT * FROM foo WHERE id = 99", &["99"]), @"#7 foo: id: default, x: 0, y: 0");
    insta::assert_snapshot!(built(&existing_rows, "SELECT * FROM foo WHERE id = 99", &[]), @"#7 foo: id: 99, x: 0, y: 0");
    insta::assert_snapshot!(built(&existing_rows, "SELECT * FROM bar WHERE y < 20 AND id > 3", &[]), @"
    #7 foo: id: default, x: 0, y: 0
    #8 bar: id: #7.0, y: 19
    ");
}

#[test]
fn rows_that_are_there_are_used() {
    let existing: &[(&str, &[Value])] =
        &[("foo", &[Value::from(4), Value::from(1), Value::from(2)])];
    let existing_rows = existing_rows(FOO, existing);
    let rows = built(
        &existing_rows,
        "SELECT * FROM bar JOIN foo ON foo.id = bar.id WHERE foo.id = 4",
        &[],
    );
    insta::assert_snapshot!(rows, @"#7 bar: id: 4, y: NULL");
}

fn row(id: u32, table: usize, cells: &[Option<i64>]) -> NewRow {
    let cell = |value: &Option<i64>| match value {
        Some(value) => NewCell::Value(Value::from(*value)),
        None => NewCell::Default,
    };
    NewRow {
        id,
        table,
        cells: cells.iter().map(cell).collect(),
    }
}

/// The example of the paper: two rows of `bar` want the only row of `foo` as their key.
#[test]
fn a_key_that_is_a_reference_gets_a_parent_of_its_own() {
    let existing_rows = existing_rows(FOO, &[]);
    for seed in 0..10 {
        let mut rows = vec![
            row(0, 0, &[Some(1), Some(5), Some(6)]),
            row(1, 1, &[Some(1), Some(11)]),
            row(2, 1, &[Some(1), Some(12)]),
        ];
        let mut rng = fastrand::Rng::with_seed(seed);
        assert!(existing_rows.repair(&mut rows, 3, &mut rng), "seed {seed}");
        let of = |table: usize| rows.iter().filter(|row| row.table == table).count();
        assert_eq!((of(0), of(1)), (2, 2), "{}", shown(&existing_rows, &rows));
    }
}

#[test]
fn what_cannot_be_repaired_is_left_out_with_all_that_follows() {
    let existing_rows = existing_rows(
        "CREATE TABLE flag (on_ INT NOT NULL UNIQUE CHECK (on_ IN (0, 1)))",
        &[],
    );
    let mut rows: Vec<NewRow> = (0..4).map(|id| row(id, 0, &[Some(1)])).collect();
    let whole = existing_rows.repair(&mut rows, 4, &mut fastrand::Rng::with_seed(3));
    assert!(!whole);
    assert_eq!(rows.len(), 2, "{}", shown(&existing_rows, &rows));
}

#[test]
fn changed_rows_are_acceptable_after_repair_and_often_differ() {
    let existing_rows = existing_rows(FOO, &[]);
    let mut rng = fastrand::Rng::with_seed(1);
    let query = parse(
        "SELECT * FROM bar WHERE y = 15",
        &existing_rows.schema,
        existing_rows.dialect,
    )
    .expect("a query");
    let built = existing_rows.build(&query, &[], 0).expect("rows");
    let none = Inserted::new();
    let links = LinkContext {
        rows: &[],
        inserted: &none,
        constants: &[],
        is_input: &|_| false,
    };
    let (first, _) = existing_rows.link(&built, &links, 0);
    let mut changed = 0;
    for _ in 0..50 {
        let mut rows = first.clone();
        existing_rows.mutate(&mut rows, &[Value::from(77)], &|_, _| false, &mut rng);
        existing_rows.repair(&mut rows, 2, &mut rng);
        changed += usize::from(rows != first);
        assert_eq!(rows.len(), 2, "{}", shown(&existing_rows, &rows));
    }
    assert!(changed > 30, "{changed}");
}

#[test]
fn a_row_that_goes_takes_those_along_that_refer_to_it() {
    let mut child = row(1, 1, &[None, Some(11)]);
    child.cells[0] = NewCell::Of { row: 0, column: 0 };
    let rows = [
        row(0, 0, &[None, Some(1), Some(2)]),
        child,
        row(2, 0, &[None, Some(3), Some(4)]),
    ];
    assert_eq!(without(&rows, 0).map(|rows| rows.len()), Some(1));
    assert_eq!(without(&rows, 1).map(|rows| rows.len()), Some(2));
    assert_eq!(without(&rows, 9), None);
}

#[test]
fn what_is_built_is_returned_by_the_query_beside_what_is_there() {
    let ddl = "CREATE TABLE owner (id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE);
        CREATE TABLE boat (id INTEGER PRIMARY KEY, owner INT NOT NULL REFERENCES owner (id), name TEXT NOT NULL, length INT CHECK (length BETWEEN 1 AND 50))";
    let existing: &[(&str, &[Value])] = &[("owner", &[Value::from(11), Value::text("l")])];
    let existing_rows = existing_rows(ddl, existing);
    let sql = "SELECT b.* FROM boat b JOIN owner o ON o.id = b.owner WHERE o.mail = 'ada@x' AND b.name LIKE 'Gu%' AND b.length > 20";
    let query = parse(sql, &existing_rows.schema, existing_rows.dialect).expect("a query");
    let rows = existing_rows.build(&query, &[], 0).expect("rows");
    assert_eq!(rows.len(), 2);
    let tables: Vec<usize> = (0..2).collect();
    let together = existing_rows.combined_with(&tables, &rows);
    let far = distance(&query, &together, &[], None, existing_rows.dialect_rules());
    assert_eq!(far.expect("it is evaluated"), 0.0);
}

#[test]
fn a_row_of_the_test_takes_the_place_of_one_with_its_key() {
    let ddl = "CREATE TABLE site (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
        CREATE TABLE item (id INTEGER PRIMARY KEY, site INT NOT NULL REFERENCES site (id), n INT)";
    let existing_rows = existing_rows(ddl, &[]);
    let sql = "SELECT 1 FROM item i JOIN site s ON s.id = i.site WHERE s.code = 'x' AND i.n > 3";
    let query = parse(sql, &existing_rows.schema, existing_rows.dialect).expect("a query");
    let site = NewRow {
        id: 0,
        table: 0,
        cells: vec![NewCell::Default, NewCell::Value(Value::text("x"))],
    };
    let stored = vec![Value::from(1), Value::text("x")];
    let rows = existing_rows
        .build(&query, &[(0, stored.clone())], 0)
        .expect("rows");
    let inserted = Inserted::from([(0, stored.into_iter().map(Some).collect())]);
    let links = LinkContext {
        rows: &[site],
        inserted: &inserted,
        constants: &[],
        is_input: &|_| false,
    };
    let (rows, _) = existing_rows.link(&rows, &links, 5);
    insta::assert_snapshot!(shown(&existing_rows, &rows), @"#5 item: id: default, site: #0.0, n: 4");
}
