use isobath_sql::{DialectName, Schema};

use super::{ReductionCriteria, reduce};
use crate::schema::case::TestCase;
use crate::schema::job::{Config, SchemaOutcome, generate};
use crate::schema::mutation::sample::{key, not_null, refers, schema, table, unique};
use crate::schema::mutation::{Mutant, MutantRunner, OperatorSet, mutants};

fn shop() -> Schema {
    schema(vec![
        table(
            "item",
            &["id", "code"],
            vec![key(&[0]), unique(&[1]), not_null(1)],
        ),
        table(
            "sale",
            &["id", "item", "n"],
            vec![key(&[0]), refers(&[1], 0, &[0])],
        ),
    ])
}

fn generated(schema: &Schema) -> SchemaOutcome {
    generate(schema, DialectName::Postgres.dialect(), &Config::default())
}

fn covered(suite: &[TestCase]) -> Vec<usize> {
    let mut covered: Vec<usize> = suite.iter().flat_map(|test| test.covers.clone()).collect();
    covered.sort_unstable();
    covered.dedup();
    covered
}

fn killed(schema: &Schema, mutants: &[Mutant], suite: &[TestCase]) -> Vec<usize> {
    let runner = MutantRunner::new(schema, DialectName::Postgres.dialect(), suite);
    (0..mutants.len())
        .filter(|index| !runner.killers(&mutants[*index]).is_empty())
        .collect()
}

#[test]
fn a_reduced_suite_is_smaller_and_covers_and_kills_the_same() {
    let schema = shop();
    let dialect = DialectName::Postgres.dialect();
    let outcome = generated(&schema);
    let made = mutants(&schema, dialect, OperatorSet::All);
    let kept = ReductionCriteria {
        schema: &schema,
        dialect,
        requirements: &outcome.requirements,
        mutants: &made,
    };
    let reduced = reduce(kept, &outcome.tests);
    assert!(reduced.len() < outcome.tests.len());
    assert_eq!(
        killed(&schema, &made, &reduced),
        killed(&schema, &made, &outcome.tests)
    );
    // Every requirement covered before is covered by the last row of some test, or by a row on the
    // way there whose acceptance is still asserted.
    assert_eq!(covered(&reduced), covered(&outcome.tests));
    for test in &reduced {
        assert!(kept.passes(test), "{}", test.name);
    }
}

#[test]
fn without_mutants_only_coverage_counts_and_fewer_tests_remain() {
    let schema = shop();
    let dialect = DialectName::Postgres.dialect();
    let outcome = generated(&schema);
    let made = mutants(&schema, dialect, OperatorSet::All);
    let reduced = |mutants| {
        let kept = ReductionCriteria {
            schema: &schema,
            dialect,
            requirements: &outcome.requirements,
            mutants,
        };
        reduce(kept, &outcome.tests).len()
    };
    assert!(reduced(&[]) <= reduced(&made));
}

#[test]
fn needless_rows_go() {
    let schema = shop();
    let dialect = DialectName::Postgres.dialect();
    let outcome = generated(&schema);
    let kept = ReductionCriteria {
        schema: &schema,
        dialect,
        requirements: &outcome.requirements,
        mutants: &[],
    };
    let mut padded = outcome.tests[0].clone();
    let spare = crate::schema::mutation::sample::insert(0, &[Some(901), Some(902)]);
    padded.setup_rows.insert(0, spare);
    padded.covers.clear();
    assert!(
        !kept
            .trimmed(&padded)
            .setup_rows
            .iter()
            .any(|s| *s == padded.setup_rows[0])
    );
}
