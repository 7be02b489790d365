//! The loop over requirements.

use isobath_sql::memory::{MemoryDatabase, Verdict, Violation, ViolationKind};
use isobath_sql::{Dialect, Schema};

use super::attempt::{AttemptResult, TableContext};
use super::config::{Config, Finding, RequirementStatus, SchemaOutcome};
use super::naming::TestNames;
use crate::schema::case::{ExpectedOutcome, TestCase};
use crate::schema::criterion::requirements;
use crate::schema::extra_tests::extra_tests;
use crate::schema::setup_rows::SeedRows;

/// Generates a suite for a schema under the rules of a dialect.
pub fn generate(schema: &Schema, dialect: &'static dyn Dialect, config: &Config) -> SchemaOutcome {
    let list = requirements(schema, dialect, &config.criterion);
    let mut generator = config.generator.generator(schema);
    let seeds = SeedRows::make(
        schema,
        dialect,
        generator.as_mut(),
        config.seed,
        config.budget,
    );
    let mut outcome = SchemaOutcome {
        statuses: Vec::with_capacity(list.attempted.len()),
        requirements: list.attempted,
        counts: list.counts,
        tests: Vec::new(),
        evaluations: 0,
        findings: Vec::new(),
        limitations: Vec::new(),
    };
    let mut names = TestNames::default();
    let mut context: Option<TableContext<'_>> = None;
    let mut index_in_table = 0;
    for (index, requirement) in outcome.requirements.iter().enumerate() {
        if context
            .as_ref()
            .is_none_or(|context| context.table != requirement.table)
        {
            context = Some(TableContext::new(
                schema,
                dialect,
                &seeds,
                requirement.table,
            ));
            index_in_table = 0;
        }
        let Some(context) = context.as_mut() else {
            continue;
        };
        let rng = rng_for(config.seed, requirement.table, index_in_table);
        index_in_table += 1;
        let attempt = context.attempt(requirement, generator.as_mut(), rng, config.budget);
        let status = match attempt {
            AttemptResult::Tests(cases) => {
                let first = outcome.tests.len();
                for mut case in cases {
                    case.covers = vec![index];
                    case.name = names.unique(case.name);
                    outcome.tests.push(case);
                }
                RequirementStatus::Covered(first)
            }
            AttemptResult::Infeasible { proof } => {
                outcome.findings.push(Finding {
                    table: requirement.table,
                    description: format!("infeasible: {}; {proof}", requirement.description[0]),
                });
                RequirementStatus::Infeasible { proof }
            }
            AttemptResult::Uncovered { why } => RequirementStatus::Uncovered { why },
            AttemptResult::Unsupported { what } => {
                if !outcome.limitations.contains(&what) {
                    outcome.limitations.push(what.clone());
                }
                RequirementStatus::Uncovered {
                    why: format!("cannot evaluate {what}"),
                }
            }
        };
        outcome.statuses.push(status);
    }
    if config.extras {
        for mut case in extra_tests(schema, dialect, &seeds, &outcome.tests) {
            case.name = names.unique(case.name);
            outcome.tests.push(case);
        }
    }
    outcome.evaluations = generator.evaluations();
    outcome
}

/// Randomness for one requirement of one table, so that no result depends on the order of others.
pub fn rng_for(seed: u64, table: usize, requirement: usize) -> fastrand::Rng {
    let mut state = seed;
    for part in [table as u64, requirement as u64] {
        // SplitMix64's finalizer.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(part);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^= state >> 31;
    }
    fastrand::Rng::with_seed(state)
}

/// Whether a test does in memory what it says: lead-up accepted, then the outcome and the rows expected.
///
/// # Errors
///
/// What differs, as a sentence.
pub fn verify(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    case: &TestCase,
) -> Result<(), String> {
    let mut memory = MemoryDatabase::new(schema, dialect);
    for (position, statement) in case.setup_rows.iter().enumerate() {
        let verdict = memory.run(statement).map_err(|error| error.to_string())?;
        if let Verdict::Rejected(violations) = verdict {
            return Err(format!(
                "statement {position} of the lead-up is refused: {violations:?}"
            ));
        }
    }
    let verdict = memory
        .run(&case.statement)
        .map_err(|error| error.to_string())?;
    match (&case.expected, verdict) {
        (ExpectedOutcome::Accepted, Verdict::Accepted) => {}
        (ExpectedOutcome::Rejected(wanted), Verdict::Rejected(found))
            if found.iter().any(|one| same_reason(wanted, one)) => {}
        (expected, found) => return Err(format!("{expected:?} was expected, but {found:?}")),
    }
    for after in &case.after {
        let found = after.read(&memory);
        if found != after.rows {
            return Err(format!(
                "{:?} was expected, but there is {found:?}",
                after.rows
            ));
        }
    }
    Ok(())
}

/// Whether two violations are the same to a user: the same constraint, or NULL in the same column.
fn same_reason(wanted: &Violation, found: &Violation) -> bool {
    let null = |violation: &Violation| match violation.kind {
        ViolationKind::Null { column } => Some((violation.table, column)),
        _ => None,
    };
    wanted == found || (null(wanted).is_some() && null(wanted) == null(found))
}
