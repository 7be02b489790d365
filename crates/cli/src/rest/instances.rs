//! Instances of the service: prepared, started, and pointed at databases of their own.
//!
//! A run has one instance, or with `--instances` several. The first uses the test database itself and is the one that suites are
//! verified on; each of the others has a copy of the database as it was before any instance was started.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use isobath_emit::shell::quote_if_needed;
use isobath_exec::database::{Address, DatabaseCopy};
use isobath_exec::process::free_port;
use isobath_exec::tap::environment;
use isobath_rest::caller::Service;
use isobath_rest::feedback::Feedback;
use isobath_rest::suite::DATABASE_VARIABLE;
use isobath_rewrite::build::InstrumentedBuild;

use super::address::{at_port, known_port};
use super::args::RestArgs;
use super::database::Tapped;
use super::instrumentation::{InMemoryRows, Instrumentation, Instruments};
use super::interrupt::Interruption;
use super::launch::LaunchPlan;
use super::mock::{Mocked, with_variables};
use super::run::SetupError;
use super::start::StartedService;
use crate::terminal::{Terminal, Tone};

/// What stands for the port of the service in a command.
const PORT: &str = "{port}";
/// What stands for its database.
const DATABASE: &str = "{db}";

/// Refuses flags that make no sense with several instances.
pub(super) fn check(args: &RestArgs, terminal: &Terminal) -> Result<(), SetupError> {
    if args.instances == 1 {
        return Ok(());
    }
    let is_started = args.start.is_some()
        || args.white.rust.is_some()
        || args.jvm.is_wanted()
        || args.python.is_wanted();
    let why = if !is_started {
        "requires --start, --rust, --jvm or --python: a service that runs already is one instance"
    } else if args.workers > 1 {
        "cannot be used with --workers: each instance runs one test at a time"
    } else if args.database.tap.is_some() {
        "cannot be used with --tap: each instance has an SQL tap of its own"
    } else {
        if args.database.db.is_none() {
            let named = environment::named_databases(|name| std::env::var(name).ok());
            if !named.is_empty() {
                let warning = format!(
                    "warning: all instances use the database of {}; pass it with --db for each to have its own",
                    named.join(", ")
                );
                terminal.insist(Tone::Warning, &warning);
            }
        }
        return Ok(());
    };
    Err(SetupError::usage(format!(
        "--instances {} {why}",
        args.instances
    )))
}

/// Copies of the test database, one for each instance but the first; removed in the end, however the run ends.
#[derive(Default)]
pub(super) struct DatabaseCopies(Vec<Arc<DatabaseCopy>>);

impl DatabaseCopies {
    /// Copies the database, if there is one; to be done before any instance is started.
    pub(super) fn create(
        args: &RestArgs,
        interruption: &Interruption,
        terminal: &Terminal,
    ) -> Result<Self, SetupError> {
        let mut copies = Self::default();
        let Some(original) = args.database.db.as_ref().filter(|_| args.instances > 1) else {
            return Ok(copies);
        };
        for number in 2..=args.instances {
            let test_databases = std::slice::from_ref(original);
            let copy = DatabaseCopy::create(original, test_databases, usize::from(number))
                .map_err(|error| SetupError::unreachable(format!("--instances: {error}")))?;
            let copy = Arc::new(copy);
            let removed = Arc::downgrade(&copy);
            interruption.before_exit(move || {
                if let Some(copy) = removed.upgrade() {
                    let _ = copy.remove();
                }
            });
            copies.0.push(copy);
        }
        let said = format!("copied the database for {} instances", copies.0.len());
        terminal.say(Tone::Faint, &said);
        Ok(copies)
    }

    /// Removes them, and says which are left.
    pub(super) fn remove(self, terminal: &Terminal) {
        for copy in self.0 {
            if let Err(error) = copy.remove() {
                let warning = format!("warning: {} is left: {error}", copy.address());
                terminal.insist(Tone::Warning, &warning);
            }
        }
    }
}

/// An instance before it is started, with what listens for it.
pub(super) struct PreparedInstance {
    /// What starts it.
    pub(super) launch: LaunchPlan,
    instrumentation: Option<Instrumentation>,
    tapped: Option<Tapped>,
    mocked: Option<Mocked>,
}

