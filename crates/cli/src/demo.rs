//! `isobath demo`: each job on a bundled example, and a summary that fits one screen.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use isobath_emit::findings::{FaultView, RestReport};
use isobath_exec::tool::Tool;
use isobath_rest::fault::FaultKind;

use crate::exit::Exit;
use crate::output;
use crate::query::{self, QueryArgs};
use crate::rest::{self, RestArgs};
use crate::schema::{self, SchemaArgs};
use crate::terminal::{Terminal, Tone};

/// The inputs of the query job and the schema job.
const SHOP: &str = include_str!("../../../examples/shop.sql");
const SHOP_QUERIES: &str = include_str!("../../../examples/shop-queries.sql");
/// Findings that the summary names.
const SHOWN: usize = 3;
/// Characters of a finding that the summary shows; the report has the rest.
const SENTENCE: usize = 200;

/// Test the bundled example service white-box for 20 seconds, or show another job.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Show the query job on bundled queries instead; takes a second.
    #[arg(long, conflicts_with_all = ["schema", "fixed"])]
    query: bool,

    /// Show the schema job on a bundled schema instead; takes a second.
    #[arg(long, conflicts_with = "fixed")]
    schema: bool,

    /// Budget of the search, as for `isobath rest`.
    #[arg(long, default_value = "20s", value_name = "TIME|CALLS")]
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

/// The flags of `isobath query`.
#[derive(Parser)]
struct QueryLine {
    #[command(flatten)]
    query: QueryArgs,
}

/// The flags of `isobath schema`.
#[derive(Parser)]
struct SchemaLine {
    #[command(flatten)]
    schema: SchemaArgs,
}

/// Runs the demo. That the examples have faults is what they are for, so finding them is a success.
pub(crate) fn run(args: &DemoArgs) -> Exit {
    let terminal = Terminal::new(false, false);
    let ran = if args.query || args.schema {
        show_sql(args, &terminal)
    } else {
        show_rest(args, &terminal)
    };
    ran.unwrap_or_else(|message| {
        terminal.complain(&message);
        Exit::Usage
    })
}

/// Runs the query job or the schema job on the example shop.
fn show_sql(args: &DemoArgs, terminal: &Terminal) -> Result<Exit, String> {
    let put = |name: &str, text: &str| {
        let path = args.out.join(name);
        let written = output::put(&path, text);
        written.map_err(|error| format!("error: {error}"))?;
        Ok::<String, String>(path.display().to_string())
    };
    let out = args.out.display().to_string();
    let schema = put("shop.sql", SHOP)?;
    let (words, next) = if args.query {
        let queries = put("shop-queries.sql", SHOP_QUERIES)?;
        let words = ["query", &queries, "--schema", &schema, "--engine", "sqlite"];
        (
            words.map(str::to_owned).to_vec(),
            "isobath query YOUR-QUERIES.sql --schema YOUR-SCHEMA.sql",
        )
    } else {
        let words = ["schema", &schema, "--mutate"];
        (
            words.map(str::to_owned).to_vec(),
            "isobath schema YOUR-SCHEMA.sql",
        )
    };
    terminal.say(Tone::Faint, &format!("$ isobath {}", words.join(" ")));
    let words = words.into_iter().chain(["--out".to_owned(), out]);
    let exit = if args.query {
        let line = QueryLine::try_parse_from(words).map_err(|error| error.to_string())?;
        query::run(&line.query)
    } else {
        let line = SchemaLine::try_parse_from(words).map_err(|error| error.to_string())?;
        schema::run(&line.schema)
    };
    if matches!(exit, Exit::Clean | Exit::Findings) {
        terminal.say(Tone::Good, &format!("then, on your own: {next}"));
        return Ok(Exit::Clean);
    }
    Ok(exit)
}

/// Builds the example service instrumented, and runs the REST job on it.
fn show_rest(args: &DemoArgs, terminal: &Terminal) -> Result<Exit, String> {
    let marina = marina().ok_or(
        "error: the example service is part of the source repository, not of the binary; run this in a checkout: \
         `cargo run --release -- demo`, or try `isobath demo --query` and `isobath demo --schema`, which need none",
    )?;
    terminal.say(
        Tone::Plain,
        &format!(
            "The example is `marina`, a booking service with seeded faults (examples/marina/FAULTS.md). Its source contains no Isobath \
             code.\nThis builds it with instrumentation (half a minute the first time), searches it for {}, and runs the tests.",
            args.budget
        ),
    );
    let path = |name: &str| marina.join(name).display().to_string();
    let seed = args.seed.to_string();
    let lang: &str = match &args.lang {
        Some(lang) => lang,
        None => runnable(),
    };
    let out = args.out.display().to_string();
    let workspace = path("../..");
    let (document, auth) = (path("openapi.yaml"), path("auth.yaml"));
    let mut words = vec![
        "rest",
        &document,
        // Built in the workspace and with the profile of this program, so that dependencies are compiled once for both.
        "--rust",
        &workspace,
        "--bin",
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
    ];
    if !cfg!(debug_assertions) {
        words.push("--cargo=--release");
    }
    words.extend(["--", "--port", "{port}"]);
    if args.fixed {
        words.push("--fixed");
    }
    let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
    let rest = RestArgs {
        brief: true,
        resume: args.resume,
        ..line.rest
    };
    let exit = rest::run(&rest);
    if !matches!(exit, Exit::Clean | Exit::Findings) {
        return Ok(exit);
    }
    let report = args.out.join("report.json");
    let report = std::fs::read_to_string(&report)
        .map_err(|error| error.to_string())
        .and_then(|text| RestReport::from_json(&text).map_err(|error| error.to_string()))
        .map_err(|error| format!("error: cannot read {}: {error}", report.display()))?;
    for line in summary(&report, &args.out) {
        terminal.say(Tone::Plain, &line);
    }
    terminal.say(
        Tone::Good,
        "\nnext, in the folder of your own service: isobath init",
    );
    Ok(if args.fixed { exit } else { Exit::Clean })
}

