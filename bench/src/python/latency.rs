//! What the driver costs a Python service: processor time and latency of requests, beside the plain service.
//!
//! Plain and instrumented take turns, so that a busy machine is busy for both. On a busy machine a request waits for others
//! more than for the service, so the verdict is about processor time; latency is printed beside it.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use isobath_exec::driver::{Driver, Listener};
use isobath_exec::http::{Client, ClientConfig, Method, Request};
use isobath_exec::process::free_port;

use crate::verdict::{BenchError, Thresholds};

/// Rounds for each kind of request; in each, both services get the requests of one candidate.
const ROUNDS: usize = 100;
const PER_CANDIDATE: u16 = 3;
/// The most that the driver may cost, as a factor.
const MOST: f64 = 1.35;
const APPLICATIONS: [(&str, &str); 3] = [
    ("fastapi", "fastapi_app:app"),
    ("flask", "flask_app:app"),
    ("django", "django_app:application"),
];
const START: Duration = Duration::from_secs(60);

/// Measures the three frameworks and says whether the driver is cheap enough on each.
pub(super) fn measure(samples: &Path, only: Option<&str>) -> Result<bool, BenchError> {
    let samples = samples.canonicalize()?;
    let mut thresholds = Thresholds::default();
    println!("µs per request, a candidate every {PER_CANDIDATE}: plain, instrumented, ratio");
    for (name, application) in APPLICATIONS {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let ratio = framework(&samples, name, application)?;
        thresholds.check(
            ratio <= MOST,
            format!("{name}: processor time {ratio:.2}, wanted {MOST}"),
        );
    }
    Ok(thresholds.print())
}

/// The ratio of the processor time of all requests.
fn framework(samples: &Path, name: &str, application: &str) -> Result<f64, BenchError> {
    let listener = Listener::open()?;
    let plain = Service::start(samples, application, None)?;
    let instrumented = Service::start(samples, application, Some(&listener))?;
    let mut client = Client::new(ClientConfig::default())?;
    // The driver connects at the first request.
    let first = Kind::all().remove(0);
    instrumented.call(&mut client, &first)?;
    let mut driver = listener.accept(START)?;
    let mut all = [Duration::ZERO; 2];
    for kind in Kind::all() {
        let mut spent = [Duration::ZERO; 2];
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            let [a, b] = one_round(&plain, &instrumented, &mut driver, &mut client, &kind)?;
            if round == 0 {
                continue; // the first of its kind fills caches
            }
            for (at, (cpu, latencies)) in [a, b].into_iter().enumerate() {
                spent[at] += cpu;
                times[at].extend(latencies);
            }
        }
        let requests = f64::from(PER_CANDIDATE) * ROUNDS as f64;
        let [a, b] = spent.map(|spent| spent.as_secs_f64() * 1e6 / requests);
        let [c, d] = times.map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e6
        });
        println!(
            "{name:<8} {:<20} processor {a:>6.0} {b:>6.0} {:>5.2}   median latency {c:>6.0} {d:>6.0} {:>5.2}",
            kind.name,
            b / a,
            d / c
        );
        all[0] += spent[0];
        all[1] += spent[1];
    }
    let ratio = all[1].as_secs_f64() / all[0].as_secs_f64();
    println!("{name:<8} {:<20} processor ratio {ratio:.2}", "all");
    Ok(ratio)
}

/// Processor time and latencies of the requests of one candidate, of both services.
type Spent = (Duration, Vec<Duration>);

