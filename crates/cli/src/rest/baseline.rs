//! Decides which faults fail a run: all, those of some kinds, or those that are not in the
//! baseline.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use isobath_emit::findings::Severity;
use isobath_rest::fault::{Fault, FaultKind};
use isobath_rest::report::{AcceptedFault, AcceptedFaults, BaselineStatus, severity};
use jiff::civil::Date;
use serde::Deserialize;

use super::run::SetupError;

/// Flags that decide which faults fail a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "CI")]
pub(crate) struct BaselineArgs {
    /// Baseline of accepted faults, each with a reason and an optional expiry date. They are reported but do not fail the run.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Add new faults to the baseline.
    #[arg(long, requires = "baseline")]
    pub update_baseline: bool,

    /// Faults that fail the run: any, none, errors, or fault codes.
    #[arg(
        long,
        value_name = "any|none|errors|CODE",
        value_delimiter = ',',
        default_value = "any"
    )]
    pub fail_on: Vec<FailOn>,
}

/// Faults that fail a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// All.
    Any,
    /// None.
    None,
    /// Those that are more than a difference between service and document.
    Errors,
    /// Those of a kind.
    Kind(FaultKind),
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => Ok(Self::Any),
            "none" => Ok(Self::None),
            "errors" => Ok(Self::Errors),
            code => super::args::fault_kind(code)
                .map(Self::Kind)
                .map_err(|error| format!("{error}; also allowed: any, none, errors")),
        }
    }
}

/// What a file of known faults holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    #[serde(default)]
    finding: Vec<KnownFault>,
}

/// A fault that is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFault {
    fingerprint: String,
    /// Why it is accepted.
    reason: String,
    /// The last day on which it is.
    expires: Option<toml::value::Datetime>,
    /// For the reader.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "what is written for people is read, so that mistakes are found"
    )]
    what: String,
}

/// Decides which faults fail a run.
#[derive(Debug)]
pub(super) struct Baseline {
    path: Option<PathBuf>,
    fail_on: Vec<FailOn>,
    /// The faults that the file holds.
    pub(super) accepted: AcceptedFaults,
}

impl Baseline {
    /// The baseline that the flags ask for. A file that is not there yet is empty when it is to be written.
    pub(super) fn read(args: &BaselineArgs) -> Result<Self, SetupError> {
        let today = jiff::Timestamp::now()
            .to_zoned(jiff::tz::TimeZone::UTC)
            .date();
        let mut baseline = Self {
            path: args.baseline.clone(),
            fail_on: args.fail_on.clone(),
            accepted: AcceptedFaults {
                known: BTreeMap::new(),
                today,
            },
        };
        let Some(path) = &args.baseline else {
            return Ok(baseline);
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && args.update_baseline => {
                String::new()
            }
            Err(error) => {
                return Err(SetupError::usage(format!(
                    "--baseline: cannot read {}: {error}; create it with --update-baseline",
                    path.display()
                )));
            }
        };
        baseline.accepted.known = parse(&text).map_err(|error| {
            SetupError::usage(format!("--baseline {}: {error}", path.display()))
        })?;
        Ok(baseline)
    }

    /// Whether a fault fails the run.
    pub(super) fn fails(&self, fault: &Fault) -> bool {
        let counts = self.fail_on.iter().any(|fail_on| match fail_on {
            FailOn::Any => true,
            FailOn::None => false,
            FailOn::Errors => severity(fault.kind) == Severity::Error,
            FailOn::Kind(kind) => fault.kind == *kind,
        });
        counts && !matches!(self.accepted.status(fault), BaselineStatus::Known(_))
    }

    /// Appends new faults to the file; returns how many.
    pub(super) fn update<'f>(
        &self,
        faults: impl Iterator<Item = &'f Fault>,
    ) -> std::io::Result<usize> {
        let Some(path) = &self.path else {
            return Ok(0);
        };
        let mut text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(_) => HEAD.to_owned(),
        };
        let mut count = 0;
        for fault in faults.filter(|fault| self.accepted.status(fault) == BaselineStatus::New) {
            let quoted = |text: &str| toml::Value::from(text).to_string();
            let _ = write!(
                text,
                "\n[[finding]]\nfingerprint = {}\nwhat = {}\nreason = \"not reviewed yet\"\n",
                quoted(&fault.fingerprint()),
                quoted(&format!("{} [{}]", fault.detail, fault.cause)),
            );
            count += 1;
        }
        if count > 0 {
            crate::output::put(Path::new(path), &text).map_err(std::io::Error::other)?;
        }
        Ok(count)
    }
}

/// How a new file begins.
const HEAD: &str = "# Faults that `isobath rest` reports and that do not fail a run.\n\
    # Give each a reason, and with `expires = 2030-12-31` a last day.\n";

