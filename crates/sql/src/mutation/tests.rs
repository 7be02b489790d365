//! Which mutants there are, and what is asked about them.

use super::{QueryMutant, mutants};
use crate::ddl::{Source, load};
use crate::dialect::DialectName;

const TABLES: &str = "
    CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL);
    CREATE TABLE o (id INT PRIMARY KEY, p_id INT NOT NULL REFERENCES p (id), n INT);";

fn of(sql: &str) -> Vec<QueryMutant> {
    let source = Source {
        name: "tables.sql".to_owned(),
        text: TABLES.to_owned(),
    };
    let schema = load("tables", &[source], Some(DialectName::Postgres)).schema;
    mutants(sql, &schema, DialectName::Postgres).unwrap().1
}

fn texts(sql: &str) -> Vec<String> {
    of(sql).into_iter().map(|mutant| mutant.sql).collect()
}

#[test]
fn comparisons_have_other_operators_bounds_and_null() {
    insta::assert_snapshot!(texts("SELECT id FROM o WHERE n < 5").join("\n"), @r"
    SELECT DISTINCT id FROM o WHERE n < 5
    SELECT id FROM o WHERE n = 5
    SELECT id FROM o WHERE n <> 5
    SELECT id FROM o WHERE n <= 5
    SELECT id FROM o WHERE n > 5
    SELECT id FROM o WHERE n >= 5
    SELECT id FROM o WHERE n < 6
    SELECT id FROM o WHERE n < 4
    SELECT id FROM o WHERE (n < 5 OR n IS NULL)
    ");
}

#[test]
fn joins_aggregates_and_order_have_mutants() {
    let sql = "SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2";
    insta::assert_snapshot!(texts(sql).join("\n"), @r"
    SELECT p.name, SUM(o.n) FROM p LEFT JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p RIGHT JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2 DESC
    SELECT p.name, AVG(o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, MIN(o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, MAX(o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, COUNT(o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(DISTINCT o.n) FROM p JOIN o ON o.p_id = p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id <> p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id < p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id <= p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id > p.id GROUP BY p.name ORDER BY 2
    SELECT p.name, SUM(o.n) FROM p JOIN o ON o.p_id >= p.id GROUP BY p.name ORDER BY 2
    ");
}

#[test]
fn a_changed_condition_is_asked_about_in_both_directions() {
    let mutants = of("SELECT COUNT(*) FROM o WHERE n < 5");
    let boundary = &mutants[0];
    let asked: Vec<String> = boundary
        .differences
        .iter()
        .map(|query| format!("{} {}", query.is_decisive, query.sql))
        .collect();
    insta::assert_snapshot!(asked.join("\n"), @r"
    false SELECT COUNT(*) FROM o WHERE (n < 5) AND (n = 5) IS NOT TRUE
    false SELECT COUNT(*) FROM o WHERE (n = 5) AND (n < 5) IS NOT TRUE
    true SELECT 1 FROM o WHERE (n < 5) AND (n = 5) IS NOT TRUE
    true SELECT 1 FROM o WHERE (n = 5) AND (n < 5) IS NOT TRUE
    ");
}

#[test]
fn a_changed_join_is_asked_about_rows_without_a_partner() {
    let mutants = of("SELECT o.n FROM o JOIN p ON p.id = o.p_id WHERE o.n > 1");
    let join = mutants
        .iter()
        .find(|mutant| mutant.sql.contains("LEFT JOIN"))
        .unwrap();
    let asked: Vec<&str> = join
        .differences
        .iter()
        .map(|query| query.sql.as_str())
        .collect();
    insta::assert_snapshot!(asked.join("\n"), @r"
    SELECT o.n FROM o LEFT JOIN p ON p.id = o.p_id WHERE (o.n > 1) AND p.id IS NULL
    SELECT 1 FROM o LEFT JOIN p ON p.id = o.p_id WHERE p.id IS NULL
    ");
}
