//! What `strangers.toml` says of the services in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use isobath_exec::process::{Launch, ReadyCheck, Service, free_port};
use serde::Deserialize;

use crate::verdict::{self, BenchError};

/// Services listen at the first free port from here on.
const FIRST_PORT: u16 = 21_500;

/// The services, and where the other tool is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Setup {
    /// The command of Schemathesis; without one, only Isobath is measured.
    pub(super) schemathesis: Option<String>,
    /// The services.
    #[serde(rename = "service")]
    pub(super) services: Vec<Stranger>,
}

/// A service that somebody else wrote.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Stranger {
    /// Its name.
    pub(super) name: String,
    /// The command that starts it on `{port}` in its initial state, run in the folder of the file.
    start: String,
    /// The port that it listens at, where that cannot be chosen.
    port: Option<u16>,
    /// The path that answers when it is up.
    ready: String,
    /// How long it may take to start, in seconds.
    #[serde(default = "two_minutes")]
    start_seconds: u64,
    /// Its document: a path of the service, or a file in the folder.
    pub(super) document: String,
    /// The path before all paths of the document, if the document does not have it.
    #[serde(default)]
    pub(super) base_path: String,
    /// Headers of each request.
    #[serde(default)]
    pub(super) headers: Vec<String>,
    /// A WFC file with users, in the folder.
    pub(super) auth: Option<String>,
    /// Paths that no tool may call.
    #[serde(default)]
    pub(super) exclude_paths: Vec<String>,
    /// More flags of Isobath.
    #[serde(default)]
    pub(super) isobath_flags: Vec<String>,
    /// Whether Isobath starts the service itself, by its flags (`--rust`, `--jvm`, `--python`).
    #[serde(default)]
    pub(super) white_box: bool,
    /// The command that brings the service into its initial state before Isobath starts it.
    prepare: Option<String>,
    /// Environment variables for the generated suite.
    #[serde(default)]
    pub(super) suite_environment: BTreeMap<String, String>,
    /// The file with the log of the service, and a regular expression whose first group is the cause of a server error.
    pub(super) log: Option<String>,
    pub(super) error_pattern: Option<String>,
    /// A command that prints the covered lines as a percentage, after the service has ended.
    pub(super) coverage: Option<String>,
}

fn two_minutes() -> u64 {
    120
}

impl Setup {
    /// Reads `strangers.toml`.
    pub(super) fn read(folder: &Path) -> Result<Self, BenchError> {
        let file = folder.join("strangers.toml");
        let text = fs::read_to_string(&file).map_err(|error| {
            format!(
                "{}: {error}; see bench/strangers.example.toml",
                file.display()
            )
        })?;
        toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()).into())
    }
}

impl Stranger {
    /// The port for the service.
    pub(super) fn port(&self) -> Result<u16, BenchError> {
        match self.port {
            Some(port) => Ok(port),
            None => Ok(free_port(FIRST_PORT)?),
        }
    }

    /// Brings the service into its initial state without starting it.
    pub(super) fn prepare(&self, folder: &Path) -> Result<(), BenchError> {
        if let Some(command) = &self.prepare {
            let mut shell = Command::new("sh");
            verdict::run(shell.args(["-c", command]).current_dir(folder))?;
        }
        Ok(())
    }

    /// Starts the service in its initial state.
    pub(super) fn start(&self, folder: &Path, port: u16) -> Result<Service, BenchError> {
        let ready = ReadyCheck::Url(format!("http://127.0.0.1:{port}{}", self.ready));
        let mut launch = Launch::new(self.start.replace("{port}", &port.to_string()), ready);
        launch.directory = Some(folder.to_owned());
        launch.timeout = Duration::from_secs(self.start_seconds);
        // Coverage tools write their data when the service ends.
        launch.grace = Duration::from_secs(30);
        Ok(Service::start(launch)?)
    }

    /// Where a tool finds the document.
    pub(super) fn document(&self, folder: &Path, port: u16) -> String {
        if self.document.starts_with('/') {
            format!("http://127.0.0.1:{port}{}", self.document)
        } else {
            folder.join(&self.document).display().to_string()
        }
    }

    /// The file with users.
    pub(super) fn auth_file(&self, folder: &Path) -> Option<PathBuf> {
        self.auth.as_ref().map(|file| folder.join(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_read() {
        let setup: Setup = toml::from_str(include_str!("../../strangers.example.toml")).unwrap();
        let stranger = &setup.services[0];
        assert_eq!(stranger.name, "boats");
        assert_eq!(
            stranger.document(Path::new("/services"), 8080),
            "http://127.0.0.1:8080/openapi.json"
        );
    }
}
