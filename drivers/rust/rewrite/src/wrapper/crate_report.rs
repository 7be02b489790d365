//! The outcome of a crate, left beside its table of targets.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::CompiledCrate;
use crate::rewrite::SiteCounts;

/// A site that did not compile when rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedSite {
    /// The file.
    pub file: String,
    /// The line, counted from one.
    pub line: u32,
    /// What the site was.
    pub shape: String,
}

/// The outcome of a crate.
#[derive(Clone, Debug, Default)]
pub struct CrateReport {
    /// Branch sites.
    pub counts: SiteCounts,
    /// Sites that were left as they are.
    pub dropped: Vec<DroppedSite>,
    /// Files that were left as they are, with the reason.
    pub plain_files: Vec<(String, String)>,
    /// Why the whole crate was left as it is.
    pub plain: Option<String>,
    /// How often the compiler was called.
    pub rounds: usize,
}

/// The name under which a crate's files are kept: its own, and a hash of its root.
pub fn key(name: &str, root: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    format!("{name}-{:016x}", hasher.finish())
}

impl CrateReport {
    pub(crate) fn write(&self, state: &Path, key: &str) {
        let dropped: Vec<Value> = self
            .dropped
            .iter()
            .map(|site| json!({"file": site.file, "line": site.line, "shape": site.shape}))
            .collect();
        let plain_files: Vec<Value> = self
            .plain_files
            .iter()
            .map(|(file, reason)| json!({"file": file, "reason": reason}))
            .collect();
        let text = json!({
            "told": self.counts.instrumented,
            "in_macros": self.counts.in_macros,
            "in_constants": self.counts.in_constants,
            "dropped": dropped,
            "plain_files": plain_files,
            "plain": self.plain,
            "rounds": self.rounds,
        });
        // A report that cannot be written costs the report, not the build.
        let _ = std::fs::write(state.join(format!("{key}.json")), format!("{text:#}\n"));
    }

    /// Reads what the last build of a crate left.
    pub fn read(state: &Path, key: &str) -> Option<Self> {
        let text = std::fs::read_to_string(state.join(format!("{key}.json"))).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let number = |name: &str| value[name].as_u64().unwrap_or(0) as usize;
        let texts = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let dropped: Vec<DroppedSite> = value["dropped"]
            .as_array()?
            .iter()
            .map(|entry| DroppedSite {
                file: texts(entry, "file"),
                line: entry["line"].as_u64().unwrap_or(0) as u32,
                shape: texts(entry, "shape"),
            })
            .collect();
        let plain_files = value["plain_files"].as_array()?.iter();
        Some(Self {
            counts: SiteCounts {
                instrumented: number("told"),
                dropped: dropped.len(),
                in_macros: number("in_macros"),
                in_constants: number("in_constants"),
            },
            dropped,
            plain_files: plain_files
                .map(|entry| (texts(entry, "file"), texts(entry, "reason")))
                .collect(),
            plain: value["plain"].as_str().map(str::to_owned),
            rounds: number("rounds"),
        })
    }
}

/// A crate was left as it is.
pub(crate) fn plain(state: &Path, unit: &CompiledCrate, reason: &str) {
    let key = key(&unit.name, &absolute(&unit.root));
    let outcome = CrateReport {
        plain: Some(reason.to_owned()),
        ..CrateReport::default()
    };
    outcome.write(state, &key);
    // Its targets are not in the binary.
    let _ = std::fs::remove_file(state.join(format!("{key}.targets")));
}

pub(crate) fn absolute(root: &Path) -> std::path::PathBuf {
    std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf())
}
