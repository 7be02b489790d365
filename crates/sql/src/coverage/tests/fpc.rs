//! The strict criterion, rule by rule.

use super::{description, fpc, sql};
use crate::dialect::DialectName::{MySql, Postgres};

#[test]
fn a_lone_condition_is_false_true_and_null() {
    let targets = fpc(Postgres, "SELECT id FROM orders WHERE note = 'x'");
    insta::assert_snapshot!(description(&targets), @r"
    WF   SELECT id FROM orders WHERE NOT (note = 'x') -- `note = 'x'` is false
    WT   SELECT id FROM orders WHERE note = 'x' -- `note = 'x'` is true
    WN   SELECT id FROM orders WHERE note IS NULL -- `note` is NULL, so `note = 'x'` is neither true nor false
    ");
}

#[test]
fn in_an_and_every_other_condition_holds() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE note = 'x' AND status = 'open' AND placed IS NOT NULL",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WT   SELECT id FROM orders WHERE note = 'x' AND status = 'open' AND placed IS NOT NULL
    WF   SELECT id FROM orders WHERE NOT (note = 'x') AND status = 'open' AND placed IS NOT NULL
    WN   SELECT id FROM orders WHERE note IS NULL AND status = 'open' AND placed IS NOT NULL
    WF   SELECT id FROM orders WHERE NOT (status = 'open') AND note = 'x' AND placed IS NOT NULL
    WF   SELECT id FROM orders WHERE placed IS NULL AND note = 'x' AND status = 'open'
    ");
}

#[test]
fn in_an_or_every_other_condition_fails() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE note = 'x' OR status IN ('open', 'new')",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM orders WHERE NOT (note = 'x') AND status NOT IN ('open', 'new')
    WT   SELECT id FROM orders WHERE note = 'x' AND status NOT IN ('open', 'new')
    WN   SELECT id FROM orders WHERE note IS NULL AND status NOT IN ('open', 'new')
    WT   SELECT id FROM orders WHERE status IN ('open', 'new') AND NOT (note = 'x')
    ");
}

#[test]
fn parentheses_start_a_node_of_their_own() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE status = 'a' AND (note = 'b' AND (note = 'c' OR status = 'd'))",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WT   SELECT id FROM orders WHERE status = 'a' AND note = 'b' AND (note = 'c' OR status = 'd')
    WF   SELECT id FROM orders WHERE NOT (status = 'a') AND note = 'b' AND (note = 'c' OR status = 'd')
    WT   SELECT id FROM orders WHERE note = 'b' AND (note = 'c' OR status = 'd') AND status = 'a'
    WF   SELECT id FROM orders WHERE NOT (note = 'b') AND (note = 'c' OR status = 'd') AND status = 'a'
    WN   SELECT id FROM orders WHERE note IS NULL AND status = 'd' AND status = 'a'
    WF   SELECT id FROM orders WHERE NOT (note = 'c') AND NOT (status = 'd') AND note = 'b' AND status = 'a'
    WT   SELECT id FROM orders WHERE note = 'c' AND NOT (status = 'd') AND note = 'b' AND status = 'a'
    WN   SELECT id FROM orders WHERE note IS NULL AND NOT (status = 'd') AND status = 'a'
    WT   SELECT id FROM orders WHERE status = 'd' AND NOT (note = 'c') AND note = 'b' AND status = 'a'
    ");
}

#[test]
fn a_null_removes_the_conditions_it_reaches() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE note = 'x' AND NOT (note = 'y' AND status = 'z')",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WT   SELECT id FROM orders WHERE note = 'x' AND NOT (note = 'y' AND status = 'z')
    WF   SELECT id FROM orders WHERE NOT (note = 'x') AND NOT (note = 'y' AND status = 'z')
    WN   SELECT id FROM orders WHERE note IS NULL AND NOT (status = 'z')
    WT   SELECT id FROM orders WHERE note = 'y' AND status = 'z' AND note = 'x'
    WF   SELECT id FROM orders WHERE NOT (note = 'y') AND status = 'z' AND note = 'x'
    WN   SELECT id FROM orders WHERE note IS NULL AND status = 'z'
    WF   SELECT id FROM orders WHERE NOT (status = 'z') AND note = 'y' AND note = 'x'
    ");
}

#[test]
fn a_comparison_of_numbers_has_three_points() {
    let targets = fpc(Postgres, "SELECT id FROM customers WHERE age >= 18");
    insta::assert_snapshot!(sql(&targets), @r"
    WB   SELECT id FROM customers WHERE age = 19
    WB   SELECT id FROM customers WHERE age = 18
    WB   SELECT id FROM customers WHERE age = 17
    WN   SELECT id FROM customers WHERE age IS NULL
    ");
}

#[test]
fn a_decimal_bound_is_not_folded() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE total > 9.5 AND 0 < total",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WB   SELECT id FROM orders WHERE total = 9.5 + 1 AND 0 < total
    WB   SELECT id FROM orders WHERE total = 9.5 AND 0 < total
    WB   SELECT id FROM orders WHERE total = 9.5 - 1 AND 0 < total
    WB   SELECT id FROM orders WHERE 1 = total AND total > 9.5
    WB   SELECT id FROM orders WHERE 0 = total AND total > 9.5
    WB   SELECT id FROM orders WHERE -1 = total AND total > 9.5
    ");
}

