//! Several instances of a service: what the core costs per candidate, and how calls grow with instances.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::convert::Infallible;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use isobath_rest::job::in_flight;
use isobath_search::{AlgorithmKind, Budget, Search, SearchConfig, run_with_workers};
use isobath_suts::waiting::waiting_at;
use serde_json::Value;

use crate::cpu;
use crate::search::Touching;

const INSTANCES: [usize; 4] = [1, 2, 4, 8];
const TARGETS: usize = 20_000;
const EVALUATIONS: u64 = 100_000;
/// The most that a candidate may cost the core, in microseconds.
const MOST: f64 = 20.0;
/// How long the service takes for a call.
const CALL: Duration = Duration::from_millis(20);
/// Eight instances make at least so many times the calls of one.
const LEAST: f64 = 7.0;

/// Prints the time that the core takes for a candidate with instances that answer at once; fails when it is too much.
pub(crate) fn core() -> ExitCode {
    let mut is_cheap = true;
    println!("instances | targets | us/candidate, CPU of the core | us/candidate, wall");
    for instances in INSTANCES {
        let config = SearchConfig {
            seed: 1,
            algorithm: AlgorithmKind::Mio,
            in_flight: in_flight(instances),
            ..SearchConfig::default()
        };
        let limits = Budget::default().evaluations(EVALUATIONS);
        let problem = Touching { n_targets: TARGETS };
        let mut search = Search::new(problem, &config, limits);
        let workers = vec![|_: &u64| Ok::<_, Infallible>(()); instances];
        let (started, spent) = (Instant::now(), cpu::spent());
        let Ok(_) = run_with_workers(&mut search, workers);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / EVALUATIONS as f64;
        let cost = each(cpu::spent().saturating_sub(spent));
        let verdict = if cost < MOST { "" } else { "  MISSED" };
        is_cheap &= cost < MOST;
        let wall = each(started.elapsed());
        println!("{instances:9} | {TARGETS:7} | {cost:29.2} | {wall:.2}{verdict}");
    }
    if is_cheap {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Is the service that waits, at a port, until it is ended.
pub(crate) fn serve(port: &str) -> ExitCode {
    let Ok(port) = port.parse() else {
        return ExitCode::FAILURE;
    };
    let _service = waiting_at(CALL, port);
    loop {
        std::thread::park();
    }
}

/// Prints the calls of runs of so many seconds with 1, 2, 4 and 8 instances of a service that waits; fails when eight make too few.
pub(crate) fn calls(binary: &Path, seconds: u64) -> ExitCode {
    let own = std::env::current_exe().expect("this program");
    println!(
        "a service of {} ms a call, {seconds} s each",
        CALL.as_millis()
    );
    println!("instances | calls | calls/s | times those of one");
    let (mut alone, mut last) = (None, 0.0);
    for instances in INSTANCES {
        let folder = tempfile::tempdir().expect("a folder");
        let status = Command::new(binary)
            .args(["rest", "http://127.0.0.1:8500/openapi.json"])
            .args(["--url", "http://127.0.0.1:8500", "--start"])
            .arg(format!("exec {} instances serve {{port}}", own.display()))
            .args(["--instances", &instances.to_string(), "--no-run"])
            .args(["--budget", &format!("{seconds}s"), "--quiet", "--out"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .status()
            .expect("the program runs");
        let report = std::fs::read_to_string(folder.path().join("report.json"));
        let report = report.unwrap_or_else(|error| panic!("{status}: {error}"));
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let calls = report["calls"].as_f64().unwrap_or_default();
        let took = report["seconds"].as_f64().unwrap_or(seconds as f64);
        let rate = calls / took;
        last = rate / *alone.get_or_insert(rate);
        println!("{instances:9} | {calls:5} | {rate:7.0} | {last:.2}");
    }
    if last >= LEAST {
        ExitCode::SUCCESS
    } else {
        println!("MISSED: expected {LEAST} times the calls of one");
        ExitCode::FAILURE
    }
}
