//! Small queries over a small shop.

use isobath_sql::ddl::{Source, load};
use isobath_sql::{Cell, DialectName, Schema, Value};

use super::algorithm::{Algorithm, Config};
use super::construct::SolverContext;
use super::job::{CoverageOutcome, TargetStatus, run};
use super::target::QueryTarget;

const SHOP: &str = "
    CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40));
    CREATE TABLE orders (
        id INT PRIMARY KEY,
        customer INT NOT NULL REFERENCES customers (id),
        total INT CHECK (total >= 0),
        state VARCHAR(10)
    );";

fn shop() -> Schema {
    schema(SHOP)
}

fn schema(ddl: &str) -> Schema {
    let source = Source {
        name: "shop.sql".to_owned(),
        text: ddl.to_owned(),
    };
    load("shop", &[source], Some(DialectName::Postgres)).schema
}

fn cover(schema: &Schema, targets: &[&str]) -> CoverageOutcome {
    cover_by(Config::default(), schema, targets)
}

fn cover_by(config: Config, schema: &Schema, targets: &[&str]) -> CoverageOutcome {
    let setting = SolverContext::new(schema, DialectName::Postgres.dialect());
    let read = |sql: &&str| QueryTarget::read(sql, "", "", schema, DialectName::Postgres);
    let targets: Vec<QueryTarget> = targets.iter().map(read).collect();
    run(&targets, setting, &config)
}

#[track_caller]
fn is_covered(sql: &str) {
    let outcome = cover(&shop(), &[sql]);
    assert_eq!(outcome.statuses, [TargetStatus::Covered(0)], "{sql}");
    assert!(outcome.evaluations <= 20, "{}", outcome.evaluations);
}

#[track_caller]
fn is_infeasible(sql: &str) {
    let outcome = cover(&shop(), &[sql]);
    assert!(
        matches!(
            outcome.statuses.as_slice(),
            [TargetStatus::Infeasible { .. }]
        ),
        "{sql}: {:?}",
        outcome.statuses
    );
}

#[test]
fn conditions_of_all_kinds_are_met() {
    is_covered("SELECT * FROM customers WHERE name = 'Ada' AND city IS NULL");
    is_covered("SELECT * FROM orders WHERE NOT (total > 5) AND state IN ('new', 'paid')");
    is_covered("SELECT * FROM customers WHERE name LIKE 'A%' AND city <> name");
    is_covered("SELECT * FROM orders WHERE total = 7 OR (total < 0 AND state = 'x')");
}

#[test]
fn string_functions_are_met_in_a_few_evaluations() {
    is_covered("SELECT * FROM customers WHERE length(name) = 12 AND left(name, 5) = 'abcde'");
    is_covered("SELECT * FROM customers WHERE reverse(name) = 'olleh'");
}

#[test]
fn joined_rows_meet_and_missing_sides_are_missing() {
    is_covered(
        "SELECT * FROM customers c JOIN orders o ON o.customer = c.id WHERE o.state = 'new'",
    );
    is_covered(
        "SELECT * FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL",
    );
}

#[test]
fn subqueries_bring_rows_or_keep_them_out() {
    is_covered(
        "SELECT * FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer = c.id)",
    );
    is_covered(
        "SELECT * FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders WHERE customer = c.id)",
    );
    is_covered("SELECT * FROM customers WHERE id IN (SELECT customer FROM orders)");
}

#[test]
fn groups_get_the_rows_that_having_asks_for() {
    is_covered("SELECT state FROM orders GROUP BY state HAVING COUNT(*) > 1");
    is_covered(
        "SELECT COUNT(total) FROM orders \
         HAVING COUNT(total) > COUNT(DISTINCT total) AND COUNT(DISTINCT total) > 1",
    );
}

#[test]
fn what_no_row_can_meet_is_proven() {
    is_infeasible("SELECT * FROM customers WHERE name IS NULL");
    is_infeasible("SELECT * FROM orders WHERE total = 3 AND total = 4");
    is_infeasible("SELECT * FROM customers WHERE city = NULL");
    is_infeasible("SELECT * FROM orders WHERE total < 0");
    is_infeasible("SELECT state FROM orders GROUP BY state HAVING COUNT(*) = 0");
    is_infeasible(
        "SELECT COUNT(id) FROM orders \
         HAVING COUNT(id) > COUNT(DISTINCT id) AND COUNT(DISTINCT id) > 1",
    );
}

