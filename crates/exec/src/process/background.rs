//! A program beside us that ends with us: the jobs of a campaign.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::server::child_process::{self, ChildProcess, LaunchPlan, ProcessEnvironment};

/// How long what the program started may take to end, once the program was killed.
const GRACE: Duration = Duration::from_secs(5);

/// A program that runs in the background.
#[derive(Clone, Debug)]
pub struct BackgroundCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where to run it.
    pub directory: PathBuf,
    /// Variables to set besides those that we have.
    pub variables: Vec<(String, String)>,
    /// The file that its output is added to.
    pub log: PathBuf,
}

/// A running program; dropping it kills it, and ends all that it started. It does not outlive us, however we end.
#[derive(Debug)]
pub struct Background {
    process: ChildProcess,
}

impl Background {
    /// Starts a program.
    ///
    /// # Errors
    ///
    /// When the system does not let us.
    pub fn start(command: &BackgroundCommand) -> io::Result<Self> {
        // The shell becomes the program once its output goes where we want it.
        let redirected = r#"log=$1; shift; exec "$@" >>"$log" 2>&1"#;
        let mut serve = ["/bin/sh", "-c", redirected, "isobath-background"]
            .map(str::to_owned)
            .to_vec();
        serve.push(command.log.display().to_string());
        serve.extend(command.command.iter().cloned());
        let plan = LaunchPlan {
            files: Vec::new(),
            prepare: Vec::new(),
            serve,
            // Whoever takes over must not meet it.
            signal: "KILL",
            grace: GRACE,
            surroundings: ProcessEnvironment::Ours {
                directory: Some(command.directory.clone()),
                variables: command.variables.clone(),
            },
        };
        let directory = child_process::directory(None)?;
        let process = ChildProcess::start(directory, None, &plan)?;
        Ok(Self { process })
    }

    /// What it ended with, once it has ended by itself; above 128 for a signal.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        self.process.exit_code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_output_and_its_exit_code_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "before\n").unwrap();
        let command = BackgroundCommand {
            command: ["sh", "-c", "echo $WORD in $(basename $PWD); exit 3"]
                .map(str::to_owned)
                .to_vec(),
            directory: folder.path().to_owned(),
            variables: vec![("WORD".into(), "here".into())],
            log: log.clone(),
        };
        let running = Background::start(&command).unwrap();
        let code = loop {
            if let Some(code) = running.exit_code() {
                break code;
            }
            std::thread::yield_now();
        };
        assert_eq!(code, 3);
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let said = std::fs::read_to_string(&log).unwrap();
        assert_eq!(said, format!("before\nhere in {name}\n"));
    }
}
