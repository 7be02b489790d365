//! What is not modelled is unknown, and unknown proves nothing: constructs of which proofs were false once.

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run};
use isobath_rows::query::target::QueryTarget;
use isobath_rows::schema::diff::diff;
use isobath_rows::schema::mutation::{
    FilterPipeline, MutantStatus, OperatorSet, analyze, mutants, strengthen,
};
use isobath_sql::ddl::{Source, load};
use isobath_sql::{DialectName, Schema};

const TABLES: &str = "
    CREATE TABLE t (a INT NOT NULL, b INT NOT NULL PRIMARY KEY);
    CREATE TABLE u (c INT NOT NULL REFERENCES t (b), d INT NOT NULL);
    CREATE TABLE v (x INT NOT NULL, y INT);
    CREATE TABLE w (k VARCHAR(9) NOT NULL PRIMARY KEY, n INT NOT NULL);
    CREATE TABLE six (c1 INT, c2 INT, c3 INT, c4 INT, c5 INT, c6 INT);";

fn schema(text: &str, dialect: DialectName) -> Schema {
    let source = Source {
        name: "tables.sql".to_owned(),
        text: text.to_owned(),
    };
    load("tables", &[source], Some(dialect)).schema
}

fn status(sql: &str, dialect: DialectName) -> TargetStatus {
    let schema = schema(TABLES, dialect);
    let target = QueryTarget::read(sql, "", "", &schema, dialect);
    assert!(target.query.is_ok(), "{sql}: {:?}", target.query);
    let setting = SolverContext::new(&schema, dialect.dialect());
    let config = Config {
        budget: 50,
        ..Config::default()
    };
    run(&[target], setting, &config).statuses.remove(0)
}

fn infeasible(sql: &str) {
    let status = status(sql, DialectName::Postgres);
    assert!(
        matches!(status, TargetStatus::Infeasible { .. }),
        "{sql}: {status:?}"
    );
}

/// Rows exist for each of these queries.
fn not_infeasible(queries: &[&str]) {
    for sql in queries {
        let status = status(sql, DialectName::Postgres);
        assert!(
            !matches!(status, TargetStatus::Infeasible { .. }),
            "{sql}: {status:?}"
        );
    }
}

#[test]
fn values_of_window_functions_in_derived_tables_are_unknown() {
    for call in [
        "ROW_NUMBER() OVER (ORDER BY t.a)",
        "RANK() OVER (ORDER BY t.a)",
        "DENSE_RANK() OVER (PARTITION BY t.a ORDER BY t.b)",
        "COUNT(*) OVER (PARTITION BY t.a)",
        "NTILE(2) OVER (ORDER BY t.b)",
        "MAX(t.b) OVER (ORDER BY t.a)",
        "SUM(t.b) OVER (ORDER BY t.b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "LAG(t.b) OVER (ORDER BY t.a)",
        "LEAD(t.b, 1, 1) OVER (ORDER BY t.a)",
        "FIRST_VALUE(t.b) OVER (ORDER BY t.a)",
        "LAST_VALUE(t.b) OVER (ORDER BY t.a)",
        "NTH_VALUE(t.b, 1) OVER (ORDER BY t.a)",
    ] {
        not_infeasible(&[
            &format!("SELECT * FROM (SELECT t.a, {call} AS f FROM t) d WHERE d.f = 1"),
            &format!(
                "WITH d AS (SELECT t.a, {call} AS f FROM t) SELECT * FROM d WHERE d.f >= 1 AND d.a = 2"
            ),
        ]);
    }
}

#[test]
fn no_row_is_numbered_zero() {
    for call in ["ROW_NUMBER", "RANK", "DENSE_RANK"] {
        let sql = format!(
            "SELECT * FROM (SELECT t.a, {call}() OVER (ORDER BY t.a) AS f FROM t) d WHERE d.f < 1"
        );
        let status = status(&sql, DialectName::Postgres);
        assert!(
            matches!(status, TargetStatus::Infeasible { .. }),
            "{sql}: {status:?}"
        );
    }
}

