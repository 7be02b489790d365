//! What each writer writes, and that it stays the same.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod samples;

use std::io::Write;

use isobath_emit::SuiteDialect::{Mysql, Postgres, Sqlite};
use isobath_emit::{Suite, SuiteDialect, WriteError, writer};

/// All files of a writer, one below the other.
fn written(name: &str, dialect: SuiteDialect) -> String {
    let files = writer::by_name(name).unwrap();
    let files = files.write(&samples::shop(dialect)).unwrap();
    let files = files.iter();
    files
        .map(|file| format!("==> {} <==\n{}", file.path, file.text))
        .collect()
}

#[test]
fn sql_for_each_client() {
    insta::assert_snapshot!("sql_sqlite", written("sql", Sqlite));
    insta::assert_snapshot!("sql_postgres", written("sql", Postgres));
    insta::assert_snapshot!("sql_mysql", written("sql", Mysql));
}

#[test]
fn pytest_for_each_engine() {
    insta::assert_snapshot!("pytest_sqlite", written("pytest", Sqlite));
    insta::assert_snapshot!("pytest_postgres", written("pytest", Postgres));
    insta::assert_snapshot!("pytest_mysql", written("pytest", Mysql));
}

#[test]
fn junit_for_each_engine() {
    insta::assert_snapshot!("junit_sqlite", written("junit", Sqlite));
    insta::assert_snapshot!("junit_postgres", written("junit", Postgres));
    insta::assert_snapshot!("junit_mysql", written("junit", Mysql));
}

#[test]
fn rust_for_each_engine() {
    insta::assert_snapshot!("rust_sqlite", written("rust", Sqlite));
    insta::assert_snapshot!("rust_postgres", written("rust", Postgres));
    insta::assert_snapshot!("rust_mysql", written("rust", Mysql));
}

#[test]
fn pgtap_and_json() {
    insta::assert_snapshot!("pgtap_postgres", written("pgtap", Postgres));
    insta::assert_snapshot!("json_sqlite", written("json", Sqlite));
}

#[test]
fn a_suite_is_the_same_after_a_round_trip_through_json() {
    for dialect in [Sqlite, Postgres, Mysql] {
        let suite = samples::shop(dialect);
        let files = writer::by_name("json").unwrap().write(&suite).unwrap();
        assert_eq!(Suite::from_json(&files[0].text).unwrap(), suite);
    }
}

/// All files of a writer for the suite about queries, one below the other.
fn queries(name: &str, dialect: SuiteDialect) -> String {
    let files = writer::by_name(name).unwrap();
    let files = files.write(&samples::queries::shop(dialect)).unwrap();
    let files = files.iter();
    files
        .map(|file| format!("==> {} <==\n{}", file.path, file.text))
        .collect()
}

#[test]
fn queries_as_fixtures_sqlx_and_dbt() {
    insta::assert_snapshot!("queries_fixtures", queries("fixtures", Postgres));
    insta::assert_snapshot!("queries_sqlx", queries("sqlx", Postgres));
    insta::assert_snapshot!("queries_dbt", queries("dbt", Postgres));
}

#[test]
fn tests_of_a_query_share_its_text() {
    for (writer, call) in [
        ("pytest", "database.returns(PAID_BY_PERSON, ["),
        ("junit", "database.returns(PAID_BY_PERSON"),
        ("rust", "db.returns(PAID_BY_PERSON)"),
    ] {
        let text = queries(writer, Sqlite);
        assert!(text.matches(call).count() >= 1, "{text}");
        assert_eq!(text.matches("LEFT JOIN payments").count(), 1, "{text}");
    }
}

#[test]
fn a_suite_about_queries_is_the_same_after_a_round_trip_through_json() {
    let suite = samples::queries::shop(Sqlite);
    let files = writer::by_name("json").unwrap().write(&suite).unwrap();
    assert_eq!(Suite::from_json(&files[0].text).unwrap(), suite);
}

#[test]
fn a_suite_that_is_none_says_where_it_goes_wrong() {
    let error = Suite::from_json("{\n  \"title\": 1\n}").unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("failed to read suite: "), "{text}");
    assert!(text.contains("line 2"), "{text}");
}

#[test]
fn a_writer_for_another_engine_or_of_another_name_is_refused() {
    let pgtap = writer::by_name("pgtap").unwrap();
    let error = pgtap.write(&samples::shop(Sqlite)).unwrap_err();
    assert!(matches!(error, WriteError::Dialect { .. }), "{error}");
    let error = writer::by_name("cobol").err().unwrap().to_string();
    assert!(
        error.contains("sql, pytest, junit, rust, pgtap, json"),
        "{error}"
    );
}

#[test]
fn suites_without_tests_and_with_long_values_are_written() {
    let mut suite = Suite::new("", Sqlite);
    for writer in writer::ALL.iter().filter(|writer| writer.name() != "pgtap") {
        match writer.write(&suite) {
            Ok(files) => assert!(!files[0].text.is_empty()),
            Err(error) => assert!(matches!(error, WriteError::OnlyQueries { .. }), "{error}"),
        }
    }
    // Longer than a constant of a Java class may be.
    suite.setup.push("é".repeat(70_000));
    let java = writer::by_name("junit").unwrap().write(&suite).unwrap();
    assert!(java[0].text.contains("String.join(\"\", "));
}

#[test]
fn rust_suites_are_formatted_as_rustfmt_formats() {
    let suites = [Sqlite, Postgres, Mysql]
        .into_iter()
        .flat_map(|dialect| [samples::shop(dialect), samples::queries::shop(dialect)]);
    for suite in suites {
        let files = writer::by_name("rust").unwrap();
        let files = files.write(&suite).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.rs");
        std::fs::write(&path, &files[0].text).unwrap();
        let rustfmt = std::process::Command::new("rustfmt")
            .args(["--edition", "2024", "--check"])
            .arg(&path)
            .output();
        match rustfmt {
            Ok(output) => assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stdout)
            ),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "left out: rustfmt does not run: {error}");
                return;
            }
        }
    }
}
