//! `isobath replay`: runs the tests of an earlier run again, without a test runner.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use isobath_emit::http::{HttpSuite, HttpTest};
use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_exec::process::{Launch, ReadyCheck, Service as Process, wait_for};
use isobath_rest::fault::fingerprint;
use isobath_rest::replay::{ReplayDatabase, ReplayVerdict, Replayer};

use super::address::guard;
use super::database::DatabaseArgs;
use super::interrupt::Interruption;
use super::mock;
use super::run::SetupError;
use crate::exit::Exit;
use crate::nearest::nearest;
use crate::terminal::{Terminal, Tone};

/// Replay the tests of an earlier run and report which faults remain.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Test id, fault fingerprint, fault code, or the output directory of the earlier run [default: all tests that show faults].
    #[arg(value_name = "TEST|FINGERPRINT|CODE|DIR")]
    which: Option<String>,

    /// Output directory of the earlier run.
    #[arg(long, value_name = "DIR", default_value = "isobath-out/rest")]
    out: PathBuf,

    /// Base URL of the service [default: as in the earlier run].
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Command that starts the service if it is not running [default: as in the earlier run].
    #[arg(long, value_name = "CMD")]
    start: Option<String>,

    /// Allow calls to a service on another machine.
    #[arg(long)]
    remote: bool,

    /// TEST database into which the rows of the tests are inserted [default: environment variable ISOBATH_DATABASE].
    #[arg(long, value_name = "URL")]
    db: Option<String>,

    /// Allow a test database on another machine.
    #[arg(long)]
    remote_db: bool,

    /// Print only errors and remaining faults.
    #[arg(long, short)]
    quiet: bool,
}

/// Replays tests and prints which faults remain.
pub(crate) fn run(args: &ReplayArgs) -> Exit {
    let terminal = Terminal::new(args.quiet, false);
    match replay(args, &terminal) {
        Ok(exit) => exit,
        Err(refusal) => refusal.tell(&terminal),
    }
}

fn replay(args: &ReplayArgs, terminal: &Terminal) -> Result<Exit, SetupError> {
    let folder = args.which.as_deref().map(Path::new);
    let folder = folder.filter(|folder| folder.join("suite.json").is_file());
    let which = args.which.as_deref().filter(|_| folder.is_none());
    let path = folder.unwrap_or(&args.out).join("suite.json");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        SetupError::usage(format!(
            "cannot read {}: {error}; pass the output directory of `isobath rest` with --out",
            path.display()
        ))
    })?;
    let suite = HttpSuite::from_json(&text)
        .map_err(|error| SetupError::usage(format!("{}: {error}", path.display())))?;
    let tests = chosen(&suite, which)?;
    if tests.is_empty() {
        terminal.say(Tone::Good, "no test of this run shows a fault");
        return Ok(Exit::Clean);
    }
    let interruption = Interruption::listen().map_err(|error| {
        SetupError::usage(format!("cannot install the Ctrl-C handler: {error}"))
    })?;
    interruption.begin();
    let variable = std::env::var(&suite.service.base_url_variable).ok();
    let base = args.url.clone().or(variable);
    let base = base.unwrap_or_else(|| suite.service.base_url.clone());
    guard(&base, args.remote)?;
    // Who stands for others must be there before the service is. Both live as long as this.
    let responder = mock::responder_for(&suite)?;
    let _process = start(args, &suite, &base, &interruption, terminal)?;
    let client = Client::new(HttpConfig {
        timeout: Duration::from_millis(suite.service.timeout_millis),
        interrupt: Some(Arc::clone(&interruption.stop)),
        ..HttpConfig::default()
    });
    let client = client.map_err(|error| SetupError::unreachable(error.to_string()))?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nonce = since.map_or(0, |since| since.as_nanos() as u64);
    let mut replayer = Replayer::new(&suite, base, client, nonce, database(args, &suite)?);
    let mut exit = Exit::Clean;
    for test in tests {
        if let Some(responder) = &responder {
            responder.begin(mock::prepared(test));
        }
        match replayer.replay(test) {
            ReplayVerdict::ServiceLost(why) => return Err(SetupError::unreachable(why)),
            verdict => {
                if !tell(test, &verdict, terminal) {
                    exit = Exit::Findings;
                }
            }
        }
    }
    Ok(exit)
}

