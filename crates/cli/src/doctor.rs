//! `isobath doctor`: which optional tools are installed, and how to install the missing ones.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use isobath_exec::server::find_program;
use isobath_exec::tool::Tool;

use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// Check which optional tools are installed.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

/// A tool that a feature of Isobath needs.
struct Prerequisite {
    name: &'static str,
    /// What it is for.
    purpose: &'static str,
    /// Programs, any of which will do.
    programs: &'static [&'static str],
    /// The words that make it tell its version.
    version: &'static [&'static str],
    /// Packages for apt, dnf and brew.
    packages: [&'static str; 3],
}

const PREREQUISITES: [Prerequisite; 11] = [
    Prerequisite {
        name: "Rust toolchain",
        purpose: "white-box testing of Rust services, Rust suites",
        programs: &["cargo"],
        version: &["--version"],
        packages: ["rustup", "rustup", "rustup"],
    },
    Prerequisite {
        name: "C compiler",
        purpose: "building services that bundle SQLite",
        programs: &["cc"],
        version: &["--version"],
        packages: ["build-essential", "gcc", ""],
    },
    Prerequisite {
        name: "PostgreSQL server",
        purpose: "confirming schemas and queries on PostgreSQL",
        programs: &["postgres"],
        version: &["--version"],
        packages: ["postgresql", "postgresql-server", "postgresql"],
    },
    Prerequisite {
        name: "MariaDB server",
        purpose: "confirming schemas and queries on MariaDB",
        programs: &["mariadbd", "mysqld"],
        version: &["--version"],
        packages: ["mariadb-server", "mariadb-server", "mariadb"],
    },
    Prerequisite {
        name: "JDK",
        purpose: "JVM services, JUnit suites",
        programs: &["javac"],
        version: &["-version"],
        packages: [
            "default-jdk-headless",
            "java-latest-openjdk-devel",
            "openjdk",
        ],
    },
    Prerequisite {
        name: "Maven",
        purpose: "JUnit suites",
        programs: &["mvn"],
        version: &["--version"],
        packages: ["maven", "maven", "maven"],
    },
    Prerequisite {
        name: "Python",
        purpose: "white-box testing of Python services",
        programs: &["python3", "python"],
        version: &["--version"],
        packages: ["python3", "python3", "python"],
    },
    Prerequisite {
        name: "pytest",
        purpose: "pytest suites",
        programs: &["pytest"],
        version: &["--version"],
        packages: [
            "python3-pytest python3-requests",
            "python3-pytest python3-requests",
            "pytest",
        ],
    },
    Prerequisite {
        name: "Node.js",
        purpose: "JavaScript suites",
        programs: &["node"],
        version: &["--version"],
        packages: ["nodejs", "nodejs", "node"],
    },
    Prerequisite {
        name: "curl",
        purpose: "reproduction scripts of faults",
        programs: &["curl"],
        version: &["--version"],
        packages: ["curl", "curl", "curl"],
    },
    Prerequisite {
        name: "jq",
        purpose: "reproduction scripts with several calls",
        programs: &["jq"],
        version: &["--version"],
        packages: ["jq", "jq", "jq"],
    },
];

/// Prints installed and missing tools. A missing tool is not a failure.
pub(crate) fn run(args: &DoctorArgs) -> Exit {
    let terminal = Terminal::new(false, args.json);
    let found: Vec<(&Prerequisite, Option<(PathBuf, String)>)> = PREREQUISITES
        .iter()
        .map(|need| (need, find(need)))
        .collect();
    if args.json {
        let list = found.iter().map(|(need, found)| {
            serde_json::json!({
                "name": need.name,
                "for": need.purpose,
                "path": found.as_ref().map(|(path, _)| path.display().to_string()),
                "version": found.as_ref().map(|(_, version)| version),
            })
        });
        let list: Vec<_> = list.collect();
        terminal.object(&serde_json::json!({ "needs": list }).to_string());
        return Exit::Clean;
    }
    terminal.say(
        Tone::Plain,
        &format!(
            "isobath {} on {} {}; SQLite is built in",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    );
    for (need, found) in &found {
        match found {
            Some((_, version)) => terminal.say(
                Tone::Good,
                &format!("  found    {:18} {version}", need.name),
            ),
            None => terminal.say(
                Tone::Warning,
                &format!("  missing  {:18} for {}", need.name, need.purpose),
            ),
        }
    }
    let missing: Vec<&Prerequisite> = found
        .iter()
        .filter(|(_, found)| found.is_none())
        .map(|(need, _)| *need)
        .collect();
    if missing.is_empty() {
        terminal.say(Tone::Good, "all tools are installed");
    } else {
        terminal.say(
            Tone::Plain,
            &format!("install them with:\n  {}", install(&missing)),
        );
    }
    Exit::Clean
}

/// Where a program is, and its version.
fn find(need: &Prerequisite) -> Option<(PathBuf, String)> {
    let path = find_program(need.programs)?;
    let mut command = vec![path.display().to_string()];
    command.extend(need.version.iter().map(|word| (*word).to_owned()));
    let tool = Tool {
        command,
        directory: std::env::temp_dir(),
        variables: Vec::new(),
        timeout: Duration::from_secs(20),
        interrupt: None,
    };
    let ran = tool.run().ok();
    let said = ran.map(|ran| format!("{}\n{}", ran.stdout, ran.stderr));
    let line = said.and_then(|said| {
        let said = without_escapes(&said);
        let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.to_owned())
    });
    let version = line.unwrap_or_else(|| "unknown version".to_owned());
    Some((path, version))
}

/// A text without the codes with which a program colors its output.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut left = text.chars();
    while let Some(c) = left.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if left.next() == Some('[') {
            // Parameters, then one letter.
            let _ = left.find(|c| ('@'..='~').contains(c));
        }
    }
    plain
}

/// The command that installs what is missing, for the package manager of this machine.
fn install(missing: &[&Prerequisite]) -> String {
    let managers = [
        ("apt-get", "sudo apt-get install"),
        ("dnf", "sudo dnf install"),
        ("brew", "brew install"),
    ];
    let at = managers
        .iter()
        .position(|(name, _)| find_program(&[*name]).is_some())
        .unwrap_or(0);
    let packages: Vec<&str> = missing
        .iter()
        .map(|need| need.packages[at])
        .filter(|packages| !packages.is_empty())
        .collect();
    format!("{} {}", managers[at].1, packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_printed_without_escape_codes() {
        assert_eq!(without_escapes("\u{1b}[1mMaven 3.8\u{1b}[m!"), "Maven 3.8!");
        assert_eq!(without_escapes("plain"), "plain");
    }
}
