//! Merges settings of `isobath.toml` into the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use super::file::{ConfigFile, ConfigSetting, Value};
use super::keys::{ConfigKey, keys};
use super::{ConfigError, JOBS};
use crate::nearest::nearest;

/// The words of the command line with those of the file that applies. Flags that are given win over
/// settings, and over settings that they conflict with.
///
/// # Errors
///
/// When there is a file that cannot be used.
pub(crate) fn with_settings(
    command: &Command,
    words: Vec<OsString>,
) -> Result<Vec<OsString>, ConfigError> {
    let mut command = command.clone();
    command.build();
    let lenient = command.clone().ignore_errors(true);
    let Ok(matches) = lenient.try_get_matches_from(&words) else {
        return Ok(words);
    };
    let Some((name, given)) = matches.subcommand() else {
        return Ok(words);
    };
    let flag = |name: &str| given.try_get_one::<bool>(name).ok().flatten() == Some(&true);
    if !JOBS.contains(&name) || given.subcommand().is_some() || flag("no_config") {
        return Ok(words);
    }
    let named = given.try_get_one::<PathBuf>("config").ok().flatten();
    let here = std::env::current_dir().unwrap_or_default();
    let Some(path) = named.cloned().or_else(|| ConfigFile::find(&here)) else {
        return Ok(words);
    };
    let file = ConfigFile::read(path)?;
    let settings = file.settings(|name| std::env::var(name).ok())?;
    check_tables(&file)?;
    let Some(job) = command.find_subcommand(name) else {
        return Ok(words);
    };
    let mut set = ArgumentWords::default();
    for setting in settings.iter().filter(|setting| setting.job == name) {
        let key = key(&file, job, setting)?;
        if !is_given(given, key) && !conflicts(job, key, given) {
            set.add(&file, job, key, setting)?;
        }
    }
    let at = words.iter().skip(1).position(|word| word == name);
    let (before, after) = words.split_at(at.map_or(words.len(), |at| at + 2));
    let last = set.last.into_iter();
    Ok(before
        .iter()
        .cloned()
        .chain(set.flags)
        .chain(set.positional)
        .chain(after.iter().cloned())
        .chain(last)
        .collect())
}

/// Rejects unknown tables.
pub(super) fn check_tables(file: &ConfigFile) -> Result<(), ConfigError> {
    for (table, at) in file.tables() {
        if !JOBS.contains(&table.as_str()) {
            let what = format!("unknown table `{table}`{}", meant(&table, JOBS));
            return Err(file.error(&at, what));
        }
    }
    Ok(())
}

pub(super) fn meant<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    match nearest(name, names.into_iter()) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => String::new(),
    }
}

/// The key that a setting is about.
pub(super) fn key<'c>(
    file: &ConfigFile,
    job: &'c Command,
    setting: &ConfigSetting,
) -> Result<ConfigKey<'c>, ConfigError> {
    keys(job)
        .find(|key| key.name() == setting.key)
        .ok_or_else(|| {
            let names: Vec<String> = keys(job).map(|key| key.name()).collect();
            let what = format!(
                "unknown key `{}` in [{}]{}",
                setting.key,
                setting.job,
                meant(&setting.key, names.iter().map(String::as_str))
            );
            file.error(&setting.at, what)
        })
}

fn is_given(given: &ArgMatches, key: ConfigKey<'_>) -> bool {
    let id = key.arg.get_id().as_str();
    given.value_source(id) == Some(ValueSource::CommandLine)
}

/// Whether something was given that excludes the key.
fn conflicts(job: &Command, key: ConfigKey<'_>, given: &ArgMatches) -> bool {
    keys(job)
        .filter(|other| is_given(given, *other))
        .any(|other| {
            let excludes = |one: ConfigKey<'_>, another: ConfigKey<'_>| {
                let excluded = job.get_arg_conflicts_with(one.arg);
                excluded
                    .iter()
                    .any(|arg| arg.get_id() == another.arg.get_id())
            };
            excludes(key, other) || excludes(other, key)
        })
}

/// Words for the command line, by where they go.
#[derive(Debug, Default)]
pub(super) struct ArgumentWords {
    flags: Vec<OsString>,
    positional: Vec<OsString>,
    /// Behind `--`, which is among them.
    last: Vec<OsString>,
}

impl ArgumentWords {
    /// Adds a setting.
    pub(super) fn add(
        &mut self,
        file: &ConfigFile,
        job: &Command,
        key: ConfigKey<'_>,
        setting: &ConfigSetting,
    ) -> Result<(), ConfigError> {
        let name = key.name();
        let wrong = |what: String| file.error(&setting.at, what);
        let takes_values = key.arg.get_action().takes_values();
        let values = match &setting.value {
            Value::Truth(truth) if !takes_values => {
                if *truth {
                    self.flags.push(format!("--{name}").into());
                }
                return Ok(());
            }
            _ if !takes_values => return Err(wrong(format!("`{name}` must be true or false"))),
            Value::Truth(truth) => vec![truth.to_string()],
            Value::Word(word) => vec![word.clone()],
            Value::List(words) if key.is_list() => words.clone(),
            Value::List(_) => return Err(wrong(format!("`{name}` expects one value"))),
        };
        let folder = file.path.parent().unwrap_or(Path::new(""));
        for value in values {
            let value: OsString = if key.is_path() && !value.contains("://") && value != "-" {
                folder.join(value).into()
            } else {
                value.into()
            };
            let mut word = OsString::new();
            if key.arg.get_long().is_some() {
                word.push(format!("--{name}="));
            }
            word.push(value);
            if key.arg.is_positional() && key.arg.is_last_set() {
                if self.last.is_empty() {
                    self.last.push("--".into());
                }
                self.last.push(word);
                continue;
            }
            refused(job, &word).map_or(Ok(()), |what| Err(wrong(what)))?;
            if key.arg.is_positional() {
                self.positional.push(word);
            } else {
                self.flags.push(word);
            }
        }
        Ok(())
    }
}

