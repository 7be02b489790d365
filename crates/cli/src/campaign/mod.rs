//! `isobath campaign` and `isobath worker`: many jobs, on this machine or on many.
//!
//! [`mod@file`] reads the campaign, [`job`] is what a worker gets and what it says at the end, [`worker`] runs jobs, [`remote`]
//! has the flags for NATS, [`mod@run`] submits, waits and collects, and [`merged`] writes the merged report.

mod exchange;
mod file;
mod job;
mod merged;
mod remote;
mod run;
mod worker;

pub(crate) use remote::{WorkerArgs, work};
pub(crate) use run::{CampaignArgs, run};
