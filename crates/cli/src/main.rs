//! The `isobath` command: flags to jobs, results to the terminal, outcomes to exit codes.

#![warn(clippy::too_many_lines)]

mod campaign;
mod config;
mod demo;
mod doctor;
mod exit;
mod explain;
mod init;
mod input;
mod log;
mod manual;
mod mcp;
mod nearest;
mod output;
mod query;
mod rest;
mod runs;
mod schema;
mod serve;
mod terminal;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Candidates are many small vectors; half of a run's time went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Generate tests for database-backed software by search.
#[derive(Debug, Parser)]
#[command(name = "isobath", version, about, propagate_version = true)]
struct Cli {
    /// Command.
    #[command(subcommand)]
    job: Job,

    /// Configuration file [default: the nearest isobath.toml in this or a parent directory, up to the repository root].
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,

    /// Ignore isobath.toml.
    #[arg(long, global = true)]
    no_config: bool,
}

/// Commands.
#[derive(Debug, Subcommand)]
enum Job {
    /// Test the bundled example service white-box for 20 seconds, or show another job.
    Demo(demo::DemoArgs),
    /// Write isobath.toml and a CI file for a repository.
    Init(init::InitArgs),
    /// Generate tests for a REST API from its OpenAPI document.
    Rest(Box<rest::RestArgs>),
    /// Generate tests for the integrity constraints of a SQL schema.
    Schema(Box<schema::SchemaArgs>),
    /// Generate minimal rows that cover SQL queries.
    Query(Box<query::QueryArgs>),
    /// Run many jobs, on this machine or on workers, and merge their reports.
    Campaign(campaign::CampaignArgs),
    /// Run the jobs of campaigns that come over NATS.
    Worker(campaign::WorkerArgs),
    /// Resume an interrupted run.
    Resume(rest::resume::ResumeArgs),
    /// Replay the tests of an earlier run and report which faults remain.
    Replay(rest::replay::ReplayArgs),
    /// Show the reports of many runs as a local page: trends, differences, findings.
    Serve(serve::ServeArgs),
    /// Serve the jobs to coding agents and editors over the Model Context Protocol.
    Mcp(mcp::McpArgs),
    /// Explain a fault code.
    Explain(explain::ExplainArgs),
    /// Check isobath.toml or print its JSON Schema.
    Config(config::ConfigArgs),
    /// Check which optional tools are installed.
    Doctor(doctor::DoctorArgs),
    /// Print shell completions.
    Completions(manual::CompletionsArgs),
    /// Write manual pages.
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    // In white-box runs cargo calls this program in place of the compiler.
    let arguments: Vec<_> = std::env::args_os().collect();
    if isobath_rewrite::wrapper::is_call(&arguments) {
        let settings = isobath_rewrite::wrapper::WrapperSettings::from_environment();
        return isobath_rewrite::wrapper::run(arguments.into_iter().skip(1).collect(), settings);
    }
    // Whatever the input, a panic is our fault, and the caller learns so by the exit code.
    std::panic::set_hook(Box::new(|panic| {
        terminal::internal_error(&panic.to_string());
        std::process::exit(exit::Exit::Internal.code());
    }));
    let arguments = match config::with_settings(&Cli::command(), arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            terminal::Terminal::new(false, false).complain(&format!("error: {error}"));
            return exit::Exit::Usage.into();
        }
    };
    match Cli::parse_from(arguments).job {
        Job::Resume(args) => resume(&args).into(),
        Job::Demo(args) => demo::run(&args).into(),
        Job::Init(args) => init::run(&args).into(),
        Job::Rest(args) => rest::run(&args).into(),
        Job::Schema(args) => schema::run(&args).into(),
        Job::Query(args) => query::run(&args).into(),
        Job::Campaign(args) => campaign::run(&args, &Cli::command()).into(),
        Job::Worker(args) => campaign::work(&args).into(),
        Job::Replay(args) => rest::replay::run(&args).into(),
        Job::Serve(args) => serve::run(&args).into(),
        Job::Mcp(args) => mcp::run(&args).into(),
        Job::Explain(args) => explain::run(&args).into(),
        Job::Config(args) => config::run(&args, &Cli::command()).into(),
        Job::Doctor(args) => doctor::run(&args).into(),
        Job::Completions(args) => manual::completions(&args, Cli::command()).into(),
        Job::Man(args) => manual::man(&args, Cli::command()).into(),
    }
}

/// Resumes an interrupted run by parsing its recorded command line again.
fn resume(args: &rest::resume::ResumeArgs) -> exit::Exit {
    let earlier = match rest::resume::plan(args) {
        Ok(earlier) => earlier,
        Err(exit) => return exit,
    };
    let complain = |error: String| {
        terminal::Terminal::new(false, false).complain(&error);
        exit::Exit::Usage
    };
    let words = match config::with_settings(&Cli::command(), earlier.words) {
        Ok(words) => words,
        Err(error) => return complain(format!("error: {error}")),
    };
    match Cli::try_parse_from(words).map(|cli| cli.job) {
        Ok(Job::Rest(mut args)) => {
            (args.resume, args.out) = (true, Some(earlier.folder));
            rest::run(&args)
        }
        Ok(Job::Demo(mut args)) => {
            (args.resume, args.out) = (true, earlier.folder);
            demo::run(&args)
        }
        Ok(_) => {
            complain("error: only runs of `isobath rest` and `isobath demo` can be resumed".into())
        }
        Err(error) => complain(error.to_string()),
    }
}
