//! `isobath rest --instances`: one search on several copies of a service, each with its own port and database.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use isobath_exec::engine::Engine;
use isobath_exec::server::{or_skip, shared};
use isobath_exec::{Database, connect_writable};
use isobath_suts::wired::{LEDGER, ledger};
use serde_json::Value;

/// Where each life of the service writes down its process and its database; set for the service only.
const LIVES: &str = "ISOBATH_TEST_LIVES";
const INSTANCES: usize = 3;

/// Not a test of its own: this program as the service, in the processes that `--start` makes.
#[test]
fn the_service_itself() {
    let Ok(lives) = std::env::var(LIVES) else {
        return;
    };
    let port = std::env::var("PORT").expect("the port of the instance");
    let database = std::env::var("LEDGER_DB").expect("the variable that --db-env names");
    let life = format!("{port} {} {database}\n", std::process::id());
    let name = Path::new(&lives).join(std::process::id().to_string());
    std::fs::write(name, life).expect("a folder");
    let _service = ledger(&database, port.parse().expect("a port"));
    loop {
        std::thread::park();
    }
}

/// A test database with one row, and a place for the results of runs.
struct Setup {
    engine: Engine,
    address: String,
    port: u16,
    folder: tempfile::TempDir,
}

/// What a run printed and how it ended.
struct Run {
    code: i32,
    said: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n{}", self.code, self.said)
    }
}

impl Setup {
    fn new(engine: Engine) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let address = match engine {
            Engine::Sqlite => format!("sqlite:{}", folder.path().join("ledger.db").display()),
            engine => {
                let server = or_skip(&format!("instances on {engine}"), shared(engine))?;
                server.create_database().expect("a database")
            }
        };
        std::fs::create_dir(folder.path().join("tmp")).expect("an empty folder");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let setup = Self {
            engine,
            address,
            port: listener.local_addr().expect("it is bound").port(),
            folder,
        };
        let mut database = setup.connect();
        for sql in [LEDGER, "INSERT INTO account VALUES (1, 'a@b.example', 7)"] {
            database.execute_required(sql).expect("a new database");
        }
        Some(setup)
    }

    fn connect(&self) -> Box<dyn Database> {
        connect_writable(&self.address, std::slice::from_ref(&self.address)).expect("a connection")
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str, budget: &str) -> Command {
        let lives = self.out(name).join("lives");
        std::fs::create_dir_all(&lives).expect("a new folder");
        let program = std::env::current_exe().expect("this program");
        let start = format!(
            "{LIVES}={} exec {} --exact the_service_itself --nocapture",
            lives.display(),
            program.display()
        );
        let url = format!("http://127.0.0.1:{}", self.port);
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobath"));
        command
            .args(["rest", &format!("{url}/openapi.json"), "--url", &url])
            .args(["--start", &start, "--db", &self.address])
            .args(["--db-env", "LEDGER_DB", "--budget", budget, "--no-run"])
            .args(["--instances", &INSTANCES.to_string(), "--out"])
            .arg(self.out(name))
            .env("NO_COLOR", "1")
            .env("TMPDIR", self.out("tmp"))
            .env_remove("DATABASE_URL");
        if self.engine == Engine::Sqlite {
            command.env("LEDGER_DB", &self.address);
        }
        command
    }

    fn run(&self, name: &str, budget: &str) -> Run {
        let done = self.command(name, budget).output().expect("it starts");
        let (out, err) = (done.stdout, done.stderr);
        Run {
            code: done.status.code().unwrap_or(-1),
            said: String::from_utf8_lossy(&[out, err].concat()).into_owned(),
        }
    }

    /// Port, process and database of each life of the service.
    fn lives(&self, name: &str) -> Vec<[String; 3]> {
        let entries = std::fs::read_dir(self.out(name).join("lives")).expect("a folder");
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let text = std::fs::read_to_string(entry.expect("an entry").path()).ok()?;
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.try_into().ok()
        };
        entries.filter_map(read).collect()
    }

    /// The copies that are left.
    fn copies(&self) -> Vec<String> {
        let sql = match self.engine {
            Engine::Sqlite => {
                let left = std::fs::read_dir(self.out("tmp")).expect("a folder");
                let left = left.map(|entry| entry.expect("an entry").path());
                let is_copy = |path: &PathBuf| path.join("ledger.db").exists();
                return left
                    .filter(is_copy)
                    .map(|path| path.display().to_string())
                    .collect();
            }
            Engine::Postgres => "SELECT datname::text FROM pg_database",
            Engine::MariaDb => "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA",
        };
        let (_, name) = self.address.rsplit_once('/').expect("an address");
        let rows = self.connect().query_required(sql).expect("names").rows;
        let names = rows.iter().flatten().map(ToString::to_string);
        names
            .filter(|copy| copy.contains(&format!("{name}_isobath_")))
            .collect()
    }

    /// The rows of the database itself.
    fn rows(&self) -> String {
        let rows = self.connect().query_required("SELECT * FROM account");
        format!("{:?}", rows.expect("rows").rows)
    }

    fn events(&self, name: &str) -> String {
        std::fs::read_to_string(self.out(name).join("events.ndjson")).unwrap_or_default()
    }

    /// Waits until the search of a run has covered something.
    fn wait_for_search(&self, name: &str, child: &mut Child) {
        while !self.events(name).contains("\"covered\"") {
            let ended = child.try_wait().expect("our child");
            assert!(ended.is_none(), "it ended before: {ended:?}");
            std::thread::yield_now();
        }
    }
}

