//! `isobath schema`.

mod args;
mod diff;
mod engines;
pub(crate) mod headings;
mod run;
mod summary;

pub(crate) use args::{EngineName, SchemaArgs};
pub(crate) use engines::Engines;

use crate::exit::Exit;
use crate::terminal::Terminal;

/// Carries out the command and says how it went.
pub(crate) fn run(args: &SchemaArgs) -> Exit {
    match &args.command {
        Some(args::SchemaCommand::Diff { old, new, options }) => {
            let terminal = Terminal::new(options.quiet, options.json);
            diff::run(old, new, options, &terminal)
        }
        None => {
            let terminal = Terminal::new(args.options.quiet, args.options.json);
            run::run(args, &terminal)
        }
    }
}
