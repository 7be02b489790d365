//! Stored tests against a query as it is now: which rows appear and disappear, which fixtures no
//! longer load, which targets nothing covers any more.

use isobath_emit::query::{CaseTarget, Query, QueryCase};
use isobath_emit::{StepRole, Suite, Test};
use isobath_exec::{Database, DatabaseError};
use isobath_sql::coverage::{self, QueryCriterion, TargetError};
use isobath_sql::{DialectName, Schema, Value};

use super::confirm::{load_fixture, quote_identifiers};
use super::job::CoverageOutcome;
use super::parameter;
use super::print::{CoveredQuery, PrintContext, Printer, TextRows, observed_rows};

/// A query as it is now.
#[derive(Clone, Copy, Debug)]
pub struct CurrentQuery<'a> {
    /// Its text.
    pub sql: &'a str,
    /// The tables.
    pub schema: &'a Schema,
    /// How the text is written.
    pub written: DialectName,
}

/// The outcome of a query's tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckResult {
    /// How many tests go as before.
    pub same: usize,
    /// Tests whose result is another one.
    pub changed: Vec<ResultChange>,
    /// Tests that cannot be run, with the reason.
    pub refused: Vec<(String, String)>,
    /// Targets that a stored fixture covered and none covers now.
    pub lost: Vec<CaseTarget>,
    /// Targets that are new, and that no stored fixture covers.
    pub uncovered: Vec<CaseTarget>,
}

impl CheckResult {
    /// Whether everything is as before.
    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
            && self.refused.is_empty()
            && self.lost.is_empty()
            && self.uncovered.is_empty()
    }
}

/// A test whose result is another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultChange {
    /// The test's name.
    pub test: String,
    /// The columns before and after, when they are not the same.
    pub columns: Option<(Vec<String>, Vec<String>)>,
    /// Rows that the query returned before and does not return now.
    pub disappeared: TextRows,
    /// Rows that the query returns now and did not return before.
    pub appeared: TextRows,
    /// Whether the same rows come in another order.
    pub reordered: bool,
}

