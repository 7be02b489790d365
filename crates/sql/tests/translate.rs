//! What a schema becomes on an engine of another kind, and what is said about it.

mod common;

use common::{describe, load_as};
use isobath_sql::DialectName::{self, Ansi, MySql, Postgres, Sqlite};
use isobath_sql::{Dialect, render};

fn into(from: DialectName, to: DialectName, text: &str) -> String {
    let schema = load_as(from, text).schema;
    let translated = render::translate(&schema, from, to);
    let mut out = describe(&translated.schema);
    for note in &translated.notes {
        out.push_str(&format!(
            "{:?} {}: {}\n",
            note.severity, note.input, note.why
        ));
    }
    out
}

#[test]
fn an_integer_key_from_elsewhere_is_no_row_id_in_sqlite() {
    let schema = load_as(Ansi, "CREATE TABLE t (id INTEGER PRIMARY KEY)").schema;
    let translated = render::translate(&schema, Ansi, Sqlite);
    assert_eq!(translated.schema.tables[0].columns[0].declared, "INT");
    assert_eq!(
        isobath_sql::dialect::Sqlite.rowid_alias(&translated.schema.tables[0]),
        None
    );
    let own = render::translate(&schema, Sqlite, Sqlite);
    assert_eq!(
        isobath_sql::dialect::Sqlite.rowid_alias(&own.schema.tables[0]),
        Some(0)
    );
}

