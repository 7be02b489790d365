//! `isobath.toml`: default values of flags, under the names of the flags.
//!
//! The keys are derived from the flags ([`keys`]), so there is a single list of them. [`mod@file`]
//! finds and reads the file, [`merge`] merges it into the command line, [`portable`] moves settings to another
//! machine, and [`schema`] describes the file for editors.

#![deny(clippy::indexing_slicing)]

mod check;
mod file;
mod keys;
mod merge;
mod portable;
mod schema;

pub(crate) use check::{ConfigArgs, run};
pub(crate) use merge::with_settings;
pub(crate) use portable::{JobSettings, job_table};

/// Jobs that have a table in the file.
pub(crate) const JOBS: [&str; 3] = ["rest", "query", "schema"];

/// A file that cannot be used: what is wrong, and where.
#[derive(Debug, thiserror::Error)]
#[error("{what}{excerpt}")]
pub(crate) struct ConfigError {
    what: String,
    /// The place as compilers show it, with a line break before it; nothing when there is none.
    excerpt: String,
}
