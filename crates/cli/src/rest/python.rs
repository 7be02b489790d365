//! `--python`: starts a Python service with the driver for white-box testing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use isobath_emit::http::suite::AGENT_PORT;
use isobath_emit::shell::quote_if_needed;
use isobath_exec::driver::Listener;
use isobath_exec::process::listening::processes_at;
use isobath_exec::process::{call_at_once, free_port};
use isobath_exec::tool::Tool;
use isobath_rest::feedback::DriverFeedback;

use super::address::at_port;
use super::args::RestArgs;
use super::instrumentation::{self, InMemoryRows, Instruments, ROW_PORT_VARIABLE, RowPort};
use super::interpreter::Interpreter;
use super::launch::LaunchPlan;
use super::run::SetupError;
use super::unpack;
use crate::terminal::Terminal;

/// Flags for white-box testing of Python services.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "White-box")]
pub(crate) struct PythonArgs {
    /// Python service to test white-box: its ASGI or WSGI application, as module:app or module:factory(). Starts it with the
    /// Isobath driver.
    #[arg(long, value_name = "MODULE:APP", group = "white_box", conflicts_with_all = ["start", "url"])]
    pub python: Option<String>,

    /// Command that starts a Python service to test white-box. {port} is replaced by its port, {db} by the URL of --db; without
    /// {port}, pass --url.
    #[arg(
        long,
        value_name = "CMD",
        group = "white_box",
        conflicts_with = "start"
    )]
    pub python_start: Option<String>,

    /// Python interpreter of the service [default: the one of VIRTUAL_ENV, .venv, venv, Poetry, Pipenv or the path].
    #[arg(long, value_name = "FILE")]
    pub python_interpreter: Option<PathBuf>,

    /// Folder of the source code to instrument [default: the working directory].
    #[arg(long, value_name = "FOLDER")]
    pub python_root: Option<PathBuf>,
}

impl PythonArgs {
    /// Whether a Python service is tested white-box.
    pub(super) fn is_wanted(&self) -> bool {
        self.python.is_some() || self.python_start.is_some()
    }
}

/// The driver, as this program has it.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/python.rs"));
}

/// Prints the command that serves an application.
const SERVER: &str = include_str!("python_server.py");
/// How long importing an application may take.
const IMPORT: Duration = Duration::from_secs(120);
/// Requests at once that show whether several processes answer, and how often.
const CROWD: usize = 8;
const ROUNDS: usize = 4;
/// How long workers that hold the listening socket have to answer a request: they may still be importing the application.
const WORKERS: Duration = Duration::from_secs(15);
/// What stands for the port in a command.
const PORT: &str = "{port}";

/// A service that is started with the driver.
pub(super) struct InstrumentedPython {
    listener: Listener,
    /// Port for inserting rows into an in-memory database of the service.
    row_port: RowPort,
    driver: PathBuf,
    interpreter: Interpreter,
    root: PathBuf,
    url: String,
    port: u16,
    /// What starts the service with the driver; `{port}` stands for the port, here and below.
    served: String,
    /// What starts the plain service.
    command: String,
}

