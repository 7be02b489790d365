//! The paper's comparison: random, biased random and genetic search by number of targets.
//!
//! As there, constraints do not count, targets that are recorded or proven as infeasible are left
//! out, and a query is complete when all its targets are covered with every seed. The budget is in
//! evaluations, and each bucket is a sample, so that the table is made in minutes: the paper gave
//! each query half an hour.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::ops::RangeInclusive;
use std::time::Duration;

use isobath_rows::query::algorithm::{Algorithm, Config};
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::job::{TargetStatus, run};
use isobath_rows::query::target::QueryTarget;
use isobath_sql::DialectName;

use super::counts::quantile;
use super::data::{Record, System};
use crate::cpu;

/// How many evaluations a target may cost.
const BUDGET: u64 = 500;

/// How many queries of each bucket are tried: fewer where one takes longer.
fn most(bucket: &RangeInclusive<usize>) -> usize {
    match bucket.start() {
        0..=10 => 20,
        11..=20 => 10,
        _ => 6,
    }
}

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

/// One line per bucket, three columns per algorithm; whether the order is the paper's.
pub(super) fn table(systems: &[System], seeds: u64, budget: Option<u64>) -> bool {
    let budget = budget.unwrap_or(BUDGET);
    let order = [
        Algorithm::Random,
        Algorithm::Biased,
        Algorithm::Ga,
        Algorithm::Default,
    ];
    println!(
        "{seeds} seeds, {budget} evaluations per target, a sample of each bucket's queries: queries complete with every seed, targets covered, median CPU ms per query"
    );
    print!("{:>7} {:>7} {:>7}", "targets", "queries", "of");
    for algorithm in order {
        print!(" | {:>8} {:>7} {:>8}", algorithm.as_str(), "targets", "ms");
    }
    println!();
    let mut sums: Vec<Cell> = order.iter().map(|_| Cell::default()).collect();
    let (mut tried, mut there) = (0, 0);
    let mut as_in_paper = true;
    for bucket in &BUCKETS {
        let (queries, of) = sample(systems, bucket);
        tried += queries.len();
        there += of;
        let name = if *bucket.end() == usize::MAX {
            format!("{}+", bucket.start())
        } else {
            format!("{}-{}", bucket.start(), bucket.end())
        };
        print!("{name:>7} {:>7} {of:>7}", queries.len());
        let mut before = 0;
        for (algorithm, sum) in order.iter().zip(&mut sums) {
            let cell = attempt(&queries, *algorithm, seeds, budget);
            print_cell(&cell, queries.len());
            as_in_paper &= cell.covered >= before;
            before = cell.covered;
            sum.complete += cell.complete;
            sum.covered += cell.covered;
            sum.targets += cell.targets;
            sum.times.extend(cell.times);
        }
        println!();
    }
    print!("{:>7} {tried:>7} {there:>7}", "all");
    for sum in &sums {
        print_cell(sum, tried);
    }
    println!();
    let mut pairs = sums.windows(2);
    as_in_paper && pairs.all(|pair| pair[0].complete < pair[1].complete)
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

/// Queries whose number of targets is in a bucket, spread over the systems, and how many there are.
fn sample<'s>(systems: &'s [System], bucket: &RangeInclusive<usize>) -> (Vec<Chosen<'s>>, usize) {
    let mut all: Vec<(&System, &Record)> = Vec::new();
    for system in systems {
        let fitting = system.records.iter();
        let fitting = fitting.filter(|record| bucket.contains(&record.targets.len()));
        all.extend(fitting.map(|record| (system, record)));
    }
    let there = all.len();
    let step = there.div_ceil(most(bucket)).max(1);
    let chosen = all.into_iter().step_by(step);
    let chosen = chosen
        .map(|(system, record)| Chosen {
            system,
            record,
            infeasible: infeasible(system, record),
        })
        .collect();
    (chosen, there)
}

/// What is recorded as infeasible, or proven to be.
fn infeasible(system: &System, record: &Record) -> Vec<usize> {
    let setting = setting(system);
    let read = record.targets.iter();
    let targets: Vec<QueryTarget> = read
        .map(|sql| QueryTarget::read(sql, "", "", &system.schema, DialectName::Ansi))
        .collect();
    let outcome = run(&targets, setting, &Config::default());
    let proven = outcome.statuses.iter().enumerate();
    let proven = proven.filter(|(_, fate)| matches!(fate, TargetStatus::Infeasible { .. }));
    let mut infeasible: Vec<usize> = proven.map(|(index, _)| index).collect();
    infeasible.extend(&record.infeasible);
    infeasible
}

fn setting(system: &System) -> SolverContext<'_> {
    SolverContext {
        constraints: false,
        ..SolverContext::new(&system.schema, DialectName::MySql.dialect())
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
        let targets: Vec<QueryTarget> = record
            .targets
            .iter()
            .enumerate()
            .filter(|(index, _)| !infeasible.contains(index))
            .map(|(_, sql)| QueryTarget::read(sql, "", "", &system.schema, DialectName::Ansi))
            .collect();
        let mut complete = true;
        for seed in 1..=seeds {
            let config = Config {
                algorithm,
                seed,
                budget,
                share_fixtures: false,
            };
            let started = cpu::spent();
            let outcome = run(&targets, setting, &config);
            cell.times.push(cpu::spent().saturating_sub(started));
            let open = outcome
                .statuses
                .iter()
                .filter(|fate| !matches!(fate, TargetStatus::Covered(_)))
                .count();
            cell.targets += targets.len();
            cell.covered += targets.len() - open;
            complete &= open == 0;
        }
        cell.complete += usize::from(complete);
    }
    cell
}
