//! The loop over requirements.

use isobath_sql::memory::{MemoryDatabase, Verdict, Violation, ViolationKind};
use isobath_sql::{Dialect, Schema};

use super::attempt::{Attempt, Place};
use super::config::{Config, Finding, Outcome, Status};
use super::naming::Names;
use crate::schema::case::{Expected, TestCase};
use crate::schema::criterion::requirements;
use crate::schema::extras::extras;
use crate::schema::lead_up::Seeds;

/// Generates a suite for a schema under the rules of a dialect.
pub fn generate(schema: &Schema, dialect: &'static dyn Dialect, config: &Config) -> Outcome {
    let list = requirements(schema, dialect, &config.criterion);
    let mut generator = config.generator.generator(schema);
    let seeds = Seeds::make(
        schema,
        dialect,
        generator.as_mut(),
        config.seed,
        config.budget,
    );
    let mut outcome = Outcome {
        statuses: Vec::with_capacity(list.attempted.len()),
        requirements: list.attempted,
        counts: list.counts,
        tests: Vec::new(),
        evaluations: 0,
        findings: Vec::new(),
        limitations: Vec::new(),
    };
    let mut names = Names::default();
    let mut place: Option<Place<'_>> = None;
    let mut index_in_table = 0;
    for (index, requirement) in outcome.requirements.iter().enumerate() {
        if place
            .as_ref()
            .is_none_or(|place| place.table != requirement.table)
        {
            place = Some(Place::new(schema, dialect, &seeds, requirement.table));
            index_in_table = 0;
        }
        let Some(place) = place.as_mut() else {
            continue;
        };
        let rng = rng_for(config.seed, requirement.table, index_in_table);
        index_in_table += 1;
        let attempt = place.attempt(requirement, generator.as_mut(), rng, config.budget);
        let status = match attempt {
            Attempt::Tests(cases) => {
                let first = outcome.tests.len();
                for mut case in cases {
                    case.covers = vec![index];
                    case.name = names.unique(case.name);
                    outcome.tests.push(case);
                }
                Status::Covered(first)
            }
            Attempt::Infeasible { proof } => {
                outcome.findings.push(Finding {
                    table: requirement.table,
                    says: format!("cannot be shown: {}, because {proof}", requirement.says[0]),
                });
                Status::Infeasible { proof }
            }
            Attempt::Uncovered { why } => Status::Uncovered { why },
            Attempt::Unsupported { what } => {
                if !outcome.limitations.contains(&what) {
                    outcome.limitations.push(what.clone());
                }
                Status::Uncovered {
                    why: format!("cannot evaluate {what}"),
                }
            }
        };
        outcome.statuses.push(status);
    }
    if config.extras {
        for mut case in extras(schema, dialect, &seeds, &outcome.tests) {
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
    for (position, statement) in case.lead_up.iter().enumerate() {
        let verdict = memory.run(statement).map_err(|error| error.to_string())?;
        if let Verdict::Rejected(violations) = verdict {
            return Err(format!(
                "statement {position} of the lead-up is refused: {violations:?}"
            ));
        }
    }
    let verdict = memory.run(&case.act).map_err(|error| error.to_string())?;
    match (&case.expected, verdict) {
        (Expected::Accepted, Verdict::Accepted) => {}
        (Expected::Rejected(wanted), Verdict::Rejected(found))
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
