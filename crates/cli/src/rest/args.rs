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
use super::rust::RustArgs;

/// Tests for a REST API from its OpenAPI document.
#[derive(Clone, Debug, Args)]
pub(crate) struct RestArgs {
    /// The OpenAPI document: a file or a URL.
    #[arg(value_name = "SPEC", value_hint = ValueHint::FilePath)]
    pub spec: String,

    /// Where the service is; taken from the document when not given.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,

    /// A command that starts the service; it is ended when the run ends.
    #[arg(long, value_name = "CMD")]
    pub start: Option<String>,

    /// A call that brings the first state back before each test, such as "POST /reset".
    #[arg(long, value_name = "METHOD PATH")]
    pub reset: Option<String>,

    /// How long to search: a time such as 60s or 10m, or a number of calls such as 20000calls.
    #[arg(long, default_value = "60s", value_name = "TIME|CALLS")]
    pub budget: Budget,

    /// Who decides what to try next.
    #[arg(long, default_value = "mio", value_name = "mio|wts|mosa|random")]
    pub algorithm: AlgorithmKind,

    /// Users and how they log in, in the format of the Web Fuzzing Commons.
    #[arg(long, value_name = "FILE")]
    pub auth: Option<PathBuf>,

    /// A header of a single user who makes all calls, such as "Authorization: Bearer abc".
    #[arg(long, value_name = "NAME: VALUE", conflicts_with = "auth")]
    pub header: Vec<String>,

    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// How many tests are run at once.
    #[arg(long, default_value_t = 1)]
    pub workers: usize,

    /// How long to wait for a service that nobody listens for yet, in seconds.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub wait: f64,

    /// How long a service that is started here may take to come up, in seconds.
    #[arg(long, default_value_t = 120.0, value_name = "SECONDS")]
    pub start_timeout: f64,

    /// How long one call may take, in seconds.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub timeout: f64,

    /// Kinds of faults that are not looked for, by their codes.
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = fault_kind)]
    pub skip: Vec<FaultKind>,

    /// Also try to inject SQL. The service's data may suffer.
    #[arg(long)]
    pub sql_injection: bool,

    /// Call a service that is not on this machine.
    #[arg(long)]
    pub remote: bool,

    /// Test languages to write.
    #[arg(long, value_delimiter = ',', default_value = "pytest")]
    pub lang: Vec<String>,

    /// Do not run the written suites before they are handed over.
    #[arg(long)]
    pub no_run: bool,

    /// Write passwords, keys and fixed headers of users into the suites, which otherwise read them from the environment.
    #[arg(long)]
    pub inline_secrets: bool,

    /// Where to write suite and report; isobath-out/rest when not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Read the document, print what could be called, and send nothing.
    #[arg(long)]
    pub dry_run: bool,

    /// Say only what went wrong.
    #[arg(long, short)]
    pub quiet: bool,

    /// No colours; so does the variable NO_COLOR.
    #[arg(long)]
    pub no_color: bool,
    /// What starts the service in suites, where that is not what started it here.
    #[arg(skip)]
    pub suite_start: Option<String>,

    /// Whether this goes on with a run that was stopped in its folder.
    #[arg(skip)]
    pub resume: bool,

    /// The same, in suites that bring rows to a database in the memory of the service.
    #[arg(skip)]
    pub suite_start_with_rows: Option<String>,

    /// Whether faults are told in a line each.
    #[arg(skip)]
    pub brief: bool,

    /// What the service finds in its environment.
    #[arg(skip)]
    pub variables: Vec<(String, String)>,

    /// What points the service at us in place of others, by the place where we listen.
    #[arg(skip)]
    pub outside_settings: Vec<Vec<String>>,

    /// Which faults fail the run.
    #[command(flatten)]
    pub baseline: BaselineArgs,

    /// The database behind the service.
    #[command(flatten)]
    pub database: DatabaseArgs,

    /// The services that the service calls.
    #[command(flatten)]
    pub mock: MockArgs,

    /// White-box runs.
    #[command(flatten)]
    pub white: RustArgs,

    /// White-box runs of services on the JVM.
    #[command(flatten)]
    pub jvm: JvmArgs,
}

pub(super) fn fault_kind(code: &str) -> Result<FaultKind, String> {
    FaultKind::by_code(code).ok_or_else(|| {
        let codes: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.code()).collect();
        format!("there is no such kind; there are: {}", codes.join(", "))
    })
}

/// How much a run may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Budget {
    /// So much time.
    Time(Duration),
    /// So many calls.
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
                "`{text}` is neither a time such as 60s, 10m or 1h nor a number of calls such as 20000calls"
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
