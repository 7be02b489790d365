//! `events.ndjson`: the event log of a run, written as events happen, so that it survives a crash.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use isobath_emit::findings::{FaultView, Progress, RunEvent as Line};
use isobath_rest::fault::Fault;
use isobath_rest::job::Event;

use super::lines::LineFile;
use isobath_rest::report::severity;

/// Interval of progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

const LOSS: &str = "a run that is killed from now on cannot be resumed with its whole budget";

/// The file of events.
pub(super) struct EventLog {
    file: LineFile,
    started: Instant,
    /// Seconds that an earlier run had taken.
    before: f64,
    last: Instant,
    faults: u64,
}

impl EventLog {
    /// Opens the file in a folder; what a run that was stopped after so many seconds left in it stays.
    pub(super) fn open(folder: &Path, started: Instant, before: f64) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self {
            file: LineFile::open(folder.join("events.ndjson"), LOSS)?,
            started,
            before,
            last: started,
            faults: 0,
        })
    }

    /// Writes one line. The run does not depend on whether the disk has room for it.
    pub(super) fn write(&mut self, line: &Line) {
        self.file.write(&line.to_line());
    }

    /// The warning about the first event that could not be written; once.
    pub(super) fn warning(&mut self) -> Option<String> {
        self.file.warning()
    }

    /// Writes an event, if it is logged.
    pub(super) fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(stage) => self.write(&Line::Stage {
                stage: stage.word().to_owned(),
            }),
            Event::Covered { calls, target } => self.write(&Line::Covered {
                calls: *calls,
                target: target.clone(),
            }),
            Event::Kept { .. } => {}
            Event::Fault { calls, fault } => {
                self.faults += 1;
                self.write(&Line::Fault {
                    calls: *calls,
                    fault: Box::new(view(fault)),
                });
            }
            Event::Crashed { calls, crash } => {
                self.write(&Line::Service {
                    calls: *calls,
                    up: crash.is_restarted,
                    message: crash.exit_reason.clone(),
                });
            }
            Event::Progress { calls, covered, .. } => {
                if self.last.elapsed() >= PROGRESS_INTERVAL {
                    self.last = Instant::now();
                    self.write(&Line::Progress(Progress {
                        calls: *calls,
                        seconds: self.before + self.started.elapsed().as_secs_f64(),
                        covered: *covered as u64,
                        faults: self.faults,
                    }));
                }
            }
        }
    }
}

/// A fault at its first sight; whether a test shows it is not known yet.
fn view(fault: &Fault) -> FaultView {
    FaultView {
        code: fault.kind.code().into(),
        wfc_code: fault.kind.wfc().map(u32::from),
        root_cause: fault.cause.clone(),
        operation: fault.operation.clone(),
        message: fault.detail.clone(),
        severity: severity(fault.kind),
        seen: 1,
        ..FaultView::default()
    }
}