#[test]
fn a_boolean_has_no_neighbours() {
    let targets = fpc(MySql, "SELECT id FROM customers WHERE vip = 1");
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM customers WHERE NOT (vip = 1)
    WT   SELECT id FROM customers WHERE vip = 1
    WN   SELECT id FROM customers WHERE vip IS NULL
    ");
}

#[test]
fn a_null_test_has_no_null_case() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE note IS NULL OR note = ''",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM orders WHERE note IS NOT NULL AND NOT (note = '')
    WT   SELECT id FROM orders WHERE note IS NULL
    WT   SELECT id FROM orders WHERE note = '' AND note IS NOT NULL
    ");
}

#[test]
fn having_is_a_condition_on_groups() {
    let targets = fpc(
        Postgres,
        "SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    HB   SELECT status FROM orders GROUP BY status HAVING COUNT(*) = 2
    HB   SELECT status FROM orders GROUP BY status HAVING COUNT(*) = 1
    HB   SELECT status FROM orders GROUP BY status HAVING COUNT(*) = 0
    G1   SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1 AND COUNT(*) > 1
    G2   SELECT COUNT(*) FROM orders HAVING COUNT(DISTINCT status) > 1 AND COUNT(*) > 1
    ");
}

#[test]
fn each_side_of_a_join_may_stand_alone() {
    let targets = fpc(
        Postgres,
        "SELECT c.name FROM customers c JOIN orders o ON c.id = o.customer_id WHERE o.status = 'open'",
    );
    insta::assert_snapshot!(description(&targets), @r"
    WF   SELECT c.name FROM customers c INNER JOIN orders o ON c.id = o.customer_id WHERE NOT (o.status = 'open') -- `o.status = 'open'` is false
    WT   SELECT c.name FROM customers c INNER JOIN orders o ON c.id = o.customer_id WHERE o.status = 'open' -- `o.status = 'open'` is true
    JL   SELECT c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id WHERE o.customer_id IS NULL AND c.id IS NOT NULL -- a row joined with o has no partner there
    JR   SELECT c.name FROM customers c RIGHT JOIN orders o ON c.id = o.customer_id WHERE c.id IS NULL AND o.customer_id IS NOT NULL AND o.status = 'open' -- a row of o has no partner
    JRN  SELECT c.name FROM customers c RIGHT JOIN orders o ON c.id = o.customer_id WHERE c.id IS NULL AND o.customer_id IS NULL AND o.status = 'open' -- a row of o has no partner because `o.customer_id` is NULL
    ");
}

#[test]
fn a_comma_join_takes_its_equality() {
    let targets = fpc(
        MySql,
        "SELECT * FROM customers c, orders o WHERE c.id = o.customer_id AND o.status = 'new'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT * FROM customers c INNER JOIN orders o ON c.id = o.customer_id WHERE NOT (o.status = 'new')
    WT   SELECT * FROM customers c INNER JOIN orders o ON c.id = o.customer_id WHERE o.status = 'new'
    JL   SELECT * FROM customers c LEFT JOIN orders o ON c.id = o.customer_id WHERE o.customer_id IS NULL AND c.id IS NOT NULL
    JR   SELECT * FROM customers c RIGHT JOIN orders o ON c.id = o.customer_id WHERE c.id IS NULL AND o.customer_id IS NOT NULL AND o.status = 'new'
    JRN  SELECT * FROM customers c RIGHT JOIN orders o ON c.id = o.customer_id WHERE c.id IS NULL AND o.customer_id IS NULL AND o.status = 'new'
    ");
}

#[test]
fn later_joins_follow_a_missing_row() {
    let targets = fpc(
        Postgres,
        "SELECT i.product FROM customers c LEFT JOIN orders o ON o.customer_id = c.id LEFT JOIN items i ON i.order_id = o.id",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT i.product FROM customers c INNER JOIN orders o ON o.customer_id = c.id INNER JOIN items i ON i.order_id = o.id
    JL   SELECT i.product FROM customers c LEFT JOIN orders o ON o.customer_id = c.id LEFT JOIN items i ON i.order_id = o.id WHERE o.customer_id IS NULL AND c.id IS NOT NULL
    JR   SELECT i.product FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id INNER JOIN items i ON i.order_id = o.id WHERE c.id IS NULL AND o.customer_id IS NOT NULL
    JRN  SELECT i.product FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id INNER JOIN items i ON i.order_id = o.id WHERE c.id IS NULL AND o.customer_id IS NULL
    JL   SELECT i.product FROM customers c INNER JOIN orders o ON o.customer_id = c.id LEFT JOIN items i ON i.order_id = o.id WHERE i.order_id IS NULL AND o.id IS NOT NULL
    JR   SELECT i.product FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id RIGHT JOIN items i ON i.order_id = o.id WHERE o.id IS NULL AND i.order_id IS NOT NULL
    ");
}

#[test]
fn ifnull_uses_either_argument() {
    let targets = fpc(
        MySql,
        "SELECT IFNULL(note, '') FROM orders WHERE IFNULL(note, '') = 'x'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT IFNULL(note, '') FROM orders WHERE NOT (IFNULL(note, '') = 'x')
    WT   SELECT IFNULL(note, '') FROM orders WHERE IFNULL(note, '') = 'x'
    CT   SELECT IFNULL(note, '') FROM orders WHERE note IS NOT NULL
    CF   SELECT IFNULL(note, '') FROM orders WHERE note IS NULL
    ");
}

#[test]
fn groups_repeat_and_differ() {
    let targets = fpc(
        Postgres,
        "SELECT status, note, COUNT(*) FROM orders GROUP BY status, note",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    G1   SELECT status, note, COUNT(*) FROM orders GROUP BY status, note HAVING COUNT(*) > 1
    G2   SELECT note FROM orders GROUP BY note HAVING COUNT(DISTINCT status) > 1
    G2   SELECT status FROM orders GROUP BY status HAVING COUNT(DISTINCT note) > 1
    ");
}

#[test]
fn an_aggregate_sees_a_repeated_value_and_a_null() {
    let targets = fpc(
        Postgres,
        "SELECT SUM(age) FROM customers WHERE country = 'NL'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT * FROM customers WHERE NOT (country = 'NL')
    WT   SELECT * FROM customers WHERE country = 'NL'
    WN   SELECT * FROM customers WHERE country IS NULL
    A1   SELECT SUM(age) FROM customers WHERE country = 'NL' HAVING COUNT(age) > COUNT(DISTINCT age) AND COUNT(DISTINCT age) > 1
    A2   SELECT SUM(age) FROM customers WHERE country = 'NL' HAVING COUNT(*) > COUNT(age) AND COUNT(DISTINCT age) > 1
    ");
}

#[test]
fn a_subquery_has_targets_of_its_own() {
    let targets = fpc(
        Postgres,
        "SELECT name FROM customers c WHERE vip AND EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id)",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WT   SELECT name FROM customers c WHERE vip AND EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id)
    WF   SELECT name FROM customers c WHERE NOT (vip) AND EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id)
    WN   SELECT name FROM customers c WHERE vip IS NULL AND EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id)
    WF   SELECT name FROM customers c WHERE NOT EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id) AND vip
    SWWB SELECT name FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id + 1) AND vip
    SWWB SELECT name FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id) AND vip
    SWWB SELECT name FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id - 1) AND vip
    SWWN SELECT name FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id IS NULL) AND vip
    ");
}

