//! The thresholds of the query job: recorded coverage targets covered or proven infeasible, how fast, and
//! how the paper's algorithms compare.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod counts;
mod data;
mod engine;
mod paper;
mod strings;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use isobath_rows::query::algorithm::{Algorithm, Config};
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{CoverageOutcome, TargetStatus, run as run_job};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::DialectName;

use crate::verdict::Thresholds;
use crate::{query_eval, query_targets};
use counts::{Counts, quantile};
use data::{Record, System};
use engine::Asking;

/// What is worth a line of its own.
const SLOW: Duration = Duration::from_millis(50);

/// Seeds of a whole measurement.
const SEEDS: u64 = 10;
/// What a query may take on one core: the median, the 99th percentile, and all of them.
const MEDIAN_MS: f64 = 1.0;
const P99_MS: f64 = 100.0;
const TOTAL: Duration = Duration::from_secs(10);

/// Prints all thresholds of the query job; succeeds when those that were asked for are reached.
pub(crate) fn measure(folder: &Path, options: &[&str]) -> ExitCode {
    crate::verdict::exit(run(folder, options))
}

/// What one run is about.
struct Run<'o> {
    config: Config,
    constraints: bool,
    verbose: bool,
    only: Option<&'o str>,
}

fn run(folder: &Path, options: &[&str]) -> Result<bool, Box<dyn Error>> {
    let after = |flag: &str| {
        let at = options.iter().position(|option| *option == flag)?;
        options.get(at + 1).copied()
    };
    let has = |flag: &str| options.contains(&flag) || options.contains(&"--all");
    let systems = data::systems(folder)?;
    let mut thresholds = Thresholds::default();
    let budget: Option<u64> = after("--budget").map(str::parse).transpose()?;
    let seeds = after("--seeds").map(str::parse).transpose()?;
    if options.contains(&"--paper") {
        let order = paper::table(&systems, seeds.unwrap_or(SEEDS), budget);
        thresholds.check(order, "the order of the paper");
        return Ok(thresholds.print());
    }
    let seeds = seeds.unwrap_or(if has("--all") { SEEDS } else { 1 });
    let mut run = Run {
        config: Config {
            algorithm: after("--algorithm").unwrap_or("default").parse()?,
            share_fixtures: !options.contains(&"--apart"),
            ..Config::default()
        },
        constraints: !options.contains(&"--ignore-constraints"),
        verbose: options.contains(&"-v"),
        only: after("--only"),
    };
    if let Some(budget) = budget {
        run.config.budget = budget;
    }
    cover(&systems, seeds, has("--confirm"), &mut run, &mut thresholds)?;
    if run.only.is_some() || run.config.algorithm != Algorithm::Default {
        return Ok(thresholds.print());
    }
    thresholds.check(strings::table(), "a string case in milliseconds");
    println!("\nevaluations of one query or target over one to three rows per table:");
    query_eval::speed(folder)?;
    println!("\nrecorded lists of targets, made by the strict criterion:");
    let lists = query_targets::lists(folder, run.verbose)?;
    thresholds.check(lists, "a recorded list of targets");
    if has("--all") {
        println!("\nthe algorithms of the paper:");
        let order = paper::table(&systems, seeds, None);
        thresholds.check(order, "the order of the paper");
    } else {
        thresholds.skip("the algorithms of the paper");
    }
    if seeds < SEEDS {
        thresholds.skip("ten seeds");
    }
    if !has("--confirm") {
        thresholds.skip("confirmation");
    }
    Ok(thresholds.print())
}

/// Covers all targets with every seed, and holds what comes of it against the thresholds.
fn cover(
    systems: &[System],
    seeds: u64,
    confirm: bool,
    run: &mut Run<'_>,
    thresholds: &mut Thresholds,
) -> Result<(), Box<dyn Error>> {
    let mut engines = Vec::new();
    for system in systems {
        let asking = confirm.then(|| Asking::of(&setting(system, run), &system.name));
        engines.push(asking.transpose()?);
    }
    Counts::head();
    for seed in 1..=seeds {
        run.config.seed = seed;
        let mut all = Counts::default();
        for (system, engine) in systems.iter().zip(&mut engines) {
            let counts = one(system, run, engine.as_mut())?;
            counts.print(seed, &system.name);
            all.add(counts);
        }
        all.print(seed, "all");
        hold(&all, seed, confirm, thresholds);
        if seed == seeds {
            all.print_causes();
            let total: Duration = all.times.iter().sum();
            println!(
                "{:.0} evaluations per second of all CPU time, building and proving included",
                all.evaluations as f64 / total.as_secs_f64()
            );
        }
    }
    Ok(())
}

