//! What instrumentation costs the larger Rust services: sites, build CPU, latency, futures.
//!
//! Plain and instrumented take turns in everything that is timed, so that a busy machine is
//! busy for both. Each number is held against what the product promises.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

mod calls;
mod compiling;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use isobath_exec::driver::Listener;
use isobath_rewrite::build::InstrumentedBuild;

use crate::verdict::BenchError;
use crate::whitebox::{Service, sites};

/// How often each request is made of each program.
const REQUESTS: usize = 300;

/// What the product promises.
const LEAST_SHARE: f64 = 0.95;
const MOST_CPU: f64 = 1.3;
const MOST_LATENCY: f64 = 1.2;

/// Prints the numbers of the services of a workspace: those named, or all.
pub(crate) fn table(workspace: &Path, wrapper: &Path, names: &[&str]) -> ExitCode {
    let mut reached = true;
    for (name, prepare) in calls::SERVICES {
        if !names.is_empty() && !names.contains(name) {
            continue;
        }
        println!("\n== {name}");
        match measure(workspace, wrapper, name, *prepare) {
            Ok(good) => reached &= good,
            Err(error) => {
                eprintln!("isobath-bench: {name}: {error}");
                reached = false;
            }
        }
    }
    println!();
    crate::verdict::conclude(Ok(reached))
}

fn measure(
    workspace: &Path,
    wrapper: &Path,
    name: &str,
    prepare: calls::Prepare,
) -> Result<bool, BenchError> {
    let compiled = compiling::both(workspace, wrapper, name)?;
    sites(&compiled.instrumented);
    let share = compiled.instrumented.counts().share();
    let mut good = verdict("branch sites told", share, share > LEAST_SHARE);
    let cpu = compiled.instrumented_cpu / compiled.plain_cpu;
    println!(
        "build CPU of the service itself: plain {:.2} s, instrumented {:.2} s",
        compiled.plain_cpu, compiled.instrumented_cpu
    );
    good &= verdict("build CPU, ratio", cpu, cpu <= MOST_CPU);
    good &= futures(&compiled.plain, &compiled.instrumented)?;
    let (latency, cpu) = latency(&compiled.plain, &compiled.instrumented, prepare)?;
    // On a busy machine a request waits for others more than for the service; what the service itself takes of
    // the processor is then all that can be compared.
    if let Some(cpu) = cpu {
        println!("latency, ratio of the medians' sums: {latency:.3}");
        good &= verdict(
            "processor time of the service per request, ratio",
            cpu,
            cpu <= MOST_LATENCY,
        );
    } else {
        good &= verdict(
            "latency, ratio of the medians' sums",
            latency,
            latency <= MOST_LATENCY,
        );
    }
    Ok(good)
}

fn verdict(what: &str, number: f64, good: bool) -> bool {
    println!("{what}: {number:.3}{}", if good { "" } else { "  MISSED" });
    good
}

/// The sizes of futures that a program tells.
fn sizes(program: &Path) -> Result<String, BenchError> {
    let output = Command::new(program).arg("--future-sizes").output()?;
    Ok(String::from_utf8(output.stdout)?)
}

fn futures(plain: &Path, instrumented: &InstrumentedBuild) -> Result<bool, BenchError> {
    let (before, after) = (sizes(plain)?, sizes(&instrumented.executable)?);
    let total = |text: &str| -> usize {
        let sizes = text.lines().filter_map(|line| line.rsplit(' ').next());
        sizes.filter_map(|size| size.parse::<usize>().ok()).sum()
    };
    let count = before.lines().count();
    println!(
        "futures of {count} handlers: plain {} bytes, instrumented {} bytes",
        total(&before),
        total(&after)
    );
    for (old, new) in before
        .lines()
        .zip(after.lines())
        .filter(|(old, new)| old != new)
    {
        println!("  {old} becomes {new}");
    }
    let good = count > 0 && total(&after) <= total(&before);
    if !good {
        println!("  MISSED: futures must not grow");
    }
    Ok(good)
}

/// Median and tenth percentile, in microseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let at = |index: usize| times[index].as_secs_f64() * 1e6;
    (at(times.len() / 2), at(times.len() / 10))
}

/// Ratios of instrumented, watched by a core, to plain: of latency, and of processor time.
fn latency(
    plain: &Path,
    built: &InstrumentedBuild,
    prepare: calls::Prepare,
) -> Result<(f64, Option<f64>), BenchError> {
    let listener = Listener::open()?;
    let variables = listener.variables(Some(&built.targets));
    let mut watched = Service::start(&built.executable, &variables)?;
    let mut driver = listener.accept(Duration::from_secs(20))?;
    let mut unwatched = Service::start(&built.executable, &[])?;
    let mut plain = Service::start(plain, &[])?;
    // Identifiers and tokens differ from program to program.
    let of_plain = prepare(&mut plain)?;
    let of_unwatched = prepare(&mut unwatched)?;
    let of_watched = prepare(&mut watched)?;
    println!(
        "{:<52} {:>6} {:>8} {:>8} {:>8} {:>6} {:>6} {:>6}",
        "median, µs", "status", "plain", "no core", "core", "ratio", "p10", "CPU"
    );
    let mut sums = [0.0; 2];
    let mut used = [Some(Duration::ZERO); 2];
    for ((of_plain, of_unwatched), of_watched) in
        of_plain.iter().zip(&of_unwatched).zip(&of_watched)
    {
        let what = format!("{} {}", of_plain.method, of_plain.path);
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        let mut status = 0;
        let before = [plain.cpu(), watched.cpu()];
        for _ in 0..REQUESTS {
            let answer = plain.call(of_plain)?;
            status = answer.status;
            times[0].push(answer.time);
            times[1].push(unwatched.call(of_unwatched)?.time);
            driver.begin_candidate();
            let answer = watched.call(of_watched)?;
            if answer.status != status {
                return Err(format!(
                    "{what}: plain answers {status}, instrumented {}",
                    answer.status
                )
                .into());
            }
            times[2].push(answer.time);
            driver.events()?;
        }
        let after = [plain.cpu(), watched.cpu()];
        let spent = |at: usize| Some(after[at]?.saturating_sub(before[at]?));
        let spent = [spent(0), spent(1)];
        for (sum, spent) in used.iter_mut().zip(spent) {
            *sum = sum.zip(spent).map(|(sum, spent)| sum + spent);
        }
        let [a, b, c] = times.map(percentiles);
        sums[0] += a.0;
        sums[1] += c.0;
        println!(
            "{what:<52} {status:>6} {:>8.0} {:>8.0} {:>8.0} {:>6.2} {:>6.2} {:>6.2}",
            a.0,
            b.0,
            c.0,
            c.0 / a.0,
            c.1 / a.1,
            share(spent).unwrap_or(f64::NAN)
        );
    }
    let mut reached = Vec::new();
    driver.read(&mut reached);
    println!("targets reached by the last request: {}", reached.len());
    Ok((sums[1] / sums[0], share(used)))
}

/// The second in relation to the first.
fn share([first, second]: [Option<Duration>; 2]) -> Option<f64> {
    Some(second?.as_secs_f64() / first?.as_secs_f64().max(f64::MIN_POSITIVE))
}
