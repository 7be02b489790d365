//! Runs external programs to completion, with a timeout: the test tools of other languages.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often we look whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How much of its output is read, from the end.
const OUTPUT: u64 = 8 << 20;

/// A program and its surroundings.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where to run it.
    pub directory: PathBuf,
    /// Variables to set besides those that we have.
    pub variables: Vec<(String, String)>,
    /// How long it may take.
    pub timeout: Duration,
    /// Ends it when it is raised.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// A program that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// What it ended with; nothing when a signal ended it.
    pub code: Option<i32>,
    /// What it said on standard output.
    pub stdout: String,
    /// What it said on standard error.
    pub stderr: String,
}

/// Why a program did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("`{program}` is not installed")]
    Missing {
        /// The program.
        program: String,
    },
    /// The system does not let us run it.
    #[error("failed to run `{program}`")]
    System {
        /// The program.
        program: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// It took too long, and was ended.
    #[error("`{program}` did not finish within {} s", .timeout.as_secs_f64())]
    TooLong {
        /// The program.
        program: String,
        /// How long we waited.
        timeout: Duration,
    },
    /// The run was interrupted.
    #[error("`{program}` was interrupted")]
    Interrupted {
        /// The program.
        program: String,
    },
}

impl Tool {
    /// Runs the program to its end.
    ///
    /// # Errors
    ///
    /// When it is not there, or did not end in time; it, and all that it started, is then ended.
    pub fn run(&self) -> Result<ToolOutput, ToolError> {
        self.run_with_grace(Duration::ZERO)
    }

    /// Runs the program to its end; one that takes too long or is interrupted is asked to end (`SIGTERM`), and gets
    /// this long to do so.
    ///
    /// # Errors
    ///
    /// As [`Tool::run`].
    pub fn run_with_grace(&self, grace: Duration) -> Result<ToolOutput, ToolError> {
        let program = self.command.first().cloned().unwrap_or_default();
        let system = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound if self.directory.is_dir() => ToolError::Missing {
                program: program.clone(),
            },
            _ => ToolError::System {
                program: program.clone(),
                cause,
            },
        };
        // Files, because a pipe that nobody empties makes its writer wait.
        let (stdout, stderr) = (
            tempfile::tempfile().map_err(system)?,
            tempfile::tempfile().map_err(system)?,
        );
        let mut command = Command::new(&program);
        command
            .args(self.command.iter().skip(1))
            .current_dir(&self.directory)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().map_err(system)?)
            .stderr(stderr.try_clone().map_err(system)?)
            // Ctrl-C is for us, and the whole group can be ended at once.
            .process_group(0);
        let mut running = Running(command.spawn().map_err(system)?);
        let started = Instant::now();
        let code = loop {
            if let Some(status) = running.0.try_wait().map_err(system)? {
                break status.code();
            }
            let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
            if self.interrupt.as_ref().is_some_and(raised) {
                running.ask_to_end(grace);
                return Err(ToolError::Interrupted { program });
            }
            if started.elapsed() > self.timeout {
                running.ask_to_end(grace);
                return Err(ToolError::TooLong {
                    program,
                    timeout: self.timeout,
                });
            }
            thread::sleep(POLL_INTERVAL);
        };
        Ok(ToolOutput {
            code,
            stdout: tail(stdout).map_err(system)?,
            stderr: tail(stderr).map_err(system)?,
        })
    }
}

/// A program that does not outlive its being waited for.
struct Running(Child);

impl Running {
    /// Tells the program to end, and waits for that.
    fn ask_to_end(&mut self, grace: Duration) {
        if grace.is_zero() {
            return;
        }
        let _ = Command::new("kill")
            .args(["-s", "TERM", "--", &self.0.id().to_string()])
            .stderr(Stdio::null())
            .status();
        let asked = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) && asked.elapsed() < grace {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            // The group has the number of its first process.
            let group = format!("-{}", self.0.id());
            let _ = Command::new("kill")
                .args(["-s", "KILL", "--", &group])
                .stderr(Stdio::null())
                .status();
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

fn tail(mut file: File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT)))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Tool {
        Tool {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            directory: std::env::temp_dir(),
            variables: vec![("WORD".into(), "here".into())],
            timeout: Duration::from_secs(60),
            interrupt: None,
        }
    }

    #[test]
    fn what_it_says_and_ends_with_is_kept() {
        let ran = shell("echo $WORD; echo there >&2; exit 3").run().unwrap();
        let said = (ran.code, ran.stdout.as_str(), ran.stderr.as_str());
        assert_eq!(said, (Some(3), "here\n", "there\n"));
    }

    #[test]
    fn what_is_not_installed_is_said_to_be_so() {
        let tool = Tool {
            command: vec!["isobath-no-such-tool".into()],
            ..shell("")
        };
        let error = tool.run().unwrap_err();
        assert_eq!(error.to_string(), "`isobath-no-such-tool` is not installed");
    }

    #[test]
    fn what_does_not_end_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool {
            directory: folder.path().to_owned(),
            timeout: Duration::from_millis(300),
            ..shell("sleep 600 & echo $! >pid; wait")
        };
        assert!(matches!(tool.run().unwrap_err(), ToolError::TooLong { .. }));
        let Ok(pid) = std::fs::read_to_string(folder.path().join("pid")) else {
            return;
        };
        // A process that is gone, or waits to be buried by the system; on a busy machine it may take its time to end.
        let has_ended = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            state.map_or(true, |state| state.contains(") Z "))
        };
        let ended = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            has_ended()
        });
        assert!(ended, "process {pid} was left running");
    }

    #[test]
    fn an_interruption_ends_it() {
        let tool = Tool {
            interrupt: Some(Arc::new(AtomicBool::new(true))),
            ..shell("sleep 600")
        };
        assert!(matches!(
            tool.run().unwrap_err(),
            ToolError::Interrupted { .. }
        ));
    }

    #[test]
    fn what_is_asked_to_end_can_clean_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let interrupt = Arc::new(AtomicBool::new(false));
        let tool = Tool {
            directory: folder.path().to_owned(),
            interrupt: Some(Arc::clone(&interrupt)),
            ..shell("trap 'touch clean; exit' TERM; touch ready; while :; do sleep 0.05; done")
        };
        let (ready, clean) = (path("ready"), path("clean"));
        let waiting = thread::spawn(move || {
            while !ready.exists() {
                thread::sleep(POLL_INTERVAL);
            }
            interrupt.store(true, Ordering::Relaxed);
        });
        let ended = tool.run_with_grace(Duration::from_secs(60)).unwrap_err();
        assert!(matches!(ended, ToolError::Interrupted { .. }));
        waiting.join().unwrap();
        assert!(clean.exists());
    }
}
