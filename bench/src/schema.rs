//! Everything that the schema job promises, measured on the given schemas by one command.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use isobath_exec::{Engine, Provisioned, provision};
use isobath_rows::schema::confirm::confirm;
use isobath_rows::schema::generator::GeneratorName;
use isobath_rows::schema::job::{Config, Outcome, Status, generate};
use isobath_rows::schema::mutation::{self, OperatorSet, Pipeline};
use isobath_rows::schema::print;
use isobath_sql::Schema;

use crate::subjects;

/// Coverage, confirmation, mutation scores, determinism and time; true when every number is reached.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(crate) fn all(folder: &Path, seeds: u64, binary: Option<&Path>) -> ExitCode {
    let sources = match subjects::sources(folder) {
        Ok(sources) => sources,
        Err(error) => {
            println!("failed to read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
    };
    let mut reached = true;
    for engine in Engine::ALL {
        let mut provisioned = provision(engine).ok();
        if provisioned.is_none() {
            println!("{engine}: not installed, so nothing is confirmed on it");
        }
        let mut sums = Sums::default();
        println!(
            "\n{engine}\nschema          required covered infeasible open disagreements | domino default strengthened of mutants"
        );
        for (name, text) in &sources {
            let schema = subjects::schema(name, text, engine.dialect());
            let row = Row::of(&schema, engine, seeds, provisioned.as_mut());
            println!("{name:15} {row}");
            sums.add(&row);
        }
        println!(
            "all: {} of {} feasible requirements covered on {seeds} seeds, {} proven infeasible, {} disagreements; \
             default behind domino on {} schemas; {} of {} mutants killed after strengthening",
            sums.covered,
            sums.feasible,
            sums.infeasible,
            sums.disagreements,
            sums.behind,
            sums.strengthened,
            sums.mutants
        );
        reached &= sums.covered == sums.feasible
            && sums.disagreements == 0
            && sums.behind == 0
            && sums.strengthened == sums.mutants;
    }
    if let Some(binary) = binary {
        reached &= time(folder, binary);
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
struct Row {
    required: usize,
    covered: usize,
    infeasible: usize,
    open: usize,
    disagreements: usize,
    domino: usize,
    default: usize,
    strengthened: usize,
    mutants: usize,
}

impl Row {
    #[expect(clippy::print_stdout, reason = "what is open is named at once")]
    fn of(
        schema: &Schema,
        engine: Engine,
        seeds: u64,
        mut provisioned: Option<&mut Provisioned>,
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
        let mut worst: Option<Outcome> = None;
        let mut disagreements = 0;
        for seed in 0..seeds {
            let outcome = run(GeneratorName::Default, seed);
            if let Some(provisioned) = provisioned.as_deref_mut() {
                let suite = print::suite(
                    schema,
                    engine.dialect(),
                    &outcome.requirements,
                    &outcome.tests,
                );
                match confirm(&suite, provisioned.database()) {
                    Ok(confirmation) => {
                        for one in &confirmation.disagreements {
                            println!(
                                "  {}: expected {}, got {}",
                                one.test, one.expected, one.actual
                            );
                        }
                        disagreements +=
                            confirmation.disagreements.len() + confirmation.refused_setup.len();
                    }
                    Err(error) => {
                        println!("  {error}");
                        disagreements += 1;
                    }
                }
            }
            if worst
                .as_ref()
                .is_none_or(|worst| outcome.covered() < worst.covered())
            {
                worst = Some(outcome);
            }
        }
        let outcome = worst.unwrap_or_else(|| run(GeneratorName::Default, 0));
        for (requirement, status) in outcome.requirements.iter().zip(&outcome.statuses) {
            match status {
                Status::Covered(_) => {}
                Status::Infeasible { proof } => {
                    println!("  infeasible: {}: {proof}", requirement.says.join("; "))
                }
                Status::Uncovered { why } => {
                    println!("  open: {}: {why}", requirement.says.join("; "))
                }
            }
        }
        let analysed = |outcome: &Outcome| {
            let mutants = mutation::mutants(schema, dialect, OperatorSet::Paper);
            mutation::analyse(schema, dialect, mutants, Pipeline::Engine, &outcome.tests)
        };
        let domino = analysed(&run(GeneratorName::Domino, 0)).killed();
        let own = run(GeneratorName::Default, 0);
        let analysis = analysed(&own);
        let default = analysis.killed();
        let strengthened = mutation::strengthen(schema, dialect, &own.tests, analysis).analysis;
        for (_, mutant) in strengthened.survivors() {
            println!("  alive: {}", mutant.description);
        }
        Self {
            required: outcome.requirements.len(),
            covered: outcome.covered(),
            infeasible: outcome.infeasible(),
            open: outcome.requirements.len() - outcome.covered() - outcome.infeasible(),
            disagreements,
            domino,
            default,
            strengthened: strengthened.killed(),
            mutants: strengthened.effective(),
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            required,
            covered,
            infeasible,
            open,
            disagreements,
            domino,
            default,
            strengthened,
            mutants,
        } = self;
        write!(
            f,
            "{required:8} {covered:7} {infeasible:10} {open:4} {disagreements:13} | {domino:6} {default:7} {strengthened:12} {mutants:10}"
        )
    }
}

#[derive(Default)]
struct Sums {
    covered: usize,
    feasible: usize,
    infeasible: usize,
    disagreements: usize,
    behind: usize,
    strengthened: usize,
    mutants: usize,
}

impl Sums {
    fn add(&mut self, row: &Row) {
        self.covered += row.covered;
        self.feasible += row.required - row.infeasible;
        self.infeasible += row.infeasible;
        self.disagreements += row.disagreements;
        self.behind += usize::from(row.default < row.domino);
        self.strengthened += row.strengthened;
        self.mutants += row.mutants;
    }
}

/// CPU seconds of whole processes over all schemas, against the budgets of the product.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
fn time(folder: &Path, binary: &Path) -> bool {
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("data/schemas"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.sort();
    let itrust: Vec<_> = paths
        .iter()
        .filter(|path| path.ends_with("iTrust.sql"))
        .cloned()
        .collect();
    let mut reached = true;
    println!("\nCPU of one process, its start included");
    for (what, paths, flags, budget) in [
        (
            "all suites generated",
            &paths,
            &["--engine", "none"][..],
            0.3,
        ),
        (
            "all suites generated and confirmed on SQLite",
            &paths,
            &["--engine", "sqlite"][..],
            f64::INFINITY,
        ),
        (
            "all suites generated and analysed",
            &paths,
            &["--engine", "none", "--mutate"][..],
            2.0,
        ),
        (
            "iTrust generated and analysed",
            &itrust,
            &["--engine", "none", "--mutate"][..],
            1.0,
        ),
    ] {
        let before = children_seconds();
        let done = Command::new(binary)
            .arg("schema")
            .args(paths)
            .args(flags)
            .args(["--json", "--quiet"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let seconds = children_seconds() - before;
        let ok = done.is_ok_and(|status| status.success()) && seconds < budget;
        let budget = if budget.is_finite() {
            format!("budget {budget} s")
        } else {
            "no budget".to_owned()
        };
        println!("{what:45} {seconds:6.2} s ({budget})");
        reached &= ok;
    }
    reached
}

/// User and system time of finished children, from the system's own account; zero where there is none.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name may hold blanks, so fields are counted from its closing parenthesis.
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(13) + ticks(14)) / 100.0
}
