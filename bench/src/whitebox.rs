//! What instrumentation costs a Rust service: sites, build time, latency.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use isobath_exec::driver::{Event, Listener};
use isobath_rewrite::build::{Build, InstrumentedBuild, build};

use crate::verdict::{self, BenchError};

const REQUESTS: usize = 400;

/// Builds the project plain and instrumented, calls the paths on both, and compares.
///
/// The service must take `--port`.
pub(crate) fn compare(folder: &Path, package: &str, wrapper: &Path, paths: &[&str]) -> ExitCode {
    verdict::exit(measure(folder, package, wrapper, paths).map(|()| true))
}

fn measure(folder: &Path, package: &str, wrapper: &Path, paths: &[&str]) -> Result<(), BenchError> {
    let plain = plain(folder, package)?;
    let built = build(
        &Build {
            folder: folder.to_path_buf(),
            package: Some(package.to_owned()),
            wrapper: wrapper.to_path_buf(),
            ..Build::default()
        },
        &mut |_| {},
    )?;
    sites(&built);
    let listener = Listener::open()?;
    let variables = listener.variables(Some(&built.targets));
    let mut instrumented = Service::start(&built.executable, &variables)?;
    let mut driver = listener.accept(Duration::from_secs(20))?;
    let mut unwatched = Service::start(&built.executable, &[])?;
    let mut plain = Service::start(&plain, &[])?;
    println!(
        "{:<32} {:>10} {:>12} {:>12} {:>7}",
        "p10, µs", "plain", "no core", "core", "ratio"
    );
    for path in paths {
        // In turns, so that a busy machine is busy for all.
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..REQUESTS {
            times[0].push(plain.get(path)?);
            times[1].push(unwatched.get(path)?);
            driver.begin_candidate();
            times[2].push(instrumented.get(path)?);
        }
        let [a, b, c] = times.map(|mut times| {
            times.sort();
            times[times.len() / 10].as_secs_f64() * 1e6
        });
        println!("{path:<32} {a:>10.0} {b:>12.0} {c:>12.0} {:>7.2}", c / a);
    }
    let mut reached = Vec::new();
    driver.read(&mut reached);
    println!("targets reached by the last request: {}", reached.len());
    let events = driver.events()?;
    println!("events of it: {}", events.len());
    let statements = events.iter().filter_map(|event| match event {
        Event::Statement { text, rows, .. } => Some((text, rows)),
        _ => None,
    });
    for (text, rows) in statements.take(5) {
        println!(
            "  {rows} rows: {}",
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
    Ok(())
}

/// Prints which branch sites are told, and which had to be left as they are.
pub(crate) fn sites(built: &InstrumentedBuild) {
    let counts = built.counts();
    println!("targets: {}", built.table.targets().len());
    println!(
        "branch sites told: {} ({:.1} %), dropped {}, in macros {}, in constants {}",
        counts.instrumented,
        counts.share() * 100.0,
        counts.dropped,
        counts.in_macros,
        counts.in_constants
    );
    for (name, outcome) in &built.crates {
        if let Some(reason) = &outcome.plain {
            println!("  {name} left as it is: {reason}");
        }
        for (file, reason) in &outcome.plain_files {
            println!("  {file} left as it is: {reason}");
        }
        for site in &outcome.dropped {
            println!("  dropped: {}:{} {}", site.file, site.line, site.shape);
        }
    }
}

fn plain(folder: &Path, package: &str) -> Result<PathBuf, BenchError> {
    let output = Command::new("cargo")
        .current_dir(folder)
        .args(["build", "--message-format=json", "--package", package])
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let program = messages
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back();
    program.ok_or_else(|| "the project has no binary".into())
}

/// A running service; dropping it ends it.
pub(crate) struct Service {
    child: Child,
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Service {
    /// Starts a program, which is told its port in both of the ways that services know.
    pub(crate) fn start(
        program: &Path,
        variables: &[(String, String)],
    ) -> Result<Self, BenchError> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let mut child = Command::new(program)
            .args(["--port", &port.to_string()])
            .env("PORT", port.to_string())
            .envs(variables.iter().cloned())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let started = Instant::now();
        loop {
            if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(10)))?;
                let reader = BufReader::new(stream.try_clone()?);
                return Ok(Self {
                    child,
                    stream,
                    reader,
                });
            }
            if started.elapsed() > Duration::from_secs(20) || child.try_wait()?.is_some() {
                let _ = child.kill();
                return Err(format!("{} does not come up", program.display()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The processor time that all its threads have used so far; nothing where the system does not tell.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let folder = format!("/proc/{}/task", self.child.id());
        let mut total = 0;
        for task in std::fs::read_dir(folder).ok()?.flatten() {
            let times = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            total += times.split(' ').next()?.parse::<u64>().ok()?;
        }
        Some(Duration::from_nanos(total))
    }

    fn get(&mut self, path: &str) -> Result<Duration, BenchError> {
        self.call(&Request::get(path)).map(|answer| answer.time)
    }

    /// Makes a request and waits for the whole response.
    pub(crate) fn call(&mut self, request: &Request) -> Result<Answer, BenchError> {
        let mut text = format!(
            "{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n",
            request.method,
            request.path,
            request.body.len()
        );
        for (name, value) in &request.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(&request.body);
        let start = Instant::now();
        self.stream.write_all(text.as_bytes())?;
        let mut status = None;
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if status.is_none() {
                status = line.split(' ').nth(1).map(str::parse).transpose()?;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        Ok(Answer {
            time: start.elapsed(),
            status: status.ok_or("the service closed the connection")?,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }
}

/// What is asked of a service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.into(),
            ..Self::default()
        }
    }
}

/// What it answers, and how long that took.
pub(crate) struct Answer {
    pub(crate) time: Duration,
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
