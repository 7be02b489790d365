//! Random search: the baseline of all algorithms.

use super::{Algorithm, Context, Evaluated, Proposal, sampled};
use crate::problem::Problem;

/// Samples, and never mutates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl<P: Problem> Algorithm<P> for Random {
    fn propose(&mut self, context: &mut Context<'_, P>) -> Proposal<P::Candidate> {
        sampled(context, 0)
    }

    fn on_evaluated(&mut self, _context: &mut Context<'_, P>, _told: &Evaluated<'_, P::Candidate>) {
    }
}