#[test]
fn a_scalar_subquery_too() {
    let targets = fpc(
        Postgres,
        "SELECT name, (SELECT MAX(total) FROM orders WHERE customer_id = customers.id) FROM customers",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    SSWB SELECT name, (SELECT MAX(total) FROM orders WHERE customer_id = customers.id) FROM customers WHERE EXISTS (SELECT * FROM orders WHERE customer_id = customers.id + 1)
    SSWB SELECT name, (SELECT MAX(total) FROM orders WHERE customer_id = customers.id) FROM customers WHERE EXISTS (SELECT * FROM orders WHERE customer_id = customers.id)
    SSWB SELECT name, (SELECT MAX(total) FROM orders WHERE customer_id = customers.id) FROM customers WHERE EXISTS (SELECT * FROM orders WHERE customer_id = customers.id - 1)
    SSWN SELECT name, (SELECT MAX(total) FROM orders WHERE customer_id = customers.id) FROM customers WHERE EXISTS (SELECT * FROM orders WHERE customer_id IS NULL)
    SSA1 SELECT name, (SELECT MAX(total) FROM orders WHERE customer_id = customers.id) FROM customers WHERE EXISTS (SELECT MAX(total) FROM orders WHERE customer_id = customers.id HAVING COUNT(total) > COUNT(DISTINCT total) AND COUNT(DISTINCT total) > 1)
    ");
}

#[test]
fn branches_ctes_and_derived_tables_stand_alone() {
    let targets = fpc(
        Postgres,
        "WITH vips AS (SELECT id FROM customers WHERE vip) SELECT id FROM vips WHERE id = 1 UNION SELECT d.id FROM (SELECT id FROM orders WHERE note = 'x') d",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    SCWF SELECT id FROM customers WHERE NOT (vip)
    SCWT SELECT id FROM customers WHERE vip
    SCWN SELECT id FROM customers WHERE vip IS NULL
    SUWB WITH vips AS (SELECT id FROM customers WHERE vip) SELECT id FROM vips WHERE id = 2
    SUWB WITH vips AS (SELECT id FROM customers WHERE vip) SELECT id FROM vips WHERE id = 1
    SUWB WITH vips AS (SELECT id FROM customers WHERE vip) SELECT id FROM vips WHERE id = 0
    SUSFWF SELECT id FROM orders WHERE NOT (note = 'x')
    SUSFWT SELECT id FROM orders WHERE note = 'x'
    SUSFWN SELECT id FROM orders WHERE note IS NULL
    ");
}
