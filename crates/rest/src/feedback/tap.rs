//! Feedback from a SQL tap between the service and its database.

use std::collections::BTreeSet;

use isobath_exec::driver::{Event, Target as CodeTarget};
use isobath_exec::tap::Tap;
use isobath_sql::DialectName;

use super::{CandidateTrace, Feedback};

/// A service whose statements are seen on the wire.
#[derive(Debug)]
pub struct TapFeedback {
    tap: Tap,
}

impl TapFeedback {
    /// Listens to a tap.
    #[must_use]
    pub fn new(tap: Tap) -> Self {
        Self { tap }
    }
}

impl Feedback for TapFeedback {
    fn targets(&self) -> &[CodeTarget] {
        &[]
    }

    fn begin(&mut self, _: Vec<String>) {
        self.tap.begin_candidate();
    }

    fn call(&mut self, number: u16) {
        self.tap.begin_action(number);
    }

    fn end(&mut self) -> CandidateTrace {
        let (statements, events) = self.tap.statements();
        let mut seen = CandidateTrace::default();
        seen.events.extend(statements.into_iter().map(Event::from));
        if events > 0 {
            seen.events.push(Event::Dropped { events });
        }
        seen
    }

    fn warnings(&mut self) -> Vec<String> {
        let mut warnings = self.tap.warnings();
        let counts = self.tap.counts();
        if counts.connections == 0 {
            warnings.push(format!(
                "the service never connected to the SQL tap at {}, so its statements were not observed; pass the environment variable with its database URL with --db-env",
                self.tap.at()
            ));
        }
        if counts.not_understood > 0 {
            warnings.push(format!(
                "{} messages between the service and its database could not be parsed",
                counts.not_understood
            ));
        }
        warnings
    }
}

/// Several ways of looking into one service: a driver inside it, and a tap before its database.
#[derive(Debug)]
pub struct CombinedFeedback {
    /// The one with targets; targets of others would have the same numbers.
    first: Box<dyn Feedback>,
    others: Vec<Box<dyn Feedback>>,
    /// Whether statements came from the first, and whether from the others.
    told: (bool, bool),
}

impl CombinedFeedback {
    /// Puts others beside one that has the targets.
    #[must_use]
    pub fn new(first: Box<dyn Feedback>, others: Vec<Box<dyn Feedback>>) -> Self {
        Self {
            first,
            others,
            told: (false, false),
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Box<dyn Feedback>> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }
}

impl Feedback for CombinedFeedback {
    fn targets(&self) -> &[CodeTarget] {
        self.first.targets()
    }

    fn covered_at_start(&self) -> &[u32] {
        self.first.covered_at_start()
    }

    fn lost_events(&self) -> u64 {
        self.first.lost_events()
    }

    fn uninstrumented(&self) -> &[String] {
        self.first.uninstrumented()
    }

    fn begin(&mut self, inputs: Vec<String>) {
        for other in &mut self.others {
            other.begin(inputs.clone());
        }
        self.first.begin(inputs);
    }

    fn call(&mut self, number: u16) {
        self.all().for_each(|feedback| feedback.call(number));
    }

    fn end(&mut self) -> CandidateTrace {
        let mut seen = self.first.end();
        self.told.0 |= seen.events.iter().any(|event| dialect(event).is_some());
        for other in &mut self.others {
            let mut told = other.end().events;
            // A statement that a driver saw leave is the one that the tap saw pass, where more is known of it.
            let passed: BTreeSet<DialectName> = told.iter().filter_map(dialect).collect();
            self.told.1 |= !passed.is_empty();
            seen.events
                .retain(|event| dialect(event).is_none_or(|of| !passed.contains(&of)));
            seen.events.append(&mut told);
        }
        seen
    }

    fn warnings(&mut self) -> Vec<String> {
        let mut warnings = self.first.warnings();
        // A tap that no statement passed is not missed where the driver saw them.
        if self.told != (true, false) {
            let of_others = self.others.iter_mut().flat_map(|other| other.warnings());
            warnings.extend(of_others);
        }
        warnings
    }
}

/// The dialect of a statement.
fn dialect(event: &Event) -> Option<DialectName> {
    match event {
        Event::Statement { database, .. } => database.parse().ok(),
        _ => None,
    }
}
