//! Emitted suites for SQLite are run for real, and fail when an expectation is wrong.

mod runner;
mod samples;

use isobath_emit::SuiteDialect::Sqlite;

use runner::Workshop;

#[test]
fn the_sql_script_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("sqlite3", &["--version"]) else {
        return;
    };
    shop.check_one_by_one("sql", Sqlite, |folder, file| {
        shop.script(folder, "sqlite3 :memory: < \"$1\"", file)
    });
}

#[test]
fn the_pytest_file_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("python3", &["-m", "pytest", "--version"]) else {
        return;
    };
    shop.check_pytest(Sqlite);
}

#[test]
fn the_junit_class_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("mvn", &["--version"]) else {
        return;
    };
    shop.check_junit(Sqlite);
}

#[test]
fn the_rust_test_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("cargo", &["--version"]) else {
        return;
    };
    shop.check_rust(Sqlite);
}

#[test]
fn the_sqlx_tests_pass_and_notice_every_wrong_expectation() {
    let Some(shop) = Workshop::with_sqlx() else {
        return;
    };
    shop.with("DATABASE_URL", "sqlite::memory:")
        .check_sqlx(Sqlite);
}

#[test]
fn the_dbt_unit_tests_pass_and_notice_every_wrong_expectation() {
    let probe = ["-c", "import duckdb, dbt.adapters.duckdb"];
    let Some(shop) = Workshop::wishing("python3", &probe) else {
        return;
    };
    shop.with("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
        .check_dbt();
}
