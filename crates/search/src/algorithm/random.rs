//! Fresh candidates only: what every other algorithm has to beat.

use super::{Algorithm, Context, Proposal, Told, sampled};
use crate::problem::Problem;

/// Samples, and never mutates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl<P: Problem> Algorithm<P> for Random {
    fn propose(&mut self, context: &mut Context<'_, P>) -> Proposal<P::Candidate> {
        sampled(context, 0)
    }

    fn absorb(&mut self, _context: &mut Context<'_, P>, _told: &Told<'_, P::Candidate>) {}
}
