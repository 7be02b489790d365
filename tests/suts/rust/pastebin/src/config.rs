//! What can be set from outside, by environment variables.

use std::num::ParseIntError;
use std::time::Duration;

/// The settings of one service.
#[derive(Clone, Debug)]
pub struct Config {
    /// The port to listen on; 0 takes a free one.
    pub port: u16,
    /// Where the rows are kept.
    pub database: String,
    /// Whether `POST /reset` is there.
    pub reset: bool,
    /// How many requests a client may make in a minute; 0 for as many as it likes.
    pub rate: u32,
    /// The longest text, in bytes.
    pub longest: usize,
    /// How often expired pastes are removed.
    pub sweep_every: Duration,
}

impl Default for Config {
    fn default() -> Self {
        ConfigBuilder::default().finish()
    }
}

/// Why the settings make no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A number was expected.
    #[error("{0} is not a number: {1}")]
    Number(&'static str, ParseIntError),
    /// A number is out of its range.
    #[error("{name} is {got}; it must be between {least} and {most}")]
    Range {
        /// The variable.
        name: &'static str,
        /// What it is set to.
        got: u64,
        /// The least that is accepted.
        least: u64,
        /// The most that is accepted.
        most: u64,
    },
}

/// The numbers that can be set: variable, what holds when it is not, least and most.
const NUMBERS: [(&str, u64, u64, u64); 4] = [
    ("PORT", 8000, 0, u16::MAX as u64),
    ("RATE_PER_MINUTE", 0, 0, 1_000_000),
    ("LONGEST_PASTE", 64 * 1024, 1, 1024 * 1024),
    ("SWEEP_SECONDS", 60, 1, 24 * 60 * 60),
];

/// Settings that are put together one by one.
#[derive(Clone, Debug)]
pub struct ConfigBuilder {
    numbers: [u64; NUMBERS.len()],
    database: String,
    reset: bool,
}

impl Default for ConfigBuilder {
    fn default() -> Self {
        Self {
            numbers: NUMBERS.map(|(_, default, ..)| default),
            database: ":memory:".to_owned(),
            reset: false,
        }
    }
}

impl ConfigBuilder {
    /// Sets where the rows are kept.
    #[must_use]
    pub fn database(mut self, path: impl Into<String>) -> Self {
        self.database = path.into();
        self
    }

    /// Sets whether there is `POST /reset`.
    #[must_use]
    pub fn reset(mut self, enabled: bool) -> Self {
        self.reset = enabled;
        self
    }

    /// Sets one of the numbers by the name of its variable; unknown names are ignored.
    ///
    /// # Errors
    ///
    /// When it is out of its range.
    pub fn number(mut self, name: &'static str, value: u64) -> Result<Self, ConfigError> {
        let known = NUMBERS.iter().position(|(known, ..)| *known == name);
        let Some(nth) = known else {
            return Ok(self);
        };
        let (_, _, least, most) = NUMBERS[nth];
        if value < least || value > most {
            return Err(ConfigError::Range {
                name,
                got: value,
                least,
                most,
            });
        }
        self.numbers[nth] = value;
        Ok(self)
    }

    /// The settings.
    #[must_use]
    pub fn finish(self) -> Config {
        let [port, rate, longest, sweep] = self.numbers;
        Config {
            port: u16::try_from(port).unwrap_or(u16::MAX),
            database: self.database,
            reset: self.reset,
            rate: u32::try_from(rate).unwrap_or(u32::MAX),
            longest: usize::try_from(longest).unwrap_or(usize::MAX),
            sweep_every: Duration::from_secs(sweep),
        }
    }
}

impl Config {
    /// Reads the settings through `lookup`, which answers like the environment.
    ///
    /// # Errors
    ///
    /// When a variable is set to something that makes no sense.
    pub fn from_env(lookup: impl Fn(&'static str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut builder = ConfigBuilder::default();
        for (name, ..) in NUMBERS {
            if let Some(text) = lookup(name) {
                let value = text.trim().parse();
                let value = value.map_err(|error| ConfigError::Number(name, error))?;
                builder = builder.number(name, value)?;
            }
        }
        if let Some(path) = lookup("DATABASE_URL") {
            builder = builder.database(path);
        }
        let reset = lookup("ENABLE_RESET");
        let reset = reset.is_some_and(|word| matches!(word.as_str(), "1" | "true" | "on" | "yes"));
        Ok(builder.reset(reset).finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_override_what_holds_without_them() {
        let config = Config::from_env(|name| match name {
            "PORT" => Some("0".into()),
            "ENABLE_RESET" => Some("on".into()),
            _ => None,
        })
        .expect("they make sense");
        assert_eq!(
            (config.port, config.reset, config.longest),
            (0, true, 65_536)
        );
    }

    #[test]
    fn senseless_numbers_are_refused_with_their_name() {
        let range = Config::from_env(|name| (name == "SWEEP_SECONDS").then(|| "0".into()));
        assert!(range.is_err_and(|error| error.to_string().starts_with("SWEEP_SECONDS is 0")));
        let number = Config::from_env(|name| (name == "PORT").then(|| "http".into()));
        assert!(matches!(number, Err(ConfigError::Number("PORT", _))));
    }
}
