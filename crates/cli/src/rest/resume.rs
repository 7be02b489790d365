//! `isobath resume`: reads the command line of an interrupted run from its plan.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::run::SetupError;
use crate::exit::Exit;
use crate::terminal::Terminal;

/// Resume an interrupted run.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Output directory of the run.
    #[arg(default_value = "isobath-out/rest", value_name = "DIR")]
    pub folder: PathBuf,

    /// Header of the interrupted run; values of headers are secret and not stored.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Database URL of the interrupted run, if it contains a password; passwords are not stored.
    #[arg(long, value_name = "URL")]
    pub db: Option<String>,
}

/// Flags whose values are not kept, or not in full.
const SECRET: [&str; 2] = ["--header", "--db"];
/// What stands in a plan for what is not kept.
pub(super) const REDACTED: char = '…';

/// A run to resume.
pub(crate) struct Resumption {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The words of its command line.
    pub words: Vec<OsString>,
}

/// The command line of the run in a folder; goes to where it was started.
///
/// # Errors
///
/// When there is none, after saying why.
pub(crate) fn plan(args: &ResumeArgs) -> Result<Resumption, Exit> {
    read(args).map_err(|refusal| refusal.tell(&Terminal::new(false, false)))
}

fn read(args: &ResumeArgs) -> Result<Resumption, SetupError> {
    let path = args.folder.join("plan.json");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        SetupError::usage(format!(
            "cannot read {}: {error}; pass the output directory of `isobath rest` or `isobath demo`",
            path.display()
        ))
    })?;
    let plan: Value = serde_json::from_str(&text)
        .map_err(|error| SetupError::usage(format!("invalid plan {}: {error}", path.display())))?;
    let words = words(&plan, args).map_err(SetupError::usage)?;
    let folder = args.folder.canonicalize().map_err(|error| {
        SetupError::usage(format!("cannot find {}: {error}", args.folder.display()))
    })?;
    // The paths among the words begin there. A folder that came from elsewhere has only this one.
    if let Some(start) = plan["directory"].as_str().map(Path::new)
        && start.is_dir()
    {
        std::env::set_current_dir(start).map_err(|error| {
            SetupError::usage(format!(
                "cannot change to directory {}: {error}",
                start.display()
            ))
        })?;
    }
    Ok(Resumption {
        folder,
        words: words.into_iter().map(OsString::from).collect(),
    })
}

/// The words of a plan, with what was not kept filled in.
fn words(plan: &Value, args: &ResumeArgs) -> Result<Vec<String>, String> {
    let kept = plan["words"].as_array().ok_or(
        "the plan has no command line: it was written by an older version, or by a job that cannot be resumed",
    )?;
    let kept: Vec<&str> = kept.iter().filter_map(Value::as_str).collect();
    let mut words = Vec::new();
    let mut at = kept.into_iter();
    let mut missing = [false, false];
    while let Some(word) = at.next() {
        // Behind this are the words of the service.
        if word == "--" {
            words.push(word.to_owned());
            words.extend(at.by_ref().map(str::to_owned));
            break;
        }
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
        let Some(which) = SECRET.iter().position(|secret| *secret == flag) else {
            words.push(word.to_owned());
            continue;
        };
        let value = value.or_else(|| at.next()).unwrap_or_default();
        let is_given = [!args.header.is_empty(), args.db.is_some()][which];
        if is_given {
            continue;
        }
        if value.contains(REDACTED) || (flag == "--db" && value.contains("***")) {
            missing[which] = true;
        }
        words.extend([flag.to_owned(), value.to_owned()]);
    }
    let missing: Vec<&str> = SECRET
        .iter()
        .zip(missing)
        .filter_map(|(flag, missing)| missing.then_some(*flag))
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "secrets are not stored; pass {} again",
            missing.join(" and ")
        ));
    }
    let given = args.header.iter().map(|header| ("--header", header));
    let given = given.chain(args.db.iter().map(|db| ("--db", db)));
    let given = given.flat_map(|(flag, value)| [flag.to_owned(), value.clone()]);
    let end = words.iter().position(|word| word == "--");
    let end = end.unwrap_or(words.len());
    words.splice(end..end, given);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &[&str], header: &[&str], db: Option<&str>) -> String {
        let plan = serde_json::json!({ "words": kept });
        let args = ResumeArgs {
            folder: PathBuf::new(),
            header: header.iter().map(|text| (*text).to_owned()).collect(),
            db: db.map(str::to_owned),
        };
        match words(&plan, &args) {
            Ok(words) => words.join(" "),
            Err(why) => why,
        }
    }

    #[test]
    fn secrets_are_asked_for_and_put_where_they_were() {
        let plain = ["isobath", "rest", "a.yaml", "--db", "sqlite:x.db"];
        assert_eq!(
            check(&plain, &[], None),
            "isobath rest a.yaml --db sqlite:x.db"
        );
        let secret = [
            "isobath", "rest", "a.yaml", "--header", "Key: …", "--", "--header", "x",
        ];
        assert_eq!(
            check(&secret, &[], None),
            "secrets are not stored; pass --header again"
        );
        assert_eq!(
            check(&secret, &["Key: abc"], None),
            "isobath rest a.yaml --header Key: abc -- --header x"
        );
        let secret = ["isobath", "rest", "--db=postgres://me:***@localhost/x_test"];
        assert!(check(&secret, &[], None).contains("pass --db again"));
        assert_eq!(
            check(&secret, &[], Some("postgres://me:pw@localhost/x_test")),
            "isobath rest --db postgres://me:pw@localhost/x_test"
        );
    }
}
