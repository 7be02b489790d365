//! `isobath rest`: runs the REST job and writes its results.

mod address;
mod agent;
mod args;
mod baseline;
mod check;
mod clock;
mod database;
mod describe;
mod events;
mod folder;
mod instances;
mod instrumentation;
mod interpreter;
mod interrupt;
mod interrupted;
mod islands;
mod java;
mod journal;
mod jvm;
mod lines;
mod mock;
mod output;
mod python;
pub(crate) mod replay;
pub(crate) mod resume;
mod run;
mod rust;
mod select;
mod snapshot;
mod start;
mod unpack;
mod users;
mod view;

pub(crate) use args::{Budget, RestArgs};
pub(crate) use folder::command_line;
pub(crate) use run::run;
