//! `isobath serve`: the reports of many runs as a local page.
//!
//! [`crate::runs`] reads the reports; the page (`page.html`, `page.js`) draws trends, compares two runs and searches findings.

use std::path::{Path, PathBuf};

use clap::Args;
use isobath_exec::pages::{Page, PageServer};
use serde_json::json;

use crate::exit::Exit;
use crate::runs;
use crate::terminal::{Terminal, Tone};

/// Show the reports of many runs as a local page: trends, differences, findings.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Folder with the output directories of runs.
    #[arg(value_name = "DIR", default_value = "isobath-out")]
    folder: PathBuf,

    /// Port on the loopback interface; 0 takes a free one.
    #[arg(long, default_value_t = 8930)]
    port: u16,
}

/// Serves the pages until the process is interrupted.
pub(crate) fn run(args: &ServeArgs) -> Exit {
    let terminal = Terminal::new(false, false);
    if !args.folder.is_dir() {
        let folder = args.folder.display();
        terminal.complain(&format!(
            "error: {folder} is not a folder; pass the one that holds the output directories of your runs"
        ));
        return Exit::Usage;
    }
    let n_runs = runs::find(&args.folder).len();
    let server = match PageServer::bind(args.port) {
        Ok(server) => server,
        Err(error) => {
            terminal.complain(&format!(
                "error: cannot listen on port {}: {error}; choose another with --port",
                args.port
            ));
            return Exit::Unreachable;
        }
    };
    terminal.say(
        Tone::Good,
        &format!(
            "{n_runs} reports in {}: http://{} (Ctrl-C ends it)",
            args.folder.display(),
            server.address()
        ),
    );
    let folder = args.folder.clone();
    match server.run(move |path, query| page(&folder, path, query)) {
        Ok(()) => Exit::Clean,
        Err(error) => {
            terminal.complain(&format!("error: {error}"));
            Exit::Internal
        }
    }
}

/// The page at a path. Reports are read anew each time, so that a reload shows new runs.
fn page(root: &Path, path: &str, query: &str) -> Page {
    let found = |content_type, body: Vec<u8>| Page {
        status: 200,
        content_type,
        body,
    };
    match path {
        "/" => found(
            "text/html; charset=utf-8",
            include_bytes!("page.html").to_vec(),
        ),
        "/page.js" => found(
            "text/javascript; charset=utf-8",
            include_bytes!("page.js").to_vec(),
        ),
        "/runs.json" => {
            let runs = runs::find(root).into_iter();
            let runs: Vec<_> = runs
                .map(|run| json!({ "run": run.overview, "findings": run.findings }))
                .collect();
            found("application/json", json!(runs).to_string().into_bytes())
        }
        "/report" => {
            // A run is named by its folder, which has to be one that was found: no path leads elsewhere.
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            let wanted = pairs.find_map(|(key, value)| (key == "run").then_some(value));
            let report = runs::find(root).into_iter().find_map(|run| {
                (run.overview["name"].as_str() == wanted.as_deref()).then_some(())?;
                std::fs::read(run.folder.join("report.html")).ok()
            });
            match report {
                Some(body) => found("text/html; charset=utf-8", body),
                None => missing("no such report"),
            }
        }
        _ => missing("no such page"),
    }
}

fn missing(why: &str) -> Page {
    Page {
        status: 404,
        content_type: "text/plain; charset=utf-8",
        body: why.as_bytes().to_vec(),
    }
}
