//! What one evaluation costs on the way between a driver and the core.
//!
//! A thread plays the driver: it stores the scores, then answers. The map is the
//! product's way; HTTP with JSON, keep-alive, is the usual one.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::print_stderr, reason = "and why it could not run")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use isobath_protocol::{Command, CoverageMap, Event, ReachedTarget, channel};

const TARGETS: u32 = 20_000;
const ROUNDS: usize = 2_000;

/// Prints the cost for 200, 2,770 and 19,000 touched targets.
pub(crate) fn table() -> ExitCode {
    println!("one evaluation, {TARGETS} targets, µs (p10 / median of {ROUNDS})");
    println!(
        "{:>8}  {:>20} {:>20} {:>20}",
        "touched", "map: clear and read", "map and socket sync", "HTTP with JSON"
    );
    for touched in [200, 2_770, 19_000] {
        match (map(touched, false), map(touched, true), http(touched)) {
            (Ok(map), Ok(synced), Ok(http)) => {
                println!("{touched:>8}  {map:>20} {synced:>20} {http:>20}");
            }
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                eprintln!("isobath-bench: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// The targets that are touched, spread over all of them.
fn touched(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |n| (u64::from(n) * u64::from(TARGETS) / u64::from(count)) as u32)
}

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;
    format!("{:.1} / {:.1}", at(10), at(50))
}

/// Clearing and reading; with `sync` also asking the driver whether it is done.
fn map(count: u32, sync: bool) -> Result<String, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("map");
    let core = CoverageMap::create(&path, TARGETS)?;
    let driver = CoverageMap::open(&path)?;
    let (mut here, mut there) = UnixStream::pair()?;
    let answering = std::thread::spawn(move || {
        while let Ok(Command::Sync { token }) = channel::receive(&mut there) {
            if channel::send(&mut there, &Event::Synced { token }).is_err() {
                break;
            }
        }
    });
    let mut times = Vec::new();
    let mut reached: Vec<ReachedTarget> = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        core.begin_candidate();
        let clearing = start.elapsed();
        touched(count).for_each(|target| driver.record(target, 0.5));
        let start = Instant::now();
        if sync {
            channel::send(
                &mut here,
                &Command::Sync {
                    token: round as u64,
                },
            )?;
            channel::receive::<Event>(&mut here)?;
        }
        reached.clear();
        core.read(&mut reached);
        times.push(clearing + start.elapsed());
        assert_eq!(reached.len(), count as usize, "nothing may be lost");
    }
    drop(here);
    let _ = answering.join();
    Ok(quantiles(times))
}

/// One request that resets and one that fetches, as the usual drivers do.
fn http(count: u32) -> Result<String, Box<dyn std::error::Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let serving = std::thread::spawn(move || serve(&listener, count));
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut times = Vec::new();
    for _ in 0..ROUNDS / 10 {
        let start = Instant::now();
        for path in ["reset", "targets"] {
            write!(stream, "GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
            let body = message(&mut reader)?;
            if path == "targets" {
                let reached: serde_json::Value = serde_json::from_slice(&body)?;
                assert_eq!(reached.as_array().map(Vec::len), Some(count as usize));
            }
        }
        times.push(start.elapsed());
    }
    drop((stream, reader));
    let _ = serving.join();
    Ok(quantiles(times))
}

fn serve(listener: &TcpListener, count: u32) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        message(&mut reader)?;
        let body = if first.starts_with("GET /targets") {
            let reached: Vec<_> = touched(count)
                .map(|id| serde_json::json!({"id": id, "value": 0.5, "actionIndex": 0}))
                .collect();
            serde_json::to_vec(&reached)?
        } else {
            Vec::new()
        };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)?;
    }
}

/// The headers are skipped, the body is returned.
fn message(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}