impl InstrumentedPython {
    /// Finds the interpreter and the command that the flags name.
    pub(super) fn prepare(args: &RestArgs) -> Result<Self, SetupError> {
        let system = |error: std::io::Error| SetupError::unreachable(error.to_string());
        let flags = &args.python;
        let folder = std::env::current_dir().map_err(system)?;
        let root = match &flags.python_root {
            Some(root) => root.canonicalize().map_err(|error| {
                SetupError::usage(format!("--python-root {}: {error}", root.display()))
            })?,
            None => folder.clone(),
        };
        let interpreter = Interpreter::find(flags.python_interpreter.as_deref(), &folder)?;
        let port = match args.white.port {
            Some(port) => port,
            None => free_port(args.first_port()).map_err(system)?,
        };
        let (mut command, url) = match (&flags.python, &flags.python_start) {
            (Some(application), _) => (server(application, &interpreter, &folder)?, None),
            (None, start) => (start.clone().unwrap_or_default(), args.url.clone()),
        };
        let served = flags.python.as_ref().map(|application| {
            let words = ["-m", "isobath_driver", "serve", application, "--port", PORT];
            interpreter.command(&words.map(str::to_owned))
        });
        if url.is_none() && !command.contains(PORT) {
            return Err(SetupError::usage(
                "--python-start requires {port} in the command, or --url, to detect when the service is up",
            ));
        }
        for argument in &args.white.service {
            command.push_str(&format!(" {}", quote_if_needed(argument)));
        }
        let listener = Listener::open_loopback().map_err(system)?;
        Ok(Self {
            row_port: RowPort::find(&listener, port)?,
            listener,
            driver: unpack::folder_of(&unpack::cache(), "python", embedded::SOURCES)?,
            interpreter,
            root,
            url: url.unwrap_or_else(|| format!("http://127.0.0.1:{port}")),
            port,
            served: served.unwrap_or_else(|| command.clone()),
            command,
        })
    }

    /// Another instance of the same service, at another port.
    pub(super) fn another(&self, port: u16) -> Result<Self, SetupError> {
        if !self.served.contains(PORT) {
            return Err(SetupError::usage(
                "--instances requires {port} in the command of --python-start: each instance has a port of its own",
            ));
        }
        let listener = Listener::open_loopback()
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        Ok(Self {
            row_port: self.row_port.another(&listener)?,
            listener,
            driver: self.driver.clone(),
            interpreter: self.interpreter.clone(),
            root: self.root.clone(),
            url: at_port(Some(&self.url), port),
            port,
            served: self.served.clone(),
            command: self.command.clone(),
        })
    }

    /// Adds what starts this service.
    pub(super) fn add_to(&self, args: &RestArgs, launch: &mut LaunchPlan) {
        let with_rows = format!(
            "{ROW_PORT_VARIABLE}={AGENT_PORT} PYTHONPATH={} ",
            quote_if_needed(&self.python_path())
        );
        launch.url = Some(self.url.clone());
        launch.start = Some(self.served.replace(PORT, &self.port.to_string()));
        launch.plain_start = Some(self.command.replace(PORT, &self.port.to_string()));
        launch.suite_start = Some(self.plain(""));
        launch.suite_start_with_rows = Some(self.plain(&with_rows));
        launch.variables = self.variables(args);
    }

    /// What starts the plain service from anywhere, for suites; with more variables, if any.
    fn plain(&self, more: &str) -> String {
        let environment = self.interpreter.activation();
        let port = format!("PORT={PORT} ");
        let port = if self.command.contains(PORT) {
            port.as_str()
        } else {
            ""
        };
        let folder = std::env::current_dir().unwrap_or_default();
        let folder = quote_if_needed(&folder.to_string_lossy());
        let command = self.command.strip_prefix("exec ").unwrap_or(&self.command);
        let is_simple = !command.contains(['&', ';', '|', '\n', '(', '<', '>']);
        let exec = if is_simple { "exec " } else { "" };
        let script = quote_if_needed(&format!("cd {folder} && {exec}{command}"));
        format!("env {more}{port}{environment}sh -c {script}")
    }

    /// Where Python finds the driver, then what the user wants it to find.
    fn python_path(&self) -> String {
        let driver = self.driver.display();
        let path = format!("{driver}/site:{driver}");
        match std::env::var("PYTHONPATH") {
            Ok(before) if !before.is_empty() => format!("{path}:{before}"),
            _ => path,
        }
    }

