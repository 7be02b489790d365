//! How many of the planted faults of the example service the binary finds in a given time, seed by seed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(
    clippy::print_stderr,
    reason = "and what is wrong with its surroundings"
)]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use marina::Faults;
use serde_json::Value;

/// The planted faults, as `FAULTS.md` of the example calls them, with the code and the operation of the report.
const PLANTED: [(&str, &str, &str); 15] = [
    (
        "occupancy-of-no-days",
        "server-error",
        "GET /reports/occupancy",
    ),
    ("search-pastes-sql", "sql-injection-error", "GET /search"),
    ("draft-is-text", "response-mismatch", "GET /boats/{boatId}"),
    (
        "undocumented-status",
        "undocumented-status",
        "POST /bookings",
    ),
    (
        "any-length-will-do",
        "invalid-input-accepted",
        "POST /boats",
    ),
    (
        "berth-outlives-delete",
        "delete-without-effect",
        "DELETE /berths/{berthId}",
    ),
    ("tags-pile-up", "put-not-idempotent", "PUT /boats/{boatId}"),
    (
        "refused-change-sticks",
        "failed-update-changed-state",
        "PATCH /bookings/{bookingId}",
    ),
    (
        "location-leads-nowhere",
        "location-leads-nowhere",
        "POST /bookings/{bookingId}/invoice",
    ),
    (
        "reading-removes",
        "get-changes-state",
        "GET /notices/{noticeId}",
    ),
    ("anonymous-notice", "anonymous-write", "POST /notices"),
    (
        "others-bookings",
        "other-users-resource",
        "GET /bookings/{bookingId}",
    ),
    (
        "invoice-exists",
        "existence-leak",
        "GET /invoices/{invoiceId}",
    ),
    ("berth-trace", "stack-trace", "POST /berths"),
    (
        "overpayment-drops",
        "connection-dropped",
        "POST /invoices/{invoiceId}/payments",
    ),
];

/// Runs the binary on as many seeds; fails when a planted fault is missed on one of them.
pub(crate) fn table(binary: &Path, budget: &str, seeds: u64) -> ExitCode {
    println!("seed | calls | planted faults found | all faults | without a test");
    let mut reached = true;
    for seed in 1..=seeds {
        let Some(report) = run(binary, budget, seed) else {
            eprintln!("{} does not run on the example", binary.display());
            return ExitCode::FAILURE;
        };
        let faults = report["faults"].as_array().map_or(&[][..], Vec::as_slice);
        let is_found = |code: &str, operation: &str| {
            faults
                .iter()
                .any(|fault| fault["code"] == code && fault["operation"] == operation)
        };
        let missed: Vec<&str> = PLANTED
            .iter()
            .filter(|(_, code, operation)| !is_found(code, operation))
            .map(|(name, ..)| *name)
            .collect();
        let untested = faults.iter().filter(|fault| fault["test"].is_null());
        println!(
            "{seed:4} | {:5} | {:2} of {} | {:3} | {:2}{}",
            report["calls"],
            PLANTED.len() - missed.len(),
            PLANTED.len(),
            faults.len(),
            untested.count(),
            if missed.is_empty() {
                String::new()
            } else {
                format!("  MISSED: {}", missed.join(", "))
            }
        );
        reached &= missed.is_empty();
    }
    crate::verdict::exit(Ok(reached))
}

/// The report of one run on a service of its own.
fn run(binary: &Path, budget: &str, seed: u64) -> Option<Value> {
    let marina = marina::start(Faults::all()).ok()?;
    let folder = tempfile::tempdir().ok()?;
    let auth = folder.path().join("auth.yaml");
    std::fs::write(&auth, include_str!("../../examples/marina/auth.yaml")).ok()?;
    Command::new(binary)
        .arg("rest")
        .arg(format!("{}/openapi.yaml", marina.url()))
        .arg("--auth")
        .arg(auth)
        .args(["--reset", "POST /reset", "--sql-injection", "--quiet"])
        .args(["--no-run", "--budget", budget, "--seed"])
        .arg(seed.to_string())
        .arg("--out")
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    let text = std::fs::read_to_string(folder.path().join("report.json")).ok()?;
    serde_json::from_str(&text).ok()
}
