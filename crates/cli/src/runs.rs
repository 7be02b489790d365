//! Finds the reports of runs below a folder, and describes them as JSON.

use std::path::{Path, PathBuf};

use isobath_emit::findings::RestReport;
use isobath_emit::report::RunReport;
use isobath_emit::report::query::{QueryReport, StatusView};
use serde_json::{Value as Json, json};

/// Levels of folders below the root.
const MAX_DEPTH: usize = 8;
/// Reports that are shown; the newest ones.
const MAX_RUNS: usize = 500;
/// Bytes beyond which a report is not read.
const MAX_BYTES: u64 = 64 << 20;

/// A run with a report.
#[derive(Debug)]
pub(crate) struct Run {
    /// The folder of the report.
    pub folder: PathBuf,
    /// What the overview shows.
    pub overview: Json,
    /// Its findings.
    pub findings: Vec<Json>,
    /// When it began, for the order.
    started: String,
}

/// The runs below a folder, the oldest first.
pub(crate) fn find(root: &Path) -> Vec<Run> {
    let mut folders = vec![root.to_owned()];
    let mut runs = Vec::new();
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for folder in folders {
            runs.extend(read(root, &folder));
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            // Symbolic links are not followed, so that a circle of them ends.
            let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            next.extend(inner.map(|entry| entry.path()));
        }
        folders = next;
    }
    runs.sort_by(|a: &Run, b: &Run| (&a.started, &a.folder).cmp(&(&b.started, &b.folder)));
    if runs.len() > MAX_RUNS {
        runs.drain(..runs.len() - MAX_RUNS);
    }
    runs
}

/// The run whose report is in a folder; nothing when there is none that we wrote.
fn read(root: &Path, folder: &Path) -> Option<Run> {
    let path = folder.join("report.json");
    let metadata = std::fs::metadata(&path).ok()?;
    (metadata.is_file() && metadata.len() <= MAX_BYTES).then_some(())?;
    let text = std::fs::read_to_string(&path).ok()?;
    let name = folder.strip_prefix(root).unwrap_or(folder);
    let name = match name.display().to_string() {
        empty if empty.is_empty() => ".".to_owned(),
        name => name,
    };
    let written = metadata.modified().ok().and_then(|time| {
        let time = jiff::Timestamp::try_from(time).ok()?;
        Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    });
    let shape: Json = serde_json::from_str(&text).ok()?;
    let (started, overview, findings) = if shape.get("faults").is_some() {
        of_rest(&RestReport::from_json(&text).ok()?, &name, written)
    } else if shape.get("totals").is_some() {
        of_schema(&RunReport::from_json(&text).ok()?, &name, written)
    } else if shape.get("queries").is_some() {
        of_query(&QueryReport::from_json(&text).ok()?, &name, written)
    } else {
        return None;
    };
    Some(Run {
        folder: folder.to_owned(),
        overview,
        findings,
        started,
    })
}

fn of_rest(report: &RestReport, name: &str, written: Option<String>) -> (String, Json, Vec<Json>) {
    let started = report.started.clone().or(written).unwrap_or_default();
    let share = |share: isobath_emit::findings::Share| json!([share.covered, share.total]);
    let overview = json!({
        "job": "rest",
        "name": name,
        "subject": report.title,
        "started": started,
        "seconds": report.seconds,
        "covered": [report.covered, report.targets],
        "lines": report.code.as_ref().map(|code| share(code.lines)),
        "branches": report.code.as_ref().map(|code| share(code.branches)),
        "calls": report.calls,
        "tests": report.tests,
        "findings": report.faults.len(),
        "seed": report.seed,
    });
    let findings = report.faults.iter().map(|fault| {
        json!({
            "id": fault.fingerprint,
            "code": fault.code,
            "severity": fault.severity.word(),
            "subject": fault.operation,
            "message": fault.message,
            "details": fault.details,
            "test": fault.test,
            "no_test": fault.no_test,
            "known": fault.known,
            "reproduce": fault.curl,
        })
    });
    (started, overview, findings.collect())
}

fn of_schema(report: &RunReport, name: &str, written: Option<String>) -> (String, Json, Vec<Json>) {
    let totals = &report.totals;
    let started = written.unwrap_or_default();
    let findings: Vec<Json> = report
        .findings
        .iter()
        .map(|finding| sql_finding(&finding.kind, "note", &finding.table, &finding.explanation))
        .collect();
    let overview = json!({
        "job": "schema",
        "name": name,
        "subject": report.schema,
        "started": started,
        "seconds": totals.millis.map(|millis| millis as f64 / 1000.0),
        "covered": [totals.covered, totals.requirements],
        "lines": null,
        "branches": null,
        "calls": null,
        "tests": totals.tests,
        "findings": findings.len(),
        "seed": report.seed,
    });
    (started, overview, findings)
}

/// The run of a query job. Its findings are what the engine disagrees about, queries that were not read, and open targets.
fn of_query(
    report: &QueryReport,
    name: &str,
    written: Option<String>,
) -> (String, Json, Vec<Json>) {
    let started = written.unwrap_or_default();
    let counts = report.counts();
    let disagreements = report.disagreements.iter();
    let mut findings: Vec<Json> = disagreements
        .map(|message| sql_finding("engine-disagreement", "error", &report.engine, message))
        .collect();
    findings.extend(
        report
            .unreadable
            .iter()
            .map(|query| sql_finding("query-not-read", "warning", &query.id, &query.why)),
    );
    for query in &report.queries {
        let targets = query.clauses.iter().flat_map(|clause| &clause.targets);
        findings.extend(targets.filter_map(|target| {
            let StatusView::Uncovered { why } = &target.verdict else {
                return None;
            };
            let message = match &*target.description {
                "" => &target.sql,
                description => description,
            };
            let message = match &**why {
                "" => message.to_owned(),
                why => format!("{message}: {why}"),
            };
            Some(sql_finding("target-open", "note", &query.id, &message))
        }));
    }
    let overview = json!({
        "job": "query",
        "name": name,
        "subject": report.name,
        "started": started,
        "seconds": report.millis / 1000.0,
        // What is infeasible cannot be covered.
        "covered": [counts.covered, counts.targets - counts.infeasible],
        "lines": null,
        "branches": null,
        "calls": null,
        "tests": report.queries.iter().map(|query| query.fixtures.len()).sum::<usize>(),
        "findings": findings.len(),
        "seed": report.seed,
    });
    (started, overview, findings)
}

/// A finding of the schema job or the query job.
fn sql_finding(code: &str, severity: &str, subject: &str, message: &str) -> Json {
    json!({
        "id": format!("{code} {subject} {message}"),
        "code": code,
        "severity": severity,
        "subject": subject,
        "message": message,
        "details": [],
        "test": null,
        "known": null,
        "reproduce": "",
    })
}
