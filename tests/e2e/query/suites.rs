//! What the job writes is run by the tools it is written for, on the engines it is written for: it
//! passes, and fails once the query is another one.
//!
//! Suites for MariaDB share the name of their scratch database, so only the script is run there, and
//! sqlx, which makes databases of its own; `emit` runs the other languages on it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use isobath_exec::Engine;
use isobath_exec::server::{or_skip, shared};

use crate::command::isobath;
use crate::desk::{QUERIES, SHOP};

/// A table with the types that languages and engines print in their own ways.
const VISITS: &str = "
CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    on_day DATE NOT NULL,
    paid DECIMAL(8, 2),
    note VARCHAR(60)
);";

const MORE_QUERIES: &str = "
-- name: Paid :many
SELECT v.on_day, v.paid, v.note FROM visits v
WHERE v.on_day >= :since AND (v.paid > 9.5 OR v.note LIKE '%\"quoted\"%');
";

/// What is wrong in a wrong query; every generated language has the text on one line.
const RIGHT: &str = "o.total > 10";
const WRONG: &str = "o.total >= 10";

/// An engine, and what tools have to know to find it.
struct Ground {
    environment: Vec<(&'static str, String)>,
}

impl Ground {
    /// The ground of an engine; nothing, and a word about it, where there is none.
    fn of(engine: Engine) -> Option<Self> {
        if engine == Engine::Sqlite {
            let environment = vec![("DATABASE_URL", "sqlite::memory:".to_owned())];
            return Some(Self { environment });
        }
        let server = or_skip("suites of queries", shared(engine))?;
        let url = server.create_database().expect("a database of our own");
        let (_, rest) = url.split_once("://").expect("an address");
        let (login, place) = rest.split_once('@').expect("a log-in");
        let (user, password) = login.split_once(':').expect("a password");
        let (scheme, variable) = match engine {
            Engine::Postgres => ("postgresql", "ISOBATH_POSTGRES_URL"),
            _ => ("mariadb", "ISOBATH_MARIADB_URL"),
        };
        let jdbc = format!("jdbc:{scheme}://{place}?user={user}&password={password}");
        Some(Self {
            environment: vec![
                ("PORT", server.port().to_string()),
                ("USER_NAME", user.to_owned()),
                ("MYSQL_PWD", password.to_owned()),
                ("ISOBATH_JDBC_URL", jdbc),
                ("DATABASE_URL", url.clone()),
                (variable, url),
            ],
        })
    }

