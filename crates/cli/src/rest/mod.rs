//! `isobath rest`: flags to the REST job, its result to files and to the terminal.

mod address;
mod args;
mod baseline;
mod check;
mod database;
mod describe;
mod events;
mod folder;
mod inside;
mod interrupt;
mod jvm;
mod output;
pub(crate) mod replay;
mod run;
mod rust;
mod view;

pub(crate) use args::RestArgs;
pub(crate) use run::run;
