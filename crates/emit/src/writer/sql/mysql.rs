//! The script for the mariadb client: rejections are caught by a handler in a procedure.

use std::fmt::Write;

use super::super::text::{bare, expectation, one_line, scratch};
use super::{heading, statement};
use crate::suite::{Expectation, Step, Suite, Test};

/// Appends the script.
pub(super) fn script(out: &mut String, suite: &Suite) {
    let procedures = include_str!("mysql.sql");
    out.push_str(&procedures.replace("@scratch@", &scratch(suite)));
    out.push('\n');
    for sql in suite.session.iter().chain(&suite.setup) {
        statement(out, sql);
    }
    for (group, tests) in suite.by_group() {
        heading(out, group);
        for test in tests {
            self::test(out, test);
        }
    }
    let _ = write!(
        out,
        "\nDROP DATABASE {};\nSELECT 'All {} tests passed.' AS '';\n",
        scratch(suite),
        suite.tests.len()
    );
}

fn test(out: &mut String, test: &Test) {
    let _ = write!(out, "\nSELECT {} AS '';\n", literal(&one_line(&test.name)));
    for covered in &test.covers {
        let _ = writeln!(out, "-- Covers: {}", one_line(covered));
    }
    out.push_str("START TRANSACTION;\n");
    for step in &test.steps {
        self::step(out, step);
    }
    out.push_str("ROLLBACK;\n");
}

fn step(out: &mut String, step: &Step) {
    if step.is_deferred() {
        out.push_str("SET foreign_key_checks = 0;\n");
    }
    match (&step.expect, step.sql.split_last()) {
        (Expectation::Rejected(rejection), Some((last, first))) => {
            for sql in first {
                statement(out, sql);
            }
            let parts: Vec<String> = rejection.message_parts().map(literal).collect();
            let _ = writeln!(
                out,
                "-- {}\nCALL isobath_rejects(\n  {},\n  {}, {}, JSON_ARRAY({}));",
                expectation(&step.expect),
                literal(bare(last)),
                rejection
                    .code
                    .map_or("NULL".into(), |code| code.to_string()),
                rejection.sqlstate.as_deref().map_or("NULL".into(), literal),
                parts.join(", ")
            );
        }
        (Expectation::Accepted { rows: Some(n) }, Some((last, first))) => {
            for sql in first {
                statement(out, sql);
            }
            let _ = writeln!(out, "CALL isobath_affects({n}, {});", literal(bare(last)));
        }
        (Expectation::Rejected(_), None) => {
            out.push_str("CALL isobath_fail('there is nothing to reject');\n");
        }
        (Expectation::Accepted { .. }, _) => {
            for sql in &step.sql {
                statement(out, sql);
            }
        }
        (Expectation::Rows { query, rows }, _) => {
            for sql in &step.sql {
                statement(out, sql);
            }
            returns(out, bare(query), rows);
        }
    }
    if step.is_deferred() {
        out.push_str("SET foreign_key_checks = 1;\n");
    }
}

/// Both sides are built by the same JSON functions, so they are escaped alike.
fn returns(out: &mut String, query: &str, rows: &[Vec<Option<String>>]) {
    let n_columns = rows.first().map_or(0, Vec::len);
    if n_columns == 0 {
        let _ = writeln!(
            out,
            "SELECT COUNT(*) INTO @actual FROM (\n  {query}\n) AS actual;"
        );
        let _ = writeln!(out, "CALL isobath_equal(@actual, '{}');", rows.len());
        return;
    }
    let columns: Vec<String> = (1..=n_columns).map(|n| format!("c{n}")).collect();
    let columns = columns.join(", ");
    let expected: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .map(|cell| cell.as_deref().map_or("NULL".into(), literal))
                .collect();
            format!("JSON_ARRAY({})", cells.join(", "))
        })
        .collect();
    // A LIMIT keeps MariaDB from dropping the ORDER BY of a derived table. Parentheses around a
    // query that begins by WITH are a syntax error to it.
    let begins_with = query
        .get(..4)
        .is_some_and(|word| word.eq_ignore_ascii_case("with"));
    let limited = if begins_with {
        format!("{query}\n  LIMIT 1000000")
    } else {
        format!("({query}) LIMIT 1000000")
    };
    let _ = write!(
        out,
        "WITH actual({columns}) AS (\n  {limited}\n)\n\
         SELECT JSON_ARRAYAGG(JSON_ARRAY({columns})) INTO @actual FROM actual;\n\
         CALL isobath_equal(JSON_COMPACT(@actual), JSON_COMPACT(JSON_ARRAY(\n  {})));\n",
        expected.join(",\n  ")
    );
}

/// `text` as a literal, also where a backslash escapes.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