#[test]
fn min_and_max_of_one_group_can_differ() {
    not_infeasible(&[
        "SELECT t.a FROM t GROUP BY t.a HAVING MIN(t.b) = 1 AND MAX(t.b) = 2",
        "SELECT t.a FROM t GROUP BY t.a HAVING MIN(t.b) < MAX(t.b) AND COUNT(DISTINCT t.b) > 1",
        "SELECT v.x FROM v GROUP BY v.x HAVING MAX(v.y) > 3 AND MIN(v.y) < 2 AND COUNT(*) > 1",
        "SELECT MIN(v.y), MAX(v.y) FROM v HAVING COUNT(DISTINCT v.y) = 2",
    ]);
}

#[test]
fn a_correlated_lateral_table_sees_the_relations_before_it() {
    not_infeasible(&[
        "SELECT * FROM t, LATERAL (SELECT v.x AS m FROM v WHERE v.x = t.b) l WHERE l.m = 1",
        "SELECT * FROM t CROSS JOIN LATERAL (SELECT t.a + v.x AS m FROM v) l WHERE l.m > 2",
        "SELECT * FROM t LEFT JOIN LATERAL (SELECT v.y AS m FROM v WHERE v.x = t.a) l ON true WHERE l.m IS NOT NULL",
    ]);
}

#[test]
fn keys_that_a_grouping_set_leaves_out_are_null() {
    not_infeasible(&[
        "SELECT t.a, COUNT(*) FROM t GROUP BY ROLLUP (t.a) HAVING t.a IS NULL",
        "SELECT t.a, t.b, COUNT(*) FROM t GROUP BY CUBE (t.a, t.b) HAVING t.b IS NULL AND COUNT(*) > 1",
        "SELECT t.a, COUNT(*) FROM t GROUP BY GROUPING SETS ((t.a), ()) HAVING COUNT(*) = 0",
        "SELECT t.a, t.b, COUNT(*) FROM t GROUP BY GROUPING SETS ((t.a), (t.b)) HAVING COUNT(DISTINCT t.b) = 2",
    ]);
}

#[test]
fn a_left_join_to_a_join_misses_when_either_table_does() {
    not_infeasible(&[
        "SELECT * FROM t LEFT JOIN (u JOIN v ON u.d = v.x) ON t.b = u.c WHERE u.c IS NULL AND EXISTS (SELECT 1 FROM u z WHERE z.c = t.b)",
        "SELECT * FROM t LEFT JOIN (u JOIN (SELECT v.x AS m FROM v) d ON u.d = d.m) ON t.b = u.c WHERE u.c IS NULL AND EXISTS (SELECT 1 FROM u z WHERE z.c = t.b)",
        "SELECT COUNT(*) FROM t FULL JOIN v ON t.b = v.x HAVING COUNT(*) > COUNT(t.b) AND COUNT(*) > COUNT(v.x)",
    ]);
}

#[test]
fn what_a_set_operation_or_offset_leaves_over_counts() {
    not_infeasible(&[
        "SELECT v.x FROM v EXCEPT ALL SELECT v.x FROM v WHERE v.y IS NULL",
        "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM t q OFFSET 1)",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n + 1 FROM r WHERE r.n < 5) SELECT * FROM r, v WHERE r.n = 4 AND v.x = r.n",
    ]);
}

#[test]
fn many_columns_between_two_constants_fit_in_a_row() {
    not_infeasible(&[
        "SELECT * FROM six WHERE c1 > 0 AND c1 < c2 AND c2 < c3 AND c3 < c4 AND c4 < c5 AND c5 < c6 AND c6 < 9",
        "SELECT * FROM six WHERE c1 < c2 AND 2 * c1 + 1 > 30 AND 2 * c2 + 1 < 37",
        "SELECT * FROM six WHERE c1 % 3 = 2 AND c2 % 3 = 2 AND c1 < c2 AND c1 > 3 AND c2 < 12",
    ]);
}

