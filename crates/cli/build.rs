//! Puts the drivers for JVM and Python services into the program: their sources, and the agent's jar when
//! `ISOBATH_AGENT_JAR` names one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let manifest = variable("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = variable("OUT_DIR").expect("cargo sets it");
    let drivers = manifest.join("../../drivers");
    let mut code = sources(&drivers.join("jvm"), &["src/main", "build"]);
    code.push_str("\npub(super) const JAR: Option<&[u8]> = ");
    match variable("ISOBATH_AGENT_JAR").filter(|jar| !jar.as_os_str().is_empty()) {
        None => code.push_str("None;\n"),
        Some(jar) => {
            let jar = jar.canonicalize().expect("ISOBATH_AGENT_JAR is a file");
            let _ = writeln!(code, "Some(include_bytes!({jar:?}));");
            println!("cargo::rerun-if-changed={}", jar.display());
        }
    }
    std::fs::write(out.join("agent.rs"), code).expect("the file can be written");
    let code = sources(&drivers.join("python"), &["isobath_driver", "site"]);
    std::fs::write(out.join("python.rs"), code).expect("the file can be written");
    println!("cargo::rerun-if-env-changed=ISOBATH_AGENT_JAR");
    println!("cargo::rerun-if-changed=build.rs");
}

/// A table of the sources of a driver.
fn sources(driver: &Path, parts: &[&str]) -> String {
    let mut files = Vec::new();
    for part in parts {
        collect(&driver.join(part), &mut files);
        println!("cargo::rerun-if-changed={}", driver.join(part).display());
    }
    files.sort();
    let mut code = String::from("pub(super) const SOURCES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.strip_prefix(driver).expect("a file of the driver");
        let file = file.canonicalize().expect("a file of the driver");
        let _ = writeln!(code, "    ({name:?}, include_str!({file:?})),");
    }
    code.push_str("];\n");
    code
}

/// The files of a folder, or the file itself, without what Python compiled.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        return files.push(path.to_path_buf());
    }
    for entry in std::fs::read_dir(path).expect("the sources of the driver") {
        let path = entry.expect("the sources of the driver").path();
        if !path.ends_with("__pycache__") {
            collect(&path, files);
        }
    }
}
