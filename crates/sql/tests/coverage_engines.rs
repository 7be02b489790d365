//! The targets of a broad set of queries, run on real databases: each must be valid SQL there.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test"
)]

use std::fmt::Write as _;

use isobath_exec::Database;
use isobath_exec::engine::{Engine, provision};
use isobath_exec::server::or_skip;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema, Value, query};

const TABLES: [&str; 3] = [
    "CREATE TABLE customers (id INTEGER NOT NULL, name VARCHAR(40), country VARCHAR(40), age INTEGER, born DATE)",
    "CREATE TABLE orders (id INTEGER NOT NULL, customer_id INTEGER, status VARCHAR(20) NOT NULL, \
     total DECIMAL(10,2) NOT NULL, placed TIMESTAMP NULL, note VARCHAR(40))",
    "CREATE TABLE items (order_id INTEGER NOT NULL, product VARCHAR(40) NOT NULL, quantity INTEGER NOT NULL, \
     price DECIMAL(10,2))",
];

/// Queries that all three databases understand.
const EVERYWHERE: &[&str] = &[
    // Conditions.
    "SELECT * FROM customers WHERE age = 30 AND (country = 'NL' OR name LIKE 'A%')",
    "SELECT id FROM customers WHERE NOT (age > 18 AND country IN ('NL', 'BE')) OR born IS NULL",
    "SELECT id FROM customers WHERE NOT (NOT (age > 18 OR name = 'x'))",
    "SELECT id FROM customers WHERE age BETWEEN 18 AND 65 AND age NOT BETWEEN 30 AND 40",
    "SELECT id FROM orders WHERE total BETWEEN 1.5 AND 9.99 OR status <> 'open'",
    "SELECT id FROM orders WHERE total * 2 > 10 AND total + 1 < customer_id",
    "SELECT id FROM customers WHERE born BETWEEN '2000-01-01' AND '2001-12-31' AND born <> '2000-06-01'",
    "SELECT id FROM orders WHERE placed >= '2020-01-01 00:00:00' AND note NOT LIKE '%x%'",
    "SELECT id FROM customers WHERE age IN (1, 2, 3) AND name NOT IN ('a', 'b')",
    "SELECT id FROM customers WHERE (name IS NULL) = (country IS NULL)",
    // Functions.
    "SELECT id FROM customers WHERE LENGTH(name) = 12 AND UPPER(country) = 'NL'",
    "SELECT id FROM customers WHERE SUBSTR(name, 1, 3) = 'Ada' AND TRIM(name) <> ''",
    "SELECT id, COALESCE(note, status, 'none') FROM orders WHERE COALESCE(note, '') = 'x'",
    "SELECT NULLIF(age, 0) FROM customers WHERE ABS(age) > 3 AND REPLACE(name, 'a', 'b') = 'b'",
    // CASE.
    "SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END FROM customers WHERE name = 'x'",
    "SELECT CASE country WHEN 'NL' THEN 1 WHEN 'BE' THEN 2 END FROM customers",
    "SELECT id FROM customers WHERE CASE WHEN age > 18 AND name = 'x' THEN 1 ELSE 0 END = 1",
    // Joins.
    "SELECT c.id FROM customers c JOIN orders o ON o.customer_id = c.id AND o.status = 'open' WHERE c.age > 1",
    "SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.total > 5 OR c.age = 1",
    "SELECT c.id FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id WHERE c.country = 'NL'",
    "SELECT * FROM customers c, orders o, items i WHERE c.id = o.customer_id AND i.order_id = o.id AND i.quantity > 3",
    "SELECT a.id FROM customers a JOIN customers b ON a.age < b.age WHERE a.country = b.country",
    "SELECT c.name FROM customers c CROSS JOIN orders o WHERE o.total > c.age",
    "SELECT o.id FROM orders o JOIN items i ON i.order_id = o.id LEFT JOIN customers c ON c.id = o.customer_id WHERE c.name = 'x'",
    // Groups and aggregates.
    "SELECT country, COUNT(*) FROM customers GROUP BY country",
    "SELECT country, age, SUM(age) FROM customers WHERE name = 'x' GROUP BY country, age HAVING SUM(age) > 10 AND COUNT(*) < 5",
    "SELECT COUNT(DISTINCT country), MAX(age), MIN(born) FROM customers WHERE age > 3",
    "SELECT status, COUNT(DISTINCT customer_id) FROM orders GROUP BY status HAVING COUNT(DISTINCT customer_id) >= 2",
    "SELECT AVG(total) FROM orders HAVING COUNT(*) > 1",
    "SELECT c.country, SUM(o.total) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.country HAVING SUM(o.total) > 100",
    // Subqueries.
    "SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.total > 10)",
    "SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
    "SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE status = 'open') AND age > 3",
    "SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE note = 'x')",
    "SELECT id, (SELECT COUNT(*) FROM orders o WHERE o.customer_id = c.id) FROM customers c WHERE c.age = 3",
    "SELECT id FROM customers c WHERE age > (SELECT AVG(o.total) FROM orders o WHERE o.customer_id = c.id)",
    "SELECT c.id FROM customers c WHERE (SELECT MAX(o.total) FROM orders o WHERE o.customer_id = c.id GROUP BY o.status) > 3",
    "SELECT status FROM orders GROUP BY status HAVING MAX(total) > (SELECT AVG(total) FROM orders)",
    // Derived and common tables.
    "SELECT x.country FROM (SELECT country, COUNT(*) AS n FROM customers WHERE age > 3 GROUP BY country) x WHERE x.n > 2",
    "SELECT x.id FROM (SELECT id, age FROM customers WHERE name = 'x') x JOIN orders o ON o.customer_id = x.id WHERE x.age > 3",
    "WITH open AS (SELECT * FROM orders WHERE status = 'open') SELECT c.id FROM customers c JOIN open o ON o.customer_id = c.id WHERE o.total > 5",
    "WITH a AS (SELECT id FROM customers WHERE age > 1), b AS (SELECT id FROM a WHERE id < 9) SELECT * FROM b WHERE id <> 4",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r WHERE n > 3",
    // Set operations, DISTINCT, ORDER BY and LIMIT.
    "SELECT id FROM customers WHERE age > 3 UNION SELECT customer_id FROM orders WHERE status = 'open'",
    "SELECT id FROM customers WHERE age > 3 UNION ALL SELECT id FROM orders",
    "SELECT id FROM customers WHERE age > 3 EXCEPT SELECT customer_id FROM orders WHERE note = 'x'",
    "SELECT id FROM customers INTERSECT SELECT customer_id FROM orders WHERE total > 1",
    "SELECT DISTINCT country, age FROM customers WHERE name = 'x'",
    "SELECT id, age FROM customers WHERE age > 3 ORDER BY age DESC, id LIMIT 10 OFFSET 2",
    // Windows.
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY country ORDER BY age) FROM customers WHERE age > 3",
    "SELECT x.id FROM (SELECT id, RANK() OVER (ORDER BY total DESC) AS r FROM orders WHERE status = 'open') x WHERE x.r = 1",
    "SELECT id, SUM(total) OVER (PARTITION BY customer_id ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders",
    "SELECT id, LAG(total) OVER (ORDER BY id) FROM orders WHERE total > 1",
    // Statements that write.
    "UPDATE orders SET note = 'x' WHERE status = 'open' AND total > 3",
    "DELETE FROM items WHERE quantity = 0 OR price IS NULL",
    "INSERT INTO items (order_id, product, quantity) SELECT id, status, 1 FROM orders WHERE total > 5",
];