#[test]
fn rows_bring_the_parents_that_their_foreign_keys_ask_for() {
    let schema = shop();
    let outcome = cover(&schema, &["SELECT * FROM orders WHERE customer = 7"]);
    assert_eq!(outcome.statuses, [TargetStatus::Covered(0)]);
    assert_eq!(outcome.fixtures[0].row_count(), 2);
}

#[test]
fn one_fixture_serves_several_targets_and_runs_repeat() {
    let targets = [
        "SELECT * FROM orders WHERE total = 1",
        "SELECT id FROM orders WHERE total = 1",
    ];
    let schema = shop();
    let (first, second) = (cover(&schema, &targets), cover(&schema, &targets));
    assert_eq!(
        first.statuses,
        [TargetStatus::Covered(0), TargetStatus::Covered(0)]
    );
    assert_eq!(first.fixtures, second.fixtures);
}

#[test]
fn every_algorithm_covers_easy_targets_and_repeats_with_its_seed() {
    let targets = [
        "SELECT * FROM orders WHERE total > 5 AND state = 'new'",
        "SELECT * FROM customers c JOIN orders o ON o.customer = c.id WHERE c.city IS NULL",
    ];
    let schema = shop();
    for algorithm in [Algorithm::Default, Algorithm::Ga, Algorithm::Biased] {
        let config = Config {
            algorithm,
            ..Config::default()
        };
        let (first, second) = (
            cover_by(config, &schema, &targets),
            cover_by(config, &schema, &targets),
        );
        assert_eq!(first.covered(), 2, "{algorithm}");
        assert_eq!(first.fixtures, second.fixtures, "{algorithm}");
        assert_eq!(first.evaluations, second.evaluations, "{algorithm}");
    }
}

#[test]
fn random_search_gives_up_when_its_budget_is_spent() {
    let config = Config {
        algorithm: Algorithm::Random,
        budget: 50,
        ..Config::default()
    };
    let outcome = cover_by(
        config,
        &shop(),
        &["SELECT * FROM orders WHERE state = 'new'"],
    );
    assert!(matches!(
        outcome.statuses.as_slice(),
        [TargetStatus::Uncovered { .. }]
    ));
    assert_eq!(outcome.evaluations, 50);
}

#[test]
fn parameters_are_bound_by_the_numbers_of_the_query() {
    let targets = ["SELECT * FROM orders WHERE total = ? AND state = ? AND total = 7"];
    let outcome = cover(&shop(), &targets);
    assert_eq!(outcome.statuses, [TargetStatus::Covered(0)]);
    assert_eq!(outcome.fixtures[0].parameters()[0], Value::Int(7));
}

#[test]
fn products_of_many_relations_stay_small() {
    let relations: Vec<String> = (0..14).map(|number| format!("orders o{number}")).collect();
    let sql = format!("SELECT * FROM {} WHERE o3.total = 4", relations.join(", "));
    let outcome = cover(&shop(), &[&sql]);
    assert_eq!(outcome.statuses, [TargetStatus::Covered(0)]);
    assert!(outcome.rows() <= 3, "{:?}", outcome.fixtures);
}

#[test]
fn fixtures_are_merged_and_leave_out_what_does_not_matter() {
    let targets = [
        "SELECT * FROM orders WHERE total = 1 AND state IS NULL",
        "SELECT * FROM orders WHERE total = 2 OR state = 'new'",
        "SELECT * FROM orders WHERE NOT (total = 2)",
    ];
    let outcome = cover(&shop(), &targets);
    assert_eq!(outcome.covered(), 3);
    let [fixture] = outcome.fixtures.as_slice() else {
        panic!("one fixture serves all: {:?}", outcome.fixtures);
    };
    assert_eq!(fixture.covers, [0, 1, 2]);
    let orders = fixture.rows.iter().filter(|row| row.table == 1);
    // The first row covers the third target too; its state is left out.
    assert_eq!(orders.clone().count(), 2);
    assert!(orders.clone().any(|row| row.cells[3] == Cell::Default));
}

#[test]
fn fixtures_whose_parameters_differ_stay_apart() {
    let targets = [
        "SELECT * FROM orders WHERE total = $1 AND total = 1",
        "SELECT * FROM orders WHERE total = $1 AND total = 2",
    ];
    let outcome = cover(&shop(), &targets);
    assert_eq!(outcome.covered(), 2);
    assert_eq!(outcome.fixtures.len(), 2);
}

