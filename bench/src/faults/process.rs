//! Processes that are killed or interrupted: the core, the service, the service with a driver in it.

use std::path::Path;

use isobath_exec::process::listening::processes_at;

use super::ground::{Ground, MARINA, Started, free_port, moment, signal, wait};
use super::{Plan, Trial};
use crate::verdict::BenchError;

/// A sample of a Python service.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/suts/python/papers");
/// Its document.
const DOCUMENT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/suts/jvm/papers/openapi.json"
);
/// The packages that they need, which `scripts/test` installs.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/test-tools/services");

/// Kills the core at some moment, and resumes its run.
pub(super) fn core_killed(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let mut run = Started::on_marina(plan, 600, seed, Ground::new()?, |_| {})?;
    run.until(moment(seed, MARINA))?;
    run.core.kill()?;
    run.core.wait()?;
    // Nobody is there to remove its temporary files.
    let mut left = run.ground.running(run.port);
    let mut problems = Vec::new();
    if run.ground.is_begun() {
        problems = run.ground.resume(plan.binary, &[])?;
        left.extend(run.ground.running(run.port));
    }
    Ok(Trial::Done(run.ground.outcome(1, problems, left)))
}

/// Interrupts the core at some moment; it writes what it has.
pub(super) fn core_interrupted(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let mut run = Started::on_marina(plan, 100_000, seed, Ground::new()?, |_| {})?;
    run.until(moment(seed, MARINA))?;
    let is_interrupted = signal("INT", run.core.id())?;
    let code = wait(&mut run.core)?;
    let problems = run.ground.judge(code, &[130]);
    let outcome = run
        .ground
        .outcome(is_interrupted.into(), problems, run.left());
    Ok(Trial::Done(outcome))
}

/// Kills the service at some moment; the run continues.
pub(super) fn service_killed(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let mut run = Started::on_marina(plan, 600, seed, Ground::new()?, |_| {})?;
    run.until(moment(seed, MARINA))?;
    let faults = kill_service(&run)?;
    let code = wait(&mut run.core)?;
    let problems = run.ground.judge(code, &[0, 1]);
    Ok(Trial::Done(run.ground.outcome(
        faults,
        problems,
        run.left(),
    )))
}

/// Kills a service that has a driver in it; it is started again, and so is the driver.
pub(super) fn driver_killed(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let packages = Path::new(PACKAGES);
    if !packages.join("bin/python").exists() {
        let why = "no Python services here, which scripts/test installs";
        return Ok(Trial::LeftOut(why.to_owned()));
    }
    let ground = Ground::new()?;
    let port = free_port()?;
    let mut command = ground.command(plan.binary)?;
    command
        .current_dir(PYTHON)
        .env("VIRTUAL_ENV", packages)
        .env_remove("PYTHONPATH")
        .args(["rest", DOCUMENT])
        .args(["--python", "fastapi_app:app", "--port", &port.to_string()])
        .args(["--budget", "400calls", "--no-run"])
        .args(["--seed", &seed.to_string(), "--out"])
        .arg(ground.out());
    let mut run = Started {
        core: command.spawn()?,
        ground,
        port,
    };
    run.until(moment(seed, MARINA / 2))?;
    let faults = kill_service(&run)?;
    let code = wait(&mut run.core)?;
    let problems = run.ground.judge(code, &[0, 1]);
    Ok(Trial::Done(run.ground.outcome(
        faults,
        problems,
        run.left(),
    )))
}

/// Kills whoever listens at the port of the service; how many there were.
fn kill_service(run: &Started) -> Result<usize, BenchError> {
    let mut killed = 0;
    for process in processes_at(run.port) {
        killed += usize::from(signal("KILL", process)?);
    }
    Ok(killed)
}
