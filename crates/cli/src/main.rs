//! The `isobath` command: flags to jobs, results to the terminal, outcomes to exit codes.

mod exit;
mod input;
mod schema;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Generates tests for database-backed software by search.
#[derive(Debug, Parser)]
#[command(name = "isobath", version, about, propagate_version = true)]
struct Cli {
    /// The job.
    #[command(subcommand)]
    job: Job,
}

/// The jobs.
#[derive(Debug, Subcommand)]
enum Job {
    /// Tests for the integrity constraints of a SQL schema.
    Schema(Box<schema::SchemaArgs>),
}

fn main() -> ExitCode {
    match Cli::parse().job {
        Job::Schema(args) => schema::run(&args).into(),
    }
}
