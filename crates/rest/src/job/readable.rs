//! Replaces taint markers in tests by readable words.

use isobath_search::{Problem, TargetId};

use super::finish::Finish;
use crate::candidate::Candidate;
use crate::exchange::Exchange;
use crate::fault::Fault;
use crate::taint::{WordLength, without_markers};

/// More attempts than these are not spent on one test.
const ATTEMPTS: usize = 5;

/// What a test must still show after its markers are replaced.
pub(super) enum Requirement<'a> {
    /// The same statuses.
    Statuses,
    /// The fault is shown.
    Fault(&'a Fault),
    /// The targets are covered.
    Targets(&'a [TargetId]),
}

/// What it showed in its last run.
pub(super) enum ObservedRequirement<'a> {
    /// It was answered with these.
    Statuses(Vec<Option<u16>>),
    /// It shows the fault.
    Fault(&'a Fault),
    /// It covers these.
    Targets(Vec<TargetId>),
}

impl Finish<'_> {
    /// The candidate with markers replaced by words, as far as it still fulfills its purpose.
    pub(super) fn readable(
        &mut self,
        candidate: Candidate,
        requirement: &Requirement<'_>,
    ) -> Candidate {
        if without_markers(&candidate, WordLength::Short).is_empty() || !self.has_time_to_improve()
        {
            return candidate;
        }
        // What it does now counts, not what it once did.
        let Some(exchanges) = self.run(&candidate) else {
            return candidate;
        };
        let observed = match requirement {
            Requirement::Statuses => ObservedRequirement::Statuses(statuses(&exchanges)),
            Requirement::Fault(fault) => ObservedRequirement::Fault(fault),
            Requirement::Targets(targets) => {
                let seen = self.problem.score(&candidate, exchanges);
                let covered = targets.iter().copied();
                ObservedRequirement::Targets(
                    covered.filter(|target| seen.covers(*target)).collect(),
                )
            }
        };
        for length in [WordLength::Short, WordLength::Same] {
            if let Some(all) = without_markers(&candidate, length).into_iter().next()
                && self.still_holds(&all, &observed)
            {
                return all;
            }
        }
        // Each text alone, on top of those that worked.
        let (mut kept, mut refused) = (candidate, 0);
        for _ in 0..ATTEMPTS {
            let left = without_markers(&kept, WordLength::Same);
            // The first of several is all of them at once.
            let single = left.into_iter().skip(1).nth(refused);
            let Some(attempt) = single else { break };
            if self.still_holds(&attempt, &observed) {
                kept = attempt;
            } else {
                refused += 1;
            }
        }
        kept
    }

    /// Whether a candidate does what it must; not so when there is no time to see.
    pub(super) fn still_holds(
        &mut self,
        candidate: &Candidate,
        observed: &ObservedRequirement<'_>,
    ) -> bool {
        if !self.has_time_to_improve() {
            return false;
        }
        let Some(exchanges) = self.run(candidate) else {
            return false;
        };
        match observed {
            ObservedRequirement::Statuses(before) => statuses(&exchanges) == *before,
            ObservedRequirement::Fault(fault) => {
                let shown = self.problem.judge(candidate, &exchanges);
                shown
                    .iter()
                    .any(|shown| shown.identity() == fault.identity())
            }
            ObservedRequirement::Targets(targets) => {
                let seen = self.problem.score(candidate, exchanges);
                targets.iter().all(|target| seen.covers(*target))
            }
        }
    }
}

/// The statuses of exchanges.
pub(super) fn statuses(exchanges: &[Exchange]) -> Vec<Option<u16>> {
    exchanges.iter().map(Exchange::status).collect()
}
