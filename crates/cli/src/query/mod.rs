//! `isobath query`.

mod args;
mod read;
mod run;

pub(crate) use args::QueryArgs;

use crate::exit::Exit;
use crate::terminal::Terminal;

/// Carries out the command and says how it went.
pub(crate) fn run(args: &QueryArgs) -> Exit {
    let (options, targets_only) = match &args.command {
        Some(args::QueryCommand::Targets { options }) => (options, true),
        None => (&args.options, false),
    };
    let terminal = Terminal::new(options.quiet, options.json || targets_only);
    run::run(options, targets_only, &terminal)
}
