//! Reads the state of an interrupted run from its output directory.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use isobath_emit::findings::RunEvent as Line;
use isobath_exec::process::{ReadyCheck, wait_for};
use isobath_rest::caller::Service;
use isobath_rest::job::{PreviousRun, Stage, TimelinePoint};
use isobath_rest::journal::restore;
use serde_json::Value;

use super::events::EventLog;
use super::journal;
use super::run::SetupError;
use crate::log;
use crate::terminal::{Terminal, Tone};

/// How long the service of a run that was killed may take to end.
const EXIT_GRACE: Duration = Duration::from_secs(8);
/// How often it is asked for.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// What a run that was stopped left.
#[derive(Debug, Default)]
pub(super) struct InterruptedRun {
    /// What it had found after so many calls.
    timeline: Vec<TimelinePoint>,
    /// Whether probes had begun.
    searched: bool,
    /// How long it had taken.
    pub(super) seconds: f64,
    /// The targets that it had covered, as sentences.
    pub(super) covered: BTreeSet<String>,
    /// How many times it was resumed.
    pub(super) resumed: u64,
    candidates: Vec<Value>,
}

impl InterruptedRun {
    /// Reads what is there. A line that is not whole was being written when the run was killed.
    pub(super) fn read(folder: &Path) -> Result<Self, SetupError> {
        let lines = |name: &str| {
            std::fs::read(folder.join(name))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .map_err(|error| {
                    let path = folder.join(name);
                    SetupError::usage(format!("cannot read {}: {error}", path.display()))
                })
        };
        let mut interrupted = Self::default();
        let (mut now, mut ended) = (TimelinePoint::default(), None);
        for line in lines("events.ndjson")?.lines() {
            let Ok(event) = serde_json::from_str::<Line>(line) else {
                continue;
            };
            ended = None;
            match event {
                Line::Covered { calls, target } => {
                    now.calls = now.calls.max(calls);
                    interrupted.covered.insert(target);
                    now.covered = now.covered.max(interrupted.covered.len());
                }
                Line::Fault { calls, .. } | Line::Service { calls, .. } => {
                    now.calls = now.calls.max(calls);
                }
                Line::Progress(progress) => {
                    now.calls = now.calls.max(progress.calls);
                    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                    now.covered = now.covered.max(count(progress.covered));
                    now.faults = now.faults.max(count(progress.faults));
                    interrupted.seconds = interrupted.seconds.max(progress.seconds);
                    interrupted.timeline.push(now);
                }
                Line::Resumed { .. } => interrupted.resumed += 1,
                Line::Ended { early, .. } => ended = Some(early),
                Line::Stage { stage } => {
                    interrupted.searched |= stage == Stage::Probe.word();
                }
                Line::Started { .. } | Line::Limitation(_) | Line::SuiteWritten { .. } => {}
            }
        }
        if ended == Some(None) {
            return Err(SetupError::usage(format!(
                "the run in {} is complete; there is nothing to resume",
                folder.display()
            )));
        }
        interrupted.timeline.push(now);
        // A run that was killed before it covered anything has no such file.
        let candidates = lines(journal::NAME).unwrap_or_default();
        let candidates = candidates.lines();
        interrupted.candidates = candidates
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        Ok(interrupted)
    }

    /// Calls that it had made.
    pub(super) fn calls(&self) -> u64 {
        self.timeline.last().map_or(0, |last| last.calls)
    }

    /// State for resuming, and the number of candidates that do not match the current service.
    pub(super) fn earlier(&self, service: &Service) -> (PreviousRun, usize) {
        let schema = service.with_database(|data| data.schema().clone());
        let candidates = self.candidates.iter();
        let candidates: Vec<_> = candidates
            .filter_map(|json| {
                restore(
                    &service.api,
                    schema.as_deref(),
                    service.sessions.len(),
                    json,
                )
            })
            .collect();
        let unknown_candidates = self.candidates.len() - candidates.len();
        let earlier = PreviousRun {
            candidates,
            timeline: self.timeline.clone(),
            searched: self.searched,
        };
        (earlier, unknown_candidates)
    }
}

/// Prints what is resumed.
pub(super) fn report_resumption(
    interrupted: &InterruptedRun,
    earlier: &PreviousRun,
    unknown_candidates: usize,
    log: &mut EventLog,
    terminal: &Terminal,
) {
    let (calls, candidates) = (interrupted.calls(), earlier.candidates.len());
    terminal.say(
        Tone::Plain,
        &format!(
            "resuming after {calls} calls and {:.0} s: running {candidates} archived candidates first",
            interrupted.seconds
        ),
    );
    if unknown_candidates > 0 {
        let line = format!(
            "warning: skipped {unknown_candidates} candidates that do not match the current OpenAPI document, users or database"
        );
        terminal.insist(Tone::Warning, &line);
    }
    log.write(&Line::Resumed {
        calls,
        seconds: interrupted.seconds,
        candidates: candidates as u64,
    });
}

/// Prints targets that were covered before and not again, for example because the service is not reset.
pub(super) fn report_lost_targets(
    interrupted: &InterruptedRun,
    lost: &BTreeSet<String>,
    terminal: &Terminal,
) {
    let Some(first) = lost.first() else {
        return;
    };
    let line = format!(
        "warning: {} of {} targets that were covered before were not covered again, such as `{first}`; \
         --reset or --start gives every run the same state",
        lost.len(),
        interrupted.covered.len()
    );
    terminal.insist(Tone::Warning, &line);
    for target in lost {
        log::line(&format!("not covered again: {target}"));
    }
}

/// Waits until the service of a killed run has exited.
pub(super) fn wait_until_down(url: &str) {
    let ready = ReadyCheck::Url(url.to_owned());
    let started = Instant::now();
    while started.elapsed() < EXIT_GRACE && wait_for(&ready, Duration::ZERO, None).is_ok() {
        std::thread::sleep(PROGRESS_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = r#"{"event":"started","title":"t","url":"u","operations":1,"seed":1,"algorithm":"mio"}
{"event":"covered","calls":3,"target":"GET /a returns 200"}
{"event":"progress","calls":40,"seconds":1.5,"covered":7,"faults":2}
{"event":"covered","calls":44,"target":"GET /a returns 404"}
"#;

    fn folder(events: &str, candidates: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("events.ndjson"), events).expect("a file");
        std::fs::write(folder.path().join(journal::NAME), candidates).expect("a file");
        folder
    }

    #[test]
    fn a_line_that_is_not_whole_is_left_out() {
        let torn = format!("{EVENTS}{{\"event\":\"covered\",\"calls\":4");
        let folder = folder(&torn, "{\"steps\":[]}\n{\"ste");
        let interrupted =
            InterruptedRun::read(folder.path()).unwrap_or_else(|why| panic!("{}", why.why()));
        assert_eq!(interrupted.calls(), 44);
        assert_eq!((interrupted.seconds, interrupted.covered.len()), (1.5, 2));
        assert_eq!(interrupted.candidates.len(), 1);
    }

    #[test]
    fn a_run_that_came_to_its_end_is_not_gone_on_with() {
        let ended = |early: &str| {
            format!(
                "{EVENTS}{{\"event\":\"ended\",\"calls\":50,\"seconds\":2,\"covered\":7,\"faults\":2,\"early\":{early}}}\n"
            )
        };
        let refused = |events: &str| InterruptedRun::read(folder(events, "").path()).is_err();
        assert!(refused(&ended("null")));
        assert!(!refused(&ended("\"interrupted\"")));
        assert!(!refused(EVENTS));
        assert!(!refused(""), "killed before the first event");
    }
}
