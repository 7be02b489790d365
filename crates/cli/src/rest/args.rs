//! The flags of `isobath rest`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueHint};
use isobath_rest::fault::FaultKind;
use isobath_search::AlgorithmKind;

use super::baseline::BaselineArgs;
use super::database::DatabaseArgs;
use super::jvm::JvmArgs;
use super::mock::MockArgs;
use super::python::PythonArgs;
use super::rust::RustArgs;
use super::select::SelectArgs;

/// Generate tests for a REST API from its OpenAPI document.
#[derive(Clone, Debug, Args)]
pub(crate) struct RestArgs {
    /// OpenAPI document: a file or a URL.
    #[arg(value_name = "SPEC", value_hint = ValueHint::FilePath)]
    pub spec: String,

    /// Base URL of the service [default: the server of the OpenAPI document].
    #[arg(long, value_name = "URL", help_heading = "Service")]
    pub url: Option<String>,

    /// Command that starts the service; stopped when the run ends. {port} is replaced by the port of --url, {db} by the URL of --db
    /// (SQLite: by the path of the file).
    #[arg(long, value_name = "CMD", help_heading = "Service")]
    pub start: Option<String>,

    /// Request that resets the service before each test, for example "POST /reset".
    #[arg(long, value_name = "METHOD PATH", help_heading = "Service")]
    pub reset: Option<String>,

    /// Budget of the search: a duration such as 60s or 10m, or a number of HTTP calls such as 20000calls.
    #[arg(
        long,
        default_value = "60s",
        value_name = "TIME|CALLS",
        help_heading = "Search"
    )]
    pub budget: Budget,

    /// Search algorithm.
    #[arg(
        long,
        default_value = "mio",
        value_name = "mio|wts|mosa|dynamosa|lt-mosa|random",
        help_heading = "Search"
    )]
    pub algorithm: AlgorithmKind,

    /// Users and their logins, in the format of the Web Fuzzing Commons.
    #[arg(long, value_name = "FILE", help_heading = "Service")]
    pub auth: Option<PathBuf>,

    /// Header to send with every call, for example "Authorization: Bearer abc" (one user). Repeatable.
    #[arg(
        long,
        value_name = "NAME: VALUE",
        conflicts_with = "auth",
        help_heading = "Service"
    )]
    pub header: Vec<String>,

    /// Random seed.
    #[arg(long, default_value_t = 1, help_heading = "Search")]
    pub seed: u64,

    /// Number of tests to run in parallel on one instance of the service.
    #[arg(long, default_value_t = 1, help_heading = "Search")]
    pub workers: usize,

    /// Number of instances of the service to start, each with its own port, database and driver. One search uses all of them.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=64),
        help_heading = "Search"
    )]
    pub instances: u16,

    /// Seconds to wait for a running service to accept connections.
    #[arg(
        long,
        default_value_t = 10.0,
        value_name = "SECONDS",
        help_heading = "Service"
    )]
    pub wait: f64,

    /// Seconds that a service started by Isobath may take to be up, with its agent and its document.
    #[arg(
        long,
        default_value_t = 120.0,
        value_name = "SECONDS",
        help_heading = "Service"
    )]
    pub start_timeout: f64,

    /// Timeout of one HTTP call, in seconds.
    #[arg(
        long,
        default_value_t = 10.0,
        value_name = "SECONDS",
        help_heading = "Service"
    )]
    pub timeout: f64,

    /// Fault codes to ignore (list them with `isobath explain`).
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = fault_kind,
        help_heading = "Search"
    )]
    pub skip: Vec<FaultKind>,

    /// Also probe for SQL injection. This may damage the data of the service.
    #[arg(long, help_heading = "Search")]
    pub sql_injection: bool,

    /// Allow calls to a service on another machine.
    #[arg(long, help_heading = "Service")]
    pub remote: bool,

    /// Test languages to write: pytest, js, ts, rust, junit, kotlin, go.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "pytest",
        help_heading = "Output"
    )]
    pub lang: Vec<String>,

    /// Write a test for every kind of value and every part of a response, not only for every status and behavior.
    #[arg(long, help_heading = "Output")]
    pub all_tests: bool,

    /// Do not run the generated suites for verification.
    #[arg(long, help_heading = "Output")]
    pub no_run: bool,

    /// Write passwords, keys and fixed headers into the suites instead of reading them from environment variables.
    #[arg(long, help_heading = "Output")]
    pub inline_secrets: bool,

    /// Output directory for suites and reports [default: isobath-out/rest].
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// List the operations of the OpenAPI document without calling the service.
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,

    /// Print only errors and faults.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,

    /// Disable colors (also: environment variable NO_COLOR).
    #[arg(long, help_heading = "Output")]
    pub no_color: bool,

    /// Resume the interrupted run in the output directory.
    #[arg(skip)]
    pub resume: bool,

    /// Resume the run in the output directory if it was interrupted, for campaigns.
    #[arg(long, hide = true)]
    pub resume_if_interrupted: bool,

    /// Directory with candidates of other runs on the same service, for campaigns; only searches.
    #[arg(long, hide = true, value_name = "DIR")]
    pub exchange: Option<PathBuf>,

    /// Make the tests of what those runs found.
    #[arg(long, hide = true, requires = "exchange")]
    pub merge: bool,

    /// Leave the summary of a finished run to the caller.
    #[arg(skip)]
    pub brief: bool,

    /// Which operations are tested.
    #[command(flatten)]
    pub select: SelectArgs,

    /// Which faults fail the run.
    #[command(flatten)]
    pub baseline: BaselineArgs,

    /// The database behind the service.
    #[command(flatten)]
    pub database: DatabaseArgs,

    /// Mocks of external services.
    #[command(flatten)]
    pub mock: MockArgs,

    /// White-box testing of Rust services.
    #[command(flatten)]
    pub white: RustArgs,

    /// White-box testing of JVM services.
    #[command(flatten)]
    pub jvm: JvmArgs,

    /// White-box testing of Python services.
    #[command(flatten)]
    pub python: PythonArgs,
}

