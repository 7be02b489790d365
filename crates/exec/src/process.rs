//! Runs the service under test as a process: start, readiness, restart, stop.
//!
//! It runs in a process group of its own and cannot outlive us, however we end.

pub mod background;
pub mod listening;
mod output;

use std::fs::File;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

pub use output::{Output, OutputPosition};

use crate::http::{CallFailure, CallOutcome, Client, ClientConfig, Request};
use crate::server::child_process::{self, ChildProcess, LaunchPlan, ProcessEnvironment};

/// How often to ask whether it is up.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long one such question may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// How to start a service.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The command, for the shell.
    pub command: String,
    /// Where to run it; where we run unless given.
    pub directory: Option<PathBuf>,
    /// Variables to set besides those that we have.
    pub variables: Vec<(String, String)>,
    /// How readiness is detected.
    pub ready: ReadyCheck,
    /// Startup timeout.
    pub timeout: Duration,
    /// Grace period before it is killed.
    pub grace: Duration,
    /// Ends the waiting when it is raised.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// How readiness is detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadyCheck {
    /// This address answers, with whatever status.
    Url(String),
    /// Somebody listens at this host and port.
    Port(String, u16),
}

impl std::fmt::Display for ReadyCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::Port(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

/// Why a service is not up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Somebody else is already there.
    #[error(
        "something already listens at {ready}; stop it, or omit the command that starts the service"
    )]
    Occupied {
        /// Where.
        ready: ReadyCheck,
    },
    /// The system does not let us start anything.
    #[error("failed to start `{command}`")]
    System {
        /// The command.
        command: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// It ended instead of coming up.
    #[error(
        "`{command}` exited with code {code} before {ready} responded; last output:\n{last_output}"
    )]
    Ended {
        /// The command.
        command: String,
        /// What it ended with.
        code: i32,
        /// What it should have answered at.
        ready: ReadyCheck,
        /// The end of its output.
        last_output: String,
    },
    /// It did not come up in time.
    #[error("{ready} did not respond ({last}) within {} s of starting `{command}`{}; last output:\n{last_output}", .timeout.as_secs_f64(), listens_elsewhere(.ports))]
    NotUp {
        /// The command.
        command: String,
        /// What it should have answered at.
        ready: ReadyCheck,
        /// What happened instead, the last time.
        last: Box<CallFailure>,
        /// How long we waited.
        timeout: Duration,
        /// Where it listens instead, as far as that is known.
        ports: Box<[u16]>,
        /// The end of its output.
        last_output: String,
    },
    /// The run was interrupted.
    #[error("interrupted while waiting for {ready}")]
    Interrupted {
        /// What we waited for.
        ready: ReadyCheck,
    },
}

fn listens_elsewhere(ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    match &ports[..] {
        [] => String::new(),
        [port] => {
            format!("; it listens at port {port} instead: pass --url http://localhost:{port}")
        }
        several => format!(
            "; it listens at ports {} instead: pass one of them with --url",
            several.join(", ")
        ),
    }
}

impl Launch {
    /// A launch with half a minute to come up and five seconds to end.
    pub fn new(command: impl Into<String>, ready: ReadyCheck) -> Self {
        Self {
            command: command.into(),
            directory: None,
            variables: Vec::new(),
            ready,
            timeout: Duration::from_secs(30),
            grace: Duration::from_secs(5),
            interrupt: None,
        }
    }

    fn is_interrupted(&self) -> bool {
        let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        self.interrupt.as_ref().is_some_and(raised)
    }
}

/// A service that we started; dropping it ends it, and all that it started.
#[derive(Debug)]
pub struct Service {
    launch: Launch,
    /// Nothing only while it is restarted, or when that failed.
    process: Option<ChildProcess>,
    /// Whether the command put the service into the background and ended.
    is_detached: bool,
    output: Output,
}

impl Service {
    /// Starts a service and waits until it is up.
    ///
    /// # Errors
    ///
    /// When something else is already there, or when it does not come up; it is
    /// then ended.
    pub fn start(launch: Launch) -> Result<Self, StartError> {
        let mut service = Self {
            launch,
            process: None,
            is_detached: false,
            output: Output::default(),
        };
        service.launch()?;
        Ok(service)
    }

    /// Ends the service, if it still runs, and starts it again.
    ///
    /// # Errors
    ///
    /// As [`Service::start`].
    pub fn restart(&mut self) -> Result<(), StartError> {
        self.process = None;
        self.launch()
    }

    /// Lets the next restart use another command and other variables.
    pub fn relaunch_as(&mut self, command: String, variables: Vec<(String, String)>) {
        self.launch.command = command;
        self.launch.variables = variables;
    }

    /// Whether it has ended by itself.
    ///
    /// Of a command that put the service into the background we cannot know, and say no.
    pub fn has_ended(&self) -> bool {
        !self.is_detached && self.process.as_ref().is_none_or(ChildProcess::has_ended)
    }

