//! Finding and reading `isobath.toml`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::ConfigError;
use crate::terminal::excerpt;

/// The name of the file.
const NAME: &str = "isobath.toml";

/// A file that was read, and not yet understood.
#[derive(Debug)]
pub(super) struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    text: String,
}

/// A key with what it is set to.
#[derive(Debug)]
pub(super) struct ConfigSetting {
    /// The table that it stands in.
    pub job: String,
    /// The key.
    pub key: String,
    /// What it is set to.
    pub value: Value,
    /// Where the key stands.
    pub at: Range<usize>,
}

/// What a key is set to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Yes or no.
    Truth(bool),
    /// A text or a number, as it would be written on the command line.
    Word(String),
    /// Several of these.
    List(Vec<String>),
}

impl ConfigFile {
    /// The file that applies in a folder: the first one upward, up to the root of the repository. Outside of a
    /// repository only the folder itself is looked at.
    pub(super) fn find(from: &Path) -> Option<PathBuf> {
        let root = from
            .ancestors()
            .find(|folder| folder.join(".git").exists())
            .unwrap_or(from);
        let mut folders = from
            .ancestors()
            .take_while(|folder| folder.starts_with(root));
        folders
            .find(|folder| folder.join(NAME).is_file())
            .map(|folder| folder.join(NAME))
    }

    /// No file, for settings that come from elsewhere.
    pub(super) fn empty() -> Self {
        Self {
            path: PathBuf::new(),
            text: String::new(),
        }
    }

    /// Reads a file.
    pub(super) fn read(path: PathBuf) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Self { path, text }),
            Err(error) => Err(ConfigError {
                what: format!("cannot read {}: {error}", path.display()),
                excerpt: String::new(),
            }),
        }
    }

    /// All settings, with variables of the environment filled in.
    pub(super) fn settings(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<ConfigSetting>, ConfigError> {
        let document = DeTable::parse(&self.text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            self.error(&at, error.message().to_owned())
        })?;
        let mut settings = Vec::new();
        for (job, table) in document.get_ref() {
            let DeValue::Table(table) = table.get_ref() else {
                let what = format!(
                    "`{}` is outside of a table; put settings into [rest], [query] or [schema]",
                    job.get_ref()
                );
                return Err(self.error(&job.span(), what));
            };
            for (key, value) in table {
                let expand = |text: &str| {
                    expand(text, &variable).map_err(|what| self.error(&value.span(), what))
                };
                let value = match value.get_ref() {
                    DeValue::Boolean(truth) => Value::Truth(*truth),
                    DeValue::Array(items) => {
                        let words = items.iter().map(|item| match word(item.get_ref()) {
                            Some(text) => expand(&text),
                            None => Err(self.error(
                                &item.span(),
                                format!("`{}` expects strings and numbers", key.get_ref()),
                            )),
                        });
                        Value::List(words.collect::<Result<_, _>>()?)
                    }
                    other => match word(other) {
                        Some(text) => Value::Word(expand(&text)?),
                        None => {
                            let what = format!("`{}` cannot be a table", key.get_ref());
                            return Err(self.error(&value.span(), what));
                        }
                    },
                };
                settings.push(ConfigSetting {
                    job: job.get_ref().to_string(),
                    key: key.get_ref().to_string(),
                    value,
                    at: key.span(),
                });
            }
        }
        Ok(settings)
    }

    /// The tables of the file, with their places.
    pub(super) fn tables(&self) -> Vec<(String, Range<usize>)> {
        let Ok(document) = DeTable::parse(&self.text) else {
            return Vec::new();
        };
        let keys = document.get_ref().keys();
        keys.map(|job| (job.get_ref().to_string(), job.span()))
            .collect()
    }

    /// An error at a place of the file.
    pub(super) fn error(&self, at: &Range<usize>, what: String) -> ConfigError {
        let before = self.text.get(..at.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |line| line.chars().count())
            + 1;
        let place = format!("{}:{line}:{column}", self.path.display());
        let lines = excerpt(&place, Some(&self.text), line, column);
        ConfigError {
            what,
            excerpt: format!("\n{}", lines.join("\n")),
        }
    }
}

/// A text or a number as it would be written on the command line.
fn word(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map(|number| number.to_string())
            .ok(),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Datetime(time) => Some(time.to_string()),
        _ => None,
    }
}

/// Expands `${NAME}` and `${NAME:-default}`; `$${` is a literal `${`.
fn expand(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            expanded.push_str(before);
            expanded.push_str("${");
            rest = after;
            continue;
        }
        expanded.push_str(before);
        let Some((inside, after)) = after.split_once('}') else {
            return Err(format!(
                "`${{` without `}}` in `{text}`; write `$${{` for a literal `${{`"
            ));
        };
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        let value = variable(name).filter(|value| !value.is_empty());
        match value.or(otherwise.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => {
                return Err(format!(
                    "environment variable {name} is not set; set it, or write `${{{name}:-default}}`"
                ));
            }
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_missing_ones_are_told() {
        let variable = |name: &str| (name == "HOST").then(|| "localhost".to_owned());
        let expand = |text: &str| expand(text, variable);
        assert_eq!(
            expand("http://${HOST}:80/"),
            Ok("http://localhost:80/".into())
        );
        assert_eq!(expand("${PORT:-8080}"), Ok("8080".into()));
        assert_eq!(expand("$${HOST} costs $5"), Ok("${HOST} costs $5".into()));
        assert!(expand("${PORT}").is_err_and(|error| error.contains("PORT is not set")));
        assert!(expand("${HOST").is_err());
    }

    #[test]
    fn the_nearest_file_up_to_the_root_of_the_repository_applies() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("repository/service/src");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(folder.path().join(NAME), "").unwrap();
        assert_eq!(
            ConfigFile::find(&inner),
            None,
            "outside of a repository only the folder counts"
        );
        std::fs::create_dir(folder.path().join("repository/.git")).unwrap();
        assert_eq!(
            ConfigFile::find(&inner),
            None,
            "what is above the repository does not count"
        );
        let above = folder.path().join("repository").join(NAME);
        std::fs::write(&above, "").unwrap();
        assert_eq!(ConfigFile::find(&inner), Some(above));
        let nearer = folder.path().join("repository/service").join(NAME);
        std::fs::write(&nearer, "").unwrap();
        assert_eq!(ConfigFile::find(&inner), Some(nearer));
    }
}
