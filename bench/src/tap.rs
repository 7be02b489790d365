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

/// Seconds of one measurement.
const SECONDS: &str = "3";
/// Measurements of each kind, of which the median counts.
const ROUNDS: usize = 5;
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
    println!("pgbench --select-only, transactions per second, median of {ROUNDS} × {SECONDS} s");
    println!(
        "{:>8} {:>9} {:>10} {:>10} {:>7}",
        "clients", "protocol", "direct", "tap", "cost"
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
        for _ in 0..ROUNDS {
            direct.push(throughput(&pgbench(&address, &options)?)?);
            let said = asking(&tap, || pgbench(&tapped, &options))?;
            through.push(throughput(&said)?);
        }
        let (direct, through) = (median(direct), median(through));
        let cost = 1.0 - through / direct;
        println!(
            "{clients:>8} {protocol:>9} {direct:>10.0} {through:>10.0} {:>6.1}%",
            cost * 100.0
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
