//! How many recorded coverage targets the query job covers or proves infeasible, and how fast.
//!
//! The folder holds one folder per system with `schema.sql` and `queries.jsonl`, whose lines have
//! `id`, `query`, `targets`, `kinds`, `infeasible` and `hard`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and what is wrong with its input")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use isobath_rows::query::algorithm::Config;
use isobath_rows::query::construct::Setting;
use isobath_rows::query::job::{Fate, run as run_job};
use isobath_rows::query::target::Target;
use isobath_sql::DialectName;
use isobath_sql::ddl::{Source, load};
use serde_json::Value;

/// What was counted, for one system or all.
#[derive(Default)]
struct Counts {
    queries: usize,
    targets: usize,
    covered: usize,
    proven: usize,
    /// Proven, and recorded as infeasible.
    agreed: usize,
    /// Covered, and recorded as infeasible.
    surprising: usize,
    recorded_infeasible: usize,
    hard: usize,
    hard_covered: usize,
    complete: usize,
    rows: usize,
    evaluations: u64,
    times: Vec<Duration>,
}

/// Prints a line per system and one for all; succeeds when every target is covered or proven infeasible.
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

fn run(folder: &Path, options: &[&str]) -> Result<bool, Box<dyn Error>> {
    let verbose = options.contains(&"-v");
    let constraints = !options.contains(&"--ignore-constraints");
    let after = |flag: &str| {
        let at = options.iter().position(|option| *option == flag)?;
        options.get(at + 1).copied()
    };
    let seeds: u64 = after("--seeds").map_or(Ok(1), str::parse)?;
    let config = Config {
        algorithm: after("--algorithm").unwrap_or("default").parse()?,
        ..Config::default()
    };
    let mut systems: Vec<PathBuf> = Vec::new();
    for folder in [
        folder.to_owned(),
        folder.join("data/queries"),
        folder.join("queries"),
    ] {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        systems.extend(paths.filter(|path| path.join("queries.jsonl").is_file()));
    }
    systems.sort();
    if systems.is_empty() {
        return Err(format!("no `queries.jsonl` in the folders of {}", folder.display()).into());
    }
    println!(
        "seed system    queries complete targets covered proven (agreed/recorded, covered though recorded) open hard rows evaluations median p99 total"
    );
    let mut fine = true;
    for seed in 1..=seeds {
        let mut all = Counts::default();
        for system in &systems {
            let config = Config { seed, ..config };
            let counts = one(system, constraints, &config, verbose)?;
            let name = system.file_name().unwrap_or_default().to_string_lossy();
            print(seed, &name, &counts);
            all.add(counts);
        }
        print(seed, "all", &all);
        fine &= all.covered + all.proven == all.targets;
    }
    Ok(fine)
}

fn one(
    system: &Path,
    constraints: bool,
    config: &Config,
    verbose: bool,
) -> Result<Counts, Box<dyn Error>> {
    let source = Source {
        name: "schema.sql".to_owned(),
        text: fs::read_to_string(system.join("schema.sql"))?,
    };
    let schema = load("schema", &[source], Some(DialectName::MySql)).schema;
    let setting = Setting {
        constraints,
        ..Setting::new(&schema, DialectName::MySql.dialect())
    };
    let mut counts = Counts::default();
    for line in fs::read_to_string(system.join("queries.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let list = |key: &str| record[key].as_array().cloned().unwrap_or_default();
        let infeasible: Vec<u64> = list("infeasible")
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        let hard: Vec<u64> = list("hard").iter().filter_map(Value::as_u64).collect();
        let kinds = list("kinds");
        let started = Instant::now();
        let targets: Vec<Target> = list("targets")
            .iter()
            .filter_map(Value::as_str)
            .map(|sql| Target::read(sql, "", "", &schema, DialectName::Ansi))
            .collect();
        let outcome = run_job(&targets, setting, config);
        counts.times.push(started.elapsed());
        counts.queries += 1;
        counts.targets += targets.len();
        counts.rows += outcome.rows();
        counts.evaluations += outcome.evaluations;
        counts.recorded_infeasible += infeasible.len();
        counts.hard += hard.len();
        let mut open = 0;
        for (index, (fate, target)) in outcome.fates.iter().zip(&targets).enumerate() {
            let recorded = infeasible.contains(&(index as u64));
            match fate {
                Fate::Covered(_) => {
                    counts.covered += 1;
                    counts.hard_covered += usize::from(hard.contains(&(index as u64)));
                    if recorded {
                        counts.surprising += 1;
                        if verbose {
                            println!(
                                "covered though recorded infeasible: {} {}",
                                record["id"], target.sql
                            );
                        }
                    }
                }
                Fate::Infeasible { proof, .. } => {
                    counts.proven += 1;
                    counts.agreed += usize::from(recorded);
                    if verbose && !recorded {
                        println!(
                            "proven though not recorded: {} {} {}: {proof}",
                            record["id"], kinds[index], target.sql
                        );
                    }
                }
                Fate::Uncovered { why } => {
                    open += 1;
                    if verbose {
                        println!(
                            "open{}: {} {} {}: {why}",
                            if recorded { " (infeasible)" } else { "" },
                            record["id"],
                            kinds[index],
                            target.sql
                        );
                    }
                }
            }
        }
        counts.complete += usize::from(open == 0);
    }
    Ok(counts)
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.queries += other.queries;
        self.targets += other.targets;
        self.covered += other.covered;
        self.proven += other.proven;
        self.agreed += other.agreed;
        self.surprising += other.surprising;
        self.recorded_infeasible += other.recorded_infeasible;
        self.hard += other.hard;
        self.hard_covered += other.hard_covered;
        self.complete += other.complete;
        self.rows += other.rows;
        self.evaluations += other.evaluations;
        self.times.extend(other.times);
    }
}

fn print(seed: u64, name: &str, counts: &Counts) {
    let mut times = counts.times.clone();
    times.sort_unstable();
    let at = |share: f64| {
        let index = ((times.len() as f64 - 1.0) * share) as usize;
        times
            .get(index)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let total: Duration = times.iter().sum();
    println!(
        "{seed:>4} {name:<9} {:>7} {:>8} {:>7} {:>7} {:>6} ({}/{}, {}) {:>4} {}/{} {:>5} {:>8} {:.2} ms {:.1} ms {:.2} s",
        counts.queries,
        counts.complete,
        counts.targets,
        counts.covered,
        counts.proven,
        counts.agreed,
        counts.recorded_infeasible,
        counts.surprising,
        counts.targets - counts.covered - counts.proven,
        counts.hard_covered,
        counts.hard,
        counts.rows,
        counts.evaluations,
        at(0.5),
        at(0.99),
        total.as_secs_f64()
    );
}
