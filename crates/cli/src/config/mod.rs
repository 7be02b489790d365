//! `isobath.toml`: settings that are the same in every run, under the names of the flags.
//!
//! What may be set is read off the flags themselves ([`keys`]), so that there is one list of them. The
//! file is found and read in [`mod@file`], put among the words of the command line in [`merge`], and described
//! for editors in [`schema`].

mod check;
mod file;
mod keys;
mod merge;
mod schema;

pub(crate) use check::{ConfigArgs, run};
pub(crate) use merge::with_settings;

/// Jobs that have a table in the file.
const JOBS: [&str; 3] = ["rest", "query", "schema"];

/// A file that cannot be used: what is wrong, and where.
#[derive(Debug, thiserror::Error)]
#[error("{what}{excerpt}")]
pub(crate) struct ConfigError {
    what: String,
    /// The place as compilers show it, with a line break before it; nothing when there is none.
    excerpt: String,
}