fn hold(all: &Counts, seed: u64, confirm: bool, thresholds: &mut Thresholds) {
    let mut hold = |reached, what: &str| thresholds.check(reached, format!("{what} (seed {seed})"));
    hold(
        all.covered + all.proven == all.targets,
        "every target covered or proven infeasible",
    );
    hold(
        all.agreed == all.recorded_infeasible,
        "every target recorded as infeasible proven to be",
    );
    hold(all.hard_covered == all.hard, "every hard target covered");
    hold(
        !confirm || all.confirmed == all.covered,
        "every covered target confirmed on MariaDB",
    );
    hold(quantile(&all.times, 0.5) < MEDIAN_MS, "the median time");
    hold(quantile(&all.times, 0.99) < P99_MS, "the 99th percentile");
    hold(
        all.times.iter().sum::<Duration>() < TOTAL,
        "all queries in ten seconds",
    );
}

fn setting<'s>(system: &'s System, run: &Run<'_>) -> SolverContext<'s> {
    SolverContext {
        constraints: run.constraints,
        ..SolverContext::new(&system.schema, DialectName::MySql.dialect())
    }
}

fn one(
    system: &System,
    run: &Run<'_>,
    mut engine: Option<&mut Asking<'_>>,
) -> Result<Counts, Box<dyn Error>> {
    let setting = setting(system, run);
    let mut counts = Counts::default();
    for record in &system.records {
        if run.only.is_some_and(|only| only != record.id) {
            continue;
        }
        let started = crate::cpu::spent();
        let targets: Vec<QueryTarget> = record
            .targets
            .iter()
            .map(|sql| QueryTarget::read(sql, "", "", setting.schema, DialectName::Ansi))
            .collect();
        let outcome = run_job(&targets, setting, &run.config);
        let elapsed = crate::cpu::spent().saturating_sub(started);
        counts.times.push(elapsed);
        if run.verbose && elapsed > SLOW {
            println!(
                "slow: {} {} targets, {} evaluations, {:.0} ms",
                record.id,
                targets.len(),
                outcome.evaluations,
                elapsed.as_secs_f64() * 1e3
            );
        }
        count(record, &targets, &outcome, run.verbose, &mut counts);
        if let Some(engine) = &mut engine {
            engine.ask(record, &targets, &outcome, &mut counts)?;
        }
    }
    Ok(counts)
}

fn count(
    record: &Record,
    targets: &[QueryTarget],
    outcome: &CoverageOutcome,
    verbose: bool,
    counts: &mut Counts,
) {
    counts.queries += 1;
    counts.targets += targets.len();
    counts.fixtures += outcome.fixtures.len();
    counts.rows += outcome.rows();
    counts.evaluations += outcome.evaluations;
    counts.recorded_infeasible += record.infeasible.len();
    counts.hard += record.hard.len();
    let mut open = 0;
    for (index, (fate, target)) in outcome.statuses.iter().zip(targets).enumerate() {
        let recorded = record.infeasible.contains(&index);
        let place = format!("{} {} {}", record.id, record.kinds[index], target.sql);
        match fate {
            TargetStatus::Covered(_) => {
                counts.covered += 1;
                counts.hard_covered += usize::from(record.hard.contains(&index));
                counts.surprising += usize::from(recorded);
                if verbose && recorded {
                    println!("covered though recorded infeasible: {place}");
                }
            }
            TargetStatus::Infeasible { cause, proof } => {
                counts.proven += 1;
                counts.agreed += usize::from(recorded);
                let sums = counts.causes.entry(*cause).or_default();
                sums.0 += 1;
                sums.1 += usize::from(recorded);
                if verbose {
                    let recorded = if recorded { " (recorded)" } else { "" };
                    println!("proven{recorded}: {cause}: {place}: {proof}");
                }
            }
            TargetStatus::Uncovered { reason } => {
                open += 1;
                if verbose {
                    let recorded = if recorded { " (infeasible)" } else { "" };
                    println!("open{recorded}: {place}: {reason}");
                }
            }
        }
    }
    counts.complete += usize::from(open == 0);
}
