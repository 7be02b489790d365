//! `isobath campaign`: submits the jobs, waits for their results, collects them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Command};
use isobath_queue::{CampaignQueue, Job, JobResult, LocalQueue, QueueError, WorkQueue};

use super::file::{Campaign, PlannedJob};
use super::job::{JobOutcome, JobProgress};
use super::merged;
use super::remote::{NatsArgs, failure, interrupt, own_name};
use super::worker::{SETTINGS, Worker};
use crate::exit::Exit;
use crate::output;
use crate::terminal::{Terminal, Tone};

/// How often results are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often a line says how far the jobs are.
const SHOW_INTERVAL: Duration = Duration::from_secs(10);
/// How long to rest when the queue does not answer.
const PAUSE: Duration = Duration::from_millis(500);
/// The state of a campaign that has not ended, below its output directory.
const STATE: &str = ".campaign";
/// Where the jobs of the campaign before are kept.
const PREVIOUS: &str = "previous";

/// Run many jobs, on this machine or on workers, and merge their reports.
#[derive(Debug, Args)]
pub(crate) struct CampaignArgs {
    /// Campaign: a list of jobs in TOML.
    #[arg(default_value = "campaign.toml", value_name = "FILE")]
    file: PathBuf,

    /// Output directory; a campaign that was interrupted there is resumed [default: isobath-out/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Number of jobs to run at the same time on this machine [default: the number of cores].
    #[arg(long, conflicts_with = "nats", value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,

    /// Show the progress of all campaigns on the NATS server; runs nothing.
    #[arg(long, requires = "nats")]
    watch: bool,

    /// Print only errors.
    #[arg(long, short)]
    quiet: bool,

    /// Disable colors (also: environment variable NO_COLOR).
    #[arg(long)]
    no_color: bool,

    #[command(flatten)]
    nats: NatsArgs,
}

/// Runs a campaign.
pub(crate) fn run(args: &CampaignArgs, command: &Command) -> Exit {
    let terminal = Terminal::new(args.quiet, false).colored(!args.no_color);
    let done = match args.watch {
        true => watch(args, &terminal),
        false => run_campaign(args, command, &terminal),
    };
    done.unwrap_or_else(|(exit, error)| {
        terminal.complain(&format!("error: {error}"));
        exit
    })
}

type Failure = (Exit, String);

/// Shows progress until it is interrupted.
fn watch(args: &CampaignArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let interrupt = interrupt().map_err(|error| (Exit::Usage, error))?;
    let server = args.nats.connect().map_err(failure)?;
    terminal.say(Tone::Faint, "watching all campaigns; Ctrl-C ends it");
    let mut on = |progress: Option<(&str, &str, &str)>| {
        if let Some((campaign, job, text)) = progress
            && let Ok(progress) = serde_json::from_str::<JobProgress>(text)
        {
            terminal.insist(
                Tone::Plain,
                &format!("{campaign} {job}: {}", progress.line()),
            );
        }
        !interrupt.load(Ordering::Relaxed)
    };
    server.watch(&mut on).map_err(failure)?;
    Ok(Exit::Clean)
}

fn run_campaign(
    args: &CampaignArgs,
    command: &Command,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let usage = |error: String| (Exit::Usage, error);
    let campaign = Campaign::read(&args.file, command).map_err(usage)?;
    let is_remote = args.nats.nats.is_some();
    if is_remote {
        campaign.check_for_secrets().map_err(usage)?;
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = args.workers.map_or(cores, usize::from);
    if !is_remote && workers > 1 {
        campaign.check_islands().map_err(usage)?;
    }
    let interrupt = interrupt().map_err(usage)?;
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("isobath-out").join(&campaign.name));
    let (started, clock) = (jiff::Timestamp::now(), Instant::now());
    let state = State::open(&out, &campaign).map_err(usage)?;
    let out = &state.out;
    if state.is_resumed {
        let line = format!("resuming the campaign in {}", out.display());
        terminal.say(Tone::Plain, &line);
    }
    let jobs: Vec<Job> = campaign.jobs.iter().map(job).collect();
    let waiting = Waiting {
        jobs: &jobs,
        planned: &campaign.jobs,
        inputs: &campaign.inputs,
        out,
        terminal,
        interrupt: &interrupt,
    };
    let results = if is_remote {
        let server = args.nats.connect().map_err(failure)?;
        let queue = server.campaign(&state.id, &campaign.root, campaign.redeliver_after);
        waiting.submit(queue.as_ref())?;
        let results = waiting.wait(queue.as_ref(), &|| None).map_err(failure)?;
        if results.len() == jobs.len() {
            waiting.insist(|| queue.clear())?;
        }
        results
    } else {
        let queue = LocalQueue::open(&campaign.root, out).map_err(failure)?;
        waiting.submit(&queue)?;
        run_locally(&queue, workers.min(jobs.len()), &waiting).map_err(failure)?
    };
    let outcomes = outcomes(&results);
    let command = crate::rest::command_line(without_secrets(std::env::args()));
    let mut report = merged::merge(&campaign, &outcomes, out);
    report.command = Some(command);
    report.started = Some(started.to_string());
    report.seconds = clock.elapsed().as_secs_f64();
    merged::write(out, &report).map_err(|error| usage(error.to_string()))?;
    let is_complete = outcomes.len() == jobs.len();
    if is_complete {
        state
            .end()
            .map_err(|error| usage(format!("cannot write to {}: {error}", out.display())))?;
    }
    merged::summarize(&report, out, terminal);
    if !is_complete {
        terminal.say(
            Tone::Plain,
            "run the same command again to resume the campaign",
        );
        return Ok(Exit::Interrupted);
    }
    Ok(merged::exit(&outcomes))
}

