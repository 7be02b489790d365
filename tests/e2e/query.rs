//! `isobath query` as a user runs it: flags in, files, objects and exit codes out.

mod command;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use command::{Run, isobath, lines, write};
use serde_json::Value;

/// Two tables in words that every engine reads.
const SHOP: &str = "
CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40));
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    total INTEGER CHECK (total >= 0)
);";

const QUERIES: &str = "-- Everything about a few queries.

-- name: Big :many
SELECT o.id, p.name, o.total
FROM orders o JOIN people p ON p.id = o.person
WHERE o.total > 10 AND p.city = 'Faro'
ORDER BY o.id;

-- Totals by city
SELECT p.city, SUM(o.total) AS total
FROM people p LEFT JOIN orders o ON o.person = p.id
GROUP BY p.city;

-- name: Forget :exec
DELETE FROM orders WHERE total IS NULL;
";

fn objects(run: &Run) -> Vec<Value> {
    lines(&run.out)
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
        .collect()
}

fn ids(run: &Run) -> Vec<String> {
    let objects = objects(run);
    let ids = objects.iter().map(|object| object["id"].as_str());
    ids.map(|id| id.expect("an id").to_owned()).collect()
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    let file = files
        .get(name)
        .unwrap_or_else(|| panic!("{name} is missing among {:?}", files.keys()));
    String::from_utf8(file.clone()).expect("text")
}

#[test]
fn json_is_one_object_per_query_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = write(&folder, "queries.sql", QUERIES);
    let run = isobath(&["query", &queries, "--schema", &schema, "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let objects = objects(&run);
    let keys: Vec<&String> = objects[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "targets",
            "covered",
            "infeasible",
            "uncovered",
            "rows",
            "evaluations",
            "millis"
        ]
    );
    assert_eq!(ids(&run), ["Big", "Totals by city", "Forget"]);
    for object in &objects {
        let count = |name: &str| object[name].as_u64().unwrap_or_else(|| panic!("{object}"));
        let open = object["uncovered"].as_array().unwrap().len() as u64;
        assert_eq!(
            count("covered") + count("infeasible") + open,
            count("targets")
        );
        assert!(count("covered") > 0 && count("rows") > 0, "{object}");
    }
}

#[test]
fn targets_are_printed_with_rule_and_sentence_and_nothing_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = write(
        &folder,
        "q.sql",
        "SELECT id FROM people WHERE city = 'Faro'",
    );
    let run = isobath(&[
        "query",
        "targets",
        "--schema",
        &schema,
        "--queries",
        &queries,
        "--criterion",
        "fpc",
    ]);
    assert_eq!(run.code, 0, "{run}");
    let objects = objects(&run);
    assert_eq!(objects[0]["id"], "q");
    let targets = objects[0]["targets"].as_array().unwrap();
    let rules: Vec<&str> = targets
        .iter()
        .map(|target| target["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["WF", "WT", "WN"]);
    assert_eq!(
        targets[2]["sql"],
        "SELECT id FROM people WHERE city IS NULL"
    );
    assert!(targets[2]["says"].as_str().unwrap().contains("is NULL"));
}

#[test]
fn a_bad_query_is_shown_with_a_caret_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = "SELECT nme FROM people;
SELECT * FROM peple;
  SELECT id FROM people, orders;
SELECT * FROM people WHERE;
SELECT name FROM people WHERE city = 'Faro';
";
    let queries = write(&folder, "q.sql", queries);
    let run = isobath(&["query", &queries, "--schema", &schema, "--json"]);
    assert_eq!(run.code, 2, "{run}");
    for said in [
        "unknown column `nme`; did you mean `name`?\n --> ",
        "unknown table `peple`; did you mean `people`?",
        "column `id` is ambiguous between people and orders",
        "q.sql:1:8",
        "q.sql:2:15",
        "q.sql:3:10",
        "1 | SELECT nme FROM people;\n  |        ^",
        "3 |   SELECT id FROM people, orders;\n  |          ^",
        "q.sql:4:27",
    ] {
        assert!(run.err.contains(said), "{said}\n{run}");
    }
    let objects = objects(&run);
    assert_eq!(objects.len(), 5, "{run}");
    let errors = objects
        .iter()
        .filter(|object| object.get("error").is_some());
    assert_eq!(errors.count(), 4);
    assert_eq!(objects[4]["uncovered"], Value::Array(Vec::new()), "{run}");
}

