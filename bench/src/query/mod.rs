//! How many recorded coverage targets the query job covers or proves infeasible, and how fast.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and what is wrong with its input")]

mod counts;
mod data;
mod paper;
mod strings;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use isobath_exec::{Database, Engine, provision};
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::confirm::{self, Verdict};
use isobath_rows::query::construct::Setting;
use isobath_rows::query::job::{Fate, Outcome, run as run_job};
use isobath_rows::query::target::Target;
use isobath_sql::{DialectName, Schema};

use counts::Counts;
use data::{Record, System};

/// What is worth a line of its own.
const SLOW: Duration = Duration::from_millis(50);

/// Prints a line per system and one for all; succeeds when every target is covered (and confirmed
/// where that was asked for) or proven infeasible.
pub(crate) fn measure(folder: &Path, options: &[&str]) -> ExitCode {
    match run(folder, options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// What one run is about.
struct Run<'o> {
    config: Config,
    constraints: bool,
    confirm: bool,
    verbose: bool,
    only: Option<&'o str>,
}

fn run(folder: &Path, options: &[&str]) -> Result<bool, Box<dyn Error>> {
    let after = |flag: &str| {
        let at = options.iter().position(|option| *option == flag)?;
        options.get(at + 1).copied()
    };
    let has = |flag: &str| options.contains(&flag);
    let systems = data::systems(folder)?;
    if has("--paper") {
        let seeds = after("--seeds").map_or(Ok(10), str::parse)?;
        let budget = after("--budget").map_or(Ok(paper::BUDGET), str::parse)?;
        paper::table(&systems, seeds, budget);
        return Ok(true);
    }
    let seeds: u64 = after("--seeds").map_or(Ok(1), str::parse)?;
    let mut run = Run {
        config: Config {
            algorithm: after("--algorithm").unwrap_or("default").parse()?,
            together: has("--together"),
            ..Config::default()
        },
        constraints: !has("--ignore-constraints"),
        confirm: has("--confirm"),
        verbose: has("-v"),
        only: after("--only"),
    };
    if let Some(budget) = after("--budget") {
        run.config.budget = budget.parse()?;
    }
    Counts::head();
    let mut fine = true;
    for seed in 1..=seeds {
        run.config.seed = seed;
        let mut all = Counts::default();
        for system in &systems {
            let counts = one(system, &run)?;
            counts.print(seed, &system.name);
            all.add(counts);
        }
        all.print(seed, "all");
        fine &= all.covered + all.proven == all.targets && all.confirmed == all.asked;
        if seed == seeds {
            all.print_causes();
            let total: Duration = all.times.iter().sum();
            println!(
                "{:.0} evaluations per second of all time, building and proving included",
                all.evaluations as f64 / total.as_secs_f64()
            );
        }
    }
    strings::table();
    Ok(fine)
}

fn one(system: &System, run: &Run<'_>) -> Result<Counts, Box<dyn Error>> {
    let schema = &system.schema;
    let setting = Setting {
        constraints: run.constraints,
        ..Setting::new(schema, DialectName::MySql.dialect())
    };
    let mut provisioned = None;
    let stored = confirm::fixture_schema(schema, run.constraints);
    if run.confirm {
        let server = provisioned.insert(provision(Engine::MariaDb)?);
        for (sql, why) in confirm::prepare(&stored, server.database())? {
            eprintln!("{}: MariaDB refuses `{sql}`: {why}", system.name);
        }
        confirm::set_clock(server.database(), setting.now)?;
    }
    let mut counts = Counts::default();
    for record in &system.records {
        if run.only.is_some_and(|only| only != record.id) {
            continue;
        }
        let started = Instant::now();
        let targets: Vec<Target> = record
            .targets
            .iter()
            .map(|sql| Target::read(sql, "", "", schema, DialectName::Ansi))
            .collect();
        let outcome = run_job(&targets, setting, &run.config);
        let elapsed = started.elapsed();
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
        if let Some(server) = &mut provisioned {
            let asked = Asked {
                record,
                targets: &targets,
                schema,
                stored: &stored,
            };
            ask(&asked, &outcome, server.database(), &mut counts)?;
        }
    }
    Ok(counts)
}

fn count(
    record: &Record,
    targets: &[Target],
    outcome: &Outcome,
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
    for (index, (fate, target)) in outcome.fates.iter().zip(targets).enumerate() {
        let recorded = record.infeasible.contains(&index);
        let place = format!("{} {} {}", record.id, record.kinds[index], target.sql);
        match fate {
            Fate::Covered(_) => {
                counts.covered += 1;
                counts.hard_covered += usize::from(record.hard.contains(&index));
                counts.surprising += usize::from(recorded);
                if verbose && recorded {
                    println!("covered though recorded infeasible: {place}");
                }
            }
            Fate::Infeasible { cause, proof } => {
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
            Fate::Uncovered { why } => {
                open += 1;
                if verbose {
                    let recorded = if recorded { " (infeasible)" } else { "" };
                    println!("open{recorded}: {place}: {why}");
                }
            }
        }
    }
    counts.complete += usize::from(open == 0);
}

/// What an engine is asked about.
struct Asked<'a> {
    record: &'a Record,
    targets: &'a [Target],
    schema: &'a Schema,
    stored: &'a Schema,
}

/// Asks the engine about everything that counts as covered.
fn ask(
    asked: &Asked<'_>,
    outcome: &Outcome,
    database: &mut dyn Database,
    counts: &mut Counts,
) -> Result<(), Box<dyn Error>> {
    for fixture in &outcome.fixtures {
        let sql: Vec<String> = fixture
            .covers
            .iter()
            .map(|target| {
                confirm::spelled(
                    &asked.targets[*target].sql,
                    asked.schema,
                    DialectName::MySql,
                )
            })
            .collect();
        let verdicts = confirm::confirm(fixture, &sql, asked.stored, database)?;
        counts.asked += sql.len();
        for (sql, verdict) in sql.iter().zip(verdicts) {
            match verdict {
                Verdict::Agrees => counts.confirmed += 1,
                Verdict::Disagrees { actual } => {
                    println!("disagrees: {} {sql}: {actual}", asked.record.id);
                }
            }
        }
    }
    Ok(())
}
