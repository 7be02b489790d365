//! Copies of test databases on servers.

use isobath_exec::database::DatabaseCopy;
use isobath_exec::engine::Engine;
use isobath_exec::{Database, connect_writable};
use isobath_sql::Value;

use crate::engines::on_servers;

/// How many copies of a database its server has.
fn n_copies(database: &mut dyn Database, engine: Engine, address: &str) -> usize {
    let sql = match engine {
        Engine::Postgres => "SELECT datname::text FROM pg_database",
        _ => "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA",
    };
    let (_, name) = address.rsplit_once('/').unwrap();
    let rows = database.query_required(sql).unwrap().rows;
    let names = rows.iter().flatten().map(Value::to_string);
    names
        .filter(|copy| copy.contains(&format!("{name}_isobath_")))
        .count()
}

#[test]
fn a_copy_has_the_tables_and_rows_is_apart_and_is_dropped() {
    on_servers("copies", |engine, address| {
        let named = [address.to_owned()];
        let mut original = connect_writable(address, &named).unwrap();
        let key = match engine {
            Engine::Postgres => "SERIAL PRIMARY KEY",
            _ => "INT AUTO_INCREMENT PRIMARY KEY",
        };
        for sql in [
            &format!("CREATE TABLE maker (id {key}, name VARCHAR(20) UNIQUE)"),
            "CREATE TABLE item (id INT, maker INT REFERENCES maker (id), twice INT GENERATED ALWAYS AS (id * 2) STORED)",
            "INSERT INTO maker (name) VALUES ('it''s'), ('b')",
            "INSERT INTO item (id, maker) VALUES (7, 2), (0, NULL)",
        ] {
            original.execute_required(sql).unwrap();
        }
        // A template must not be in use; our own connection to it is one.
        drop(original);
        let copy = DatabaseCopy::create(address, &named, 2).unwrap();
        let second = DatabaseCopy::create(address, &named, 3).unwrap();
        assert_ne!(copy.address(), second.address());
        let mut copied = connect_writable(
            &copy.address().with_password(),
            &[copy.address().with_password()],
        )
        .unwrap();
        assert_eq!(n_copies(copied.as_mut(), engine, address), 2);
        let insert = "INSERT INTO maker (name) VALUES ('c')";
        copied.execute_required(insert).unwrap();
        let rows =
            |database: &mut dyn Database, sql: &str| database.query_required(sql).unwrap().rows;
        let makers = "SELECT id, name FROM maker ORDER BY id";
        let found = rows(copied.as_mut(), makers);
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            found,
            [
                [Value::Int(1), text("it's")],
                [Value::Int(2), text("b")],
                [Value::Int(3), text("c")],
            ],
            "{engine}: the counter goes on"
        );
        let items = rows(copied.as_mut(), "SELECT id, twice FROM item ORDER BY id");
        assert_eq!(
            items,
            [[0, 0], [7, 14]].map(|row| row.map(Value::Int)),
            "{engine}"
        );
        assert!(!matches!(
            copied
                .execute("INSERT INTO maker (name) VALUES ('b')")
                .unwrap(),
            isobath_exec::StatementOutcome::Done { .. }
        ));
        drop(copied);
        let mut original = connect_writable(address, &named).unwrap();
        assert_eq!(rows(original.as_mut(), makers).len(), 2, "{engine}");
        copy.remove().unwrap();
        copy.remove().unwrap();
        drop((copy, second));
        assert_eq!(n_copies(original.as_mut(), engine, address), 0, "{engine}");
    });
}

#[test]
fn what_cannot_be_copied_is_refused_with_the_reason() {
    on_servers("copies that are refused", |engine, address| {
        let named = [address.to_owned()];
        let mut original = connect_writable(address, &named).unwrap();
        original.execute_required("CREATE TABLE t (a INT)").unwrap();
        if engine == Engine::MariaDb {
            let view = "CREATE VIEW v AS SELECT a FROM t";
            original.execute_required(view).unwrap();
        }
        // The connection is still open.
        let error = DatabaseCopy::create(address, &named, 2).unwrap_err();
        let reason = match engine {
            Engine::Postgres => "others are connected",
            _ => "view `v`",
        };
        assert!(error.to_string().contains(reason), "{engine}: {error}");
        assert_eq!(n_copies(original.as_mut(), engine, address), 0, "{engine}");
    });
}
