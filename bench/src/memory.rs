//! Memory of a run of the shape of a day: a document of 40 MB with 5,000 operations, and a service that answers by chance
//! and has many faults. Prints how the memory of the program grows with its calls.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::verdict::{self, BenchError, Thresholds};

/// Collections; each has four operations.
const COLLECTIONS: usize = 1_250;
/// The length of a document.
const DOCUMENT: usize = 40 << 20;
/// Root causes of server errors, in each operation.
const CAUSES: u64 = 10;
/// Properties of an item.
const PROPERTIES: usize = 12;
/// Files that grow while a run goes on, and those that it writes at its end.
const FILES: [&str; 4] = [
    "candidates.ndjson",
    "events.ndjson",
    "suite.json",
    "report.json",
];
/// What a run may take, in MB.
const MOST: u64 = 500;
/// Lines of the table.
const LINES: u64 = 10;

/// Runs the program on the shape and prints its memory.
pub(crate) fn table(program: &Path, calls: u64) -> ExitCode {
    verdict::exit(measure(program, calls))
}

fn measure(program: &Path, calls: u64) -> Result<bool, BenchError> {
    let folder = tempfile::tempdir()?;
    let document = document();
    println!(
        "a document of {} MB with {} operations, {calls} calls",
        document.len() >> 20,
        COLLECTIONS * 4
    );
    std::fs::write(folder.path().join("openapi.json"), document)?;
    let service = Service::start()?;
    let mut run = Command::new(program.canonicalize()?);
    run.current_dir(folder.path())
        .args(["rest", "openapi.json", "--url", &service.url, "--no-run"])
        .args(["--budget", &format!("{calls}calls"), "--seed", "1"])
        .args(["--out", "out"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut run = run.spawn()?;
    let watched = watch(&mut run, &service.calls, calls)?;
    let report = std::fs::read_to_string(folder.path().join("out/report.json"))?;
    let report: Value = serde_json::from_str(&report)?;
    println!(
        "exit code {:?}: {} calls, {} of {} targets covered, {} findings, {} tests",
        watched.code,
        report["calls"],
        report["covered"],
        report["targets"],
        report["faults"].as_array().map_or(0, Vec::len),
        report["tests"]
    );
    println!("peak: {} MB", watched.peak);
    for file in FILES {
        if let Ok(metadata) = std::fs::metadata(folder.path().join("out").join(file)) {
            println!("{file}: {} MB", metadata.len() >> 20);
        }
    }
    let mut thresholds = Thresholds::default();
    thresholds.check(
        matches!(watched.code, Some(0 | 1)),
        "the run ends as runs do",
    );
    thresholds.check(watched.peak < MOST, format!("less than {MOST} MB"));
    Ok(thresholds.print())
}

/// What was seen of a run.
struct Watched {
    code: Option<i32>,
    /// The most memory that it had at once, in MB.
    peak: u64,
}

/// Prints the memory of a run as it makes its calls.
fn watch(run: &mut Child, made: &AtomicU64, calls: u64) -> Result<Watched, BenchError> {
    println!("calls | resident MB");
    let (mut peak, mut next) = (0, 0);
    loop {
        let (resident, most) = memory(run.id());
        peak = peak.max(most);
        let now = made.load(Ordering::Relaxed);
        if now >= next {
            println!("{now} | {resident}");
            next = now + (calls / LINES).max(1);
        }
        if let Some(status) = run.try_wait()? {
            let code = status.code();
            return Ok(Watched { code, peak });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The memory of a process now and at most, in MB.
fn memory(process: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) >> 10
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// The document; descriptions make up most of it, as in large documents of others.
fn document() -> String {
    let about = "What this is for, when it fails, and what to do then. ";
    let about = about.repeat(DOCUMENT / (COLLECTIONS * 4) / about.len());
    let property = |n: usize| match n % 4 {
        0 => json!({ "type": "string", "maxLength": 20 + n }),
        1 => json!({ "type": "integer", "minimum": 0, "maximum": 1000 * n }),
        2 => json!({ "type": "boolean" }),
        _ => json!({ "type": "string", "enum": ["one", "two", "three", format!("four{n}")] }),
    };
    let properties: serde_json::Map<String, Value> = (0..PROPERTIES)
        .map(|n| (format!("property{n}"), property(n)))
        .collect();
    let mut paths = serde_json::Map::new();
    for n in 0..COLLECTIONS {
        let item = json!({ "type": "object", "required": ["property0"], "properties": properties });
        let content = json!({ "application/json": { "schema": item } });
        let operation = |id: &str, success: &str, body: bool, path: bool| {
            let responses = json!({
                success: { "description": "done", "content": content },
                "400": { "description": "invalid" },
                "404": { "description": "unknown" },
            });
            let mut parameters = vec![json!({
                "name": "view", "in": "query", "schema": { "type": "string", "enum": ["all", "some", "none"] },
            })];
            if path {
                parameters.push(json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }));
            }
            let mut operation = json!({
                "operationId": format!("{id}{n}"),
                "description": about,
                "parameters": parameters,
                "responses": responses,
            });
            if body && let Value::Object(members) = &mut operation {
                let body = json!({ "required": true, "content": content });
                members.insert("requestBody".to_owned(), body);
            }
            operation
        };
        let all = json!({ "get": operation("list", "200", false, false), "post": operation("create", "201", true, false) });
        let one = json!({ "get": operation("read", "200", false, true), "put": operation("change", "200", true, true) });
        paths.insert(format!("/collection{n}"), all);
        paths.insert(format!("/collection{n}/{{id}}"), one);
    }
    json!({ "openapi": "3.0.3", "info": { "title": "day", "version": "1" }, "paths": paths })
        .to_string()
}

/// A service that answers by chance, until the program ends.
struct Service {
    url: String,
    calls: Arc<AtomicU64>,
}

impl Service {
    fn start() -> Result<Self, BenchError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&calls);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                // A client that goes away is no reason to end.
                std::thread::spawn(move || serve(&client, &counted));
            }
        });
        Ok(Self { url, calls })
    }
}

fn serve(client: &TcpStream, calls: &AtomicU64) -> io::Result<()> {
    client.set_nodelay(true)?;
    let (mut reader, mut client) = (BufReader::new(client), client);
    loop {
        let (mut first, mut length, mut line) = (String::new(), 0, String::new());
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
        let call = calls.fetch_add(1, Ordering::Relaxed);
        client.write_all(answer(&first, call).as_bytes())?;
    }
}

/// An answer that depends on the number of the call, and the faults of an operation on its path.
fn answer(line: &str, call: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(call);
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next());
    let path = target.unwrap_or_default().split('?').next();
    let collection = path.unwrap_or_default().split('/').nth(1);
    let (status, body) = match rng.u8(..10) {
        0..5 if method == "POST" => (201, item(&mut rng)),
        0..5 => (200, item(&mut rng)),
        5 => (400, r#"{"error":"invalid"}"#.to_owned()),
        6 => (404, r#"{"error":"unknown"}"#.to_owned()),
        _ => {
            let cause = rng.u64(..CAUSES);
            let letters = |text: &str| -> String {
                let shifted = text.bytes().map(|byte| char::from(b'a' + byte % 26));
                shifted.collect()
            };
            let name = letters(&format!("{method}{}", collection.unwrap_or_default()));
            let error = format!("failure {} in {name}", letters(&format!("cause{cause}")));
            (500, json!({ "error": error }).to_string())
        }
    };
    format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn item(rng: &mut fastrand::Rng) -> String {
    json!({ "property0": "text", "property1": rng.u32(..1000), "property2": rng.bool() })
        .to_string()
}
