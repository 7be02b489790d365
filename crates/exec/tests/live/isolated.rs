//! Cases run apart from each other, with the same answers as one statement at a time.

use crate::engines::on_each;
use isobath_exec::engine::Engine;
use isobath_exec::{Database, RefusalKind, StatementOutcome};
use isobath_sql::Value;

fn cases(cases: &[&[&str]]) -> Vec<Vec<String>> {
    cases
        .iter()
        .map(|case| case.iter().map(|&sql| sql.to_owned()).collect())
        .collect()
}

/// One word per statement: rows or the kind of refusal.
fn told(answers: &[StatementOutcome]) -> String {
    let words: Vec<String> = answers
        .iter()
        .map(|answer| match answer {
            StatementOutcome::Done { rows } => rows.to_string(),
            StatementOutcome::Refused(refusal) => refusal.kind.to_string(),
        })
        .collect();
    words.join(", ")
}

fn run(database: &mut dyn Database, of: &[&[&str]]) -> Vec<String> {
    let answers = database.run_isolated(&cases(of)).unwrap();
    answers.iter().map(|answers| told(answers)).collect()
}

fn count(database: &mut dyn Database, table: &str) -> Value {
    database
        .query_required(&format!("SELECT count(*) FROM {table}"))
        .unwrap()
        .rows[0][0]
        .clone()
}

#[test]
fn nothing_of_one_case_is_seen_by_the_next_or_left_behind() {
    on_each("cases leave nothing behind", |engine, database| {
        database
            .execute_required("CREATE TABLE t (a INT PRIMARY KEY)")
            .unwrap();
        let insert: &[&str] = &["INSERT INTO t VALUES (1)"];
        assert_eq!(
            run(database, &[insert, insert, insert]),
            ["1", "1", "1"],
            "{engine}"
        );
        assert_eq!(count(database, "t"), Value::Int(0), "{engine}");
    });
}

#[test]
fn a_case_goes_on_after_a_refusal_with_what_was_there_before() {
    on_each("cases go on after a refusal", |engine, database| {
        database
            .execute_required("CREATE TABLE t (a INT PRIMARY KEY, CONSTRAINT few CHECK (a < 9))")
            .unwrap();
        let told = run(
            database,
            &[
                &[
                    "INSERT INTO t VALUES (1)",
                    "INSERT INTO t VALUES (1)",
                    "INSERT INTO t VALUES (9)",
                    "INSERT INTO t VALUES (2);",
                    "SELECT * FROM t",
                    "UPDATE t SET a = a + 10",
                ],
                &["INSERT INTO t VALUES (9)"],
                &[],
                &[
                    "INSERT INTO t VALUES (1), (2)",
                    "DELETE FROM t",
                    "SELECT * FROM t",
                ],
            ],
        );
        assert_eq!(
            told,
            ["1, PRIMARY KEY, CHECK, 1, 2, CHECK", "CHECK", "", "2, 2, 0"],
            "{engine}"
        );
    });
}

#[test]
fn text_that_is_not_sql_spoils_only_its_own_statement() {
    on_each("cases that are not SQL", |engine, database| {
        database
            .execute_required("CREATE TABLE t (a VARCHAR(9))")
            .unwrap();
        let told = run(
            database,
            &[
                &[
                    "INSERT INTO t VALUES ('1')",
                    "INSRT",
                    "INSERT INTO t VALUES ('2') -- fine",
                ],
                &[
                    "INSERT INTO t VALUES ('a;b')",
                    "SELECT * FROM t WHERE a = 'a;b'",
                ],
                &["INSERT INTO t VALUES ('1", "SELECT * FROM t"],
            ],
        );
        assert_eq!(told, ["1, other, 1", "1, 1", "other, 0"], "{engine}");
    });
}

#[test]
fn several_statements_in_one_text_stand_and_fall_together() {
    on_each("statements that go together", |engine, database| {
        database
            .execute_required("CREATE TABLE t (a INT PRIMARY KEY)")
            .unwrap();
        let told = run(
            database,
            &[&[
                "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)",
                "INSERT INTO t VALUES (3); INSERT INTO t VALUES (3)",
                "SELECT * FROM t",
            ]],
        );
        assert_eq!(told, ["1, PRIMARY KEY, 2"], "{engine}");
    });
}

