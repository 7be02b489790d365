//! A child process that ends with its parent: a database server, or the service under test.
//!
//! Between us and the server stands a small shell script that reads from a pipe
//! of which we hold the other end. When we let go of it, or die in whatever
//! way, the system closes the pipe; the script then ends the server, with all
//! that it started, and removes its directory.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use super::account::Account;

/// Ends the server when its input ends. `$1` is the directory, `$2` the signal, `$3` how
/// many twentieths of a second it has to end before it is killed.
///
/// The inner shell notes how the server ended, so that a failed start is seen.
/// TERM goes to the whole process group for whatever prepared the data
/// directory; a trap other than '' is not inherited, so only these two shells
/// survive it.
const WATCHDOG: &str = r#"
trap : TERM
( trap : TERM; sh "$1/start" </dev/null >"$1/log" 2>&1; echo $? >"$1/exit" ) &
# A builtin: without `cat` in the PATH, the service would end at once.
while read -r line; do :; done
if pid=$(cat "$1/pid" 2>/dev/null); then kill -s "$2" "$pid" 2>/dev/null; fi
kill -s TERM 0
tries=0
# A shell that started the server may end before it. Its processes are in this group.
is_left() {
    [ -e "$1/exit" ] || return 0
    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null || continue
        set -- ${line##*) }
        [ "$3" = "$$" ] && [ "$1" != Z ] && [ "${line%% *}" != "$$" ] && return 0
    done
    return 1
}
while is_left "$1" && [ "$tries" -lt "$3" ]; do sleep 0.05; tries=$((tries + 1)); done
if [ ! -e "$1/exit" ] && [ -n "$pid" ]; then kill -s KILL "$pid" 2>/dev/null; fi
cd / && rm -rf "$1"
# Whatever it left running, and this shell with it.
kill -s KILL 0
"#;

/// How long a database server has to end.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// A running server and its directory; dropping it ends both.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    watchdog: Child,
    lifeline: Option<ChildStdin>,
    directory: PathBuf,
}

