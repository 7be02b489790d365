//! The rows of a test database: seen, changed, put back, brought in.

use std::collections::BTreeSet;

use isobath_exec::engine::{Engine, ProvisionedDatabase, provision};
use isobath_exec::server::or_skip;
use isobath_exec::test_database::{Reference, Tables, TestDatabase};
use isobath_exec::{Database, DatabaseError, RefusalKind, connect_writable};
use isobath_sql::row::{Cell, Row};
use isobath_sql::{ConstraintKind, Value};

/// A database with a service's connection to it.
struct Place {
    engine: Engine,
    address: String,
    service: Box<dyn Database>,
    _kept: (Option<ProvisionedDatabase>, tempfile::TempDir),
}

impl Place {
    fn state(&self) -> TestDatabase {
        TestDatabase::open(&self.address, std::slice::from_ref(&self.address)).unwrap()
    }

    fn run(&mut self, statements: &[&str]) {
        for sql in statements {
            self.service.execute_required(sql).unwrap();
        }
    }

    /// All rows of a table as text.
    fn rows(&mut self, table: &str) -> Vec<String> {
        let rows = self
            .service
            .query_required(&format!("SELECT * FROM {table} ORDER BY 1"))
            .unwrap();
        rows.rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(Value::to_string)
                    .collect::<Vec<_>>()
                    .join("|")
            })
            .collect()
    }
}

fn on_each(what: &str, mut test: impl FnMut(Place)) {
    for engine in Engine::ALL {
        let directory = tempfile::tempdir().unwrap();
        let (address, provisioned) = if engine == Engine::Sqlite {
            (
                format!("sqlite:{}", directory.path().join("it.db").display()),
                None,
            )
        } else {
            let title = format!("{what} on {engine}");
            let Some(provisioned) = or_skip(&title, provision(engine)) else {
                continue;
            };
            (provisioned.address().to_owned(), Some(provisioned))
        };
        let service = connect_writable(&address, std::slice::from_ref(&address)).unwrap();
        test(Place {
            engine,
            address,
            service,
            _kept: (provisioned, directory),
        });
    }
}

/// Makers with items that follow them, two of the former and one of the latter.
fn shop(place: &mut Place) {
    let key = match place.engine {
        Engine::Sqlite => "INTEGER PRIMARY KEY AUTOINCREMENT",
        Engine::Postgres => "SERIAL PRIMARY KEY",
        Engine::MariaDb => "INT AUTO_INCREMENT PRIMARY KEY",
    };
    place.run(&[
        &format!("CREATE TABLE maker (id {key}, name VARCHAR(20) NOT NULL UNIQUE, score FLOAT)"),
        &format!(
            "CREATE TABLE item (id {key}, maker INT NOT NULL, label VARCHAR(20) DEFAULT 'none', \
             CONSTRAINT made FOREIGN KEY (maker) REFERENCES maker (id) ON DELETE CASCADE)"
        ),
        "CREATE TABLE plain (a INT, b VARCHAR(9))",
        "INSERT INTO maker (name, score) VALUES ('it''s', 0.1), ('b\\\\c', 123456.789)",
        "INSERT INTO item (maker, label) VALUES (1, 'first')",
        "INSERT INTO plain VALUES (1, 'x'), (1, 'x'), (2, NULL)",
    ]);
}

fn tables(state: &TestDatabase, names: &[&str]) -> Tables {
    names
        .iter()
        .map(|name| state.schema().table_index(name).unwrap())
        .collect()
}

