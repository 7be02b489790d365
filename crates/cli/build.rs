//! Puts the agent for JVM services into the program: its sources, and its jar when `ISOBATH_AGENT_JAR` names one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let manifest = variable("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = variable("OUT_DIR").expect("cargo sets it");
    let agent = manifest.join("../../drivers/jvm");
    let mut files = Vec::new();
    collect(&agent.join("src/main"), &mut files);
    files.push(agent.join("pom.xml"));
    files.sort();
    let mut code = String::from("pub(super) const SOURCES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&agent).expect("a file of the agent");
        let file = file.canonicalize().expect("a file of the agent");
        let _ = writeln!(code, "    ({name:?}, include_str!({file:?})),");
    }
    code.push_str("];\n\npub(super) const JAR: Option<&[u8]> = ");
    match variable("ISOBATH_AGENT_JAR").filter(|jar| !jar.as_os_str().is_empty()) {
        None => code.push_str("None;\n"),
        Some(jar) => {
            let jar = jar.canonicalize().expect("ISOBATH_AGENT_JAR is a file");
            let _ = writeln!(code, "Some(include_bytes!({jar:?}));");
            println!("cargo::rerun-if-changed={}", jar.display());
        }
    }
    std::fs::write(out.join("agent.rs"), code).expect("the file can be written");
    println!("cargo::rerun-if-env-changed=ISOBATH_AGENT_JAR");
    println!("cargo::rerun-if-changed=build.rs");
    for part in ["src/main", "pom.xml"] {
        println!("cargo::rerun-if-changed={}", agent.join(part).display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources of the agent") {
        let path = entry.expect("the sources of the agent").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
