//! The whole schema job: from a loaded schema to a suite and its mutation score.

use isobath_emit::Suite;
use isobath_sql::ddl::LoadedSchema;
use isobath_sql::limitation::Limitation;
use isobath_sql::{DialectName, Schema, render};

use super::job::{self, Config, RequirementStatus, SchemaOutcome};
use super::mutation::{
    self, Analysis, FilterPipeline, Mutant, MutantRunner, MutantStatus, OperatorSet,
};
use super::print;
use super::reduce::{self, ReductionCriteria};

/// What is wanted of a study.
#[derive(Clone, Debug)]
pub struct SchemaPlan {
    /// The dialect whose rules apply; `None` is that of the input.
    pub rules: Option<DialectName>,
    /// How tests are generated.
    pub config: Config,
    /// The mutants to measure the suite by, if any.
    pub mutants: Option<OperatorSet>,
    /// Whether to add a test for each surviving mutant.
    pub strengthen: bool,
    /// Whether to leave out what adds nothing.
    pub reduce: bool,
}

/// What a study found.
#[derive(Clone, Debug)]
pub struct SchemaRun {
    /// The schema as the engine holds it.
    pub schema: Schema,
    /// The dialect whose rules applied.
    pub dialect: DialectName,
    /// What the translation to that dialect lost or changed.
    pub notes: Vec<Limitation>,
    /// Requirements and tests.
    pub outcome: SchemaOutcome,
    /// The outcome of the mutants.
    pub analysis: Option<Analysis>,
}

/// Generates, measures, strengthens and reduces, as the plan says.
pub fn run(loaded: &LoadedSchema, plan: &SchemaPlan) -> SchemaRun {
    let rules = plan.rules.unwrap_or(loaded.dialect);
    let translated = render::translate(&loaded.schema, loaded.dialect, rules);
    let schema = translated.schema;
    let dialect = rules.dialect();
    let mut outcome = job::generate(&schema, dialect, &plan.config);
    let mut analysis = plan.mutants.map(|set| {
        let mutants = mutation::mutants(&schema, dialect, set);
        mutation::analyze(
            &schema,
            dialect,
            mutants,
            FilterPipeline::Engine,
            &outcome.tests,
        )
    });
    if plan.strengthen
        && let Some(before) = analysis.take()
    {
        let strengthened = mutation::strengthen(&schema, dialect, &outcome.tests, before);
        outcome.tests.extend(strengthened.tests);
        analysis = Some(strengthened.analysis);
    }
    if plan.reduce {
        let killed = analysis.as_ref().map(killed_mutants).unwrap_or_default();
        let kept = ReductionCriteria {
            schema: &schema,
            dialect,
            requirements: &outcome.requirements,
            mutants: &killed,
        };
        outcome.tests = reduce::reduce(kept, &outcome.tests);
        outcome.statuses = covered_anew(&outcome);
        if let Some(analysis) = &mut analysis {
            // The reduced suite is a suite of its own: what it kills is measured, not assumed.
            let judge = MutantRunner::new(&schema, dialect, &outcome.tests);
            for (status, mutant) in analysis.statuses.iter_mut().zip(&analysis.mutants) {
                if matches!(status, MutantStatus::Killed { .. }) {
                    *status = judge.status(mutant);
                }
            }
        }
    }
    SchemaRun {
        schema,
        dialect: rules,
        notes: translated.notes,
        outcome,
        analysis,
    }
}

impl SchemaRun {
    /// The suite in the words of the engine.
    pub fn suite(&self) -> Suite {
        print::suite(
            &self.schema,
            self.dialect,
            &self.outcome.requirements,
            &self.outcome.tests,
        )
    }
}

fn killed_mutants(analysis: &Analysis) -> Vec<Mutant> {
    analysis
        .statuses
        .iter()
        .zip(&analysis.mutants)
        .filter(|(status, _)| matches!(status, MutantStatus::Killed { .. }))
        .map(|(_, mutant)| mutant.clone())
        .collect()
}

/// The statuses of requirements by the tests that are left.
fn covered_anew(outcome: &SchemaOutcome) -> Vec<RequirementStatus> {
    let covering = |index: usize| {
        outcome
            .tests
            .iter()
            .position(|test| test.covers.contains(&index))
    };
    outcome
        .statuses
        .iter()
        .enumerate()
        .map(|(index, status)| match status {
            RequirementStatus::Covered(_) => match covering(index) {
                Some(test) => RequirementStatus::Covered(test),
                None => RequirementStatus::Uncovered {
                    why: "its test was reduced away".to_owned(),
                },
            },
            other => other.clone(),
        })
        .collect()
}
