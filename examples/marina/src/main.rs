//! `marina`: the example service, from the command line.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use marina::{Fault, Faults};

/// A small harbor's booking service, with planted faults
#[derive(Parser)]
struct Args {
    /// Port on the loopback interface; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Keep the rows in this SQLite file instead of in memory
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    /// Run without the planted faults
    #[arg(long, conflicts_with = "fault")]
    fixed: bool,
    /// Run with these faults only
    #[arg(long, value_enum)]
    fault: Vec<Fault>,
}

#[tokio::main]
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program says where it listens, and why it ends"
)]
async fn main() -> ExitCode {
    let args = Args::parse();
    let faults = match (args.fixed, args.fault.is_empty()) {
        (true, _) => Faults::none(),
        (false, true) => Faults::all(),
        (false, false) => args.fault.into_iter().collect(),
    };
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("marina: cannot listen on port {}: {error}", args.port);
            return ExitCode::FAILURE;
        }
    };
    if let Ok(address) = listener.local_addr() {
        println!("marina: listening on http://{address}");
    }
    match marina::serve(
        listener,
        faults,
        args.database.as_deref(),
        std::future::pending(),
    )
    .await
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("marina: {error}");
            ExitCode::FAILURE
        }
    }
}
