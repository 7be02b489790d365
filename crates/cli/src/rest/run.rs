//! From flags to a run, and from its outcome to an exit code.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use isobath_exec::document;
use isobath_exec::http::{Client, Config as HttpConfig, Method, Request};
use isobath_exec::process::{Launch, Ready, Service as Process};
use isobath_rest::auth::{self, Format, User};
use isobath_rest::caller::{ResetCall, Service};
use isobath_rest::job::{self, Config};
use isobath_rest::openapi::{self, Api, Loader};
use isobath_rest::probe::Choice;
use isobath_rest::problem::Habits;
use isobath_rest::session::Session;
use isobath_search::Event;

use super::args::{Budget, RestArgs};
use super::output;
use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// How long a document may take to come.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a run says how far it is.
const PULSE: Duration = Duration::from_secs(5);

/// Why a run did not begin.
struct Refusal {
    exit: Exit,
    why: String,
}

impl Refusal {
    fn usage(why: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            why: why.into(),
        }
    }

    fn unreachable(why: impl Into<String>) -> Self {
        Self {
            exit: Exit::Unreachable,
            why: why.into(),
        }
    }
}

/// Runs the job.
pub(crate) fn run(args: &RestArgs) -> Exit {
    let terminal = Terminal::new(args.quiet, false);
    match prepare_and_run(args, &terminal) {
        Ok(exit) => exit,
        Err(refusal) => {
            terminal.complain(&format!("error: {}", refusal.why));
            refusal.exit
        }
    }
}

fn prepare_and_run(args: &RestArgs, terminal: &Terminal) -> Result<Exit, Refusal> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&interrupt);
    // A second Ctrl-C does not wait for anything.
    let handler = ctrlc::set_handler(move || {
        if interrupted.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted.code());
        }
    });
    handler.map_err(|error| Refusal::usage(format!("cannot listen to Ctrl-C: {error}")))?;
    // The document may be served by the service itself, so that must be up first.
    let mut process = None;
    if let (Some(command), false) = (&args.start, args.dry_run) {
        let url = args
            .url
            .clone()
            .ok_or_else(|| Refusal::usage("--start needs --url, to know when the service is up"))?;
        guard(&url, args.remote)?;
        terminal.say(Tone::Faint, &format!("starting `{command}`"));
        let launch = Launch {
            interrupt: Some(Arc::clone(&interrupt)),
            ..Launch::new(command, Ready::Url(url))
        };
        process =
            Some(Process::start(launch).map_err(|error| Refusal::unreachable(error.to_string()))?);
    }
    let document = document::load(&args.spec, PATIENCE).map_err(|error| refuse_document(&error))?;
    let api = openapi::read(&document.text, &document.location, &Documents)
        .map_err(|error| Refusal::usage(error.to_string()))?;
    if api.operations.is_empty() {
        return Err(Refusal::usage(format!(
            "{} describes no operation that can be called",
            args.spec
        )));
    }
    if args.dry_run {
        output::describe(&api, terminal);
        return Ok(Exit::Clean);
    }
    let users = users(args)?;
    let base = base(args, &api, &document.location)?;
    guard(&base, args.remote)?;
    let started = Instant::now();
    let client = {
        let config = HttpConfig {
            timeout: Duration::try_from_secs_f64(args.timeout)
                .map_err(|_| Refusal::usage("--timeout is no time"))?,
            interrupt: Some(Arc::clone(&interrupt)),
            ..HttpConfig::default()
        };
        move || Client::new(config.clone())
    };
    let mut first = client().map_err(|error| Refusal::unreachable(error.to_string()))?;
    if let Some(failure) = first.call(&Request::get(&base)).failure() {
        return Err(Refusal::unreachable(format!(
            "{base} cannot be reached ({failure}); is the service up? --start CMD starts it"
        )));
    }
    let sessions = users
        .iter()
        .enumerate()
        .map(|(number, user)| {
            Session::open(
                &mut first,
                &base,
                user,
                args.seed.wrapping_mul(1000) + number as u64,
            )
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Refusal::unreachable(error.to_string()))?;
    let reset = args
        .reset
        .as_deref()
        .map(|reset| reset_call(reset, &base))
        .transpose()?;
    let service = Arc::new(Service {
        api: Arc::new(api),
        base,
        sessions,
        reset,
        feedback: None,
    });
    terminal.say(
        Tone::Plain,
        &format!(
            "{} operations of {} at {}, seed {}",
            service.api.operations.len(),
            title(&service.api),
            service.base,
            args.seed
        ),
    );
    output::warn_limitations(&service.api, terminal);
    let config = config(args, interrupt, started);
    let outcome = job::run(&service, &client, &config, progress(args.quiet))
        .map_err(|error| Refusal::unreachable(error.to_string()))?;
    let folder = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("isobath-out").join("rest"));
    let run = output::Run::new(
        args,
        &service,
        &users,
        &outcome,
        started.elapsed().as_secs_f64(),
    );
    let written = run.write(&folder);
    drop(process);
    let files = written.map_err(|error| {
        Refusal::usage(format!("cannot write to {}: {error}", folder.display()))
    })?;
    run.summarize(terminal, &files);
    Ok(match (&outcome.lost, outcome.interrupted) {
        (Some(_), _) => Exit::Unreachable,
        (None, true) => Exit::Interrupted,
        (None, false) if outcome.faults.is_empty() => Exit::Clean,
        (None, false) => Exit::Findings,
    })
}