#[test]
fn a_function_that_nobody_knows_is_shown_and_what_it_stands_in_the_way_of() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries =
        "SELECT id FROM people;\nSELECT id\nFROM people WHERE frob(city) = 1 OR frob(name) = 2;";
    let queries = write(&folder, "q.sql", queries);
    let run = isobath(&["query", &queries, "--schema", &schema, "--json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(
        run.err.contains("the function frob is not supported"),
        "{run}"
    );
    assert_eq!(run.err.matches("error: ").count(), 1, "{run}");
    let caret = "3 | FROM people WHERE frob(city) = 1 OR frob(name) = 2;\n  |                   ^";
    assert!(run.err.contains(caret), "{run}");
    let uncovered = objects(&run)[1]["uncovered"].clone();
    let why = uncovered[0]["why"].as_str().unwrap();
    assert!(why.contains("the function frob"), "{run}");
}

#[test]
fn what_depends_on_the_time_is_covered_at_the_engines_time_and_said_to_be_unsteady() {
    let folder = tempfile::tempdir().unwrap();
    let schema = "CREATE TABLE events (id INTEGER PRIMARY KEY, at TIMESTAMP NOT NULL);";
    let schema = write(&folder, "events.sql", schema);
    let queries = write(
        &folder,
        "q.sql",
        "SELECT id FROM events WHERE at > CURRENT_TIMESTAMP",
    );
    let run = isobath(&[
        "query",
        &queries,
        "--schema",
        &schema,
        "--dialect",
        "sqlite",
        "--engine",
        "sqlite",
    ]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains("2 of 2 targets covered"), "{run}");
    assert!(run.out.contains("depends on CURRENT_TIMESTAMP"), "{run}");
}

#[test]
fn sqlc_files_sqlx_files_rust_and_json_lines_are_read_from_a_folder_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = tempfile::tempdir().unwrap();
    write(
        &queries,
        "a_sqlc.sql",
        "-- name: ByCity :many\nSELECT id FROM people WHERE city = sqlc.arg(city);\n\
         -- name: One :one\nSELECT name FROM people WHERE id = @id;",
    );
    write(
        &queries,
        "big_orders.sql",
        "SELECT id FROM orders WHERE total > $1",
    );
    write(
        &queries,
        "c.jsonl",
        "{\"id\": \"json-1\", \"query\": \"SELECT id FROM people WHERE name = %s\"}\n",
    );
    write(
        &queries,
        "db.rs",
        "async fn rust_one(p: &Pool) { sqlx::query!(\"SELECT id FROM people WHERE name = ?\", x).fetch_all(p) }",
    );
    write(&queries, "notes.txt", "not SQL at all");
    let path = queries.path().to_str().unwrap();
    let run = isobath(&["query", path, "--schema", &schema, "--json"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(
        ids(&run),
        ["ByCity", "One", "big_orders", "json-1", "rust_one"]
    );
    for object in objects(&run) {
        assert_eq!(object["uncovered"], Value::Array(Vec::new()), "{object}");
    }
}

#[test]
fn targets_come_from_a_file_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = write(
        &folder,
        "q.jsonl",
        "{\"id\":\"q\",\"query\":\"SELECT id FROM people\",\"targets\":[\"SELECT 1 FROM \\\"PEOPLE\\\" WHERE \\\"CITY\\\" = 'x'\"]}",
    );
    let run = isobath(&[
        "query",
        "--queries",
        &queries,
        "--schema",
        &schema,
        "--criterion",
        "recorded",
        "--engine",
        "sqlite",
        "--json",
    ]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(objects(&run)[0]["covered"], 1, "{run}");
    let plain = "SELECT id FROM people WHERE name = 'a';\nSELECT id FROM people WHERE 1 = 2;\n";
    let lines = "{\"id\":\"q\",\"targets\":[\"SELECT id FROM people WHERE city = 'y'\"]}\n{\"id\":\"other\",\"targets\":[\"SELECT 1\"]}";
    for (name, text, covered, infeasible) in [("t.sql", plain, 1, 1), ("t.jsonl", lines, 1, 0)] {
        let targets = write(&folder, name, text);
        let run = isobath(&[
            "query",
            &queries,
            "--schema",
            &schema,
            "--targets",
            &targets,
            "--json",
        ]);
        assert_eq!(run.code, 0, "{run}");
        let object = &objects(&run)[0];
        assert_eq!(object["covered"], covered, "{run}");
        assert_eq!(object["infeasible"], infeasible, "{run}");
    }
}

#[test]
fn every_parameter_style_becomes_part_of_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    for style in ["?", "$1", ":city", "@city", "%s", "%(city)s"] {
        for engine in ["none", "sqlite"] {
            let query = format!("SELECT id FROM people WHERE city = {style}");
            let queries = write(&folder, "q.sql", &query);
            let run = isobath(&[
                "query",
                &queries,
                "--schema",
                &schema,
                "--dialect",
                "sqlite",
                "--engine",
                engine,
                "--json",
            ]);
            assert_eq!(run.code, 0, "{style}: {run}");
            assert_eq!(objects(&run)[0]["covered"], 3, "{style}: {run}");
        }
    }
}

