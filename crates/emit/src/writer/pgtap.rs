//! pgTAP: one file for `pg_prove`, everything in a transaction that is rolled back.

use std::fmt::Write;

use super::name::slug;
use super::text::{self, bare, dollar_quoted, one_line, sql_literal};
use super::{File, WriteError, Writer};
use crate::suite::{Expectation, Rejection, Step, StepRole, Suite, SuiteDialect, Test};

/// Writes a pgTAP script.
#[derive(Debug)]
pub(crate) struct Pgtap;

impl Writer for Pgtap {
    fn name(&self) -> &'static str {
        "pgtap"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        if suite.dialect != SuiteDialect::Postgres {
            return Err(WriteError::Dialect {
                writer: self.name(),
                only: SuiteDialect::Postgres.product(),
                dialect: suite.dialect,
            });
        }
        let mut body = String::with_capacity(4096 + 512 * suite.tests.len());
        let mut n_checks = 0;
        for (group, tests) in suite.by_group() {
            let _ = write!(body, "\n\n-- {}\n", one_line(group));
            for test in tests {
                n_checks += self::test(&mut body, test);
            }
        }
        let mut out = String::with_capacity(body.len() + 4096);
        for line in text::header(suite) {
            out.push_str(format!("-- {line}").trim_end());
            out.push('\n');
        }
        let preamble = include_str!("pgtap.sql");
        out.push_str(&preamble.replace("@plan@", &n_checks.to_string()));
        out.push('\n');
        for sql in suite.session.iter().chain(&suite.setup) {
            out.push_str(bare(sql));
            out.push_str(";\n");
        }
        out.push_str("\nSET CONSTRAINTS ALL IMMEDIATE;\n");
        out.push_str(&body);
        // No finish(): it counts in a table that the rollbacks undo. The plan tells pg_prove.
        out.push_str("\nROLLBACK;\n");
        Ok(vec![File {
            path: format!("{}.pgtap.sql", slug(&suite.schema)),
            text: out,
        }])
    }
}

/// Writes a test and returns how many results it reports.
fn test(out: &mut String, test: &Test) -> usize {
    let _ = write!(out, "\n-- {}\n", one_line(&test.name));
    for covered in &test.covers {
        let _ = writeln!(out, "-- Covers: {}", one_line(covered));
    }
    out.push_str("SAVEPOINT test;\n");
    let name = sql_literal(&one_line(&test.name));
    let n_checks = test
        .steps
        .iter()
        .map(|step| self::step(out, &name, step))
        .sum();
    out.push_str("ROLLBACK TO SAVEPOINT test;\nRELEASE SAVEPOINT test;\n");
    n_checks
}

fn step(out: &mut String, name: &str, step: &Step) -> usize {
    match &step.expect {
        Expectation::Accepted { rows } => accepted(out, name, step, *rows),
        Expectation::Rejected(rejection) => rejected(out, name, step, rejection),
        Expectation::Rows { query, rows } => {
            let n_checks = if step.sql.is_empty() {
                0
            } else {
                accepted(out, name, step, None)
            };
            let rows = serde_json::to_string(rows).expect("rows are strings and nulls");
            let _ = writeln!(
                out,
                "SELECT pg_temp.returns(\n  {},\n  {}, {name}\n);",
                dollar_quoted(bare(query)),
                sql_literal(&rows)
            );
            n_checks + 1
        }
    }
}

fn accepted(out: &mut String, name: &str, step: &Step, rows: Option<u64>) -> usize {
    match (step.sql.as_slice(), rows) {
        // Lead-up rows are not what is tested: an error ends the script, and the plan is not met.
        ([one], None) if step.role == StepRole::Setup => {
            let _ = writeln!(out, "{};", bare(one));
            0
        }
        ([one], None) => {
            let _ = writeln!(
                out,
                "SELECT lives_ok(\n  {},\n  {name}\n);",
                dollar_quoted(bare(one))
            );
            1
        }
        (_, rows) => {
            let rows = rows.map_or("NULL".into(), |n| n.to_string());
            let _ = writeln!(
                out,
                "SELECT pg_temp.accepts(\n  {},\n  {rows}, {name}\n);",
                statements(step)
            );
            1
        }
    }
}

fn rejected(out: &mut String, name: &str, step: &Step, rejection: &Rejection) -> usize {
    let state = rejection
        .sqlstate
        .as_deref()
        .map_or("NULL".into(), sql_literal);
    if let ([one], None, []) = (
        step.sql.as_slice(),
        &rejection.constraint,
        rejection.message_contains.as_slice(),
    ) {
        let _ = writeln!(
            out,
            "SELECT throws_ok(\n  {},\n  {state}, NULL, {name}\n);",
            dollar_quoted(bare(one))
        );
        return 1;
    }
    let constraint = rejection
        .constraint
        .as_deref()
        .map_or("NULL".into(), sql_literal);
    let parts: Vec<String> = rejection
        .message_contains
        .iter()
        .map(|part| sql_literal(part))
        .collect();
    let _ = writeln!(
        out,
        "SELECT pg_temp.rejects(\n  {},\n  {state}, {constraint}, ARRAY[{}]::text[],\n  {name}\n);",
        statements(step),
        parts.join(", ")
    );
    1
}

fn statements(step: &Step) -> String {
    let quoted: Vec<String> = step
        .sql
        .iter()
        .map(|sql| dollar_quoted(bare(sql)))
        .collect();
    format!("ARRAY[{}]::text[]", quoted.join(",\n  "))
}
