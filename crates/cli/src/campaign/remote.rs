//! NATS: how to reach a server, and `isobath worker`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use isobath_queue::{NatsServer, QueueError, Server, connect};

use super::file::check_name;
use super::worker::Worker;
use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// Where a server is unless somebody says so.
const LOCAL: &str = "nats://localhost:4222";

/// How to reach a NATS server.
#[derive(Clone, Debug, Args)]
pub(super) struct NatsArgs {
    /// URL of a NATS server with JetStream; several are separated by commas [default: environment variable NATS_URL, or
    /// nats://localhost:4222].
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        default_missing_value = "",
        require_equals = false,
        help_heading = "NATS"
    )]
    pub(super) nats: Option<String>,

    /// Credentials file of the NATS account (also: environment variable NATS_CREDS).
    #[arg(long, value_name = "FILE", help_heading = "NATS")]
    creds: Option<PathBuf>,

    /// Certificates of authorities to trust besides those of the system (also: NATS_CA).
    #[arg(long, value_name = "FILE", help_heading = "NATS")]
    tls_ca: Option<PathBuf>,

    /// Client certificate (also: NATS_CERT).
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "NATS")]
    tls_cert: Option<PathBuf>,

    /// Key of the client certificate (also: NATS_KEY).
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        help_heading = "NATS"
    )]
    tls_key: Option<PathBuf>,
}

impl NatsArgs {
    /// Connects to the server.
    pub(super) fn connect(&self) -> Result<Box<dyn Server>, QueueError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let given = self.nats.clone().filter(|url| !url.is_empty());
        let url = given.or_else(|| variable("NATS_URL"));
        let file = |flag: &Option<PathBuf>, name: &str| {
            flag.clone().or_else(|| variable(name).map(PathBuf::from))
        };
        connect(&NatsServer {
            url: url.unwrap_or_else(|| LOCAL.to_owned()),
            creds: file(&self.creds, "NATS_CREDS"),
            ca: file(&self.tls_ca, "NATS_CA"),
            certificate: file(&self.tls_cert, "NATS_CERT").zip(file(&self.tls_key, "NATS_KEY")),
        })
    }
}

/// Run the jobs of campaigns that come over NATS.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Label of this worker, such as postgres or jvm-17; it takes jobs whose labels it all has. Repeatable.
    #[arg(long, value_name = "LABEL")]
    label: Vec<String>,

    /// Number of jobs to run at the same time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,

    /// Directory for the files of running jobs [default: a temporary one].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Print only errors.
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    nats: NatsArgs,
}

/// Serves until it is interrupted.
pub(crate) fn work(args: &WorkerArgs) -> Exit {
    let terminal = Terminal::new(args.quiet, true);
    match serve(args, &terminal) {
        Ok(()) => Exit::Clean,
        Err((exit, error)) => {
            terminal.complain(&format!("error: {error}"));
            exit
        }
    }
}

fn serve(args: &WorkerArgs, terminal: &Terminal) -> Result<(), (Exit, String)> {
    let usage = |error: String| (Exit::Usage, error);
    for label in &args.label {
        check_name("label", label).map_err(usage)?;
    }
    let interrupt = interrupt().map_err(usage)?;
    let server = args.nats.connect().map_err(failure)?;
    let temporary = tempfile::Builder::new().prefix("isobath-worker-").tempdir();
    let temporary =
        temporary.map_err(|error| usage(format!("cannot create a directory: {error}")))?;
    let scratch = args.dir.as_deref().unwrap_or(temporary.path());
    let labels: BTreeSet<String> = args.label.iter().cloned().collect();
    let tell = |line: &str| terminal.say(Tone::Plain, line);
    tell(&match labels.is_empty() {
        true => "waiting for jobs without labels".to_owned(),
        false => format!(
            "waiting for jobs with labels among {}",
            args.label.join(", ")
        ),
    });
    let ended = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..args.workers)
            .map(|number| {
                // A queue and a folder for each, since two may have deliveries of the same job.
                let queue = server.work(labels.clone(), &scratch.join(number.to_string()));
                let interrupt = &interrupt;
                scope.spawn(move || {
                    let worker = Worker {
                        queue: queue.as_ref(),
                        name: own_name(),
                        interrupt,
                        tell: &tell,
                    };
                    let served = worker.serve(|| false);
                    interrupt.store(true, Ordering::Relaxed);
                    served
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .map(|ended| ended.unwrap_or(Ok(())))
            .collect::<Vec<_>>()
    });
    ended
        .into_iter()
        .collect::<Result<(), _>>()
        .map_err(failure)
}

/// The exit code for a queue that cannot be used.
pub(super) fn failure(error: QueueError) -> (Exit, String) {
    let exit = match &error {
        QueueError::NotBuiltIn | QueueError::File { .. } => Exit::Usage,
        QueueError::Connect { .. } | QueueError::Server { .. } => Exit::Unreachable,
    };
    (exit, error.to_string())
}

/// A flag that the first Ctrl-C or SIGTERM raises; the second ends the program.
pub(super) fn interrupt() -> Result<Arc<AtomicBool>, String> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&interrupt);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted.code());
        }
    };
    ctrlc::set_handler(handler)
        .map_err(|error| format!("cannot install the Ctrl-C handler: {error}"))?;
    Ok(interrupt)
}

/// The name of this worker in reports: the machine and the process.
pub(super) fn own_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let host = host.ok().or_else(|| std::env::var("HOSTNAME").ok());
    let host = host.unwrap_or_else(|| "worker".to_owned());
    format!("{}-{}", host.trim(), std::process::id())
}
