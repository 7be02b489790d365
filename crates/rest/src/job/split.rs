//! Splits candidates with independent parts into several tests.

use std::collections::BTreeSet;

use isobath_search::{MinimizedTest, Problem, TargetId};

use super::finish::Finish;
use crate::candidate::Candidate;

impl Finish<'_> {
    /// Takes candidates apart into their threads, where these cover the same on their own; few long candidates
    /// are cheap to search with, but a test that fails should say what is wrong.
    pub(super) fn split(
        &mut self,
        suite: Vec<MinimizedTest<Candidate>>,
    ) -> Vec<(Candidate, Vec<TargetId>)> {
        let mut tests = Vec::new();
        for minimal in suite {
            match self.split_candidate(&minimal) {
                Some(parts) => tests.extend(parts),
                None => tests.push(((*minimal.candidate).clone(), minimal.targets)),
            }
        }
        tests
    }

    fn split_candidate(
        &mut self,
        minimal: &MinimizedTest<Candidate>,
    ) -> Option<Vec<(Candidate, Vec<TargetId>)>> {
        if minimal.candidate.steps.len() < 2 || !self.has_time_to_improve() {
            return None;
        }
        // What a call that failed was to give has been replaced by a value of its own.
        let exchanges = self.run(&minimal.candidate)?;
        let succeeded = |id: u32| {
            let mut all = exchanges.iter();
            all.any(|exchange| exchange.step == id && exchange.succeeded())
        };
        let candidate = minimal
            .candidate
            .bound_to(|reference| succeeded(reference.source));
        let independent_parts = candidate.independent_parts();
        if independent_parts.len() < 2 {
            return None;
        }
        let mut left: BTreeSet<TargetId> = minimal.targets.iter().copied().collect();
        let mut parts = Vec::new();
        for thread in &independent_parts {
            let own = self.covered(thread, &left)?;
            own.iter().for_each(|target| {
                left.remove(target);
            });
            if !own.is_empty() {
                parts.push((self.fewer_rows(thread.clone(), &own), own));
            }
        }
        if !left.is_empty() {
            // Some calls see what others did, though nothing is handed from one to the other.
            let mut whole = candidate;
            for thread in &independent_parts {
                let mut rest = whole.clone();
                let is_other = |id: u32| thread.steps.iter().all(|step| step.id != id);
                rest.steps.retain(|step| is_other(step.id));
                if !rest.steps.is_empty() && self.covered(&rest, &left)?.len() == left.len() {
                    whole = rest;
                }
            }
            parts.push((whole, left.into_iter().collect()));
        }
        Some(parts)
    }

    /// The candidate without rows that it covers the same without.
    fn fewer_rows(&mut self, mut candidate: Candidate, targets: &[TargetId]) -> Candidate {
        let wanted: BTreeSet<TargetId> = targets.iter().copied().collect();
        for at in (0..candidate.rows.len()).rev() {
            let Some(fewer) = candidate.without_row(at) else {
                continue;
            };
            match self.covered(&fewer, &wanted) {
                Some(covered) if covered.len() == wanted.len() => candidate = fewer,
                Some(_) => {}
                None => break,
            }
        }
        candidate
    }

    /// Which of the targets a candidate covers; `None` when there is no time to see.
    fn covered(&mut self, candidate: &Candidate, of: &BTreeSet<TargetId>) -> Option<Vec<TargetId>> {
        if !self.has_time_to_improve() {
            return None;
        }
        let exchanges = self.run(candidate)?;
        let seen = self.problem.score(candidate, exchanges);
        let covered = of.iter().copied().filter(|target| seen.covers(*target));
        Some(covered.collect())
    }
}
