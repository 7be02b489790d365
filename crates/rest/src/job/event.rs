//! Events of a run.

use std::sync::Arc;

use isobath_search::{Phase, SearchEvent, TargetId};

use super::PreviousRun;
use crate::caller::Service;
use crate::candidate::Candidate;
use crate::fault::{Fault, FaultKind};
use crate::oracle::crash_cause;
use crate::problem::RestProblem;
use crate::supervisor::Crash;

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// What an earlier run covered is covered again.
    Resume,
    /// Fresh candidates and large populations.
    Explore,
    /// The best candidate of each target, mutated again and again.
    Focus,
    /// Questions that take several calls.
    Probe,
    /// Fewer and shorter tests.
    Minimize,
    /// Every test is verified by running it again.
    Verify,
}

impl Stage {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Explore => "explore",
            Self::Focus => "focus",
            Self::Probe => "probe",
            Self::Minimize => "minimize",
            Self::Verify => "verify",
        }
    }
}

/// Something that happened during a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A stage began.
    Stage(Stage),
    /// A target was covered for the first time.
    Covered {
        /// Calls so far.
        calls: u64,
        /// The target as a sentence.
        target: String,
    },
    /// A candidate is the first to cover something.
    Kept {
        /// The candidate.
        candidate: &'a Candidate,
        /// What, as sentences.
        targets: &'a [String],
    },
    /// A fault was met for the first time.
    Fault {
        /// Calls so far.
        calls: u64,
        /// The fault.
        fault: &'a Fault,
    },
    /// The service crashed.
    Crashed {
        /// Calls so far.
        calls: u64,
        /// How, and whether it is back.
        crash: &'a Crash,
    },
    /// Calls were made.
    Progress {
        /// Calls so far.
        calls: u64,
        /// The share of the budget that is used, from 0.
        used: f64,
        /// Targets met so far.
        targets: usize,
        /// Targets covered so far.
        covered: usize,
    },
}

/// Receives events.
pub(super) type EventSink = Box<dyn FnMut(&Event<'_>)>;

/// Turns what the search and the rest of the job report into the events of a run.
pub(super) struct EventReporter {
    sink: EventSink,
    pub(super) calls: u64,
    targets: usize,
    covered: usize,
    n_faults: usize,
    /// Crashes that were told, by the place of the service in the list of instances.
    n_crashes: Vec<usize>,
    /// What was found over calls, as points where a number rises.
    pub(super) timeline: Vec<TimelinePoint>,
}

/// What was found after so many calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelinePoint {
    /// Calls made.
    pub calls: u64,
    /// Targets covered.
    pub covered: usize,
    /// Faults met.
    pub faults: usize,
}

impl EventReporter {
    /// Continues from where an earlier run was, if there was one.
    pub(super) fn new(sink: EventSink, earlier: Option<&PreviousRun>) -> Self {
        Self {
            sink,
            calls: earlier.map_or(0, PreviousRun::calls),
            targets: 0,
            covered: 0,
            n_faults: 0,
            n_crashes: Vec::new(),
            timeline: earlier.map_or_else(Vec::new, |earlier| earlier.timeline.clone()),
        }
    }

    /// What happens in the search, on the service and its copies; `used` is the share of the budget that is used.
    pub(super) fn on(
        &mut self,
        event: &SearchEvent,
        problem: &RestProblem,
        services: &[Arc<Service>],
        used: f64,
    ) {
        match *event {
            SearchEvent::Phase(Phase::Explore) => self.stage(Stage::Explore),
            SearchEvent::Phase(Phase::Focus) => self.stage(Stage::Focus),
            SearchEvent::Covered { target, .. } => {
                if let Some(target) = problem.targets().get(target) {
                    let target = target.describe(&problem.api);
                    let calls = self.calls;
                    (self.sink)(&Event::Covered { calls, target });
                }
            }
            SearchEvent::Evaluated {
                cost,
                targets,
                covered,
                ..
            } => {
                (self.targets, self.covered) = (targets, covered);
                self.report_new_faults(problem, services);
                self.add_calls(cost, used);
                self.mark();
            }
            SearchEvent::Discovered { .. } | SearchEvent::Ended(_) => {}
        }
    }