/// The test database of the suite, where one is named.
fn database(args: &ReplayArgs, suite: &HttpSuite) -> Result<Option<ReplayDatabase>, SetupError> {
    let Some(of) = &suite.database else {
        return Ok(None);
    };
    let named = args.db.clone().or_else(|| std::env::var(&of.variable).ok());
    let flags = DatabaseArgs {
        db: named,
        remote_db: args.remote_db,
        ..DatabaseArgs::default()
    };
    let (Some(_), Some(address)) = (flags.test_database()?, &flags.db) else {
        return Ok(None);
    };
    let opened = ReplayDatabase::open(address, of);
    opened
        .map(Some)
        .map_err(|error| SetupError::unreachable(format!("--db: {error}")))
}

/// The tests that are meant.
fn chosen<'s>(suite: &'s HttpSuite, which: Option<&str>) -> Result<Vec<&'s HttpTest>, SetupError> {
    let tests = suite.tests.iter();
    let Some(which) = which else {
        return Ok(tests.filter(|test| !test.faults.is_empty()).collect());
    };
    let is_meant = |test: &&HttpTest| {
        let mut faults = test.faults.iter();
        test.id == which
            || faults.any(|fault| {
                fault.code == which || fingerprint(&fault.code, &fault.root_cause) == which
            })
    };
    let found: Vec<&HttpTest> = tests.filter(is_meant).collect();
    if found.is_empty() {
        let ids = suite.tests.iter().map(|test| test.id.as_str());
        let codes = suite.tests.iter().flat_map(|test| &test.faults);
        let names = ids.chain(codes.map(|fault| fault.code.as_str()));
        let meant = match nearest(which, names) {
            Some(meant) => format!("; did you mean `{meant}`?"),
            None => "; report.json lists tests and faults with their fingerprints".to_owned(),
        };
        return Err(SetupError::usage(format!(
            "unknown test or fault `{which}`{meant}"
        )));
    }
    Ok(found)
}

/// Starts the service unless it is already running.
fn start(
    args: &ReplayArgs,
    suite: &HttpSuite,
    base: &str,
    interruption: &Interruption,
    terminal: &Terminal,
) -> Result<Option<Process>, SetupError> {
    let ready = ReadyCheck::Url(base.to_owned());
    let Err(failure) = wait_for(&ready, Duration::ZERO, None) else {
        return Ok(None);
    };
    let command = args.start.as_ref().or(suite.service.start.as_ref());
    let Some(command) = command else {
        return Err(SetupError::unreachable(format!(
            "cannot reach {base} ({failure}); start the service, or pass its start command with --start"
        )));
    };
    terminal.say(Tone::Faint, &format!("starting `{command}`"));
    let launch = Launch {
        interrupt: Some(Arc::clone(&interruption.stop)),
        ..Launch::new(command, ready)
    };
    let process = Process::start(launch);
    process
        .map(Some)
        .map_err(|error| SetupError::unreachable(error.to_string()))
}

/// Prints the verdict of a test; returns whether it is good.
fn tell(test: &HttpTest, verdict: &ReplayVerdict, terminal: &Terminal) -> bool {
    let what = match test.faults.first() {
        Some(fault) => format!("{}: {}", fault.code, fault.message),
        None => test.name.clone(),
    };
    let shows_fault = !test.faults.is_empty();
    let (tone, line, is_good) = match (verdict, shows_fault) {
        (ReplayVerdict::Held, true) => (Tone::Bad, format!("still there  {what}"), false),
        (ReplayVerdict::Held, false) => (Tone::Good, format!("holds        {what}"), true),
        (ReplayVerdict::Differs(why), true) => (
            Tone::Good,
            format!("gone         {what}\n             {why}"),
            true,
        ),
        (ReplayVerdict::Differs(why), false) => (
            Tone::Bad,
            format!("broken       {what}\n             {why}"),
            false,
        ),
        (ReplayVerdict::NotReached(why) | ReplayVerdict::ServiceLost(why), _) => (
            Tone::Warning,
            format!("unknown      {what}\n             {why}"),
            false,
        ),
    };
    if is_good {
        terminal.say(tone, &line);
    } else {
        terminal.insist(tone, &line);
    }
    is_good
}