    fn variables(&self, args: &RestArgs) -> Vec<(String, String)> {
        let mut variables = instrumentation::variables(&self.listener, None, args);
        let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
        set("PYTHONPATH", self.python_path());
        set("ISOBATH_PYTHON_ROOT", self.root.display().to_string());
        for (name, patterns) in [
            ("ISOBATH_PYTHON_INCLUDE", &args.white.include),
            ("ISOBATH_PYTHON_EXCLUDE", &args.white.exclude),
        ] {
            if !patterns.is_empty() {
                set(name, patterns.join(":"));
            }
        }
        let code = unpack::cache().join("python-code");
        if unpack::private_folder(&code).is_ok() {
            set("ISOBATH_PYTHON_CACHE", code.display().to_string());
        }
        set("PORT", self.port.to_string());
        // One process serves, where the server lets us say so.
        set("WEB_CONCURRENCY", "1".into());
        // Sets are in the same order in every run.
        set("PYTHONHASHSEED", "0".into());
        set("PYTHONUNBUFFERED", "1".into());
        for (name, value) in self.interpreter.variables() {
            set(name, value);
        }
        variables.push(self.row_port.variable());
        variables
    }

    /// The driver feedback of a service whose driver connects within `timeout`.
    pub(super) fn feedback(
        self,
        terminal: &Terminal,
        timeout: Duration,
    ) -> Result<Instruments, SetupError> {
        let feedback = instrumentation::connect(
            self.listener,
            terminal,
            timeout,
            "the driver found no code to instrument; pass the folder of the service with --python-root, or its installed package with --include",
        )
        .map_err(|error| {
            error.because(
                "A Python service connects when it answers its first request. It does not if it is started by `python -I`, `-E` or `-S`, \
                 by a program that is not Python, or without Starlette (FastAPI), Flask or Django.",
            )
        })?;
        if serving_processes(&self.url, self.port, &feedback) > 1 {
            return Err(SetupError::unreachable(
                "several processes of the service answer requests, and coverage of only one could be seen; start it with one worker, \
                 for example `uvicorn --workers 1` or `gunicorn --workers 1`",
            ));
        }
        Ok(Instruments {
            rows: Some(InMemoryRows::new(&feedback, &self.row_port)),
            feedback: Some(Box::new(feedback)),
            ..Instruments::default()
        })
    }
}

/// How many processes answer requests at a URL.
///
/// One that holds the listening socket need not accept connections: a pool of workers inherits it, too. So only a
/// response counts, and it is waited for as long as there may be another process to give it.
fn serving_processes(url: &str, port: u16, feedback: &DriverFeedback) -> usize {
    let started = Instant::now();
    for round in 0.. {
        let is_over = match processes_at(port).len() {
            0 => round >= ROUNDS,
            1 => true,
            _ => started.elapsed() > WORKERS,
        };
        if is_over || feedback.other_processes() > 0 {
            break;
        }
        call_at_once(url, CROWD);
    }
    feedback.other_processes() + 1
}

/// The command that serves an application with what its environment has installed.
fn server(
    application: &str,
    interpreter: &Interpreter,
    folder: &Path,
) -> Result<String, SetupError> {
    let python = interpreter.python.display().to_string();
    let refuse = |why: String| SetupError::usage(format!("--python {application}: {why}"));
    if !application.contains(':') {
        return Err(refuse(
            "expected module:app, for example main:app or shop.api:create_app()".to_owned(),
        ));
    }
    let tool = Tool {
        command: [&python, "-c", SERVER, application]
            .map(str::to_owned)
            .to_vec(),
        directory: folder.to_path_buf(),
        variables: Vec::new(),
        timeout: IMPORT,
        interrupt: None,
    };
    let ran = tool.run().map_err(|error| {
        refuse(format!(
            "{error}; pass an interpreter with --python-interpreter"
        ))
    })?;
    let line = ran.stdout.lines().last().unwrap_or_default();
    let words: Option<Vec<String>> = match ran.code {
        Some(0) => serde_json::from_str(line).ok(),
        _ => None,
    };
    let Some(words) = words else {
        let said = ran.stderr.trim_end();
        let lines: Vec<&str> = said.lines().collect();
        let last = lines[lines.len().saturating_sub(20)..].join("\n");
        return Err(refuse(format!("cannot serve it with {python}:\n{last}")));
    };
    Ok(interpreter.command(&words))
}
