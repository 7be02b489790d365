//! The `isobath` command: flags to jobs, results to the terminal, outcomes to exit codes.

mod demo;
mod exit;
mod input;
mod output;
mod query;
mod rest;
mod schema;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Candidates are many small vectors; half of a run's time went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    /// The example service, built instrumented, searched white-box for half a minute.
    Demo(demo::DemoArgs),
    /// Tests for a REST API from its OpenAPI document.
    Rest(Box<rest::RestArgs>),
    /// Tests for the integrity constraints of a SQL schema.
    Schema(Box<schema::SchemaArgs>),
    /// The smallest rows that exercise every part of SQL queries.
    Query(Box<query::QueryArgs>),
}

fn main() -> ExitCode {
    // In white-box runs cargo calls this program in place of the compiler.
    let arguments: Vec<_> = std::env::args_os().collect();
    if isobath_rewrite::wrapper::is_call(&arguments) {
        let settings = isobath_rewrite::wrapper::Settings::from_environment();
        return isobath_rewrite::wrapper::run(arguments.into_iter().skip(1).collect(), settings);
    }
    // Whatever the input, a panic is our fault, and the caller learns so by the exit code.
    std::panic::set_hook(Box::new(|panic| {
        terminal::internal_error(&panic.to_string());
        std::process::exit(exit::Exit::Internal.code());
    }));
    match Cli::parse().job {
        Job::Demo(args) => demo::run(&args).into(),
        Job::Rest(args) => rest::run(&args).into(),
        Job::Schema(args) => schema::run(&args).into(),
        Job::Query(args) => query::run(&args).into(),
    }
}
