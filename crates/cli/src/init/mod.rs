//! `isobath init`: looks at a repository, and writes `isobath.toml` and a pipeline for it.
//!
//! [`mod@service`] finds the service, with a module per language, [`database`] the database, its schema and its
//! queries. Every setting carries its reason, which is printed and written above it.

#![deny(clippy::indexing_slicing)]

mod database;
mod jvm;
mod node;
mod pipeline;
mod python;
mod rust;
mod service;
mod settings;
mod tree;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value as Json;

use crate::exit::Exit;
use crate::output;
use crate::terminal::{Terminal, Tone};
use service::Service;
use settings::Settings;
use tree::{Tree, file_name};

/// Write isobath.toml and a CI file for a repository.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Root of the repository.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Print the files instead of writing them.
    #[arg(long)]
    dry_run: bool,

    /// Overwrite existing files.
    #[arg(long)]
    force: bool,

    /// Do not write a CI file.
    #[arg(long)]
    no_ci: bool,

    /// Do not ask before writing.
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Looks at the repository and writes the files.
pub(crate) fn run(args: &InitArgs) -> Exit {
    let terminal = Terminal::new(false, false);
    match init(args, &terminal) {
        Ok(exit) => exit,
        Err(message) => {
            terminal.complain(&format!("error: {message}"));
            Exit::Usage
        }
    }
}

fn init(args: &InitArgs, terminal: &Terminal) -> Result<Exit, String> {
    let tree = Tree::read(&args.folder)
        .map_err(|error| format!("cannot read {}: {error}", args.folder.display()))?;
    let (what, settings) = inspect(&tree);
    if settings.settings.is_empty() {
        return Err(format!(
            "no service, OpenAPI document or SQL schema was found in {}; see docs/config.md for an isobath.toml to start from",
            args.folder.display()
        ));
    }
    let what = what.unwrap_or_else(|| "no service".to_owned());
    terminal.say(Tone::Plain, &format!("found {what}"));
    for setting in &settings.settings {
        terminal.say(
            Tone::Plain,
            &format!("  [{}] {} = {}", setting.job, setting.key, setting.value),
        );
        terminal.say(Tone::Faint, &format!("      {}", setting.reason));
    }
    for open in &settings.open {
        terminal.say(Tone::Warning, &format!("  to do: {open}"));
    }
    let mut files = vec![("isobath.toml", settings.to_toml())];
    let pipeline = pipeline::pipeline(&tree, &settings);
    if !args.no_ci {
        terminal.say(
            Tone::Plain,
            &format!("  pipeline: {} ({})", pipeline.path, pipeline.reason),
        );
        files.push((pipeline.path, pipeline.text));
    }
    if args.dry_run {
        for (path, text) in &files {
            terminal.say(Tone::Plain, &format!("\n--- {path}\n{text}"));
        }
        return Ok(Exit::Clean);
    }
    write(args, &files, terminal)?;
    if let Some(next) = pipeline.next.filter(|_| !args.no_ci) {
        terminal.say(Tone::Plain, &format!("next: {next}"));
    }
    let jobs = ["rest", "schema", "query"];
    if let Some(job) = jobs.into_iter().find(|job| settings.has_job(job)) {
        let mut steps: Vec<&str> = Vec::new();
        if job == "rest" {
            steps.extend(settings.build.iter().map(String::as_str));
        }
        let run = format!("isobath {job}");
        steps.push(&run);
        terminal.say(Tone::Good, &format!("next: {}", steps.join(" && ")));
    }
    Ok(Exit::Clean)
}

/// Writes the files, after a question if there is somebody to ask.
fn write(args: &InitArgs, files: &[(&str, String)], terminal: &Terminal) -> Result<(), String> {
    let existing = files
        .iter()
        .map(|(path, _)| args.folder.join(path))
        .find(|path| path.exists());
    if let Some(path) = existing.filter(|_| !args.force) {
        return Err(format!(
            "{} exists; pass --force to overwrite it, or --dry-run to print what would be written",
            path.display()
        ));
    }
    let is_asked = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if is_asked && !args.yes && !confirm(files) {
        return Err("nothing was written".to_owned());
    }
    for (path, text) in files {
        let path = args.folder.join(path);
        output::put(&path, text).map_err(|error| error.to_string())?;
        terminal.say(Tone::Good, &format!("wrote {}", path.display()));
    }
    Ok(())
}

fn confirm(files: &[(&str, String)]) -> bool {
    let names: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let _ = write!(std::io::stderr(), "Write {}? [Y/n] ", names.join(" and "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok_and(|n_bytes| n_bytes > 0)
        && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

/// What a repository holds, in words, and the settings for it.
fn inspect(tree: &Tree) -> (Option<String>, Settings) {
    let mut start = Settings::default();
    let service = service::find(tree, &mut start);
    let mut settings = Settings::default();
    if let Some((path, reason)) = document(tree) {
        settings.rest("spec", path, reason);
        if let Some(service) = &service {
            address(service, &mut start, false);
        }
    } else if let Some(service) = &service {
        match service.served_document(tree) {
            Some((path, reason)) => {
                let url = format!("http://127.0.0.1:{}{path}", service.port());
                settings.rest("spec", url, format!("No OpenAPI file was found; {reason}"));
                address(service, &mut start, true);
            }
            None => {
                start.open.push(
                    "no OpenAPI document was found; set `spec` to a file or a URL of the service"
                        .to_owned(),
                );
                address(service, &mut start, false);
            }
        }
    }
    settings.settings.extend(start.settings);
    settings.build = start.build;
    settings.open = start.open;
    database::find(tree, &mut settings, service.is_some());
    (service.map(|service| service.what), settings)
}

/// Sets where the service listens. With a document that it serves itself, its port has to be known.
fn address(service: &Service, settings: &mut Settings, is_fixed: bool) {
    let port = service.port();
    let reason = match service.port {
        Some(port) => format!("The sources name port {port}"),
        None => format!("The usual port of {}; no other was found", service.what),
    };
    let is_set = |key: &str| settings.settings.iter().any(|setting| setting.key == key);
    if is_set("start") {
        settings.rest("url", format!("http://127.0.0.1:{port}"), reason);
    } else if is_fixed || !service.takes_any_port {
        settings.rest("port", i64::from(port), reason);
    }
}

/// The OpenAPI document in the repository, the likeliest first.
fn document(tree: &Tree) -> Option<(String, String)> {
    let is_document = |path: &str| {
        let text = tree.text(path)?;
        (text.contains("openapi") || text.contains("swagger")).then_some(())?;
        let document = isobath_rest::openapi::parse_text(&text).ok()?;
        let version = ["openapi", "swagger"]
            .iter()
            .find_map(|key| match document.get(key)? {
                Json::String(version) => Some(version.clone()),
                Json::Number(version) => Some(version.to_string()),
                _ => None,
            })?;
        document.get("paths")?.as_object()?;
        Some(version)
    };
    let mut files: Vec<&str> = tree.sources("", &["yaml", "yml", "json"]).collect();
    files.sort_by_key(|path| {
        let name = file_name(path);
        let is_named = ["openapi", "swagger", "api"]
            .iter()
            .position(|known| name.contains(known));
        (is_named.unwrap_or(3), Path::new(path).components().count())
    });
    files.into_iter().find_map(|path| {
        let version = is_document(path)?;
        Some((
            path.to_owned(),
            format!("{path} is an OpenAPI document (version {version})"),
        ))
    })
}