#[test]
fn two_texts_can_equal_one_number() {
    let sql = "SELECT * FROM v JOIN w p ON p.k = v.x JOIN w q ON q.k = v.x WHERE p.n <> q.n";
    let status = status(sql, DialectName::MySql);
    assert!(
        !matches!(status, TargetStatus::Infeasible { .. }),
        "{status:?}"
    );
}

#[test]
fn moments_beyond_our_calendar_are_not_ruled_out() {
    let schema = schema("CREATE TABLE e (d DATE)", DialectName::Postgres);
    let sql = "SELECT * FROM e WHERE d > DATE '9999-12-31'";
    let target = QueryTarget::read(sql, "", "", &schema, DialectName::Postgres);
    let setting = SolverContext::new(&schema, DialectName::Postgres.dialect());
    let outcome = run(&[target], setting, &Config::default());
    let status = &outcome.statuses[0];
    assert!(
        !matches!(status, TargetStatus::Infeasible { .. }),
        "{status:?}"
    );
}

#[test]
fn null_in_a_part_of_a_check_tells_mutants_from_the_original() {
    for dialect in [DialectName::Postgres, DialectName::MySql] {
        let original = schema(
            "CREATE TABLE p (s VARCHAR(5), n INT, CHECK (s = 'X' OR n > 3), CHECK (s IN ('X', 'Y')))",
            dialect,
        );
        let rules = dialect.dialect();
        let all = mutants(&original, rules, OperatorSet::default());
        let analysis = analyze(&original, rules, all, FilterPipeline::Engine, &[]);
        let analysis = strengthen(&original, rules, &[], analysis).analysis;
        for (mutant, status) in analysis.mutants.iter().zip(&analysis.statuses) {
            // 'Y' with 1 is what `s >= 'X'` lets through.
            if mutant.description.contains(">= 'X'") {
                assert!(
                    !matches!(status, MutantStatus::Equivalent { .. }),
                    "{}: {status:?}",
                    mutant.description
                );
            }
        }
    }
}

#[test]
fn null_in_a_part_of_a_check_is_a_difference() {
    let changes = [
        // NULL > 3 OR false is unknown, and accepted.
        ("(a > 3 OR b = 1)", "(COALESCE(a, 0) > 3 OR b = 1)"),
        ("(a > 3 AND b = 1)", "(a > 3 AND b IS NOT NULL AND b = 1)"),
        ("(a = 1)", "(a = 1 AND a IS NOT NULL)"),
        ("(a > 3 AND a IS NULL)", "(b <> 1 AND a <= 10)"),
        (
            "NOT (a = 1 AND b = 2)",
            "(a <> 1 OR b <> 2) AND a IS NOT NULL",
        ),
    ];
    for (before, after) in changes {
        let version = |check: &str| {
            let text = format!("CREATE TABLE p (a INT, b INT, CHECK ({check}))");
            schema(&text, DialectName::Postgres)
        };
        let found = diff(
            &version(before),
            &version(after),
            DialectName::Postgres.dialect(),
        );
        assert!(!found.changes.is_empty(), "{before} -> {after}: {found:?}");
    }
}

#[test]
fn a_check_written_in_another_way_changes_nothing() {
    let same = [
        ("NOT (a = 1 AND s LIKE 'x%')", "a <> 1 OR NOT (s LIKE 'x%')"),
        ("a > 1 AND UPPER(s) = 'X'", "UPPER(s) = 'X' AND a > 1"),
        (
            "s = 'a' OR b < a",
            "b < a OR s = 'a' OR (s = 'a' AND b < a)",
        ),
    ];
    for (before, after) in same {
        let version = |check: &str| {
            let text = format!("CREATE TABLE p (a INT, b INT, s VARCHAR(9), CHECK ({check}))");
            schema(&text, DialectName::Postgres)
        };
        let found = diff(
            &version(before),
            &version(after),
            DialectName::Postgres.dialect(),
        );
        assert!(
            found.changes.is_empty() && found.undecided.is_empty(),
            "{before} -> {after}: {found:?}"
        );
    }
}

