//! Input validation: are documented constraints enforced?

use std::collections::BTreeSet;

use crate::candidate::StepKind;
use crate::fault::FaultKind;
use crate::sample;

use super::{BaseCandidate, Prober};

/// Rules tried for each operation.
const RULES: usize = 60;

/// Valid but odd inputs tried for each operation.
const MAX_EDGE_CASES: usize = 40;

impl Prober<'_> {
    /// The last call once more, and with inputs that are valid and that careless code trips over: equal values, odd
    /// texts.
    pub(super) fn edge_case_inputs(&mut self, base: &BaseCandidate) {
        let Some(StepKind::Call { action, .. }) =
            base.candidate.steps.last().map(|step| step.kind.clone())
        else {
            return;
        };
        // Once more the same: what must be unique is not any more.
        let mut twice = base.candidate.clone();
        twice.push(base.last().kind.clone(), base.last().user);
        if self.run(&twice).is_none() {
            return;
        }
        for odd in sample::edge_cases(&action.gene).take(MAX_EDGE_CASES) {
            let mut attempt = base.candidate.clone();
            if let Some(step) = attempt.steps.last_mut() {
                step.kind = StepKind::call(action.operation, odd);
            }
            if self.run(&attempt).is_none() {
                return;
            }
        }
    }

    /// The last call with one rule broken, for each rule of its input: a success is a fault.
    pub(super) fn rules(&mut self, base: &BaseCandidate) {
        if !self.checks(FaultKind::InvalidInputAccepted) {
            return;
        }
        let mut tried = BTreeSet::new();
        // What is left out of an input cannot be broken, so look at a fuller one, too.
        for fuller in [false, true] {
            let candidate = if fuller {
                self.vary(base, true)
            } else {
                base.candidate.clone()
            };
            if fuller
                && !self
                    .run_last::<1>(&candidate)
                    .is_some_and(|last| last[0].succeeded())
            {
                continue;
            }
            let Some(StepKind::Call { action, .. }) =
                candidate.steps.last().map(|step| step.kind.clone())
            else {
                return;
            };
            for breach in action.breaches(&self.api) {
                if tried.len() >= RULES || !tried.insert((breach.pointer.clone(), breach.rule)) {
                    continue;
                }
                let Some(broken) =
                    action.breach(&breach, &mut self.rng, &self.problem.sampling.tuning)
                else {
                    continue;
                };
                let mut attempt = candidate.clone();
                if let Some(step) = attempt.steps.last_mut() {
                    step.kind = StepKind::Call {
                        action: broken,
                        breach: Some(breach),
                    };
                }
                if self.run(&attempt).is_none() {
                    return;
                }
            }
        }
    }
}
