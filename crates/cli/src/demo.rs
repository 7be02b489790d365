//! `isobath demo`: the example service, built instrumented and searched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use isobath_exec::tool::Tool;

use crate::exit::Exit;
use crate::rest::{self, RestArgs};
use crate::terminal::{Terminal, Tone};

/// The example service, built instrumented, searched white-box for half a minute, with suite and report.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// How long to search, as for `isobath rest`.
    #[arg(long, default_value = "30s", value_name = "TIME|CALLS")]
    budget: String,

    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Test languages to write; unless said, the first of pytest, js and rust that can be run here.
    #[arg(long)]
    lang: Option<String>,

    /// Where to write suite and report.
    #[arg(long, default_value = "isobath-out/demo", value_name = "DIR")]
    pub out: PathBuf,

    /// Run the example without its planted faults.
    #[arg(long)]
    fixed: bool,

    /// Whether this goes on with a run that was stopped.
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
            "error: the example service is part of the source of Isobath and not of the program; \
             run this in a checkout: `cargo run --release -- demo`",
        );
        return Exit::Usage;
    };
    terminal.say(
        Tone::Plain,
        "The example is `marina`, a booking service with planted faults (examples/marina/FAULTS.md). Nothing in its source knows of Isobath.",
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
                &format!(
                    "open {} to see what was found and covered",
                    report.display()
                ),
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

/// The language whose suites can be run here: whoever builds this has cargo, and the others are quicker.
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
