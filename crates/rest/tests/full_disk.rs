//! The disk of the database is full in the middle of a run: calls fail, the reason is shown, the
//! run continues.

mod support;

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use isobath_exec::engine::Engine;
use isobath_exec::server::{or_skip, shared};
use isobath_exec::{Database, connect_writable};
use isobath_rest::job::RunResult;
use isobath_rest::probe::ProbeConfig;
use isobath_suts::Running;
use isobath_suts::wired::ledger;
use tempfile::TempDir;

use support::{Place, Plan, Prepared};

/// A disk that holds little; gone when dropped.
struct Disk {
    folder: TempDir,
}

impl Disk {
    /// `None` where this user may not mount anything, after saying so.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("room for a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m,mode=755", "isobath-test"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        // Past the capture of the test runner, as for servers that are not there.
        let why = "left out: a full disk, because nothing may be mounted here (it takes root)";
        let _ = writeln!(std::io::stderr(), "{why}");
        None
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mut unmount = Command::new("umount");
        // A server may still have a file open there.
        let _ = unmount.arg("-l").arg(self.path()).status();
    }
}

/// The table of the ledger on the disk, and its database.
fn on_disk(engine: Engine, disk: &Disk) -> Option<Place> {
    const COLUMNS: &str = "id INT PRIMARY KEY, email VARCHAR(100) NOT NULL, age INT NOT NULL";
    static NAMES: AtomicU64 = AtomicU64::new(0);
    if engine == Engine::Sqlite {
        let place = Place::sqlite(disk.path());
        return Some(place.with(&format!("CREATE TABLE account ({COLUMNS})")));
    }
    let server = or_skip(&format!("a full disk on {engine}"), shared(engine))?;
    let folder = disk.path().join("tables");
    std::fs::create_dir(&folder).expect("an empty disk");
    let process = format!("/proc/{}", server.pid().expect("it runs"));
    let owner = std::fs::metadata(process).expect("it runs");
    std::os::unix::fs::chown(&folder, Some(owner.uid()), Some(owner.gid())).expect("we are root");
    let place = Place::new(engine, "a full disk")?;
    let folder = folder.display();
    let tables = if engine == Engine::Postgres {
        let name = format!("tiny_{}", NAMES.fetch_add(1, Ordering::Relaxed));
        // It cannot be made together with anything else.
        let made = format!("CREATE TABLESPACE {name} LOCATION '{folder}'");
        place.open().execute_required(&made).expect("a tablespace");
        format!("CREATE TABLE account ({COLUMNS}) TABLESPACE {name}")
    } else {
        format!(
            "SET GLOBAL innodb_file_per_table = ON; CREATE TABLE account ({COLUMNS}) DATA DIRECTORY='{folder}'"
        )
    };
    Some(place.with(&tables))
}

/// Inserts rows until not even a short one fits.
fn fill(database: &mut dyn Database) {
    let mut next = 1_000_000;
    for width in [60, 1] {
        let mut rows = 1_000;
        while rows > 0 {
            let values: Vec<String> = (next..next + rows)
                .map(|id| format!("({id}, '{:x>width$}', 1)", ""))
                .collect();
            let insert = format!("INSERT INTO account VALUES {}", values.join(", "));
            // SQLite says that its disk is full as if the connection were lost.
            let is_done = database.execute(&insert).is_ok_and(|done| done.is_done());
            if is_done {
                next += rows;
            } else {
                rows /= 10;
            }
        }
    }
}

fn plan<'a>(service: &'a Running, document: &'a str) -> Plan<'a> {
    Plan {
        url: &service.url,
        document,
        users: &[],
        reset: None,
        calls: 600,
        seed: 1,
        probes: ProbeConfig::default(),
    }
}

/// Runs, and fills the disk when this much was told.
fn run_and_fill(prepared: Prepared, address: &str, when: usize) -> RunResult {
    let address = address.to_owned();
    let mut told = 0;
    prepared.run_telling(move |_| {
        told += 1;
        if told == when {
            let mut database = connect_writable(&address, std::slice::from_ref(&address));
            fill(database.as_mut().expect("a connection").as_mut());
        }
    })
}

fn run(mut place: Place) -> RunResult {
    let service = ledger(&place.at, 0);
    let document = service.openapi.to_string();
    let mut prepared = Prepared::new(&plan(&service, &document));
    let ear = place.ear(&service);
    prepared.service.feedback = Some(std::sync::Mutex::new(ear));
    run_and_fill(prepared, &place.address, 5)
}

fn full_disk_on(engine: Engine) {
    let Some(disk) = Disk::new() else { return };
    let Some(place) = on_disk(engine, &disk) else {
        return;
    };
    let outcome = run(place);
    assert!(outcome.lost.is_none(), "{engine}: {:?}", outcome.lost);
    assert!(!outcome.tests.is_empty(), "{engine}: results are kept");
    let faults = outcome.faults.iter();
    let faults: Vec<String> = faults.map(|(fault, _)| format!("{fault:?}")).collect();
    let words = ["No space left on device", "is full"];
    let is_said = |fault: &String| words.iter().any(|word| fault.contains(word));
    assert!(faults.iter().any(is_said), "{engine}: {faults:?}");
}

#[test]
fn a_full_disk_that_rows_cannot_be_put_back_on_ends_the_run_with_what_it_has() {
    let Some(disk) = Disk::new() else { return };
    let place = on_disk(Engine::Sqlite, &disk).expect("SQLite is built in");
    let service = ledger(&place.at, 0);
    let document = service.openapi.to_string();
    let prepared = Prepared::new(&plan(&service, &document)).with_rows(&place.address);
    let outcome = run_and_fill(prepared, &place.address, 60);
    let lost = outcome.lost.expect("no row can be put back");
    assert!(lost.why.contains("is full; check the disk"), "{}", lost.why);
    // All but those of the candidate that was running.
    assert!(outcome.calls >= 10, "{}", outcome.calls);
    // No test is handed over that could not be run again; what was found is told.
    assert!(
        outcome.covered > 10 && outcome.unverified > 0,
        "{} {}",
        outcome.covered,
        outcome.unverified
    );
}

#[test]
fn a_full_disk_fails_calls_and_not_the_run_on_sqlite() {
    full_disk_on(Engine::Sqlite);
}

#[test]
fn a_full_disk_fails_calls_and_not_the_run_on_postgresql() {
    full_disk_on(Engine::Postgres);
}

#[test]
fn a_full_disk_fails_calls_and_not_the_run_on_mariadb() {
    full_disk_on(Engine::MariaDb);
}