#[test]
fn enumerations_become_checks_types_or_inline_lists() {
    let text = "CREATE TYPE m AS ENUM ('a', 'b'); CREATE TABLE t (x m)";
    insta::assert_snapshot!(into(Postgres, Sqlite, text), @"
    t
      x Text
      - check x IN ('a', 'b')
    ");
    let schema = load_as(Postgres, text).schema;
    let mysql = render::translate(&schema, Postgres, MySql);
    insta::assert_snapshot!(render::create_statements(&mysql.schema, MySql).join(";\n"), @"
    CREATE TABLE t (
      x ENUM('a', 'b')
    )
    ");
    let schema = load_as(MySql, "CREATE TABLE t (x enum('a','b'))").schema;
    let postgres = render::translate(&schema, MySql, Postgres);
    insta::assert_snapshot!(render::create_statements(&postgres.schema, Postgres).join(";\n"), @"
    CREATE TYPE t_x AS ENUM ('a', 'b');
    CREATE TABLE t (
      x t_x
    )
    ");
}

#[test]
fn mariadb_gets_short_keys_and_the_types_of_parents() {
    insta::assert_snapshot!(into(Postgres, MySql, "
        CREATE TABLE p (id integer PRIMARY KEY, t text UNIQUE, free text, b boolean);
        CREATE TABLE c (p smallint REFERENCES p (id) ON DELETE SET DEFAULT);
        CREATE UNIQUE INDEX u ON p (t) WHERE id > 3;"), @"
    p
      id Integer { bits: 32, unsigned: false }
      t Varchar { length: Some(255) }
      free Text
      b Integer { bits: 8, unsigned: false }
      - primary key (id)
      - unique (t)
    c
      p Integer { bits: 32, unsigned: false }
      - (p) -> p (id)
    Unsupported p.t: keys cannot hold text of any length, so it is VARCHAR(255) in MariaDB
    Unsupported p.b: there is no type of truth values, so it is TINYINT in MariaDB
    Unsupported c.p: MariaDB wants the type of the column it refers to, so it is INT
    Unsupported p: MariaDB has no unique index over expressions or part of the rows, so it is dropped
    Unsupported c -> p: MariaDB cannot set these columns, so it refuses instead
    ");
}

#[test]
fn postgres_widens_what_it_has_no_type_for() {
    insta::assert_snapshot!(into(MySql, Postgres, "
        CREATE TABLE t (a tinyint unsigned, b bigint unsigned, c mediumint, d year,
            e datetime DEFAULT '0000-00-00 00:00:00', f varchar(9) CHECK (f > 3))"), @"
    t
      a Integer { bits: 16, unsigned: false }
      b Decimal { precision: Some(20), scale: Some(0) }
      c Integer { bits: 32, unsigned: false }
      d Integer { bits: 16, unsigned: false }
      e Timestamp { precision: 0, zoned: false }
      f Varchar { length: Some(9) }
    Unsupported t.a: there are no unsigned integers, so it is SMALLINT in PostgreSQL
    Unsupported t.b: there are no unsigned integers, so it is NUMERIC(20, 0) in PostgreSQL
    Unsupported t.c: there is no integer of 24 bits, so it is INTEGER in PostgreSQL
    Unsupported t.d: there is no YEAR, so it is SMALLINT in PostgreSQL
    Unsupported t.e: its default '0000-00-00 00:00:00' is dropped: there is no year zero
    Unsupported CHECK (f > 3): it is dropped: PostgreSQL does not compare text with numbers
    ");
}

#[test]
fn conditions_that_sqlite_cannot_evaluate_are_dropped_and_said() {
    insta::assert_snapshot!(into(Postgres, Sqlite, "
        CREATE TABLE t (a text CHECK (a ~ 'x'), d date CHECK (d < now()), e date DEFAULT now() CHECK (e > DATE '2020-01-01'),
            f boolean CHECK (f = TRUE), FOREIGN KEY (a) REFERENCES t (a) MATCH FULL, UNIQUE (a) DEFERRABLE)"), @"
    t
      a Text
      d Date
      e Date default CURRENT_TIMESTAMP
      f Boolean
      - check e > '2020-01-01'
      - check f = 1
      - (a) -> t (a)
      - unique (a)
    Unsupported CHECK (a ~ 'x'): it is dropped: SQLite has no patterns of this kind
    Unsupported CHECK (d < CURRENT_TIMESTAMP): it is dropped: SQLite takes no clock in a condition
    Unsupported t -> t: SQLite has no MATCH FULL, so one NULL is enough
    Unsupported t: SQLite checks it at once
    ");
}

#[test]
fn a_foreign_key_to_no_key_is_dropped() {
    let out = into(
        Sqlite,
        Postgres,
        "CREATE TABLE p (a INT); CREATE TABLE c (a INT REFERENCES p (a))",
    );
    assert!(
        out.contains("PostgreSQL wants a key over the columns referred to, so it is dropped"),
        "{out}"
    );
}

#[test]
fn names_that_clash_in_the_engine_are_changed() {
    let text = "CREATE TABLE one.t (a INT CONSTRAINT k PRIMARY KEY); CREATE TABLE two.t (a INT CONSTRAINT k PRIMARY KEY)";
    insta::assert_snapshot!(into(Ansi, Postgres, text), @"
    t
      a Integer { bits: 32, unsigned: false }
      - primary key (a) [k]
    two_t
      a Integer { bits: 32, unsigned: false }
      - primary key (a) [k_2]
    Ignored t: there is another table of the name, so it is `two_t` here
    Ignored k: the name is taken in PostgreSQL, so it is `k_2` here
    ");
}

#[test]
fn counters_stay_where_the_engine_can_count() {
    insta::assert_snapshot!(into(Postgres, Sqlite, "CREATE TABLE a (id serial PRIMARY KEY); CREATE TABLE b (id serial, k int PRIMARY KEY)"), @"
    a
      id Integer { bits: 32, unsigned: false } Counter
      - not null id
      - primary key (id)
    b
      id Integer { bits: 32, unsigned: false }
      k Integer { bits: 32, unsigned: false }
      - not null id
      - primary key (k)
    Unsupported b.id: SQLite cannot count in this column, so it is not filled
    ");
}

#[test]
fn mariadb_changes_no_column_that_a_condition_reads() {
    insta::assert_snapshot!(into(Postgres, MySql, "
        CREATE TABLE p (id serial PRIMARY KEY CHECK (id > 0));
        CREATE TABLE c (a int CHECK (a > 1) REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE)"), @"
    p
      id Integer { bits: 32, unsigned: false }
      - not null id
      - primary key (id)
      - check id > 0
    c
      a Integer { bits: 32, unsigned: false }
      - check a > 1
      - (a) -> p (id) on delete Cascade
    Unsupported p.id: MariaDB cannot count in this column, so it is not filled
    Unsupported c -> p: MariaDB cannot set these columns, so it refuses instead
    ");
}
