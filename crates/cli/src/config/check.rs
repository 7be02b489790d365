//! `isobath config`: check `isobath.toml`, or print its JSON Schema.

use std::path::PathBuf;

use clap::{Args, Command, Subcommand};

use super::file::ConfigFile;
use super::merge::{ArgumentWords, check_tables, key};
use super::{ConfigError, schema};
use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// Check `isobath.toml` or print its JSON Schema.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    what: ConfigCommand,
}

/// Subcommands of `isobath config`.
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print which file applies, check it, and list its settings.
    Check {
        /// Configuration file [default: the one that applies here].
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of isobath.toml, for editors.
    Schema,
}

/// Checks the file, or prints its schema.
pub(crate) fn run(args: &ConfigArgs, command: &Command) -> Exit {
    let terminal = Terminal::new(false, false);
    match &args.what {
        ConfigCommand::Schema => {
            terminal.object(&format!("{:#}", schema::schema(command)));
            Exit::Clean
        }
        ConfigCommand::Check { file } => match check(file.clone(), command, &terminal) {
            Ok(()) => Exit::Clean,
            Err(error) => {
                terminal.complain(&format!("error: {error}"));
                Exit::Usage
            }
        },
    }
}

fn check(file: Option<PathBuf>, command: &Command, terminal: &Terminal) -> Result<(), ConfigError> {
    let here = std::env::current_dir().unwrap_or_default();
    let Some(path) = file.or_else(|| ConfigFile::find(&here)) else {
        terminal.say(
            Tone::Plain,
            "no isobath.toml found in this or a parent directory, up to the repository root",
        );
        return Ok(());
    };
    let file = ConfigFile::read(path)?;
    let settings = file.settings(|name| std::env::var(name).ok())?;
    check_tables(&file)?;
    let mut command = command.clone();
    command.build();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for setting in &settings {
        let Some(job) = command.find_subcommand(&setting.job) else {
            continue;
        };
        let key = key(&file, job, setting)?;
        ArgumentWords::default().add(&file, job, key, setting)?;
        match counts.iter_mut().find(|(job, _)| *job == setting.job) {
            Some((_, count)) => *count += 1,
            None => counts.push((&setting.job, 1)),
        }
    }
    terminal.say(Tone::Good, &format!("{} is valid", file.path.display()));
    for (job, count) in counts {
        terminal.say(Tone::Plain, &format!("  [{job}] sets {count}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_published_schema_is_that_of_the_flags() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/isobath.schema.json"
        );
        let schema = format!("{:#}\n", super::schema::schema(&crate::Cli::command()));
        crate::manual::assert_current(path, &schema);
    }
}