#[test]
fn all_algorithms_are_offered_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = write(&folder, "q.sql", "SELECT id FROM people WHERE city IS NULL");
    for algorithm in ["default", "ga", "biased", "random"] {
        let run = isobath(&[
            "query",
            &queries,
            "--schema",
            &schema,
            "--algorithm",
            algorithm,
            "--seed",
            "3",
            "--budget",
            "2000",
            "--json",
        ]);
        assert_eq!(run.code, 0, "{run}");
        assert_eq!(objects(&run)[0]["covered"], 2, "{algorithm}: {run}");
    }
    let run = isobath(&[
        "query",
        &queries,
        "--schema",
        &schema,
        "--algorithm",
        "luck",
    ]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("default, ga, biased, random"), "{run}");
}

/// Runs the job over the sample with all formats and returns the folder that it wrote.
fn written(folder: &tempfile::TempDir, schema: &str, extra: &[&str]) -> String {
    let schema = write(folder, "shop.sql", schema);
    let queries = write(folder, "queries.sql", QUERIES);
    let out = folder.path().join("out");
    let out = out.to_str().expect("a plain path");
    let mut args = vec![
        "query",
        &queries,
        "--schema",
        &schema,
        "--out",
        out,
        "--format",
        "fixtures,sql,pytest,junit,rust,sqlx,dbt,json",
    ];
    args.extend(extra);
    let run = isobath(&args);
    assert_eq!(run.code, 0, "{run}");
    out.to_owned()
}

#[test]
fn every_format_and_the_report_are_written_and_the_same_seed_writes_the_same_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sqlite = ["--dialect", "sqlite", "--engine", "sqlite"];
    let first = command::files(&written(&one, SHOP, &sqlite));
    let again = command::files(&written(&two, SHOP, &sqlite));
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        again.keys().collect::<Vec<_>>()
    );
    for name in first.keys() {
        // Times and temporary paths are all that may differ.
        let without = |files: &BTreeMap<String, Vec<u8>>, folder: &tempfile::TempDir| {
            let text = text(files, name).replace(folder.path().to_str().unwrap(), "");
            let lines = text
                .lines()
                .filter(|line| !line.contains(" ms<") && !line.contains("millis"));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(without(&first, &one), without(&again, &two), "{name}");
    }
    let page = text(&first, "report.html");
    assert!(page.contains("class=\"m covered\" href=\"#q0c"), "{page}");
    assert!(page.contains("the query returns"), "{page}");
    assert!(text(&first, "report.md").contains("## Big"));
    assert!(text(&first, "fixtures/big.sql").contains("INSERT INTO orders"));
    assert!(text(&first, "pytest/test_queries.py").contains("database.returns(BIG, [["));
    assert!(text(&first, "junit5/src/test/java/QueriesTest.java").contains("class Big"));
    assert!(text(&first, "rust/tests/queries.rs").contains("mod big"));
    assert!(text(&first, "sqlx/tests/queries.rs").contains("#[sqlx::test(fixtures("));
    assert!(text(&first, "dbt/models/big.sql").contains("{{ source('queries', 'orders') }}"));
    let units = text(&first, "dbt/models/unit_tests.yml");
    assert!(units.contains("# Forget is left out"), "{units}");
    assert!(units.contains("    model: totals_by_city"), "{units}");
}

/// Runs a tool, or says that it is left out when it is not there.
fn tool(name: &str, probe: &[&str]) -> Option<Command> {
    let there = Command::new(name).args(probe).output();
    if there.is_ok_and(|done| done.status.success()) {
        return Some(Command::new(name));
    }
    assert!(
        std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_none(),
        "{name} is required"
    );
    None
}

