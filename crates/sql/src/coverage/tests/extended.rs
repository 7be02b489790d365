//! What the extended criterion adds, rule by rule.

use super::{description, extended, sql, without_boundaries};
use crate::dialect::DialectName::{MySql, Postgres, Sqlite};

#[test]
fn a_general_false_case_stands_beside_the_boundaries() {
    let targets = extended(Postgres, "SELECT id FROM customers WHERE age >= 18");
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM customers WHERE NOT (age >= 18)
    WT   SELECT id FROM customers WHERE age >= 18
    WB   SELECT id FROM customers WHERE age = 19
    WB   SELECT id FROM customers WHERE age = 18
    WB   SELECT id FROM customers WHERE age = 17
    WN   SELECT id FROM customers WHERE age IS NULL
    ");
}

#[test]
fn boundaries_can_be_left_out() {
    let targets = without_boundaries(
        Postgres,
        "SELECT id FROM customers WHERE age >= 18 AND born < '2000-01-01'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WT   SELECT id FROM customers WHERE age >= 18 AND born < '2000-01-01'
    WF   SELECT id FROM customers WHERE NOT (age >= 18) AND born < '2000-01-01'
    WN   SELECT id FROM customers WHERE age IS NULL AND born < '2000-01-01'
    WF   SELECT id FROM customers WHERE NOT (born < '2000-01-01') AND age >= 18
    WN   SELECT id FROM customers WHERE born IS NULL AND age >= 18
    ");
}

#[test]
fn moments_have_boundaries_too() {
    let targets = extended(
        MySql,
        "SELECT id FROM orders WHERE placed > '2024-02-29 23:59:59'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM orders WHERE NOT (placed > '2024-02-29 23:59:59')
    WT   SELECT id FROM orders WHERE placed > '2024-02-29 23:59:59'
    WB   SELECT id FROM orders WHERE placed = '2024-03-01 00:00:00'
    WB   SELECT id FROM orders WHERE placed = '2024-02-29 23:59:59'
    WB   SELECT id FROM orders WHERE placed = '2024-02-29 23:59:58'
    WN   SELECT id FROM orders WHERE placed IS NULL
    ");
}

#[test]
fn a_range_has_points_at_both_ends() {
    let targets = extended(
        Postgres,
        "SELECT id FROM customers WHERE age BETWEEN 18 AND 65",
    );
    insta::assert_snapshot!(description(&targets), @r"
    WF   SELECT id FROM customers WHERE age NOT BETWEEN 18 AND 65 -- `age BETWEEN 18 AND 65` is false
    WT   SELECT id FROM customers WHERE age BETWEEN 18 AND 65 -- `age BETWEEN 18 AND 65` is true
    WB   SELECT id FROM customers WHERE age = 17 -- `age` is `17`, just below the boundary of `age BETWEEN 18 AND 65`
    WB   SELECT id FROM customers WHERE age = 18 -- `age` is exactly `18`, on the boundary of `age BETWEEN 18 AND 65`
    WB   SELECT id FROM customers WHERE age = 65 -- `age` is exactly `65`, on the boundary of `age BETWEEN 18 AND 65`
    WB   SELECT id FROM customers WHERE age = 66 -- `age` is `66`, just above the boundary of `age BETWEEN 18 AND 65`
    WN   SELECT id FROM customers WHERE age IS NULL -- `age` is NULL, so `age BETWEEN 18 AND 65` is neither true nor false
    ");
}

#[test]
fn every_item_of_a_list_counts() {
    let targets = extended(
        Postgres,
        "SELECT id FROM orders WHERE status IN ('new', 'open')",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM orders WHERE status NOT IN ('new', 'open')
    WT   SELECT id FROM orders WHERE status IN ('new', 'open')
    WI   SELECT id FROM orders WHERE status = 'new'
    WI   SELECT id FROM orders WHERE status = 'open'
    ");
}

#[test]
fn wildcards_match_nothing_and_something() {
    let targets = extended(Postgres, "SELECT id FROM orders WHERE status LIKE 'a%b'");
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM orders WHERE status NOT LIKE 'a%b'
    WT   SELECT id FROM orders WHERE status LIKE 'a%b'
    WP   SELECT id FROM orders WHERE status LIKE 'ab'
    WP   SELECT id FROM orders WHERE status LIKE 'a_%b'
    ");
}

#[test]
fn every_condition_of_a_join_decides() {
    let targets = extended(
        Postgres,
        "SELECT c.name FROM customers c JOIN orders o ON c.id = o.customer_id AND o.status = 'open'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT c.name FROM customers c INNER JOIN orders o ON c.id = o.customer_id AND o.status = 'open'
    JL   SELECT c.name FROM customers c LEFT JOIN orders o ON c.id = o.customer_id AND o.status = 'open' WHERE o.customer_id IS NULL AND o.status IS NULL AND c.id IS NOT NULL
    JR   SELECT c.name FROM customers c RIGHT JOIN orders o ON c.id = o.customer_id AND o.status = 'open' WHERE c.id IS NULL AND o.customer_id IS NOT NULL AND o.status IS NOT NULL
    JRN  SELECT c.name FROM customers c RIGHT JOIN orders o ON c.id = o.customer_id AND o.status = 'open' WHERE c.id IS NULL AND o.customer_id IS NULL AND o.status IS NOT NULL
    JF   SELECT c.name FROM customers c INNER JOIN orders o ON NOT (c.id = o.customer_id) AND o.status = 'open'
    JN   SELECT c.name FROM customers c INNER JOIN orders o ON o.customer_id IS NULL AND o.status = 'open'
    JF   SELECT c.name FROM customers c INNER JOIN orders o ON NOT (o.status = 'open') AND c.id = o.customer_id
    ");
}

#[test]
fn join_columns_are_null_one_by_one() {
    let targets = without_boundaries(
        Postgres,
        "SELECT 1 FROM orders o JOIN customers c ON c.country = o.note AND c.name = o.note",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT 1 FROM orders o INNER JOIN customers c ON c.country = o.note AND c.name = o.note
    JL   SELECT 1 FROM orders o LEFT JOIN customers c ON c.country = o.note AND c.name = o.note WHERE c.country IS NULL AND c.name IS NULL AND o.note IS NOT NULL
    JLN  SELECT 1 FROM orders o LEFT JOIN customers c ON c.country = o.note AND c.name = o.note WHERE c.country IS NULL AND c.name IS NULL AND o.note IS NULL
    JR   SELECT 1 FROM orders o RIGHT JOIN customers c ON c.country = o.note AND c.name = o.note WHERE o.note IS NULL AND c.country IS NOT NULL AND c.name IS NOT NULL
    JRN  SELECT 1 FROM orders o RIGHT JOIN customers c ON c.country = o.note AND c.name = o.note WHERE o.note IS NULL AND c.country IS NULL AND c.name IS NOT NULL
    JRN  SELECT 1 FROM orders o RIGHT JOIN customers c ON c.country = o.note AND c.name = o.note WHERE o.note IS NULL AND c.country IS NOT NULL AND c.name IS NULL
    JF   SELECT 1 FROM orders o INNER JOIN customers c ON NOT (c.country = o.note) AND c.name = o.note
    JN   SELECT 1 FROM orders o INNER JOIN customers c ON c.country IS NULL AND c.name = o.note
    JN   SELECT 1 FROM orders o INNER JOIN customers c ON o.note IS NULL
    JF   SELECT 1 FROM orders o INNER JOIN customers c ON NOT (c.name = o.note) AND c.country = o.note
    JN   SELECT 1 FROM orders o INNER JOIN customers c ON c.name IS NULL AND c.country = o.note
    ");
}

#[test]
fn an_anti_join_keeps_its_outer_join() {
    let targets = extended(
        Postgres,
        "SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.status IS NULL",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT c.id FROM customers c INNER JOIN orders o ON o.customer_id = c.id WHERE o.status IS NOT NULL
    WT   SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.status IS NULL
    JL   SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.customer_id IS NULL AND c.id IS NOT NULL
    JR   SELECT c.id FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id WHERE c.id IS NULL AND o.customer_id IS NOT NULL AND o.status IS NULL
    JRN  SELECT c.id FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id WHERE c.id IS NULL AND o.customer_id IS NULL AND o.status IS NULL
    ");
}

#[test]
fn a_query_without_conditions_returns_a_row() {
    let targets = extended(Sqlite, "SELECT name FROM customers");
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT name FROM customers
    ");
}

#[test]
fn every_branch_of_case_is_taken() {
    let targets = without_boundaries(
        Postgres,
        "SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers
    CT   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE age < 18
    CN   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE age IS NULL
    CT   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE age < 65 AND vip AND NOT (age < 18)
    CF   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE NOT (age < 65) AND vip AND NOT (age < 18)
    CN   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE age IS NULL AND vip
    CF   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE NOT (vip) AND age < 65 AND NOT (age < 18)
    CN   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE vip IS NULL AND age < 65 AND NOT (age < 18)
    CF   SELECT CASE WHEN age < 18 THEN 1 WHEN age < 65 AND vip THEN 2 END FROM customers WHERE NOT (age < 18) AND NOT (age < 65 AND vip)
    ");
}

#[test]
fn if_and_nullif_choose_like_case() {
    let targets = extended(
        MySql,
        "SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders
    CT   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE status = 'a'
    CF   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE NOT (status = 'a')
    CT   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE note = 'x'
    CN   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE note IS NULL
    CF   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE NOT (note = 'x')
    CT   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE status = 'n'
    CF   SELECT CASE status WHEN 'a' THEN 1 ELSE 2 END, IF(note = 'x', 1, 0), NULLIF(status, 'n') FROM orders WHERE NOT (status = 'n')
    ");
}

#[test]
fn coalesce_tries_its_arguments_in_turn() {
    let targets = extended(
        Postgres,
        "SELECT COALESCE(note, status, 'none') FROM orders",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT COALESCE(note, status, 'none') FROM orders
    CT   SELECT COALESCE(note, status, 'none') FROM orders WHERE note IS NOT NULL
    CT   SELECT COALESCE(note, status, 'none') FROM orders WHERE note IS NULL AND status IS NOT NULL
    ");
}

#[test]
fn a_filter_counts_some_rows() {
    let targets = without_boundaries(
        Postgres,
        "SELECT COUNT(*) FILTER (WHERE vip) FROM customers",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT * FROM customers
    CT   SELECT * FROM customers WHERE vip
    CN   SELECT * FROM customers WHERE vip IS NULL
    CF   SELECT * FROM customers WHERE NOT (vip)
    A4   SELECT COUNT(*) FILTER (WHERE vip) FROM customers HAVING COUNT(*) = 0
    ");
}

#[test]
fn a_group_may_have_no_key() {
    let targets = extended(
        Postgres,
        "SELECT country, COUNT(*) FROM customers GROUP BY country",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT country, COUNT(*) FROM customers GROUP BY country
    G1   SELECT country, COUNT(*) FROM customers GROUP BY country HAVING COUNT(*) > 1
    G2   SELECT COUNT(*) FROM customers HAVING COUNT(DISTINCT country) > 1
    G3   SELECT country, COUNT(*) FROM customers WHERE country IS NULL GROUP BY country
    ");
}

#[test]
fn positions_and_names_of_the_select_list_are_keys() {
    let targets = extended(
        Postgres,
        "SELECT LOWER(country) AS l, COUNT(*) FROM customers GROUP BY 1 ORDER BY l",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT LOWER(country) AS l, COUNT(*) FROM customers GROUP BY 1
    G1   SELECT LOWER(country) AS l, COUNT(*) FROM customers GROUP BY 1 HAVING COUNT(*) > 1
    G2   SELECT COUNT(*) FROM customers HAVING COUNT(DISTINCT LOWER(country)) > 1
    ");
}

#[test]
fn aggregates_see_nothing() {
    let targets = extended(Postgres, "SELECT SUM(age) FROM customers");
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT * FROM customers
    A1   SELECT SUM(age) FROM customers HAVING COUNT(age) > COUNT(DISTINCT age) AND COUNT(DISTINCT age) > 1
    A2   SELECT SUM(age) FROM customers HAVING COUNT(*) > COUNT(age) AND COUNT(DISTINCT age) > 1
    A3   SELECT SUM(age) FROM customers HAVING COUNT(age) = 0 AND COUNT(*) > 0
    A4   SELECT SUM(age) FROM customers HAVING COUNT(*) = 0
    ");
}

#[test]
fn distinct_removes_and_keeps() {
    let targets = extended(
        Postgres,
        "SELECT DISTINCT status FROM orders WHERE note = 'x'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT DISTINCT status FROM orders WHERE NOT (note = 'x')
    WT   SELECT DISTINCT status FROM orders WHERE note = 'x'
    WN   SELECT DISTINCT status FROM orders WHERE note IS NULL
    D1   SELECT status FROM orders WHERE note = 'x' GROUP BY status HAVING COUNT(*) > 1
    D2   SELECT COUNT(*) FROM (SELECT DISTINCT status AS c1 FROM orders WHERE note = 'x') AS distinct_rows HAVING COUNT(*) > 1
    ");
}

#[test]
fn set_operations_have_rows_of_either_branch_and_both() {
    let targets = extended(
        Postgres,
        "SELECT id FROM customers UNION SELECT id FROM orders",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    SUJI SELECT id FROM customers
    SUJI SELECT id FROM orders
    U1   SELECT id FROM customers EXCEPT SELECT id FROM orders
    U2   SELECT id FROM orders EXCEPT SELECT id FROM customers
    U3   SELECT id FROM customers INTERSECT SELECT id FROM orders
    ");
}

#[test]
fn windows_have_partitions_and_peers() {
    let targets = extended(
        Postgres,
        "SELECT RANK() OVER (PARTITION BY status ORDER BY total) FROM orders",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT RANK() OVER (PARTITION BY status ORDER BY total) FROM orders
    V1   SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1
    V2   SELECT COUNT(*) FROM orders HAVING COUNT(DISTINCT status) > 1
    V3   SELECT status, total FROM orders GROUP BY status, total HAVING COUNT(*) > 1
    V4   SELECT status FROM orders GROUP BY status HAVING COUNT(DISTINCT total) > 1
    ");
}

#[test]
fn order_and_limit_need_rows_to_compare() {
    let targets = extended(
        Postgres,
        "SELECT id FROM orders ORDER BY total DESC LIMIT 2 OFFSET 1",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT id FROM orders
    O1   SELECT COUNT(*) FROM orders HAVING COUNT(DISTINCT total) > 1
    O2   SELECT total FROM orders GROUP BY total HAVING COUNT(*) > 1
    L1   SELECT COUNT(*) FROM (SELECT id AS c1 FROM orders) AS all_rows HAVING COUNT(*) > 3
    L2   SELECT COUNT(*) FROM (SELECT id AS c1 FROM orders) AS all_rows HAVING COUNT(*) > 1 AND COUNT(*) < 3
    ");
}

#[test]
fn in_keeps_its_value() {
    let targets = extended(
        Postgres,
        "SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE note = 'x')",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE note = 'x')
    WT   SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE note = 'x')
    SWWF SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE NOT (note = 'x'))
    SWWN SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE note IS NULL)
    ");
}

#[test]
fn a_not_is_looked_through() {
    let targets = without_boundaries(
        Postgres,
        "SELECT id FROM customers WHERE NOT (vip OR age > 3)",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM customers WHERE NOT (vip) AND NOT (age > 3)
    WT   SELECT id FROM customers WHERE vip AND NOT (age > 3)
    WN   SELECT id FROM customers WHERE vip IS NULL AND NOT (age > 3)
    WT   SELECT id FROM customers WHERE age > 3 AND NOT (vip)
    WN   SELECT id FROM customers WHERE age IS NULL AND NOT (vip)
    ");
}

#[test]
fn no_count_is_negative() {
    let targets = extended(
        Postgres,
        "SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    HF   SELECT status FROM orders GROUP BY status HAVING NOT (COUNT(*) > 1)
    HT   SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1
    HB   SELECT status FROM orders GROUP BY status HAVING COUNT(*) = 2
    HB   SELECT status FROM orders GROUP BY status HAVING COUNT(*) = 1
    G1   SELECT status FROM orders GROUP BY status HAVING COUNT(*) > 1 AND COUNT(*) > 1
    G2   SELECT COUNT(*) FROM orders HAVING COUNT(DISTINCT status) > 1 AND COUNT(*) > 1
    ");
}

#[test]
fn a_recursive_cte_reaches_itself() {
    let targets = extended(
        Postgres,
        "WITH RECURSIVE n(i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT i FROM n",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    SCSUWF SELECT id FROM customers WHERE NOT (vip)
    SCSUWT SELECT id FROM customers WHERE vip
    SCSUWN SELECT id FROM customers WHERE vip IS NULL
    SCSUJI WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT o.id FROM orders o INNER JOIN n ON o.customer_id = n.i
    SCSUJL WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT o.id FROM orders o LEFT JOIN n ON o.customer_id = n.i WHERE n.i IS NULL AND o.customer_id IS NOT NULL
    SCSUJLN WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT o.id FROM orders o LEFT JOIN n ON o.customer_id = n.i WHERE n.i IS NULL AND o.customer_id IS NULL
    SCSUJR WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT o.id FROM orders o RIGHT JOIN n ON o.customer_id = n.i WHERE o.customer_id IS NULL AND n.i IS NOT NULL
    SCSUJRN WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT o.id FROM orders o RIGHT JOIN n ON o.customer_id = n.i WHERE o.customer_id IS NULL AND n.i IS NULL
    SCU1 WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT id FROM customers WHERE vip EXCEPT SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i
    SCU2 WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i EXCEPT SELECT id FROM customers WHERE vip
    SCU3 WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT id FROM customers WHERE vip INTERSECT SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i
    JI   WITH RECURSIVE n (i) AS (SELECT id FROM customers WHERE vip UNION ALL SELECT o.id FROM orders o JOIN n ON o.customer_id = n.i) SELECT i FROM n
    ");
}

#[test]
fn a_join_with_using_has_sides() {
    let targets = extended(Postgres, "SELECT id FROM customers JOIN orders USING (id)");
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT id FROM customers INNER JOIN orders USING(id)
    JL   SELECT id FROM customers LEFT JOIN orders USING(id) WHERE orders.id IS NULL AND customers.id IS NOT NULL
    JR   SELECT id FROM customers RIGHT JOIN orders USING(id) WHERE customers.id IS NULL AND orders.id IS NOT NULL
    ");
}

#[test]
fn names_are_quoted_where_a_join_brings_them_together() {
    let query = "SELECT 1 FROM customers AS `the one` JOIN orders 'o' USING (`id`)";
    let targets = extended(MySql, query);
    insta::assert_snapshot!(sql(&targets), @r"
    JI   SELECT 1 FROM customers AS `the one` INNER JOIN orders 'o' USING(`id`)
    JL   SELECT 1 FROM customers AS `the one` LEFT JOIN orders 'o' USING(`id`) WHERE o.`id` IS NULL AND `the one`.`id` IS NOT NULL
    JR   SELECT 1 FROM customers AS `the one` RIGHT JOIN orders 'o' USING(`id`) WHERE `the one`.`id` IS NULL AND o.`id` IS NOT NULL
    ");
}
