//! Mutants of queries, and what the engine judges in place of our evaluator.

use crate::desk::{Desk, SQLITE, objects};

#[test]
fn strengthened_tests_kill_what_coverage_leaves_alive() {
    let desk = Desk::new();
    let queries = "SELECT p.name, SUM(o.total) AS total, COUNT(o.id) AS n
FROM people p LEFT JOIN orders o ON o.person = p.id
WHERE o.total BETWEEN 10 AND 20 OR p.city LIKE 'F%'
GROUP BY p.name ORDER BY p.name DESC;";
    let run = |flags: &[&str]| desk.objects(queries, &[SQLITE, flags].concat()).remove(0);
    assert!(run(&[])["mutants"].is_null());
    let count = |object: &serde_json::Value, name: &str| object["mutants"][name].as_u64().unwrap();
    let (measured, strengthened) = (run(&["--mutate"]), run(&["--strengthen"]));
    let all = |object: &serde_json::Value| {
        let kinds = ["killed", "equivalent", "alive", "unsupported"];
        kinds.map(|kind| count(object, kind)).iter().sum::<u64>()
    };
    assert!(all(&measured) > 20, "{measured}");
    assert_eq!(all(&measured), all(&strengthened));
    assert!(count(&measured, "killed") > 0, "{measured}");
    assert!(
        count(&strengthened, "killed") >= count(&measured, "killed"),
        "{strengthened}"
    );
    // What kills a mutant is a test like any other, and the engine confirmed it.
    assert_eq!(strengthened["uncovered"].as_array().unwrap().len(), 0);
    let survivors = strengthened["mutants"]["survivors"].as_array().unwrap();
    assert_eq!(
        survivors.len() as u64,
        count(&strengthened, "alive") + count(&strengthened, "unsupported")
    );
}

#[test]
fn an_inner_join_that_cannot_lose_rows_has_an_equivalent_mutant() {
    let desk = Desk::new();
    let queries = "SELECT o.id FROM orders o JOIN people p ON p.id = o.person;";
    let object = desk
        .objects(queries, &[SQLITE, &["--strengthen"]].concat())
        .remove(0);
    // Every order has a person, but a person may have no order.
    let survivors = object["mutants"]["survivors"].as_array().unwrap();
    assert!(
        !survivors
            .iter()
            .any(|mutant| mutant["operator"] == "join type"),
        "{object}"
    );
    assert!(
        object["mutants"]["equivalent"].as_u64() >= Some(1),
        "{object}"
    );
}

#[test]
fn the_engine_judges_what_our_evaluator_does_not_know() {
    let desk = Desk::new();
    // `unlikely` is a function of SQLite that returns its argument.
    let queries = "SELECT id FROM orders WHERE unlikely(total > 10) AND total > 10;";
    let alone = desk.query(
        queries,
        &["--json", "--dialect", "sqlite", "--engine", "none"],
    );
    let judged = desk.query(queries, &[&["--json"], SQLITE].concat());
    let covered = |run| objects(run)[0]["covered"].as_u64().unwrap();
    assert!(covered(&judged) > covered(&alone), "{alone}\n{judged}");
}

#[test]
fn a_query_over_a_table_that_the_engine_refuses_is_not_run() {
    let desk = Desk::with(
        "CREATE TABLE good (id INTEGER PRIMARY KEY, n INTEGER);
         CREATE TABLE bad (id INTEGER PRIMARY KEY, n INTEGER CHECK (no_such_function(n) > 0));",
    );
    let queries = "SELECT id FROM good WHERE n > 1; SELECT id FROM bad WHERE n > 1;";
    let run = desk.query(queries, &[&["--json"], SQLITE].concat());
    assert_eq!(run.code, 2, "{run}");
    let objects = objects(&run);
    assert!(objects[0]["covered"].as_u64() > Some(0), "{run}");
    assert_eq!(objects[1]["covered"], 0, "{run}");
    let why = objects[1]["uncovered"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("not run: "), "{run}");
}

#[test]
fn a_query_ends_at_its_time_limit_and_says_so_for_each_open_target() {
    let desk = Desk::new();
    let queries = "SELECT id FROM orders WHERE total > 10 AND total < 20;";
    let flags = [SQLITE, &["--time-limit", "0.000000001"]].concat();
    let object = desk.objects(queries, &flags).remove(0);
    let open = object["uncovered"].as_array().unwrap();
    assert!(!open.is_empty(), "{object}");
    let stopped = |target: &serde_json::Value| target.to_string().contains("time limit");
    assert!(open.iter().all(stopped), "{object}");
    let complete = desk.objects(queries, &[SQLITE, &["--time-limit", "0"]].concat());
    assert_eq!(complete[0]["uncovered"].as_array().unwrap().len(), 0);
}
