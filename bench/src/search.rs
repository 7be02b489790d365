//! What the search itself costs per evaluation, with few and with many targets.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::convert::Infallible;
use std::process::ExitCode;
use std::time::Instant;

use isobath_search::{
    AlgorithmKind, Budget, Evaluation, MutationContext, Problem, Rng, Score, Search, SearchConfig,
    TargetId, run,
};

/// How many targets one evaluation touches, as a few calls of a service do.
const TOUCHED: usize = 20;
const EVALUATIONS: u64 = 100_000;
/// The most that one evaluation may cost, in microseconds: as much as the quickest call takes.
const MOST: f64 = 50.0;

/// Candidates that touch some targets, half of which can be covered.
pub(crate) struct Touching {
    pub(crate) n_targets: usize,
}

impl Problem for Touching {
    type Candidate = u64;
    type Answer = ();

    fn sample(&mut self, rng: &mut Rng) -> u64 {
        rng.u64(..)
    }

    fn mutate(&mut self, rng: &mut Rng, parent: &u64, _aim: &MutationContext) -> u64 {
        parent ^ (1 << rng.u32(..64))
    }

    fn score(&mut self, candidate: &u64, (): ()) -> Evaluation {
        let mut rng = Rng::with_seed(*candidate);
        let scores = (0..TOUCHED)
            .map(|_| {
                let index = rng.usize(..self.n_targets);
                let reach = if index.is_multiple_of(2) {
                    1.001
                } else {
                    0.999
                };
                Score::new(TargetId::from_index(index), rng.f64() * reach)
            })
            .collect();
        Evaluation::new(scores, 1)
    }
}

/// Prints microseconds per evaluation, all that the search does included; fails when many targets are not cheap.
pub(crate) fn table() -> ExitCode {
    let mut reached = true;
    println!("algorithm | targets | covered | us/evaluation ({TOUCHED} targets touched by each)");
    for algorithm in AlgorithmKind::ALL {
        for n_targets in [200, 2_000, 20_000] {
            let config = SearchConfig {
                seed: 1,
                algorithm,
                ..SearchConfig::default()
            };
            let limits = Budget::default().evaluations(EVALUATIONS);
            let started = Instant::now();
            let mut search = Search::new(Touching { n_targets }, &config, limits);
            let Ok(_) = run(&mut search, |_| Ok::<_, Infallible>(()));
            let spent = started.elapsed().as_secs_f64() * 1e6 / EVALUATIONS as f64;
            let covered = search.finish().archive.n_covered();
            let verdict = if spent < MOST { "" } else { "  MISSED" };
            reached &= spent < MOST;
            let algorithm = algorithm.to_string();
            println!("{algorithm:9} | {n_targets:7} | {covered:7} | {spent:.2}{verdict}");
        }
    }
    if reached {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
