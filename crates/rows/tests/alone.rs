//! Targets of ordinary queries are built or proven infeasible one by one: without search, and
//! without the rows of other targets.

use std::fmt::Write as _;

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};

/// A chain of three tables, and one beside it; parents have CHECKs and keys that nobody asks about.
const SHOP: &str = "
    CREATE TABLE customers (
        customer_id INTEGER PRIMARY KEY,
        email VARCHAR(120) NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
        country CHAR(2) NOT NULL DEFAULT 'PT',
        joined_on DATE NOT NULL
    );
    CREATE TABLE products (
        sku VARCHAR(12) PRIMARY KEY,
        price NUMERIC(8, 2) NOT NULL CHECK (price > 0),
        discounted NUMERIC(8, 2),
        status VARCHAR(10) NOT NULL CHECK (status IN ('draft', 'listed', 'retired')),
        CHECK (discounted > 0 AND discounted < price)
    );
    CREATE TABLE orders (
        order_id INTEGER PRIMARY KEY,
        customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
        placed_on DATE NOT NULL,
        shipped_on DATE,
        CHECK (shipped_on >= placed_on)
    );
    CREATE TABLE order_items (
        order_id INTEGER NOT NULL REFERENCES orders (order_id),
        line INTEGER NOT NULL CHECK (line BETWEEN 1 AND 99),
        sku VARCHAR(12) NOT NULL REFERENCES products (sku),
        quantity INTEGER NOT NULL DEFAULT 1 CHECK (quantity > 0),
        PRIMARY KEY (order_id, line),
        UNIQUE (order_id, sku)
    );";

/// Stores and their staff refer to each other, and films have a column of a type that we do not read.
const RENTALS: &str = "
    CREATE TABLE staff (id INTEGER PRIMARY KEY, store INTEGER NOT NULL, active BOOLEAN NOT NULL);
    CREATE TABLE stores (id INTEGER PRIMARY KEY, manager INTEGER NOT NULL UNIQUE REFERENCES staff (id));
    ALTER TABLE staff ADD FOREIGN KEY (store) REFERENCES stores (id);
    CREATE TABLE films (id INTEGER PRIMARY KEY, title VARCHAR(20) NOT NULL, length SMALLINT, words tsvector NOT NULL);
    CREATE TABLE copies (id INTEGER PRIMARY KEY, film SMALLINT NOT NULL REFERENCES films (id), store INTEGER NOT NULL REFERENCES stores (id));";

fn schema(text: &str) -> Schema {
    let source = Source {
        name: "schema.sql".to_owned(),
        text: text.to_owned(),
    };
    let loaded = load("schema", &[source], Some(DialectName::Postgres));
    assert!(loaded.limitations.is_empty(), "{:?}", loaded.limitations);
    loaded.schema
}

/// What is done with a query of the shop.
fn statuses(sql: &str) -> String {
    fates_in(SHOP, sql)
}

/// How many targets of a query are covered and proven infeasible, and those that are neither.
fn fates_in(tables: &str, sql: &str) -> String {
    let schema = schema(tables);
    let dialect = DialectName::Postgres;
    let setting = SolverContext::new(&schema, dialect.dialect());
    let made = targets(
        sql,
        &schema,
        dialect,
        QueryCriterion::Extended,
        CoverageOptions::default(),
    )
    .expect("it has targets");
    let config = Config {
        budget: 0,
        ..Config::default()
    };
    let (mut covered, mut infeasible, mut open) = (0, 0, String::new());
    for made in &made {
        let target = QueryTarget::of(made, &schema, dialect);
        let outcome = run(&[target], setting, &config);
        match &outcome.statuses[..] {
            [TargetStatus::Covered(_)] => covered += 1,
            [TargetStatus::Infeasible { .. }] => infeasible += 1,
            _ => writeln!(open, "open: {}", made.sql).expect("text takes everything"),
        }
    }
    format!("{covered} covered, {infeasible} infeasible\n{open}")
}

#[test]
fn parameters_take_the_type_of_what_they_are_compared_with() {
    insta::assert_snapshot!(statuses(
        "SELECT o.order_id, c.email FROM orders o
         JOIN customers c ON c.customer_id = o.customer_id
         WHERE o.shipped_on IS NULL AND o.placed_on < :before
         ORDER BY o.order_id"
    ), @"5 covered, 2 infeasible");
}

#[test]
fn comparisons_that_run_in_a_circle_are_proven_infeasible() {
    insta::assert_snapshot!(statuses(
        "SELECT sku FROM products
         WHERE status = 'listed' AND (price <= :most OR discounted <= :most)"
    ), @"9 covered, 3 infeasible");
}

#[test]
fn groups_over_outer_joins_are_built() {
    insta::assert_snapshot!(statuses(
        "SELECT c.country, COUNT(i.sku) FROM customers c
         LEFT JOIN orders o ON o.customer_id = c.customer_id
         LEFT JOIN order_items i ON i.order_id = o.order_id
         GROUP BY c.country HAVING COUNT(i.sku) > 1"
    ), @"11 covered, 3 infeasible");
}

#[test]
fn groups_over_four_tables_are_built() {
    insta::assert_snapshot!(statuses(
        "SELECT c.country, p.status, SUM(i.quantity) FROM customers c
         JOIN orders o ON o.customer_id = c.customer_id
         JOIN order_items i ON i.order_id = o.order_id
         JOIN products p ON p.sku = i.sku
         WHERE p.price > 10
         GROUP BY c.country, p.status HAVING SUM(i.quantity) >= 5"
    ), @"16 covered, 3 infeasible");
}

#[test]
fn rows_that_only_a_subquery_reads_bring_lawful_parents() {
    insta::assert_snapshot!(statuses(
        "SELECT p.sku FROM products p WHERE p.status <> 'retired'
         AND NOT EXISTS (SELECT 1 FROM order_items i WHERE i.sku = p.sku)"
    ), @"4 covered, 0 infeasible");
}

#[test]
fn a_value_and_a_null_cannot_meet_in_a_group_by_the_key_of_an_outer_join() {
    insta::assert_snapshot!(statuses(
        "SELECT c.customer_id, COUNT(o.order_id) FROM customers c
         LEFT JOIN orders o ON o.customer_id = c.customer_id
         GROUP BY c.customer_id HAVING COUNT(o.order_id) < 3"
    ), @"9 covered, 3 infeasible");
}

#[test]
fn the_least_and_the_greatest_value_are_those_of_a_row() {
    insta::assert_snapshot!(statuses(
        "SELECT order_id FROM order_items WHERE quantity > 10
         GROUP BY order_id HAVING COUNT(*) > 1 AND MAX(quantity) >= 50"
    ), @"11 covered, 4 infeasible");
}

#[test]
fn products_and_remainders_of_whole_numbers_are_decided() {
    insta::assert_snapshot!(statuses(
        "SELECT line FROM order_items WHERE quantity * 2 > 30 AND quantity % 5 = 0"
    ), @"5 covered, 3 infeasible");
}

#[test]
fn rows_that_refer_to_each_other_and_values_of_unknown_types_are_built() {
    insta::assert_snapshot!(fates_in(
        RENTALS,
        "SELECT f.title, s.id FROM films f JOIN copies c ON c.film = f.id
         JOIN stores s ON s.id = c.store JOIN staff m ON m.id = s.manager
         WHERE f.length > 120 AND m.active"
    ), @"10 covered, 3 infeasible");
}