#[test]
fn the_written_sql_and_pytest_pass_and_fail_once_the_query_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let out = written(
        &folder,
        SHOP,
        &["--dialect", "sqlite", "--engine", "sqlite"],
    );
    let break_it = |path: &str| {
        let path = Path::new(&out).join(path);
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = text.replace("o.total > 10 AND", "o.total >= 10 AND");
        assert_ne!(text, changed);
        std::fs::write(&path, changed).unwrap();
    };
    if let Some(mut shell) = tool("sqlite3", &["--version"]) {
        let mut script = || {
            let file = std::fs::File::open(Path::new(&out).join("sql/queries.sql")).unwrap();
            let done = shell
                .arg(":memory:")
                .stdin(file)
                .current_dir(folder.path())
                .output();
            done.unwrap().status.success()
        };
        assert!(script());
        break_it("sql/queries.sql");
        let mut again = Command::new("sqlite3");
        let file = std::fs::File::open(Path::new(&out).join("sql/queries.sql")).unwrap();
        let done = again
            .arg(":memory:")
            .stdin(file)
            .current_dir(folder.path())
            .output();
        assert!(!done.unwrap().status.success());
    }
    if tool("python3", &["-m", "pytest", "--version"]).is_some() {
        let pytest = || {
            let done = Command::new("python3")
                .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "pytest"])
                .current_dir(&out)
                .output()
                .unwrap();
            (
                done.status.success(),
                String::from_utf8_lossy(&done.stdout).into_owned(),
            )
        };
        let (success, said) = pytest();
        assert!(success, "{said}");
        break_it("pytest/test_queries.py");
        let (success, said) = pytest();
        assert!(!success, "{said}");
    }
}

#[test]
fn servers_confirm_the_tests_that_are_written_for_them() {
    for (engine, dialect) in [("postgres", "postgres"), ("mariadb", "mysql")] {
        let folder = tempfile::tempdir().unwrap();
        let schema = write(&folder, "shop.sql", SHOP);
        let queries = write(&folder, "queries.sql", QUERIES);
        let out = folder.path().join("out");
        let out = out.to_str().unwrap();
        let run = isobath(&[
            "query",
            &queries,
            "--schema",
            &schema,
            "--dialect",
            dialect,
            "--engine",
            engine,
            "--out",
            out,
        ]);
        if run.code == 3 && std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_none() {
            continue;
        }
        assert_eq!(run.code, 0, "{run}");
        assert!(
            run.out.contains("every covered target was confirmed"),
            "{run}"
        );
        let run = isobath(&[
            "query",
            "check",
            out,
            "--schema",
            &schema,
            "--queries",
            &queries,
            "--dialect",
            dialect,
        ]);
        assert_eq!(run.code, 0, "{run}");
        assert!(run.out.contains("go as before on"), "{run}");
    }
}

#[test]
fn a_check_says_which_rows_appear_and_disappear() {
    let folder = tempfile::tempdir().unwrap();
    let out = written(
        &folder,
        SHOP,
        &["--dialect", "sqlite", "--engine", "sqlite"],
    );
    let schema = write(&folder, "shop.sql", SHOP);
    let check = |queries: &str, extra: &[&str]| {
        let queries = write(&folder, "now.sql", queries);
        let mut args = vec![
            "query",
            "check",
            &out,
            "--schema",
            &schema,
            "--queries",
            &queries,
            "--dialect",
            "sqlite",
        ];
        args.extend(extra);
        isobath(&args)
    };
    let same = check(QUERIES, &[]);
    assert_eq!(same.code, 0, "{same}");
    assert!(
        same.out.contains("Big: ") && same.out.contains("tests as before"),
        "{same}"
    );

    let run = check(
        &QUERIES.replace("o.total > 10", "o.total >= 10"),
        &["--json"],
    );
    assert_eq!(run.code, 1, "{run}");
    let objects = objects(&run);
    let big = &objects[0];
    assert_eq!(big["id"], "Big");
    let appeared: Vec<&Value> = big["changed"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|change| change["appeared"].as_array().unwrap())
        .collect();
    assert!(!appeared.is_empty(), "{run}");
    assert!(appeared.iter().all(|row| row[2] == "10"), "{run}");
    assert_eq!(objects[1]["changed"], Value::Array(Vec::new()), "{run}");

    let run = check(
        &QUERIES.replace(
            "DELETE FROM orders WHERE total IS NULL",
            "DELETE FROM orders",
        ),
        &[],
    );
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.out.contains("Forget") && run.out.contains("    - "),
        "{run}"
    );

    let run = check(
        &QUERIES.replace("-- name: Big :many", "-- name: Bigger :many"),
        &[],
    );
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out.contains("Big: gone"), "{run}");
    assert!(run.out.contains("Bigger: new"), "{run}");

    let run = check(
        &QUERIES.replace("o.total > 10 AND", "o.total > 10 AND p.name = 'Ada' AND"),
        &[],
    );
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.out
            .contains("no longer covered: `p.city = 'Faro'` is false"),
        "{run}"
    );

    let run = check(
        &QUERIES.replace("SELECT o.id, p.name", "SELECT o.id, p.nme"),
        &[],
    );
    assert_eq!(run.code, 2, "{run}");
    assert!(
        run.err.contains("unknown column `p.nme`") || run.err.contains("unknown column `nme`"),
        "{run}"
    );
    assert!(run.out.contains("Forget: "), "the others go on: {run}");
}