impl PreparedInstance {
    /// Prepares the first instance, whose service is instrumented or not.
    pub(super) fn first(
        args: &RestArgs,
        instrumentation: Option<Instrumentation>,
        terminal: &Terminal,
    ) -> Result<Self, SetupError> {
        let launch = LaunchPlan::new(args);
        Self::prepare(args, launch, instrumentation, Vec::new(), terminal)
    }

    /// Prepares all further instances, where there are any.
    pub(super) fn others(
        &self,
        args: &RestArgs,
        copies: &DatabaseCopies,
    ) -> Result<Vec<Self>, SetupError> {
        let mut others: Vec<Self> = Vec::new();
        for number in 2..=args.instances {
            let copy = copies.0.get(others.len()).map(|copy| copy.address());
            let before = others.last().unwrap_or(self);
            let other = before.another(args, copy);
            others.push(other.map_err(|error| error.of_instance(number))?);
        }
        Ok(others)
    }

    /// Prepares the next instance, by the flags that the user gave.
    fn another(&self, args: &RestArgs, copy: Option<&Address>) -> Result<Self, SetupError> {
        let mut launch = LaunchPlan::new(args);
        let before = known_port(self.launch.url.as_deref());
        let port = free_port(before.unwrap_or_default().saturating_add(1))
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        launch.url = launch.url.map(|url| at_port(Some(&url), port));
        let mut variables = Vec::new();
        if let Some(Address::SqliteFile(file)) = copy {
            variables = point_at_file(args, file)?;
        }
        if let Some(copy) = copy {
            launch.database = Some(copy.with_password());
        }
        let instrumentation = match &self.instrumentation {
            Some(before) => Some(before.another(args, port)?),
            None => None,
        };
        let quiet = Terminal::new(true, false);
        Self::prepare(args, launch, instrumentation, variables, &quiet)
    }

    fn prepare(
        args: &RestArgs,
        mut launch: LaunchPlan,
        instrumentation: Option<Instrumentation>,
        variables: Vec<(String, String)>,
        terminal: &Terminal,
    ) -> Result<Self, SetupError> {
        let is_own_command = launch.start.is_some();
        if let Some(service) = &instrumentation {
            service.add_to(args, &mut launch);
        }
        if is_own_command {
            fill_port(args, &mut launch);
        }
        launch.variables.extend(variables);
        let tapped = Tapped::open(args, &launch, terminal)?;
        if let Some(tapped) = &tapped {
            tapped.add_to(args, &mut launch);
        }
        fill_database(args, &mut launch, tapped.as_ref().and_then(Tapped::url))?;
        let mocked = Mocked::open(args, &launch, terminal)?;
        if let Some(mocked) = &mocked {
            mocked.add_to(&mut launch);
        }
        Ok(Self {
            launch,
            instrumentation,
            tapped,
            mocked,
        })
    }

    /// Starts it, and waits until its URL answers and its driver is there.
    pub(super) fn start(
        self,
        args: &RestArgs,
        interruption: &Interruption,
        terminal: &Terminal,
    ) -> Result<StartedInstance, SetupError> {
        let launch = self.launch;
        let process = match (&launch.start, args.dry_run) {
            (Some(command), false) => Some(StartedService::start(
                args,
                &launch,
                command,
                interruption,
                terminal,
            )?),
            _ => None,
        };
        let instruments = match self.instrumentation {
            Some(service) => {
                let started = process.as_ref();
                let left = started.map_or(Duration::ZERO, StartedService::time_left);
                let instruments = service.feedback(terminal, left);
                instruments.map_err(|error| match started {
                    Some(started) => started.explain(error),
                    None => error,
                })?
            }
            None => Instruments::default(),
        };
        Ok(StartedInstance {
            is_tapped: self.tapped.is_some(),
            feedback: match self.tapped {
                Some(tapped) => Some(tapped.feedback(instruments.feedback)),
                None => instruments.feedback,
            },
            built: instruments.built,
            rows: instruments.rows,
            mocked: self.mocked,
            process,
            launch,
        })
    }
}

/// An instance that is up.
pub(super) struct StartedInstance {
    /// What it was started by.
    pub(super) launch: LaunchPlan,
    /// Its process, if it was started here.
    pub(super) process: Option<StartedService>,
    /// What tells of its code and of its statements.
    pub(super) feedback: Option<Box<dyn Feedback>>,
    /// Whether a tap sees its statements.
    pub(super) is_tapped: bool,
    /// What its build left.
    pub(super) built: Option<InstrumentedBuild>,
    /// Access to its in-memory database.
    pub(super) rows: Option<InMemoryRows>,
    /// The mocks of the external services that it calls.
    pub(super) mocked: Option<Mocked>,
}

