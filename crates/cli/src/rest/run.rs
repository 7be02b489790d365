//! Runs `isobath rest`: from flags to an exit code.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use isobath_emit::findings::RunEvent as Line;
use isobath_emit::http::writer;
use isobath_exec::database::Address;
use isobath_exec::document;
use isobath_exec::http::{Client, ClientConfig as HttpConfig};
use isobath_exec::process::Service as Process;
use isobath_rest::auth::User;
use isobath_rest::caller::Service;
use isobath_rest::external::Mocks;
use isobath_rest::fault::Fault;
use isobath_rest::feedback::Feedback;
use isobath_rest::job::{self, Config, Event};
use isobath_rest::openapi::{self, Api, Loader};
use isobath_rest::probe::ProbeConfig;
use isobath_rest::problem::SamplingConfig;
use isobath_rest::redact;
use isobath_rest::session::{LoginError, Session};
use isobath_rest::suite::DATABASE_VARIABLE;
use isobath_rest::supervisor::{Restarted, Supervisor};

use super::address::{at_port, base, guard, known_port, reset_call};
use super::args::{Budget, PlainService, RestArgs};
use super::baseline::Baseline;
use super::check::{SuiteVerifier, VerifiedSuite};
use super::clock::Clock;
use super::describe;
use super::events::EventLog;
use super::folder::Folder;
use super::instances::{self, DatabaseCopies, PreparedInstance, StartedInstance};
use super::instrumentation::{self, Instrumentation};
use super::interrupt::Interruption;
use super::interrupted::{InterruptedRun, report_lost_targets, report_resumption, wait_until_down};
use super::islands;
use super::journal::Journal;
use super::output;
use super::snapshot;
use super::start::wait;
use super::users::{self, database_password, secrets};
use super::view::View;
use crate::exit::Exit;
use crate::log;
use crate::terminal::{Terminal, Tone};

/// How long a document may take to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a process that does not listen any more may take to end by itself.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// How often a driver is listened to while nothing is searched.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The share of the budget at which the last run of a suite ends at the latest, as far as the run before it tells.
const MAX_USED: f64 = 1.03;

/// Why a run could not start.
pub(super) struct SetupError {
    exit: Exit,
    why: String,
}

impl SetupError {
    pub(super) fn usage(why: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            why: why.into(),
        }
    }

    pub(super) fn unreachable(why: impl Into<String>) -> Self {
        Self {
            exit: Exit::Unreachable,
            why: why.into(),
        }
    }

    pub(super) fn interrupted(why: impl Into<String>) -> Self {
        Self {
            exit: Exit::Interrupted,
            why: why.into(),
        }
    }

    /// The same, with the reason.
    pub(super) fn because(self, reason: &str) -> Self {
        Self {
            why: format!("{}\n{reason}", self.why),
            ..self
        }
    }

    /// The same, of one of several instances of the service.
    pub(super) fn of_instance(self, number: u16) -> Self {
        Self {
            why: format!("instance {number}: {}", self.why),
            ..self
        }
    }

    /// What is wrong.
    #[cfg(test)]
    pub(super) fn why(&self) -> &str {
        &self.why
    }

    /// Prints the reason, and returns the exit code.
    pub(super) fn tell(self, terminal: &Terminal) -> Exit {
        terminal.complain(&format!("error: {}", self.why));
        self.exit
    }
}

/// Runs the job.
pub(crate) fn run(args: &RestArgs) -> Exit {
    let terminal = Terminal::new(args.quiet, false).colored(!args.no_color);
    log::begin();
    match prepare_and_run(args, &terminal) {
        Ok(exit) => exit,
        Err(refusal) => refusal.tell(&terminal),
    }
}

