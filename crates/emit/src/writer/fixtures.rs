//! The rows alone: one plain SQL file per query.

use std::fmt::Write;

use super::name::{Names, snake};
use super::text::{bare, header, one_line};
use super::{File, WriteError, Writer, only_queries};
use crate::query::Query;
use crate::suite::{StepRole, Suite, Test};

/// Writes the rows of each test of a query.
#[derive(Debug)]
pub(crate) struct Fixtures;

impl Writer for Fixtures {
    fn name(&self) -> &'static str {
        "fixtures"
    }

    fn write(&self, suite: &Suite) -> Result<Vec<File>, WriteError> {
        only_queries("fixtures", suite)?;
        let mut names = Names::default();
        let files = suite.queries.iter().map(|query| File {
            path: format!("{}.sql", names.unique(snake(&query.id))),
            text: file(suite, query),
        });
        Ok(files.collect())
    }
}

fn file(suite: &Suite, query: &Query) -> String {
    let mut out = format!("-- Rows that exercise {}\n", one_line(&query.id));
    for line in header(suite).iter().skip(2) {
        let _ = writeln!(out, "-- {line}");
    }
    out.push_str("--\n");
    for line in query.sql().lines() {
        let _ = writeln!(out, "--   {}", one_line(line));
    }
    for case in &query.cases {
        if let Some(test) = suite.tests.iter().find(|test| test.id == case.test) {
            let _ = write!(out, "\n-- {}\n", one_line(&test.name));
            for covered in &test.covers {
                let _ = writeln!(out, "-- Covers: {}", one_line(covered));
            }
            for (name, value) in query.parameters.iter().zip(&case.parameters) {
                let _ = writeln!(out, "-- With {name} = {value}");
            }
            out.push_str(&rows(test));
        }
    }
    out
}

/// The statements that bring a test's rows.
pub(super) fn rows(test: &Test) -> String {
    let setup = test
        .steps
        .iter()
        .filter(|step| step.role == StepRole::Setup);
    let statements = setup.flat_map(|step| &step.sql);
    statements.map(|sql| format!("{};\n", bare(sql))).collect()
}
