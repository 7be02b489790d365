//! Calls per second: the bare HTTP library, our client in a bare loop, and the whole job.
//!
//! All call the same service, over one connection, in turns, in one run of this program.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(
    clippy::print_stderr,
    reason = "and what is wrong with its surroundings"
)]

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use isobath_exec::http::{Client, ClientConfig as HttpConfig, Request};
use isobath_rest::caller::Service;
use isobath_rest::job::{self, Config, Event};
use isobath_rest::openapi::{self, NoLoader};
use isobath_rest::supervisor::Supervisor;

use crate::cpu;

/// Calls of a bare loop, which is run before and after each job.
const CALLS: u64 = 5_000;
/// Calls of a job in one round; it first has to find its targets.
const JOB_CALLS: u64 = 15_000;
/// How long the service thinks before it answers.
const THINKING: Duration = Duration::from_micros(50);
/// Targets that the archive must hold for the measurement to count.
const TARGETS: usize = 2_000;
/// Resources of the API, with five operations each.
const RESOURCES: usize = 20;
/// Rounds, of which the median counts.
const ROUNDS: usize = 7;
/// The share of the bare loop that the job must reach.
const WANTED: f64 = 0.8;

/// What one job did.
struct Measured {
    rate: f64,
    /// CPU time of the calling thread for one call, in microseconds.
    micros: f64,
    targets: usize,
}

