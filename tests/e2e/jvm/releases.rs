//! The agent on every release of Java that this machine has: those of `/usr/lib/jvm`, of `JAVA_HOME`, of the path, and
//! those that `ISOBATH_JDKS` names, as in `PATH`.

use std::collections::BTreeSet;

use super::awkward::{MAIN, is_watched, tool};
use super::*;

/// The `java` of each, with what it says of its version; at least one.
#[expect(clippy::print_stderr, reason = "which ones were tried should be seen")]
fn javas() -> Vec<(PathBuf, String)> {
    let variable = |name: &str| std::env::var_os(name).unwrap_or_default();
    let split = |text: &std::ffi::OsStr| std::env::split_paths(text).collect::<Vec<_>>();
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    let homes = installed.flatten().map(|home| home.path());
    let homes = homes.chain(split(&variable("ISOBATH_JDKS")));
    let homes = homes.chain(split(&variable("JAVA_HOME")));
    let javas = homes.map(|home| home.join("bin/java"));
    let javas = javas.chain(
        split(&variable("PATH"))
            .into_iter()
            .map(|bin| bin.join("java")),
    );
    let javas: BTreeSet<PathBuf> = javas.filter_map(|java| java.canonicalize().ok()).collect();
    let javas: Vec<(PathBuf, String)> = javas
        .into_iter()
        .map(|java| {
            let output = Command::new(&java).arg("-version").output();
            let output = output.unwrap_or_else(|error| panic!("{}: {error}", java.display()));
            let said = String::from_utf8_lossy(&output.stderr);
            let version = said.lines().find(|line| line.contains("version"));
            (java, version.unwrap_or_default().to_owned())
        })
        .collect();
    assert!(!javas.is_empty(), "Maven was found, but no `java`");
    for (java, version) in &javas {
        eprintln!("tried on {version} ({})", java.display());
    }
    javas
}

#[test]
fn a_service_for_java_8_is_watched_on_every_jdk_of_this_machine() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir_all(at.join("shop")).expect("a folder");
    std::fs::write(at.join("shop/Main.java"), MAIN).expect("a file");
    tool(
        at,
        "javac",
        &["-g", "--release", "8", "-d", "classes", "shop/Main.java"],
    );
    for (java, _) in javas() {
        is_watched(
            &java.to_string_lossy(),
            &format!("-cp '{}' shop.Main", at.join("classes").display()),
        );
    }
}

/// The agent's own tests need a newer Java than the agent; this part of them does not.
#[test]
fn distances_messages_and_scenarios_are_the_same_on_every_jdk_of_this_machine() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let classes = folder.path().join("classes");
    let agent = root().join("drivers/jvm");
    let jar = "target/isobath-agent.jar";
    let tests = "src/test/java/isobath/agent";
    let sources = ["Conformance", "Json", "Recordings"].map(|name| format!("{tests}/{name}.java"));
    let target = classes.to_string_lossy();
    let mut arguments = vec!["-nowarn", "--release", "8", "-cp", jar, "-d", &target];
    arguments.extend(sources.iter().map(String::as_str));
    tool(&agent, "javac", &arguments);
    let path = std::env::join_paths([Path::new(jar), &classes]).expect("no colon in it");
    for (java, version) in javas() {
        let output = Command::new(&java)
            .current_dir(&agent)
            .arg("-cp")
            .arg(&path)
            .arg("isobath.agent.Conformance")
            .output()
            .unwrap_or_else(|error| panic!("{version}: {error}"));
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{version}: {said}");
        assert!(said.contains(" distances, "), "{version}: {said}");
    }
}