const MYSQL: &[&str] = &[
    "SELECT IFNULL(note, 'x'), IF(total > 3, 'a', 'b') FROM `orders` WHERE IFNULL(note, '') = '' AND status != 'x'",
    "SELECT id FROM customers WHERE LENGTH(name) = 12 AND LEFT(name, 5) = 'Grace' AND RIGHT(name, 6) = 'Hopper'",
    "SELECT id FROM customers WHERE REVERSE(name) = 'adA' AND name REGEXP '^A' AND LPAD(country, 3, '-') = '-NL'",
    "SELECT id FROM orders WHERE DATE(placed) = '2020-01-01' AND YEAR(placed) = 2020 LIMIT 2, 5",
    "SELECT id FROM orders WHERE placed > DATE_SUB(NOW(), INTERVAL 3 DAY) AND note <=> NULL",
    "SELECT country, GROUP_CONCAT(name) FROM customers GROUP BY country WITH ROLLUP",
    "SELECT id FROM customers WHERE age > ALL (SELECT quantity FROM items WHERE price > 3) OR age = ANY (SELECT id FROM orders)",
    "SELECT id FROM customers WHERE (id, age) IN (SELECT customer_id, id FROM orders WHERE total > 3)",
    "UPDATE orders o JOIN customers c ON c.id = o.customer_id SET o.note = 'x' WHERE c.age > 3",
    "DELETE o FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE c.id IS NULL",
];

const POSTGRES: &[&str] = &[
    "SELECT DISTINCT ON (country) country, id FROM customers WHERE age > 3 ORDER BY country, age DESC",
    "SELECT c.id, o.id FROM customers c FULL JOIN orders o ON o.customer_id = c.id WHERE c.age > 3 OR o.total > 3",
    "SELECT id FROM customers WHERE name ILIKE 'a%' AND name ~ '^A' AND born + 3 > DATE '2020-01-01'",
    "SELECT country, age, COUNT(*) FROM customers GROUP BY ROLLUP (country, age)",
    "SELECT c.id, z.m FROM customers c, LATERAL (SELECT MAX(total) AS m FROM orders o WHERE o.customer_id = c.id) z WHERE z.m > 3",
    "SELECT id FROM customers WHERE (id, age) IN ((1, 2), (3, 4)) AND id = ANY (ARRAY[1, 2])",
    "SELECT country, COUNT(*) FILTER (WHERE age > 3), STRING_AGG(name, ',' ORDER BY name) FROM customers GROUP BY country",
    "SELECT id FROM orders WHERE EXTRACT(YEAR FROM placed) = 2020 AND placed > NOW() - INTERVAL '3 days'",
    "SELECT id FROM customers WHERE age IS DISTINCT FROM 3 AND (age > 3) IS NOT TRUE",
    "SELECT id, SUM(total) OVER w FROM orders WHERE total > 3 WINDOW w AS (PARTITION BY customer_id)",
    "DELETE FROM items USING orders WHERE items.order_id = orders.id AND orders.total > 3",
    "UPDATE orders SET note = 'x' FROM customers c WHERE c.id = orders.customer_id AND c.age > 3",
];

