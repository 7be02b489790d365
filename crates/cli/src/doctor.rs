//! `isobath doctor`: what is installed here, what is missing, and the command that installs it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use isobath_exec::server::find_program;
use isobath_exec::tool::Tool;

use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// Says what is installed here, what is missing, and how to get it.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// One JSON object on standard output, and nothing else there.
    #[arg(long)]
    json: bool,
}

/// Something that a part of Isobath needs.
struct Requirement {
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

const REQUIREMENTS: [Requirement; 10] = [
    Requirement {
        name: "Rust toolchain",
        purpose: "white-box runs of Rust services, Rust suites",
        programs: &["cargo"],
        version: &["--version"],
        packages: ["rustup", "rustup", "rustup"],
    },
    Requirement {
        name: "C compiler",
        purpose: "building services that bundle SQLite",
        programs: &["cc"],
        version: &["--version"],
        packages: ["build-essential", "gcc", ""],
    },
    Requirement {
        name: "PostgreSQL server",
        purpose: "confirming schemas and queries on PostgreSQL",
        programs: &["postgres"],
        version: &["--version"],
        packages: ["postgresql", "postgresql-server", "postgresql"],
    },
    Requirement {
        name: "MariaDB server",
        purpose: "confirming schemas and queries on MariaDB",
        programs: &["mariadbd", "mysqld"],
        version: &["--version"],
        packages: ["mariadb-server", "mariadb-server", "mariadb"],
    },
    Requirement {
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
    Requirement {
        name: "Maven",
        purpose: "JUnit suites",
        programs: &["mvn"],
        version: &["--version"],
        packages: ["maven", "maven", "maven"],
    },
    Requirement {
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
    Requirement {
        name: "Node.js",
        purpose: "JavaScript suites",
        programs: &["node"],
        version: &["--version"],
        packages: ["nodejs", "nodejs", "node"],
    },
    Requirement {
        name: "curl",
        purpose: "running the scripts that show faults",
        programs: &["curl"],
        version: &["--version"],
        packages: ["curl", "curl", "curl"],
    },
    Requirement {
        name: "jq",
        purpose: "running those of several calls",
        programs: &["jq"],
        version: &["--version"],
        packages: ["jq", "jq", "jq"],
    },
];

/// Looks for everything, and says what to do. Nothing that is missing is a failure: each is for one purpose.
pub(crate) fn run(args: &DoctorArgs) -> Exit {
    let terminal = Terminal::new(false, args.json);
    let found: Vec<(&Requirement, Option<(PathBuf, String)>)> =
        REQUIREMENTS.iter().map(|need| (need, find(need))).collect();
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
    let missing: Vec<&Requirement> = found
        .iter()
        .filter(|(_, found)| found.is_none())
        .map(|(need, _)| *need)
        .collect();
    if missing.is_empty() {
        terminal.say(Tone::Good, "nothing is missing");
    } else {
        terminal.say(
            Tone::Plain,
            &format!("to install them:\n  {}", install(&missing)),
        );
    }
    Exit::Clean
}

/// Where a program is, and its version.
fn find(need: &Requirement) -> Option<(PathBuf, String)> {
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
        let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.to_owned())
    });
    let version = line.unwrap_or_else(|| "of an unknown version".to_owned());
    Some((path, version))
}

/// The command that installs what is missing, for the package manager of this machine.
fn install(missing: &[&Requirement]) -> String {
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