#[test]
fn a_deferred_key_speaks_at_the_end_of_its_statement() {
    on_each("deferred keys", |engine, database| {
        if engine == Engine::MariaDb {
            return; // It has none.
        }
        database
            .execute_required(
                "CREATE TABLE t (a INT PRIMARY KEY, b INT REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)",
            )
            .unwrap();
        let told = run(
            database,
            &[
                &["INSERT INTO t VALUES (1, 2)", "INSERT INTO t VALUES (2, 2)"],
                &["INSERT INTO t VALUES (1, 2), (2, 1)", "SELECT * FROM t"],
            ],
        );
        assert_eq!(told, ["FOREIGN KEY, 1", "2, 2"], "{engine}");
        assert_eq!(count(database, "t"), Value::Int(0), "{engine}");
        let refused = database.execute("INSERT INTO t VALUES (1, 2)").unwrap();
        assert_eq!(
            refused.refusal().unwrap().kind,
            RefusalKind::ForeignKey,
            "{engine}"
        );
    });
}

#[test]
fn cases_within_a_transaction_see_its_tables_and_leave_it_open() {
    on_each("cases within a transaction", |engine, database| {
        if engine == Engine::MariaDb {
            return; // Its DDL ends the transaction.
        }
        database.begin().unwrap();
        database
            .execute_required("CREATE TABLE t (a INT PRIMARY KEY)")
            .unwrap();
        let twice: &[&str] = &["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"];
        assert_eq!(
            run(database, &[twice, twice]),
            ["1, PRIMARY KEY", "1, PRIMARY KEY"],
            "{engine}"
        );
        assert_eq!(count(database, "t"), Value::Int(0), "{engine}");
        database.rollback().unwrap();
        assert!(
            !database.execute("SELECT * FROM t").unwrap().is_done(),
            "{engine}"
        );
    });
}

#[test]
fn conflict_clauses_that_end_the_transaction_do_not_end_the_case() {
    let mut database = isobath_exec::connect("sqlite::memory:").unwrap();
    database
        .execute_required("CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE ON CONFLICT ROLLBACK)")
        .unwrap();
    let told = run(
        database.as_mut(),
        &[&[
            "INSERT INTO t VALUES (1, 1)",
            "INSERT INTO t VALUES (2, 1)",
            "SELECT * FROM t",
        ]],
    );
    assert_eq!(told, ["1, UNIQUE, 1"]);
}

#[test]
fn many_cases_are_answered_in_order_and_each_by_itself() {
    on_each("many cases", |engine, database| {
        database
            .execute_required("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20) NOT NULL, CONSTRAINT few CHECK (a < 5000))")
            .unwrap();
        let cases: Vec<Vec<String>> = (0..2000)
            .map(|number| {
                let insert = |a: i32| format!("INSERT INTO t VALUES ({a}, 'text {a}')");
                match number % 3 {
                    0 => vec![insert(number), insert(number + 1)],
                    1 => vec![insert(number), insert(number)],
                    _ => vec![insert(number), insert(number + 5000), insert(number + 2)],
                }
            })
            .collect();
        let answers = database.run_isolated(&cases).unwrap();
        assert_eq!(answers.len(), cases.len());
        for (number, answers) in answers.iter().enumerate() {
            let expected = ["1, 1", "1, PRIMARY KEY", "1, CHECK, 1"][number % 3];
            assert_eq!(told(answers), expected, "{engine}: case {number}");
        }
    });
}

#[test]
fn a_cleared_database_is_as_good_as_new() {
    on_each("clearing", |engine, database| {
        for _ in 0..2 {
            database
                .execute_required("CREATE TABLE a (x INT PRIMARY KEY, y INT)")
                .unwrap();
            database
                .execute_required(
                    "CREATE TABLE b (x INT PRIMARY KEY, FOREIGN KEY (x) REFERENCES a (x))",
                )
                .unwrap();
            if engine != Engine::Sqlite {
                database
                    .execute_required(
                        "ALTER TABLE a ADD CONSTRAINT back FOREIGN KEY (y) REFERENCES b (x)",
                    )
                    .unwrap();
            }
            database
                .execute_required("CREATE VIEW v AS SELECT x FROM a")
                .unwrap();
            database
                .execute_required("INSERT INTO a VALUES (1, NULL)")
                .unwrap();
            database
                .execute_required("INSERT INTO b VALUES (1)")
                .unwrap();
            if engine == Engine::Postgres {
                database
                    .execute_required("CREATE TYPE mood AS ENUM ('good')")
                    .unwrap();
            }
            database.drop_all_objects().unwrap();
        }
    });
}
