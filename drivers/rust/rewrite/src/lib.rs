//! Rewrites the sources of a Rust service so that it tells what it does.
//!
//! Stands between cargo and the compiler: cargo calls it in place of `rustc` for
//! the members of a workspace, and it calls `rustc` on rewritten copies of their
//! sources, linked with the runtime `isobath-rt`. Nothing of the project changes:
//! not its sources, manifests, lock file or features. What cannot be rewritten
//! is left as it is, expression by expression, then file by file, then crate by
//! crate, and listed; a build never fails because of us.
//!
//! It does not know what the targets are for, and opens no connection.
//!
//! # Reading order
//!
//! [`rewrite`] for one file, [`files`] for the files of a crate, `mirror` for how
//! the compiler gets to see them, `diagnose` for what to leave out when it
//! complains, [`wrapper`] for the whole, [`mod@build`] for a project.
//!
//! # Example
//!
//! ```
//! use isobath_rewrite::cfg::Cfg;
//! use isobath_rewrite::rewrite::{SkippedSites, rewrite};
//!
//! let source = "fn big(n: u32) -> bool {\n    n > 9\n}\n";
//! let rewritten = rewrite("shop", "src/lib.rs", source, &Cfg::default(), &SkippedSites::default())?;
//! // The statement, and both outcomes of the comparison.
//! assert_eq!(rewritten.targets.len(), 3);
//! assert_eq!(rewritten.number(0).text.lines().count(), 3);
//! # Ok::<(), String>(())
//! ```

mod diagnose;
mod mirror;
mod runtime;
mod text;

pub mod build;
pub mod cfg;
pub mod files;
pub mod rewrite;
pub mod wrapper;
