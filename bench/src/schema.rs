//! Everything that the schema job promises, measured on the given schemas by one command.

mod time;

use std::path::Path;
use std::process::ExitCode;

use isobath_exec::{Engine, ProvisionedDatabase, provision};
use isobath_rows::schema::case::TestCase;
use isobath_rows::schema::confirm::confirm;
use isobath_rows::schema::generator::GeneratorName;
use isobath_rows::schema::job::{Config, RequirementStatus, SchemaOutcome, generate};
use isobath_rows::schema::mutation::{self, Analysis, FilterPipeline, OperatorSet, Strengthened};
use isobath_rows::schema::print;
use isobath_rows::schema::requirement::Requirement;
use isobath_sql::Schema;

use crate::{mutants, requirements, subjects};

/// Kills per schema and engine that are tried again on the mutant itself, spread over all of them.
const MOST_KILLS: usize = 300;

/// Counts, coverage, confirmation, mutation scores and time; a success when every number is reached.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(crate) fn all(folder: &Path, seeds: u64, binary: Option<&Path>) -> ExitCode {
    let sources = match subjects::sources(folder) {
        Ok(sources) => sources,
        Err(error) => {
            println!("failed to read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    println!("Requirements per schema, engine and criterion, against the peer's");
    let mut reached = requirements::compare(folder) == ExitCode::SUCCESS;
    println!();
    reached &= mutants::compare(folder) == ExitCode::SUCCESS;
    for engine in Engine::ALL {
        let mut provisioned = provision(engine).ok();
        if provisioned.is_none() {
            println!("{engine}: not installed, so nothing is confirmed on it");
        }
        let mut sums = Sums::default();
        println!(
            "\n{engine}: requirements on {seeds} seeds | mutants of the 14 operators | of all operators\n\
             schema          required covered infeasible open | domino default strengthened    of | default strengthened    of equivalent | disagreements"
        );
        for (name, text) in &sources {
            let schema = subjects::schema(name, text, engine.dialect());
            let row = Row::of(&schema, engine, seeds, provisioned.as_mut());
            println!("{name:15} {row}");
            sums.add(&row);
        }
        println!(
            "all: {} of {} feasible requirements covered, {} proven infeasible; default behind domino on {} schemas; \
             strengthened suites kill {} of {} mutants of the 14 operators and {} of {} of all operators, {} more are \
             proven equivalent; {} tests and {} kills confirmed, {} disagreements",
            sums.covered,
            sums.feasible,
            sums.infeasible,
            sums.behind,
            sums.paper.strengthened,
            sums.paper.mutants,
            sums.ours.strengthened,
            sums.ours.mutants,
            sums.ours.equivalent,
            sums.confirmed.tests,
            sums.confirmed.kills,
            sums.confirmed.disagreements,
        );
        reached &= sums.covered == sums.feasible
            && sums.confirmed.disagreements == 0
            && sums.behind == 0
            && sums.paper.strengthened == sums.paper.mutants
            && sums.ours.strengthened == sums.ours.mutants;
    }
    if let Some(binary) = binary {
        reached &= time::table(folder, binary);
    }
    println!(
        "\n{}",
        if reached {
            "every number is reached"
        } else {
            "NOT every number is reached"
        }
    );
    if reached {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One schema on one engine.
#[derive(Clone, Copy, Default)]
struct Row {
    required: usize,
    covered: usize,
    infeasible: usize,
    domino: usize,
    paper: Kills,
    ours: Kills,
    confirmed: Confirmed,
}

/// What is done with the mutants of one set of operators.
#[derive(Clone, Copy, Default)]
struct Kills {
    default: usize,
    strengthened: usize,
    mutants: usize,
    equivalent: usize,
}

/// What real engines said.
#[derive(Clone, Copy, Default)]
struct Confirmed {
    tests: usize,
    kills: usize,
    disagreements: usize,
}

impl Row {
    fn of(
        schema: &Schema,
        engine: Engine,
        seeds: u64,
        mut provisioned: Option<&mut ProvisionedDatabase>,
    ) -> Self {
        let dialect = engine.dialect().dialect();
        let run = |generator, seed| {
            generate(
                schema,
                dialect,
                &Config {
                    generator,
                    seed,
                    ..Config::default()
                },
            )
        };
        let mut row = Self::default();
        let own = run(GeneratorName::Default, 0);
        let mut worst = own.clone();
        for seed in 0..seeds {
            let outcome = run(GeneratorName::Default, seed);
            row.confirmed.suite(
                schema,
                engine,
                &outcome.requirements,
                &outcome.tests,
                provisioned.as_deref_mut(),
            );
            if outcome.covered() < worst.covered() {
                worst = outcome;
            }
        }
        print_open(&worst);
        row.required = worst.requirements.len();
        row.covered = worst.covered();
        row.infeasible = worst.infeasible();
        let made = mutation::mutants(schema, dialect, OperatorSet::Paper);
        let tests = run(GeneratorName::Domino, 0).tests;
        row.domino =
            mutation::analyze(schema, dialect, made, FilterPipeline::Engine, &tests).killed();
        for (set, kills) in [
            (OperatorSet::Paper, &mut row.paper),
            (OperatorSet::All, &mut row.ours),
        ] {
            let made = mutation::mutants(schema, dialect, set);
            let analysis =
                mutation::analyze(schema, dialect, made, FilterPipeline::Engine, &own.tests);
            kills.default = analysis.killed();
            let Strengthened { tests, analysis } =
                mutation::strengthen(schema, dialect, &own.tests, analysis);
            print_alive(&analysis);
            kills.strengthened = analysis.killed();
            kills.mutants = analysis.effective();
            kills.equivalent = analysis.equivalent();
            let provisioned = provisioned.as_deref_mut();
            if let (OperatorSet::All, Some(provisioned)) = (set, provisioned) {
                row.confirmed
                    .suite(schema, engine, &[], &tests, Some(provisioned));
                let suite: Vec<_> = own.tests.iter().chain(&tests).cloned().collect();
                row.confirmed.kills(&analysis, &suite, provisioned);
            }
        }
        row
    }
}

impl Confirmed {
    #[expect(clippy::print_stdout, reason = "a disagreement is named at once")]
    fn suite(
        &mut self,
        schema: &Schema,
        engine: Engine,
        requirements: &[Requirement],
        tests: &[TestCase],
        provisioned: Option<&mut ProvisionedDatabase>,
    ) {
        let Some(provisioned) = provisioned else {
            return;
        };
        let suite = print::suite(schema, engine.dialect(), requirements, tests);
        match confirm(&suite, provisioned.database()) {
            Ok(confirmation) => {
                for one in &confirmation.disagreements {
                    println!(
                        "  {}: expected {}, got {}",
                        one.test, one.expected, one.actual
                    );
                }
                self.tests += confirmation.agreed;
                self.disagreements +=
                    confirmation.disagreements.len() + confirmation.refused_setup.len();
            }
            Err(error) => {
                println!("  {error}");
                self.disagreements += 1;
            }
        }
    }

    #[expect(clippy::print_stdout, reason = "a disagreement is named at once")]
    fn kills(
        &mut self,
        analysis: &Analysis,
        suite: &[TestCase],
        provisioned: &mut ProvisionedDatabase,
    ) {
        match mutation::confirm(analysis, suite, provisioned.database(), MOST_KILLS) {
            Ok(confirmed) => {
                for one in &confirmed.disagreements {
                    let mutant = &analysis.mutants[one.mutant].description;
                    println!(
                        "  {mutant}: expected {}, got {}, for {}",
                        one.memory, one.engine, one.sql
                    );
                }
                self.kills += confirmed.agreed;
                self.disagreements += confirmed.disagreements.len();
            }
            Err(error) => {
                println!("  {error}");
                self.disagreements += 1;
            }
        }
    }
}

#[expect(clippy::print_stdout, reason = "what is open is named at once")]
fn print_open(outcome: &SchemaOutcome) {
    for (requirement, status) in outcome.requirements.iter().zip(&outcome.statuses) {
        let says = requirement.description.join("; ");
        match status {
            RequirementStatus::Covered(_) => {}
            RequirementStatus::Infeasible { proof } => println!("  infeasible: {says}: {proof}"),
            RequirementStatus::Uncovered { why } => println!("  open: {says}: {why}"),
        }
    }
}

#[expect(clippy::print_stdout, reason = "what is alive is named at once")]
fn print_alive(analysis: &Analysis) {
    for (_, mutant) in analysis.survivors() {
        println!("  alive: {}", mutant.description);
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            required,
            covered,
            infeasible,
            domino,
            paper,
            ours,
            confirmed,
        } = self;
        let open = required - covered - infeasible;
        write!(
            f,
            "{required:8} {covered:7} {infeasible:10} {open:4} | {domino:6} {:7} {:12} {:5} | {:7} {:12} {:5} {:10} | {:13}",
            paper.default,
            paper.strengthened,
            paper.mutants,
            ours.default,
            ours.strengthened,
            ours.mutants,
            ours.equivalent,
            confirmed.disagreements
        )
    }
}

#[derive(Default)]
struct Sums {
    covered: usize,
    feasible: usize,
    infeasible: usize,
    behind: usize,
    paper: Kills,
    ours: Kills,
    confirmed: Confirmed,
}

impl Sums {
    fn add(&mut self, row: &Row) {
        self.covered += row.covered;
        self.feasible += row.required - row.infeasible;
        self.infeasible += row.infeasible;
        self.behind += usize::from(row.paper.default < row.domino);
        for (sum, kills) in [(&mut self.paper, row.paper), (&mut self.ours, row.ours)] {
            sum.default += kills.default;
            sum.strengthened += kills.strengthened;
            sum.mutants += kills.mutants;
            sum.equivalent += kills.equivalent;
        }
        self.confirmed.tests += row.confirmed.tests;
        self.confirmed.kills += row.confirmed.kills;
        self.confirmed.disagreements += row.confirmed.disagreements;
    }
}