/// The words of the command line without users and passwords of servers.
fn without_secrets(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    words.map(
        |word| match (word.rsplit_once('@'), word.split_once("://")) {
            (Some((_, host)), Some((scheme, _))) => format!("{scheme}://{host}"),
            _ => word,
        },
    )
}

fn job(planned: &PlannedJob) -> Job {
    Job {
        name: planned.name.clone(),
        labels: planned.labels.clone(),
        text: serde_json::to_string(&planned.text).expect("settings are texts and numbers"),
    }
}

fn outcomes(results: &BTreeMap<String, JobResult>) -> BTreeMap<String, (u32, JobOutcome)> {
    let outcome = |(name, result): (&String, &JobResult)| {
        let outcome = serde_json::from_str(&result.text).unwrap_or_else(|error| JobOutcome {
            error: Some(format!("the result is of another version: {error}")),
            ..JobOutcome::default()
        });
        (name.clone(), (result.attempt, outcome))
    };
    results.iter().map(outcome).collect()
}

/// Runs the jobs with workers that are threads of this process.
fn run_locally(
    queue: &LocalQueue,
    workers: usize,
    waiting: &Waiting<'_>,
) -> Result<BTreeMap<String, JobResult>, QueueError> {
    let is_done = AtomicBool::new(false);
    let tell = |_: &str| {};
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|_| {
                let is_done = &is_done;
                scope.spawn(move || {
                    let queue: &dyn WorkQueue = queue;
                    let worker = Worker {
                        queue,
                        name: own_name(),
                        interrupt: waiting.interrupt,
                        tell: &tell,
                    };
                    worker.serve(|| is_done.load(Ordering::Relaxed))
                })
            })
            .collect();
        // A worker that ended by itself cannot write; nobody would run its job.
        let has_failed = || {
            threads
                .iter()
                .any(|thread| thread.is_finished())
                .then_some(())
        };
        let results = waiting.wait(queue, &has_failed);
        is_done.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().unwrap_or(Ok(()))?;
        }
        // What ended while we were interrupted counts.
        results.and_then(|_| queue.results())
    })
}

/// Waits for a campaign.
struct Waiting<'a> {
    jobs: &'a [Job],
    planned: &'a [PlannedJob],
    inputs: &'a [PathBuf],
    out: &'a Path,
    terminal: &'a Terminal,
    interrupt: &'a AtomicBool,
}

