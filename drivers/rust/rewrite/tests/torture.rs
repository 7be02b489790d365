//! A crate of constructs behaves the same with and without instrumentation.

use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use isobath_protocol::{
    Command as ToDriver, CoverageMap, Event, ReachedTarget, TargetKind, TargetTable, VERSION,
    channel,
};
use isobath_rewrite::wrapper::{CrateReport, key};

struct Built {
    folder: tempfile::TempDir,
    plain: PathBuf,
    instrumented: PathBuf,
}

/// Both builds, made once.
fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let arguments = [
            "--crate-name",
            "torture",
            "--edition=2024",
            "src/main.rs",
            "-o",
        ];
        let plain = folder.path().join("plain");
        let mut command = Command::new(&rustc);
        check(command.args(arguments).arg(&plain));
        let instrumented = folder.path().join("instrumented");
        let mut command = Command::new(env!("CARGO_BIN_EXE_isobath-rustc"));
        command.env("ISOBATH_STATE", folder.path().join("state"));
        check(command.arg(&rustc).args(arguments).arg(&instrumented));
        Built {
            folder,
            plain,
            instrumented,
        }
    })
}

fn check(command: &mut Command) {
    let output = command
        .current_dir(torture())
        .output()
        .expect("it can be run");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn torture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture")
}

fn run(program: &Path, argument: &str) -> Output {
    let mut command = Command::new(program);
    command
        .arg(argument)
        .env_remove("ISOBATH_SOCKET")
        .env("RUST_BACKTRACE", "0");
    command.output().expect("it can be run")
}

#[test]
fn output_and_exit_code_are_the_same() {
    let built = built();
    for argument in ["", "panic"] {
        let (plain, instrumented) = (
            run(&built.plain, argument),
            run(&built.instrumented, argument),
        );
        assert_eq!(
            String::from_utf8_lossy(&plain.stdout),
            String::from_utf8_lossy(&instrumented.stdout)
        );
        assert_eq!(plain.status.code(), instrumented.status.code());
    }
    // Lines in messages are those of the source; columns are not.
    let lines = |output: Output| {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = text.lines().filter_map(|line| {
            line.split("src/main.rs:")
                .nth(1)?
                .split(':')
                .next()
                .map(str::to_owned)
        });
        lines.collect::<Vec<_>>()
    };
    let plain = lines(run(&built.plain, "panic"));
    assert_eq!(plain.len(), 2);
    assert_eq!(plain, lines(run(&built.instrumented, "panic")));
}

#[test]
fn exactly_the_planted_sites_are_left_out() {
    let built = built();
    let key = key("torture", &torture().join("src/main.rs"));
    let outcome = CrateReport::read(&built.folder.path().join("state"), &key).expect("a report");
    let source = std::fs::read_to_string(torture().join("src/main.rs")).expect("the source");
    let dropped: Vec<&str> = outcome
        .dropped
        .iter()
        .map(|site| {
            source
                .lines()
                .nth(site.line as usize - 1)
                .expect("a line")
                .trim()
        })
        .collect();
    assert_eq!(
        dropped,
        [
            "self.pos == self.advance()",
            "println!(\"{} {}\", Filter(\"f\".into()).contains(\"g\"), !&Flags(true));",
        ]
    );
    assert!(outcome.plain.is_none() && outcome.plain_files.is_empty());
    assert!(outcome.counts.share() > 0.9, "{:?}", outcome.counts);
}

#[test]
fn a_core_sees_targets_events_and_panics() {
    let built = built();
    let state = built.folder.path().join("state");
    let key = key("torture", &torture().join("src/main.rs"));
    let socket = built.folder.path().join("socket");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let mut child = Command::new(&built.instrumented)
        .arg("panic")
        .env("ISOBATH_SOCKET", &socket)
        .env("ISOBATH_TARGETS", state.join(format!("{key}.targets")))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it can be started");
    let (mut stream, table, map) = welcome(&listener, &built.folder.path().join("map"));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("it ends");
    child.wait().expect("it ends");
    let mut reached: Vec<ReachedTarget> = Vec::new();
    map.read(&mut reached);
    let target = |id: u32| {
        table
            .targets()
            .iter()
            .find(|t| t.id == id)
            .expect("in the table")
    };
    let covered = |text: &str, kind: TargetKind| {
        reached.iter().any(|r| {
            r.score == 1.0 && target(r.target).kind == kind && target(r.target).text.contains(text)
        })
    };
    assert!(covered("half >= 21", TargetKind::True) && covered("half >= 21", TargetKind::False));
    assert!(
        covered("map.get(key)?", TargetKind::Leave)
            && covered("map.get(key)?", TargetKind::Proceed)
    );
    assert!(covered("\"a\" | \"b\"", TargetKind::Arm));
    assert!(covered("v.unwrap()", TargetKind::Fault) && covered("empty[n + 2]", TargetKind::Fault));
    assert!(!covered("numbers.iter()", TargetKind::Fault));
    let near = reached.iter().find(|r| {
        target(r.target).kind == TargetKind::True
            && target(r.target).text == "head.eq_ignore_ascii_case(\"STOP\")"
    });
    assert!(near.is_some());
    let mut rest = rest.as_slice();
    let mut panics = Vec::new();
    while let Ok(event) = channel::receive::<Event>(&mut rest) {
        if let Event::Panicked {
            target,
            file,
            line,
            backtrace,
            ..
        } = event
        {
            assert!(target.is_some() && file == "src/main.rs" && !backtrace.is_empty());
            panics.push(line);
        }
    }
    assert_eq!(panics.len(), 2);
}

/// Greets a driver as the core does.
fn welcome(listener: &UnixListener, path: &Path) -> (UnixStream, TargetTable, CoverageMap) {
    let (mut stream, _) = listener.accept().expect("the driver connects");
    let mut table = TargetTable::new();
    let cells = loop {
        match channel::receive(&mut stream).expect("a greeting") {
            Event::Hello {
                version, language, ..
            } => {
                assert_eq!((version, language.as_str()), (VERSION, "rust"));
            }
            Event::Targets { targets } => table.extend(targets),
            Event::Ready { cells } => break cells,
            other => panic!("{other:?}"),
        }
    };
    let map = CoverageMap::create(path, cells).expect("a map");
    map.begin_candidate();
    let welcome = ToDriver::Welcome {
        version: VERSION,
        map: path.display().to_string(),
    };
    channel::send(&mut stream, &welcome).expect("the driver listens");
    (stream, table, map)
}

#[test]
fn a_core_that_does_not_listen_does_not_hold_the_service() {
    let built = built();
    let state = built.folder.path().join("state");
    let key = key("torture", &torture().join("src/main.rs"));
    let socket = built.folder.path().join("deaf");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let mut child = Command::new(&built.instrumented)
        .arg("panics")
        .env("ISOBATH_SOCKET", &socket)
        .env("ISOBATH_TARGETS", state.join(format!("{key}.targets")))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it can be started");
    let (_stream, _, _map) = welcome(&listener, &built.folder.path().join("deaf-map"));
    // Panics are told at once; the socket is full after some thousand of them.
    let (ended, wait) = std::sync::mpsc::channel();
    let pid = child.id();
    std::thread::spawn(move || ended.send(child.wait()));
    let Ok(status) = wait.recv_timeout(std::time::Duration::from_secs(60)) else {
        let _ = Command::new("kill")
            .args(["-KILL", &pid.to_string()])
            .status();
        panic!("the service waits for a core that does not listen");
    };
    assert!(status.expect("it was waited for").success());
}