    /// Waits until it has ended by itself; says whether it has.
    ///
    /// The port is closed a moment before the process is gone.
    pub fn wait_for_end(&self, timeout: Duration) -> bool {
        let started = Instant::now();
        while !self.has_ended() {
            if self.is_detached || started.elapsed() > timeout {
                return false;
            }
            thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// What it ended with, once it has ended by itself.
    pub fn exit_code(&self) -> Option<i32> {
        self.process.as_ref().and_then(ChildProcess::exit_code)
    }

    /// The last lines of its output.
    pub fn last_output(&self) -> String {
        self.process
            .as_ref()
            .map(ChildProcess::last_output)
            .unwrap_or_default()
    }

    /// What it says while it runs, in this life and in those to come.
    pub fn output(&self) -> Output {
        self.output.clone()
    }

    /// The process id of the shell that runs the command.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().and_then(ChildProcess::pid)
    }

    fn launch(&mut self) -> Result<(), StartError> {
        let launch = &self.launch;
        let system = |cause| StartError::System {
            command: launch.command.clone(),
            cause,
        };
        let mut doorbell = ReadinessProbe::new(&launch.ready).map_err(system)?;
        if doorbell.ring().is_ok() {
            return Err(StartError::Occupied {
                ready: launch.ready.clone(),
            });
        }
        let plan = LaunchPlan {
            files: Vec::new(),
            prepare: Vec::new(),
            serve: ["/bin/sh", "-c", &launch.command]
                .map(str::to_owned)
                .to_vec(),
            signal: "TERM",
            grace: launch.grace,
            surroundings: ProcessEnvironment::Ours {
                directory: launch.directory.clone(),
                variables: launch.variables.clone(),
            },
        };
        let directory = child_process::directory(None).map_err(system)?;
        let process = ChildProcess::start(directory, None, &plan).map_err(system)?;
        wait_until_up(launch, &process, &mut doorbell)?;
        self.is_detached = process.has_ended();
        self.output
            .follow(File::open(process.directory().join("log")).ok());
        self.process = Some(process);
        Ok(())
    }
}

fn wait_until_up(
    launch: &Launch,
    process: &ChildProcess,
    doorbell: &mut ReadinessProbe<'_>,
) -> Result<(), StartError> {
    let started = Instant::now();
    loop {
        // Asked before the question, so that what it said at its end is all there.
        let code = process.exit_code();
        let Err(last) = doorbell.ring() else {
            return Ok(());
        };
        if let Some(code) = code.filter(|code| *code != 0) {
            return Err(StartError::Ended {
                command: launch.command.clone(),
                code,
                ready: launch.ready.clone(),
                last_output: process.last_output(),
            });
        }
        if launch.is_interrupted() {
            return Err(StartError::Interrupted {
                ready: launch.ready.clone(),
            });
        }
        if started.elapsed() > launch.timeout {
            return Err(StartError::NotUp {
                command: launch.command.clone(),
                ready: launch.ready.clone(),
                last: Box::new(last),
                timeout: launch.timeout,
                ports: process
                    .pid()
                    .map(listening::ports_of)
                    .unwrap_or_default()
                    .into(),
                last_output: process.last_output(),
            });
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Waits until a service that somebody else starts is up.
///
/// # Errors
///
/// What happened the last time, when it is not up after `timeout`.
pub fn wait_for(
    ready: &ReadyCheck,
    timeout: Duration,
    interrupt: Option<&AtomicBool>,
) -> Result<(), CallFailure> {
    let unreachable = |error: io::Error| CallFailure::Unreachable(error.to_string());
    let mut doorbell = ReadinessProbe::new(ready).map_err(unreachable)?;
    let started = Instant::now();
    loop {
        match doorbell.ring() {
            Ok(()) => return Ok(()),
            Err(failure @ CallFailure::Unsendable(_)) => return Err(failure),
            Err(failure) if started.elapsed() >= timeout => return Err(failure),
            Err(_) => {}
        }
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(CallFailure::Interrupted);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Sends requests to a URL at once, as many as `count`, and waits for the responses, whatever they are.
pub fn call_at_once(url: &str, count: usize) {
    let config = ClientConfig {
        timeout: PROBE_TIMEOUT,
        ..ClientConfig::default()
    };
    let clients: Vec<Client> = (0..count)
        .filter_map(|_| Client::new(config.clone()).ok())
        .collect();
    let barrier = Barrier::new(clients.len());
    thread::scope(|scope| {
        for mut client in clients {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                client.call(&Request::get(url))
            });
        }
    });
}

/// Asks whether somebody is there.
struct ReadinessProbe<'a> {
    ready: &'a ReadyCheck,
    client: Client,
}

impl<'a> ReadinessProbe<'a> {
    fn new(ready: &'a ReadyCheck) -> io::Result<Self> {
        let config = ClientConfig {
            timeout: PROBE_TIMEOUT,
            body_limit: 64 << 10,
            waits: 0,
            accept_any_certificate: true,
            ..ClientConfig::default()
        };
        Ok(Self {
            ready,
            client: Client::new(config)?,
        })
    }

    fn ring(&mut self) -> Result<(), CallFailure> {
        match self.ready {
            ReadyCheck::Url(url) => match self.client.call(&Request::get(url)).outcome {
                CallOutcome::Answered(_) => Ok(()),
                CallOutcome::Failed(failure) => Err(failure),
            },
            ReadyCheck::Port(host, port) => {
                let unreachable = |error: io::Error| match error.kind() {
                    io::ErrorKind::ConnectionRefused => CallFailure::Refused,
                    io::ErrorKind::TimedOut => CallFailure::TimedOut,
                    _ => CallFailure::Unreachable(error.to_string()),
                };
                let addresses = (host.as_str(), *port)
                    .to_socket_addrs()
                    .map_err(unreachable)?;
                let mut last = CallFailure::Unreachable("no such host".to_owned());
                for address in addresses {
                    match TcpStream::connect_timeout(&address, PROBE_TIMEOUT) {
                        Ok(_) => return Ok(()),
                        Err(error) => last = unreachable(error),
                    }
                }
                Err(last)
            }
        }
    }
}

/// A port on the loopback interface that is free, the first from `from` on.
///
/// # Errors
///
/// When there is none.
pub fn free_port(from: u16) -> io::Result<u16> {
    let free = |port: &u16| std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, *port));
    (from..=u16::MAX)
        .find(|port| free(port).is_ok())
        .ok_or_else(|| io::ErrorKind::AddrInUse.into())
}
