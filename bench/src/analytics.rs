//! Queries of a folder with their schema (TPC-H, TPC-DS, JOB): targets, mutants and CPU time of each.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run};
use isobath_rows::query::mutation::{MutantCounts, analyze};
use isobath_rows::query::stop::{StopReason, StopSignal};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::ddl::{LoadedSchema, Source, load};

use crate::cpu;
use crate::verdict::{BenchError, Thresholds, conclude};

/// The most CPU seconds that a query may take.
const MAX_SECONDS: f64 = 10.0;

/// Covers and mutates every query of `FOLDER/queries` over `FOLDER/schema.sql`; with `verbose`, lists what is left.
pub(crate) fn table(folder: &Path, verbose: bool) -> ExitCode {
    conclude(measure(folder, verbose))
}

fn measure(folder: &Path, verbose: bool) -> Result<bool, BenchError> {
    let text = std::fs::read_to_string(folder.join("schema.sql"))?;
    let name = "schema.sql".to_owned();
    let loaded = load("schema", &[Source { name, text }], None);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("queries"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let mut thresholds = Thresholds::default();
    let mut all = Totals::default();
    for file in files {
        let sql = std::fs::read_to_string(&file)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        match one(&sql, &loaded, verbose) {
            Ok(of) => {
                println!("{name:8} {of}");
                // What ends at the limit still hands over what it has.
                let within = of.seconds <= MAX_SECONDS * 1.1;
                thresholds.check(within, format!("{name}: {:.1} s", of.seconds));
                all.add(&of);
            }
            Err(why) => {
                println!("{name:8} not read: {why}");
                thresholds.check(false, format!("{name} is not read"));
            }
        }
    }
    println!("{:8} {all}", "all");
    let open = all.open as f64 / all.targets.max(1) as f64;
    thresholds.check(
        open <= 0.02,
        format!("{:.1} % of the targets open", open * 100.0),
    );
    let killed = all.killed_share();
    thresholds.check(
        killed >= 0.97,
        format!("{:.1} % of the mutants killed", killed * 100.0),
    );
    Ok(thresholds.print())
}

/// Numbers of one query, or of all.
#[derive(Default)]
struct Totals {
    targets: usize,
    infeasible: usize,
    open: usize,
    fixtures: usize,
    mutants: MutantCounts,
    /// Killed by the fixtures for the targets alone.
    at_first: usize,
    seconds: f64,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.targets += other.targets;
        self.infeasible += other.infeasible;
        self.open += other.open;
        self.fixtures += other.fixtures;
        self.mutants.killed += other.mutants.killed;
        self.mutants.equivalent += other.mutants.equivalent;
        self.mutants.alive += other.mutants.alive;
        self.mutants.unsupported += other.mutants.unsupported;
        self.at_first += other.at_first;
        self.seconds = self.seconds.max(other.seconds);
    }

    /// The share of the mutants that are not proven equivalent.
    fn killed_share(&self) -> f64 {
        let of = self.mutants;
        let all = of.killed + of.alive + of.unsupported;
        of.killed as f64 / all.max(1) as f64
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = self.mutants;
        write!(
            f,
            "{:4} targets {:3} infeasible {:3} open {:4} fixtures; mutants {:4} killed ({} at first) {:3} equivalent \
             {:3} alive {:3} not evaluated, {:5.1} %; {:5.1} s at most",
            self.targets,
            self.infeasible,
            self.open,
            self.fixtures,
            of.killed,
            self.at_first,
            of.equivalent,
            of.alive,
            of.unsupported,
            self.killed_share() * 100.0,
            self.seconds
        )
    }
}

fn one(sql: &str, loaded: &LoadedSchema, verbose: bool) -> Result<Totals, BenchError> {
    let sql = sql.trim().trim_end_matches(';');
    let (schema, dialect) = (&loaded.schema, loaded.dialect);
    let started = cpu::spent();
    let made = targets(
        sql,
        schema,
        dialect,
        QueryCriterion::Extended,
        CoverageOptions::default(),
    )?;
    let read = made.iter().map(|of| QueryTarget::of(of, schema, dialect));
    let mut targets: Vec<QueryTarget> = read.collect();
    let limit = || {
        let is_over = (cpu::spent() - started).as_secs_f64() >= MAX_SECONDS;
        is_over.then_some(StopReason::TimeLimit)
    };
    let context = SolverContext {
        stop: StopSignal::new(&limit),
        ..SolverContext::new(schema, dialect.dialect())
    };
    let config = Config::default();
    let mut outcome = run(&targets, context, &config);
    let mut totals = Totals {
        targets: targets.len(),
        infeasible: outcome.infeasible(),
        ..Totals::default()
    };
    for (target, status) in targets.iter().zip(&outcome.statuses) {
        if let TargetStatus::Uncovered { reason } = status {
            totals.open += 1;
            if verbose {
                println!("    open: {}: {reason}", target.sql);
            }
        }
    }
    let fixtures = outcome.fixtures.len();
    let (found, added) = (&mut outcome, &mut targets);
    let analysis = analyze(sql, dialect, context, &config, true, added, found)?;
    totals.seconds = (cpu::spent() - started).as_secs_f64();
    totals.mutants = analysis.counts();
    totals.fixtures = outcome.fixtures.len();
    totals.at_first = analysis.killed_by(fixtures);
    if verbose {
        for (mutant, status) in analysis.survivors() {
            println!(
                "    {status:?}: {}: {}",
                mutant.operator, mutant.description
            );
        }
    }
    Ok(totals)
}
