//! Statements other than SELECT, parameters, places and errors.

use super::{QueryCriterion, fpc, shop, sql, try_targets};
use crate::coverage::{CoverageOptions, Span, TargetError, targets};
use crate::dialect::DialectName::{self, MySql, Postgres, Sqlite};

#[test]
fn an_update_is_covered_by_what_it_reads() {
    let targets = fpc(
        Postgres,
        "UPDATE orders SET note = COALESCE(note, 'x') WHERE status = 'open'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT COALESCE(note, 'x') FROM orders WHERE NOT (status = 'open')
    WT   SELECT COALESCE(note, 'x') FROM orders WHERE status = 'open'
    CT   SELECT COALESCE(note, 'x') FROM orders WHERE note IS NOT NULL AND status = 'open'
    CF   SELECT COALESCE(note, 'x') FROM orders WHERE note IS NULL AND status = 'open'
    ");
}

#[test]
fn a_delete_too() {
    let targets = fpc(
        MySql,
        "DELETE o FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.vip = 1",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT * FROM orders o INNER JOIN customers c ON c.id = o.customer_id WHERE NOT (c.vip = 1)
    WT   SELECT * FROM orders o INNER JOIN customers c ON c.id = o.customer_id WHERE c.vip = 1
    WN   SELECT * FROM orders o INNER JOIN customers c ON c.id = o.customer_id WHERE c.vip IS NULL
    JL   SELECT * FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE c.id IS NULL AND o.customer_id IS NOT NULL
    JLN  SELECT * FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE c.id IS NULL AND o.customer_id IS NULL
    JR   SELECT * FROM orders o RIGHT JOIN customers c ON c.id = o.customer_id WHERE o.customer_id IS NULL AND c.id IS NOT NULL AND c.vip = 1
    ");
}

#[test]
fn an_insert_by_its_select() {
    let targets = fpc(
        Postgres,
        "INSERT INTO items (order_id) SELECT id FROM orders WHERE note = 'x'",
    );
    insta::assert_snapshot!(sql(&targets), @r"
    WF   SELECT id FROM orders WHERE NOT (note = 'x')
    WT   SELECT id FROM orders WHERE note = 'x'
    WN   SELECT id FROM orders WHERE note IS NULL
    ");
}

#[test]
fn every_style_of_parameter_stays_and_keeps_its_identity() {
    let cases = [
        (MySql, "?", "?"),
        (Postgres, "$1", "$2"),
        (Sqlite, ":note", ":status"),
        (Postgres, "@note", "@status"),
        (MySql, "@note", "@status"),
        (MySql, "%s", "%s"),
        (Postgres, "%(note)s", "%(status)s"),
    ];
    for (dialect, note, status) in cases {
        let query = format!("SELECT id FROM orders WHERE note = {note} AND status = {status}");
        let targets = fpc(dialect, &query);
        let last = targets.last().expect("there are targets");
        let expected =
            format!("SELECT id FROM orders WHERE NOT (status = {status}) AND note = {note}");
        assert_eq!(last.sql, expected);
        assert_eq!(last.parameters, [1, 0], "{query}");
        assert_eq!(last.clause.text, format!("status = {status}"));
        assert!(
            last.description.situation == format!("`status = {status}` is false"),
            "{}",
            last.description
        );
    }
}

#[test]
fn a_repeated_name_is_one_parameter() {
    let targets = fpc(
        Postgres,
        "SELECT id FROM orders WHERE note = $1 AND status = $1",
    );
    assert_eq!(targets[0].parameters, [0, 0]);
}

#[test]
fn a_remainder_is_no_parameter() {
    let targets = fpc(
        MySql,
        "SELECT product FROM items s WHERE quantity %s.order_id = 0",
    );
    assert_eq!(
        targets[1].sql,
        "SELECT product FROM items s WHERE quantity % s.order_id = 0"
    );
    assert!(targets[1].parameters.is_empty());
}

#[test]
fn a_clause_knows_its_place() {
    let targets = fpc(
        Postgres,
        "SELECT id\nFROM orders\nWHERE status = 'a'\n  AND note = 'b'",
    );
    let clause = &targets.last().expect("there are targets").clause;
    assert_eq!(clause.text, "note = 'b'");
    let span = Span {
        line: 4,
        column: 7,
        end_line: 4,
        end_column: 16,
    };
    assert_eq!(clause.span, Some(span));
}

fn error(dialect: DialectName, query: &str) -> TargetError {
    try_targets(dialect, query, QueryCriterion::Fpc, true).expect_err("the query is bad")
}

/// `line:column: message`, or the message alone where the location is unknown.
fn located(error: &TargetError) -> String {
    match error.location() {
        Some((line, column)) => format!("{line}:{column}: {error}"),
        None => error.to_string(),
    }
}

#[test]
fn errors_of_a_query_have_a_message_and_a_location() {
    let cases = [
        ("SELECT id FROM ordrs", "1:16: unknown table `ordrs`"),
        (
            "SELECT id\nFROM orders o WHERE o.nme = 3",
            "2:21: unknown column `o.nme`",
        ),
        (
            "SELECT id FROM orders, customers",
            "1:8: column `id` is ambiguous between orders and customers",
        ),
        (
            "SELECT id FROM orders ORDER BY nme",
            "1:32: unknown column `nme`",
        ),
        (
            "SELECT id FROM orders WHERE note = = 3",
            "1:36: Expected: an expression, found: =",
        ),
        ("SELECT 'abc", "1:8: Unterminated string literal"),
        ("-- nothing", "expected a SQL statement, found none"),
        ("SELECT 1; SELECT 2", "expected one SQL statement, found 2"),
        (
            "CREATE INDEX i ON orders (id)",
            "CREATE INDEX reads no rows",
        ),
        (
            "INSERT INTO items (order_id) VALUES (1)",
            "INSERT INTO reads no rows",
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(located(&error(MySql, query)), expected, "{query}");
    }
    assert_eq!(
        error(MySql, "SELECT id FROM ordrs").location(),
        Some((1, 16))
    );
}

#[test]
fn an_unknown_column_deep_inside_is_found() {
    let query = "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM items WHERE prize = 1)";
    assert_eq!(
        located(&error(Postgres, query)),
        "1:63: unknown column `prize`"
    );
}

#[test]
fn a_changing_cte_is_refused_since_its_targets_would_change_data() {
    let query = "WITH gone AS (DELETE FROM orders RETURNING id) SELECT id FROM gone";
    assert_eq!(
        error(Postgres, query).to_string(),
        "DELETE inside a query reads no rows"
    );
}

#[test]
fn a_query_of_too_many_conditions_is_refused_before_it_hurts() {
    let query = format!(
        "SELECT id FROM orders WHERE {}",
        ["id = 1"; 5000].join(" OR ")
    );
    assert!(matches!(
        error(Postgres, &query),
        TargetError::TooLarge {
            operators: 9999,
            ..
        }
    ));
    let query = format!(
        "SELECT id FROM orders WHERE {}",
        ["note = 'a'"; 240].join(" AND ")
    );
    let options = CoverageOptions::default();
    assert!(
        targets(
            &query,
            &shop::shop(),
            Postgres,
            QueryCriterion::Extended,
            options
        )
        .is_ok()
    );
}
