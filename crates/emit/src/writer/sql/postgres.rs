//! The script for psql: one transaction, a savepoint per test, rejections caught in PL/pgSQL.

use std::fmt::Write;

use super::super::text::{bare, dollar_quoted, expectation, one_line, sql_literal};
use super::{heading, statement};
use crate::suite::{Expectation, Step, Suite, Test};

/// Appends the script.
pub(super) fn script(out: &mut String, suite: &Suite) {
    out.push_str(include_str!("postgres.sql"));
    out.push('\n');
    for sql in suite.session.iter().chain(&suite.setup) {
        statement(out, sql);
    }
    out.push_str("\nSET CONSTRAINTS ALL IMMEDIATE;\n");
    for (group, tests) in suite.by_group() {
        heading(out, group);
        for test in tests {
            self::test(out, test);
        }
    }
    let _ = write!(
        out,
        "\nROLLBACK;\n\\echo All {} tests passed.\n",
        suite.tests.len()
    );
}

fn test(out: &mut String, test: &Test) {
    // psql reads C-like escapes between single quotes.
    let name = one_line(&test.name)
        .replace('\\', "\\\\")
        .replace('\'', "''");
    let _ = write!(out, "\n\\echo '{name}'\n");
    for covered in &test.covers {
        let _ = writeln!(out, "-- Covers: {}", one_line(covered));
    }
    out.push_str("SAVEPOINT test;\n");
    for step in &test.steps {
        self::step(out, step);
    }
    out.push_str("ROLLBACK TO SAVEPOINT test;\nRELEASE SAVEPOINT test;\n");
}

fn step(out: &mut String, step: &Step) {
    let statements = || {
        let quoted: Vec<String> = step
            .sql
            .iter()
            .map(|sql| dollar_quoted(bare(sql)))
            .collect();
        format!("ARRAY[{}]::text[]", quoted.join(",\n  "))
    };
    match &step.expect {
        Expectation::Accepted { rows: None } => plain(out, step),
        Expectation::Accepted { rows: Some(n) } => {
            let _ = writeln!(out, "CALL pg_temp.affects({n}, {});", statements());
        }
        Expectation::Rejected(rejection) => {
            let optional =
                |text: &Option<String>| text.as_deref().map_or("NULL".into(), sql_literal);
            let parts: Vec<String> = rejection
                .message_contains
                .iter()
                .map(|part| sql_literal(part))
                .collect();
            let _ = writeln!(
                out,
                "-- {}\nCALL pg_temp.rejects(\n  {},\n  {}, {}, ARRAY[{}]::text[]);",
                expectation(&step.expect),
                statements(),
                optional(&rejection.sqlstate),
                optional(&rejection.constraint),
                parts.join(", ")
            );
        }
        Expectation::Rows { query, rows } => {
            plain(out, step);
            let rows = serde_json::to_string(rows).expect("rows are strings and nulls");
            let _ = writeln!(
                out,
                "CALL pg_temp.returns(\n  {},\n  {});",
                dollar_quoted(bare(query)),
                sql_literal(&rows)
            );
        }
    }
}

/// Statements that must be accepted; psql stops at the first error.
fn plain(out: &mut String, step: &Step) {
    if step.is_deferred() {
        out.push_str("SET CONSTRAINTS ALL DEFERRED;\n");
    }
    for sql in &step.sql {
        statement(out, sql);
    }
    if step.is_deferred() {
        out.push_str("SET CONSTRAINTS ALL IMMEDIATE;\n");
    }
}
