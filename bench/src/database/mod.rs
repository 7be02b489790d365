//! What seeing the database is worth: distances of statements (H) and rows that tests bring (G), on ten seeds.
//!
//! What counts is there in every arm alike: statuses and shapes of answers, and branches where the code is seen. Targets
//! that an arm makes for itself (statements, rows) do not count.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod inside;
mod program;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use isobath_rest::seeding::SeedingConfig;

use crate::effect::{a12, chance, median};

pub(super) use crate::verdict::BenchError;

/// What each arm may use: its name, its choice, and the flags that say so.
const ARMS: [(&str, SeedingConfig, &[&str]); 3] = [
    (
        "base",
        arm(false, false),
        &["--no-rows", "--no-sql-distance"],
    ),
    ("H", arm(false, true), &["--no-rows"]),
    ("G+H", arm(true, true), &[]),
];

/// Differences that chance makes less often than this count.
const SIGNIFICANT: f64 = 0.05;

const fn arm(rows: bool, distance: bool) -> SeedingConfig {
    SeedingConfig {
        rows,
        distance,
        rules: false,
    }
}

/// Runs the arms on the services: in this process, and the example service by a program when that is named.
///
/// Fails when an arm loses significantly to one that sees less.
pub(crate) fn table(words: &[&str]) -> ExitCode {
    let program = words.first().filter(|word| word.parse::<u64>().is_err());
    let rest = &words[usize::from(program.is_some())..];
    let number = |at: usize, usual| {
        let word = rest.get(at).and_then(|word| word.parse().ok());
        word.unwrap_or(usual)
    };
    let (seeds, calls): (u64, u64) = (number(0, 10), number(1, 1_500));
    let wanted = |name: &str| {
        let names = rest.get(2..).unwrap_or_default();
        names.is_empty() || names.contains(&name)
    };
    println!(
        "targets covered, {calls} calls, {seeds} seeds; A12 and chance against the arms before"
    );
    println!(
        "{:<26} {:<5} {:>7} {:>9} {:>9} {:>8} {:>9} {:>9}",
        "service", "arm", "median", "least", "A12 base", "chance", "A12 H", "chance"
    );
    let mut lost = 0;
    for name in inside::SERVICES.into_iter().filter(|name| wanted(name)) {
        let arms = arms(seeds, &|arm, seed| {
            inside::covered(name, ARMS[arm].1, calls, seed)
        });
        match arms {
            Ok(arms) => lost += print(name, &arms),
            Err(error) => return crate::verdict::exit(Err(error)),
        }
    }
    if let Some(program) = program.filter(|_| wanted("marina")) {
        let arms = arms(seeds, &|arm, seed| {
            program::covered(Path::new(program), ARMS[arm].2, calls, seed)
        });
        match arms {
            Ok(arms) => lost += print("marina", &arms),
            Err(error) => return crate::verdict::exit(Err(error)),
        }
    }
    if lost > 0 {
        println!("MISSED: {lost} arms lose significantly to one that sees less");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The targets that a run covers.
pub(super) type Covered = BTreeSet<String>;

/// What each arm covers, seed by seed. Seeds in the outer loop, so that a machine that is busy is so for all.
fn arms(
    seeds: u64,
    covered: &dyn Fn(usize, u64) -> Result<Covered, BenchError>,
) -> Result<Vec<Vec<Covered>>, BenchError> {
    let mut arms = vec![Vec::new(); ARMS.len()];
    for seed in 1..=seeds {
        for (at, arm) in arms.iter_mut().enumerate() {
            arm.push(covered(at, seed)?);
        }
    }
    Ok(arms)
}

/// Prints the arms of a service, and says how many lose.
fn print(name: &str, arms: &[Vec<Covered>]) -> usize {
    let mut lost = 0;
    let counts = |at: usize| -> Vec<u64> { arms[at].iter().map(|of| of.len() as u64).collect() };
    for at in 0..arms.len() {
        let covered = counts(at);
        print!(
            "{name:<26} {:<5} {:>7} {:>9}",
            ARMS[at].0,
            median(&covered),
            covered.iter().min().copied().unwrap_or_default()
        );
        let before: Vec<Vec<u64>> = (0..at).map(counts).collect();
        for before in &before {
            let (effect, chance) = (a12(&covered, before), chance(&covered, before));
            print!(" {effect:>9.2} {chance:>8.4}");
        }
        println!();
        for (earlier, before) in before.iter().enumerate() {
            if a12(&covered, before) < 0.5 && chance(&covered, before) < SIGNIFICANT {
                lost += 1;
                losses(&arms[earlier], &arms[at]);
            }
        }
    }
    lost
}

/// Prints the targets that one arm covers on more seeds than a later one.
fn losses(earlier: &[Covered], later: &[Covered]) {
    let all: Covered = earlier.iter().flatten().cloned().collect();
    for target in all {
        let seeds = |arm: &[Covered]| arm.iter().filter(|of| of.contains(&target)).count();
        let (before, after) = (seeds(earlier), seeds(later));
        if after < before {
            println!("  on {after} seeds and not {before}: {target}");
        }
    }
}
