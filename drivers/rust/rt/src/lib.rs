//! The runtime that is linked into an instrumented Rust service.
//!
//! Stands between the rewritten source, which calls it at every place worth
//! knowing, and the core, which reads the scores from shared memory and the
//! events from a socket. Without a core (no `ISOBATH_SOCKET`) every call is a
//! load and a branch.
//!
//! It has no dependencies but `distance` and `protocol`, because it must link
//! into any service with any set of dependencies. It never changes a value,
//! never panics, and knows nothing of requests, genes or the search. The
//! names are short because they are written between the words of the source,
//! and may change with the rewriter: nobody else calls them.
//!
//! # Reading order
//!
//! [`probe`] for statements, conditions and comparisons, `view` for how a value
//! of any type is looked at, `measure` for the distances, [`receiver`] and
//! [`outcome`] for replaced methods, `link` for the connection to the core.
//!
//! # Example
//!
//! ```
//! // What `if n == 7` becomes.
//! let n = 4;
//! let seven = match (&n, &7) {
//!     (l, r) => isobath_rt::c(l, r).cmp(0, 0, *l == *r),
//! };
//! assert!(!seven);
//! ```

pub mod probe;
mod view;
mod measure;
pub mod receiver;
pub mod outcome;
mod link;

mod collection;
mod panics;
mod parsing;
mod queue;
mod socket;
mod sqlite;
#[cfg(test)]
mod tests;
mod track;
pub mod arms;

pub use arms::{Val, among, arms};
pub use outcome::q;
pub use probe::{c, copied, flag, flagn, hit, like};
pub use receiver::{call, named, p};