fn one_round(
    plain: &Service,
    instrumented: &Service,
    driver: &mut Driver,
    client: &mut Client,
    kind: &Kind,
) -> Result<[Spent; 2], BenchError> {
    let mut measured = Vec::new();
    for service in [plain, instrumented] {
        let is_instrumented = measured.len() == 1;
        if is_instrumented {
            driver.track(Vec::new())?;
            driver.begin_candidate();
        }
        let before = service.cpu()?;
        let mut latencies = Vec::new();
        for number in 0..PER_CANDIDATE {
            if is_instrumented {
                driver.begin_action(number);
            }
            latencies.push(service.call(client, kind)?);
        }
        if is_instrumented {
            // Telling what was seen is part of the cost.
            driver.events()?;
        }
        measured.push((service.cpu()?.saturating_sub(before), latencies));
    }
    let second = measured.pop().unwrap_or_default();
    Ok([measured.pop().unwrap_or_default(), second])
}

/// A request that is made again and again.
struct Kind {
    name: &'static str,
    method: Method,
    path: &'static str,
    body: String,
}

impl Kind {
    /// A loop, a look-up and a list of lines, with taint markers and without.
    fn all() -> Vec<Self> {
        let get = |name, path| Self {
            name,
            method: Method::GET,
            path,
            body: String::new(),
        };
        let order = |name, note: fn(usize) -> String| Self {
            name,
            method: Method::POST,
            path: "/orders",
            body: orders(note),
        };
        vec![
            get("look-up", "/parts/7"),
            get("loop", "/parts?kind=nut&most=25"),
            get("loop, marker", "/parts?kind=_isobath_3_input&most=25"),
            order("lines", |_| "on time".to_owned()),
            order("lines, ten markers", |line| {
                format!("_isobath_{line}_input")
            }),
        ]
    }
}

fn orders(note: fn(usize) -> String) -> String {
    let line = |number: usize| {
        let (part, amount) = (3 * number, number + 1);
        serde_json::json!({"part": part, "amount": amount, "note": note(number)})
    };
    serde_json::Value::from((0..10).map(line).collect::<Vec<_>>()).to_string()
}

/// A service in one process; dropping it ends it.
struct Service {
    child: Child,
    port: u16,
}

impl Service {
    /// Starts the sample `parts`, with the driver if there is somebody to listen to it.
    fn start(
        samples: &Path,
        application: &str,
        listener: Option<&Listener>,
    ) -> Result<Self, BenchError> {
        let port = free_port(if listener.is_some() { 9_800 } else { 9_700 })?;
        let driver = samples.join("../../../drivers/python").canonicalize()?;
        let folder = samples.join("parts");
        let mut command = Command::new(super::environment(samples)?.join("bin/python"));
        command
            .args(["-m", "isobath_driver", "serve", application, "--no-fork"])
            .args(["--port", &port.to_string()])
            .current_dir(&folder)
            .env("PYTHONPATH", &driver)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match listener {
            None => command.arg("--plain"),
            Some(listener) => {
                let path = format!("{}/site:{}", driver.display(), driver.display());
                command
                    .env("PYTHONPATH", path)
                    .env("ISOBATH_PYTHON_ROOT", &folder)
                    .envs(listener.variables(None))
            }
        };
        let mut service = Self {
            child: command.spawn()?,
            port,
        };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if started.elapsed() > START || service.child.try_wait()?.is_some() {
                return Err(format!("{application} does not start").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(service)
    }

    /// The processor time of all its threads so far.
    fn cpu(&self) -> Result<Duration, BenchError> {
        let mut total = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))?.flatten() {
            let times = std::fs::read_to_string(task.path().join("schedstat"))?;
            total += times.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(total))
    }

    /// Makes a request; how long the response took.
    fn call(&self, client: &mut Client, kind: &Kind) -> Result<Duration, BenchError> {
        let url = format!("http://127.0.0.1:{}{}", self.port, kind.path);
        let request = Request::new(kind.method.clone(), url)
            .header("content-type", "application/json")
            .body(kind.body.clone());
        let started = Instant::now();
        let call = client.call(&request);
        let elapsed = started.elapsed();
        let status = call
            .response()
            .map(|response| response.status)
            .ok_or("no response")?;
        if status != 200 {
            return Err(format!("{} answers {status}", kind.path).into());
        }
        Ok(elapsed)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
