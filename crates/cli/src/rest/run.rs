//! Runs `isobath rest`: from flags to an exit code.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use isobath_emit::findings::RunEvent as Line;
use isobath_emit::http::writer;
use isobath_exec::document;
use isobath_rest::auth::User;
use isobath_rest::caller::Service;
use isobath_rest::external::Mocks;
use isobath_rest::fault::Fault;
use isobath_rest::feedback::Feedback;
use isobath_rest::job::{self, Config, Event, RunResult};
use isobath_rest::openapi::{self, Api, Loader};
use isobath_rest::probe::ProbeConfig;
use isobath_rest::problem::SamplingConfig;
use isobath_rest::report::{self, FinishedRun, RunFacts};
use isobath_rest::suite::DATABASE_VARIABLE;
use isobath_rest::verify::{SuiteVerifier, VerifiedSuite};
use isobath_rewrite::build::InstrumentedBuild;

use super::address::{base, guard};
use super::args::{Budget, RestArgs};
use super::baseline::Baseline;
use super::clock::Clock;
use super::describe;
use super::events::EventLog;
use super::folder::{Folder, command_line};
use super::instances::{self, DatabaseCopies, PreparedInstance, StartedInstance};
use super::instrumentation::{self, Instrumentation};
use super::interrupt::Interruption;
use super::interrupted::{InterruptedRun, report_lost_targets, report_resumption, wait_until_down};
use super::journal::Journal;
use super::launch::{LaunchPlan, PlainService};
use super::output;
use super::service::{Clients, ServiceSetup, log_in_first};
use super::snapshot;
use super::start::wait;
use super::users::{self, database_password, secrets};
use super::view::View;
use super::{islands, java};
use crate::exit::Exit;
use crate::log;
use crate::terminal::{Terminal, Tone};

/// How long a document may take to come.
const PATIENCE: Duration = Duration::from_secs(20);

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

/// The stages of a run: check the flags, start the service, read its document, log in, search, hand over.
fn prepare_and_run(args: &RestArgs, terminal: &Terminal) -> Result<Exit, SetupError> {
    let plan = Plan::new(args, terminal)?;
    let interrupted = plan.interrupted()?;
    let started = plan.start(interrupted.is_some())?;
    let described = plan.describe(&started)?;
    if args.dry_run {
        describe::describe(&described.api, terminal);
        return Ok(Exit::Clean);
    }
    let mut run = plan.open(started, described, interrupted)?;
    let outcome = run.search()?;
    run.hand_over(&outcome)
}

/// The flags of a run, checked, with what all stages need.
struct Plan<'a> {
    args: &'a RestArgs,
    terminal: &'a Terminal,
    /// Timeout of a call.
    timeout: Duration,
    baseline: Baseline,
    /// Output directory.
    out: PathBuf,
    interruption: Interruption,
}

/// The service, up, and what its further instances will be.
struct Started {
    instance: StartedInstance,
    others: Vec<PreparedInstance>,
    copies: DatabaseCopies,
}

/// What is to be tested, and as whom.
struct Described {
    api: Api,
    base: String,
    users: Vec<User>,
}

/// The folder of a run that was interrupted, and what it holds.
type Interrupted = Option<(Folder, InterruptedRun)>;

impl<'a> Plan<'a> {
    /// Checks the flags, before anything is built or started, which takes time.
    fn new(args: &'a RestArgs, terminal: &'a Terminal) -> Result<Self, SetupError> {
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
        let default = || PathBuf::from("isobath-out").join("rest");
        Ok(Self {
            timeout,
            baseline: Baseline::read(&args.baseline)?,
            out: args.out.clone().unwrap_or_else(default),
            args,
            terminal,
            interruption,
        })
    }

    /// The run to resume, if there is one.
    fn interrupted(&self) -> Result<Interrupted, SetupError> {
        let is_interrupted =
            || self.out.join("plan.json").exists() && InterruptedRun::read(&self.out).is_ok();
        if self.args.resume || self.args.resume_if_interrupted && is_interrupted() {
            let folder = Folder::take_over(&self.out)?;
            return Ok(Some((folder, InterruptedRun::read(&self.out)?)));
        }
        Ok(None)
    }

