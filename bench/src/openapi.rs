//! What the OpenAPI reader makes of a folder of documents: size, limits, time and memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use fastrand::Rng;
use isobath_genes::{GeneConfig, Unresolved};
use isobath_rest::action::{Action, ReceivedResponse, ResponseChecker};
use isobath_rest::openapi::{self, Api, Loader};

struct Files;

impl Loader for Files {
    fn load(&self, location: &str) -> Result<String, String> {
        std::fs::read_to_string(location).map_err(|error| error.to_string())
    }
}

/// Where the documents are: in `data/openapi` of a folder, or in the folder itself.
pub(crate) fn documents(folder: &Path) -> PathBuf {
    let inside = folder.join("data").join("openapi");
    if inside.is_dir() {
        inside
    } else {
        folder.to_owned()
    }
}

/// Prints one line per document, and the speed of genes over all of them.
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench prints what it measured"
)]
pub(crate) fn table(folder: &Path) -> ExitCode {
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("no folder {}", folder.display());
        return ExitCode::from(2);
    };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    println!("document | operations | callable | nodes | genes | millis | limitations");
    let mut failed = false;
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let start = Instant::now();
        let api = match openapi::read(&text, &path.to_string_lossy(), &Files) {
            Ok(api) => api,
            Err(error) => {
                println!("{name} | {error}");
                failed = true;
                continue;
            }
        };
        let millis = start.elapsed().as_secs_f64() * 1e3;
        let (callable, genes) = call_all(&api);
        let counts: BTreeMap<&str, usize> = api
            .limitations
            .counts
            .iter()
            .map(|(kind, n)| (kind.name(), *n))
            .collect();
        println!(
            "{name} | {} | {callable} | {} | {genes} | {millis:.1} | {counts:?}",
            api.operations.len(),
            api.model.len(),
        );
        failed |= callable != api.operations.len();
        speed(&api);
    }
    if let Some(kib) = peak_memory() {
        println!(
            "peak memory of all together: {:.1} MiB",
            kib as f64 / 1024.0
        );
    }
    ExitCode::from(u8::from(failed))
}

/// How many operations give a request whose path has no hole, and how many values they have.
fn call_all(api: &Api) -> (usize, usize) {
    let tuning = GeneConfig {
        optional: 1.0,
        ..GeneConfig::default()
    };
    let mut rng = Rng::with_seed(1);
    let (mut callable, mut genes) = (0, 0);
    for i in 0..api.operations.len() {
        let Some(action) = Action::sample(api, i, &mut rng, &tuning) else {
            continue;
        };
        let request = action.request(api, &Unresolved);
        action.gene.walk(|_| genes += 1);
        let is_whole = !request.path.contains(['{', '}']) && !request.path.contains("//");
        callable += usize::from(is_whole && action.gene.check().is_ok());
    }
    (callable, genes)
}

#[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
fn speed(api: &Api) {
    const ROUNDS: usize = 20_000;
    let n = api.operations.len();
    if n == 0 {
        return;
    }
    let tuning = GeneConfig::default();
    let mut rng = Rng::with_seed(1);
    let micros = |start: Instant| start.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64;
    let start = Instant::now();
    let mut genes = 0;
    let mut actions = Vec::new();
    for i in 0..ROUNDS {
        if let Some(action) = Action::sample(api, i % n, &mut rng, &tuning) {
            action.gene.walk(|_| genes += 1);
            if actions.len() < 256 {
                actions.push(action);
            }
        }
    }
    let sample = micros(start);
    let start = Instant::now();
    for i in 0..ROUNDS {
        let mut action = actions[i % actions.len()].clone();
        action.mutate(&mut rng, &tuning);
    }
    let mutate = micros(start);
    let start = Instant::now();
    let mut bytes = 0;
    for i in 0..ROUNDS {
        bytes += actions[i % actions.len()]
            .request(api, &Unresolved)
            .path
            .len();
    }
    let request = micros(start);
    let checker = ResponseChecker::new(api);
    let start = Instant::now();
    let mut violations = 0;
    for i in 0..ROUNDS {
        let json = [("content-type", "application/json")];
        let operation = &api.operations[i % n];
        let answer = ReceivedResponse {
            status: 200,
            headers: &json,
            body: b"{\"id\": 1}",
            json: None,
        };
        violations += checker.check(api, operation, &answer).len();
    }
    let check = micros(start);
    println!(
        "    per call: sample and walk {sample:.2} µs ({:.1} genes), clone and mutate {mutate:.2} µs, \
         request {request:.2} µs, check {check:.2} µs ({bytes} bytes, {violations} violations)",
        genes as f64 / ROUNDS as f64,
    );
}

/// The most memory this process has had, in KiB, where the system says so.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
