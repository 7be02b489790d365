//! Finds candidates that cover as many targets as possible, for any [`Problem`].
//!
//! Stands between a job, which knows what a candidate is and how to run one, and
//! the suite that it hands over. The search decides what to try next; the job
//! tries it and says how near it came to each target that it touched.
//!
//! This crate has never heard of a gene, of HTTP or of SQL. It has no clock and
//! starts nothing: how much of the time is used is asked of a closure
//! ([`Budget`]), and answers are told to it in any order, from as many workers
//! as there are ([`Search`]).
//!
//! # Reading order
//!
//! [`Problem`] and [`Evaluation`] for the two sides of the contract, [`Archive`]
//! for what is remembered, [`algorithm`] for what is tried next, [`Search`] for
//! how answers and questions meet, [`minimize()`] for what is handed over.
//!
//! # Example
//!
//! ```
//! use isobath_search::{
//!     MutationContext, SearchConfig, Evaluation, Budget, Problem, Rng, Score, Search, TargetId, run,
//! };
//!
//! /// Which number is 4711? The only hint is how far off a guess is.
//! struct Guess;
//!
//! impl Problem for Guess {
//!     type Candidate = i64;
//!     type Answer = f64;
//!
//!     fn sample(&mut self, rng: &mut Rng) -> i64 {
//!         rng.i64(0..1_000_000)
//!     }
//!     fn mutate(&mut self, rng: &mut Rng, parent: &i64, _aim: &MutationContext) -> i64 {
//!         let step = 1 << rng.u32(0..20);
//!         if rng.bool() { parent + step } else { parent - step }
//!     }
//!     fn score(&mut self, _candidate: &i64, distance: f64) -> Evaluation {
//!         Evaluation::new(vec![Score::of_distance(TargetId::from_index(0), distance)], 1)
//!     }
//! }
//!
//! let budget = Budget::default().evaluations(5_000);
//! let mut search = Search::new(Guess, &SearchConfig::default(), budget);
//! run(&mut search, |guess| Ok::<_, std::convert::Infallible>((guess - 4711).abs() as f64)).unwrap();
//! let outcome = search.finish();
//! let found = outcome.archive.covering(TargetId::from_index(0)).unwrap();
//! assert_eq!(*found.candidate, 4711);
//! ```

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]
#![deny(clippy::indexing_slicing)]

mod problem;
mod evaluation;
mod archive;
pub mod algorithm;
mod search;
mod minimize;

mod budget;
mod event;
mod run;
mod target;

pub use algorithm::{Algorithm, AlgorithmKind, MioConfig, MosaConfig, SearchConfig, WtsConfig};
pub use archive::{Archive, ArchiveUpdate, ArchivedCandidate, Member};
pub use budget::{Budget, StopReason};
pub use evaluation::{Evaluation, Score};
pub use event::{Observer, Phase, SearchEvent};
pub use minimize::{MinimizedSuite, MinimizedTest, minimize};
pub use problem::{MutationContext, MutationEffect, MutationFeedback, Problem, Rng};
pub use run::{run, run_with_workers};
pub use search::{Ask, ImportSource, Search, SearchResult, Trial};
pub use target::{TargetId, Targets};