/// Why a word of the command line does not do, whatever the others are.
fn refused(job: &Command, word: &OsString) -> Option<String> {
    let words = [OsString::from(job.get_name()), word.clone()];
    let error = job.clone().try_get_matches_from(words).err()?;
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            Some(first.trim_start_matches("error: ").trim().to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The words behind the name of the job, with this file and these words.
    fn merged(text: &str, words: &[&str]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("isobath.toml");
        std::fs::write(&path, text).unwrap();
        let mut line = vec!["isobath".to_owned(), words[0].to_owned()];
        line.extend(["--config".to_owned(), path.display().to_string()]);
        line.extend(words[1..].iter().map(|word| (*word).to_owned()));
        let words = line.into_iter().map(OsString::from).collect();
        let here = folder.path().display().to_string();
        with_settings(&crate::Cli::command(), words)
            .map(|words| {
                let words = words.iter().skip(2).map(|word| word.to_string_lossy());
                words
                    .filter(|word| word != "--config" && !word.ends_with("isobath.toml"))
                    .map(|word| word.replace(&here, "HERE"))
                    .collect()
            })
            .map_err(|error| error.to_string().replace(&here, "HERE"))
    }

    #[test]
    fn settings_become_flags_and_flags_win() {
        let text = "[rest]\nspec = 'api.yaml'\nbudget = '10s'\nseed = 7\nquiet = true\nremote = false\n\
                    lang = ['js', 'rust']\nauth = 'users.yaml'\n[schema]\nseed = 3\n";
        assert_eq!(
            merged(text, &["rest", "--budget", "5s"]).unwrap(),
            [
                "--auth=HERE/users.yaml",
                "--lang=js",
                "--lang=rust",
                "--quiet",
                "--seed=7",
                "HERE/api.yaml",
                "--budget",
                "5s"
            ]
        );
        let words = merged(text, &["rest", "http://localhost/x", "--header", "A: b"]).unwrap();
        assert!(
            !words
                .iter()
                .any(|word| word.contains("auth") || word.contains("api.yaml")),
            "what is given excludes what is set: {words:?}"
        );
        assert_eq!(merged(text, &["schema"]).unwrap(), ["--seed=3"]);
    }

    #[test]
    fn spoiled_files_are_used_or_refused() {
        let mut inputs = isobath_fuzz::corpus::folder("config");
        assert!(!inputs.is_empty());
        let runs = std::env::var("ISOBATH_FUZZ_RUNS").map_or(1, |runs| runs.parse().unwrap());
        let mut mutator = isobath_fuzz::Mutator::new(1);
        let spoiled: Vec<Vec<u8>> = (0..runs * 100).map(|_| mutator.spoiled(&inputs)).collect();
        inputs.extend(spoiled);
        for input in inputs {
            let text = String::from_utf8_lossy(&input);
            let job = JOBS[input.len() % JOBS.len()];
            // An error has a place in the file, which must be in it.
            if let Err(error) = merged(&text, &[job]) {
                assert!(error.contains("isobath.toml:"), "{error}");
            }
        }
    }

    #[test]
    fn arguments_of_the_service_go_behind_the_dashes() {
        let text = "[rest]\nspec = 'https://example.org/api.json'\nrust = '.'\nservice = ['--port', '{port}']\n";
        let words = merged(text, &["rest", "--seed", "2"]).unwrap();
        assert_eq!(
            words,
            [
                "--rust=HERE/.",
                "https://example.org/api.json",
                "--seed",
                "2",
                "--",
                "--port",
                "{port}"
            ]
        );
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let error = |text: &str| merged(text, &["rest"]).unwrap_err();
        insta::assert_snapshot!(error("[rest]\nbugdet = '10s'\n"), @r"
        unknown key `bugdet` in [rest]; did you mean `budget`?
         --> HERE/isobath.toml:2:1
          |
        2 | bugdet = '10s'
          | ^
        ");
        insta::assert_snapshot!(error("[rest]\nbudget = 'soon'\n"), @r"
        invalid value 'soon' for '--budget <TIME|CALLS>': invalid budget `soon` (expected a duration such as 60s, 10m or 1h, or a number of calls such as 20000calls)
         --> HERE/isobath.toml:2:1
          |
        2 | budget = 'soon'
          | ^
        ");
        assert!(error("[rset]\n").contains("unknown table `rset`; did you mean `rest`?"));
        assert!(error("seed = 1\n").contains("outside of a table"));
        assert!(error("[rest]\nquiet = 'yes'\n").contains("`quiet` must be true or false"));
        assert!(error("[rest]\nseed = [1, 2]\n").contains("`seed` expects one value"));
        assert!(error("[rest\n").contains("isobath.toml:1:"));
        assert!(error("[rest]\nurl = '${ISOBATH_NO_SUCH_VARIABLE}'\n").contains("is not set"));
    }
}