/// What a run found, on one screen.
fn summary(report: &RestReport, out: &Path) -> Vec<String> {
    let faults = report.faults.len();
    let important = important(report);
    let n_shown = important.len();
    let which = match (faults, n_shown) {
        (0, _) => "found no faults.".to_owned(),
        (1, _) => "found 1 fault:".to_owned(),
        (n, shown) if n == shown => format!("found {n} faults:"),
        (n, _) => format!("found {n} faults. The most important are:"),
    };
    let mut lines = vec![format!(
        "\nIsobath called the {} operations of {} {} times in {:.0} s and {which}",
        report.operations.len(),
        report.title,
        report.calls,
        report.seconds
    )];
    for (index, fault) in important.into_iter().enumerate() {
        let mut sentence: String = fault.message.chars().take(SENTENCE).collect();
        if sentence.len() < fault.message.len() {
            sentence.push('…');
        }
        let stop = if sentence.ends_with(['.', '…']) {
            ""
        } else {
            "."
        };
        lines.push(format!(
            "  {}. {sentence}{stop} ({})",
            index + 1,
            fault.code
        ));
    }
    if let Some(code) = &report.code {
        lines.push(format!(
            "It covered {} lines and {} branches.",
            code.lines, code.branches
        ));
    }
    for suite in &report.suites {
        let result = match (suite.passed, &suite.not_run) {
            (_, Some(why)) => format!("which were not run: {why}"),
            (Some(passed), None) if passed == suite.tests => "and ran them: all passed".to_owned(),
            (passed, None) => format!("and ran them: {} passed", passed.unwrap_or(0)),
        };
        lines.push(format!(
            "It wrote {} tests for {}, {result}.",
            suite.tests, suite.language
        ));
        lines.push(format!(
            "  run them again:  cd {} && {}",
            out.join(&suite.folder).display(),
            suite.command
        ));
    }
    lines.push(format!(
        "  all findings:    {}",
        out.join("report.html").display()
    ));
    lines
}

/// The findings to name: the severest first, and of each kind one.
fn important(report: &RestReport) -> Vec<&FaultView> {
    let rank = |fault: &FaultView| {
        let kind = FaultKind::ALL
            .iter()
            .position(|kind| kind.code() == fault.code);
        (fault.severity, kind.unwrap_or(usize::MAX))
    };
    let mut faults: Vec<&FaultView> = report.faults.iter().collect();
    faults.sort_by_key(|fault| rank(fault));
    faults.dedup_by_key(|fault| fault.code.clone());
    faults.truncate(SHOWN);
    faults
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

#[cfg(test)]
mod tests {
    use super::*;
    use isobath_emit::findings::{Severity, SuiteView};

    #[test]
    fn the_summary_names_the_three_severest_kinds_of_faults() {
        let fault = |code: &str, severity, message: &str| FaultView {
            code: code.into(),
            severity,
            message: message.into(),
            ..FaultView::default()
        };
        let report = RestReport {
            title: "Marina".into(),
            calls: 900,
            seconds: 3.2,
            faults: vec![
                fault("undocumented-status", Severity::Warning, "a status"),
                fault("existence-leak", Severity::Error, "a leak"),
                fault("server-error", Severity::Error, "GET /a failed"),
                fault("server-error", Severity::Error, "GET /b failed"),
                fault("anonymous-write", Severity::Error, "a write."),
            ],
            ..RestReport::default()
        };
        let expected = "\nIsobath called the 0 operations of Marina 900 times in 3 s and found 5 faults. The most important are:
  1. GET /a failed. (server-error)
  2. a write. (anonymous-write)
  3. a leak. (existence-leak)
  all findings:    out/report.html";
        assert_eq!(summary(&report, Path::new("out")).join("\n"), expected);
    }

    #[test]
    fn the_summary_fits_one_screen() {
        let codes = ["server-error", "connection-dropped", "anonymous-write"];
        let report = RestReport {
            title: "Marina".into(),
            calls: 99_999,
            faults: codes
                .iter()
                .map(|code| FaultView {
                    code: (*code).into(),
                    message: "long ".repeat(99),
                    ..FaultView::default()
                })
                .collect(),
            suites: vec![SuiteView {
                language: "pytest".into(),
                folder: "pytest".into(),
                command: "word ".repeat(30),
                ..SuiteView::default()
            }],
            ..RestReport::default()
        };
        let lines = summary(&report, Path::new("isobath-out/demo")).join("\n");
        let rows = lines
            .lines()
            .map(|line| line.chars().count().div_ceil(80).max(1));
        // The next command, after an empty line, is on the same screen.
        assert!(rows.sum::<usize>() + 2 <= 24, "{lines}");
    }
}
