//! Output files of a run: the tests in every requested language, and the report.

use std::path::{Path, PathBuf};

use isobath_emit::Suite;
use isobath_emit::report::query::QueryReport;
use isobath_emit::report::{query_html, query_markdown};
use isobath_emit::shell::quote_if_needed;

use super::args::QueryOptions;
use crate::output::{self, OutputError, file_name, put};

/// What was written, for the summary.
#[derive(Debug)]
pub(crate) struct WrittenFiles {
    /// The folder.
    pub folder: PathBuf,
    /// The first file of every test language.
    pub tests: Vec<PathBuf>,
}

/// Writes tests and report.
///
/// # Errors
///
/// When a file cannot be written, or a language cannot express the tests.
pub(crate) fn write(
    suite: &mut Suite,
    report: &QueryReport,
    options: &QueryOptions,
) -> Result<WrittenFiles, OutputError> {
    let folder = match &options.out {
        Some(out) => out.clone(),
        None => Path::new("isobath-out").join(file_name(&suite.schema)),
    };
    put(&folder.join("report.md"), &query_markdown(report))?;
    put(&folder.join("report.html"), &query_html(report))?;
    put(&folder.join("report.json"), &report.to_json())?;
    let tests = if suite.tests.is_empty() {
        Vec::new()
    } else {
        output::languages(&folder, suite, &options.lang)?
    };
    Ok(WrittenFiles { folder, tests })
}

/// Says on the suite where it comes from.
pub(crate) fn dress(suite: &mut Suite, options: &QueryOptions, report: &QueryReport) {
    suite.seed = options.seed;
    suite.generator.clone_from(&report.algorithm);
    suite.criterion.clone_from(&report.criterion);
    suite.version.clone_from(&report.version);
    suite.command.clone_from(&report.command);
}

/// The criterion, or the file that stands in for it.
pub(crate) fn criterion(options: &QueryOptions) -> String {
    match &options.targets {
        Some(path) => format!("targets of {}", path.display()),
        None => options.criterion.name().to_owned(),
    }
}

/// The command that reproduces a run.
pub(crate) fn command(options: &QueryOptions) -> String {
    let mut words = vec!["isobath query".to_owned()];
    words.extend(options.query_paths().map(|path| quoted(path)));
    words.push("--schema".to_owned());
    words.extend(options.schema.iter().map(|path| quoted(path)));
    match &options.targets {
        Some(path) => words.push(format!("--targets {}", quoted(path))),
        None => words.push(format!("--criterion {}", options.criterion.name())),
    }
    words.push(format!("--algorithm {}", options.algorithm));
    if let Some(dialect) = options.dialect {
        words.push(format!("--dialect {dialect}"));
    }
    if let Some(engine) = options.engine {
        let name = format!("{engine:?}").to_lowercase();
        words.push(format!("--engine {name}"));
    }
    if options.ignore_constraints {
        words.push("--ignore-constraints".to_owned());
    }
    words.push(format!("--seed {}", options.seed));
    words.join(" ")
}

/// A path as a word of a shell command.
pub(crate) fn quoted(path: &Path) -> String {
    quote_if_needed(&path.display().to_string())
}