    /// Runs a shell command in a folder; says whether it went well, and what it printed.
    fn run(&self, folder: &Path, script: &str) -> (bool, String) {
        let bounded = "if command -v timeout >/dev/null; then exec timeout 400 sh -c \"$0\"; else exec sh -c \"$0\"; fi";
        let mut shell = Command::new("sh");
        shell.args(["-c", bounded, script]).current_dir(folder);
        // One set of dependencies for all suites of Rust.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emitted");
        shell.env("CARGO_TARGET_DIR", target);
        shell.env("CARGO", env!("CARGO"));
        shell.env("DBT_SEND_ANONYMOUS_USAGE_STATS", "false");
        shell.envs(self.environment.iter().cloned());
        let done = shell.output().expect("a shell");
        let said = [done.stdout, done.stderr].concat();
        (
            done.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    }
}

/// The folders of engines; `None` where there is no such engine.
type Written = Vec<(Engine, Option<PathBuf>)>;

/// The tests of one engine, written once.
fn written(engine: Engine) -> Option<PathBuf> {
    static WRITTEN: LazyLock<Mutex<Written>> = LazyLock::new(Mutex::default);
    let mut written = WRITTEN.lock().expect("nobody fails while holding it");
    if let Some((_, folder)) = written.iter().find(|(of, _)| *of == engine) {
        return folder.clone();
    }
    let folder = write(engine);
    written.push((engine, folder.clone()));
    folder
}

fn write(engine: Engine) -> Option<PathBuf> {
    let (name, dialect, formats) = match engine {
        Engine::Sqlite => ("sqlite", "sqlite", "sql,pytest,junit,rust,sqlx,dbt,json"),
        Engine::Postgres => ("postgres", "postgres", "sql,pytest,junit,rust,sqlx,pgtap"),
        _ => ("mariadb", "mysql", "sql,pytest,junit,rust,sqlx"),
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("query-suites")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a folder of our own");
        path.to_str().expect("a plain path").to_owned()
    };
    let schema = file("schema.sql", format!("{SHOP}{VISITS}"));
    let queries = file("queries.sql", format!("{QUERIES}{MORE_QUERIES}"));
    let out = folder.to_str().expect("a plain path");
    let mut args = vec!["query", &queries, "--schema", &schema, "--out", out];
    args.extend(["--dialect", dialect, "--engine", name, "--lang", formats]);
    let run = isobath(&args);
    if run.code == 3 && std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_none() {
        return None;
    }
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.out.contains("every covered target was confirmed"),
        "{run}"
    );
    Some(folder)
}

/// Runs the tests in one language on an engine, then the same tests over another query.
fn prove(engine: Engine, language: &str, script: &str) {
    prove_with(engine, language, script, true);
}

fn prove_with(engine: Engine, language: &str, script: &str, wrong_too: bool) {
    let (Some(folder), Some(ground)) = (written(engine), Ground::of(engine)) else {
        return;
    };
    let folder = folder.join(language);
    let (fine, said) = ground.run(&folder, script);
    assert!(fine, "{language} on {engine}:\n{said}");
    if !wrong_too {
        return;
    }
    let changed: usize = crate::command::files(folder.to_str().expect("a plain path"))
        .into_iter()
        .filter_map(|(name, bytes)| Some((name, String::from_utf8(bytes).ok()?)))
        .filter(|(name, text)| text.contains(RIGHT) && !name.contains("target/"))
        .map(|(name, text)| {
            let path = folder.join(name);
            std::fs::write(path, text.replace(RIGHT, WRONG)).expect("a folder of our own");
        })
        .count();
    assert!(changed > 0, "{language} does not hold the query");
    let (fine, said) = ground.run(&folder, script);
    assert!(
        !fine,
        "{language} on {engine} takes the wrong query:\n{said}"
    );
    let about_it = said.to_lowercase().contains("big");
    assert!(
        about_it,
        "{language} on {engine} fails for another reason:\n{said}"
    );
}

/// Whether a tool is there; required ones have to be.
fn has(probe: &str, required: bool) -> bool {
    let done = Command::new("sh").args(["-c", probe]).output();
    let there = done.is_ok_and(|done| done.status.success());
    let all = required && std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_some();
    assert!(there || !all, "`{probe}` does not work");
    there
}

#[test]
fn scripts_pass_and_notice_another_query() {
    if has("sqlite3 --version", true) {
        prove(Engine::Sqlite, "sql", "sqlite3 :memory: < queries.sql");
    }
    if has("psql --version", true) {
        let script = "psql -X -f queries.sql \"$ISOBATH_POSTGRES_URL\"";
        prove(Engine::Postgres, "sql", script);
    }
    if has("mariadb --version", true) {
        let script = "mariadb --no-defaults --default-character-set=utf8mb4 -h 127.0.0.1 \
                      -P \"$PORT\" -u \"$USER_NAME\" < queries.sql";
        prove(Engine::MariaDb, "sql", script);
    }
}

#[test]
fn pytest_passes_and_notices_another_query() {
    let script = "python3 -m pytest -q -p no:cacheprovider test_queries.py";
    if has("python3 -m pytest --version", true) {
        prove(Engine::Sqlite, "pytest", script);
    }
    if has("python3 -c 'import pytest, psycopg'", true) {
        prove(Engine::Postgres, "pytest", script);
    }
}

#[test]
fn pgtap_passes_and_notices_another_query() {
    if !has("pg_prove --version", true) {
        return;
    }
    let available = "psql -XAt -c \"SELECT name FROM pg_available_extensions\" \
                     \"$ISOBATH_POSTGRES_URL\" | grep -q pgtap";
    let Some(ground) = Ground::of(Engine::Postgres) else {
        return;
    };
    if ground.run(&std::env::temp_dir(), available).0 {
        let script = "pg_prove -d \"$ISOBATH_POSTGRES_URL\" queries.pgtap.sql";
        prove(Engine::Postgres, "pgtap", script);
    }
}

#[test]
fn junit_passes_and_notices_another_query() {
    if has("mvn --version", true) {
        // Maven is slow; that a wrong expectation fails on servers too is shown by `emit`.
        prove(Engine::Sqlite, "junit", "mvn -q -B test");
        prove_with(Engine::Postgres, "junit", "mvn -q -B test", false);
    }
}

#[test]
fn rust_and_sqlx_pass_and_notice_another_query() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = lock.display();
    // This workspace's lock file, so that nothing is fetched and little is compiled.
    let script = format!("cp \"{lock}\" Cargo.lock; \"$CARGO\" test -q --test '*'");
    prove(Engine::Sqlite, "rust", &script);
    if std::env::var_os("ISOBATH_BUILD_SQLX").is_none() {
        return;
    }
    prove(Engine::Sqlite, "sqlx", &script);
    prove_with(Engine::Postgres, "rust", &script, false);
    prove(Engine::Postgres, "sqlx", &script);
    prove(Engine::MariaDb, "sqlx", &script);
}

#[test]
fn unit_tests_of_dbt_pass_and_notice_another_query() {
    if !has("python3 -c 'import duckdb, dbt.adapters.duckdb'", false) {
        return;
    }
    let Some(folder) = written(Engine::Sqlite) else {
        return;
    };
    let profile = "isobath:\n  target: test\n  outputs:\n    \
                   test: {type: duckdb, path: test.duckdb, schema: main, threads: 1}\n";
    let stored = std::fs::read_to_string(folder.join("json/queries.json")).expect("it is there");
    let stored: serde_json::Value = serde_json::from_str(&stored).expect("JSON");
    let prepare = format!(
        "import json, duckdb\nconnection = duckdb.connect('test.duckdb')\n\
         for sql in json.loads({:?}):\n    connection.execute(sql)\n",
        stored["setup"].to_string()
    );
    let dbt = folder.join("dbt");
    std::fs::write(dbt.join("profiles.yml"), profile).expect("a folder of our own");
    std::fs::write(dbt.join("prepare.py"), prepare).expect("a folder of our own");
    let script = "rm -f test.duckdb && python3 prepare.py \
                  && dbt --no-use-colors test --select test_type:unit --profiles-dir .";
    prove(Engine::Sqlite, "dbt", script);
}
