//! Campaigns: how calls per second grow with workers, what a queue on NATS takes, and what is left when processes die.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use isobath_queue::{Job, NatsServer as ServerAddress, QueueError, connect};
use isobath_suts::nats::NatsServer;
use isobath_suts::waiting::{Waiting, waiting};
use serde_json::Value;

#[path = "../../tests/e2e/campaign/faults.rs"]
mod faults;
pub(crate) mod simulation;

/// How long a service takes for a call.
const CALL: Duration = Duration::from_millis(20);
/// Services, each with one job.
const SERVICES: usize = 8;

/// The least share of linear growth.
const LINEAR: f64 = 0.9;

/// Prints calls per second with 1, 2, 4 and 8 workers, over services that wait rather than compute; fails when they grow
/// too little.
#[expect(clippy::print_stdout, reason = "a bench prints its table")]
pub(crate) fn scaling(binary: &Path, calls: u64, by_nats: bool) -> ExitCode {
    println!(
        "{SERVICES} services of {} ms a call, {calls} calls each, workers {}",
        CALL.as_millis(),
        if by_nats {
            "over NATS"
        } else {
            "in one process"
        }
    );
    let server = by_nats.then(|| NatsServer::start().expect("a nats-server"));
    println!("| Workers | Calls | Seconds | Calls per second | Of linear |");
    println!("| --- | --- | --- | --- | --- |");
    // The program runs elsewhere.
    let binary = &binary.canonicalize().expect("a program");
    let (mut alone, mut is_linear) = (None, true);
    for workers in [1, 2, 4, 8] {
        let services: Vec<Waiting> = (0..SERVICES).map(|_| waiting(CALL)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let jobs = services.iter().enumerate().map(|(number, service)| {
            let url = &service.running.url;
            format!(
                "[[job]]\nname = 'service-{number}'\n[job.rest]\nspec = '{url}/openapi.json'\nbudget = '{calls}calls'\nno-run = true\n"
            )
        });
        let file = folder.path().join("campaign.toml");
        std::fs::write(&file, jobs.collect::<String>()).expect("a file");
        let url = server.as_ref().map(NatsServer::url);
        let mut processes = Vec::new();
        if let Some(url) = &url {
            processes.extend((0..workers).map(|_| {
                let mut command = Command::new(binary);
                let command = command.args(["worker", "--quiet", "--nats", url]);
                let command = command.current_dir(folder.path()).stdin(Stdio::null());
                command.spawn().expect("the program runs")
            }));
        }
        let number = workers.to_string();
        let by = match &url {
            Some(url) => ["--nats", url.as_str()],
            None => ["--workers", number.as_str()],
        };
        let started = Instant::now();
        let status = Command::new(binary)
            .args(["campaign", "campaign.toml", "--quiet"])
            .args(by)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .status()
            .expect("the program runs");
        for mut process in processes {
            let _ = process.kill();
            let _ = process.wait();
        }
        let seconds = started.elapsed().as_secs_f64();
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
        let made: u64 = services.iter().map(Waiting::calls).sum();
        let rate = made as f64 / seconds;
        let share = rate / (*alone.get_or_insert(rate) * workers as f64);
        let verdict = if share < LINEAR { " MISSED" } else { "" };
        is_linear &= share >= LINEAR;
        println!(
            "| {workers} | {made} | {seconds:.1} | {rate:.0} | {:.0} %{verdict} |",
            100.0 * share
        );
    }
    if is_linear {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How many times as fast islands must be.
const ISLANDS_LEAST: f64 = 6.0;
const ISLANDS: usize = 8;

/// Prints how long one search takes for what it covers, and how long eight islands take for as much; the service waits
/// rather than computes. Fails when the median of the seeds is too slow.
#[expect(clippy::print_stdout, reason = "a bench prints its table")]
pub(crate) fn islands(binary: &Path, seconds: u64, seeds: u64) -> ExitCode {
    let binary = &binary.canonicalize().expect("a program");
    println!(
        "a service of {} ms a call, {seconds} s alone, {ISLANDS} islands",
        CALL.as_millis()
    );
    println!(
        "| Seed | Covered alone | After, s | By all islands after, s | By one of them after, s | Times as fast |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let mut factors = Vec::new();
    for seed in 1..=seeds {
        let folder = tempfile::tempdir().expect("a folder");
        let service = waiting(CALL);
        let url = &service.running.url;
        let (alone, nobody) = (folder.path().join("alone"), folder.path().join("nobody"));
        std::fs::create_dir(&nobody).expect("a folder");
        let status = Command::new(binary)
            .args([
                "rest",
                &format!("{url}/openapi.json"),
                "--quiet",
                "--exchange",
            ])
            .arg(&nobody)
            .args([
                "--budget",
                &format!("{seconds}s"),
                "--seed",
                &seed.to_string(),
            ])
            .arg("--out")
            .arg(&alone)
            .stdout(Stdio::null())
            .status()
            .expect("the program runs");
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
        let alone = covered(&alone);
        let (wanted, last) = (alone.len(), alone.values().copied().fold(0.0, f64::max));
        let text = format!(
            "[[job]]\nname = 'all'\nislands = {ISLANDS}\n[job.rest]\nspec = '{url}/openapi.json'\nbudget = '{}s'\nseed = {}\nno-run = true\n",
            seconds / 3,
            1_000 * seed
        );
        std::fs::write(folder.path().join("campaign.toml"), text).expect("a file");
        let status = Command::new(binary)
            .args(["campaign", "--quiet", "--out", "out", "--workers"])
            .arg(ISLANDS.to_string())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .status()
            .expect("the program runs");
        assert!(matches!(status.code(), Some(0 | 1)), "{status}");
        let each: Vec<BTreeMap<String, f64>> = (1..=ISLANDS)
            .map(|number| covered(&folder.path().join(format!("out/all-{number}"))))
            .collect();
        let mut together: BTreeMap<String, f64> = BTreeMap::new();
        for (target, time) in each.iter().flatten() {
            let first = together.entry(target.clone()).or_insert(*time);
            *first = first.min(*time);
        }
        let one = each.iter().map(|island| reached(island, wanted));
        let one = one.fold(f64::INFINITY, f64::min);
        let together = reached(&together, wanted);
        let factor = last / together;
        println!("| {seed} | {wanted} | {last:.0} | {together:.1} | {one:.1} | {factor:.1} |");
        factors.push(factor);
    }
    factors.sort_by(f64::total_cmp);
    let median = factors[factors.len() / 2];
    println!("median: {median:.1} times as fast (wanted: {ISLANDS_LEAST})");
    if median >= ISLANDS_LEAST {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The targets that a run covered, with the seconds by which it had, as its events say.
fn covered(out: &Path) -> BTreeMap<String, f64> {
    let events = std::fs::read_to_string(out.join("events.ndjson")).expect("events");
    let (mut covered, mut fresh) = (BTreeMap::new(), Vec::new());
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        match event["event"].as_str() {
            Some("covered") => fresh.extend(event["target"].as_str().map(str::to_owned)),
            Some("progress" | "ended") => {
                let seconds = event["seconds"].as_f64().unwrap_or_default();
                covered.extend(fresh.drain(..).map(|target| (target, seconds)));
            }
            _ => {}
        }
    }
    covered
}

/// When so many targets were covered.
fn reached(covered: &BTreeMap<String, f64>, wanted: usize) -> f64 {
    let mut times: Vec<f64> = covered.values().copied().collect();
    times.sort_by(f64::total_cmp);
    let last = wanted.checked_sub(1).and_then(|last| times.get(last));
    last.copied().unwrap_or(f64::INFINITY)
}

/// Prints how many jobs a second go through a queue on a NATS server: submitted, taken, told of, finished, collected.
#[expect(clippy::print_stdout, reason = "a bench prints its table")]
pub(crate) fn queue(n_jobs: usize) -> ExitCode {
    let Some(server) = NatsServer::start() else {
        println!("there is no nats-server");
        return ExitCode::FAILURE;
    };
    println!("{n_jobs} jobs of 1 KB that do nothing, on one nats-server");
    println!("| Workers | Submitted per second | Finished per second | Store, bytes per job |");
    println!("| --- | --- | --- | --- |");
    for workers in [1, 4, 16] {
        if let Err(error) = measure(&server, workers, n_jobs) {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stdout, reason = "a bench prints its table")]
fn measure(server: &NatsServer, workers: usize, n_jobs: usize) -> Result<(), QueueError> {
    let address = ServerAddress {
        url: server.url(),
        ..ServerAddress::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let client = connect(&address)?;
    let id = format!("bench-{workers}");
    let campaign = client.campaign(&id, folder.path(), Duration::from_secs(30));
    let jobs: Vec<Job> = (0..n_jobs)
        .map(|number| Job {
            name: format!("job-{number}"),
            labels: BTreeSet::new(),
            text: "x".repeat(1_000),
        })
        .collect();
    let before = size(&server.store());
    let started = Instant::now();
    campaign.submit(&jobs, &[])?;
    let submitted = n_jobs as f64 / started.elapsed().as_secs_f64();
    let kept = size(&server.store()).saturating_sub(before) / n_jobs as u64;
    let started = Instant::now();
    let address = Arc::new(address);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|number| {
                let address = Arc::clone(&address);
                let scratch = folder.path().join(number.to_string());
                scope.spawn(move || -> Result<(), QueueError> {
                    let client = connect(&address)?;
                    let work = client.work(BTreeSet::new(), &scratch);
                    while let Some(delivery) = work.take(Duration::from_millis(500))? {
                        let folders = work.restore(&delivery)?;
                        work.keep(&delivery, "running", None)?;
                        work.finish(&delivery, "done", &folders)?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    while campaign.results()?.len() < n_jobs {
        thread::yield_now();
    }
    let finished = n_jobs as f64 / started.elapsed().as_secs_f64();
    println!("| {workers} | {submitted:.0} | {finished:.0} | {kept} |");
    campaign.clear()
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Kills workers, the command and the server at random moments, and prints the results.
#[expect(clippy::print_stdout, reason = "a bench prints what it found")]
pub(crate) fn kills(binary: &Path, kills: usize) -> ExitCode {
    let Some(mut server) = NatsServer::start() else {
        println!("there is no nats-server");
        return ExitCode::FAILURE;
    };
    let marina = ::marina::start(::marina::Faults::all()).expect("a free port");
    let document = format!("{}/openapi.yaml", marina.url());
    let mut left = kills;
    let mut seed = 1;
    // A campaign may end before all kills have happened.
    while left > 0 {
        let plan = faults::FaultPlan {
            binary,
            document: &document,
            kills: left,
            jobs: 20,
            calls: 4_000,
            workers: 3,
            seed,
        };
        let counts = faults::run(&plan, &mut server);
        let killed: usize = counts.killed.values().sum();
        println!(
            "seed {seed}: {killed} kills ({:?}), {} jobs: {} ended with results, {} after three deliveries without; exit code {}",
            counts.killed, plan.jobs, counts.ended, counts.given_up, counts.code
        );
        left -= killed.clamp(1, left);
        seed += 1;
    }
    ExitCode::SUCCESS
}