fn told(state: &TestDatabase, difference: &isobath_exec::test_database::RowDiff) -> Vec<String> {
    assert!(difference.unknown.is_empty());
    let row = |row: &Option<Vec<Value>>| match row {
        Some(row) => row
            .iter()
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join("|"),
        None => "-".to_owned(),
    };
    let changes = difference.changes.iter();
    let mut lines: Vec<String> = changes
        .map(|change| {
            let name = &state.schema().tables[change.table].name;
            format!("{name}: {} > {}", row(&change.before), row(&change.after))
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_reset_brings_back_rows_and_counters_of_written_tables_exactly() {
    on_each("a reset", |mut place| {
        shop(&mut place);
        let engine = place.engine;
        let mut state = place.state();
        let first = [place.rows("maker"), place.rows("item"), place.rows("plain")];
        let changes = [
            "INSERT INTO maker (name) VALUES ('new')",
            "INSERT INTO item (maker) VALUES (3)",
            "UPDATE maker SET score = 9 WHERE id = 2",
            // Takes an item along.
            "DELETE FROM maker WHERE id = 1",
        ];
        for _ in 0..2 {
            place.run(&changes);
            place.run(&["DELETE FROM plain WHERE a = 1"]);
            let written = state.tables_written_by(changes);
            assert_eq!(written, tables(&state, &["maker", "item"]), "{engine}");
            let reset = state.reset(&written).unwrap();
            assert_eq!(reset.tables, written, "{engine}");
            assert_eq!(place.rows("maker"), first[0], "{engine}");
            assert_eq!(place.rows("item"), first[1], "{engine}");
            assert_eq!(
                place.rows("plain"),
                ["2|NULL"],
                "{engine}: not named as written"
            );
            state.reset(&tables(&state, &["plain"])).unwrap();
            assert_eq!(place.rows("plain"), first[2], "{engine}");
        }
        place.run(&["INSERT INTO maker (name) VALUES ('next')"]);
        let next = place.rows("maker").pop().unwrap();
        assert!(next.starts_with("3|next"), "{engine}: {next}");
        assert_eq!(state.cost().resets, 4);
        assert!(state.cost().resetting > std::time::Duration::ZERO);
        state.reset_all(&Tables::new()).unwrap();
        assert_eq!(place.rows("maker"), first[0], "{engine}");
        // A row that came and went leaves no trace but the counter.
        place.run(&[
            "INSERT INTO maker (name) VALUES ('short')",
            "DELETE FROM maker WHERE name = 'short'",
        ]);
        state.reset_all(&tables(&state, &["maker"])).unwrap();
        place.run(&["INSERT INTO maker (name) VALUES ('next')"]);
        let next = place.rows("maker").pop().unwrap();
        assert!(next.starts_with("3|next"), "{engine}: {next}");
    });
}

/// What a service that is not seen takes back leaves no row to be found, and on most databases a counter that moved on.
#[test]
fn counters_that_a_row_moved_which_was_taken_back_are_put_back_without_being_named() {
    on_each("counters", |mut place| {
        shop(&mut place);
        let engine = place.engine;
        if engine == Engine::Postgres {
            // One that belongs to no table, and one that never gave a number.
            place.run(&["CREATE SEQUENCE \"Of nobody\"", "CREATE SEQUENCE idle"]);
        }
        let mut state = place.state();
        for _ in 0..2 {
            place.run(&[
                "BEGIN",
                "INSERT INTO maker (name) VALUES ('short')",
                "INSERT INTO item (maker) VALUES (1)",
                "ROLLBACK",
            ]);
            if engine == Engine::Postgres {
                place.run(&["SELECT nextval('\"Of nobody\"')"]);
            }
            state.reset_all(&Tables::new()).unwrap();
        }
        place.run(&[
            "INSERT INTO maker (name) VALUES ('next')",
            "INSERT INTO item (maker) VALUES (1)",
        ]);
        let (maker, item) = (place.rows("maker").pop(), place.rows("item").pop());
        let (maker, item) = (maker.unwrap(), item.unwrap());
        assert!(maker.starts_with("3|next"), "{engine}: {maker}");
        assert!(item.starts_with("2|1"), "{engine}: {item}");
        if engine == Engine::Postgres {
            place.run(&["INSERT INTO plain (a) VALUES (nextval('\"Of nobody\"'))"]);
            let numbered = place.rows("plain").into_iter();
            assert_eq!(numbered.filter(|row| row == "1|NULL").count(), 1);
        }
    });
}

#[test]
fn first_rows_that_were_told_come_back_when_the_connection_that_kept_them_is_gone() {
    on_each("first rows", |mut place| {
        shop(&mut place);
        let engine = place.engine;
        let before = [place.rows("maker"), place.rows("item"), place.rows("plain")];
        let first = place.state().snapshot();
        place.run(&[
            "INSERT INTO maker (name) VALUES ('left')",
            "INSERT INTO item (maker) VALUES (3)",
            "DELETE FROM maker WHERE id = 1",
            "DELETE FROM plain",
            "CREATE TABLE later (a INT)",
        ]);
        let mut state = place.state();
        let (changed, unknown) = state.restore_snapshot(&first).unwrap();
        assert_eq!(changed.len(), 3, "{engine}: {changed:?}");
        assert_eq!(unknown.len(), 1, "{engine}: {unknown:?}");
        for round in 0..2 {
            assert_eq!(place.rows("maker"), before[0], "{engine}");
            assert_eq!(place.rows("item"), before[1], "{engine}");
            assert_eq!(place.rows("plain"), before[2], "{engine}");
            place.run(&["INSERT INTO maker (name) VALUES ('next')"]);
            let next = place.rows("maker").pop().unwrap();
            assert!(next.starts_with("3|next"), "{engine}, {round}: {next}");
            state.reset_all(&Tables::new()).unwrap();
        }
        // Nothing to do, and nothing done.
        let (changed, _) = place.state().restore_snapshot(&first).unwrap();
        assert_eq!(changed, Vec::<String>::new(), "{engine}");
        assert_eq!(place.rows("maker"), before[0], "{engine}");
    });
}

#[test]
fn a_look_tells_what_others_changed_since_the_last_one() {
    on_each("a look", |mut place| {
        shop(&mut place);
        let engine = place.engine;
        let mut state = place.state();
        let none = Tables::new();
        assert!(
            state.detect_changes(&none).unwrap().is_nothing(),
            "{engine}"
        );
        place.run(&[
            "UPDATE item SET label = 'other' WHERE id = 1",
            "INSERT INTO plain VALUES (1, 'x')",
            "DELETE FROM plain WHERE a = 2",
        ]);
        let difference = state.detect_changes(&none).unwrap();
        let column = difference
            .changes
            .iter()
            .find_map(|change| change.columns().first().copied());
        assert_eq!(column, Some(2), "{engine}");
        assert_eq!(
            told(&state, &difference),
            [
                "item: 1|1|first > 1|1|other",
                "plain: - > 1|x",
                "plain: 2|NULL > -"
            ],
            "{engine}"
        );
        assert!(
            state.detect_changes(&none).unwrap().is_nothing(),
            "{engine}"
        );
        // What is undone never was.
        place.run(&["BEGIN", "DELETE FROM item", "ROLLBACK"]);
        assert!(
            state.detect_changes(&none).unwrap().is_nothing(),
            "{engine}"
        );
        // What is not committed yet is seen when it is.
        if engine != Engine::Sqlite {
            place.run(&["BEGIN", "DELETE FROM item"]);
            assert!(
                state.detect_changes(&none).unwrap().is_nothing(),
                "{engine}"
            );
            place.run(&["COMMIT"]);
            let gone = state.detect_changes(&none).unwrap();
            assert_eq!(told(&state, &gone), ["item: 1|1|other > -"], "{engine}");
        }
    });
}

#[test]
fn inserted_rows_come_back_with_their_keys_and_refer_to_each_other() {
    on_each("inserted rows", |mut place| {
        shop(&mut place);
        let engine = place.engine;
        let mut state = place.state();
        let written = tables(&state, &["maker", "item"]);
        let ids: Vec<usize> = ["maker", "item"]
            .iter()
            .map(|name| state.schema().table_index(name).unwrap())
            .collect();
        let maker = |name: &str| Row {
            table: ids[0],
            cells: vec![Cell::Default, Cell::Value(Value::from(name)), Cell::Default],
        };
        let item = Row {
            table: ids[1],
            cells: vec![Cell::Default, Cell::Default, Cell::Default],
        };
        let of = Reference {
            row: 1,
            column: 1,
            of_row: 0,
            of_column: 0,
        };
        let stored = state
            .insert(&[maker("new"), item.clone()], &[of])
            .unwrap()
            .unwrap();
        assert_eq!(stored[0][0], Value::Int(3), "{engine}");
        assert_eq!(
            stored[1],
            [Value::Int(2), Value::Int(3), Value::from("none")],
            "{engine}"
        );
        assert!(
            state.detect_changes(&Tables::new()).unwrap().is_nothing(),
            "{engine}: our own"
        );
        let before = place.rows("maker");
        let unfit = state
            .insert(&[maker("later"), maker("new")], &[])
            .unwrap()
            .unwrap_err();
        assert_eq!(
            (unfit.row, unfit.refusal.kind),
            (1, RefusalKind::Unique),
            "{engine}"
        );
        assert_eq!(place.rows("maker"), before, "{engine}: all or none");
        state.reset(&written).unwrap();
        assert_eq!(place.rows("item"), ["1|1|first"], "{engine}");
        let again = state.insert(&[maker("new"), item], &[of]).unwrap().unwrap();
        assert_eq!(
            again[0][0],
            Value::Int(3),
            "{engine}: the counter is back too"
        );
    });
}

#[test]
fn a_database_that_was_not_named_is_never_opened() {
    on_each("the gate", |place| {
        let other = match place.engine {
            Engine::Sqlite => "sqlite:elsewhere.db".to_owned(),
            Engine::Postgres | Engine::MariaDb => {
                let (server, _) = place.address.rsplit_once('/').unwrap();
                format!("{server}/elsewhere")
            }
        };
        for named in [&[][..], &[other]] {
            let refused = TestDatabase::open(&place.address, named).unwrap_err();
            assert!(
                matches!(refused, DatabaseError::NotATestDatabase { .. }),
                "{refused}"
            );
        }
    });
}

#[test]
fn other_databases_of_the_server_and_other_tables_stay_as_they_are() {
    on_each("other databases", |mut place| {
        if place.engine == Engine::Sqlite {
            return;
        }
        let mut other = provision(place.engine).unwrap();
        other
            .database()
            .execute_required("CREATE TABLE maker (id INT)")
            .unwrap();
        other
            .database()
            .execute_required("INSERT INTO maker VALUES (7)")
            .unwrap();
        shop(&mut place);
        let mut state = place.state();
        place.run(&["DELETE FROM maker"]);
        state.reset_all(&Tables::new()).unwrap();
        assert_eq!(place.rows("maker").len(), 2);
        let rows = other
            .database()
            .query_required("SELECT id FROM maker")
            .unwrap();
        assert_eq!(rows.rows, [[Value::Int(7)]]);
    });
}

#[test]
fn triggers_do_not_act_on_rows_that_are_put_back() {
    on_each("triggers", |mut place| {
        let trigger: &[&str] = match place.engine {
            Engine::Sqlite => &[
                "CREATE TRIGGER guard AFTER INSERT ON maker BEGIN INSERT INTO item (maker) VALUES (new.id); END",
            ],
            Engine::Postgres => &[
                "CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN INSERT INTO item (maker) VALUES (new.id); RETURN NULL; END'",
                "CREATE TRIGGER guard AFTER INSERT ON maker FOR EACH ROW EXECUTE FUNCTION guard()",
            ],
            // MariaDB cannot switch them off, and says so in the limitations.
            Engine::MariaDb => return,
        };
        shop(&mut place);
        place.run(trigger);
        let mut state = place.state();
        assert_eq!(state.limitations().len(), 1);
        let insert = "INSERT INTO maker (name) VALUES ('new')";
        place.run(&[insert]);
        assert_eq!(place.rows("item").len(), 2, "the trigger acts");
        let written = state.tables_written_by([insert]);
        assert_eq!(written, state.all_tables());
        state.reset(&written).unwrap();
        assert_eq!(place.rows("item"), ["1|1|first"], "{}", place.engine);
        place.run(&[insert]);
        assert_eq!(place.rows("item").len(), 2, "the trigger acts again");
    });
}

#[test]
fn a_login_that_may_not_switch_keys_off_also_puts_back_the_tables_that_refer() {
    on_each("a plain login", |mut place| {
        if place.engine != Engine::Postgres {
            return;
        }
        shop(&mut place);
        let role = format!("plain_{}", std::process::id());
        place.run(&[
            &format!("CREATE ROLE {role} LOGIN PASSWORD 'plain'"),
            &format!("GRANT ALL ON SCHEMA public TO {role}"),
            &format!("ALTER TABLE maker OWNER TO {role}"),
            &format!("ALTER TABLE item OWNER TO {role}"),
            &format!("ALTER TABLE plain OWNER TO {role}"),
        ]);
        let (_, at) = place.address.rsplit_once('@').unwrap();
        let address = format!("postgres://{role}:plain@{at}");
        let mut state = TestDatabase::open(&address, std::slice::from_ref(&address)).unwrap();
        place.run(&["DELETE FROM maker", "DELETE FROM plain"]);
        let reset = state.reset(&tables(&state, &["maker"])).unwrap();
        assert_eq!(reset.tables, tables(&state, &["maker", "item"]));
        assert_eq!(place.rows("maker").len(), 2);
        assert_eq!(place.rows("item"), ["1|1|first"]);
        assert!(place.rows("plain").is_empty());
        drop(state);
        // The server drops the temporary tables of a login after it has gone, while its role is still in use.
        let there = format!("SELECT 1 FROM pg_stat_activity WHERE usename = '{role}'");
        for _ in 0..500 {
            if place
                .service
                .query_required(&there)
                .unwrap()
                .rows
                .is_empty()
            {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        place.run(&[
            &format!("REASSIGN OWNED BY {role} TO CURRENT_USER"),
            &format!("DROP OWNED BY {role}"),
            &format!("DROP ROLE {role}"),
        ]);
    });
}

#[test]
fn unusual_types_and_generated_columns_come_back_as_they_were() {
    on_each("unusual types", |mut place| {
        let (create, insert): (&str, &str) = match place.engine {
            Engine::Sqlite => (
                "CREATE TABLE odd (a, b INT AS (a + 1) STORED, c BLOB)",
                "INSERT INTO odd (a, c) VALUES (1, x'00ff'), ('1', 'text'), (1.5, NULL)",
            ),
            Engine::Postgres => (
                "CREATE TABLE odd (id INT GENERATED ALWAYS AS IDENTITY, a INT, b INT GENERATED ALWAYS AS (a + 1) STORED, \
                 c INET, d INT[], e REAL, f NUMERIC, g JSONB, h TSTZRANGE)",
                "INSERT INTO odd (a, c, d, e, f, g, h) VALUES (1, '10.0.0.1', '{1,NULL}', 0.1, 'NaN', '{\"a\": [1]}', \
                 '[2020-01-01, 2021-01-01)'), (2, NULL, NULL, 'Infinity', 1.50, 'null', NULL)",
            ),
            Engine::MariaDb => (
                "CREATE TABLE odd (a INT, b INT AS (a + 1) STORED, c FLOAT, d DATETIME(6), e BIT(3), f SET('x', 'y'), \
                 g TIME, h VARBINARY(5), i JSON)",
                "INSERT INTO odd (a, c, d, e, f, g, h, i) VALUES (1, 16777217.4, '2020-01-01 00:00:00.123456', b'101', \
                 'x,y', '120:00:00', x'00ff', '[1]'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            ),
        };
        place.run(&[create, insert]);
        let first = place.rows("odd");
        let mut state = place.state();
        place.run(&["DELETE FROM odd WHERE a = 1", "UPDATE odd SET a = 9"]);
        assert_ne!(place.rows("odd"), first);
        state.reset_all(&Tables::new()).unwrap();
        assert_eq!(place.rows("odd"), first, "{}", place.engine);
    });
}

#[test]
fn a_row_that_the_service_keeps_locked_is_an_error_and_not_the_end_of_the_connection() {
    on_each("locked rows", |mut place| {
        if place.engine == Engine::Sqlite {
            return; // Its readers and writers wait for the file, as other tests show.
        }
        let engine = place.engine;
        shop(&mut place);
        let mut state = place.state();
        let written = tables(&state, &["maker"]);
        place.run(&["BEGIN", "UPDATE maker SET score = 1 WHERE id = 1"]);
        let error = state.reset(&written).unwrap_err().to_string();
        assert!(
            error.to_ascii_lowercase().contains("lock"),
            "{engine}: {error}"
        );
        place.run(&["COMMIT"]);
        state.reset(&written).unwrap();
        assert!(place.rows("maker")[0].ends_with("0.1"), "{engine}");
    });
}

#[test]
fn the_schema_is_that_of_the_catalogue() {
    on_each("the schema", |mut place| {
        shop(&mut place);
        let state = place.state();
        let names: BTreeSet<&str> = state
            .schema()
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect();
        assert_eq!(
            names,
            BTreeSet::from(["item", "maker", "plain"]),
            "{}",
            place.engine
        );
        let keys = state
            .schema()
            .tables
            .iter()
            .flat_map(|table| &table.constraints);
        let keys =
            keys.filter(|constraint| matches!(constraint.kind, ConstraintKind::ForeignKey(_)));
        assert_eq!(keys.count(), 1, "{}", place.engine);
        assert_eq!(state.initial_image().iter().count(), 3);
    });
}
