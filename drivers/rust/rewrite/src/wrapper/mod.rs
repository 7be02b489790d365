//! The wrapper of the compiler: `RUSTC_WORKSPACE_WRAPPER=isobath-rustc`.
//!
//! Cargo calls it with the compiler and its arguments. Settings come from the
//! environment: [`STATE`] names the folder for what is kept between builds
//! (mirrors, the compiled runtime, the tables of targets, what to leave out),
//! [`INCLUDE`] and [`EXCLUDE`] patterns of crates and files. Without a state
//! folder the compiler is called as it is.

mod arguments;
mod compile;
mod crate_report;
mod patterns;
mod target_ids;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

pub use arguments::Arguments;
pub use crate_report::{CrateReport, DroppedSite, key};
pub use patterns::Patterns;

/// Names the folder for what is kept between builds.
pub const STATE: &str = "ISOBATH_STATE";
/// Patterns, separated by commas, of crates and files to instrument; all when empty.
pub const INCLUDE: &str = "ISOBATH_INCLUDE";
/// Patterns, separated by commas, of crates and files to leave out.
pub const EXCLUDE: &str = "ISOBATH_EXCLUDE";

/// What the wrapper is to do, from the environment.
#[derive(Clone, Debug)]
pub struct WrapperSettings {
    /// The folder for what is kept between builds.
    pub state: PathBuf,
    /// What to instrument.
    pub patterns: Patterns,
    /// This program, on which the results depend.
    pub program: Option<PathBuf>,
}

impl WrapperSettings {
    /// Reads the environment; `None` when nothing is to be instrumented.
    pub fn from_environment() -> Option<Self> {
        let state = PathBuf::from(std::env::var_os(STATE)?);
        let list = |name| std::env::var(name).unwrap_or_default();
        Some(Self {
            state,
            patterns: Patterns::new(&list(INCLUDE), &list(EXCLUDE)),
            program: std::env::current_exe().ok(),
        })
    }
}

/// Whether a program was called as the wrapper: cargo names the compiler first.
///
/// For programs that do other things, too.
pub fn is_call(arguments: &[OsString]) -> bool {
    std::env::var_os(STATE).is_some()
        && arguments
            .get(1)
            .and_then(|first| Path::new(first).file_stem())
            .is_some_and(|name| name == "rustc")
}

/// Runs the compiler as cargo asked, on rewritten sources where that is possible.
///
/// The arguments are those after the name of the wrapper: the compiler first. The exit
/// code is the compiler's.
pub fn run(arguments: Vec<OsString>, settings: Option<WrapperSettings>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let Some(rustc) = arguments.next() else {
        return ExitCode::from(2);
    };
    let rustc = PathBuf::from(rustc);
    let arguments = Arguments::new(arguments.collect());
    let Some(settings) = settings else {
        return plain(&rustc, &arguments);
    };
    let Some(unit) = arguments.unit() else {
        return plain(&rustc, &arguments);
    };
    match compile::instrumented(&rustc, &arguments, &unit, &settings) {
        Ok(code) => code,
        Err(reason) => {
            // The service must build even where we cannot help; it then has no targets.
            crate_report::plain(&settings.state, &unit, &reason);
            plain(&rustc, &arguments)
        }
    }
}

/// The compiler as cargo asked for it. The runtime is in reach, because the crate (a test of
/// the service, for one) may depend on one that is linked with it.
fn plain(rustc: &Path, arguments: &Arguments) -> ExitCode {
    let mut command = Command::new(rustc);
    command.args(&arguments.all);
    if arguments.compiles()
        && let Some(settings) = WrapperSettings::from_environment()
        && let Ok(folder) = crate::runtime::folder(&settings.state, rustc, arguments.target())
    {
        command
            .arg("-L")
            .arg(format!("dependency={}", folder.display()));
    }
    match command.status() {
        Ok(status) => code(status.code()),
        Err(_) => ExitCode::from(127),
    }
}

fn code(code: Option<i32>) -> ExitCode {
    ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
}
