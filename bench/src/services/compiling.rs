//! Building a service both ways, and what that costs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use isobath_rewrite::build::{Build, InstrumentedBuild, build};

use crate::cpu::children_seconds;
use crate::verdict::BenchError;

/// How often each is built; the least counts, because other work on the machine only adds.
const ROUNDS: usize = 3;

/// Incremental builds would compare nothing with nothing.
const FROM_SCRATCH: [&str; 2] = ["--config", "profile.dev.incremental=false"];

/// A service built both ways.
pub(super) struct Compiled {
    pub(super) plain: PathBuf,
    pub(super) plain_cpu: f64,
    pub(super) instrumented: InstrumentedBuild,
    pub(super) instrumented_cpu: f64,
}

/// Builds plain and instrumented in turns. Dependencies, the runtime and what must be left out
/// are settled by a first build that does not count.
pub(super) fn both(workspace: &Path, wrapper: &Path, name: &str) -> Result<Compiled, BenchError> {
    let sources = [
        workspace.join(name).join("src/lib.rs"),
        workspace.join(name).join("src/main.rs"),
    ];
    let order = Build {
        folder: workspace.to_path_buf(),
        package: Some(name.to_owned()),
        arguments: FROM_SCRATCH.map(str::to_owned).to_vec(),
        wrapper: wrapper.to_path_buf(),
        ..Build::default()
    };
    let mut instrumented = build(&order, &mut |_| {})?;
    let mut program = plain(workspace, name)?;
    let (mut plain_cpu, mut instrumented_cpu) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        touch(&sources)?;
        let (built, seconds) = timed(|| Ok(build(&order, &mut |_| {})?))?;
        instrumented = built;
        instrumented_cpu = instrumented_cpu.min(seconds);
        touch(&sources)?;
        let (built, seconds) = timed(|| plain(workspace, name))?;
        program = built;
        plain_cpu = plain_cpu.min(seconds);
    }
    Ok(Compiled {
        plain: program,
        plain_cpu,
        instrumented,
        instrumented_cpu,
    })
}

fn timed<T>(work: impl FnOnce() -> Result<T, BenchError>) -> Result<(T, f64), BenchError> {
    let account = || children_seconds().ok_or("the system keeps no account of CPU time");
    let before = account()?;
    let done = work()?;
    Ok((done, account()? - before))
}

/// Makes cargo build the crates again.
fn touch(sources: &[PathBuf]) -> Result<(), BenchError> {
    for source in sources {
        File::options()
            .append(true)
            .open(source)?
            .set_modified(SystemTime::now())?;
    }
    Ok(())
}

fn plain(workspace: &Path, name: &str) -> Result<PathBuf, BenchError> {
    let output = Command::new("cargo")
        .current_dir(workspace)
        .args(["build", "--message-format=json", "--package", name])
        .args(FROM_SCRATCH)
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let program = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back();
    program.ok_or_else(|| format!("{name} does not build, or has no binary").into())
}
