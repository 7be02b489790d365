//! Confirms a suite on a real engine: checks every expectation and reports every disagreement.

use isobath_emit::{Expectation, Rejection, RejectionKind, Step, Suite, SuiteDialect, Test};
use isobath_exec::{Database, DatabaseError, Refusal, RefusalKind, StatementOutcome};
use isobath_sql::{DialectName, Value};

/// Where an engine and the suite do not agree.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDisagreement {
    /// The test's name.
    pub test: String,
    /// The statement.
    pub sql: String,
    /// What the suite says.
    pub expected: String,
    /// What the engine did.
    pub actual: String,
}

/// What confirming gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirmation {
    /// How many tests went as expected.
    pub agreed: usize,
    /// Where not.
    pub disagreements: Vec<EngineDisagreement>,
    /// Statements of the set-up that the engine refused, with its message.
    pub refused_setup: Vec<(String, String)>,
}

/// Runs a suite on an empty database and compares what the engine does with what the suite expects.
///
/// # Errors
///
/// When the connection is lost.
pub fn confirm(suite: &Suite, database: &mut dyn Database) -> Result<Confirmation, DatabaseError> {
    let mut confirmation = Confirmation::default();
    database.drop_all_objects()?;
    for sql in &suite.setup {
        if let StatementOutcome::Refused(refusal) = database.execute(sql)? {
            confirmation
                .refused_setup
                .push((sql.clone(), refusal.message));
        }
    }
    // Tests that look at rows afterwards need queries inside the test; they are few and run one by one.
    let (looking, plain): (Vec<&Test>, Vec<&Test>) = suite.tests.iter().partition(|test| {
        test.steps
            .iter()
            .any(|step| matches!(step.expect, Expectation::Rows { .. }))
    });
    let cases: Vec<Vec<String>> = plain
        .iter()
        .map(|test| {
            test.steps
                .iter()
                .map(|step| as_one(step, suite.dialect))
                .collect()
        })
        .collect();
    let mut verdicts = Vec::new();
    for (test, answers) in plain.iter().zip(database.run_isolated(&cases)?) {
        let steps = test.steps.iter().zip(&answers);
        let disagreement = steps
            .into_iter()
            .find_map(|(step, answer)| judge(test, step, answer));
        verdicts.push(disagreement);
    }
    for test in looking {
        verdicts.push(look(test, suite.dialect, database)?);
    }
    for verdict in verdicts {
        match verdict {
            Some(disagreement) => confirmation.disagreements.push(disagreement),
            None => confirmation.agreed += 1,
        }
    }
    Ok(confirmation)
}

/// Runs a test that asserts rows, and undoes it.
fn look(
    test: &Test,
    dialect: SuiteDialect,
    database: &mut dyn Database,
) -> Result<Option<EngineDisagreement>, DatabaseError> {
    database.begin()?;
    judge_at_once(database.dialect(), database)?;
    let mut found = None;
    for step in &test.steps {
        if !step.sql.is_empty() {
            let answer = database.execute(&as_one(step, dialect))?;
            found = judge(test, step, &answer);
        }
        if let (None, Expectation::Rows { query, rows }) = (&found, &step.expect) {
            let actual = match database.query(query)? {
                Ok(actual) => texts(&actual.rows),
                Err(refusal) => vec![vec![Some(refusal.message)]],
            };
            if actual != *rows {
                found = Some(EngineDisagreement {
                    test: test.name.clone(),
                    sql: query.clone(),
                    expected: table(rows),
                    actual: table(&actual),
                });
            }
        }
        if found.is_some() {
            break;
        }
    }
    database.rollback()?;
    Ok(found)
}

/// Has deferred keys judged statement by statement in this transaction, as they are in every other test.
pub(super) fn judge_at_once(
    engine: DialectName,
    database: &mut dyn Database,
) -> Result<(), DatabaseError> {
    if engine == DialectName::Postgres {
        database.execute("SET CONSTRAINTS ALL IMMEDIATE")?;
    }
    Ok(())
}

pub(crate) fn texts(rows: &[Vec<Value>]) -> Vec<Vec<Option<String>>> {
    rows.iter()
        .map(|row| {
            row.iter()
                .map(|value| (!value.is_null()).then(|| value.to_string()))
                .collect()
        })
        .collect()
}

pub(super) fn table(rows: &[Vec<Option<String>>]) -> String {
    let line = |row: &Vec<Option<String>>| {
        let cells: Vec<&str> = row
            .iter()
            .map(|cell| cell.as_deref().unwrap_or("NULL"))
            .collect();
        format!("({})", cells.join(", "))
    };
    format!(
        "rows {}",
        rows.iter().map(line).collect::<Vec<_>>().join(", ")
    )
}