fn prepare_and_run(args: &RestArgs, terminal: &Terminal) -> Result<Exit, SetupError> {
    let interruption = Interruption::listen().map_err(|error| {
        SetupError::usage(format!("cannot install the Ctrl-C handler: {error}"))
    })?;
    let timeout = Duration::try_from_secs_f64(args.timeout)
        .ok()
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| SetupError::usage("--timeout must be greater than 0"))?;
    for language in &args.lang {
        writer::by_name(language)
            .map_err(|error| SetupError::usage(format!("--lang: cannot {error}")))?;
    }
    let baseline = Baseline::read(&args.baseline)?;
    let path = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("isobath-out").join("rest"));
    let is_interrupted = || path.join("plan.json").exists() && InterruptedRun::read(&path).is_ok();
    let interrupted = if args.resume || args.resume_if_interrupted && is_interrupted() {
        Some((Folder::take_over(&path)?, InterruptedRun::read(&path)?))
    } else {
        None
    };
    // Before anything is built or started, which takes time.
    let database = args.database.test_database()?;
    if database.is_some() && args.workers > 1 {
        return Err(SetupError::usage(
            "--db requires --workers 1: parallel tests would see each other's rows; --instances runs services with databases of their own",
        ));
    }
    if let Some((folder, _)) = &interrupted {
        snapshot::restore(folder.path(), &args.database, terminal)?;
    }
    instances::check(args, terminal)?;
    let instrumentation = if args.dry_run {
        None
    } else {
        Instrumentation::prepare(args, terminal)?
    };
    // Before any instance is connected to the database.
    let copies = match args.dry_run {
        true => DatabaseCopies::default(),
        false => DatabaseCopies::create(args, &interruption, terminal)?,
    };
    let prepared = PreparedInstance::first(args, instrumentation, terminal)?;
    let others = match args.dry_run {
        true => Vec::new(),
        false => prepared.others(args, &copies)?,
    };
    // The document may be served by the service itself, so that must be up first.
    if let (Some(_), Some(_), Some(url)) = (&prepared.args.start, &interrupted, &prepared.args.url)
    {
        wait_until_down(url);
    }
    let mut instance = prepared.start(&interruption, terminal)?;
    let built = instance.built.take();
    let flags = instance.args.clone();
    let args = &flags;
    let started = instance.process.as_ref();
    if args.spec.contains("://") {
        wait(args, &args.spec, started, terminal)?;
    }
    let document = document(&args.spec)?;
    let loader = DocumentLoader {
        from: &document.location,
        remote: args.remote,
    };
    let mut api = openapi::read(&document.text, &document.location, &loader)
        .map_err(|error| SetupError::usage(error.to_string()))?;
    if api.operations.is_empty() {
        return Err(SetupError::usage(format!(
            "{} describes no operation",
            args.spec
        )));
    }
    args.select.select(&mut api)?;
    if args.dry_run {
        describe::describe(&api, terminal);
        return Ok(Exit::Clean);
    }
    let mut users = users::users(args)?;
    let base = base(args, &api, &document.location)?;
    // Documents may be large, and runs long.
    drop(document);
    users::relative_to(&base, &mut users);
    guard(&base, args.remote)?;
    wait(args, &base, started, terminal)?;
    let others = instances::start_all(others, &interruption, terminal)?;
    let started = Instant::now();
    let (folder, interrupted) = match interrupted {
        Some((folder, interrupted)) => (folder, Some(interrupted)),
        None => (Folder::take(&path)?, None),
    };
    let unwritable = |error: io::Error| {
        let path = folder.path().display();
        SetupError::usage(format!("cannot write to {path}: {error}"))
    };
    if interrupted.is_none() {
        folder.plan(args, &base).map_err(unwritable)?;
    }
    let before = interrupted
        .as_ref()
        .map_or(0.0, |interrupted| interrupted.seconds);
    let log = EventLog::open(folder.path(), started, before).map_err(unwritable)?;
    log::hide(secrets(args, &users));
    log::hide(database_password(args).as_deref());
    log::open(&folder.path().join("isobath.log")).map_err(unwritable)?;
    let client = move |flag: &Arc<AtomicBool>| {
        Client::new(HttpConfig {
            timeout,
            interrupt: Some(Arc::clone(flag)),
            ..HttpConfig::default()
        })
    };
    let sessions = log_in_first(
        args,
        &base,
        &mut users,
        client(&interruption.interrupt),
        terminal,
    )?;
    let plain = Arc::new(OnceLock::new());
    let setup = ServiceSetup {
        api: Arc::new(api),
        users: &users,
        client: &client,
        interruption: &interruption,
        terminal,
    };
    let service = setup.service(instance, base.clone(), sessions, &plain)?;
    if let Some(kept) = service.with_database(|data| snapshot::keep(folder.path(), &data.state)) {
        kept.map_err(unwritable)?;
    }
    let mut service_copies = Vec::new();
    let quiet = Terminal::new(true, false);
    let setup = ServiceSetup {
        terminal: &quiet,
        ..setup
    };
    for (number, other) in (2..).zip(others) {
        let copy = setup.copy(other, &service);
        service_copies.push(copy.map_err(|error| error.of_instance(number))?);
    }
    if args.inline_secrets {
        log::allow_in_files();
    }
    print_header(args, &service, terminal);
    let log = Arc::new(Mutex::new(log));
    let clock = Arc::new(Clock::new(before, args.budget));
    let mut config = config(args, &interruption, &clock);
    config.copies = service_copies;
    match &interrupted {
        Some(interrupted) => {
            let (earlier, unknown_candidates) = interrupted.earlier(&service);
            report_resumption(
                interrupted,
                &earlier,
                unknown_candidates,
                &mut lock(&log),
                terminal,
            );
            config.previous = Some(earlier);
        }
        None => {
            clock.start(started);
            begin(args, &service, &log);
        }
    }
    let exchanged = islands::CoveredKeys::default();
    if let Some(folder) = &args.exchange {
        islands::join(&mut config, folder, args.merge, &service, &exchanged);
    }
    interruption.begin();
    let mut journal =
        Journal::open(folder.path(), &service, args.exchange.is_some()).map_err(unwritable)?;
    let view = Arc::new(Mutex::new(View::new(
        args.quiet,
        terminal.is_colored(),
        args.budget,
    )));
    let covered = Arc::new(Mutex::new(BTreeSet::new()));
    let (writing, showing, covering) = (Arc::clone(&log), Arc::clone(&view), Arc::clone(&covered));
    let listening = Arc::clone(&clock);
    let outcome = job::run(&service, &client, &config, move |event: &Event<'_>| {
        listening.on(event);
        journal.on(event);
        if let Event::Covered { target, .. } = event {
            lock(&covering).insert(target.clone());
            exchanged.insert(target);
        }
        let mut writing = lock(&writing);
        writing.on(event);
        let mut showing = lock(&showing);
        showing.on(event);
        for warning in [journal.warning(), writing.warning()].into_iter().flatten() {
            showing.warn(&warning);
        }
    });
    lock(&view).end();
    snapshot::forget(folder.path());
    let outcome = outcome.map_err(|error| SetupError::unreachable(error.to_string()))?;
    warn_about(&service, "", terminal);
    for (number, copy) in (2..).zip(std::mem::take(&mut config.copies)) {
        warn_about(&copy, &format!("instance {number}: "), terminal);
    }
    copies.remove(terminal);
    if let Some(interrupted) = &interrupted {
        report_lost_targets(interrupted, &lock(&covered), terminal);
    }
    let seconds = before + started.elapsed().as_secs_f64();
    let mut run =
        output::FinishedRun::new(args, &service, &users, &outcome, seconds, &interruption)
            .built(built.as_ref())
            .judged(&baseline);
    let row_endpoint = service.with_database(|data| data.row_endpoint().map(str::to_owned));
    // Suites are proven on the service that they start.
    if let Some(service) = args.plain_service(row_endpoint.as_ref().is_some_and(Option::is_some)) {
        let _ = plain.set(service);
    }
    if let Some(database) = args.database.db.clone().or(row_endpoint
        .flatten()
        .and(instrumentation::row_endpoint(args)))
    {
        run.secrets.insert(DATABASE_VARIABLE.to_owned(), database);
    }
    let (suites, files) = write_and_verify(
        args,
        &run,
        folder.path(),
        &interruption,
        &log,
        &client,
        &clock,
    )
    .map_err(unwritable)?;
    lock(&log).write(&Line::Ended {
        calls: outcome.calls,
        seconds,
        covered: outcome.covered as u64,
        faults: outcome.faults.len() as u64,
        early: run.ended_early(),
    });
    run.summarize(terminal, &files, &suites);
    if args.baseline.update_baseline {
        let faults = outcome.faults.iter().map(|(fault, _)| fault);
        let added = baseline.update(faults).map_err(unwritable)?;
        terminal.say(
            Tone::Plain,
            &format!("added {added} faults to the baseline"),
        );
        return Ok(exit(&run, |_| false));
    }
    Ok(exit(&run, |fault| baseline.fails(fault)))
}