#[test]
fn a_unique_value_that_two_candidates_share_does_not_keep_them_apart() {
    let schema = schema(
        "CREATE TABLE people (id INT PRIMARY KEY, email VARCHAR(40) NOT NULL UNIQUE \
         CHECK (email LIKE '%_@_%'), age INT);",
    );
    let targets = [
        "SELECT id FROM people WHERE age = 1",
        "SELECT id FROM people WHERE age = 2",
        "SELECT id FROM people WHERE age = 3",
    ];
    let outcome = cover(&schema, &targets);
    assert_eq!(outcome.fixtures.len(), 1, "{:?}", outcome.fixtures);
    let rows = &outcome.fixtures[0].candidate.rows[&0];
    let emails: Vec<&Value> = rows.iter().map(|row| &row[1]).collect();
    let words = ["ada@example.org", "ben@example.org", "cleo@example.org"];
    assert!(
        words
            .iter()
            .all(|word| emails.contains(&&Value::text(*word))),
        "{emails:?}"
    );
    let mut keys: Vec<&Value> = rows.iter().map(|row| &row[0]).collect();
    keys.sort_by_key(|key| key.to_string());
    assert_eq!(keys, [&Value::Int(1), &Value::Int(2), &Value::Int(3)]);
}

#[test]
fn a_fixture_knows_the_rows_that_cover_each_of_its_targets() {
    let targets = [
        "SELECT id FROM orders WHERE total = 5",
        "SELECT id FROM orders WHERE total = 6",
        "SELECT id FROM orders WHERE total >= 5",
    ];
    let outcome = cover(&shop(), &targets);
    let [fixture] = outcome.fixtures.as_slice() else {
        panic!("one fixture serves all: {:?}", outcome.fixtures);
    };
    for (target, witness) in fixture.covers.iter().zip(&fixture.witnesses) {
        let rows = witness.as_ref().expect("small fixtures are looked through");
        let orders: Vec<&(usize, usize)> = rows.iter().filter(|(table, _)| *table == 1).collect();
        let [(table, row)] = orders.as_slice() else {
            panic!("one order is enough for target {target}: {rows:?}");
        };
        let total = &fixture.candidate.rows[table][*row][2];
        let wanted = if *target == 1 { 6 } else { 5 };
        assert!(*total == Value::Int(wanted) || *target == 2, "{total:?}");
    }
}

#[test]
fn values_that_a_query_names_are_not_renamed() {
    let targets = [
        "SELECT * FROM orders WHERE id = 70 AND state = 'ab'",
        "SELECT * FROM orders WHERE id = 71 AND state = 'b'",
    ];
    let outcome = cover(&shop(), &targets);
    assert_eq!(outcome.covered(), 2);
    let rows = &outcome.fixtures[0].candidate.rows[&1];
    let texts: Vec<String> = rows.iter().flatten().map(Value::to_string).collect();
    for value in ["70", "71", "ab", "b"] {
        assert!(texts.iter().any(|text| text == value), "{value}: {texts:?}");
    }
}

#[test]
fn groups_stay_apart_when_their_rows_stand_side_by_side() {
    let targets = [
        "SELECT state FROM orders GROUP BY state HAVING COUNT(*) = 1",
        "SELECT state FROM orders GROUP BY state HAVING COUNT(*) = 2",
        "SELECT state FROM orders GROUP BY state HAVING COUNT(*) = 3",
    ];
    let outcome = cover(&shop(), &targets);
    assert_eq!(outcome.covered(), 3);
    assert_eq!(outcome.fixtures.len(), 1, "{:?}", outcome.fixtures);
}

#[test]
fn what_is_returned_is_rarely_null_and_what_is_not_looked_at_is_left_out() {
    let outcome = cover(&shop(), &["SELECT id, state FROM orders WHERE id > 4"]);
    let row = outcome.fixtures[0].rows.iter().find(|row| row.table == 1);
    let row = row.expect("an order");
    assert!(
        matches!(&row.cells[3], Cell::Value(value) if !value.is_null()),
        "{row:?}"
    );
    assert_eq!(row.cells[2], Cell::Default, "{row:?}");
}