/// The statements of a step as one text; several are run with foreign keys waiting for the last one.
pub(super) fn as_one(step: &Step, dialect: SuiteDialect) -> String {
    if !step.is_deferred() {
        return step.sql.join(";\n");
    }
    let statements = step.sql.join(";\n");
    match dialect {
        SuiteDialect::Sqlite => {
            format!(
                "PRAGMA defer_foreign_keys = ON;\n{statements};\nPRAGMA defer_foreign_keys = OFF"
            )
        }
        SuiteDialect::Mysql => {
            format!("SET foreign_key_checks = 0;\n{statements};\nSET foreign_key_checks = 1")
        }
        // One statement with the others in WITH clauses: foreign keys are checked when it ends.
        SuiteDialect::Postgres => one_statement(&step.sql),
    }
}

/// INSERTs as one PostgreSQL statement.
pub fn one_statement(inserts: &[String]) -> String {
    let Some((last, others)) = inserts.split_last() else {
        return String::new();
    };
    let named: Vec<String> = others
        .iter()
        .enumerate()
        .map(|(n, sql)| format!("row_{n} AS ({sql})"))
        .collect();
    format!("WITH {} {last}", named.join(", "))
}

fn judge(test: &Test, step: &Step, answer: &StatementOutcome) -> Option<EngineDisagreement> {
    let (expected, actual) = match (&step.expect, answer) {
        (Expectation::Accepted { rows: Some(wanted) }, StatementOutcome::Done { rows })
            if wanted != rows =>
        {
            (
                format!("accepted, {wanted} rows"),
                format!("accepted, {rows} rows"),
            )
        }
        (
            Expectation::Accepted { .. } | Expectation::Rows { .. },
            StatementOutcome::Done { .. },
        ) => {
            return None;
        }
        (
            Expectation::Accepted { .. } | Expectation::Rows { .. },
            StatementOutcome::Refused(refusal),
        ) => (
            "accepted".to_owned(),
            format!("refused: {}", refusal.message),
        ),
        (Expectation::Rejected(rejection), StatementOutcome::Done { .. }) => (
            format!("refused by {}", words(rejection)),
            "accepted".to_owned(),
        ),
        (Expectation::Rejected(rejection), StatementOutcome::Refused(refusal)) => {
            let difference = difference(rejection, refusal)?;
            (
                format!("refused by {}", words(rejection)),
                format!("{difference}: {}", refusal.message),
            )
        }
    };
    Some(EngineDisagreement {
        test: test.name.clone(),
        sql: step.sql.join("; "),
        expected,
        actual,
    })
}

fn words(rejection: &Rejection) -> String {
    let name = rejection
        .constraint
        .iter()
        .chain(&rejection.message_contains)
        .next();
    name.map_or_else(
        || rejection.kind.words().to_owned(),
        |name| format!("{} ({name})", rejection.kind.words()),
    )
}

/// Why a refusal is not the one expected, `None` when it is.
fn difference(rejection: &Rejection, refusal: &Refusal) -> Option<String> {
    if !same_kind(rejection.kind, refusal.kind) {
        return Some(format!("refused by {}", refusal.kind));
    }
    if rejection.sqlstate.is_some() && refusal.sqlstate != rejection.sqlstate {
        return Some(format!(
            "SQLSTATE {}",
            refusal.sqlstate.as_deref().unwrap_or("none")
        ));
    }
    if rejection.code.is_some() && refusal.code != rejection.code {
        return Some(format!("code {:?}", refusal.code));
    }
    if rejection.constraint.is_some() && refusal.constraint != rejection.constraint {
        return Some(format!(
            "refused by {}",
            refusal
                .constraint
                .as_deref()
                .unwrap_or("another constraint")
        ));
    }
    let missing = rejection
        .message_contains
        .iter()
        .find(|part| !refusal.message.contains(part.as_str()))?;
    Some(format!("the message does not mention {missing}"))
}

fn same_kind(expected: RejectionKind, actual: RefusalKind) -> bool {
    match expected {
        // Engines other than SQLite tell primary keys from unique ones by name only.
        RejectionKind::PrimaryKey | RejectionKind::Unique => {
            matches!(actual, RefusalKind::PrimaryKey | RefusalKind::Unique)
        }
        RejectionKind::ForeignKey => actual == RefusalKind::ForeignKey,
        RejectionKind::NotNull => actual == RefusalKind::NotNull,
        RejectionKind::Check => actual == RefusalKind::Check,
        RejectionKind::Value => {
            matches!(
                actual,
                RefusalKind::TooLong | RefusalKind::OutOfRange | RefusalKind::WrongType
            )
        }
        RejectionKind::Other => true,
    }
}
