//! The example service, built instrumented and searched by the program, so that branches count, too.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Problem;

/// Where the example service is.
const MARINA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/marina");

/// How many statuses and branches of the example service a run covers.
pub(super) fn covered(
    program: &Path,
    flags: &[&str],
    calls: u64,
    seed: u64,
) -> Result<u64, Problem> {
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
    let branches: u64 = files
        .iter()
        .filter_map(|file| file["branches"]["covered"].as_u64())
        .sum();
    let operations = report["operations"].as_array().ok_or("no operations")?;
    let statuses = operations
        .iter()
        .filter_map(|operation| operation["statuses"].as_array())
        .map(|statuses| statuses.len() as u64);
    Ok(branches + statuses.sum::<u64>())
}
