//! Databases that are lost: a PostgreSQL server of our own that crashes or is killed, the connection between the tap and
//! the server, an SQLite file. Another database is beside each, and must stay as it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use isobath_exec::engine::Engine;
use isobath_exec::server::{self, Server, ServerError};
use isobath_exec::{Database, connect_writable};
use isobath_suts::wired::{LEDGER, ledger};

use super::ground::{
    Ground, PULSE, Started, free_port, moment, shared_memory, signal, unused_memory, wait,
};
use super::{Outcome, Plan, Trial};
use crate::verdict::BenchError;

/// The variable with the address of the database of the service.
const VARIABLE: &str = "LEDGER_DB";
/// Events of a run on the service.
const EVENTS: usize = 14;
/// How long a server may take to recover.
const RECOVERY: Duration = Duration::from_secs(60);
/// What is in the database that is nobody's business.
const OTHER: [&str; 3] = [
    "CREATE TABLE account (id INT PRIMARY KEY, email VARCHAR(100))",
    "INSERT INTO account VALUES (1, 'ada@example.org'), (2, 'ben@example.org')",
    "CREATE TABLE kept (what VARCHAR(100))",
];

/// This program as the service: accounts in the database that a variable names.
pub(crate) fn serve_ledger(port: &str) -> ExitCode {
    let (Ok(database), Ok(port)) = (std::env::var(VARIABLE), port.parse()) else {
        return ExitCode::from(2);
    };
    let _service = ledger(&database, port);
    loop {
        std::thread::park();
    }
}

fn open(address: &str) -> Result<Box<dyn Database>, BenchError> {
    let given = [address.to_owned()];
    Ok(connect_writable(address, &given)?)
}

/// A server with the database of the service and another one.
struct Cluster {
    server: Server,
    /// The database of the service.
    address: String,
    /// The other one.
    other: String,
    /// What was in the other one, and the names of all databases.
    before: Vec<String>,
    /// Shared memory that was there before the server.
    shared_memory: BTreeSet<PathBuf>,
    is_killed: bool,
}