/// What to run: commands that prepare the directory, then the server itself.
pub(crate) struct LaunchPlan {
    /// Files to put into the directory first.
    pub(crate) files: Vec<(&'static str, String)>,
    /// Run one after the other; the first that fails ends the start.
    pub(crate) prepare: Vec<Vec<String>>,
    /// The server, which stays in the foreground.
    pub(crate) serve: Vec<String>,
    /// The signal that ends the server at once.
    pub(crate) signal: &'static str,
    /// How long it has to end before it is killed.
    pub(crate) grace: Duration,
    /// Its environment.
    pub(crate) surroundings: ProcessEnvironment,
}

/// The environment of a process.
#[derive(Clone, Debug)]
pub(crate) enum ProcessEnvironment {
    /// Its own directory as home, and plain English messages.
    Own,
    /// What we see ourselves, with further variables, and maybe in another directory.
    Ours {
        directory: Option<PathBuf>,
        variables: Vec<(String, String)>,
    },
}

/// Creates an empty directory that only the account can enter.
pub(crate) fn directory(account: Option<Account>) -> io::Result<PathBuf> {
    let directory = tempfile::Builder::new()
        .prefix("isobath-server-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?
        .keep();
    if let Some(Account { uid, gid }) = account {
        chown(&directory, Some(uid), Some(gid))?;
    }
    Ok(directory)
}

impl ChildProcess {
    /// Starts the server in `directory`, which is removed in every case.
    pub(crate) fn start(
        directory: PathBuf,
        account: Option<Account>,
        plan: &LaunchPlan,
    ) -> io::Result<Self> {
        let started = Self::spawn(&directory, account, plan);
        match started {
            Ok((watchdog, lifeline)) => Ok(Self {
                watchdog,
                lifeline: Some(lifeline),
                directory,
            }),
            Err(error) => {
                let _ = fs::remove_dir_all(&directory);
                Err(error)
            }
        }
    }

    fn spawn(
        directory: &Path,
        account: Option<Account>,
        plan: &LaunchPlan,
    ) -> io::Result<(Child, ChildStdin)> {
        let start = ("start", script(directory, plan));
        for (name, content) in plan.files.iter().chain([&start]) {
            let path = directory.join(name);
            // The directory keeps others out, so the files need no rights of their own.
            fs::write(&path, content)?;
            if let Some(Account { uid, gid }) = account {
                chown(&path, Some(uid), Some(gid))?;
            }
        }
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", WATCHDOG, "isobath-watchdog"])
            .arg(directory)
            .arg(plan.signal)
            .arg((plan.grace.as_millis() / 50).to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Away from the terminal's group, so that Ctrl-C reaches us and not the watchdog.
            .process_group(0);
        match &plan.surroundings {
            ProcessEnvironment::Own => {
                command.current_dir("/");
                command.env("HOME", directory).env("LC_ALL", "C");
            }
            ProcessEnvironment::Ours {
                directory,
                variables,
            } => {
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                command.envs(variables.iter().map(|(name, value)| (name, value)));
            }
        }
        if let Some(Account { uid, gid }) = account {
            command.uid(uid).gid(gid);
        }
        let mut watchdog = command.spawn()?;
        let lifeline = watchdog
            .stdin
            .take()
            .expect("the child was spawned with a piped standard input");
        Ok((watchdog, lifeline))
    }

    /// The process id of the server, once it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.directory.join("pid"))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// Whether the server, or what prepares it, has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        // The file is there a moment before what is written into it.
        self.exit_code().is_some()
    }

    /// What it ended with, once it has ended by itself.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        let code = fs::read_to_string(self.directory.join("exit")).ok()?;
        code.trim().parse().ok()
    }

    /// Where it lives.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The last lines of the server output.
    pub(crate) fn last_output(&self) -> String {
        const LINES: usize = 8;
        // The log of a talkative service may be larger than we want to read.
        const BYTES: u64 = 16 * 1024;
        let mut log = Vec::new();
        if let Ok(mut file) = fs::File::open(self.directory.join("log")) {
            let length = file.metadata().map_or(0, |data| data.len());
            let _ = file.seek(SeekFrom::Start(length.saturating_sub(BYTES)));
            let _ = file.take(BYTES).read_to_end(&mut log);
        }
        let log = String::from_utf8_lossy(&log);
        let mut lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        let earlier = lines.len().saturating_sub(LINES);
        lines.split_off(earlier).join("\n")
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let _ = self.watchdog.wait();
        // The account may not be allowed to remove the directory from its parent.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The text of the start script; it becomes the server, so its process id is the server's.
fn script(directory: &Path, plan: &LaunchPlan) -> String {
    let mut text = format!("echo $$ >{}\n", quoted(directory.join("pid")));
    for command in &plan.prepare {
        text.push_str(&line(command));
        text.push_str(" || exit\n");
    }
    text.push_str("exec ");
    text.push_str(&line(&plan.serve));
    text.push('\n');
    text
}

fn line(command: &[String]) -> String {
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// One word of shell, whatever it holds.
fn quoted(word: impl AsRef<OsStr>) -> String {
    format!(
        "'{}'",
        word.as_ref().to_string_lossy().replace('\'', r"'\''")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(serve: &str) -> LaunchPlan {
        LaunchPlan {
            files: Vec::new(),
            prepare: Vec::new(),
            serve: ["sh", "-c", serve].map(str::to_owned).to_vec(),
            signal: "KILL",
            grace: GRACE,
            surroundings: ProcessEnvironment::Own,
        }
    }

    #[test]
    fn dropping_ends_the_process_and_removes_the_directory() {
        let directory = directory(None).unwrap();
        let child_process =
            ChildProcess::start(directory.clone(), None, &plan("exec sleep 600")).unwrap();
        let pid = loop {
            if let Some(pid) = child_process.pid() {
                break pid;
            }
            std::thread::yield_now();
        };
        assert!(is_alive(pid));
        drop(child_process);
        assert!(!is_alive(pid));
        assert!(!directory.exists());
    }

    #[test]
    fn a_server_below_a_shell_has_time_to_end() {
        let kept = tempfile::tempdir().unwrap();
        let (up, saved) = (kept.path().join("up"), kept.path().join("saved"));
        // The outer shell ends at once, the inner one when it has saved its work.
        let inner = format!(
            "trap 'sleep 0.2; echo all >{}; exit' TERM; touch {}; while :; do sleep 0.02; done",
            saved.display(),
            up.display()
        );
        let plan = LaunchPlan {
            signal: "TERM",
            ..plan(&format!("sh -c \"{inner}\"; true"))
        };
        let server = ChildProcess::start(directory(None).unwrap(), None, &plan).unwrap();
        while !up.exists() {
            std::thread::yield_now();
        }
        drop(server);
        assert_eq!(fs::read_to_string(saved).unwrap(), "all\n");
    }

    #[test]
    fn a_server_that_ends_by_itself_is_noticed_with_its_last_words() {
        let directory = directory(None).unwrap();
        let child_process =
            ChildProcess::start(directory, None, &plan("echo no such luck >&2; exit 3")).unwrap();
        while !child_process.has_ended() {
            std::thread::yield_now();
        }
        assert_eq!(child_process.last_output(), "no such luck");
    }

    #[test]
    fn words_of_shell_survive_quotes() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    fn is_alive(pid: u32) -> bool {
        Command::new("kill")
            .args(["-0", &pid.to_string()])
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    }
}
