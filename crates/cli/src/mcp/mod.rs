//! `isobath mcp`: the jobs and their findings for coding agents and editors, over the Model Context Protocol.
//!
//! [`tools`] says what a client can ask, [`folders`] which paths it may name, [`findings`] reads reports, [`job`] runs
//! this program again. Standard output belongs to the protocol: nothing here prints to it.

mod findings;
mod folders;
mod job;
mod tools;

use std::path::PathBuf;

use clap::Args;

use self::folders::Folders;
use self::tools::JobTools;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// What a client tells its model about this server.
const INSTRUCTIONS: &str = "Isobath generates tests for database-backed software by search. Run a job, list its findings, \
explain one, fix the service, and replay the finding. Settings come from isobath.toml, which `isobath init` writes.";

/// Serve the jobs to coding agents and editors over the Model Context Protocol, on standard input and output.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Working directory of the jobs; clients may name only paths inside it.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Another directory whose paths clients may name. Repeatable.
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
}

/// Serves one client until it goes away.
pub(crate) fn run(args: &McpArgs) -> Exit {
    // People are spoken to on standard error.
    let terminal = Terminal::new(false, true);
    let folders = match Folders::new(&args.folder, &args.allow) {
        Ok(folders) => folders,
        Err(error) => {
            terminal.complain(&format!("error: {error}"));
            return Exit::Usage;
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    match isobath_mcp::serve(JobTools::new(folders), "isobath", version, INSTRUCTIONS) {
        Ok(()) => Exit::Clean,
        Err(error) => {
            terminal.complain(&format!("error: {error}"));
            Exit::Usage
        }
    }
}
