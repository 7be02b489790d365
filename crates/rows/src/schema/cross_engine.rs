//! Runs the same tests on another engine and reports where the engines disagree.

use isobath_exec::{Database, DatabaseError, Engine, StatementOutcome};
use isobath_sql::ddl::LoadedSchema;
use isobath_sql::{Schema, render};

use super::case::{ExpectedOutcome, TestCase};
use super::print;

/// A test that two engines judge differently.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDifference {
    /// The test's name.
    pub test: String,
    /// The statement whose outcome differs, as the other engine reads it.
    pub sql: String,
    /// What the engine does that the suite was made for.
    pub first: String,
    /// What the other one does.
    pub other: String,
}

/// Runs tests that were made for one engine on another, and lists where the outcome differs.
///
/// # Errors
///
/// When the connection is lost.
pub fn compare(
    loaded: &LoadedSchema,
    tests: &[TestCase],
    original: &Schema,
    engine: Engine,
    database: &mut dyn Database,
) -> Result<Vec<EngineDifference>, DatabaseError> {
    let dialect = engine.dialect();
    let mut schema = render::translate(&loaded.schema, loaded.dialect, dialect).schema;
    schema.name.clone_from(&original.name);
    database.drop_all_objects()?;
    for sql in render::create_statements(&schema, dialect) {
        database.execute(&sql)?;
    }
    // Expectations are those of the first engine; only whether statements run is compared.
    let suite = print::suite(&schema, dialect, &[], &without_coverage(tests));
    let cases: Vec<Vec<String>> = suite
        .tests
        .iter()
        .map(|test| {
            let steps = test.steps.iter().filter(|step| !step.sql.is_empty());
            steps
                .map(|step| super::confirm::as_one(step, suite.dialect))
                .collect()
        })
        .collect();
    let mut differences = Vec::new();
    for ((case, test), answers) in tests
        .iter()
        .zip(&suite.tests)
        .zip(database.run_isolated(&cases)?)
    {
        let wanted_last = matches!(case.expected, ExpectedOutcome::Accepted);
        let last = answers.len().saturating_sub(1);
        let odd = answers.iter().enumerate().find(|(index, answer)| {
            let wanted = if *index == last { wanted_last } else { true };
            answer.is_done() != wanted
        });
        if let Some((index, answer)) = odd {
            let said =
                |accepted: bool| if accepted { "accepts it" } else { "refuses it" }.to_owned();
            differences.push(EngineDifference {
                test: case.name.clone(),
                sql: test.steps[index].sql.join("; "),
                first: said(!answer.is_done()),
                other: match answer {
                    StatementOutcome::Done { .. } => said(true),
                    StatementOutcome::Refused(refusal) => {
                        format!("refuses it ({})", refusal.message)
                    }
                },
            });
        }
    }
    Ok(differences)
}

fn without_coverage(tests: &[TestCase]) -> Vec<TestCase> {
    tests
        .iter()
        .map(|test| TestCase {
            covers: Vec::new(),
            after: Vec::new(),
            ..test.clone()
        })
        .collect()
}
