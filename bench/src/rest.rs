//! The whole of `isobath rest` in numbers: start-up and memory of the binary itself on real documents, speed of calls, cost of
//! the search. Fails when a number is missed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(
    clippy::print_stderr,
    reason = "and what is wrong with its surroundings"
)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{http, openapi, search};

/// The most memory, in MiB.
const MEMORY: f64 = 200.0;
/// The most time from the start of the program to its first call of an operation, in milliseconds.
const START: f64 = 200.0;
/// Starts, of which the fastest counts: whatever else the machine does only slows things down.
const STARTS: usize = 3;

/// All of it.
pub(crate) fn all(folder: &Path, binary: &Path) -> ExitCode {
    let documents = openapi::documents(folder);
    let parts = [
        openapi::table(&documents),
        starts(&documents, binary),
        http::table(),
        search::table(),
    ];
    crate::verdict::conclude(Ok(parts.iter().all(|part| *part == ExitCode::SUCCESS)))
}

/// What one run of the binary took.
struct Taken {
    millis: f64,
    mebibytes: f64,
}

/// Runs the binary on every document, against a service that answers everything alike.
pub(crate) fn starts(documents: &Path, binary: &Path) -> ExitCode {
    let Ok(entries) = std::fs::read_dir(documents) else {
        eprintln!("no folder {}", documents.display());
        return ExitCode::from(2);
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    println!("document | start to first request, ms | peak memory, MiB");
    let mut reached = true;
    for path in paths {
        let mut best: Option<Taken> = None;
        for _ in 0..STARTS {
            let Some(taken) = start(&path, binary) else {
                eprintln!("{} does not run on {}", binary.display(), path.display());
                return ExitCode::FAILURE;
            };
            best = Some(match best {
                None => taken,
                Some(best) => Taken {
                    millis: best.millis.min(taken.millis),
                    mebibytes: best.mebibytes.max(taken.mebibytes),
                },
            });
        }
        let Some(Taken { millis, mebibytes }) = best else {
            continue;
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let verdict = if millis < START && mebibytes < MEMORY {
            ""
        } else {
            reached = false;
            "  MISSED"
        };
        println!("{name:24} | {millis:6.1} | {mebibytes:6.1}{verdict}");
    }
    if reached {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One run of 3,000 calls; the memory is the most that the system saw it have.
fn start(document: &Path, binary: &Path) -> Option<Taken> {
    let arrivals = Arc::new(Mutex::new(Vec::new()));
    let address = serve(Arc::clone(&arrivals)).ok()?;
    let folder = tempfile::tempdir().ok()?;
    let started = Instant::now();
    let mut child = Command::new(binary)
        .arg("rest")
        .arg(document)
        .args(["--url", &format!("http://{address}"), "--quiet", "--no-run"])
        .args(["--budget", "3000calls", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let status = format!("/proc/{}/status", child.id());
    let mut kib = 0;
    while child.try_wait().ok()?.is_none() {
        kib = kib.max(peak(&status).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The first request asks only whether somebody is there.
    let arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
    let first: &Instant = arrivals.get(1)?;
    Some(Taken {
        millis: first.duration_since(started).as_secs_f64() * 1e3,
        mebibytes: kib as f64 / 1024.0,
    })
}

fn peak(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A service that notes when requests arrive, and answers all of them alike.
fn serve(arrivals: Arc<Mutex<Vec<Instant>>>) -> std::io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let arrivals = Arc::clone(&arrivals);
            std::thread::spawn(move || answer(stream, &arrivals));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, arrivals: &Mutex<Vec<Instant>>) {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n[{\"id\":1,\"name\":\"a\"}]";
    let _ = stream.set_nodelay(true);
    let mut seen = Vec::new();
    let mut piece = vec![0; 1 << 16];
    while let Ok(n) = stream.read(&mut piece) {
        if n == 0 {
            return;
        }
        seen.extend_from_slice(&piece[..n]);
        if http::end(&seen).is_none_or(|end| seen.len() < end) {
            continue;
        }
        seen.clear();
        let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        if arrivals.len() < 2 {
            arrivals.push(Instant::now());
        }
        drop(arrivals);
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}