/// Says what the user should know of an instance at the end of a run.
fn warn_about(service: &Service, which: &str, terminal: &Terminal) {
    for warning in service
        .with_driver(|feedback| feedback.warnings())
        .unwrap_or_default()
    {
        terminal.insist(Tone::Warning, &format!("warning: {which}{warning}"));
    }
    let failure = service.with_database(|data| data.reset_failure().map(str::to_owned));
    if let Some(failure) = failure.flatten() {
        let warning = format!(
            "warning: {which}the database was not reset, and no rows were inserted: {failure}"
        );
        terminal.insist(Tone::Warning, &warning);
    }
}

/// Does something while what the service tells from inside is read and forgotten: a driver without a reader
/// would wait for room to speak, and the service with it.
fn while_listening<T>(feedback: Option<&Mutex<Box<dyn Feedback>>>, work: impl FnOnce() -> T) -> T {
    let Some(feedback) = feedback else {
        return work();
    };
    std::thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            while is_done.recv_timeout(POLL_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                lock(feedback).end();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Writes everything, runs the suites, and writes what came of that.
fn write_and_verify(
    args: &RestArgs,
    run: &output::FinishedRun<'_>,
    folder: &Path,
    interruption: &Interruption,
    log: &Mutex<EventLog>,
    client: &job::ClientMaker<'_>,
    clock: &Clock,
) -> io::Result<(Vec<VerifiedSuite>, Vec<PathBuf>)> {
    let check = |not_run: Option<String>| {
        let checker = SuiteVerifier {
            folder,
            base: &run.service.base,
            secrets: &run.secrets,
            interruption,
            restart: &|| run.service.supervisor.restart_fresh(),
            has_time: &|run| clock.used_after(run) < MAX_USED,
            not_run,
            first_language: args.lang.first().map_or("", String::as_str),
        };
        let mut suite = run.harmless();
        let languages = args.lang.iter();
        let suites = languages
            .map(|language| checker.check(language, &mut suite))
            .collect::<io::Result<Vec<_>>>()?;
        Ok::<_, io::Error>((suites, suite))
    };
    // First without running anything, so that it is there whatever comes then.
    let not_run = match run.ended_early() {
        Some(why) => Some(why),
        None if args.no_run => Some("--no-run".to_owned()),
        None => None,
    };
    let (mut suites, mut verified) = check(Some(not_run.clone().unwrap_or_default()))?;
    run.write(folder, &suites, &verified)?;
    if not_run.is_none() {
        lock(log).write(&Line::Stage {
            stage: "check".to_owned(),
        });
        // The suites stand for external services themselves, where the service looks for them.
        run.service.with_mocks(Mocks::pause);
        (suites, verified) = while_listening(run.service.feedback.as_ref(), || check(None))?;
    }
    if run.ended_early().is_none() {
        run.call_disruptive(client)?;
    }
    let files = run.write(folder, &suites, &verified)?;
    for suite in &suites {
        lock(log).write(&Line::SuiteWritten {
            language: suite.view.language.clone(),
            passed: suite.view.passed.unwrap_or(0),
            failed: suite.view.excluded.len() as u64,
        });
    }
    Ok((suites, files))
}

fn exit(run: &output::FinishedRun<'_>, fails: impl Fn(&Fault) -> bool) -> Exit {
    let outcome = run.outcome;
    match (&outcome.lost, run.is_interrupted()) {
        (_, true) => Exit::Interrupted,
        (Some(_), false) => Exit::Unreachable,
        (None, false)
            if outcome
                .faults
                .iter()
                .any(|(fault, _)| fails(fault) && run.foreign_rows(fault).is_none()) =>
        {
            Exit::Findings
        }
        (None, false) if run.is_hardly_tested() => Exit::Unreachable,
        (None, false) => Exit::Clean,
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

type Clients = dyn Fn(&Arc<AtomicBool>) -> io::Result<Client>;

/// What the service and its copies are made with.
struct ServiceSetup<'a, C> {
    api: Arc<Api>,
    users: &'a [User],
    client: &'a C,
    interruption: &'a Interruption,
    terminal: &'a Terminal,
}

impl<C> ServiceSetup<'_, C>
where
    C: Fn(&Arc<AtomicBool>) -> io::Result<Client> + Clone + Send + 'static,
{
    /// An instance with logged-in users, its supervisor, its driver and its database.
    fn service(
        &self,
        instance: StartedInstance,
        base: String,
        sessions: Vec<Session>,
        plain: &Arc<OnceLock<PlainService>>,
    ) -> Result<Arc<Service>, SetupError> {
        let args = &instance.args;
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
        service.database = match args.database.data(sees)? {
            Some(data) => Some(data),
            None => args
                .database
                .in_memory_database(instance.rows, self.terminal)?,
        }
        .map(Mutex::new);
        Ok(Arc::new(service))
    }

    /// A further instance of a service, with users of the same names.
    fn copy(&self, instance: StartedInstance, first: &Service) -> Result<Arc<Service>, SetupError> {
        let port = known_port(instance.args.url.as_deref()).unwrap_or_default();
        let base = at_port(Some(&first.base), port);
        let base = base.trim_end_matches('/').to_owned();
        let stop = &self.interruption.interrupt;
        let sessions = log_in(self.client, stop, &base, self.users, instance.args.seed, 0)
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
        let (client, stop) = (self.client.clone(), Arc::clone(&self.interruption.stop));
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
            let sessions = log_in(&client, &stop, &base, &users, seed, life)
                .map_err(|error| error.to_string())?;
            Ok(Restarted {
                sessions,
                exit_reason,
            })
        }))
    }
}