fn setups(engines: &[Engine]) -> impl Iterator<Item = Setup> {
    engines.iter().filter_map(|engine| Setup::new(*engine))
}

#[test]
fn instances_have_databases_of_their_own_and_write_the_same_suite_in_every_run() {
    for setup in setups(&Engine::ALL) {
        let rows = setup.rows();
        for name in ["first", "second"] {
            let run = setup.run(name, "450calls");
            let which = setup.engine;
            assert_eq!(run.code, 1, "{which}: {run}");
            assert!(!run.said.contains("warning: "), "{which}: {run}");
            let lives = setup.lives(name);
            assert_eq!(lives.len(), INSTANCES, "{which}: {run}");
            for what in 0..3 {
                let distinct: BTreeSet<_> = lives.iter().map(|life| &life[what]).collect();
                assert_eq!(distinct.len(), INSTANCES, "{which}: {lives:?}");
            }
            assert_eq!(setup.copies(), Vec::<String>::new(), "{which}");
            assert_eq!(setup.rows(), rows, "{which}");
        }
        let suite = |name: &str| {
            let folder = std::fs::read_dir(setup.out(name).join("pytest")).expect("a suite");
            let paths = folder.map(|entry| entry.expect("an entry").path());
            let mut files: Vec<_> = paths
                .map(|path| std::fs::read_to_string(path).expect("a text"))
                .map(|text| text.replace(&format!("/{name}/lives"), "/lives"))
                .collect();
            files.sort();
            files.join("\n")
        };
        let (first, second) = (suite("first"), suite("second"));
        assert!(first.contains("def test_"), "{first}");
        assert!(first == second, "{}: {first}\n{second}", setup.engine);
    }
}

#[test]
fn an_instance_that_is_killed_comes_back_and_costs_only_its_candidate() {
    for setup in setups(&[Engine::Sqlite]) {
        let mut command = setup.command("out", "1500calls");
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        setup.wait_for_search("out", &mut child);
        let port = setup.port.to_string();
        let lives = setup.lives("out");
        let mut others = lives.iter().filter(|life| life[0] != port);
        let [port, process, _] = others.next().expect("a second instance");
        let killed = Command::new("kill").args(["-9", process]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(1));
        let lives = setup.lives("out");
        let again = lives.iter().filter(|life| life[0] == *port).count();
        assert_eq!((again, lives.len()), (2, INSTANCES + 1), "{lives:?}");
        let events = setup.events("out");
        let events = events
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let events: Vec<Value> = events.collect();
        let crashes = events.iter().filter(|event| event["event"] == "service");
        let crashes: Vec<_> = crashes.collect();
        assert_eq!(crashes.len(), 1, "{crashes:?}");
        assert_eq!(crashes[0]["up"], true, "{crashes:?}");
        let end = events.last().expect("an end");
        assert!(end["calls"].as_u64() >= Some(1_400), "{end}");
    }
}

#[test]
fn copies_are_dropped_when_the_run_is_interrupted_or_does_not_start() {
    for setup in setups(&[Engine::Postgres]) {
        let mut command = setup.command("out", "60s");
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        setup.wait_for_search("out", &mut child);
        assert_eq!(setup.copies().len(), INSTANCES - 1);
        let process = child.id().to_string();
        let told = Command::new("kill").args(["-INT", &process]).status();
        assert!(told.is_ok_and(|status| status.success()));
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        assert_eq!(setup.copies(), Vec::<String>::new());
        // Somebody is at the port of the first instance.
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, setup.port));
        let run = setup.run("other", "10calls");
        assert_eq!(run.code, 3, "{run}");
        assert_eq!(setup.copies(), Vec::<String>::new());
    }
}

#[test]
fn a_database_that_others_use_is_not_copied_and_flags_without_sense_are_refused() {
    for setup in setups(&[Engine::Postgres]) {
        let _other = setup.connect();
        let run = setup.run("out", "10calls");
        assert_eq!(run.code, 3, "{run}");
        assert!(run.said.contains("others are connected to it"), "{run}");
    }
    let run = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(["rest", "openapi.yaml", "--url", "http://localhost:1"])
        .args(["--instances", "2"])
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(
        said.contains("requires --start, --rust, --jvm or --python"),
        "{said}"
    );
}
