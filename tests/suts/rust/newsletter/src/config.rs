//! What can be set from outside, by environment variables.

use std::time::Duration;

/// Somebody who may work behind the scenes.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// The name to log in with.
    pub name: String,
    /// The password to log in with.
    pub password: String,
    /// Whether everything is allowed, not only writing.
    pub admin: bool,
}

/// The settings of one service.
#[derive(Clone, Debug)]
pub struct Config {
    /// The port to listen on; 0 takes a free one.
    pub port: u16,
    /// Where the rows are kept.
    pub database: String,
    /// Who may work behind the scenes.
    pub operators: Vec<Operator>,
    /// Whether `POST /reset` is there.
    pub reset: bool,
    /// How often the dispatcher looks for campaigns whose time has come.
    pub dispatch_every: Duration,
    /// How many letters are sent at once.
    pub batch: u32,
    /// For how many hours a confirmation token is good.
    pub confirm_hours: i64,
}

impl Default for Config {
    fn default() -> Self {
        let operator = |name: &str, password: &str, admin| Operator {
            name: name.to_owned(),
            password: password.to_owned(),
            admin,
        };
        Self {
            port: 8000,
            database: "sqlite::memory:".to_owned(),
            operators: vec![
                operator("postmaster", "stamps-and-glue", true),
                operator("editor", "pen-and-paper", false),
            ],
            reset: false,
            dispatch_every: Duration::from_secs(5),
            batch: 100,
            confirm_hours: 48,
        }
    }
}

/// Why the settings make no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A variable holds something else than a number in its range.
    #[error("{name} is {got:?}; it must be a number from {least} to {most}")]
    Number {
        /// The variable.
        name: &'static str,
        /// What it holds.
        got: String,
        /// The least that is accepted.
        least: i64,
        /// The most that is accepted.
        most: i64,
    },
    /// Not like `name:password:admin,name:password`.
    #[error("OPERATORS has {0:?}, which is not like name:password or name:password:admin")]
    Operator(String),
}

/// A number from the environment, in its range.
fn number<T: TryFrom<i64>>(
    lookup: &impl Fn(&'static str) -> Option<String>,
    name: &'static str,
    range: std::ops::RangeInclusive<i64>,
    default: T,
) -> Result<T, ConfigError> {
    let Some(text) = lookup(name) else {
        return Ok(default);
    };
    let number = text.trim().parse::<i64>().ok();
    let number = number.filter(|number| range.contains(number));
    match number.map(T::try_from) {
        Some(Ok(number)) => Ok(number),
        Some(Err(_)) | None => Err(ConfigError::Number {
            name,
            got: text,
            least: *range.start(),
            most: *range.end(),
        }),
    }
}

fn operators(text: &str) -> Result<Vec<Operator>, ConfigError> {
    let mut operators = Vec::new();
    for entry in text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
    {
        let parts: Vec<&str> = entry.split(':').collect();
        let (name, password, admin) = match parts.as_slice() {
            [name, password] => (*name, *password, false),
            [name, password, "admin"] => (*name, *password, true),
            _ => return Err(ConfigError::Operator(entry.to_owned())),
        };
        if name.is_empty() || password.len() < 8 {
            return Err(ConfigError::Operator(entry.to_owned()));
        }
        operators.push(Operator {
            name: name.to_owned(),
            password: password.to_owned(),
            admin,
        });
    }
    Ok(operators)
}

impl Config {
    /// Reads the settings through `lookup`, which answers like the environment.
    ///
    /// # Errors
    ///
    /// When a variable is set to something that makes no sense.
    pub fn from_env(lookup: impl Fn(&'static str) -> Option<String>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let seconds = number(&lookup, "DISPATCH_SECONDS", 1..=3600, 5u64)?;
        Ok(Self {
            port: number(&lookup, "PORT", 0..=65_535, default.port)?,
            database: lookup("DATABASE_URL").unwrap_or(default.database),
            operators: match lookup("OPERATORS") {
                Some(text) => operators(&text)?,
                None => default.operators,
            },
            reset: lookup("ENABLE_RESET").is_some_and(|word| word == "1" || word == "true"),
            dispatch_every: Duration::from_secs(seconds),
            batch: number(&lookup, "BATCH", 1..=10_000, default.batch)?,
            confirm_hours: number(&lookup, "CONFIRM_HOURS", 1..=720, default.confirm_hours)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_read_from_one_line() {
        let config = Config::from_env(|name| {
            (name == "OPERATORS").then(|| "a:password1:admin, b:password2".to_owned())
        });
        let operators = config.expect("it is well formed").operators;
        assert_eq!(
            (operators[0].admin, operators[1].name.as_str()),
            (true, "b")
        );
        for bad in ["a", "a:short", ":password1", "a:password1:root"] {
            assert!(super::operators(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let config = Config::from_env(|name| (name == "BATCH").then(|| "0".to_owned()));
        assert!(matches!(
            config,
            Err(ConfigError::Number { name: "BATCH", .. })
        ));
    }
}
