//! What is not in the model is said, with its place, and loses nothing else.

mod common;

use common::{describe, limitations, load_as, load_guessing};
use isobath_sql::DialectName::{Ansi, MySql, Postgres, Sqlite};
use isobath_sql::ddl::excerpt;
use isobath_sql::limitation::Severity;

#[test]
fn a_syntax_error_has_line_and_column_and_loses_no_other_table() {
    let text = "CREATE TABLE a (x INT);\nCREATE TABLE b (\n  y INT,\n  z z z INT\n);\nCREATE TABLE c (w INT);";
    let loaded = load_as(Ansi, text);
    let names: Vec<&str> = loaded
        .schema
        .tables
        .iter()
        .map(|t| t.name.as_str())
        .collect();
    assert_eq!(names, ["a", "c"]);
    let [error] = loaded.limitations.as_slice() else {
        panic!("{}", limitations(&loaded));
    };
    assert_eq!(error.severity, Severity::Syntax);
    assert_eq!((error.location.line, error.location.column), (4, 7));
    assert_eq!(
        excerpt(text, &error.location),
        ("  z z z INT".to_owned(), 7)
    );
}

#[test]
fn a_bad_constraint_costs_the_constraint_and_not_the_table() {
    let loaded = load_as(
        Postgres,
        "CREATE TABLE t (a int, CHECK (a >< < 1), CONSTRAINT no EXCLUDE USING gist (a WITH =), UNIQUE (a))",
    );
    insta::assert_snapshot!(describe(&loaded.schema), @"
    t
      a Integer { bits: 32, unsigned: false }
      - unique (a)
    ");
    let severities: Vec<Severity> = loaded.limitations.iter().map(|of| of.severity).collect();
    assert_eq!(severities, [Severity::Unsupported, Severity::Syntax]);
}

#[test]
fn a_bad_constraint_is_found_behind_letters_of_several_bytes() {
    let loaded = load_as(
        MySql,
        "CREATE TABLE t (a int, KEY größe (a) COMMENT 'größer als übermäßig', CHECK (a >< < 1), UNIQUE (a))",
    );
    insta::assert_snapshot!(describe(&loaded.schema), @"
    t
      a Integer { bits: 32, unsigned: false }
      - unique (a)
    ");
    let error = loaded
        .limitations
        .iter()
        .find(|limitation| limitation.severity == Severity::Syntax)
        .expect("the CHECK does not parse");
    assert_eq!(error.input, "CHECK (a >< < 1)");
}

#[test]
fn statements_that_refuse_no_row_are_ignored() {
    let loaded = load_as(
        Postgres,
        "SET search_path = public;
        CREATE SEQUENCE s START 0;
        CREATE VIEW v AS SELECT 1;
        CREATE FUNCTION f() RETURNS int AS $_$ BEGIN; RETURN 1; END; $_$ LANGUAGE plpgsql;
        CREATE INDEX i ON t (a);
        COMMENT ON TABLE t IS 'a;b';
        GRANT ALL ON t TO x;
        INSERT INTO t VALUES ('a''; b');
        \\connect other
        COPY t (a) FROM stdin;
        1; CREATE TABLE inside (x int);
        \\.
        DROP TABLE IF EXISTS gone;
        CREATE TABLE t (a int);",
    );
    assert!(
        loaded
            .limitations
            .iter()
            .all(|of| of.severity == Severity::Ignored),
        "{}",
        limitations(&loaded)
    );
    assert_eq!(loaded.schema.tables.len(), 1);
    assert_eq!(loaded.statements, 12);
}

#[test]
fn what_may_refuse_rows_unseen_is_unsupported() {
    let loaded = load_as(
        Postgres,
        "CREATE TABLE t (a int) PARTITION BY RANGE (a);
        CREATE TABLE p PARTITION OF t FOR VALUES FROM (1) TO (2);
        CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE PROCEDURE f();
        CREATE RULE r AS ON INSERT TO t DO INSTEAD NOTHING;
        CREATE POLICY q ON t USING (true);
        ALTER TABLE t ENABLE ROW LEVEL SECURITY;
        CREATE TABLE u (b int CHECK (b IN (SELECT a FROM t)));",
    );
    assert_eq!(loaded.limitations.len(), 7, "{}", limitations(&loaded));
    assert!(
        loaded
            .limitations
            .iter()
            .all(|of| of.severity == Severity::Unsupported)
    );
    assert_eq!(loaded.schema.tables.len(), 2);
}

#[test]
fn bodies_of_triggers_are_one_statement() {
    let sqlite = load_guessing(
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN
           UPDATE t SET a = CASE WHEN a > 1 THEN 2 ELSE 3 END; DELETE FROM t;
         END;
         CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT);",
    );
    assert_eq!((sqlite.dialect, sqlite.statements), (Sqlite, 2));
    let mysql = load_as(
        MySql,
        "DELIMITER ;;
         /*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN
           IF NEW.a > 1 THEN SET NEW.a = 1; END IF; END */;;
         DELIMITER ;
         CREATE TABLE t (a INT);",
    );
    assert_eq!(mysql.statements, 2);
    assert_eq!(mysql.limitations[0].severity, Severity::Unsupported);
    assert_eq!(mysql.schema.tables.len(), 1);
}

#[test]
fn names_that_lead_nowhere_are_reported() {
    let loaded = load_as(
        Ansi,
        "CREATE TABLE a (x INT, FOREIGN KEY (x) REFERENCES nobody (id), UNIQUE (y));
        CREATE TABLE b (x INT REFERENCES a);
        CREATE TABLE c (x INT REFERENCES a (z), CHECK (q > 1));
        CREATE TABLE d (x INT, X INT);
        CREATE TABLE d (y INT);
        CREATE TABLE e ();
        CREATE TABLE f (x INT PRIMARY KEY, y INT, PRIMARY KEY (y));
        ALTER TABLE nobody ADD COLUMN x INT;",
    );
    let mut whys: Vec<&str> = loaded
        .limitations
        .iter()
        .map(|of| of.why.as_str())
        .collect();
    whys.sort_unstable();
    insta::assert_snapshot!(whys.join("\n"), @"
    `a` has no column `z`
    `a` has no primary key to refer to
    a table without columns holds nothing to test
    column `X` is defined twice
    no such column
    table `d` is already defined in x.sql:4:22; that definition is used
    table `f` already has a primary key
    unknown column `y`
    unknown table `nobody`
    unknown table `nobody` in REFERENCES
    ");
}

#[test]
fn places_survive_comments_and_repairs() {
    let loaded = load_as(
        Sqlite,
        "-- é comment\nCREATE /* c */ TABLE t (\n  a TEXT(20) /* x */ CHECK (a REGEXP 'x'), -- y\n  b INT CHECK (é > 1)\n);",
    );
    let [error] = loaded.limitations.as_slice() else {
        panic!("{}", limitations(&loaded));
    };
    assert_eq!((error.location.line, error.location.column), (4, 16));
    let table = &loaded.schema.tables[0];
    assert_eq!((table.location.line, table.location.column), (2, 22));
}

#[test]
fn rows_in_conflict_are_said_to_be_refused() {
    let loaded = load_as(
        Sqlite,
        "CREATE TABLE t (a INT UNIQUE ON CONFLICT REPLACE, b INT NOT NULL ON CONFLICT ABORT)",
    );
    assert_eq!(loaded.limitations.len(), 1);
    assert_eq!(loaded.limitations[0].severity, Severity::Unsupported);
    assert_eq!(loaded.schema.tables[0].constraints.len(), 2);
}

#[test]
fn files_that_are_no_sql_end_in_limitations() {
    for text in [
        "",
        "\u{feff}",
        "\0\0\0\u{fffd}\u{fffd}",
        "<html><body>;</body></html>",
        "'",
        "(((((",
        "/*",
        "$$",
    ] {
        let loaded = load_guessing(text);
        assert!(loaded.schema.tables.is_empty());
    }
    let deep = format!(
        "CREATE TABLE t (a INT CHECK ({}a > 1{}))",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    assert!(!load_guessing(&deep).limitations.is_empty());
    let long = format!(
        "CREATE TABLE t (a INT CHECK (a > 0{}))",
        " + 1".repeat(100_000)
    );
    assert!(!load_guessing(&long).limitations.is_empty());
    let wide = format!(
        "CREATE TABLE t (a INT CHECK (a = 0{}))",
        " OR a = 1".repeat(1_000)
    );
    assert!(load_guessing(&wide).limitations.is_empty());
}

#[test]
fn a_dump_of_thousands_of_tables_loads() {
    let mut text = String::new();
    for index in 0..5_000 {
        text.push_str(&format!(
            "CREATE TABLE t{index} (id INT PRIMARY KEY, p INT REFERENCES t{} (id));\n",
            index / 2
        ));
    }
    let loaded = load_guessing(&text);
    assert_eq!(loaded.schema.tables.len(), 5_000);
    assert!(loaded.limitations.is_empty());
}
