//! Finds the agent for JVM services, or builds it.
//!
//! A program that is handed out has the agent's jar in it (`scripts/dist`). One that was built by cargo alone has only its
//! sources, since cargo does not build Java: the first run with an agent builds the jar with Maven and keeps it.

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
/// How long Maven may take, which gets its plugins the first time.
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
        None => write_sources(&work).map(|()| work.join("target").join(AGENT)),
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
    for (name, text) in embedded::SOURCES {
        let text = match *name {
            "pom.xml" => without_tests(text),
            _ => (*text).to_owned(),
        };
        put(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// A Maven project without the dependencies of its tests, which would be downloaded for nothing.
fn without_tests(project: &str) -> String {
    let mut parts = project.split("    <dependency>\n");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        const END: &str = "    </dependency>\n";
        match part.split_once(END) {
            Some((inner, rest)) if inner.contains("<scope>test</scope>") => text.push_str(rest),
            _ => {
                text.push_str("    <dependency>\n");
                text.push_str(part);
            }
        }
    }
    text
}

fn build(folder: &Path, terminal: &Terminal) -> Result<(), SetupError> {
    let what = "building the agent for JVM services with Maven, once";
    terminal.say(Tone::Faint, what);
    let command = ["mvn", "-q", "-B", "-Dmaven.test.skip=true", "package"];
    let tool = Tool {
        command: command.map(str::to_owned).to_vec(),
        directory: folder.to_path_buf(),
        variables: java::for_maven(),
        timeout: PATIENCE,
        interrupt: None,
    };
    let advice = "install Maven and a JDK (9 or newer), or name a built agent by --agent";
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
        "{what}: `{}` failed; {advice}\n{first}",
        command.join(" ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_comes_with_its_project_and_all_its_classes() {
        let has = |name: &str| embedded::SOURCES.iter().any(|(known, _)| *known == name);
        assert!(has("pom.xml"));
        assert!(has("src/main/java/isobath/agent/Premain.java"));
    }

    #[test]
    fn the_project_is_built_without_dependencies_of_tests() {
        let pom = embedded::SOURCES
            .iter()
            .find(|(name, _)| *name == "pom.xml");
        let (_, pom) = pom.expect("a project");
        let built = without_tests(pom);
        assert!(
            built.contains("<artifactId>asm-tree</artifactId>"),
            "{built}"
        );
        assert!(!built.contains("<scope>test</scope>"), "{built}");
        assert!(built.ends_with("</project>\n"), "{built}");
    }
}