/// Starts the instances after the first, all at once.
pub(super) fn start_all(
    args: &RestArgs,
    others: Vec<PreparedInstance>,
    interruption: &Interruption,
    terminal: &Terminal,
) -> Result<Vec<StartedInstance>, SetupError> {
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let ports = others
        .iter()
        .filter_map(|one| known_port(one.launch.url.as_deref()));
    let ports: Vec<String> = ports.map(|port| port.to_string()).collect();
    let said = format!("starting instances at ports {}", ports.join(", "));
    terminal.say(Tone::Faint, &said);
    let quiet = Terminal::new(true, false);
    thread::scope(|scope| {
        let start = |(number, one): (u16, PreparedInstance)| {
            let quiet = &quiet;
            scope.spawn(move || {
                let started = one.start(args, interruption, quiet);
                started.map_err(|error| error.of_instance(number))
            })
        };
        let threads: Vec<_> = (2..).zip(others).map(start).collect();
        let started = threads.into_iter().map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        // All are waited for: who is up is stopped with the others.
        let started: Vec<_> = started.collect();
        started.into_iter().collect()
    })
}

/// Refuses an instance whose code is numbered in another way than that of the first: its coverage would be taken for that of other code.
pub(super) fn check_targets(first: &Service, other: &Service) -> Result<(), SetupError> {
    let (Some(first), Some(other)) = (&first.feedback, &other.feedback) else {
        return Ok(());
    };
    let first = first.lock().unwrap_or_else(PoisonError::into_inner);
    let other = other.lock().unwrap_or_else(PoisonError::into_inner);
    if first.targets() == other.targets() {
        return Ok(());
    }
    Err(SetupError::unreachable(
        "its code differs from that of the first instance; make sure that the sources do not change while instances start",
    ))
}

/// Puts the port of `--url` into a command of the user's, and into the environment, where the command or several instances need it.
fn fill_port(args: &RestArgs, launch: &mut LaunchPlan) {
    let (Some(start), Some(port)) = (&launch.start, known_port(launch.url.as_deref())) else {
        return;
    };
    if args.instances == 1 && !start.contains(PORT) {
        return;
    }
    let free = ("PORT".to_owned(), PORT.to_owned());
    launch.suite_start = Some(with_variables(start, &[free]));
    launch.start = Some(start.replace(PORT, &port.to_string()));
    launch.variables.push(("PORT".to_owned(), port.to_string()));
}

/// Puts the database into commands that name it: at its tap, if it has one. Suites do without the tap.
fn fill_database(
    args: &RestArgs,
    launch: &mut LaunchPlan,
    at_tap: Option<String>,
) -> Result<(), SetupError> {
    let commands = [&launch.start, &launch.plain_start];
    if !commands
        .into_iter()
        .flatten()
        .any(|command| command.contains(DATABASE))
    {
        return Ok(());
    }
    let Some(database) = args.database.checked(launch.database.as_deref())? else {
        return Err(SetupError::usage(
            "{db} in the command of the service requires --db",
        ));
    };
    let (value, of_suites) = match &database {
        Address::SqliteFile(file) => {
            let path = quote_if_needed(&absolute(file));
            (path.clone(), path)
        }
        database => (
            quote_if_needed(&at_tap.unwrap_or_else(|| database.with_password())),
            // The address may have a password, which is in no suite.
            format!("\"${DATABASE_VARIABLE}\""),
        ),
    };
    let fill = |command: &mut Option<String>, value: &str| {
        if let Some(command) = command {
            *command = command.replace(DATABASE, value);
        }
    };
    if launch.suite_start.is_none() {
        launch.suite_start.clone_from(&launch.start);
    }
    fill(&mut launch.suite_start, &of_suites);
    fill(&mut launch.suite_start_with_rows, &of_suites);
    fill(&mut launch.start, &value);
    fill(&mut launch.plain_start, &value);
    Ok(())
}

