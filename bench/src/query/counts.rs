//! What was counted, for one system or all.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::collections::BTreeMap;
use std::time::Duration;

use isobath_rows::query::job::Cause;

/// What was counted, for one system or all.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) queries: usize,
    pub(super) complete: usize,
    pub(super) targets: usize,
    pub(super) covered: usize,
    pub(super) proven: usize,
    /// Proven, and recorded as infeasible.
    pub(super) agreed: usize,
    /// Covered, and recorded as infeasible.
    pub(super) surprising: usize,
    pub(super) recorded_infeasible: usize,
    pub(super) hard: usize,
    pub(super) hard_covered: usize,
    pub(super) fixtures: usize,
    pub(super) rows: usize,
    pub(super) evaluations: u64,
    /// Targets that an engine was asked about, and those on which it agreed.
    pub(super) asked: usize,
    /// Those that no earlier seed asked with the same rows.
    pub(super) asked_anew: usize,
    pub(super) confirmed: usize,
    pub(super) causes: BTreeMap<Cause, (usize, usize)>,
    pub(super) times: Vec<Duration>,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.queries += other.queries;
        self.complete += other.complete;
        self.targets += other.targets;
        self.covered += other.covered;
        self.proven += other.proven;
        self.agreed += other.agreed;
        self.surprising += other.surprising;
        self.recorded_infeasible += other.recorded_infeasible;
        self.hard += other.hard;
        self.hard_covered += other.hard_covered;
        self.fixtures += other.fixtures;
        self.rows += other.rows;
        self.evaluations += other.evaluations;
        self.asked += other.asked;
        self.asked_anew += other.asked_anew;
        self.confirmed += other.confirmed;
        for (cause, (proven, recorded)) in other.causes {
            let sum = self.causes.entry(cause).or_default();
            sum.0 += proven;
            sum.1 += recorded;
        }
        self.times.extend(other.times);
    }

    pub(super) fn head() {
        println!(
            "{:>4} {:<9} {:>7} {:>8} {:>7} {:>7} {:>6} {:>5} {:>9} {:>8} {:>9} {:>6} {:>8} {:>6} {:>11} {:>9} {:>9} {:>8}",
            "seed",
            "system",
            "queries",
            "complete",
            "targets",
            "covered",
            "proven",
            "open",
            "recorded",
            "hard",
            "confirmed",
            "anew",
            "fixtures",
            "rows",
            "evaluations",
            "median ms",
            "p99 ms",
            "total s"
        );
    }

    pub(super) fn print(&self, seed: u64, name: &str) {
        let total: Duration = self.times.iter().sum();
        println!(
            "{seed:>4} {name:<9} {:>7} {:>8} {:>7} {:>7} {:>6} {:>5} {:>9} {:>8} {:>9} {:>6} {:>8} {:>6} {:>11} {:>9.2} {:>9.1} {:>8.2}",
            self.queries,
            self.complete,
            self.targets,
            self.covered,
            self.proven,
            self.targets - self.covered - self.proven,
            format!("{}/{}", self.agreed, self.recorded_infeasible),
            format!("{}/{}", self.hard_covered, self.hard),
            format!("{}/{}", self.confirmed, self.asked),
            self.asked_anew,
            self.fixtures,
            self.rows,
            self.evaluations,
            quantile(&self.times, 0.5),
            quantile(&self.times, 0.99),
            total.as_secs_f64()
        );
    }

    /// Why targets are infeasible, and how many of them are recorded as such.
    pub(super) fn print_causes(&self) {
        println!("proven infeasible by cause (recorded as infeasible):");
        for (cause, (proven, recorded)) in &self.causes {
            println!("  {proven:>4} ({recorded:>2}) {cause}");
        }
        if self.surprising > 0 {
            println!("covered though recorded as infeasible: {}", self.surprising);
        }
    }
}

/// A quantile of times, in milliseconds.
pub(super) fn quantile(times: &[Duration], share: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    let index = ((times.len() as f64 - 1.0) * share).max(0.0) as usize;
    times
        .get(index)
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}
