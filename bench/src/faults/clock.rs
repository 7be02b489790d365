//! The clock of the machine, as the run sees it: moved by a day, and stopped. libfaketime shows it another time.

use std::fs;
use std::path::PathBuf;

use super::ground::{Ground, MARINA, Started, moment, wait};
use super::{Plan, Trial};
use crate::verdict::BenchError;

/// Moves the clock to tomorrow.
pub(super) fn ahead(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    with_clock(plan, seed, "+1d")
}

/// Moves the clock to yesterday.
pub(super) fn back(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    with_clock(plan, seed, "-1d")
}

/// Stops the clock.
pub(super) fn stopped(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    with_clock(plan, seed, "2026-11-18 12:00:00")
}

fn with_clock(plan: &Plan<'_>, seed: u64, shown: &str) -> Result<Trial, BenchError> {
    let Some(library) = library() else {
        let why = "libfaketime is not installed (Debian: `apt install faketime`)";
        return Ok(Trial::LeftOut(why.to_owned()));
    };
    let ground = Ground::new()?;
    let clock = ground.path().join("clock");
    fs::write(&clock, "+0")?;
    let mut run = Started::on_marina(plan, 600, seed, ground, |command| {
        command
            .env("LD_PRELOAD", library)
            .env("FAKETIME_TIMESTAMP_FILE", &clock)
            .env("FAKETIME_NO_CACHE", "1")
            // What a system sets is the time of day; durations are measured by another clock.
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    })?;
    let goes_on = run.until(moment(seed, MARINA))?;
    fs::write(&clock, shown)?;
    let code = wait(&mut run.core)?;
    let problems = run.ground.judge(code, &[0, 1]);
    let outcome = run.ground.outcome(goes_on.into(), problems, run.left());
    Ok(Trial::Done(outcome))
}

fn library() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/local/lib", "/usr/lib64"];
    let machines = folders.iter().flat_map(|folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).chain([folder.into()])
    });
    let mut libraries = machines.map(|folder| folder.join("faketime/libfaketime.so.1"));
    libraries.find(|library| library.exists())
}