fn title(api: &Api) -> &str {
    if api.title.is_empty() {
        "the service"
    } else {
        &api.title
    }
}

fn refuse_document(error: &document::LoadError) -> Refusal {
    let mut why = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        let text = source.to_string();
        if !why.contains(&text) {
            why = format!("{why}: {text}");
        }
        cause = source.source();
    }
    match error {
        document::LoadError::Fetch { .. }
        | document::LoadError::Status { .. }
        | document::LoadError::Incomplete { .. } => Refusal::unreachable(why),
        _ => Refusal::usage(why),
    }
}

fn users(args: &RestArgs) -> Result<Vec<User>, Refusal> {
    if let Some(path) = &args.auth {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Refusal::usage(format!("cannot read {}: {error}", path.display())))?;
        let format = Format::of_file(&path.to_string_lossy());
        return auth::read(&text, format)
            .map_err(|error| Refusal::usage(format!("{}: {error}", path.display())));
    }
    if args.header.is_empty() {
        return Ok(Vec::new());
    }
    let headers = args
        .header
        .iter()
        .map(|header| {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| Refusal::usage(format!("--header `{header}` is not NAME: VALUE")))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect::<Result<_, Refusal>>()?;
    Ok(vec![User::with_headers("user", headers)])
}

/// Where the service is: as the flag says, else as the document says, relative to where that came from.
fn base(args: &RestArgs, api: &Api, location: &str) -> Result<String, Refusal> {
    let served = api.servers.first().map_or("", |server| server.url.as_str());
    let known = args
        .url
        .as_deref()
        .or_else(|| location.contains("://").then_some(location));
    let joined = match known.map(url::Url::parse) {
        Some(Ok(known)) if args.url.is_some() => {
            // A path on the command line says it all; without one, that of the document is added.
            let path = url::Url::parse(served)
                .map_or_else(|_| served.to_owned(), |url| url.path().to_owned());
            if known.path() == "/" && !path.is_empty() {
                known.join(&path).ok()
            } else {
                Some(known)
            }
        }
        Some(Ok(known)) => known.join(served).ok(),
        Some(Err(error)) => return Err(Refusal::usage(format!("--url: {error}"))),
        None => url::Url::parse(served).ok(),
    };
    let base = joined.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let base = base.ok_or_else(|| {
        Refusal::usage(
            "the document does not say where the service is; give --url http://localhost:8080",
        )
    })?;
    Ok(base.as_str().trim_end_matches('/').to_owned())
}

/// Strangers' services are not to be called by mistake.
fn guard(url: &str, remote: bool) -> Result<(), Refusal> {
    let parsed = url::Url::parse(url).map_err(|error| Refusal::usage(format!("--url: {error}")))?;
    let local = match parsed.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if local || remote {
        return Ok(());
    }
    Err(Refusal::usage(format!(
        "{url} is not on this machine; say --remote if you may send it thousands of calls, some of them invalid on purpose"
    )))
}

fn reset_call(reset: &str, base: &str) -> Result<ResetCall, Refusal> {
    let wrong = || {
        Refusal::usage(format!(
            "--reset `{reset}` is not a method and a path, such as \"POST /reset\""
        ))
    };
    let (method, path) = reset.split_once(' ').ok_or_else(wrong)?;
    let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).map_err(|_| wrong())?;
    let path = path.trim();
    if !path.starts_with('/') {
        return Err(wrong());
    }
    Ok(ResetCall {
        request: Request::new(method, format!("{base}{path}")),
    })
}

fn config(args: &RestArgs, interrupt: Arc<AtomicBool>, started: Instant) -> Config {
    let (calls, time) = match args.budget {
        Budget::Calls(calls) => (Some(calls), None),
        Budget::Time(time) => (None, Some(time)),
    };
    let elapsed = move || {
        time.map_or(0.0, |time| {
            started.elapsed().as_secs_f64() / time.as_secs_f64()
        })
    };
    Config {
        search: isobath_search::Config {
            seed: args.seed,
            algorithm: args.algorithm,
            in_flight: if args.workers > 1 {
                args.workers * 2
            } else {
                1
            },
            ..isobath_search::Config::default()
        },
        calls,
        elapsed: Arc::new(elapsed),
        interrupt,
        workers: args.workers,
        habits: Habits::default(),
        off: args.skip.iter().copied().collect::<BTreeSet<_>>(),
        probes: Choice {
            sql_injection: args.sql_injection,
        },
    }
}

/// Says every few seconds how far the search is.
fn progress(quiet: bool) -> impl FnMut(&Event) + 'static {
    let started = Instant::now();
    let mut last = started;
    let mut calls = 0;
    move |event: &Event| {
        if let Event::Evaluated {
            cost,
            progress,
            targets,
            covered,
            ..
        } = event
        {
            calls += cost;
            if !quiet && last.elapsed() >= PULSE {
                last = Instant::now();
                let rate = calls as f64 / started.elapsed().as_secs_f64();
                crate::terminal::note(&format!(
                    "{:>3.0} %  {covered} of {targets} targets  {calls} calls  {rate:.0}/s",
                    progress * 100.0
                ));
            }
        }
    }
}

/// Documents that a document refers to.
struct Documents;

impl Loader for Documents {
    fn load(&self, location: &str) -> Result<String, String> {
        document::load(location, PATIENCE)
            .map(|document| document.text)
            .map_err(|error| error.to_string())
    }
}
