//! Printed suites, held against the engine that they are for.

use isobath_exec::{Engine, provision};
use isobath_sql::coverage::{self, QueryCriterion};
use isobath_sql::ddl::{Source, load};

use super::*;
use crate::query::algorithm::Config;
use crate::query::construct;
use crate::query::job;
use crate::schema::confirm::confirm;

const SHOP: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
    CREATE TABLE orders (
        id INTEGER PRIMARY KEY,
        person INTEGER NOT NULL REFERENCES people (id),
        total INTEGER,
        placed DATE
    );";

fn shop() -> Schema {
    let source = Source {
        name: "shop.sql".to_owned(),
        text: SHOP.to_owned(),
    };
    load("shop", &[source], Some(DialectName::Sqlite)).schema
}

/// The suite of a query, its results from SQLite or from our evaluator.
fn printed(sql: &str, schema: &Schema, on_engine: bool) -> (Suite, Vec<PrintRemark>) {
    let dialect = DialectName::Sqlite;
    let options = coverage::CoverageOptions::default();
    let targets: Vec<QueryTarget> =
        coverage::targets(sql, schema, dialect, QueryCriterion::Extended, options)
            .expect("targets")
            .iter()
            .map(|target| QueryTarget::of(target, schema, dialect))
            .collect();
    let setting = construct::SolverContext::new(schema, dialect.dialect());
    let outcome = job::run(&targets, setting, &Config::default());
    let covered = CoveredQuery {
        id: "Query",
        sql,
        place: "",
        targets: &targets,
        outcome: &outcome,
    };
    let setting = PrintContext {
        schema,
        written: dialect,
        dialect,
    };
    let mut suite = empty("shop", setting);
    let printed = if on_engine {
        let mut engine = provision(Engine::Sqlite).expect("SQLite is embedded");
        let database = engine.database();
        for sql in &suite.setup {
            database.execute_required(sql).expect("the tables are fine");
        }
        add(&mut suite, &covered, setting, Some(database))
    } else {
        add(&mut suite, &covered, setting, None)
    };
    (suite, printed.expect("SQLite stays").remarks)
}

#[test]
fn our_evaluator_expects_what_the_engine_returns() {
    let schema = shop();
    for sql in [
        "SELECT * FROM people WHERE city = 'Faro'",
        "SELECT p.name, o.total FROM people p LEFT JOIN orders o ON o.person = p.id",
        "SELECT a.name, b.name FROM people a JOIN people b ON a.city = b.city",
        "SELECT city, COUNT(*), SUM(o.total) FROM people p JOIN orders o ON o.person = p.id GROUP BY city",
        "SELECT id, total FROM orders WHERE total > :least AND placed = :day ORDER BY total DESC, id",
        "SELECT DISTINCT city FROM people UNION ALL SELECT name FROM people WHERE id > 5",
        "WITH big AS (SELECT * FROM orders WHERE total > 10) SELECT person FROM big",
        "SELECT id, CASE WHEN total IS NULL THEN 'none' ELSE 'some' END FROM orders",
    ] {
        let (ours, remarks) = printed(sql, &schema, false);
        assert_eq!(remarks, [], "{sql}");
        let (theirs, remarks) = printed(sql, &schema, true);
        assert_eq!(remarks, [], "{sql}");
        assert!(!ours.tests.is_empty(), "{sql}");
        assert_eq!(ours, theirs, "{sql}");
        let mut engine = provision(Engine::Sqlite).expect("SQLite is embedded");
        let confirmation = confirm(&theirs, engine.database()).expect("SQLite stays");
        assert_eq!(confirmation.disagreements, [], "{sql}");
        assert_eq!(confirmation.agreed, theirs.tests.len());
    }
}

#[test]
fn the_order_counts_only_where_it_leaves_no_choice() {
    let schema = shop();
    let ordered = |sql: &str| {
        let (suite, _) = printed(sql, &schema, false);
        let cases = suite.queries[0].cases.clone();
        cases.iter().map(|case| case.ordered).collect::<Vec<_>>()
    };
    let by_key = ordered("SELECT id FROM orders WHERE total > 1 ORDER BY id");
    assert!(!by_key.is_empty() && by_key.iter().all(|ordered| *ordered));
    let tied = ordered("SELECT id, total FROM orders ORDER BY total");
    assert!(tied.iter().all(|ordered| !ordered), "two rows tie on total");
    let none = ordered("SELECT id FROM orders WHERE total > 1");
    assert!(none.iter().all(|ordered| !ordered));
}

#[test]
fn what_a_statement_changes_is_only_known_on_an_engine() {
    let schema = shop();
    let sql = "UPDATE orders SET total = 0 WHERE total < 3";
    let (suite, remarks) = printed(sql, &schema, false);
    assert!(suite.tests.is_empty());
    assert!(
        matches!(remarks.first(), Some(PrintRemark::NoTest { why }) if why.contains("--engine"))
    );
    let (suite, remarks) = printed(sql, &schema, true);
    assert_eq!(remarks, []);
    let zero = suite.tests.iter().any(|test| {
        let rows = test.expected_rows().unwrap_or_default();
        rows.iter().any(|row| row[2].as_deref() == Some("0"))
    });
    assert!(zero, "{:?}", suite.tests);
}

#[test]
fn columns_of_the_same_name_are_told_apart_and_tests_have_ids_of_their_own() {
    let schema = shop();
    let sql = "SELECT a.id, b.id, 1 + 1 FROM people a, people b WHERE a.city = b.city";
    let (suite, _) = printed(sql, &schema, true);
    assert_eq!(
        suite.queries[0].cases[0].columns,
        ["id", "id_2", "column_3"]
    );
    let mut ids: Vec<&str> = suite.tests.iter().map(|test| test.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), suite.tests.len());
}

#[test]
fn a_query_that_asks_for_the_time_is_said_to_be_unsteady() {
    assert_eq!(
        nondeterministic_call("SELECT now()").as_deref(),
        Some("now")
    );
    assert_eq!(nondeterministic_call("SELECT 'now()' FROM nowhere"), None);
    let clock = clock(&Schema::default(), DialectName::MySql);
    assert!(clock.is_some_and(|sql| sql.starts_with("SET timestamp")));
}