/// The variables that name a copy of the database file in place of the file; the command may name it, too.
fn point_at_file(args: &RestArgs, copy: &Path) -> Result<Vec<(String, String)>, SetupError> {
    let Some(Address::SqliteFile(file)) = args.database.test_database()? else {
        return Ok(Vec::new());
    };
    // The longer spelling first: it may end with the shorter one.
    let files = [absolute(&file), file.display().to_string()];
    let variables = environment::file_variables(&files, copy, &args.database.db_env, |name| {
        std::env::var(name).ok()
    });
    let mut commands = [&args.start, &args.python.python_start]
        .into_iter()
        .flatten()
        .chain(&args.white.service);
    if variables.is_empty() && !commands.any(|command| command.contains(DATABASE)) {
        return Err(SetupError::usage(format!(
            "the service must be told its copy of the database: put {DATABASE} for the path of the file into its command or its arguments, \
             set DATABASE_URL to an address with the path of --db, or name the variable with --db-env"
        )));
    }
    Ok(variables)
}

fn absolute(file: &Path) -> String {
    let path = std::path::absolute(file);
    path.as_deref().unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        rest: RestArgs,
    }

    fn args(words: &str) -> RestArgs {
        let words = ["isobath", "openapi.yaml"]
            .into_iter()
            .chain(words.split_whitespace());
        Line::parse_from(words).rest
    }

    fn refused(words: &str) -> String {
        let terminal = Terminal::new(true, false);
        let refusal = check(&args(words), &terminal).err();
        refusal.map_or_else(String::new, |refusal| refusal.why().to_owned())
    }

    #[test]
    fn flags_that_make_no_sense_together_are_refused_with_the_reason() {
        assert_eq!(refused("--instances 1 --workers 4"), "");
        assert_eq!(
            refused("--instances 2 --url http://localhost:1 --start run"),
            ""
        );
        for (words, says) in [
            ("--url http://localhost:1", "runs already"),
            ("--start run --workers 2", "--workers"),
            (
                "--start run --db postgres://h/d --tap 127.0.0.1:6432",
                "--tap",
            ),
        ] {
            let why = refused(&format!("--instances 2 {words}"));
            assert!(
                why.starts_with("--instances 2 ") && why.contains(says),
                "{why}"
            );
        }
    }

    #[test]
    fn commands_get_the_port_and_the_database() {
        let filled = |args: &RestArgs, at_tap: Option<&str>| {
            let mut launch = LaunchPlan::new(args);
            fill_port(args, &mut launch);
            fill_database(args, &mut launch, at_tap.map(str::to_owned))
                .ok()
                .unwrap();
            launch
        };
        let one = filled(&args("--url http://localhost:8080 --start serve"), None);
        assert_eq!(one.start.as_deref(), Some("serve"));
        assert_eq!((one.suite_start, one.variables), (None, Vec::new()));

        let mut several = args("--url http://localhost:8080 --instances 2 --db sqlite:/a/b.db");
        several.start = Some("serve --port {port} --db {db}".to_owned());
        let several = filled(&several, None);
        assert_eq!(
            several.start.as_deref(),
            Some("serve --port 8080 --db /a/b.db")
        );
        assert_eq!(
            several.suite_start.as_deref(),
            Some("env PORT={port} serve --port {port} --db /a/b.db")
        );
        assert_eq!(several.variables, [("PORT".to_owned(), "8080".to_owned())]);

        let mut server = args("--url http://localhost:8080 --db postgres://me:pw@localhost/shop");
        server.start = Some("serve {db}".to_owned());
        let server = filled(&server, Some("postgres://me:pw@127.0.0.1:6000/shop"));
        assert_eq!(
            server.start.as_deref(),
            Some("serve postgres://me:pw@127.0.0.1:6000/shop")
        );
        assert_eq!(
            server.suite_start.as_deref(),
            Some("serve \"$ISOBATH_DATABASE\"")
        );
    }

    #[test]
    fn a_service_that_cannot_learn_its_file_is_refused() {
        let copy = Path::new("/tmp/copy.db");
        let start = |command: &str| {
            let mut args = args("--url http://localhost:1 --db sqlite:/nowhere/shop.db");
            args.start = Some(command.to_owned());
            args
        };
        assert!(point_at_file(&start("serve {db}"), copy).is_ok());
        let Err(refusal) = point_at_file(&start("serve"), copy) else {
            panic!("it would use the same file");
        };
        assert!(refusal.why().contains("{db}"), "{}", refusal.why());
        let mut named = start("serve");
        named.database.db_env = vec!["MY_FILE".to_owned()];
        let variables = point_at_file(&named, copy).ok().unwrap();
        assert_eq!(
            variables,
            [("MY_FILE".to_owned(), "sqlite:/tmp/copy.db".to_owned())]
        );
    }
}
