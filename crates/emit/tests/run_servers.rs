//! Emitted suites for PostgreSQL and MariaDB are run for real, and fail when an expectation is
//! wrong.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod runner;
mod samples;

use std::sync::Mutex;

use isobath_emit::SuiteDialect::{Mysql, Postgres};
use isobath_exec::Engine;
use isobath_exec::server::{or_skip, shared};

use runner::{Workshop, left_out};

/// Suites for MariaDB share the name of their scratch database.
static SCRATCH: Mutex<()> = Mutex::new(());

#[test]
fn the_psql_script_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("psql", &["--version"]) else {
        return;
    };
    let Some(shop) = on_postgres(shop) else {
        return;
    };
    shop.check_one_by_one("sql", Postgres, |folder, file| {
        shop.script(folder, "psql -X -f \"$1\" \"$ISOBATH_POSTGRES_URL\"", file)
    });
}

#[test]
fn the_pgtap_script_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("pg_prove", &["--version"]) else {
        return;
    };
    let Some(shop) = on_postgres(shop) else {
        return;
    };
    let available = "psql -XAt -c \"SELECT 'yes' FROM pg_available_extensions \
                     WHERE name = 'pgtap'\" \"$ISOBATH_POSTGRES_URL\"";
    let folder = std::env::temp_dir();
    if !shop.script(&folder, available, "").output.contains("yes") {
        left_out("the extension pgtap is not installed");
        return;
    }
    shop.check_one_by_one("pgtap", Postgres, |folder, file| {
        shop.script(folder, "pg_prove -d \"$ISOBATH_POSTGRES_URL\" \"$1\"", file)
    });
}

#[test]
fn the_pytest_file_passes_on_postgres_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("python3", &["-c", "import pytest, psycopg"]) else {
        return;
    };
    if let Some(shop) = on_postgres(shop) {
        shop.check_pytest(Postgres);
    }
}

#[test]
fn the_junit_class_passes_on_postgres_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("mvn", &["--version"]) else {
        return;
    };
    if let Some(shop) = on_postgres(shop) {
        shop.check_junit(Postgres);
    }
}

#[test]
fn the_rust_test_passes_on_postgres_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::with_sqlx() else {
        return;
    };
    if let Some(shop) = on_postgres(shop) {
        shop.check_rust(Postgres);
    }
}

#[test]
fn the_mariadb_script_passes_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("mariadb", &["--version"]) else {
        return;
    };
    let Some(shop) = on_mariadb(shop) else { return };
    let _one = SCRATCH.lock();
    let command = "mariadb --no-defaults --default-character-set=utf8mb4 -h 127.0.0.1 \
                   -P \"$PORT\" -u \"$USER_NAME\" < \"$1\"";
    shop.check_one_by_one("sql", Mysql, |folder, file| {
        shop.script(folder, command, file)
    });
}

#[test]
fn the_pytest_file_passes_on_mariadb_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("python3", &["-c", "import pytest, pymysql"]) else {
        return;
    };
    let Some(shop) = on_mariadb(shop) else { return };
    let _one = SCRATCH.lock();
    shop.check_pytest(Mysql);
}

#[test]
fn the_junit_class_passes_on_mariadb_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::needing("mvn", &["--version"]) else {
        return;
    };
    let Some(shop) = on_mariadb(shop) else { return };
    let _one = SCRATCH.lock();
    shop.check_junit(Mysql);
}

#[test]
fn the_rust_test_passes_on_mariadb_and_notices_every_wrong_expectation() {
    let Some(shop) = Workshop::with_sqlx() else {
        return;
    };
    let Some(shop) = on_mariadb(shop) else { return };
    let _one = SCRATCH.lock();
    shop.check_rust(Mysql);
}

#[test]
fn the_sqlx_tests_pass_on_postgres_and_notice_every_wrong_expectation() {
    let Some(shop) = Workshop::with_sqlx() else {
        return;
    };
    if let Some(shop) = on_postgres(shop) {
        shop.check_sqlx(Postgres);
    }
}

#[test]
fn the_sqlx_tests_pass_on_mariadb_and_notice_every_wrong_expectation() {
    let Some(shop) = Workshop::with_sqlx() else {
        return;
    };
    let Some(shop) = on_mariadb(shop) else { return };
    let _one = SCRATCH.lock();
    shop.check_sqlx(Mysql);
}

fn on_postgres(shop: Workshop) -> Option<Workshop> {
    let server = or_skip("suites for PostgreSQL", shared(Engine::Postgres))?;
    let url = server.create_database().unwrap();
    let (user, password, place) = parts(&url);
    let jdbc = format!("jdbc:postgresql://{place}?user={user}&password={password}");
    Some(
        shop.with("ISOBATH_JDBC_URL", jdbc)
            .with("DATABASE_URL", url.as_str())
            .with("ISOBATH_POSTGRES_URL", url),
    )
}

fn on_mariadb(shop: Workshop) -> Option<Workshop> {
    let server = or_skip("suites for MariaDB", shared(Engine::MariaDb))?;
    let url = server.create_database().unwrap();
    let (user, password, place) = parts(&url);
    let jdbc = format!("jdbc:mariadb://{place}?user={user}&password={password}");
    Some(
        shop.with("PORT", server.port().to_string())
            .with("USER_NAME", user)
            .with("MYSQL_PWD", password)
            .with("ISOBATH_JDBC_URL", jdbc)
            .with("DATABASE_URL", url.as_str())
            .with("ISOBATH_MARIADB_URL", url),
    )
}

/// User, password, and the rest of `scheme://user:password@host:port/database`.
fn parts(url: &str) -> (String, String, String) {
    let (_, rest) = url.split_once("://").unwrap();
    let (login, place) = rest.split_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    (user.into(), password.into(), place.into())
}