    /// Builds and starts the service where the flags say so, and prepares its further instances.
    fn start(&self, is_resumed: bool) -> Result<Started, SetupError> {
        let (args, terminal) = (self.args, self.terminal);
        if args.database.test_database()?.is_some() && args.workers > 1 {
            return Err(SetupError::usage(
                "--db requires --workers 1: parallel tests would see each other's rows; --instances runs services with databases of their own",
            ));
        }
        if is_resumed {
            snapshot::restore(&self.out, &args.database, terminal)?;
        }
        instances::check(args, terminal)?;
        if args.dry_run {
            let prepared = PreparedInstance::first(args, None, terminal)?;
            return Ok(Started {
                instance: prepared.start(args, &self.interruption, terminal)?,
                others: Vec::new(),
                copies: DatabaseCopies::default(),
            });
        }
        let instrumentation = Instrumentation::prepare(args, terminal)?;
        // Before any instance is connected to the database.
        let copies = DatabaseCopies::create(args, &self.interruption, terminal)?;
        let prepared = PreparedInstance::first(args, instrumentation, terminal)?;
        let others = prepared.others(args, &copies)?;
        let launch = &prepared.launch;
        if let (true, Some(_), Some(url)) = (is_resumed, &launch.start, &launch.url) {
            wait_until_down(url);
        }
        Ok(Started {
            instance: prepared.start(args, &self.interruption, terminal)?,
            others,
            copies,
        })
    }

    /// Reads the document, which the service itself may serve.
    fn describe(&self, started: &Started) -> Result<Described, SetupError> {
        let args = self.args;
        let StartedInstance {
            launch, process, ..
        } = &started.instance;
        if args.spec.contains("://") {
            wait(args, &args.spec, process.as_ref(), self.terminal)?;
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
            return Ok(Described {
                api,
                base: String::new(),
                users: Vec::new(),
            });
        }
        let mut users = users::users(args)?;
        let base = base(launch.url.as_deref(), &api, &document.location)?;
        users::relative_to(&base, &mut users);
        guard(&base, args.remote)?;
        wait(args, &base, process.as_ref(), self.terminal)?;
        Ok(Described { api, base, users })
    }

    /// Opens the output directory, logs the users in, and connects to everything that the search uses.
    fn open(
        &self,
        started: Started,
        described: Described,
        interrupted: Interrupted,
    ) -> Result<OpenRun<'_>, SetupError> {
        let (args, terminal) = (self.args, self.terminal);
        let (api, base, mut users) = (described.api, described.base, described.users);
        let (mut instance, copies) = (started.instance, started.copies);
        let others = instances::start_all(args, started.others, &self.interruption, terminal)?;
        let began = Instant::now();
        let unwritable = |error| self.unwritable(&error);
        let (folder, interrupted) = match interrupted {
            Some((folder, interrupted)) => (folder, Some(interrupted)),
            None => {
                let folder = Folder::take(&self.out)?;
                folder.plan(args, &base).map_err(unwritable)?;
                (folder, None)
            }
        };
        let before = interrupted.as_ref().map_or(0.0, |earlier| earlier.seconds);
        let log = EventLog::open(folder.path(), began, before).map_err(unwritable)?;
        log::hide(secrets(args, &users));
        log::hide(database_password(args).as_deref());
        log::open(&folder.path().join("isobath.log")).map_err(unwritable)?;
        let clients = Clients {
            timeout: self.timeout,
        };
        let sessions = log_in_first(
            args,
            &base,
            &mut users,
            clients.client(&self.interruption.interrupt),
            terminal,
        )?;
        let plain = Arc::new(OnceLock::new());
        let (launch, built) = (instance.launch.clone(), instance.built.take());
        let setup = ServiceSetup {
            args,
            api: Arc::new(api),
            users: &users,
            clients,
            interruption: &self.interruption,
            terminal,
        };
        let service = setup.service(instance, base, sessions, &plain)?;
        if let Some(kept) = service.with_database(|data| snapshot::keep(folder.path(), &data.state))
        {
            kept.map_err(unwritable)?;
        }
        let service_copies = setup.copies(others, &service)?;
        if args.inline_secrets {
            log::allow_in_files();
        }
        print_header(args, &service, terminal);
        let clock = Arc::new(Clock::new(before, args.budget));
        Ok(OpenRun {
            config: Config {
                copies: service_copies,
                ..config(args, &self.interruption, &clock)
            },
            log: Arc::new(Mutex::new(log)),
            plan: self,
            launch,
            built,
            copies,
            began,
            before,
            folder,
            interrupted,
            users,
            clients,
            plain,
            service,
            clock,
        })
    }

    fn unwritable(&self, error: &io::Error) -> SetupError {
        let path = self.out.display();
        SetupError::usage(format!("cannot write to {path}: {error}"))
    }
}