const SQLITE: &[&str] = &[
    "SELECT c.id, o.id FROM customers c FULL JOIN orders o ON o.customer_id = c.id WHERE c.age > 3 OR o.total > 3",
    "SELECT IFNULL(note, 'x'), IIF(total > 3, 'a', 'b') FROM orders WHERE note IS NULL",
    "SELECT id FROM customers WHERE name GLOB 'A*' AND born IS '2020-01-01'",
    "SELECT id FROM orders WHERE date(placed) = '2020-01-01' AND strftime('%Y', placed) = '2020'",
    "SELECT country, GROUP_CONCAT(name, ';') FROM customers GROUP BY country",
    "SELECT * FROM customers NATURAL JOIN orders WHERE age > 3",
];

fn schema(dialect: DialectName) -> Schema {
    let source = Source {
        name: "shop.sql".to_owned(),
        text: TABLES.join(";\n"),
    };
    load("shop", &[source], Some(dialect)).schema
}

fn valid(engine: Engine, own: &[&str]) {
    let Some(mut provisioned) = or_skip(&format!("targets on {engine}"), provision(engine)) else {
        return;
    };
    let database = provisioned.database();
    let dialect = engine.dialect();
    for table in TABLES {
        assert!(database.execute(table).unwrap().is_done(), "{table}");
    }
    let schema = schema(dialect);
    let mut report = String::new();
    let (mut count, mut unresolved) = (0, Vec::new());
    for sql in EVERYWHERE.iter().chain(own) {
        for boundaries in [false, true] {
            let made = targets(
                sql,
                &schema,
                dialect,
                QueryCriterion::Extended,
                CoverageOptions { boundaries },
            );
            let made = made.unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert!(made.len() > 1, "{sql} has hardly a target");
            for target in made {
                count += 1;
                assert!(!target.clause.text.is_empty(), "{}", target.sql);
                assert!(
                    target.description.to_string().split_whitespace().count() > 2
                        && !target.rule.as_str().is_empty(),
                    "{}: {}",
                    target.sql,
                    target.description
                );
                check(
                    &target.sql,
                    &schema,
                    dialect,
                    database,
                    &mut report,
                    &mut unresolved,
                );
            }
        }
    }
    println!(
        "{engine}: {count} targets, {} not evaluated",
        unresolved.len()
    );
    for line in &unresolved {
        println!("  {line}");
    }
    assert!(report.is_empty(), "{engine} refuses targets:\n{report}");
    assert!(count > 500, "{count}");
    assert!(
        unresolved.len() * 50 < count,
        "{} of {count} targets are not supported",
        unresolved.len()
    );
}

/// Runs a target over empty tables, there and here.
fn check(
    sql: &str,
    schema: &Schema,
    dialect: DialectName,
    database: &mut dyn Database,
    report: &mut String,
    unresolved: &mut Vec<String>,
) {
    let theirs = match database.query(sql).unwrap() {
        Ok(rows) => rows.rows.len(),
        Err(refusal) => {
            let _ = writeln!(report, "{sql}\n  {refusal:?}");
            return;
        }
    };
    let tables: Vec<Vec<Vec<Value>>> = vec![Vec::new(); schema.tables.len()];
    let ours = match query::parse(sql, schema, dialect) {
        Ok(query) => {
            let now = Some(jiff::civil::date(2020, 1, 1).at(0, 0, 0, 0));
            query::evaluate_at(&query, &tables, &[], now, dialect.dialect())
                .map(|evaluated| evaluated.rows.len())
                .map_err(|stop| stop.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    match ours {
        Ok(ours) if ours != theirs => {
            let _ = writeln!(report, "{sql}\n  {theirs} rows there and {ours} here");
        }
        Ok(_) => {}
        Err(why) => unresolved.push(format!("{why}: {sql}")),
    }
}

#[test]
fn every_target_is_valid_on_sqlite() {
    valid(Engine::Sqlite, SQLITE);
}

#[test]
fn every_target_is_valid_on_postgres() {
    valid(Engine::Postgres, POSTGRES);
}

#[test]
fn every_target_is_valid_on_mariadb() {
    valid(Engine::MariaDb, MYSQL);
}
