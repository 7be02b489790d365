//! The example service, built instrumented and searched by the program, so that branches count, too.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{BenchError, Covered};

/// Where the example service is.
const MARINA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/marina");

/// The statuses and branches of the example service that a run covers.
pub(super) fn covered(
    program: &Path,
    flags: &[&str],
    calls: u64,
    seed: u64,
) -> Result<Covered, BenchError> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("marina.db");
    let out = folder.path().join("out");
    let marina = Path::new(MARINA);
    let status = Command::new(program)
        .arg("rest")
        .arg(marina.join("openapi.yaml"))
        .arg("--rust")
        .arg(marina)
        .args(["--package", "marina", "--auth"])
        .arg(marina.join("auth.yaml"))
        .arg("--db")
        .arg(format!("sqlite:{}", database.display()))
        .args(flags)
        .args(["--budget", &format!("{calls}calls")])
        .args(["--seed", &seed.to_string()])
        .args(["--quiet", "--no-run", "--out"])
        .arg(&out)
        .args(["--", "--port", "{port}", "--database"])
        .arg(&database)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    let report = std::fs::read_to_string(out.join("report.json")).map_err(|error| {
        let said = String::from_utf8_lossy(&status.stderr).into_owned();
        format!("the program left no report: {error}\n{said}")
    })?;
    let report: Value = serde_json::from_str(&report)?;
    let files = report["code"]["files"].as_array().ok_or("no code")?;
    let mut covered = Covered::new();
    for file in files {
        // Which ones is not told; how many is what counts.
        let branches = file["branches"]["covered"].as_u64().unwrap_or_default();
        let name = file["file"].as_str().unwrap_or_default();
        covered.extend((1..=branches).map(|n| format!("{n} branches of {name}")));
    }
    for operation in report["operations"].as_array().ok_or("no operations")? {
        let statuses = operation["statuses"].as_array().into_iter().flatten();
        let name = operation["id"].as_str().unwrap_or_default();
        covered.extend(statuses.map(|count| format!("{name} returns {}", count["status"])));
    }
    Ok(covered)
}
