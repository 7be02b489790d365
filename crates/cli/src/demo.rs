//! `isobath demo`: white-box testing of the bundled example service.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use isobath_exec::tool::Tool;

use crate::exit::Exit;
use crate::rest::{self, RestArgs};
use crate::terminal::{Terminal, Tone};

/// Test the bundled example service white-box for 30 seconds.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Budget of the search, as for `isobath rest`.
    #[arg(long, default_value = "30s", value_name = "TIME|CALLS")]
    budget: String,

    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Test language to write [default: the first of pytest, js and rust that can run here].
    #[arg(long)]
    lang: Option<String>,

    /// Output directory for suites and reports.
    #[arg(long, default_value = "isobath-out/demo", value_name = "DIR")]
    pub out: PathBuf,

    /// Run the example service without its seeded faults.
    #[arg(long)]
    fixed: bool,

    /// Resume the interrupted run in the output directory.
    #[arg(skip)]
    pub resume: bool,
}

/// The flags of `isobath rest`, read as on a command line.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    rest: RestArgs,
}

/// Runs the demo. That the example has faults is what it is for, so finding them is a success.
pub(crate) fn run(args: &DemoArgs) -> Exit {
    let terminal = Terminal::new(false, false);
    let Some(marina) = marina() else {
        terminal.complain(
            "error: the example service is part of the source repository, not of the binary; \
             run this in a checkout: `cargo run --release -- demo`",
        );
        return Exit::Usage;
    };
    terminal.say(
        Tone::Plain,
        "The example is `marina`, a booking service with seeded faults (examples/marina/FAULTS.md). Its source contains no Isobath code.",
    );
    let path = |name: &str| marina.join(name).display().to_string();
    let seed = args.seed.to_string();
    let lang: &str = match &args.lang {
        Some(lang) => lang,
        None => runnable(),
    };
    let out = args.out.display().to_string();
    let folder = marina.display().to_string();
    let (document, auth) = (path("openapi.yaml"), path("auth.yaml"));
    let mut words = vec![
        "rest",
        &document,
        "--rust",
        &folder,
        "--package",
        "marina",
        "--auth",
        &auth,
        "--reset",
        "POST /reset",
        // The passwords of the example are no secrets.
        "--inline-secrets",
        "--budget",
        &args.budget,
        "--seed",
        &seed,
        "--lang",
        lang,
        "--out",
        &out,
        "--",
        "--port",
        "{port}",
    ];
    if args.fixed {
        words.push("--fixed");
    }
    let line = match Line::try_parse_from(words) {
        Ok(line) => line,
        Err(error) => {
            terminal.complain(&error.to_string());
            return Exit::Usage;
        }
    };
    let rest = RestArgs {
        brief: true,
        resume: args.resume,
        ..line.rest
    };
    match rest::run(&rest) {
        exit @ (Exit::Clean | Exit::Findings) => {
            let report = args.out.join("report.html");
            terminal.say(
                Tone::Good,
                &format!("open {} for faults and coverage", report.display()),
            );
            if exit == Exit::Findings && !args.fixed {
                Exit::Clean
            } else {
                exit
            }
        }
        other => other,
    }
}

/// The first test language that can run here; cargo is always available, but slower.
fn runnable() -> &'static str {
    let quick: [(&str, &[&str]); 2] = [
        ("pytest", &["python3", "-c", "import pytest, requests"]),
        ("js", &["node", "--test-reporter=junit", "--version"]),
    ];
    let is_there = |words: &[&str]| {
        let tool = Tool {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            directory: PathBuf::from("."),
            variables: Vec::new(),
            timeout: Duration::from_secs(20),
            interrupt: None,
        };
        tool.run().is_ok_and(|ran| ran.code == Some(0))
    };
    let found = quick.into_iter().find(|(_, words)| is_there(words));
    found.map_or("rust", |(language, _)| language)
}

/// The folder of the example: above where we are, or above where this program was built.
fn marina() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok();
    [here, program].into_iter().flatten().find_map(|from| {
        let folders = from.ancestors().map(Path::to_path_buf);
        folders
            .map(|folder| folder.join("examples").join("marina"))
            .find(|folder| {
                folder.join("Cargo.toml").is_file() && folder.join("openapi.yaml").is_file()
            })
    })
}
