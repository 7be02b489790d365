//! The runtime, compiled by the compiler of the project.
//!
//! Its sources are part of this program, because the compiler of the project is
//! the only one whose libraries the project can link.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate of the runtime: its name, its files, and the crates before it that it uses.
struct RuntimeCrate {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    uses: &'static [&'static str],
}

macro_rules! sources {
    ($folder:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../", $folder, "/src/", $file)))),*]
    };
}

const RUNTIME_CRATES: [RuntimeCrate; 3] = [
    RuntimeCrate {
        name: "isobath_distance",
        files: sources!("crates/distance": "lib.rs", "truth.rs", "order.rs", "number.rs", "text.rs",
            "date.rs", "member.rs", "pattern.rs"),
        uses: &[],
    },
    RuntimeCrate {
        name: "isobath_protocol",
        files: sources!("crates/protocol": "lib.rs", "map.rs", "memory.rs", "target.rs",
            "channel.rs", "message.rs", "wire.rs"),
        uses: &[],
    },
    RuntimeCrate {
        name: "isobath_rt",
        files: sources!("drivers/rust/rt": "lib.rs", "arms.rs", "collection.rs", "link.rs",
            "measure.rs", "outcome.rs", "panics.rs", "parsing.rs", "probe.rs", "queue.rs",
            "receiver.rs", "socket.rs",
            "sqlite.rs", "track.rs", "view.rs"),
        uses: &["isobath_distance", "isobath_protocol"],
    },
];

/// The folder of the compiled runtime, made when it is not there yet.
///
/// # Errors
///
/// When it cannot be compiled; the reason is the compiler's.
pub(crate) fn folder(state: &Path, rustc: &Path, target: Option<&str>) -> Result<PathBuf, String> {
    let version = Command::new(rustc)
        .arg("-vV")
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", rustc.display()))?;
    let mut hasher = DefaultHasher::new();
    (version.stdout, target, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    RUNTIME_CRATES
        .iter()
        .for_each(|unit| unit.files.hash(&mut hasher));
    let folder = state.join(format!("runtime-{:016x}", hasher.finish()));
    compile(&folder, rustc, target).map(|()| folder)
}

/// The library of the runtime in its folder.
pub(crate) fn library(folder: &Path) -> PathBuf {
    folder.join("libisobath_rt.rlib")
}

fn compile(folder: &Path, rustc: &Path, target: Option<&str>) -> Result<(), String> {
    let done = folder.join("done");
    if done.exists() {
        return Ok(());
    }
    let told =
        |error: io::Error| format!("the runtime cannot be put in {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(told)?;
    // Cargo calls the wrapper for several crates at once.
    let lock = File::create(folder.join("lock")).map_err(told)?;
    lock.lock().map_err(told)?;
    if done.exists() {
        return Ok(());
    }
    for unit in &RUNTIME_CRATES {
        let sources = folder.join(unit.name);
        std::fs::create_dir_all(&sources).map_err(told)?;
        for (name, text) in unit.files {
            std::fs::write(sources.join(name), text).map_err(told)?;
        }
        let mut command = Command::new(rustc);
        command
            .env("CARGO_PKG_VERSION", env!("CARGO_PKG_VERSION"))
            .current_dir(folder)
            .args([
                "--edition",
                "2024",
                "--crate-type",
                "rlib",
                "--cap-lints",
                "allow",
            ])
            .args(["--crate-name", unit.name])
            // Services with link-time optimization need the bitcode.
            .args([
                "-C",
                "opt-level=3",
                "-C",
                "embed-bitcode=yes",
                "-C",
                "codegen-units=1",
            ])
            .args(["-C", "metadata=isobath", "-C", "debuginfo=0"])
            .arg(sources.join("lib.rs"))
            .arg("-L")
            .arg(format!("dependency={}", folder.display()))
            .arg("-o")
            .arg(folder.join(format!("lib{}.rlib", unit.name)));
        for used in unit.uses {
            let path = folder.join(format!("lib{used}.rlib"));
            command
                .arg("--extern")
                .arg(format!("{used}={}", path.display()));
        }
        if let Some(target) = target {
            command.args(["--target", target]);
        }
        let output = command.output().map_err(told)?;
        if !output.status.success() {
            return Err(format!(
                "the runtime does not compile with the project's compiler:\n{}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    std::fs::write(&done, "").map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_runtime_is_brought_along() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        for (unit, folder) in
            RUNTIME_CRATES
                .iter()
                .zip(["crates/distance", "crates/protocol", "drivers/rust/rt"])
        {
            let mut there: Vec<String> = std::fs::read_dir(root.join(folder).join("src"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name != "tests.rs")
                .collect();
            there.sort();
            let mut brought: Vec<&str> = unit.files.iter().map(|(name, _)| *name).collect();
            brought.sort_unstable();
            assert_eq!(brought, there, "{folder}");
        }
    }
}