#[test]
fn a_comparison_with_a_subquery_needs_a_value_of_it() {
    infeasible(
        "SELECT 1 FROM u LEFT JOIN v ON v.x = u.d WHERE v.x IS NULL \
         AND u.c < (SELECT MAX(z.y) FROM v z WHERE z.x = v.x)",
    );
    infeasible("SELECT 1 FROM t WHERE t.a = (SELECT 2 * SUM(v.y) FROM v WHERE v.y IS NULL)");
    infeasible(
        "SELECT 1 FROM t LEFT JOIN u ON u.c = t.b WHERE u.c IS NULL \
         AND t.b IN (SELECT c FROM u GROUP BY c HAVING SUM(d) > 300)",
    );
    not_infeasible(&[
        "SELECT 1 FROM t WHERE (t.a = (SELECT MAX(v.y) FROM v WHERE v.y IS NULL)) IS NULL",
        "SELECT 1 FROM t WHERE t.a = (SELECT COUNT(v.y) FROM v WHERE v.y IS NULL)",
        "SELECT 1 FROM t WHERE t.a = COALESCE((SELECT MAX(v.y) FROM v WHERE v.y IS NULL), 1)",
        "SELECT 1 FROM t WHERE NOT (t.a BETWEEN 3 AND (SELECT MAX(v.y) FROM v WHERE v.y IS NULL))",
        "SELECT 1 FROM t WHERE t.a IN (SELECT MAX(d) FROM u GROUP BY c HAVING SUM(d) > 300)",
    ]);
}

#[test]
fn what_is_true_or_not_is_taken_apart() {
    infeasible(
        "SELECT 1 FROM t, u, v WHERE t.b = u.c AND u.c = v.x AND (t.b = u.c AND u.c = v.x AND t.b = v.x) IS NOT TRUE",
    );
    infeasible("SELECT 1 FROM t WHERE (t.a = 1 OR t.b = 2) IS UNKNOWN");
    infeasible("SELECT 1 FROM v WHERE (v.y = 1) IS FALSE AND v.y IS NULL");
    not_infeasible(&[
        "SELECT 1 FROM v WHERE (v.x = 1 AND v.y = 1) IS NOT TRUE AND v.x = 1",
        "SELECT 1 FROM v WHERE (v.x = 1 AND v.y = 1) IS UNKNOWN",
        "SELECT 1 FROM v WHERE (v.x = 1 OR v.y = 1) IS NOT FALSE AND v.x = 2",
        "SELECT 1 FROM v WHERE NOT ((v.y = 1) IS TRUE)",
        "SELECT 1 FROM v WHERE (v.y = 1) IS NOT UNKNOWN",
    ]);
}

#[test]
fn several_patterns_are_met_by_one_text() {
    let covered = |sql: &str| {
        let status = status(sql, DialectName::Postgres);
        assert!(
            matches!(status, TargetStatus::Covered(_)),
            "{sql}: {status:?}"
        );
    };
    covered("SELECT 1 FROM w WHERE k LIKE '%(a)%' AND k LIKE '%(b)%' AND n = 3");
    covered("SELECT 1 FROM w WHERE k LIKE '%z' AND k LIKE '%m%' AND k LIKE 'a_%'");
}