/// A run with everything open that it uses.
struct OpenRun<'a> {
    plan: &'a Plan<'a>,
    launch: LaunchPlan,
    built: Option<InstrumentedBuild>,
    copies: DatabaseCopies,
    /// When this part of the run began, and the seconds that an interrupted one took before.
    began: Instant,
    before: f64,
    folder: Folder,
    interrupted: Option<InterruptedRun>,
    users: Vec<User>,
    clients: Clients,
    /// The service without its driver, as soon as suites are proven on it.
    plain: Arc<OnceLock<PlainService>>,
    service: Arc<Service>,
    config: Config,
    log: Arc<Mutex<EventLog>>,
    clock: Arc<Clock>,
}

impl OpenRun<'_> {
    /// Runs the job, with everything that listens to it.
    fn search(&mut self) -> Result<RunResult, SetupError> {
        let Plan {
            args,
            terminal,
            interruption,
            ..
        } = self.plan;
        let service = &self.service;
        match &self.interrupted {
            Some(interrupted) => {
                let (earlier, unknown_candidates) = interrupted.earlier(service);
                report_resumption(
                    interrupted,
                    &earlier,
                    unknown_candidates,
                    &mut lock(&self.log),
                    terminal,
                );
                self.config.previous = Some(earlier);
            }
            None => {
                self.clock.start(self.began);
                begin(args, service, &self.log);
            }
        }
        let exchanged = islands::CoveredKeys::default();
        if let Some(folder) = &args.exchange {
            islands::join(&mut self.config, folder, args.merge, service, &exchanged);
        }
        interruption.begin();
        let is_shared = args.exchange.is_some();
        let mut journal = Journal::open(self.folder.path(), service, is_shared)
            .map_err(|error| self.plan.unwritable(&error))?;
        let view = View::new(args.quiet, terminal.is_colored(), args.budget);
        let view = Arc::new(Mutex::new(view));
        // What an earlier run covered and this one did not.
        let interrupted = self.interrupted.as_ref();
        let lost = interrupted.map(|interrupted| interrupted.covered.clone());
        let lost = Arc::new(Mutex::new(lost.unwrap_or_default()));
        let (log, showing) = (Arc::clone(&self.log), Arc::clone(&view));
        let (clock, missing) = (Arc::clone(&self.clock), Arc::clone(&lost));
        let clients = self.clients;
        let outcome = job::run(
            service,
            &|flag| clients.client(flag),
            &self.config,
            move |event: &Event<'_>| {
                clock.on(event);
                journal.on(event);
                if let Event::Covered { target, .. } = event {
                    lock(&missing).remove(target);
                    if is_shared {
                        exchanged.insert(target);
                    }
                }
                let mut log = lock(&log);
                log.on(event);
                let mut view = lock(&showing);
                view.on(event);
                for warning in [journal.warning(), log.warning()].into_iter().flatten() {
                    view.warn(&warning);
                }
            },
        );
        lock(&view).end();
        snapshot::forget(self.folder.path());
        let outcome = outcome.map_err(|error| SetupError::unreachable(error.to_string()))?;
        warn_about(service, "", terminal);
        for (number, copy) in (2..).zip(std::mem::take(&mut self.config.copies)) {
            warn_about(&copy, &format!("instance {number}: "), terminal);
        }
        std::mem::take(&mut self.copies).remove(terminal);
        if let Some(interrupted) = &self.interrupted {
            report_lost_targets(interrupted, &lock(&lost), terminal);
        }
        Ok(outcome)
    }

    /// Writes suites and reports, runs the suites, and prints the summary.
    fn hand_over(&self, outcome: &RunResult) -> Result<Exit, SetupError> {
        let Plan {
            args,
            terminal,
            baseline,
            interruption,
            ..
        } = self.plan;
        let (service, launch) = (&self.service, &self.launch);
        let seconds = self.before + self.began.elapsed().as_secs_f64();
        let facts = RunFacts {
            spec: args.spec.clone(),
            algorithm: args.algorithm.to_string(),
            seed: args.seed,
            budget: args.budget.to_string(),
            seconds,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command_line(std::env::args()),
            now: jiff::Timestamp::now(),
            accepted: baseline.accepted.clone(),
        };
        let sources = |name: &str| output::source(args, name);
        let mut run = FinishedRun::new(
            facts,
            service,
            &self.users,
            outcome,
            &launch.suite_settings(args),
            &interruption.interrupt,
        );
        run.instrumented = self.built.as_ref().map(output::instrumented_code);
        run.sources = &sources;
        let row_endpoint = service.with_database(|data| data.row_endpoint().map(str::to_owned));
        // Suites are proven on the service that they start.
        let with_rows = row_endpoint.as_ref().is_some_and(Option::is_some);
        if let Some(service) = launch.plain_service(with_rows) {
            let _ = self.plain.set(service);
        }
        let in_memory = row_endpoint
            .flatten()
            .and(instrumentation::row_endpoint(launch));
        if let Some(database) = args.database.db.clone().or(in_memory) {
            run.secrets.insert(DATABASE_VARIABLE.to_owned(), database);
        }
        let unwritable = |error| self.plan.unwritable(&error);
        let (suites, files) = self.write_and_verify(&run).map_err(unwritable)?;
        lock(&self.log).write(&Line::Ended {
            calls: outcome.calls,
            seconds,
            covered: outcome.covered as u64,
            faults: outcome.faults.len() as u64,
            early: run.ended_early(),
        });
        output::Summary { args, run: &run }.print(terminal, &files, &suites);
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

    /// Writes everything, runs the suites, and writes the results.
    fn write_and_verify(
        &self,
        run: &FinishedRun<'_>,
    ) -> io::Result<(Vec<VerifiedSuite>, Vec<PathBuf>)> {
        let (args, folder, log) = (self.plan.args, self.folder.path(), &self.log);
        let variables = suite_variables();
        let check = |not_run: Option<String>| {
            let checker = SuiteVerifier {
                folder,
                redact: &|text| log::redacted(text).into_owned(),
                base: &run.service.base,
                secrets: &run.secrets,
                variables: &variables,
                interrupt: &self.plan.interruption.interrupt,
                clock: &|| self.began.elapsed(),
                restart: &|| run.service.supervisor.restart_fresh(),
                has_time: &|run| self.clock.used_after(run) < MAX_USED,
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
        output::write(run, folder, &suites, &verified)?;
        if not_run.is_none() {
            lock(log).write(&Line::Stage {
                stage: "check".to_owned(),
            });
            // The suites stand for external services themselves, where the service looks for them.
            run.service.with_mocks(Mocks::pause);
            (suites, verified) = while_listening(run.service.feedback.as_ref(), || check(None))?;
        }
        if run.ended_early().is_none() {
            run.call_disruptive(&|flag| self.clients.client(flag))?;
        }
        let files = output::write(run, folder, &suites, &verified)?;
        for suite in &suites {
            lock(log).write(&Line::SuiteWritten {
                language: suite.view.language.clone(),
                passed: suite.view.passed.unwrap_or(0),
                failed: suite.view.excluded.len() as u64,
            });
        }
        Ok((suites, files))
    }
}

/// Environment variables of test runners.
fn suite_variables() -> Vec<(String, String)> {
    // What cargo builds is large, and the same for every suite.
    let target = std::env::temp_dir().join("isobath-rest-target");
    let cargo = ("CARGO_TARGET_DIR".to_owned(), target.display().to_string());
    std::iter::once(cargo).chain(java::for_maven()).collect()
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

fn exit(run: &FinishedRun<'_>, fails: impl Fn(&Fault) -> bool) -> Exit {
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
    for limitation in report::limitations(&service.api) {
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
