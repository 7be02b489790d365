//! `isobath query` as a user runs it: flags in, files, objects and exit codes out.

mod check;
#[path = "../command/mod.rs"]
mod command;
mod desk;
mod inputs;
mod mutants;
mod suites;

use std::collections::BTreeMap;
use std::path::Path;

use command::isobath;
use desk::{Desk, QUERIES, SQLITE, ids, objects, text};

#[test]
fn json_is_one_object_per_query_and_nothing_else() {
    let desk = Desk::new();
    let run = desk.query(QUERIES, &["--json"]);
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
    let desk = Desk::new();
    let queries = desk.file("q.sql", "SELECT id FROM people WHERE city = 'Faro'");
    let mut args = vec!["query", "targets", "--schema", &desk.schema];
    args.extend(["--queries", &queries, "--criterion", "fpc"]);
    let run = isobath(&args);
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
    assert!(
        targets[2]["description"]
            .as_str()
            .unwrap()
            .contains("is NULL")
    );
}

#[test]
fn what_depends_on_the_time_is_covered_at_the_engines_time_and_said_to_be_unsteady() {
    let desk = Desk::with("CREATE TABLE events (id INTEGER PRIMARY KEY, at TIMESTAMP NOT NULL);");
    let run = desk.query("SELECT id FROM events WHERE at > CURRENT_TIMESTAMP", SQLITE);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains("2 of 2 targets covered"), "{run}");
    assert!(run.out.contains("depends on CURRENT_TIMESTAMP"), "{run}");
}

#[test]
fn all_algorithms_are_offered_and_others_are_refused() {
    let desk = Desk::new();
    let query = "SELECT id FROM people WHERE city IS NULL";
    for algorithm in ["default", "ga", "biased", "random"] {
        let flags = ["--algorithm", algorithm, "--seed", "3", "--budget", "2000"];
        let objects = desk.objects(query, &flags);
        assert_eq!(objects[0]["covered"], 2, "{algorithm}: {objects:?}");
    }
    let run = desk.query(query, &["--algorithm", "luck"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("default, ga, biased, random"), "{run}");
}

#[test]
fn one_fixture_covers_many_targets_with_few_rows_and_values_that_people_read() {
    let desk = Desk::with(
        "CREATE TABLE people (
             id INTEGER PRIMARY KEY,
             email VARCHAR(80) NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
             country CHAR(2) NOT NULL DEFAULT 'PT',
             note VARCHAR(200),
             joined DATE
         );",
    );
    let out = desk.path("out");
    let flags = [SQLITE, &["--out", &out, "--lang", "fixtures"]].concat();
    let query = "-- name: Joined
SELECT id, email FROM people WHERE country = 'FR' AND joined > :since ORDER BY email";
    let run = desk.query(query, &flags);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains(" in 1 fixture\n"), "{run}");
    let rows = text(&command::files(&out), "fixtures/joined.sql");
    assert!(rows.contains("@example.org'"), "{rows}");
    assert!(!rows.contains('%') && !rows.contains("note"), "{rows}");
    assert!(rows.contains("VALUES (1, "), "{rows}");
}

#[test]
fn every_format_and_the_report_are_written_and_the_same_seed_writes_the_same_bytes() {
    let (one, two) = (Desk::new(), Desk::new());
    let first = command::files(&one.written(SQLITE));
    let again = command::files(&two.written(SQLITE));
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        again.keys().collect::<Vec<_>>()
    );
    for name in first.keys() {
        // Times and temporary paths are all that may differ.
        let without = |files: &BTreeMap<String, Vec<u8>>, desk: &Desk| {
            let text = text(files, name).replace(desk.folder.path().to_str().unwrap(), "");
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
    assert!(text(&first, "pytest/test_queries.py").contains("database.returns(\n"));
    assert!(text(&first, "junit/src/test/java/QueriesTest.java").contains("class Big"));
    assert!(text(&first, "rust/tests/queries.rs").contains("mod big"));
    assert!(text(&first, "sqlx/tests/queries.rs").contains("#[sqlx::test(fixtures("));
    assert!(text(&first, "dbt/models/big.sql").contains("{{ source('queries', 'orders') }}"));
    let units = text(&first, "dbt/models/unit_tests.yml");
    assert!(units.contains("# Forget is left out"), "{units}");
    assert!(units.contains("    model: totals_by_city"), "{units}");
}

#[test]
fn servers_confirm_the_tests_that_are_written_for_them() {
    for (engine, dialect) in [("postgres", "postgres"), ("mariadb", "mysql")] {
        let desk = Desk::new();
        let queries = desk.file("queries.sql", QUERIES);
        let out = desk.path("out");
        let flags = ["--dialect", dialect, "--engine", engine, "--out", &out];
        let run = desk.run(&queries, &flags);
        if run.code == 3 && std::env::var_os("ISOBATH_REQUIRE_SERVERS").is_none() {
            continue;
        }
        assert_eq!(run.code, 0, "{run}");
        let confirmed = "every covered target was confirmed";
        assert!(run.out.contains(confirmed), "{run}");
        let mut args = vec!["query", "check", &out, "--schema", &desk.schema];
        args.extend(["--queries", &queries, "--dialect", dialect]);
        let run = isobath(&args);
        assert_eq!(run.code, 0, "{run}");
        assert!(run.out.contains("go as before on"), "{run}");
    }
}

#[test]
fn a_person_is_told_what_was_found_and_what_to_do_next() {
    let desk = Desk::new();
    let query = "SELECT id FROM orders WHERE total < 0";
    let run = desk.query(query, &[]);
    assert_eq!(run.code, 0, "{run}");
    for said in [
        "2 tables; dialect",
        "infeasible: ",
        " proven infeasible",
        "not confirmed on a database",
        "wrote isobath-out/q",
        "report.html",
        "next: read the report",
    ] {
        assert!(run.out.contains(said), "{said}\n{run}");
    }
    let quiet = desk.query(query, &["--quiet"]);
    assert_eq!((quiet.code, quiet.out.as_str()), (0, ""), "{quiet}");
}

#[test]
fn wrong_flags_and_missing_files_end_with_two() {
    let desk = Desk::new();
    let schema = desk.schema.clone();
    let queries = desk.file("q.sql", "SELECT id FROM people");
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
            vec!["query", &queries, "--schema", &schema, "--lang", "cobol"],
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
    let given = ["--schema", &schema, "--engine", "sqlite"];
    let run = isobath(&[&["query", &queries, "--out", out], &given[..]].concat());
    assert_eq!(run.code, 0, "{run}");
    assert!(run.out.contains("5 queries: "), "{run}");
    let run = isobath(&[&["query", "check", out, "--queries", &queries], &given[..]].concat());
    assert_eq!(run.code, 0, "{run}");
}