/// Prints calls per second and the shares of the bare loop; fails when the job is too slow.
pub(crate) fn table() -> ExitCode {
    let address = match serve() {
        Ok(address) => address,
        Err(error) => {
            eprintln!("no service can be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut rounds: Vec<[f64; 4]> = Vec::new();
    let mut cpu: Vec<[f64; 2]> = Vec::new();
    let mut targets = usize::MAX;
    for _ in 0..ROUNDS {
        // The machine is never as quick at one moment as at another; what stands next to each other compares.
        let measured = (
            hyper_loop(&address),
            client_loop(&address),
            whole_job(&address, 1),
            client_loop(&address),
            whole_job(&address, 4),
        );
        let (Some(bare), Some(before), Some(one), Some(after), Some(four)) = measured else {
            eprintln!("a call failed");
            return ExitCode::FAILURE;
        };
        let alone = (before.rate + after.rate) / 2.0;
        rounds.push([bare, alone, one.rate, four.rate]);
        cpu.push([before.micros.min(after.micros), one.micros]);
        targets = targets.min(one.targets);
    }
    let median = |of: &dyn Fn(&[f64; 4]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let names = [
        "hyper in a bare loop".to_owned(),
        "our client in a bare loop".to_owned(),
        format!("isobath rest, {targets} targets"),
        "isobath rest, 4 workers".to_owned(),
    ];
    println!(
        "calls/s, and share of our client; medians of {ROUNDS} rounds, service thinks {THINKING:?}"
    );
    for (at, name) in names.iter().enumerate() {
        let (rate, share) = (
            median(&|round| round[at]),
            median(&|round| round[at] / round[1]),
        );
        println!("{name:32} | {rate:8.0} | {:3.0} %", share * 100.0);
    }
    // What else the machine does only adds to it.
    let least = |at: usize| cpu.iter().map(|round| round[at]).fold(f64::MAX, f64::min);
    println!(
        "CPU of the calling thread per call: our client {:.1} µs, isobath rest {:.1} µs",
        least(0),
        least(1)
    );
    if median(&|round| round[2] / round[1]) < WANTED || targets < TARGETS {
        println!(
            "MISSED: {:.0} % with {TARGETS} targets is wanted",
            WANTED * 100.0
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// A service that costs as little as possible besides its thinking, so that the client shows.
fn serve() -> std::io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(address)
}

/// Answers each request on a connection after a while.
fn answer(mut stream: TcpStream) {
    const BODY: &str = r#"{"id":"a1","name":"here","count":3,"open":true,"tags":["x"]}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut buffer = vec![0; 1 << 16];
    let mut filled = 0;
    while let Ok(n) = stream.read(&mut buffer[filled..]) {
        filled += n;
        if n == 0 {
            return;
        }
        let Some(end) = end(&buffer[..filled]) else {
            if filled == buffer.len() {
                buffer.resize(filled * 2, 0);
            }
            continue;
        };
        if filled < end {
            if buffer.len() < end {
                buffer.resize(end, 0);
            }
            continue;
        }
        filled = 0;
        let started = Instant::now();
        while started.elapsed() < THINKING {
            std::hint::spin_loop();
        }
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Where a request ends, once its head is there.
pub(crate) fn end(seen: &[u8]) -> Option<usize> {
    let head = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let text = std::str::from_utf8(&seen[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    Some(head + 4 + length.unwrap_or(0))
}

fn per_second(started: Instant) -> f64 {
    CALLS as f64 / started.elapsed().as_secs_f64()
}

/// The HTTP library alone: no time-out, no bound, no classification.
fn hyper_loop(address: &str) -> Option<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .ok()?;
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let started = Instant::now();
        for _ in 0..CALLS {
            let request = hyper::Request::get("/things/1")
                .header("host", address)
                .body(Full::new(Bytes::new()))
                .ok()?;
            sender.ready().await.ok()?;
            let answer = sender.send_request(request).await.ok()?;
            answer.into_body().collect().await.ok()?;
        }
        Some(per_second(started))
    })
}

fn client_loop(address: &str) -> Option<Measured> {
    let mut client = Client::new(HttpConfig::default()).ok()?;
    let request = Request::get(format!("http://{address}/things/1"));
    let (started, spent) = (Instant::now(), cpu::spent());
    for _ in 0..CALLS {
        client.call(&request).response()?;
    }
    Some(Measured {
        rate: per_second(started),
        micros: micros_since(spent, CALLS),
        targets: 0,
    })
}

/// CPU time of this thread for each of so many calls.
fn micros_since(spent: Duration, calls: u64) -> f64 {
    cpu::spent().saturating_sub(spent).as_secs_f64() * 1e6 / calls as f64
}

/// The job as `isobath rest` runs it, with everything switched on.
fn whole_job(address: &str, workers: usize) -> Option<Measured> {
    let api = openapi::read(&document(), "openapi.yaml", &NoLoader).ok()?;
    let service = Arc::new(Service {
        api: Arc::new(api),
        base: format!("http://{address}"),
        sessions: Vec::new(),
        reset: None,
        supervisor: Supervisor::default(),
        feedback: None,
        database: None,
        mocks: None,
        first_looks: Default::default(),
    });
    let mut config = Config::single_worker(1, JOB_CALLS);
    config.workers = workers;
    config.search.in_flight = job::in_flight(workers);
    let client = |flag: &Arc<AtomicBool>| {
        Client::new(HttpConfig {
            interrupt: Some(Arc::clone(flag)),
            ..HttpConfig::default()
        })
    };
    let (started, spent) = (Instant::now(), cpu::spent());
    let outcome = job::run(&service, &client, &config, |_: &Event<'_>| {}).ok()?;
    Some(Measured {
        rate: outcome.calls as f64 / started.elapsed().as_secs_f64(),
        micros: micros_since(spent, outcome.calls),
        targets: outcome.targets,
    })
}

/// An API of average operations: paths with ids, a few query parameters, bodies with a dozen members.
fn document() -> String {
    let mut text = String::from(
        "openapi: 3.0.3\ninfo: {title: Bench, version: '1'}\ncomponents:\n  schemas:\n    Thing:\n      type: object\n      required: [name, count]\n      properties:\n        name: {type: string, minLength: 1, maxLength: 40}\n        count: {type: integer, minimum: 0, maximum: 1000}\n        price: {type: number, minimum: 0}\n        open: {type: boolean}\n        kind: {type: string, enum: [small, medium, large]}\n        since: {type: string, format: date-time}\n        code: {type: string, pattern: '^[A-Z]{3}-[0-9]{4}$'}\n        mail: {type: string, format: email}\n        note: {type: string, nullable: true}\n        tags: {type: array, items: {type: string}, maxItems: 5}\n        size: {type: object, properties: {width: {type: integer}, height: {type: integer}}}\n    Seen:\n      type: object\n      required: [id]\n      properties: {id: {type: string}, name: {type: string}, count: {type: integer}, open: {type: boolean}, tags: {type: array, items: {type: string}}}\npaths:\n",
    );
    let answers = "responses: {default: {description: it, content: {application/json: {schema: {$ref: '#/components/schemas/Seen'}}}}}";
    let body = "requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}";
    let id = "parameters: [{name: id, in: path, required: true, schema: {type: string}}]";
    let query = "parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}}, {name: sort, in: query, schema: {type: string, enum: [name, count]}}, {name: q, in: query, schema: {type: string}}]";
    for n in 0..RESOURCES {
        let _ = writeln!(
            text,
            "  /things{n}:\n    get:\n      {query}\n      {answers}\n    post:\n      {body}\n      {answers}\n  /things{n}/{{id}}:\n    get:\n      {id}\n      {answers}\n    put:\n      {id}\n      {body}\n      {answers}\n    delete:\n      {id}\n      {answers}"
        );
    }
    text
}
