//! What the three engines answer to the same statements.

use crate::engines::on_each;
use isobath_exec::engine::Engine;
use isobath_exec::{Database, RefusalKind, StatementOutcome};

/// One table or two per kind of refusal, in words that all three engines know.
const TABLES: &str = "
CREATE TABLE parent (id INT CONSTRAINT parent_key PRIMARY KEY, code VARCHAR(5));
CREATE TABLE child (
  id INT NOT NULL,
  parent_id INT,
  small SMALLINT,
  amount NUMERIC(5,2),
  born DATE,
  twice INT GENERATED ALWAYS AS (small * 2) STORED,
  CONSTRAINT child_key PRIMARY KEY (id),
  CONSTRAINT child_unique UNIQUE (parent_id, small),
  CONSTRAINT child_parent FOREIGN KEY (parent_id) REFERENCES parent (id),
  CONSTRAINT child_small CHECK (small >= 0)
);
";

fn create(database: &mut dyn Database) {
    for statement in TABLES.split(';').filter(|text| !text.trim().is_empty()) {
        let mut sql = statement.to_owned();
        if database.dialect() == isobath_sql::DialectName::MySql {
            // MariaDB names no primary keys.
            sql = sql.replace("CONSTRAINT parent_key PRIMARY", "PRIMARY");
        }
        database.execute_required(&sql).unwrap();
    }
    database
        .execute_required("INSERT INTO parent VALUES (1, 'one')")
        .unwrap();
    database
        .execute_required("INSERT INTO child (id, parent_id, small) VALUES (1, 1, 1)")
        .unwrap();
}

/// kind | sqlstate or code | constraint | table | columns, per engine.
fn told(database: &mut dyn Database, sql: &str) -> String {
    match database.execute(sql).unwrap() {
        StatementOutcome::Done { rows } => format!("done {rows}"),
        StatementOutcome::Refused(refusal) => {
            let code = refusal.code.map(|code| code.to_string());
            format!(
                "{} | {} | {} | {} | {}",
                refusal.kind,
                refusal.sqlstate.or(code).unwrap_or_default(),
                refusal.constraint.unwrap_or("-".to_owned()),
                refusal.table.unwrap_or("-".to_owned()),
                refusal.columns.join(","),
            )
        }
    }
}

/// Runs a statement on the sample tables of every engine.
fn check(sql: &str, sqlite: &str, postgres: &str, mariadb: &str) {
    on_each(sql, |engine, database| {
        create(database);
        let expected = match engine {
            Engine::Sqlite => sqlite,
            Engine::Postgres => postgres,
            Engine::MariaDb => mariadb,
        };
        assert_eq!(told(database, sql), expected, "{engine}: {sql}");
    });
}

#[test]
fn null_where_there_must_be_a_value_names_the_column() {
    check(
        "INSERT INTO child (id) VALUES (NULL)",
        "NOT NULL | 1299 | - | child | id",
        "NOT NULL | 23502 | - | child | id",
        "NOT NULL | 23000 | - | - | id",
    );
}

#[test]
fn no_value_where_there_is_no_default_is_the_same() {
    check(
        "INSERT INTO child (small) VALUES (1)",
        "NOT NULL | 1299 | - | child | id",
        "NOT NULL | 23502 | - | child | id",
        "NOT NULL | HY000 | - | - | id",
    );
}

#[test]
fn a_second_row_with_the_same_primary_key_is_told_apart_from_other_keys() {
    check(
        "INSERT INTO parent VALUES (1, 'two')",
        "PRIMARY KEY | 1555 | - | parent | id",
        "PRIMARY KEY | 23505 | parent_key | parent | id",
        "PRIMARY KEY | 23000 | PRIMARY | - | ",
    );
}

#[test]
fn a_duplicate_names_its_key() {
    check(
        "INSERT INTO child (id, parent_id, small) VALUES (2, 1, 1)",
        "UNIQUE | 2067 | - | child | parent_id,small",
        "UNIQUE | 23505 | child_unique | child | parent_id,small",
        "UNIQUE | 23000 | child_unique | - | ",
    );
}

#[test]
fn a_reference_to_nothing_names_its_foreign_key_where_the_engine_does() {
    check(
        "INSERT INTO child (id, parent_id) VALUES (2, 9)",
        "FOREIGN KEY | 787 | - | - | ",
        "FOREIGN KEY | 23503 | child_parent | child | parent_id",
        "FOREIGN KEY | 23000 | child_parent | child | parent_id",
    );
}