    /// A candidate is the first to cover something.
    pub(super) fn keep(
        &mut self,
        candidate: &Candidate,
        covered: &[TargetId],
        problem: &RestProblem,
    ) {
        let targets = covered.iter().filter_map(|target| {
            let target = problem.targets().get(*target)?;
            Some(target.describe(&problem.api))
        });
        let targets: Vec<String> = targets.collect();
        (self.sink)(&Event::Kept {
            candidate,
            targets: &targets,
        });
    }

    /// Adds a timeline point if there is progress.
    pub(super) fn mark(&mut self) {
        let rises =
            |last: &TimelinePoint| last.covered < self.covered || last.faults < self.n_faults;
        if self.timeline.last().is_none_or(rises) {
            self.timeline.push(self.point());
        }
    }

    fn point(&self) -> TimelinePoint {
        TimelinePoint {
            calls: self.calls,
            covered: self.covered,
            faults: self.n_faults,
        }
    }

    /// What was found over calls, to the end of the run.
    pub(super) fn finish(&mut self) -> Vec<TimelinePoint> {
        let end = self.point();
        if self.timeline.last() != Some(&end) {
            self.timeline.push(end);
        }
        std::mem::take(&mut self.timeline)
    }

    pub(super) fn stage(&mut self, stage: Stage) {
        (self.sink)(&Event::Stage(stage));
    }

    /// Calls were made.
    pub(super) fn add_calls(&mut self, calls: u64, used: f64) {
        self.calls += calls;
        (self.sink)(&Event::Progress {
            calls: self.calls,
            used,
            targets: self.targets,
            covered: self.covered,
        });
    }

    /// Reports new faults and crashes; `services` are all instances, or only the first.
    pub(super) fn report_new_faults(&mut self, problem: &RestProblem, services: &[Arc<Service>]) {
        let calls = self.calls;
        let faults = problem.faults();
        for fault in faults.iter().skip(self.n_faults) {
            (self.sink)(&Event::Fault { calls, fault });
        }
        self.n_faults = faults.len();
        if self.n_crashes.len() < services.len() {
            self.n_crashes.resize(services.len(), 0);
        }
        for (service, n_crashes) in services.iter().zip(&mut self.n_crashes) {
            if service.supervisor.restarts() as usize > *n_crashes
                || service.supervisor.lost_reason().is_some()
            {
                for crash in &service.supervisor.crashes(*n_crashes) {
                    (self.sink)(&Event::Crashed { calls, crash });
                    *n_crashes += 1;
                }
            }
        }
    }
}

/// Faults of crashes that no exchange shows.
pub(super) fn unexplained(service: &Service) -> impl Iterator<Item = Fault> {
    let crashes = service.supervisor.crashes(0).into_iter();
    let name = |operation: usize| service.api.operation(operation).name();
    crashes
        .filter(|crash| !crash.is_shown)
        .map(move |crash| match crash.operation.map(name) {
            Some(operation) => Fault {
                others: Default::default(),
                kind: FaultKind::ServiceDied,
                cause: crash_cause(&operation, &crash.exit_reason),
                detail: format!(
                    "the service crashed after {operation}: {}",
                    crash.exit_reason
                ),
                operation,
                evidence: Vec::new(),
                calls: Vec::new(),
            },
            None => Fault {
                others: Default::default(),
                kind: FaultKind::ServiceDied,
                cause: crash_cause("unknown", &crash.exit_reason),
                detail: format!("the service crashed: {}", crash.exit_reason),
                operation: String::new(),
                evidence: Vec::new(),
                calls: Vec::new(),
            },
        })
}
