//! What can be set from outside, by environment variables.

use std::fmt;
use std::num::ParseIntError;
use std::time::Duration;

/// The settings of one service.
#[derive(Clone, Debug)]
pub struct Config {
    /// The port to listen on; 0 takes a free one.
    pub port: u16,
    /// Where the rows are kept.
    pub database: String,
    /// What tokens are signed with.
    pub secret: String,
    /// How long a token is good for.
    pub token_life: Duration,
    /// Whether `POST /reset` is there.
    pub reset: bool,
    /// How often the background task counts what is read most.
    pub count_every: Duration,
    /// How many failed log-ins an account may have before it has to wait.
    pub login_attempts: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 8000,
            database: "sqlite::memory:".to_owned(),
            secret: "not a secret in a test".to_owned(),
            token_life: Duration::from_secs(24 * 60 * 60),
            reset: false,
            count_every: Duration::from_secs(30),
            login_attempts: 20,
        }
    }
}

/// Why the settings make no sense.
#[derive(Debug, PartialEq)]
pub enum ConfigError {
    /// A number was expected.
    Number(&'static str, ParseIntError),
    /// A word was expected, one of these.
    Word(&'static str, String, &'static [&'static str]),
    /// The secret is so short that it can be guessed.
    ShortSecret(usize),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(name, error) => write!(f, "{name} is not a number: {error}"),
            Self::Word(name, got, words) => {
                write!(f, "{name} is {got:?}; use one of {}", words.join(", "))
            }
            Self::ShortSecret(length) => {
                write!(f, "SECRET has {length} characters; use 16 or more")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

const SWITCH: &[&str] = &["on", "off", "1", "0", "true", "false"];

macro_rules! number {
    ($lookup:expr, $name:literal, $default:expr) => {
        match $lookup($name) {
            Some(text) => text
                .trim()
                .parse()
                .map_err(|error| ConfigError::Number($name, error))?,
            None => $default,
        }
    };
}

impl Config {
    /// Reads the settings through `lookup`, which answers like the environment.
    ///
    /// # Errors
    ///
    /// When a variable is set to something that makes no sense.
    pub fn from_env(lookup: impl Fn(&'static str) -> Option<String>) -> Result<Self, ConfigError> {
        let default = Self::default();
        let secret = lookup("SECRET").unwrap_or(default.secret);
        let length = secret.chars().count();
        if length < 16 {
            return Err(ConfigError::ShortSecret(length));
        }
        Ok(Self {
            port: number!(lookup, "PORT", default.port),
            database: lookup("DATABASE_URL").unwrap_or(default.database),
            secret,
            token_life: Duration::from_secs(number!(
                lookup,
                "TOKEN_SECONDS",
                default.token_life.as_secs()
            )),
            reset: switch(&lookup, "ENABLE_RESET")?.unwrap_or(default.reset),
            count_every: Duration::from_secs(
                number!(lookup, "COUNT_SECONDS", default.count_every.as_secs()).max(1),
            ),
            login_attempts: number!(lookup, "LOGIN_ATTEMPTS", default.login_attempts),
        })
    }
}

fn switch(
    lookup: &impl Fn(&'static str) -> Option<String>,
    name: &'static str,
) -> Result<Option<bool>, ConfigError> {
    let Some(text) = lookup(name) else {
        return Ok(None);
    };
    match text.to_ascii_lowercase().as_str() {
        "on" | "1" | "true" => Ok(Some(true)),
        "off" | "0" | "false" | "" => Ok(Some(false)),
        _ => Err(ConfigError::Word(name, text, SWITCH)),
    }
}
