//! Calls per second: the bare HTTP client in a loop, our client, and our client under a search.
//!
//! All three call the same service, over one connection, in one run of this program.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(
    clippy::print_stderr,
    reason = "and what is wrong with its surroundings"
)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use isobath_exec::http::{Client, Config, Request};
use isobath_search::{
    Aim, Config as SearchConfig, Evaluation, Limits, Problem, Rng, Score, Search, TargetId, run,
};

/// Calls per measurement.
const CALLS: u64 = 20_000;
/// How long the service thinks before it answers.
const THINKING: Duration = Duration::from_micros(50);
/// Targets in the archive of the search.
const TARGETS: usize = 2_000;
/// Targets that one call touches.
const TOUCHED: usize = 20;
/// Rounds, of which the median counts.
const ROUNDS: usize = 5;

/// Prints calls per second and the shares of the bare loop.
pub(crate) fn table() -> ExitCode {
    let address = match serve() {
        Ok(address) => address,
        Err(error) => {
            eprintln!("no service can be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let url = format!("http://{address}/ping/1");
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let measured = [bare(&address), ours(&url), searching(&url)];
        for (rates, rate) in rates.iter_mut().zip(measured) {
            match rate {
                Some(rate) => rates.push(rate),
                None => {
                    eprintln!("a call failed");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    let median = |mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let [bare, ours, searching] = rates.map(median);
    println!("calls/s, median of {ROUNDS} rounds of {CALLS} calls, service thinks {THINKING:?}");
    println!("bare hyper loop, one connection    | {bare:8.0} | 100 %");
    println!(
        "exec::http                         | {ours:8.0} | {:3.0} %",
        ours / bare * 100.0
    );
    println!(
        "exec::http, MIO and {TARGETS} targets    | {searching:8.0} | {:3.0} %",
        searching / bare * 100.0
    );
    ExitCode::SUCCESS
}

/// A service that costs as little as possible besides its thinking, so that the client shows.
fn serve() -> std::io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                let mut filled = 0;
                while let Ok(n) = stream.read(&mut buffer[filled..]) {
                    filled += n;
                    if n == 0 || filled == buffer.len() {
                        return;
                    }
                    if buffer[..filled].ends_with(b"\r\n\r\n") {
                        filled = 0;
                        let started = Instant::now();
                        while started.elapsed() < THINKING {
                            std::hint::spin_loop();
                        }
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"id\":1}";
                        if stream.write_all(answer).is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    Ok(address)
}

fn per_second(started: Instant) -> f64 {
    CALLS as f64 / started.elapsed().as_secs_f64()
}

/// The HTTP library alone: no time-out, no bound, no classification.
fn bare(address: &str) -> Option<f64> {
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
            let request = hyper::Request::get("/ping/1")
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

fn ours(url: &str) -> Option<f64> {
    let mut client = Client::new(Config::default()).ok()?;
    let request = Request::get(url);
    let started = Instant::now();
    for _ in 0..CALLS {
        client.call(&request).response()?;
    }
    Some(per_second(started))
}

/// Candidates of one call, which touch some of many targets.
struct Calls {
    url: String,
}

impl Problem for Calls {
    type Candidate = (u64, Request);
    type Answer = u16;

    fn sample(&mut self, rng: &mut Rng) -> Self::Candidate {
        (rng.u64(..), Request::get(&self.url))
    }

    fn mutate(&mut self, rng: &mut Rng, parent: &Self::Candidate, _aim: &Aim) -> Self::Candidate {
        (rng.u64(..), parent.1.clone())
    }

    fn score(&mut self, candidate: &Self::Candidate, _status: u16) -> Evaluation {
        let mut rng = Rng::with_seed(candidate.0);
        let scores = (0..TOUCHED)
            .map(|_| Score::new(TargetId::from_index(rng.usize(..TARGETS)), rng.f64() * 0.99))
            .collect();
        Evaluation::new(scores, 1)
    }
}

fn searching(url: &str) -> Option<f64> {
    let mut client = Client::new(Config::default()).ok()?;
    let problem = Calls {
        url: url.to_owned(),
    };
    let limits = Limits::default().cost(CALLS);
    let mut search = Search::new(problem, &SearchConfig::default(), limits);
    let started = Instant::now();
    run(&mut search, |(_, request)| {
        client.call(request).status().ok_or(())
    })
    .ok()?;
    Some(per_second(started))
}