impl Waiting<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Adds the jobs that wait for no others; a server that does not answer is asked again.
    fn submit(&self, queue: &dyn CampaignQueue) -> Result<(), Failure> {
        let jobs = self.jobs.iter().zip(self.planned);
        let jobs = jobs.filter(|(_, planned)| planned.after.is_empty());
        let jobs: Vec<Job> = jobs.map(|(job, _)| job.clone()).collect();
        self.insist(|| queue.submit(&jobs, self.inputs))
    }

    /// Adds a job whose others have ended; `added` are the names of those that were.
    fn submit_next(
        &self,
        queue: &dyn CampaignQueue,
        ended: &BTreeMap<String, JobResult>,
        added: &mut BTreeSet<String>,
    ) -> Result<(), QueueError> {
        for (job, planned) in self.jobs.iter().zip(self.planned) {
            let is_due = planned.after.iter().all(|name| ended.contains_key(name));
            if is_due && !planned.after.is_empty() && !added.contains(&job.name) {
                match queue.submit(std::slice::from_ref(job), self.inputs) {
                    // It is tried again.
                    Err(QueueError::Server { .. }) => {}
                    done => {
                        done?;
                        added.insert(job.name.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn insist(&self, ask: impl Fn() -> Result<(), QueueError>) -> Result<(), Failure> {
        loop {
            match ask() {
                Err(QueueError::Server { .. }) if !self.is_interrupted() => thread::sleep(PAUSE),
                done => return done.map_err(failure),
            }
        }
    }

    /// Waits until every job has a result, or we are interrupted, or `gives_up`; brings the files of ended jobs here.
    fn wait(
        &self,
        queue: &dyn CampaignQueue,
        gives_up: &dyn Fn() -> Option<()>,
    ) -> Result<BTreeMap<String, JobResult>, QueueError> {
        let names: BTreeSet<&String> = self.jobs.iter().map(|job| &job.name).collect();
        let mut ended = BTreeMap::new();
        let mut added = BTreeSet::new();
        let mut shown = Instant::now();
        loop {
            for (name, result) in queue.results()? {
                if ended.contains_key(&name) || !names.contains(&name) {
                    continue;
                }
                match queue.collect(&name, &result, &self.out.join(&name)) {
                    Ok(()) => {}
                    // It is asked for again.
                    Err(QueueError::Server { .. }) => continue,
                    Err(error) => return Err(error),
                }
                self.tell(&name, &result, ended.len() + 1);
                ended.insert(name, result);
            }
            self.submit_next(queue, &ended, &mut added)?;
            let is_over = ended.len() == self.jobs.len() || self.is_interrupted();
            if is_over || gives_up().is_some() {
                return Ok(ended);
            }
            if shown.elapsed() > SHOW_INTERVAL {
                self.show(&queue.progress()?, &ended);
                shown = Instant::now();
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn tell(&self, name: &str, result: &JobResult, n_ended: usize) {
        let outcome: JobOutcome = serde_json::from_str(&result.text).unwrap_or_default();
        let (tone, how) = match outcome.exit {
            Some(0) => (Tone::Good, "no findings".to_owned()),
            Some(1) => (Tone::Warning, "findings".to_owned()),
            _ => {
                let error = outcome.error.unwrap_or_default();
                let first = error.lines().next().unwrap_or_default().to_owned();
                (Tone::Bad, format!("failed: {first}"))
            }
        };
        let attempts = match result.attempt {
            1 => String::new(),
            attempts => format!(", {attempts} attempts"),
        };
        let n_jobs = self.jobs.len();
        let seconds = outcome.seconds;
        let line = format!("[{n_ended}/{n_jobs}] {name}: {how} ({seconds:.1} s{attempts})");
        self.terminal.say(tone, &line);
    }

    fn show(&self, progress: &BTreeMap<String, String>, ended: &BTreeMap<String, JobResult>) {
        let running = progress
            .iter()
            .filter(|(name, _)| !ended.contains_key(*name));
        for (name, text) in running {
            if let Ok(progress) = serde_json::from_str::<JobProgress>(text) {
                let line = format!("  {name}: {}", progress.line());
                self.terminal.say(Tone::Faint, &line);
            }
        }
    }
}

/// What must survive this process.
struct State {
    out: PathBuf,
    /// The campaign on a server.
    id: String,
    is_resumed: bool,
    _lock: File,
}

impl State {
    /// Takes an output directory: resumes the campaign that was interrupted there, or begins one.
    fn open(out: &Path, campaign: &Campaign) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot write to {}: {error}", out.display());
        fs::create_dir_all(out).map_err(failed)?;
        let out = &out.canonicalize().map_err(failed)?;
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(out.join(".campaign-lock"))
            .map_err(failed)?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(format!(
                "another campaign is writing to {}; choose another directory with --out",
                out.display()
            ));
        }
        // Another list of jobs is another campaign.
        let jobs: Vec<Job> = campaign.jobs.iter().map(job).collect();
        let jobs = serde_json::to_string(&jobs).expect("a list of texts");
        let (folder, is_same) = (out.join(STATE), |name: &str, text: &str| {
            fs::read_to_string(out.join(STATE).join(name)).is_ok_and(|kept| kept == text)
        });
        let id = fs::read_to_string(folder.join("id")).ok();
        if let (Some(id), true) = (id, is_same("jobs.json", &jobs)) {
            return Ok(Self {
                out: out.clone(),
                id,
                is_resumed: true,
                _lock: lock,
            });
        }
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        for job in &campaign.jobs {
            set_aside(out, &job.name).map_err(failed)?;
        }
        let time = jiff::Timestamp::now().as_millisecond();
        let id = format!("{}-{time}-{}", campaign.name, std::process::id());
        fs::create_dir_all(&folder).map_err(failed)?;
        fs::write(folder.join("jobs.json"), jobs).map_err(failed)?;
        // The last, so that what is there without it was not begun.
        output::put(&folder.join("id"), &id).map_err(|error| error.to_string())?;
        Ok(Self {
            out: out.clone(),
            id,
            is_resumed: false,
            _lock: lock,
        })
    }

    /// Forgets the campaign.
    fn end(&self) -> std::io::Result<()> {
        fs::remove_dir_all(self.out.join(STATE))
    }
}

/// Moves the output of a job of the campaign before aside.
fn set_aside(out: &Path, job: &str) -> std::io::Result<()> {
    let folder = out.join(job);
    // Only what a worker wrote.
    if !folder.join(SETTINGS).exists() {
        return Ok(());
    }
    let previous = out.join(PREVIOUS).join(job);
    if previous.exists() {
        fs::remove_dir_all(&previous)?;
    }
    fs::create_dir_all(out.join(PREVIOUS))?;
    fs::rename(folder, previous)
}
