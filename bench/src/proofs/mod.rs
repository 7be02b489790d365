//! Proofs, attacked: how many claims are made, and how many of them random rows refute on real databases.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod fuzzer;

use std::error::Error;
use std::process::ExitCode;

use isobath_exec::{Engine, provision};

use self::fuzzer::{ClaimKind, Plan, Refutation, Tally};

/// Prints claims made, attacked and refuted; succeeds when none is refuted.
pub(crate) fn table(options: &[&str]) -> ExitCode {
    crate::verdict::exit(run(options))
}

fn run(options: &[&str]) -> Result<bool, Box<dyn Error>> {
    let after = |flag: &str| {
        let at = options.iter().position(|option| *option == flag)?;
        options.get(at + 1).copied()
    };
    let number = |flag: &str, usual: u64| after(flag).map_or(Ok(usual), str::parse);
    let plan = Plan {
        seed: number("--seed", 1)?,
        rounds: number("--rounds", 100)?,
        queries: usize::try_from(number("--queries", 30)?)?,
        databases: usize::try_from(number("--databases", 40)?)?,
        report,
        progress,
    };
    let engines: Vec<Engine> = match after("--engine") {
        Some(name) => vec![name.parse()?],
        None => Engine::ALL.to_vec(),
    };
    let only = after("--only").unwrap_or("both");
    let mut refuted = 0;
    for engine in engines {
        let mut server = provision(engine)?;
        let mut tally = Tally::default();
        println!("{engine}: {} rounds from seed {}", plan.rounds, plan.seed);
        if only != "schemas" {
            fuzzer::queries(&plan, server.database(), &mut tally)?;
        }
        if only != "queries" {
            fuzzer::schemas(&plan, server.database(), &mut tally)?;
        }
        print(engine, &tally);
        refuted += tally.refutations.len();
    }
    println!("claims refuted: {refuted}");
    Ok(refuted == 0)
}

/// A line every few rounds, because a run takes minutes.
fn progress(round: u64, tally: &Tally) {
    if round % 5 == 4 {
        let attacked: u64 = tally.counts.values().map(|counts| counts.attacked).sum();
        let refuted = tally.refutations.len();
        println!(
            "  round {}: {attacked} claims attacked, {refuted} refuted",
            round + 1
        );
    }
}

/// A small reproduction of a false claim.
fn report(refuted: &Refutation) {
    println!(
        "refuted on {}: {}: {}",
        refuted.engine, refuted.kind, refuted.proof
    );
    for sql in &refuted.script {
        println!("    {sql};");
    }
}

fn print(engine: Engine, tally: &Tally) {
    println!("{engine}: {} rows tried", tally.rows);
    for kind in [
        ClaimKind::Infeasible,
        ClaimKind::EquivalentQuery,
        ClaimKind::Equivalent,
        ClaimKind::ChangesNothing,
    ] {
        let counts = tally.counts.get(&kind).copied().unwrap_or_default();
        println!(
            "  {kind:<16} {:>8} asked {:>8} claims made {:>8} attacked {:>6} undecided {:>4} refuted",
            counts.asked, counts.claims, counts.attacked, counts.undecided, counts.refuted
        );
    }
    for change in tally.undecided.iter().take(3) {
        println!("  undecided: {change}");
    }
    let refused: u64 = tally.refused.values().sum();
    let unread: u64 = tally.unread.values().sum();
    println!("  {unread} queries not read, {refused} times a target was refused by the engine");
}
