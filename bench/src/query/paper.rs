//! The paper's comparison: random, biased random and genetic search by number of targets.
//!
//! As there, constraints do not count, targets that are recorded or proven as infeasible are left out, and a query is complete
//! when all its targets are covered with every seed. The budget is in evaluations.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use isobath_rows::query::algorithm::{Algorithm, Config};
use isobath_rows::query::construct::Setting;
use isobath_rows::query::job::{Fate, run};
use isobath_rows::query::target::Target;
use isobath_sql::DialectName;

use super::counts::quantile;
use super::data::{Record, System};

/// How many evaluations a target may cost.
pub(super) const BUDGET: u64 = 500;

/// How many queries of each bucket are tried.
const MOST: usize = 20;

const BUCKETS: [RangeInclusive<usize>; 8] = [
    1..=2,
    3..=4,
    5..=6,
    7..=8,
    9..=10,
    11..=15,
    16..=20,
    21..=usize::MAX,
];

/// What an algorithm did in a bucket.
#[derive(Default)]
struct Cell {
    complete: usize,
    covered: usize,
    targets: usize,
    times: Vec<Duration>,
}

/// One line per bucket, three columns per algorithm.
pub(super) fn table(systems: &[System], seeds: u64, budget: u64) {
    let order = [
        Algorithm::Random,
        Algorithm::Biased,
        Algorithm::Ga,
        Algorithm::Default,
    ];
    println!(
        "{seeds} seeds, {budget} evaluations per target, at most {MOST} queries per bucket: queries complete with every seed, targets covered, median ms per query"
    );
    print!("{:>7} {:>7}", "targets", "queries");
    for algorithm in order {
        print!(" | {:>8} {:>7} {:>8}", algorithm.as_str(), "targets", "ms");
    }
    println!();
    let mut sums: Vec<Cell> = order.iter().map(|_| Cell::default()).collect();
    let mut tried = 0;
    for bucket in &BUCKETS {
        let queries = sample(systems, bucket);
        tried += queries.len();
        let name = if *bucket.end() == usize::MAX {
            format!("{}+", bucket.start())
        } else {
            format!("{}-{}", bucket.start(), bucket.end())
        };
        print!("{name:>7} {:>7}", queries.len());
        for (algorithm, sum) in order.iter().zip(&mut sums) {
            let cell = attempt(&queries, *algorithm, seeds, budget);
            print_cell(&cell, queries.len());
            sum.complete += cell.complete;
            sum.covered += cell.covered;
            sum.targets += cell.targets;
            sum.times.extend(cell.times);
        }
        println!();
    }
    print!("{:>7} {tried:>7}", "all");
    for sum in &sums {
        print_cell(sum, tried);
    }
    println!();
}

fn print_cell(cell: &Cell, queries: usize) {
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    print!(
        " | {:>7.1}% {:>6.1}% {:>8.2}",
        share(cell.complete, queries),
        share(cell.covered, cell.targets),
        quantile(&cell.times, 0.5)
    );
}

/// A query that is tried.
struct Chosen<'s> {
    system: &'s System,
    record: &'s Record,
    infeasible: Vec<usize>,
}

/// Queries whose number of targets is in a bucket, spread over the systems.
fn sample<'s>(systems: &'s [System], bucket: &RangeInclusive<usize>) -> Vec<Chosen<'s>> {
    let mut all: Vec<(&System, &Record)> = Vec::new();
    for system in systems {
        let fitting = system.records.iter();
        let fitting = fitting.filter(|record| bucket.contains(&record.targets.len()));
        all.extend(fitting.map(|record| (system, record)));
    }
    let step = all.len().div_ceil(MOST).max(1);
    let chosen = all.into_iter().step_by(step);
    chosen
        .map(|(system, record)| Chosen {
            system,
            record,
            infeasible: infeasible(system, record),
        })
        .collect()
}

/// What is recorded as infeasible, or proven to be.
fn infeasible(system: &System, record: &Record) -> Vec<usize> {
    let setting = setting(system);
    let read = record.targets.iter();
    let targets: Vec<Target> = read
        .map(|sql| Target::read(sql, "", "", &system.schema, DialectName::Ansi))
        .collect();
    let outcome = run(&targets, setting, &Config::default());
    let proven = outcome.fates.iter().enumerate();
    let proven = proven.filter(|(_, fate)| matches!(fate, Fate::Infeasible { .. }));
    let mut infeasible: Vec<usize> = proven.map(|(index, _)| index).collect();
    infeasible.extend(&record.infeasible);
    infeasible
}

fn setting(system: &System) -> Setting<'_> {
    Setting {
        constraints: false,
        ..Setting::new(&system.schema, DialectName::MySql.dialect())
    }
}

fn attempt(queries: &[Chosen<'_>], algorithm: Algorithm, seeds: u64, budget: u64) -> Cell {
    let mut cell = Cell::default();
    for Chosen {
        system,
        record,
        infeasible,
    } in queries
    {
        let setting = setting(system);
        let targets: Vec<Target> = record
            .targets
            .iter()
            .enumerate()
            .filter(|(index, _)| !infeasible.contains(index))
            .map(|(_, sql)| Target::read(sql, "", "", &system.schema, DialectName::Ansi))
            .collect();
        let mut complete = true;
        for seed in 1..=seeds {
            let config = Config {
                algorithm,
                seed,
                budget,
                together: false,
            };
            let started = Instant::now();
            let outcome = run(&targets, setting, &config);
            cell.times.push(started.elapsed());
            let open = outcome
                .fates
                .iter()
                .filter(|fate| !matches!(fate, Fate::Covered(_)))
                .count();
            cell.targets += targets.len();
            cell.covered += targets.len() - open;
            complete &= open == 0;
        }
        cell.complete += usize::from(complete);
    }
    cell
}
