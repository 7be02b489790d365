//! Settings of a job that are sent to a worker: paths are relative to a folder, variables are not filled in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Command;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::file::{ConfigFile, ConfigSetting, Value};
use super::keys::{ConfigKey, keys};
use super::merge::{ArgumentWords, meant};

/// The settings of one job, as in its table of `isobath.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobSettings {
    /// The job: `rest`, `query` or `schema`.
    pub job: String,
    /// Keys and values; variables of the environment are not filled in.
    values: Table,
    /// Keys whose values are paths, relative to the root unless they are absolute.
    paths: BTreeSet<String>,
}

impl JobSettings {
    /// Settings from several tables, each with the folder that its paths are relative to. Later tables win.
    ///
    /// # Errors
    ///
    /// When a key or a value does not do.
    pub(crate) fn new(
        command: &Command,
        job: &str,
        layers: &[(&Table, &Path)],
        root: &Path,
    ) -> Result<Self, String> {
        let mut command = command.clone();
        command.build();
        let flags = command
            .find_subcommand(job)
            .ok_or_else(|| format!("unknown job `{job}`"))?;
        let mut settings = Self {
            job: job.to_owned(),
            values: Table::new(),
            paths: BTreeSet::new(),
        };
        for (table, folder) in layers {
            for (name, value) in table.iter() {
                let key = keys(flags).find(|key| key.name() == *name).ok_or_else(|| {
                    let names: Vec<String> = keys(flags).map(|key| key.name()).collect();
                    let meant = meant(name, names.iter().map(String::as_str));
                    format!("unknown key `{name}` in [{job}]{meant}")
                })?;
                check(flags, key, name, value)?;
                let value = if key.is_path() {
                    settings.paths.insert(name.clone());
                    each_text(value, |path| rebased(path, folder, root))
                } else {
                    value.clone()
                };
                settings.values.insert(name.clone(), value);
            }
        }
        Ok(settings)
    }

    /// Sets a key that takes a number.
    pub(crate) fn set(&mut self, key: &str, number: u64) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.values.insert(key.to_owned(), number.into());
    }

    /// The value of a key that takes a number.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        let number = self.values.get(key).and_then(toml::Value::as_integer);
        number.and_then(|number| u64::try_from(number).ok())
    }

    /// The text of a configuration file with these settings, with paths below `root`.
    pub(crate) fn to_toml(&self, root: &Path) -> String {
        let values = self.values.iter().map(|(name, value)| {
            let value = if self.paths.contains(name) {
                each_text(value, |path| match is_relative(path) {
                    true => root.join(path).display().to_string(),
                    false => path.to_owned(),
                })
            } else {
                value.clone()
            };
            (name.clone(), value)
        });
        let table = toml::Value::Table(values.collect());
        Table::from_iter([(self.job.clone(), table)]).to_string()
    }

    /// Paths below the root that the settings name.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let named = self.paths.iter().filter_map(|name| self.values.get(name));
        let mut inputs = Vec::new();
        for value in named {
            for path in texts(value) {
                if is_relative(path) && !path.starts_with("..") {
                    inputs.push(PathBuf::from(path));
                }
            }
        }
        inputs
    }

    /// All texts with their keys.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.values.iter();
        all.flat_map(|(name, value)| texts(value).map(move |text| (name.as_str(), text)))
    }

    /// Whether a flag is on.
    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.values.get(key).and_then(toml::Value::as_bool) == Some(true)
    }
}

/// The table of a job in a configuration file, with variables as they stand there.
///
/// # Errors
///
/// When the file cannot be read.
pub(crate) fn job_table(path: &Path, job: &str) -> Result<Table, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let file: Table =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    match file.get(job) {
        Some(toml::Value::Table(table)) => Ok(table.clone()),
        _ => Ok(Table::new()),
    }
}