fn parse(text: &str) -> Result<BTreeMap<String, AcceptedFault>, String> {
    let file: BaselineFile =
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let entries = file.finding.into_iter().map(|known| {
        let print = known.fingerprint;
        let is_known = FaultKind::ALL.iter().any(|kind| {
            let rest = print.strip_prefix(kind.code());
            rest.and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|hash| hash.len() == 16)
        });
        if !is_known {
            return Err(format!(
                "invalid fingerprint `{print}`; copy it from report.json"
            ));
        }
        let expires = match known.expires {
            None => None,
            Some(day) => Some(day.to_string().parse::<Date>().map_err(|_| {
                format!(
                    "invalid date `expires = {day}` of {print} (expected a date such as 2030-12-31)"
                )
            })?),
        };
        let reason = known.reason;
        Ok((print, AcceptedFault { reason, expires }))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, cause: &str) -> Fault {
        Fault {
            others: Default::default(),
            kind,
            cause: cause.into(),
            operation: "GET /boats".into(),
            detail: "GET /boats was answered with \"500\"".into(),
            evidence: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn baseline(text: &str, fail_on: &[FailOn]) -> Baseline {
        Baseline {
            path: None,
            fail_on: fail_on.to_vec(),
            accepted: AcceptedFaults {
                known: parse(text).unwrap(),
                today: "2026-07-01".parse().unwrap(),
            },
        }
    }

    #[test]
    fn known_faults_do_not_fail_a_run_until_their_last_day_is_over() {
        let (known, late) = (
            fault(FaultKind::ServerError, "one"),
            fault(FaultKind::ServerError, "two"),
        );
        let text = format!(
            "[[finding]]\nfingerprint = '{}'\nreason = 'accepted'\nexpires = 2026-07-01\n\
             [[finding]]\nfingerprint = '{}'\nreason = 'late'\nexpires = 2026-06-30\n",
            known.fingerprint(),
            late.fingerprint()
        );
        let baseline = baseline(&text, &[FailOn::Any]);
        assert_eq!(
            baseline.accepted.status(&known),
            BaselineStatus::Known("accepted".into())
        );
        assert!(!baseline.fails(&known));
        assert!(matches!(
            baseline.accepted.status(&late),
            BaselineStatus::Expired(_)
        ));
        assert!(baseline.fails(&late));
        let new = fault(FaultKind::ServerError, "three");
        assert!(baseline.fails(&new));
        let not_met = baseline.accepted.unmet([&known, &new].into_iter());
        assert_eq!(not_met, [(late.fingerprint().as_str(), "late")]);
    }

    #[test]
    fn only_kinds_that_are_named_fail_a_run() {
        let crash = fault(FaultKind::ServerError, "x");
        let drift = fault(FaultKind::UndocumentedStatus, "x");
        let fails = |fail_on: &str| {
            let fail_on: Vec<FailOn> = fail_on.split(',').map(|f| f.parse().unwrap()).collect();
            let baseline = baseline("", &fail_on);
            (baseline.fails(&crash), baseline.fails(&drift))
        };
        assert_eq!(fails("any"), (true, true));
        assert_eq!(fails("none"), (false, false));
        assert_eq!(fails("errors"), (true, false));
        assert_eq!(fails("undocumented-status"), (false, true));
        assert!("no-such-kind".parse::<FailOn>().is_err());
    }

    #[test]
    fn new_faults_are_added_below_what_people_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.toml");
        let known = fault(FaultKind::ServerError, "one");
        let text = format!(
            "# ours\n[[finding]]\nfingerprint = '{}'\nreason = 'ticket 7' # see there\n",
            known.fingerprint()
        );
        std::fs::write(&path, &text).unwrap();
        let baseline = Baseline {
            path: Some(path.clone()),
            ..baseline(&text, &[FailOn::Any])
        };
        let new = fault(FaultKind::StackTrace, "two\n\"lines\"");
        assert_eq!(baseline.update([&known, &new].into_iter()).unwrap(), 1);
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written.starts_with(&text), "{written}");
        let read = parse(&written).unwrap();
        assert_eq!(read.len(), 2);
        assert!(read.contains_key(&new.fingerprint()));
    }

    #[test]
    fn mistakes_in_a_baseline_are_told() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(
            error("[[finding]]\nfingerprint = 'x'\nreason = 'y'\n").contains("invalid fingerprint")
        );
        assert!(error("[[finding]]\nreasn = 'y'\n").contains("reasn"));
        let print = fault(FaultKind::StackTrace, "x").fingerprint();
        let late =
            format!("[[finding]]\nfingerprint = '{print}'\nreason = 'y'\nexpires = 10:00:00\n");
        assert!(error(&late).contains("invalid date"));
    }
}