#[test]
fn taking_away_what_is_referred_to_is_a_foreign_key_refusal() {
    check(
        "DELETE FROM parent",
        "FOREIGN KEY | 787 | - | - | ",
        "FOREIGN KEY | 23503 | child_parent | child | ",
        "FOREIGN KEY | 23000 | child_parent | child | parent_id",
    );
}

#[test]
fn a_false_condition_names_its_check() {
    check(
        "UPDATE child SET small = -1",
        "CHECK | 275 | child_small | - | ",
        "CHECK | 23514 | child_small | child | ",
        "CHECK | 23000 | child_small | child | ",
    );
}

#[test]
fn text_that_does_not_fit_is_too_long() {
    check(
        "UPDATE parent SET code = 'sixsix'",
        "done 1",
        "too long | 22001 | - | - | ",
        "too long | 22001 | - | - | code",
    );
}

#[test]
fn numbers_that_do_not_fit_are_out_of_range() {
    check(
        "UPDATE child SET small = 40000",
        "done 1",
        "out of range | 22003 | - | - | ",
        "out of range | 22003 | - | - | small",
    );
    check(
        "UPDATE child SET amount = 1000",
        "done 1",
        "out of range | 22003 | - | - | ",
        "out of range | 22003 | - | - | amount",
    );
}

#[test]
fn text_that_is_no_number_or_date_is_of_the_wrong_type() {
    check(
        "UPDATE child SET parent_id = 'x'",
        "FOREIGN KEY | 787 | - | - | ",
        "wrong type | 22P02 | - | - | ",
        "wrong type | 22007 | - | child | parent_id",
    );
    check(
        "UPDATE child SET born = '2024-02-30'",
        "done 1",
        "out of range | 22008 | - | - | ",
        "wrong type | 22007 | - | child | born",
    );
}

#[test]
fn a_value_for_a_generated_column_is_told() {
    check(
        "INSERT INTO child (id, twice) VALUES (2, 7)",
        "generated column | 1 | - | - | ",
        "generated column | 428C9 | - | - | ",
        "generated column | HY000 | - | child | twice",
    );
}

#[test]
fn division_by_zero_is_told_where_it_is_refused() {
    check(
        "UPDATE child SET small = 1 / 0",
        "done 1",
        "division by zero | 22012 | - | - | ",
        "division by zero | 22012 | - | - | ",
    );
}

#[test]
fn an_unknown_table_is_another_kind_of_refusal() {
    on_each("an unknown table", |engine, database| {
        let answer = database.execute("INSERT INTO nowhere VALUES (1)").unwrap();
        assert_eq!(
            answer.refusal().unwrap().kind,
            RefusalKind::Other,
            "{engine}"
        );
    });
}

#[test]
fn a_strict_sqlite_table_refuses_the_wrong_type_and_names_the_column() {
    let mut database = isobath_exec::connect("sqlite::memory:").unwrap();
    database
        .execute_required("CREATE TABLE s (a INT) STRICT")
        .unwrap();
    assert_eq!(
        told(database.as_mut(), "INSERT INTO s VALUES ('x')"),
        "wrong type | 3091 | - | s | a"
    );
    database
        .execute_required("CREATE TABLE r (a INTEGER PRIMARY KEY)")
        .unwrap();
    assert_eq!(
        told(database.as_mut(), "INSERT INTO r VALUES ('x')"),
        "wrong type | 20 | - | - | "
    );
}

#[test]
fn an_sqlite_unique_index_over_an_expression_is_named() {
    let mut database = isobath_exec::connect("sqlite::memory:").unwrap();
    database.execute_required("CREATE TABLE t (a); CREATE UNIQUE INDEX low ON t (lower(a)); INSERT INTO t VALUES ('x')").unwrap();
    assert_eq!(
        told(database.as_mut(), "INSERT INTO t VALUES ('X')"),
        "UNIQUE | 2067 | low | - | "
    );
}

#[test]
fn a_restricted_delete_in_sqlite_is_a_foreign_key_refusal() {
    let mut database = isobath_exec::connect("sqlite::memory:").unwrap();
    database
        .execute_required(
            "CREATE TABLE p (a INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); \
             CREATE TABLE c (a REFERENCES p ON DELETE RESTRICT); INSERT INTO c VALUES (1)",
        )
        .unwrap();
    let answer = database.execute("DELETE FROM p").unwrap();
    assert_eq!(answer.refusal().unwrap().kind, RefusalKind::ForeignKey);
}
