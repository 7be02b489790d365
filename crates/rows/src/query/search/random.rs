//! Random search: samples candidates until one covers the target.

use super::operators::CandidateFactory;
use crate::query::candidate::Candidate;

/// Draws candidates until `distance` is zero or the budget is spent; counts what it spends.
pub(in crate::query) fn random(
    factory: &mut CandidateFactory<'_, '_>,
    budget: u64,
    distance: &mut dyn FnMut(&Candidate) -> f64,
) -> (Option<Candidate>, u64) {
    for spent in 1..=budget {
        let candidate = factory.sample();
        if distance(&candidate) == 0.0 {
            return (Some(candidate), spent);
        }
    }
    (None, budget)
}
