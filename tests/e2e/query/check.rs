//! `isobath query check`: stored fixtures against queries and tables as they are now.

use serde_json::Value;

use crate::command::{Run, isobath};
use crate::desk::{Desk, QUERIES, SHOP, SQLITE, objects};

/// Checks what is stored against other queries.
fn check(desk: &Desk, out: &str, queries: &str, flags: &[&str]) -> Run {
    let queries = desk.file("now.sql", queries);
    let mut args = vec!["query", "check", out, "--schema", &desk.schema];
    args.extend(["--queries", &queries, "--dialect", "sqlite"]);
    args.extend(flags);
    isobath(&args)
}

#[test]
fn what_did_not_change_goes_as_before() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let run = check(&desk, &out, QUERIES, &[]);
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.out.contains("Big: ") && run.out.contains("as before"),
        "{run}"
    );
    // A comment and a line break are no change.
    let same = QUERIES.replace("WHERE o.total > 10", "-- the big ones\nWHERE  o.total > 10");
    let run = check(&desk, &out, &same, &["--quiet"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{run}");
    // Without queries, they are taken as they were.
    let run = isobath(&["query", "check", &out, "--dialect", "sqlite"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_check_says_which_rows_appear_and_disappear() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let loose = QUERIES.replace("o.total > 10", "o.total >= 10");
    let run = check(&desk, &out, &loose, &["--json"]);
    assert_eq!(run.code, 1, "{run}");
    let objects = objects(&run);
    let big = &objects[0];
    assert_eq!(big["id"], "Big");
    let changes = big["changed"].as_array().unwrap().iter();
    let appeared: Vec<&Value> = changes
        .flat_map(|change| change["appeared"].as_array().unwrap())
        .collect();
    assert!(!appeared.is_empty(), "{run}");
    assert!(appeared.iter().all(|row| row[2] == "10"), "{run}");
    assert_eq!(objects[1]["changed"], Value::Array(Vec::new()), "{run}");

    let all = QUERIES.replace(
        "DELETE FROM orders WHERE total IS NULL",
        "DELETE FROM orders",
    );
    let run = check(&desk, &out, &all, &[]);
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.out.contains("Forget") && run.out.contains("    - "),
        "{run}"
    );
}

#[test]
fn a_check_says_which_queries_were_removed_and_which_are_new() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let renamed = QUERIES.replace("-- name: Big :many", "-- name: Bigger :many");
    let run = check(&desk, &out, &renamed, &[]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out.contains("Big: removed"), "{run}");
    assert!(run.out.contains("Bigger: new"), "{run}");
}

#[test]
fn a_check_says_which_targets_are_not_covered_any_more() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let stricter = QUERIES.replace("o.total > 10 AND", "o.total > 10 AND p.name = 'Zoe' AND");
    let run = check(&desk, &out, &stricter, &[]);
    assert_eq!(run.code, 1, "{run}");
    let lost = "no longer covered: `p.city = 'Faro'` is false";
    assert!(run.out.contains(lost), "{run}");
}

#[test]
fn a_query_that_cannot_be_read_any_more_does_not_stop_the_check() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let broken = QUERIES.replace("SELECT o.id, p.name", "SELECT o.id, p.nme");
    let run = check(&desk, &out, &broken, &[]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("unknown column `p.nme`"), "{run}");
    assert!(run.err.contains("now.sql:4:"), "{run}");
    assert!(run.out.contains("Forget: "), "the others go on: {run}");
}

#[test]
fn a_check_says_which_fixtures_a_changed_schema_no_longer_takes() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let strict = SHOP.replace("total >= 0", "total >= 0 AND total < 5");
    let schema = desk.file("now.sql", &strict);
    let mut args = vec!["query", "check", &out, "--schema", &schema];
    args.extend(["--dialect", "sqlite"]);
    let run = isobath(&args);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.out.contains("no longer runs: Big when"), "{run}");
    assert!(run.out.contains("CHECK constraint failed"), "{run}");
    assert!(run.out.contains("no longer covered: "), "{run}");
}

#[test]
fn a_check_without_anything_stored_or_without_a_database_ends_with_two() {
    let desk = Desk::new();
    let out = desk.written(SQLITE);
    let run = isobath(&["query", "check", &out, "--engine", "none"]);
    assert_eq!(run.code, 2, "{run}");
    let nothing = tempfile::tempdir().unwrap();
    let run = isobath(&["query", "check", nothing.path().to_str().unwrap()]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("no tests of queries"), "{run}");
    let odd = desk.file("odd.json", "{\"queries\": 7}");
    let run = isobath(&["query", "check", &odd]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.err.contains("odd.json"), "{run}");
}
