//! Mutants that are called equivalent, and changed CHECKs that are said to change nothing.

use isobath_exec::{Database, DatabaseError, StatementOutcome};
use isobath_rows::schema::diff::diff;
use isobath_rows::schema::mutation::{
    FilterPipeline, MutantStatus, OperatorSet, analyze, mutants, strengthen,
};
use isobath_sql::{Schema, render};

use super::tables::{self, Table};
use super::{ClaimKind, Plan, Refutation, Tally, rng, schema_of};

/// Rows that each pair of schemas is tried with, for each set of rows of the plan.
const CASES: usize = 4;

/// Makes mutants and pairs of schemas, and attacks what is claimed of them.
pub(super) fn attack(
    plan: &Plan,
    database: &mut dyn Database,
    tally: &mut Tally,
) -> Result<(), DatabaseError> {
    let dialect = database.dialect();
    for round in 0..plan.rounds {
        let mut rng = rng(plan.seed, round);
        let tables = tables::tables(&mut rng, dialect);
        let ddl: Vec<String> = tables.iter().map(Table::create).collect();
        let schema = schema_of(&ddl, dialect);
        let cases: Vec<Vec<String>> = (0..plan.databases * CASES)
            .map(|_| tables::rows(&mut rng, &tables))
            .collect();
        attack_mutants(plan, &schema, &cases, database, tally)?;
        for _ in 0..plan.queries {
            let (before, after) = tables::checks(&mut rng, dialect);
            let cases: Vec<Vec<String>> = (0..plan.databases * CASES)
                .map(|_| vec![tables::row(&mut rng, &before)])
                .collect();
            attack_change(plan, [&before, &after], &cases, database, tally)?;
        }
        (plan.progress)(round, tally);
    }
    Ok(())
}

fn attack_mutants(
    plan: &Plan,
    schema: &Schema,
    cases: &[Vec<String>],
    database: &mut dyn Database,
    tally: &mut Tally,
) -> Result<(), DatabaseError> {
    let dialect = database.dialect();
    let rules = dialect.dialect();
    let all = mutants(schema, rules, OperatorSet::default());
    let analysis = analyze(schema, rules, all, FilterPipeline::Engine, &[]);
    let analysis = strengthen(schema, rules, &[], analysis).analysis;
    let Some(original) = outcomes(schema, cases, database)? else {
        return Ok(());
    };
    let counts = tally.count(ClaimKind::Equivalent);
    counts.asked += analysis.mutants.len() as u64;
    counts.undecided += analysis.count(|status| {
        matches!(
            status,
            MutantStatus::Alive | MutantStatus::Unsupported { .. }
        )
    }) as u64;
    for (mutant, status) in analysis.mutants.iter().zip(&analysis.statuses) {
        let (same_as, proof) = match status {
            MutantStatus::Equivalent { proof } => (None, proof.clone()),
            MutantStatus::Redundant { same_as } => (
                Some(&analysis.mutants[*same_as]),
                format!("redundant with mutant {same_as}"),
            ),
            _ => continue,
        };
        tally.count(ClaimKind::Equivalent).claims += 1;
        let other = match same_as {
            None => Some(original.clone()),
            Some(earlier) => outcomes(&earlier.schema, cases, database)?,
        };
        let mutated = outcomes(&mutant.schema, cases, database)?;
        let (Some(other), Some(mutated)) = (other, mutated) else {
            continue;
        };
        tally.count(ClaimKind::Equivalent).attacked += 1;
        tally.rows += cases.iter().map(Vec::len).sum::<usize>() as u64;
        if let Some((case, at)) = first_difference(&other, &mutated) {
            let before = same_as.map_or(schema, |earlier| &earlier.schema);
            let mut script = render::create_statements(before, dialect);
            script.push(format!("-- mutant: {}", mutant.description));
            script.extend(render::create_statements(&mutant.schema, dialect));
            script.extend(cases[case][..=at].iter().cloned());
            tally.refute(
                plan,
                Refutation {
                    kind: ClaimKind::Equivalent,
                    engine: dialect.to_string(),
                    script,
                    proof,
                },
            );
        }
    }
    Ok(())
}

fn attack_change(
    plan: &Plan,
    versions: [&Table; 2],
    cases: &[Vec<String>],
    database: &mut dyn Database,
    tally: &mut Tally,
) -> Result<(), DatabaseError> {
    let dialect = database.dialect();
    // What the engine refuses is nobody's schema.
    for table in versions {
        if !is_created(table, database)? {
            return Ok(());
        }
    }
    let [before, after] = versions.map(|table| schema_of(&[table.create()], dialect));
    let found = diff(&before, &after, dialect.dialect());
    let counts = tally.count(ClaimKind::ChangesNothing);
    counts.asked += 1;
    counts.undecided += u64::from(!found.undecided.is_empty());
    if !found.undecided.is_empty() {
        tally.undecided.push(before_after(versions));
        return Ok(());
    }
    if found.harmless.is_empty() {
        return Ok(());
    }
    counts.claims += 1;
    counts.attacked += 1;
    tally.rows += cases.len() as u64;
    let mut verdicts = Vec::new();
    for table in versions {
        is_created(table, database)?;
        verdicts.push(run(cases, database)?);
    }
    // Examples of one direction leave the claim about the other.
    for becomes_accepted in [false, true] {
        let said = |change: &isobath_rows::schema::diff::RowChange| {
            change.becomes_accepted == becomes_accepted
        };
        if found.changes.iter().any(said) {
            continue;
        }
        let differs = (0..cases.len()).find(|case| {
            verdicts[0][*case] == [!becomes_accepted] && verdicts[1][*case] == [becomes_accepted]
        });
        if let Some(case) = differs {
            tally.refute(
                plan,
                Refutation {
                    kind: ClaimKind::ChangesNothing,
                    engine: dialect.to_string(),
                    script: vec![before_after(versions), cases[case][0].clone()],
                    proof: found.harmless.join(" / "),
                },
            );
            return Ok(());
        }
    }
    Ok(())
}

/// Creates a table in an empty database, unless the engine refuses it.
fn is_created(table: &Table, database: &mut dyn Database) -> Result<bool, DatabaseError> {
    database.drop_all_objects()?;
    Ok(database.execute(&table.create())?.is_done())
}

fn before_after([before, after]: [&Table; 2]) -> String {
    format!("{}; -- becomes\n{}", before.create(), after.create())
}

/// Which statements a schema accepts; `None` where the engine refuses the schema itself.
fn outcomes(
    schema: &Schema,
    cases: &[Vec<String>],
    database: &mut dyn Database,
) -> Result<Option<Vec<Vec<bool>>>, DatabaseError> {
    database.drop_all_objects()?;
    for sql in render::create_statements(schema, database.dialect()) {
        if let StatementOutcome::Refused(_) = database.execute(&sql)? {
            return Ok(None);
        }
    }
    run(cases, database).map(Some)
}

fn run(
    cases: &[Vec<String>],
    database: &mut dyn Database,
) -> Result<Vec<Vec<bool>>, DatabaseError> {
    let outcomes = database.run_isolated(cases)?;
    let done = |case: &Vec<StatementOutcome>| case.iter().map(StatementOutcome::is_done).collect();
    Ok(outcomes.iter().map(done).collect())
}

/// The first statement about which two versions disagree: its case and its place there.
fn first_difference(a: &[Vec<bool>], b: &[Vec<bool>]) -> Option<(usize, usize)> {
    let differs = |case: usize| (0..a[case].len()).find(|at| a[case][*at] != b[case][*at]);
    (0..a.len()).find_map(|case| differs(case).map(|at| (case, at)))
}