#[test]
fn a_check_says_which_fixtures_a_changed_schema_no_longer_takes() {
    let folder = tempfile::tempdir().unwrap();
    let out = written(
        &folder,
        SHOP,
        &["--dialect", "sqlite", "--engine", "sqlite"],
    );
    let strict = SHOP.replace("total >= 0", "total >= 0 AND total < 5");
    let schema = write(&folder, "now.sql", &strict);
    let run = isobath(&[
        "query",
        "check",
        &out,
        "--schema",
        &schema,
        "--dialect",
        "sqlite",
    ]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out.contains("no longer runs: Big when"), "{run}");
    assert!(run.out.contains("CHECK constraint failed"), "{run}");
    assert!(run.out.contains("no longer covered: "), "{run}");

    let run = isobath(&[
        "query",
        "check",
        folder.path().to_str().unwrap(),
        "--engine",
        "none",
    ]);
    assert_eq!(run.code, 2, "{run}");
    let nothing = tempfile::tempdir().unwrap();
    let run = isobath(&["query", "check", nothing.path().to_str().unwrap()]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("no tests of queries"), "{run}");
}

#[test]
fn a_person_is_told_what_was_found_and_what_to_do_next() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = write(&folder, "q.sql", "SELECT id FROM orders WHERE total < 0");
    let run = isobath(&["query", &queries, "--schema", &schema]);
    assert_eq!(run.code, 0, "{run}");
    for said in [
        "2 tables; dialect",
        "cannot be: ",
        " proven infeasible",
        "not confirmed on a database",
        "wrote isobath-out/q",
        "report.html",
        "next: read the report",
    ] {
        assert!(run.out.contains(said), "{said}\n{run}");
    }
    let quiet = isobath(&["query", &queries, "--schema", &schema, "--quiet"]);
    assert_eq!((quiet.code, quiet.out.as_str()), (0, ""), "{quiet}");
}

#[test]
fn wrong_flags_and_missing_files_end_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let schema = write(&folder, "shop.sql", SHOP);
    let queries = write(&folder, "q.sql", "SELECT id FROM people");
    for (args, said) in [
        (
            vec!["query", "nowhere.sql", "--schema", &schema],
            "nowhere.sql",
        ),
        (
            vec!["query", &queries, "--schema", "nowhere.sql"],
            "nowhere.sql",
        ),
        (
            vec!["query", &queries, "--schema", &queries],
            "defines no table",
        ),
        (
            vec!["query", &queries, "--schema", &schema, "--format", "cobol"],
            "cobol",
        ),
        (vec!["query", "--schema", &schema], "QUERIES"),
        (vec!["query", &queries], "--schema"),
    ] {
        let run = isobath(&args);
        assert_eq!(run.code, 2, "{args:?}: {run}");
        assert!(run.err.contains(said), "{args:?}: {run}");
    }
}

#[test]
fn the_example_of_the_readme_is_covered_and_passes_its_own_check() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = |name: &str| examples.join(name).to_str().unwrap().to_owned();
    let (schema, queries) = (file("shop.sql"), file("shop-queries.sql"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let run = isobath(&[
        "query", &queries, "--schema", &schema, "--engine", "sqlite", "--out", out,
    ]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains("5 queries: "), "{run}");
    let run = isobath(&[
        "query",
        "check",
        out,
        "--schema",
        &schema,
        "--queries",
        &queries,
    ]);
    assert_eq!(run.code, 0, "{run}");
}
