//! `isobath query`.

mod args;
mod check;
mod error;
mod files;
mod limit;
mod read;
mod run;
mod suggest;
mod summary;

pub(crate) use args::QueryArgs;

use crate::exit::Exit;
use crate::terminal::Terminal;

/// Carries out the command and says how it went.
pub(crate) fn run(args: &QueryArgs) -> Exit {
    match &args.command {
        Some(args::QueryCommand::Targets { options }) => {
            let terminal = Terminal::new(options.quiet, true);
            run::targets(options, &terminal)
        }
        Some(args::QueryCommand::Check { options }) => {
            let terminal = Terminal::new(options.quiet, options.json);
            check::run(options, &terminal)
        }
        None => {
            let terminal = Terminal::new(args.options.quiet, args.options.json);
            run::run(&args.options, &terminal)
        }
    }
}
