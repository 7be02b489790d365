//! White-box feedback: what a driver or a SQL tap observes during calls.
//!
//! A black box gives no feedback. A driver inside the service reports the scores of code targets and
//! taint-tracking events per call; a SQL tap reports statements. [`Feedback`] is the source,
//! [`CallTrace`] the observations of one call, and [`CodeTargets`] turns them into search targets.
//! Taint tracking is in [`crate::taint`].

mod code;
mod driver;
mod journal;
mod tap;
#[cfg(test)]
mod tests;

pub use code::{CodeCoverage, CodeTargets, CoverageCount, FileCoverage, MissedBranch};
pub use driver::DriverFeedback;
pub use journal::JournalFeedback;
pub use tap::{CombinedFeedback, TapFeedback};

use std::sync::Arc;

use isobath_exec::driver::{Event, ReachedTarget, Target as CodeTarget};

use crate::db_oracle::CallEffect;
use crate::exchange::Exchange;
use crate::external::OutboundCall;
use crate::seeding::{ObservedQuery, SeededRows};

/// Looks into a service while candidates run, one at a time.
pub trait Feedback: std::fmt::Debug + Send {
    /// What there is to cover, by number.
    fn targets(&self) -> &[CodeTarget];

    /// The targets that were covered before anything was called.
    fn covered_at_start(&self) -> &[u32] {
        &[]
    }

    /// How many events were left out so far, because there were too many at once.
    fn lost_events(&self) -> u64 {
        0
    }

    /// Parts of the service that are not watched, with the reasons, as far as is known by now.
    fn uninstrumented(&self) -> &[String] {
        &[]
    }

    /// A candidate begins; these of its values are inputs to follow.
    fn begin(&mut self, inputs: Vec<String>);

    /// The next call is the one of this number.
    fn call(&mut self, number: u16);

    /// What was seen since the candidate began.
    fn end(&mut self) -> CandidateTrace;

    /// What the user should know at the end of a run, about how much was seen.
    fn warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Observations of one candidate.
#[derive(Clone, Debug, Default)]
pub struct CandidateTrace {
    /// The targets that were reached, each with the call that came nearest.
    pub reached: Vec<ReachedTarget>,
    /// What else happened, in order.
    pub events: Vec<Event>,
}

/// Observations of one call: code targets, events, SQL, outbound calls and row changes.
#[derive(Clone, Debug, Default)]
pub struct CallTrace {
    /// Targets that no other call of the candidate came nearer to, with their scores.
    pub reached: Vec<(u32, f64)>,
    /// What else happened, in order.
    pub events: Vec<Event>,
    /// Queries it sent to the database, in order.
    pub queries: Vec<ObservedQuery>,
    /// Outbound calls to external services, in order.
    pub outgoing: Vec<OutboundCall>,
    /// The rows that the candidate inserted.
    pub seeded: Option<Arc<SeededRows>>,
    /// Its effect on the database rows, if observed.
    pub effect: Option<Arc<CallEffect>>,
}

impl CallTrace {
    /// Where the service panicked during the call, the first place first.
    pub fn panics(&self) -> impl Iterator<Item = Panic<'_>> {
        self.events.iter().filter_map(|event| match event {
            Event::Panicked {
                file,
                line,
                message,
                backtrace,
                ..
            } => Some(Panic {
                file,
                line: *line,
                message,
                backtrace,
            }),
            _ => None,
        })
    }

    /// Why the last statement failed that a database refused, with its SQLSTATE first; not that of a broken connection.
    pub fn failed_statement(&self) -> Option<&str> {
        let mut events = self.events.iter().rev();
        events.find_map(|event| match event {
            Event::Statement { failure, .. } => failure
                .as_deref()
                .filter(|failure| !failure.starts_with("08")),
            _ => None,
        })
    }

    /// The last statements that the call sent to a database, with what came back.
    pub fn statements(&self) -> impl Iterator<Item = String> {
        let all: Vec<String> = self
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Statement {
                    text,
                    rows,
                    failure,
                    ..
                } => {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    let came = failure.clone().unwrap_or_else(|| format!("{rows} rows"));
                    Some(format!("{text} ({came})"))
                }
                _ => None,
            })
            .collect();
        let first = all.len().saturating_sub(QUOTED);
        all.into_iter().skip(first)
    }
}

/// Statements that are quoted with a finding: the last ones.
const QUOTED: usize = 3;

/// A panic inside the service.
#[derive(Clone, Copy, Debug)]
pub struct Panic<'a> {
    /// The source file.
    pub file: &'a str,
    /// The line.
    pub line: u32,
    /// The message.
    pub message: &'a str,
    /// The stack; may be empty.
    pub backtrace: &'a str,
}

impl Panic<'_> {
    /// What names the cause, whichever operation shows it.
    #[must_use]
    pub fn cause(&self) -> String {
        let word = if self.file.ends_with(".rs") {
            "panicked"
        } else {
            "exception"
        };
        format!("{word} at {}:{}", self.file, self.line)
    }
}

impl std::fmt::Display for Panic<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.cause(), self.message)?;
        if !self.backtrace.is_empty() {
            write!(f, "\n{}", self.backtrace)?;
        }
        Ok(())
    }
}

impl CandidateTrace {
    /// Gives each exchange what its call did.
    pub fn attach_to(self, exchanges: &mut [Exchange]) {
        for reached in self.reached {
            if let Some(exchange) = exchanges.get_mut(usize::from(reached.action)) {
                let reached = (reached.target, reached.score);
                exchange.trace.reached.push(reached);
            }
        }
        for event in self.events {
            let call = match &event {
                Event::Statement { action, .. }
                | Event::Tracked { action, .. }
                | Event::Parameter { action, .. }
                | Event::Body { action, .. }
                | Event::Panicked { action, .. }
                | Event::Called { action, .. } => usize::from(*action),
                _ => continue,
            };
            if let Some(exchange) = exchanges.get_mut(call) {
                exchange.trace.events.push(event);
            }
        }
    }
}
