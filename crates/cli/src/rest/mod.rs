//! `isobath rest`: flags to the REST job, its result to files and to the terminal.

mod args;
mod output;
mod run;

pub(crate) use args::RestArgs;
pub(crate) use run::run;
