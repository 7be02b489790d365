//! Finds the agent for JVM services, or builds it.
//!
//! A program that is handed out has the agent's jar in it (`scripts/dist`). One that was built by cargo alone has only its
//! sources, since cargo does not build Java: the first run with an agent builds the jar with a JDK and keeps it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use isobath_exec::tool::Tool;

use super::java;
use super::run::SetupError;
use super::unpack::{self, fingerprint, put};
use crate::terminal::{Terminal, Tone};

/// The agent's file, wherever it is.
const AGENT: &str = "isobath-agent.jar";
/// How long the build may take, which downloads a library.
const PATIENCE: Duration = Duration::from_secs(600);

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/agent.rs"));
}

/// The agent: beside this program, where Maven leaves it in the source tree of this program, or as this program has it.
pub(super) fn find(terminal: &Terminal) -> Result<PathBuf, SetupError> {
    let program = std::env::current_exe()
        .map_err(|error| SetupError::usage(format!("cannot find this program: {error}")))?;
    let beside = program.parent().map(|folder| folder.join(AGENT));
    let built = program
        .ancestors()
        .map(|folder| folder.join("drivers/jvm/target").join(AGENT));
    let found = beside.into_iter().chain(built).find(|path| path.is_file());
    match found {
        Some(jar) => Ok(jar),
        None => make(&unpack::cache(), terminal),
    }
}

/// The agent of this program in a folder; put there the first time.
fn make(cache: &Path, terminal: &Terminal) -> Result<PathBuf, SetupError> {
    let name = match embedded::JAR {
        Some(jar) => format!("agent-{:016x}", fingerprint([jar])),
        None => {
            let texts = embedded::SOURCES
                .iter()
                .flat_map(|(name, text)| [name, text]);
            format!(
                "agent-{:016x}",
                fingerprint(texts.map(|text| text.as_bytes()))
            )
        }
    };
    let jar = cache.join(name).join(AGENT);
    if jar.is_file() {
        return Ok(jar);
    }
    let unwritable = |error: io::Error| unpack::unwritable(cache, "the agent", &error);
    // Beside its place, so that another run sees all of it or nothing.
    let work = cache.join(format!("building-{}", std::process::id()));
    let made = match embedded::JAR {
        Some(bytes) => put(&work.join(AGENT), bytes).map(|()| work.join(AGENT)),
        None => write_sources(&work).map(|()| work.join(AGENT)),
    };
    let made = made.map_err(unwritable)?;
    let built = match embedded::JAR {
        Some(_) => Ok(()),
        None => build(&work, terminal),
    };
    let moved = built.and_then(|()| {
        let folder = jar.parent().unwrap_or(cache);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::rename(&made, &jar))
            .map_err(unwritable)
    });
    let _ = std::fs::remove_dir_all(&work);
    moved.map(|()| jar)
}

fn write_sources(folder: &Path) -> io::Result<()> {
    embedded::SOURCES
        .iter()
        .try_for_each(|(name, text)| put(&folder.join(name), text.as_bytes()))
}

fn build(folder: &Path, terminal: &Terminal) -> Result<(), SetupError> {
    let what = "building the agent for JVM services, once";
    terminal.say(Tone::Faint, what);
    let java = java::for_builds().display().to_string();
    let command = ["build/Build.java", "src/main", AGENT].map(str::to_owned);
    let tool = Tool {
        command: [vec![java], command.to_vec()].concat(),
        directory: folder.to_path_buf(),
        variables: Vec::new(),
        timeout: PATIENCE,
        interrupt: None,
    };
    let advice = "install a JDK (11 or newer), or name a built agent by --agent";
    let ran = tool
        .run()
        .map_err(|error| SetupError::usage(format!("{what}: {error}; {advice}")))?;
    if ran.code == Some(0) {
        return Ok(());
    }
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = lines[..lines.len().min(8)].join("\n");
    Err(SetupError::usage(format!(
        "{what}: `java` failed; {advice}\n{first}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_comes_with_all_its_classes_and_what_builds_them() {
        let source = |wanted: &str| {
            let found = embedded::SOURCES.iter().find(|(name, _)| *name == wanted);
            found.unwrap_or_else(|| panic!("no {wanted}")).1
        };
        source("src/main/java/isobath/agent/Premain.java");
        // With the library that Maven takes for the agent of `scripts/dist`.
        let maven = include_str!("../../../../drivers/jvm/pom.xml");
        let version = |text: &str, before: &str, after: &str| {
            let (_, rest) = text.split_once(before).expect("a version");
            rest.split_once(after).expect("an end").0.to_owned()
        };
        assert_eq!(
            version(source("build/Build.java"), "String ASM = \"", "\""),
            version(maven, "<asm.version>", "<")
        );
    }
}