/// Why stored tests cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The query is not one that we can read.
    #[error(transparent)]
    Query(#[from] TargetError),
    /// The query cannot be taken apart.
    #[error("the statement cannot be taken apart")]
    Statement,
    /// The connection is lost.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Runs the stored tests of a query on a database that has its tables.
///
/// # Errors
///
/// When the query cannot be read, or the connection is lost.
pub fn check(
    query: &Query,
    suite: &Suite,
    now: CurrentQuery<'_>,
    database: &mut dyn Database,
) -> Result<CheckResult, CheckError> {
    let setting = PrintContext {
        schema: now.schema,
        written: now.written,
        dialect: database.dialect(),
    };
    let outcome = CoverageOutcome::default();
    let covered = CoveredQuery {
        id: &query.id,
        sql: now.sql,
        place: "",
        targets: &[],
        outcome: &outcome,
    };
    let printer = Printer::new(now.sql.trim(), &covered, setting).ok_or(CheckError::Statement)?;
    let names = printer.parameter_names();
    let mut checked = CheckResult::default();
    let mut loaded = Vec::new();
    for case in &query.cases {
        let Some(test) = suite.tests.iter().find(|test| test.id == case.test) else {
            continue;
        };
        let values = values(query, case, &names);
        let inserts = setup_inserts(test);
        let observe = printer.observe_in(case.ordered, &values);
        match observed_rows(&inserts, &observe, database)? {
            Err(why) => checked.refused.push((test.name.clone(), why)),
            Ok(rows) => {
                let before = test.expected_rows().unwrap_or_default();
                match change(test, case, before, &rows, &printer.column_names()) {
                    Some(change) => checked.changed.push(change),
                    None => checked.same += 1,
                }
            }
        }
        loaded.push((inserts, values));
    }
    coverage(query, suite, now, &loaded, database, &mut checked)?;
    Ok(checked)
}

/// Asks which targets the stored fixtures still cover.
fn coverage(
    query: &Query,
    suite: &Suite,
    now: CurrentQuery<'_>,
    loaded: &[(Vec<String>, Vec<Value>)],
    database: &mut dyn Database,
    checked: &mut CheckResult,
) -> Result<(), CheckError> {
    let criterion = match suite.criterion.as_str() {
        "fpc" => Some(QueryCriterion::Fpc),
        "extended" => Some(QueryCriterion::Extended),
        _ => None,
    };
    let before: Vec<&CaseTarget> = query.cases.iter().flat_map(|case| &case.targets).collect();
    let mut targets: Vec<(CaseTarget, Vec<usize>)> = match criterion {
        Some(criterion) => {
            let options = coverage::CoverageOptions::default();
            coverage::targets(now.sql, now.schema, now.written, criterion, options)?
                .into_iter()
                .map(|target| {
                    let text = CaseTarget {
                        rule: target.label(),
                        sql: target.sql,
                        description: target.description.to_string(),
                    };
                    (text, target.parameters)
                })
                .collect()
        }
        // Targets that nobody can make again are run as they were.
        None => before
            .iter()
            .map(|target| {
                (
                    (*target).clone(),
                    parameter::numbers(&target.sql, DialectName::Ansi),
                )
            })
            .collect(),
    };
    let dialect = database.dialect();
    for (inserts, values) in loaded {
        if load_fixture(inserts, database)?.is_some() {
            database.rollback()?;
            continue;
        }
        let mut open = Vec::new();
        for (target, numbers) in targets {
            let sql = match criterion {
                Some(_) => target.sql.clone(),
                None => quote_identifiers(&target.sql, now.schema, dialect),
            };
            let sql = parameter::bound(&sql, &numbers, values, dialect);
            match database.query(&sql)? {
                Ok(rows) if !rows.rows.is_empty() => {}
                Ok(_) => open.push((target, numbers)),
                Err(_) => {
                    open.push((target, numbers));
                    // A refused statement ends the usefulness of a transaction.
                    database.rollback()?;
                    load_fixture(inserts, database)?;
                }
            }
        }
        database.rollback()?;
        targets = open;
    }
    for (target, _) in targets {
        // A changed condition changes the text of all targets, but not what most of them ask for.
        let is = |other: &CaseTarget| {
            let says = !target.description.is_empty() && other.description == target.description;
            other.sql == target.sql || says && other.rule == target.rule
        };
        if before.iter().any(|other| is(other)) {
            checked.lost.push(target);
        } else if !query.uncovered.iter().any(is) {
            checked.uncovered.push(target);
        }
    }
    Ok(())
}

fn setup_inserts(test: &Test) -> Vec<String> {
    let steps = test
        .steps
        .iter()
        .filter(|step| step.role == StepRole::Setup);
    steps.flat_map(|step| step.sql.iter().cloned()).collect()
}

/// The stored values of the parameters that the query has now: by name, or by position where they
/// have none.
fn values(query: &Query, case: &QueryCase, names: &[String]) -> Vec<Value> {
    let names = names.iter().enumerate();
    names
        .map(|(index, name)| {
            let unnamed = matches!(name.as_str(), "?" | "%s");
            let stored = query.parameters.iter().position(|known| known == name);
            let at = if unnamed { Some(index) } else { stored };
            at.and_then(|at| case.parameters.get(at))
                .map_or(Value::Null, value)
        })
        .collect()
}

fn value(stored: &serde_json::Value) -> Value {
    match stored {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number.into()),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::text(number.to_string()),
        },
        serde_json::Value::String(text) => Value::text(text.clone()),
        other => Value::text(other.to_string()),
    }
}

/// How a result differs from the stored one.
fn change(
    test: &Test,
    case: &QueryCase,
    before: &[Vec<Option<String>>],
    after: &[Vec<Option<String>>],
    columns: &[String],
) -> Option<ResultChange> {
    let mut appeared: TextRows = after.to_vec();
    let mut disappeared: TextRows = Vec::new();
    for row in before {
        match appeared.iter().position(|other| other == row) {
            Some(at) => {
                appeared.remove(at);
            }
            None => disappeared.push(row.clone()),
        }
    }
    let same_rows = appeared.is_empty() && disappeared.is_empty();
    let reordered = same_rows && case.ordered && before != after;
    let columns = (case.columns != columns).then(|| (case.columns.clone(), columns.to_vec()));
    (!same_rows || reordered || columns.is_some()).then(|| ResultChange {
        test: test.name.clone(),
        columns,
        disappeared,
        appeared,
        reordered,
    })
}