#[test]
fn what_is_calculated_of_values_is_null_where_one_of_them_is() {
    infeasible("SELECT 1 FROM t WHERE t.a * (1 - t.b) IS NULL");
    infeasible("SELECT 1 FROM w WHERE SUBSTRING(w.k, 1, 2) IS NULL");
    infeasible(
        "SELECT d.a FROM (SELECT t.a, t.b * 2 AS x FROM t) d GROUP BY d.a \
         HAVING COUNT(*) > COUNT(d.x)",
    );
    infeasible(
        "SELECT x FROM v GROUP BY x \
         HAVING EXISTS (SELECT 1 FROM u LEFT JOIN t ON t.b = u.c WHERE t.b IS NULL)",
    );
    not_infeasible(&[
        "SELECT 1 FROM v WHERE v.x + v.y IS NULL",
        "SELECT 1 FROM w WHERE SUBSTRING(w.k FROM 'a(b)') IS NULL",
        "SELECT 1 FROM v WHERE v.x * v.y IS NOT NULL",
        "SELECT 1 FROM t LEFT JOIN u ON u.c = t.b WHERE u.d * t.a IS NULL",
        "SELECT x FROM v GROUP BY x HAVING NOT EXISTS (SELECT 1 FROM t WHERE t.b + 1 IS NULL)",
    ]);
    let divided = status(
        "SELECT 1 FROM t WHERE t.a / t.b IS NULL",
        DialectName::MySql,
    );
    assert!(
        !matches!(divided, TargetStatus::Infeasible { .. }),
        "{divided:?}"
    );
}

#[test]
fn what_is_not_read_is_unknown_whatever_columns_it_names() {
    not_infeasible(&[
        "SELECT 1 FROM six WHERE (six.c5, six.c6) < (1, 2) AND six.c1 = 1",
        "SELECT 1 FROM six WHERE six.c6 = ANY (ARRAY[1, 2]) AND six.c1 = 1",
        "SELECT 1 FROM w WHERE w.k ~ '^[ab]+$' AND w.n = 1",
        "SELECT 1 FROM w WHERE w.k SIMILAR TO '(a|b)%'",
    ]);
}

#[test]
fn an_array_of_one_element_proves_nothing() {
    not_infeasible(&[
        "SELECT 1 FROM t JOIN u ON t.a <> u.c WHERE t.a = ANY($1) AND u.c = ANY($1)",
        "SELECT 1 FROM t WHERE t.a = ANY($1) GROUP BY t.b HAVING COUNT(DISTINCT t.a) > 2",
    ]);
    infeasible("SELECT 1 FROM t WHERE t.a = ANY('{1,2}') AND t.a > 2");
}

/// What `schema diff` says of two CHECKs over `a INT, b INT NOT NULL`: changes, harmless, undecided.
fn changed_check(before: &str, after: &str) -> [usize; 3] {
    let table = |check: &str| {
        let text = format!("CREATE TABLE t (a INT, b INT NOT NULL, CHECK ({check}));");
        schema(&text, DialectName::Postgres)
    };
    let dialect = DialectName::Postgres.dialect();
    let found = diff(&table(before), &table(after), dialect);
    [
        found.changes.len(),
        found.harmless.len(),
        found.undecided.len(),
    ]
}

#[test]
fn verdicts_that_are_compared_are_decided_case_by_case() {
    // Both ways, there is a row for one direction at most.
    let same = changed_check(
        "(a > 1) = (b > 1)",
        "(a > 1 AND b > 1) OR (a <= 1 AND b <= 1) OR a IS NULL",
    );
    assert_eq!(same, [0, 2, 0]);
    // With a NULL, the first is unknown, which a CHECK accepts; b = 0 makes the second false.
    let differs = changed_check("(a > 1) <> (b > 1)", "(a > 1) <> (b > 1) AND b > 0");
    assert_eq!(differs[0], 1);
    assert_eq!(differs[2], 0);
    let null = changed_check("(a > 1) = (b > 1)", "(a > 1) = (b > 1) AND a IS NOT NULL");
    assert_eq!((null[0], null[2]), (1, 0));
}

#[test]
fn comparisons_with_any_or_all_of_an_array_are_read() {
    let any = changed_check("a > ANY (ARRAY[3, 1])", "a > 1");
    assert_eq!(any, [0, 2, 0]);
    let all = changed_check("a > ALL (ARRAY[3, 1])", "a > 1");
    assert_eq!((all[0], all[2]), (1, 0));
    let one = changed_check("a = ALL (ARRAY[2, 10])", "a IS NULL");
    assert_eq!(one, [0, 2, 0]);
}
