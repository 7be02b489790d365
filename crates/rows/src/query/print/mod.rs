//! Covered queries as a neutral suite: given these rows and these parameters, the query returns
//! these rows.
//!
//! Every test language reads the same thing, because the result is turned into text by the
//! database itself: the query stands, as it is, inside a common table expression whose columns are
//! cast and, unless the query's own order decides, sorted. A statement that changes data is run,
//! and the table is looked at afterwards.

mod case;
mod determinism;
mod observe;
mod printer;

#[cfg(test)]
mod tests;

use isobath_emit::Suite;
use isobath_emit::query::{CaseTarget, Query, QueryCase};
use isobath_exec::{Database, DatabaseError};
use isobath_sql::{DialectName, Schema, render};

use super::job::{CoverageOutcome, TargetStatus};
use super::placeholders;
use super::target::QueryTarget;
use crate::schema::print::suite_dialect;

pub use determinism::{clock, nondeterministic_call};
pub use observe::TextRows;

pub(super) use case::{given, json, witness};
pub(super) use observe::observed_rows;
pub(super) use printer::Printer;

/// A query that was covered.
#[derive(Clone, Copy, Debug)]
pub struct CoveredQuery<'a> {
    /// Its name.
    pub id: &'a str,
    /// Its text.
    pub sql: &'a str,
    /// Where it stands: `queries.sql:12`.
    pub place: &'a str,
    /// Its targets.
    pub targets: &'a [QueryTarget],
    /// Their outcome.
    pub outcome: &'a CoverageOutcome,
}

/// How tests are printed.
#[derive(Clone, Copy, Debug)]
pub struct PrintContext<'a> {
    /// The tables, as they are created.
    pub schema: &'a Schema,
    /// The dialect of the queries.
    pub written: DialectName,
    /// The dialect of the engine that the suite is for.
    pub dialect: DialectName,
}

/// What could not be printed, or is not as we thought.
#[derive(Clone, Debug, PartialEq)]
pub enum PrintRemark {
    /// There is no test for a fixture.
    NoTest {
        /// Why.
        why: String,
    },
    /// The result depends on when or how often the query is run.
    Nondeterministic {
        /// On what, as the query writes it.
        on: String,
    },
    /// The engine returns another number of rows than our evaluator.
    Disagrees {
        /// The statement.
        sql: String,
        /// How many rows we say.
        ours: usize,
        /// How many rows the engine returns.
        engine: usize,
    },
}

/// What printing a query gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintResult {
    /// What is to be said about it.
    pub remarks: Vec<PrintRemark>,
    /// For each fixture, the case that it became.
    pub cases: Vec<Option<usize>>,
}

/// A suite without tests, for the tables of a schema.
pub fn empty(name: &str, setting: PrintContext<'_>) -> Suite {
    let dialect = spoken(setting.dialect);
    let mut suite = Suite::new(name, suite_dialect(dialect));
    suite.title = format!("Queries of {name}");
    if dialect == DialectName::Sqlite {
        suite.session.push("PRAGMA foreign_keys = ON".to_owned());
    }
    suite.setup = render::create_statements(setting.schema, dialect);
    suite
}

/// Adds the tests of a query. With a database, its answers are what is expected; without one, our
/// own evaluator's.
///
/// # Errors
///
/// When the connection is lost.
pub fn add(
    suite: &mut Suite,
    covered: &CoveredQuery<'_>,
    setting: PrintContext<'_>,
    mut database: Option<&mut dyn Database>,
) -> Result<PrintResult, DatabaseError> {
    let mut printed = PrintResult {
        remarks: Vec::new(),
        cases: vec![None; covered.outcome.fixtures.len()],
    };
    let remarks = &mut printed.remarks;
    let sql = dedented(covered.sql);
    let Some(printer) = Printer::new(&sql, covered, setting) else {
        remarks.push(PrintRemark::NoTest {
            why: "the statement cannot be taken apart".to_owned(),
        });
        return Ok(printed);
    };
    if let Some(on) = nondeterministic_call(&sql) {
        match printer.clock() {
            Some(clock) if suite.session.contains(&clock) => {}
            Some(clock) => suite.session.push(clock),
            None => remarks.push(PrintRemark::Nondeterministic { on }),
        }
    }
    let mut query = Query {
        id: covered.id.to_owned(),
        location: covered.place.to_owned(),
        parts: printer.parts.clone(),
        parameters: placeholders::names(&printer.parts),
        assertion: None,
        cases: Vec::new(),
        uncovered: Vec::new(),
    };
    let values = printer.parameters(query.parameters.len());
    let mut assertions: Vec<String> = Vec::new();
    for (number, fixture) in covered.outcome.fixtures.iter().enumerate() {
        let covers = |index: &&usize| {
            matches!(
                covered.outcome.statuses.get(**index),
                Some(TargetStatus::Covered(_))
            )
        };
        let targets: Vec<&QueryTarget> = fixture
            .covers
            .iter()
            .filter(covers)
            .filter_map(|index| covered.targets.get(*index))
            .collect();
        if targets.is_empty() {
            continue;
        }
        let observe = printer.observe(&values[number]);
        let ours = printer.ours(fixture, &values[number]);
        let rows = match &mut database {
            Some(database) => {
                let theirs = printer.theirs(fixture, &observe, *database)?;
                if let (Ok(theirs), Ok(ours)) = (&theirs, &ours)
                    && theirs.len() != ours.len()
                {
                    remarks.push(PrintRemark::Disagrees {
                        sql: observe.run.clone().unwrap_or_else(|| observe.query.clone()),
                        ours: ours.len(),
                        engine: theirs.len(),
                    });
                }
                theirs
            }
            None => ours,
        };
        let rows = match rows {
            Ok(rows) => rows,
            Err(why) => {
                remarks.push(PrintRemark::NoTest { why });
                continue;
            }
        };
        let test = printer.test(&targets, fixture, &observe, rows, suite);
        printed.cases[number] = Some(query.cases.len());
        query.cases.push(QueryCase {
            test: test.id.clone(),
            given: given(fixture, setting.schema),
            parameters: values[number].iter().map(json).collect(),
            targets: targets.iter().map(|target| stored(target)).collect(),
            columns: printer
                .columns
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            ordered: printer.ordered,
        });
        assertions.push(observe.query);
        suite.tests.push(test);
    }
    assertions.dedup();
    if let ([one], true) = (assertions.as_slice(), query.cases.len() > 1) {
        query.assertion = Some(one.clone());
    }
    query.uncovered = uncovered(covered);
    suite.queries.push(query);
    Ok(printed)
}

fn stored(target: &QueryTarget) -> CaseTarget {
    CaseTarget {
        sql: target.sql.clone(),
        rule: target.rule.clone(),
        description: target.says.clone(),
    }
}

/// The targets that no fixture covers.
fn uncovered(covered: &CoveredQuery<'_>) -> Vec<CaseTarget> {
    let targets = covered.outcome.statuses.iter().zip(covered.targets);
    targets
        .filter(|(status, _)| !matches!(status, TargetStatus::Covered(_)))
        .map(|(_, target)| stored(target))
        .collect()
}

/// Standard SQL is printed as PostgreSQL reads it.
fn spoken(dialect: DialectName) -> DialectName {
    match dialect {
        DialectName::Ansi => DialectName::Postgres,
        other => other,
    }
}

/// A statement without the blanks that put its first line where it stands in its file.
fn dedented(sql: &str) -> String {
    sql.trim_start().trim_end().to_owned()
}
