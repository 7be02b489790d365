//! The agent needs no step by the user: a program without it builds it once.

use std::os::unix::fs::symlink;

use super::*;

/// A program far from its sources, with a cache and tools of its own.
struct Alone {
    folder: TempDir,
}

impl Alone {
    fn new(tools: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        std::fs::copy(env!("CARGO_BIN_EXE_isobath"), at.join("isobath")).expect("a copy");
        std::fs::create_dir(at.join("bin")).expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in tools {
            let found = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let found = found.into_iter().find(|file| file.is_file());
            let found = found.unwrap_or_else(|| panic!("{tool} is not installed"));
            symlink(found, at.join("bin").join(tool)).expect("a link");
        }
        Self { folder }
    }

    /// A run on a sample with these tools; its exit code, and what it said.
    fn run(&self, variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let at = self.folder.path();
        let sample = root().join("tests/suts/jvm/numbers");
        let mut command = Command::new(at.join("isobath"));
        let output = command
            .env("PATH", at.join("bin"))
            .env_remove("JAVA_HOME")
            .envs(variables.iter().copied())
            .env("XDG_CACHE_HOME", at.join("cache"))
            .current_dir(at)
            .arg("rest")
            .arg(sample.join("openapi.json"))
            .arg("--jvm")
            .arg(sample.join("target/numbers.jar"))
            .args(["--port", &port(), "--no-run", "--budget", "50calls"])
            .args(["--out", "out"])
            .output()
            .expect("the binary runs");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into())
    }
}

#[test]
fn a_program_without_the_agent_builds_it_once() {
    if !is_built() {
        return;
    }
    // Neither Maven nor Gradle.
    let alone = Alone::new(&["sh", "env", "java", "cat", "sleep", "rm"]);
    let (_, said) = alone.run(&[]);
    assert!(said.contains("building the agent"), "{said}");
    assert!(said.contains(" targets in "), "{said}");
    let (_, said) = alone.run(&[]);
    assert!(!said.contains("building the agent"), "{said}");
    assert!(said.contains(" targets in "), "{said}");
    // What the build needed is gone.
    let cache = alone.folder.path().join("cache/isobath");
    let kept = std::fs::read_dir(cache).expect("a cache");
    let kept: Vec<_> = kept.map(|entry| entry.expect("an entry")).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn without_a_way_to_build_the_agent_the_message_says_what_to_do() {
    if !is_built() {
        return;
    }
    let alone = Alone::new(&["sh", "env", "java"]);
    // No library here, nor where it comes from.
    let home = alone.folder.path().display().to_string();
    let offline = [
        ("JAVA_TOOL_OPTIONS", &*format!("-Duser.home={home}")),
        ("ISOBATH_MAVEN_REPOSITORY", "http://127.0.0.1:1"),
    ];
    let (code, said) = alone.run(&offline);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("http://127.0.0.1:1/org/ow2/asm/asm/"),
        "{said}"
    );
    assert!(
        said.contains("ISOBATH_MAVEN_REPOSITORY names a mirror"),
        "{said}"
    );
    assert!(said.contains("install a JDK"), "{said}");
    assert!(said.contains("--agent"), "{said}");
}
