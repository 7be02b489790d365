//! Starts the service and waits for it, with one limit for everything that has to be up.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use isobath_exec::http::CallFailure;
use isobath_exec::process::{Launch, ReadyCheck, Service as Process, StartError, wait_for};

use super::address::guard;
use super::args::RestArgs;
use super::interrupt::Interruption;
use super::launch::LaunchPlan;
use super::run::SetupError;
use crate::terminal::{Terminal, Tone};

/// How often to tell that the service is not up yet.
const PROGRESS: Duration = Duration::from_secs(10);
/// How often to ask whether it is up.
const PULSE: Duration = Duration::from_millis(50);
/// The driver of a service that is up has at least this long to connect.
const LEAST: Duration = Duration::from_secs(5);

/// A service that was started here.
pub(super) struct StartedService {
    pub(super) process: Process,
    command: String,
    deadline: Instant,
}

impl StartedService {
    /// Starts the service and waits until its URL answers.
    pub(super) fn start(
        args: &RestArgs,
        launch: &LaunchPlan,
        command: &str,
        interruption: &Interruption,
        terminal: &Terminal,
    ) -> Result<Self, SetupError> {
        let url = launch.url.clone().ok_or_else(|| {
            SetupError::usage("--start requires --url, to detect when the service is up")
        })?;
        guard(&url, args.remote)?;
        let patience = Duration::try_from_secs_f64(args.start_timeout).map_err(|_| {
            SetupError::usage("invalid --start-timeout (expected a number of seconds)")
        })?;
        terminal.say(Tone::Faint, &format!("starting `{command}`"));
        let begun = Instant::now();
        let launch = Launch {
            interrupt: Some(Arc::clone(&interruption.stop)),
            variables: launch.variables.clone(),
            timeout: patience,
            ..Launch::new(command, ReadyCheck::Url(url.clone()))
        };
        let started = while_telling(terminal, &url, begun, patience, || Process::start(launch));
        let process = started.map_err(|error| match error {
            StartError::Interrupted { .. } => SetupError::interrupted(error.to_string()),
            error => SetupError::unreachable(error.to_string()),
        })?;
        Ok(Self {
            process,
            command: command.to_owned(),
            deadline: begun + patience,
        })
    }

    /// What is left of `--start-timeout`, or a little more.
    pub(super) fn time_left(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.max(LEAST)
    }

    /// Adds the last output of the service to an error, and that it ended if it did.
    pub(super) fn explain(&self, error: SetupError) -> SetupError {
        match (self.how_it_ended(), self.process.last_output()) {
            (Some(how), _) => error.because(&how),
            (None, words) if words.is_empty() => error,
            (None, words) => error.because(&format!("last output of the service:\n{words}")),
        }
    }

    /// How the service ended, with its last output; nothing while it runs.
    fn how_it_ended(&self) -> Option<String> {
        if !self.process.has_ended() {
            return None;
        }
        let code = self.process.exit_code().unwrap_or(-1);
        Some(format!(
            "`{}` ended with code {code}; its last output:\n{}",
            self.command,
            self.process.last_output()
        ))
    }
}

/// Does something that may take long, and tells so from time to time.
fn while_telling<T>(
    terminal: &Terminal,
    url: &str,
    begun: Instant,
    limit: Duration,
    work: impl FnOnce() -> T,
) -> T {
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            while is_done.recv_timeout(PROGRESS) == Err(RecvTimeoutError::Timeout) {
                tell(terminal, url, begun, limit);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

fn tell(terminal: &Terminal, url: &str, begun: Instant, limit: Duration) {
    terminal.say(
        Tone::Faint,
        &format!(
            "  waiting for {url} ({:.0} of {:.0} s)",
            begun.elapsed().as_secs_f64(),
            limit.as_secs_f64()
        ),
    );
}

/// Waits until a URL answers, in whatever way: within the limit of a service that was started here, or for `--wait`.
pub(super) fn wait(
    args: &RestArgs,
    url: &str,
    started: Option<&StartedService>,
    terminal: &Terminal,
) -> Result<(), SetupError> {
    let ready = ReadyCheck::Url(url.to_owned());
    let patience = match started {
        Some(started) => started.time_left(),
        None => Duration::try_from_secs_f64(args.wait)
            .map_err(|_| SetupError::usage("invalid --wait (expected a number of seconds)"))?,
    };
    let begun = Instant::now();
    let mut told = begun;
    loop {
        let failure = match wait_for(&ready, Duration::ZERO, None) {
            // Who answers badly is there.
            Ok(())
            | Err(CallFailure::Dropped | CallFailure::Garbage(_) | CallFailure::TimedOut) => {
                return Ok(());
            }
            Err(failure) => failure,
        };
        let how_it_ended = started.and_then(StartedService::how_it_ended);
        let is_over = how_it_ended.is_some() || begun.elapsed() >= patience;
        if is_over || !matches!(failure, CallFailure::Refused) {
            let why = how_it_ended.unwrap_or_else(|| match started {
                Some(_) => format!("--start-timeout {} is over", args.start_timeout),
                None => "start the service, or pass its start command with --start".to_owned(),
            });
            return Err(SetupError::unreachable(format!(
                "cannot reach {url} ({failure}); {why}"
            )));
        }
        if told == begun && started.is_none() {
            terminal.say(
                Tone::Faint,
                &format!(
                    "waiting for {url} (connection refused, up to {} s)",
                    args.wait
                ),
            );
            told = Instant::now();
        } else if told.elapsed() >= PROGRESS {
            tell(terminal, url, begun, patience);
            told = Instant::now();
        }
        thread::sleep(PULSE);
    }
}