impl Drop for Cluster {
    /// A server that was killed leaves its shared memory.
    fn drop(&mut self) {
        if self.is_killed {
            let left = unused_memory(&self.shared_memory);
            let is_of_server = |path: &&PathBuf| path.to_string_lossy().contains("/PostgreSQL.");
            for path in left.iter().filter(is_of_server) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Cluster {
    /// `None` where PostgreSQL is not installed.
    fn start() -> Result<Option<Self>, BenchError> {
        let shared_memory = shared_memory();
        let server = match server::start(Engine::Postgres) {
            Err(ServerError::NotInstalled { .. }) => return Ok(None),
            server => server?,
        };
        let (address, other) = (server.create_database()?, server.create_database()?);
        open(&address)?.execute_required(LEDGER)?;
        let mut database = open(&other)?;
        for statement in OTHER {
            database.execute_required(statement)?;
        }
        // Servers of ours do not wait for the disk, so that the last rows might not survive a crash.
        database.execute_required("CHECKPOINT")?;
        let mut cluster = Self {
            server,
            address,
            other,
            before: Vec::new(),
            shared_memory,
            is_killed: false,
        };
        cluster.before = cluster.others()?;
        Ok(Some(cluster))
    }

    /// What is in the other database, and the names of all databases.
    fn others(&self) -> Result<Vec<String>, BenchError> {
        let mut database = open(&self.other)?;
        let mut found = Vec::new();
        for query in [
            "SELECT md5(string_agg(a::text, ',' ORDER BY id)) FROM account a",
            "SELECT count(*)::text FROM kept",
            "SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'public'",
            "SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database",
        ] {
            found.push(format!("{:?}", database.query_required(query)?.rows));
        }
        Ok(found)
    }

    /// Whether something else than the database of the service changed.
    fn judge_others(&self) -> Result<Vec<String>, BenchError> {
        let is_same = self.others()? == self.before;
        Ok(match is_same {
            true => Vec::new(),
            false => vec!["another database changed".to_owned()],
        })
    }

    /// Waits until the server takes connections again.
    fn until_up(&self) -> Result<(), BenchError> {
        let started = Instant::now();
        loop {
            match open(&self.address) {
                Ok(_) => return Ok(()),
                Err(error) if started.elapsed() > RECOVERY => return Err(error),
                Err(_) => std::thread::sleep(PULSE),
            }
        }
    }

    /// A run on the service whose database this is.
    fn run(&self, plan: &Plan<'_>, seed: u64) -> Result<Started, BenchError> {
        start(plan, seed, &self.address, "")
    }

    /// The processes of the server that serve clients of a database.
    fn backends(&self) -> Vec<u32> {
        let name = self.address.rsplit('/').next().unwrap_or_default();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let serves = |number: &u32| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            let parent = parent(*number);
            line.starts_with("postgres: ")
                && line.contains(&format!(" {name} "))
                && parent == self.server.pid()
        };
        numbers.filter(serves).collect()
    }
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

fn not_installed() -> Trial {
    Trial::LeftOut("PostgreSQL is not installed".to_owned())
}

/// A run on the ledger, started with variables for the shell where the tap is not to set them.
fn start(
    plan: &Plan<'_>,
    seed: u64,
    address: &str,
    variables: &str,
) -> Result<Started, BenchError> {
    let ground = Ground::new()?;
    let port = free_port()?;
    let program = std::env::current_exe()?;
    let url = format!("http://127.0.0.1:{port}");
    let mut run = ground.command(plan.binary)?;
    run.args(["rest", &format!("{url}/openapi.json"), "--url", &url])
        .arg("--start")
        .arg(format!(
            "{variables} exec {} ledger {port}",
            program.display()
        ))
        .args(["--db", address])
        .args(["--budget", "600calls", "--no-run", "--timeout", "5"])
        .args(["--seed", &seed.to_string(), "--out", "out"]);
    // There is no connection to SQLite that leads through the tap.
    if variables.is_empty() {
        run.args(["--db-env", VARIABLE]);
    }
    Ok(Started {
        core: run.spawn()?,
        ground,
        port,
    })
}

/// Kills one process of the server that serves a client: the server ends all others, and recovers.
pub(super) fn crashed(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let Some(cluster) = Cluster::start()? else {
        return Ok(not_installed());
    };
    let mut run = cluster.run(plan, seed)?;
    run.until(moment(seed, EVENTS))?;
    let victim = fastrand::Rng::with_seed(seed).choice(cluster.backends());
    let faults = match victim {
        Some(victim) => signal("KILL", victim)?,
        None => false,
    };
    let code = wait(&mut run.core)?;
    let mut problems = run.ground.judge(code, &[0, 1, 3]);
    cluster.until_up()?;
    if code == Some(3) && run.ground.is_begun() {
        // The address has a password, which no file of a run holds.
        let given = ["--db", &cluster.address];
        problems.extend(run.ground.resume(plan.binary, &given)?);
    }
    problems.extend(cluster.judge_others()?);
    let outcome = run.ground.outcome(faults.into(), problems, run.left());
    Ok(Trial::Done(outcome))
}

/// Kills the server for good.
pub(super) fn killed(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let Some(mut cluster) = Cluster::start()? else {
        return Ok(not_installed());
    };
    let mut run = cluster.run(plan, seed)?;
    let goes_on = run.until(moment(seed, EVENTS))?;
    let faults = match cluster.server.pid() {
        Some(server) if goes_on => signal("KILL", server)?,
        _ => false,
    };
    cluster.is_killed = faults;
    let code = wait(&mut run.core)?;
    let wanted: &[i32] = if faults { &[0, 1, 3] } else { &[0, 1] };
    let problems = run.ground.judge_end(code, wanted);
    let outcome = run.ground.outcome(faults.into(), problems, run.left());
    Ok(Trial::Done(outcome))
}

/// Cuts the connections of the service behind the tap; the run continues.
pub(super) fn tap_cut(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let Some(cluster) = Cluster::start()? else {
        return Ok(not_installed());
    };
    let mut run = cluster.run(plan, seed)?;
    run.until(moment(seed, EVENTS))?;
    // Only the service sends statements with parameters.
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE query LIKE '%$1%' AND pid <> pg_backend_pid() AND datname <> current_database()";
    let cut = open(&cluster.other)?.query_required(cut)?.rows;
    let faults = usize::from(format!("{cut:?}").contains(['1', '2', '3', '4', '5']));
    let code = wait(&mut run.core)?;
    let mut problems = run.ground.judge(code, &[0, 1]);
    problems.extend(cluster.judge_others()?);
    Ok(Trial::Done(run.ground.outcome(
        faults,
        problems,
        run.left(),
    )))
}

/// Removes the file of the database.
pub(super) fn file_removed(plan: &Plan<'_>, seed: u64) -> Result<Trial, BenchError> {
    let folder = tempfile::tempdir()?;
    let [file, other] = ["store.db", "other.db"].map(|name| folder.path().join(name));
    let address = |file: &Path| format!("sqlite:{}", file.display());
    open(&address(&file))?.execute_required(LEDGER)?;
    let mut database = open(&address(&other))?;
    for statement in OTHER {
        database.execute_required(statement)?;
    }
    drop(database);
    let before = fs::read(&other)?;
    let file_address = address(&file);
    let mut run = start(
        plan,
        seed,
        &file_address,
        &format!("{VARIABLE}={file_address}"),
    )?;
    let goes_on = run.until(moment(seed, EVENTS))?;
    let faults = goes_on && fs::remove_file(&file).is_ok();
    let code = wait(&mut run.core)?;
    let mut problems = run.ground.judge(code, &[0, 1, 3]);
    if fs::read(&other)? != before {
        problems.push("another database changed".to_owned());
    }
    let mut left = run.left();
    let files = fs::read_dir(folder.path())?.flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let strange = names.filter(|name| !name.starts_with("store.db") && name != "other.db");
    left.extend(strange.map(|name| format!("file {name} beside the database")));
    let outcome: Outcome = run.ground.outcome(faults.into(), problems, left);
    Ok(Trial::Done(outcome))
}
