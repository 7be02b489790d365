//! Documentation generated from the flags: the options page of the manual, man pages and shell completions.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Arg, Args, Command};
use clap_complete::Shell;

use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// Print shell completions.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell.
    shell: Shell,
}

/// Write manual pages.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Output directory, for example ~/.local/share/man/man1.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints completions.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "isobath", &mut script);
    let terminal = Terminal::new(false, false);
    terminal.object(String::from_utf8_lossy(&script).trim_end());
    Exit::Clean
}

/// Writes manual pages.
pub(crate) fn man(args: &ManArgs, command: Command) -> Exit {
    let terminal = Terminal::new(false, false);
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(command, &args.folder));
    match written {
        Ok(()) => {
            let folder = args.folder.display();
            terminal.say(Tone::Plain, &format!("wrote manual pages to {folder}"));
            Exit::Clean
        }
        Err(error) => {
            terminal.complain(&format!(
                "error: cannot write to {}: {error}",
                args.folder.display()
            ));
            Exit::Usage
        }
    }
}

/// The options page.
#[cfg_attr(not(test), expect(dead_code, reason = "a test keeps the page current"))]
fn options(mut command: Command) -> String {
    command.build();
    let mut page = String::from(
        "# Options\n\nAll commands with their arguments and flags, as printed by `isobath COMMAND --help`. Set the flags of `rest`, `query` and\n\
         `schema` in [`isobath.toml`](config.md). This page is generated from the program.\n",
    );
    describe(&command, "isobath", &mut page);
    page
}

fn describe(command: &Command, path: &str, page: &mut String) {
    for sub in command.get_subcommands() {
        if sub.is_hide_set() || sub.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", sub.get_name());
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(page, "\n## `{path}`\n\n{about}\n");
        let known = ["help", "version"];
        let rows: Vec<&Arg> = sub
            .get_arguments()
            .filter(|arg| !arg.is_hide_set() && !known.contains(&arg.get_id().as_str()))
            .collect();
        let headings = rows.iter().fold(Vec::new(), |mut headings, arg| {
            if !headings.contains(&arg.get_help_heading()) {
                headings.push(arg.get_help_heading());
            }
            headings
        });
        for heading in headings {
            if let Some(heading) = heading {
                let _ = write!(page, "\n### {heading}\n");
            }
            page.push_str("\n| Flag | Description | Default |\n| --- | --- | --- |\n");
            let of_heading = rows.iter().filter(|arg| arg.get_help_heading() == heading);
            of_heading.for_each(|arg| describe_flag(arg, page));
        }
        describe(sub, &path, page);
    }
}

/// A row of the table of flags.
fn describe_flag(arg: &Arg, page: &mut String) {
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let default: Vec<_> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    let default = match default.join(",") {
        none if none.is_empty() || !arg.get_action().takes_values() => String::new(),
        some => format!("`{some}`"),
    };
    let cell = |text: &str| text.replace('|', "\\|");
    let (flag, help) = (cell(&arg.to_string()), cell(&help));
    let _ = writeln!(page, "| `{flag}` | {help} | {default} |");
}

/// Fails unless a file that is made from the program is current; with `ISOBATH_UPDATE` set, it is made so.
#[cfg(test)]
pub(crate) fn assert_current(path: &str, wanted: &str) {
    if std::env::var_os("ISOBATH_UPDATE").is_some() {
        std::fs::write(path, wanted).expect("the file can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == wanted,
        "{path} is not current; run the tests once with ISOBATH_UPDATE=1"
    );
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_options_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/options.md");
        assert_current(path, &options(crate::Cli::command()));
    }

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        crate::Cli::command().debug_assert();
    }
}
