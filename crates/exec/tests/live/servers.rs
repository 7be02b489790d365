//! Servers of our own come up, and are gone afterwards in every case.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use isobath_exec::engine::{Engine, provision_at};
use isobath_exec::server::{Server, or_skip, shared, start};
use isobath_exec::{DatabaseError, connect};

const SERVERS: [Engine; 2] = [Engine::Postgres, Engine::MariaDb];
/// Says to `a_process_that_waits_to_be_killed` which server to start.
const ENGINE: &str = "ISOBATH_TEST_ENGINE_TO_HOLD";

/// Ends a process the hard way.
pub(crate) fn kill(pid: u32) {
    let status = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

fn is_alive(pid: u32) -> bool {
    Command::new("kill")
        .args(["-0", &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

#[test]
fn a_dropped_server_leaves_no_process_and_no_file() {
    for engine in SERVERS {
        let Some(server) = or_skip(&format!("a dropped server on {engine}"), start(engine)) else {
            continue;
        };
        let (pid, directory) = (server.pid().unwrap(), server.directory().to_owned());
        // An open connection must not keep it.
        let address = server.create_database().unwrap();
        let _open = connect(&address).unwrap();
        assert!(is_alive(pid) && directory.exists(), "{engine}");
        drop(server);
        assert!(!is_alive(pid), "{engine}");
        assert!(!directory.exists(), "{engine}");
    }
}

#[test]
fn the_server_of_a_killed_process_is_gone_too() {
    for engine in SERVERS {
        if or_skip(&format!("a killed process on {engine}"), shared(engine)).is_none() {
            continue;
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "servers::a_process_that_waits_to_be_killed",
                "--nocapture",
            ])
            .env(ENGINE, engine.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("holding ")?.1.to_owned()))
            .unwrap();
        let (pid, directory) = told.split_once(' ').unwrap();
        let (pid, directory): (u32, PathBuf) = (pid.parse().unwrap(), directory.into());
        assert!(is_alive(pid) && directory.exists(), "{engine}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(comes_true(|| !is_alive(pid)), "{engine} still runs");
        assert!(
            comes_true(|| !directory.exists()),
            "{} is still there",
            directory.display()
        );
    }
}

/// Not a test by itself: the process that the test above kills.
#[test]
fn a_process_that_waits_to_be_killed() {
    let Ok(engine) = std::env::var(ENGINE) else {
        return;
    };
    let server = start(engine.parse().unwrap()).unwrap();
    println!(
        "holding {} {}",
        server.pid().unwrap(),
        server.directory().display()
    );
    // Until our parent is gone, or for ever.
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Waits for what another process is about to do.
fn comes_true(condition: impl Fn() -> bool) -> bool {
    (0..3000).any(|_| {
        let yes = condition();
        if !yes {
            std::thread::sleep(Duration::from_millis(10));
        }
        yes
    })
}

#[test]
fn a_server_listens_on_loopback_only_and_keeps_its_files_to_itself() {
    for engine in SERVERS {
        let Some(server) = or_skip(
            &format!("privacy of the server on {engine}"),
            shared(engine),
        ) else {
            continue;
        };
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let data = std::fs::metadata(server.directory()).unwrap();
        assert_eq!(data.permissions().mode() & 0o777, 0o700, "{engine}");
        assert_ne!(data.uid(), 0, "{engine} must not run as root");
        assert!(!listens_beyond_loopback(server), "{engine}");
    }
}

/// Looks the port up in the kernel's table; without one there is nothing to look at.
fn listens_beyond_loopback(server: &Server) -> bool {
    let port = format!(":{:04X}", server.port());
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|table| {
        let table = std::fs::read_to_string(Path::new(table)).unwrap_or_default();
        table.lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let (local, state) = (
                fields.next().unwrap_or_default(),
                fields.nth(1).unwrap_or_default(),
            );
            state == "0A" && local.ends_with(&port) && local != format!("0100007F{port}")
        })
    })
}

#[test]
fn a_scratch_database_on_a_named_server_is_made_and_dropped() {
    for engine in SERVERS {
        let Some(server) = or_skip(&format!("scratch databases on {engine}"), shared(engine))
        else {
            continue;
        };
        let named = server.create_database().unwrap();
        let mut first = provision_at(engine, &named).unwrap();
        let mut second = provision_at(engine, &named).unwrap();
        assert_ne!(first.address(), second.address());
        for provisioned in [&mut first, &mut second] {
            provisioned
                .database()
                .execute_required("CREATE TABLE t (a INT)")
                .unwrap();
        }
        let address = first.address().to_owned();
        drop(first);
        let gone = connect(&address).err().unwrap();
        assert!(
            matches!(gone, DatabaseError::NoDatabase { .. }),
            "{engine}: {gone}"
        );
        assert!(connect(second.address()).is_ok(), "{engine}");
        let untouched = connect(&named).unwrap().execute("SELECT * FROM t").unwrap();
        assert!(
            !untouched.is_done(),
            "{engine}: the named database was written to"
        );
    }
}
