//! The service as the job sees it: an instance with logged-in users, its supervisor, its driver and its database.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use isobath_exec::database::Address;
use isobath_exec::http::{Client, ClientConfig};
use isobath_exec::process::Service as Process;
use isobath_rest::auth::User;
use isobath_rest::caller::Service;
use isobath_rest::openapi::Api;
use isobath_rest::redact;
use isobath_rest::session::{LoginError, Session};
use isobath_rest::supervisor::{Restarted, Supervisor};

use super::address::{at_port, known_port, reset_call};
use super::args::RestArgs;
use super::instances::{self, StartedInstance};
use super::interrupt::Interruption;
use super::launch::PlainService;
use super::run::SetupError;
use crate::log;
use crate::terminal::{Terminal, Tone};

/// How long a process that does not listen any more may take to end by itself.
const EXIT_GRACE: Duration = Duration::from_secs(1);

/// Makes the HTTP clients of a run.
#[derive(Clone, Copy)]
pub(super) struct Clients {
    /// Timeout of a call.
    pub(super) timeout: Duration,
}

impl Clients {
    /// A client whose calls end when the flag is set.
    pub(super) fn client(self, interrupt: &Arc<AtomicBool>) -> io::Result<Client> {
        Client::new(ClientConfig {
            timeout: self.timeout,
            interrupt: Some(Arc::clone(interrupt)),
            ..ClientConfig::default()
        })
    }
}

/// What the service and its copies are made with.
pub(super) struct ServiceSetup<'a> {
    pub(super) args: &'a RestArgs,
    pub(super) api: Arc<Api>,
    pub(super) users: &'a [User],
    pub(super) clients: Clients,
    pub(super) interruption: &'a Interruption,
    pub(super) terminal: &'a Terminal,
}

impl ServiceSetup<'_> {
    /// An instance with logged-in users, its supervisor, its driver and its database.
    pub(super) fn service(
        &self,
        instance: StartedInstance,
        base: String,
        sessions: Vec<Session>,
        plain: &Arc<OnceLock<PlainService>>,
    ) -> Result<Arc<Service>, SetupError> {
        let args = self.args;
        for session in &sessions {
            log::hide(session.credentials().secrets());
        }
        let reset = args
            .reset
            .as_deref()
            .map(|reset| reset_call(reset, &base))
            .transpose()?;
        let process = instance.process.map(|started| started.process);
        let mut service = Service {
            api: Arc::clone(&self.api),
            supervisor: self.supervisor(args.seed, &base, &sessions, process, plain),
            base,
            sessions,
            reset,
            feedback: instance.feedback.map(Mutex::new),
            database: None,
            mocks: instance.mocked.map(|mocked| Mutex::new(mocked.mocks())),
            first_looks: Default::default(),
        };
        // After the users have logged in, who are rows in many a database. A driver in Rust sees what is said to SQLite.
        let database = args.database.test_database()?;
        let is_sqlite = matches!(database, Some(Address::SqliteFile(_)));
        let driver_sees = is_sqlite || args.jvm.is_wanted() || args.python.is_wanted();
        let sees = instance.is_tapped || (service.feedback.is_some() && driver_sees);
        service.database = match args.database.data(&instance.launch, sees)? {
            Some(data) => Some(data),
            None => args
                .database
                .in_memory_database(instance.rows, self.terminal)?,
        }
        .map(Mutex::new);
        Ok(Arc::new(service))
    }

    /// The further instances of a service.
    pub(super) fn copies(
        self,
        others: Vec<StartedInstance>,
        first: &Service,
    ) -> Result<Vec<Arc<Service>>, SetupError> {
        let quiet = Terminal::new(true, false);
        let setup = ServiceSetup {
            terminal: &quiet,
            ..self
        };
        let copy = |(number, other): (u16, _)| {
            let copy = setup.copy(other, first);
            copy.map_err(|error| error.of_instance(number))
        };
        (2..).zip(others).map(copy).collect()
    }

    /// A further instance of a service, with users of the same names.
    fn copy(&self, instance: StartedInstance, first: &Service) -> Result<Arc<Service>, SetupError> {
        let port = known_port(instance.launch.url.as_deref()).unwrap_or_default();
        let base = at_port(Some(&first.base), port);
        let base = base.trim_end_matches('/').to_owned();
        let stop = &self.interruption.interrupt;
        let sessions = log_in(self.clients, stop, &base, self.users, self.args.seed, 0)
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        let copy = self.service(instance, base, sessions, &Arc::default())?;
        instances::check_targets(first, &copy)?;
        Ok(copy)
    }

    /// Restarts the process of an instance, if it was started here.
    fn supervisor(
        &self,
        seed: u64,
        base: &str,
        sessions: &[Session],
        process: Option<Process>,
        plain: &Arc<OnceLock<PlainService>>,
    ) -> Supervisor {
        let supervisor = Supervisor::new(sessions.to_vec());
        let Some(mut process) = process else {
            return supervisor;
        };
        let (clients, stop) = (self.clients, Arc::clone(&self.interruption.stop));
        let (base, users) = (base.to_owned(), self.users.to_vec());
        let plain = Arc::clone(plain);
        let mut life = 0;
        let supervisor = supervisor.with_output(process.output());
        supervisor.with_restart(Box::new(move || {
            life += 1;
            let exit_reason = exit_reason(&process);
            if let Some((command, variables)) = plain.get() {
                process.relaunch_as(command.clone(), variables.clone());
            }
            process.restart().map_err(|error| error.to_string())?;
            let sessions = log_in(clients, &stop, &base, &users, seed, life)
                .map_err(|error| error.to_string())?;
            Ok(Restarted {
                sessions,
                exit_reason,
            })
        }))
    }
}