/// Logs the users in for the first time. Those who cannot are left out with a warning, unless nobody can.
fn log_in_first(
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
    client: &Clients,
    flag: &Arc<AtomicBool>,
    base: &str,
    users: &[User],
    seed: u64,
    life: u64,
) -> Result<Vec<Session>, LoginError> {
    let mut client = client(flag).map_err(|error| LoginError {
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

fn print_header(args: &RestArgs, service: &Service, terminal: &Terminal) {
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
    describe::warn_limitations(&service.api, terminal);
}

/// Writes down what the run begins with.
fn begin(args: &RestArgs, service: &Service, log: &Mutex<EventLog>) {
    let mut log = lock(log);
    log.write(&Line::Started {
        title: title(&service.api).to_owned(),
        url: service.base.clone(),
        operations: service.api.operations.len() as u64,
        seed: args.seed,
        algorithm: args.algorithm.to_string(),
    });
    for limitation in describe::limitations(&service.api) {
        log.write(&Line::Limitation(limitation));
    }
}

fn title(api: &Api) -> &str {
    if api.title.is_empty() {
        "the service"
    } else {
        &api.title
    }
}

/// A document, wherever it is.
pub(super) fn document(place: &str) -> Result<document::Document, SetupError> {
    document::load(place, PATIENCE).map_err(|error| refuse_document(&error))
}

fn refuse_document(error: &document::LoadError) -> SetupError {
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
        | document::LoadError::Incomplete { .. } => SetupError::unreachable(why),
        _ => SetupError::usage(why),
    }
}

fn config(args: &RestArgs, interruption: &Interruption, clock: &Arc<Clock>) -> Config {
    let (calls, time) = match args.budget {
        Budget::Calls(calls) => (Some(calls), None),
        Budget::Time(time) => (None, Some(time)),
    };
    let clock = Arc::clone(clock);
    let elapsed = move || clock.used();
    Config {
        search: isobath_search::SearchConfig {
            seed: args.seed,
            algorithm: args.algorithm,
            in_flight: job::in_flight(args.workers.max(usize::from(args.instances))),
            ..isobath_search::SearchConfig::default()
        },
        calls,
        time,
        elapsed: Arc::new(elapsed),
        interrupt: Arc::clone(&interruption.interrupt),
        stop: Arc::clone(&interruption.stop),
        workers: args.workers,
        copies: Vec::new(),
        all_tests: args.all_tests,
        sampling: SamplingConfig {
            techniques: args.white.techniques(),
            ..SamplingConfig::default()
        },
        disabled: args.skip.iter().copied().collect::<BTreeSet<_>>(),
        probes: ProbeConfig {
            sql_injection: args.sql_injection,
        },
        previous: None,
        part: job::JobPart::Whole,
        imports: None,
    }
}

/// Documents that a document refers to.
pub(super) struct DocumentLoader<'a> {
    /// Where the first document is.
    pub(super) from: &'a str,
    /// Whether other hosts may be asked.
    pub(super) remote: bool,
}

impl Loader for DocumentLoader<'_> {
    fn load(&self, location: &str) -> Result<String, String> {
        document::load_reference(location, self.from, self.remote, PATIENCE)
            .map(|document| document.text)
            .map_err(|error| error.to_string())
    }
}
