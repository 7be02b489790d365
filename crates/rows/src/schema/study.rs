//! The whole job on one schema: from loaded definitions to a suite and its score.

use isobath_emit::Suite;
use isobath_sql::ddl::Loaded;
use isobath_sql::limitation::Limitation;
use isobath_sql::{DialectName, Schema, render};

use super::job::{self, Config, Outcome};
use super::mutation::{self, Analysis, OperatorSet, Pipeline};
use super::print;

/// What is wanted of a study.
#[derive(Clone, Debug)]
pub struct Plan {
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
pub struct Study {
    /// The schema as the engine holds it.
    pub schema: Schema,
    /// The dialect whose rules applied.
    pub dialect: DialectName,
    /// What the translation to that dialect lost or changed.
    pub notes: Vec<Limitation>,
    /// Requirements and tests.
    pub outcome: Outcome,
    /// What became of the mutants.
    pub analysis: Option<Analysis>,
}

/// Generates, measures, strengthens and reduces, as the plan says.
pub fn study(loaded: &Loaded, plan: &Plan) -> Study {
    let rules = plan.rules.unwrap_or(loaded.dialect);
    let translated = render::translate(&loaded.schema, loaded.dialect, rules);
    let schema = translated.schema;
    let dialect = rules.dialect();
    let outcome = job::generate(&schema, dialect, &plan.config);
    let analysis = plan.mutants.map(|set| {
        let mutants = mutation::mutants(&schema, dialect, set);
        mutation::analyse(&schema, dialect, mutants, Pipeline::Engine, &outcome.tests)
    });
    Study {
        schema,
        dialect: rules,
        notes: translated.notes,
        outcome,
        analysis,
    }
}

impl Study {
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