/// Whether a value does for a key; one with a variable is checked where that is known.
fn check(
    flags: &Command,
    key: ConfigKey<'_>,
    name: &str,
    value: &toml::Value,
) -> Result<(), String> {
    if texts(value).any(|text| text.contains("${")) {
        return Ok(());
    }
    let word = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Datetime(time) => Some(time.to_string()),
        _ => None,
    };
    let value = match value {
        toml::Value::Boolean(truth) => Some(Value::Truth(*truth)),
        toml::Value::Array(items) => items
            .iter()
            .map(word)
            .collect::<Option<_>>()
            .map(Value::List),
        other => word(other).map(Value::Word),
    };
    let value = value.ok_or_else(|| format!("`{name}` cannot be a table"))?;
    let setting = ConfigSetting {
        job: flags.get_name().to_owned(),
        key: name.to_owned(),
        value,
        at: 0..0,
    };
    let nowhere = ConfigFile::empty();
    ArgumentWords::default()
        .add(&nowhere, flags, key, &setting)
        .map_err(|error| error.what)
}

fn is_relative(path: &str) -> bool {
    let is_named = path.contains("://") || path == "-" || path.starts_with("${");
    !is_named && Path::new(path).is_relative()
}

/// A path relative to the root, when it is below; paths that are no files stay as they are.
fn rebased(path: &str, folder: &Path, root: &Path) -> String {
    if !is_relative(path) {
        return path.to_owned();
    }
    let whole = folder.join(path);
    let shown = whole.strip_prefix(root).unwrap_or(&whole);
    if shown.as_os_str().is_empty() {
        return ".".to_owned();
    }
    shown.display().to_string()
}

/// A value with its texts replaced.
fn each_text(value: &toml::Value, replace: impl Fn(&str) -> String + Copy) -> toml::Value {
    match value {
        toml::Value::String(text) => replace(text).into(),
        toml::Value::Array(items) => {
            let items = items.iter().map(|item| each_text(item, replace));
            toml::Value::Array(items.collect())
        }
        other => other.clone(),
    }
}

fn texts(value: &toml::Value) -> impl Iterator<Item = &str> {
    let one = value.as_str().into_iter();
    let many = value.as_array().into_iter().flatten();
    one.chain(many.filter_map(toml::Value::as_str))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn settings(layers: &[(&str, &str)]) -> Result<JobSettings, String> {
        let tables: Vec<(Table, &Path)> = layers
            .iter()
            .map(|(text, folder)| (toml::from_str(text).expect("a table"), Path::new(*folder)))
            .collect();
        let layers: Vec<(&Table, &Path)> = tables.iter().map(|(table, at)| (table, *at)).collect();
        JobSettings::new(&crate::Cli::command(), "rest", &layers, Path::new("/here"))
    }

    #[test]
    fn paths_move_with_the_folder_and_variables_stay() {
        let base = "spec = 'openapi.yaml'\nseed = 7\nheader = ['Key: ${KEY}']\nstart = './run'\n";
        let settings = settings(&[
            (base, "/here/shop"),
            ("seed = 8\nauth = '${AUTH}'\nquiet = true\n", "/here"),
        ]);
        let settings = settings.expect("they do");
        assert_eq!(settings.inputs(), [PathBuf::from("shop/openapi.yaml")]);
        insta::assert_snapshot!(settings.to_toml(Path::new("/tmp/x")), @r#"
        [rest]
        auth = "${AUTH}"
        header = ["Key: ${KEY}"]
        quiet = true
        seed = 8
        spec = "/tmp/x/shop/openapi.yaml"
        start = "./run"
        "#);
    }

    #[test]
    fn mistakes_are_told() {
        let error = |text: &str| settings(&[(text, "/here")]).unwrap_err();
        assert_eq!(
            error("bugdet = '1s'"),
            "unknown key `bugdet` in [rest]; did you mean `budget`?"
        );
        assert!(error("budget = 'soon'").contains("invalid budget `soon`"));
        assert!(error("seed = [1, 2]").contains("expects one value"));
        assert!(error("seed = { a = 1 }").contains("cannot be a table"));
    }
}