/// Logs the users in for the first time. Those who cannot are left out with a warning, unless nobody can.
pub(super) fn log_in_first(
    args: &RestArgs,
    base: &str,
    users: &mut Vec<User>,
    client: io::Result<Client>,
    terminal: &Terminal,
) -> Result<Vec<Session>, SetupError> {
    let mut client = client.map_err(|error| SetupError::unreachable(error.to_string()))?;
    let mut sessions = Vec::new();
    let mut failed = Vec::new();
    let mut numbers = 0..;
    users.retain(|user| {
        let number = user_number(args.seed, 0, numbers.next().unwrap_or_default());
        match Session::open(&mut client, base, user, number) {
            Ok(session) => sessions.push(session),
            Err(error) => {
                failed.push(error.to_string());
                return false;
            }
        }
        true
    });
    for error in &failed {
        let line = format!("warning: {error}; check --auth: endpoint, payload and --url");
        terminal.insist(Tone::Warning, &line);
    }
    if users.is_empty() && !failed.is_empty() {
        return Err(SetupError::unreachable(failed.join("; ")));
    }
    Ok(sessions)
}

/// A number that makes users who are created differ between seeds, restarts and each other.
fn user_number(seed: u64, life: u64, index: u64) -> u64 {
    seed.wrapping_mul(1_000) + life * 1_000_000 + index
}

/// Logs all users in. After a restart, newly created users have other names.
fn log_in(
    clients: Clients,
    flag: &Arc<AtomicBool>,
    base: &str,
    users: &[User],
    seed: u64,
    life: u64,
) -> Result<Vec<Session>, LoginError> {
    let mut client = clients.client(flag).map_err(|error| LoginError {
        user: String::new(),
        problem: error.to_string(),
    })?;
    let users = users.iter().enumerate();
    users
        .map(|(index, user)| {
            Session::open(
                &mut client,
                base,
                user,
                user_number(seed, life, index as u64),
            )
        })
        .collect()
}

/// How a process ended.
fn exit_reason(process: &Process) -> String {
    process.wait_for_end(EXIT_GRACE);
    let how = match process.exit_code() {
        Some(code) if code > 128 => format!("terminated by signal {}", code - 128),
        Some(code) => format!("exited with code {code}"),
        None => "stopped responding".to_owned(),
    };
    match process.last_output() {
        words if words.is_empty() => how,
        words => format!(
            "{how}; last output:\n{}",
            redact::redact_likely_secrets(&words)
        ),
    }
}
