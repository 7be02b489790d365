//! What a tap costs the throughput of a database: `pgbench` select-only, with it and without it in turns.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::error::Error;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isobath_exec::database::Address;
use isobath_exec::engine::Engine;
use isobath_exec::server;
use isobath_exec::tap::{Tap, environment};

use crate::cpu;

/// Seconds of one measurement.
const SECONDS: &str = "2";
/// Pairs of measurements, one right after the other, of whose ratios the median counts.
const ROUNDS: usize = 7;
/// The share of throughput that a tap may cost where all cores are busy.
const MOST: f64 = 0.10;
/// How often what was heard is asked for, as a run does between candidates.
const PULSE: Duration = Duration::from_millis(5);

/// Prints the throughput with and without a tap; fails when it costs too much.
pub(crate) fn table() -> ExitCode {
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("isobath-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<bool, Box<dyn Error>> {
    let server = server::start(Engine::Postgres)?;
    let address = server.create_database()?;
    let database = Address::parse(&address)?;
    let tap = Tap::open(&database, None)?;
    let tapped = environment::url(&database, tap.at()).ok_or("the database has no address")?;
    pgbench(&address, &["--initialize", "--quiet", "--scale=5"])?;
    println!(
        "pgbench --select-only on {} cores, transactions per second, medians of {ROUNDS} pairs of {SECONDS} s",
        std::thread::available_parallelism().map_or(0, usize::from)
    );
    println!(
        "{:>8} {:>9} {:>10} {:>10} {:>7} {:>15} {:>22}",
        "clients", "protocol", "direct", "tap", "cost", "from … to", "CPU µs per statement"
    );
    let mut is_cheap = true;
    for (clients, protocol) in [
        ("1", "simple"),
        ("1", "prepared"),
        ("8", "simple"),
        ("8", "prepared"),
    ] {
        let options = [
            "--select-only",
            "--no-vacuum",
            "--jobs=1",
            &format!("--client={clients}"),
            &format!("--protocol={protocol}"),
            &format!("--time={SECONDS}"),
        ];
        let (mut direct, mut through) = (Vec::new(), Vec::new());
        let (mut costs, mut micros) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let tapped = || -> Result<(f64, f64), Box<dyn Error>> {
                let before = (cpu::spent_by_all(), tap.counts().statements);
                let said = asking(&tap, || pgbench(&tapped, &options))?;
                let spent = cpu::spent_by_all() - before.0;
                let passed = tap.counts().statements - before.1;
                let micros = spent.as_secs_f64() * 1e6 / passed.max(1) as f64;
                Ok((throughput(&said)?, micros))
            };
            // Whoever comes first has no advantage of it.
            let (without, (with, spent)) = if round % 2 == 0 {
                let without = throughput(&pgbench(&address, &options)?)?;
                (without, tapped()?)
            } else {
                let with = tapped()?;
                (throughput(&pgbench(&address, &options)?)?, with)
            };
            direct.push(without);
            through.push(with);
            costs.push(1.0 - with / without);
            micros.push(spent);
        }
        costs.sort_by(f64::total_cmp);
        let cost = costs[ROUNDS / 2];
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        println!(
            "{clients:>8} {protocol:>9} {:>10.0} {:>10.0} {:>7} {:>15} {:>22.1}",
            median(direct),
            median(through),
            percent(cost),
            format!("{} … {}", percent(costs[0]), percent(costs[ROUNDS - 1])),
            median(micros)
        );
        is_cheap &= clients == "1" || cost < MOST;
    }
    let counts = tap.counts();
    println!(
        "{} statements seen, {} messages not understood; it may cost {:.0} % where all cores are busy (8 clients)",
        counts.statements,
        counts.not_understood,
        MOST * 100.0
    );
    Ok(is_cheap && counts.not_understood == 0 && counts.statements > 0)
}

/// Does something while what the tap hears is asked for, as in a run.
fn asking<T>(tap: &Tap, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                tap.begin_candidate();
                std::thread::sleep(PULSE);
                tap.statements();
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn pgbench(address: &str, options: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("pgbench")
        .args(options)
        .arg(address)
        .output()
        .map_err(|error| format!("pgbench does not start: {error}; install postgresql-contrib"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads `tps = 12345.6 (without initial connection time)`.
fn throughput(said: &str) -> Result<f64, Box<dyn Error>> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "));
    let number = line.and_then(|line| line.split(' ').next());
    Ok(number.ok_or("pgbench tells no throughput")?.parse()?)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