pub(super) fn fault_kind(code: &str) -> Result<FaultKind, String> {
    FaultKind::by_code(code).ok_or_else(|| {
        let codes: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.code()).collect();
        format!("unknown fault code (expected one of: {})", codes.join(", "))
    })
}

/// Budget of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Budget {
    /// A duration.
    Time(Duration),
    /// A number of HTTP calls.
    Calls(u64),
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{} s", time.as_secs_f64()),
            Self::Calls(calls) => write!(f, "{calls} calls"),
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid budget `{text}` (expected a duration such as 60s, 10m or 1h, or a number of calls such as 20000calls)"
            )
        };
        let split = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let (number, unit) = text.split_at(split);
        if unit == "calls" {
            return number
                .parse()
                .ok()
                .filter(|calls| *calls > 0)
                .map(Self::Calls)
                .ok_or_else(wrong);
        }
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
        if time.is_zero() {
            Err(wrong())
        } else {
            Ok(Self::Time(time))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_times_or_calls() {
        let time = |seconds| Ok(Budget::Time(Duration::from_secs(seconds)));
        assert_eq!("60s".parse::<Budget>(), time(60));
        assert_eq!("1.5m".parse::<Budget>(), time(90));
        assert_eq!("1h".parse::<Budget>(), time(3600));
        assert_eq!("20000calls".parse::<Budget>(), Ok(Budget::Calls(20_000)));
        for wrong in [
            "",
            "60",
            "s",
            "0s",
            "0calls",
            "-1s",
            "5 s",
            "1e9999h",
            "9999999999999999999999h",
        ] {
            assert!(wrong.parse::<Budget>().is_err(), "{wrong}");
        }
    }
}
