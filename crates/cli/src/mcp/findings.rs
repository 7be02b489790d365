//! Findings of earlier runs, for a client.

use serde_json::Value as Json;

use super::folders::Folders;
use crate::explain;
use crate::runs::{self, Run};

/// The folder below which jobs write by default.
const OUT: &str = "isobath-out";

/// The newest run below a folder that a client named, or below the default one.
///
/// # Errors
///
/// When the folder is not allowed, or no run left a report there.
pub(super) fn newest_run(folders: &Folders, given: Option<&str>) -> Result<Run, String> {
    let given = given.unwrap_or(OUT);
    let folder = folders.resolve(given)?;
    runs::find(&folder).pop().ok_or_else(|| {
        format!("no report below `{given}`; run a job first, or name its output directory")
    })
}

/// The findings of a run that contain all these words, as lines of JSON, the severest first.
pub(super) fn list(run: &Run, words: &str, limit: usize) -> String {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let matches = |finding: &&Json| {
        let text = ["id", "code", "severity", "subject", "message"]
            .map(|key| text(finding, key).to_lowercase())
            .join(" ");
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let mut findings: Vec<&Json> = run.findings.iter().filter(matches).collect();
    let rank = |severity: &str| {
        ["error", "warning", "note"]
            .iter()
            .position(|one| *one == severity)
    };
    findings.sort_by_key(|finding| rank(text(finding, "severity")).unwrap_or(usize::MAX));
    let shown = findings.iter().take(limit).map(|finding| {
        let keys = [
            "id", "code", "severity", "subject", "message", "known", "test",
        ];
        let pairs = keys.map(|key| (key.to_owned(), finding[key].clone()));
        let pairs = pairs.into_iter().filter(|(_, value)| !value.is_null());
        format!("\n{}", Json::Object(pairs.collect()))
    });
    let shown: String = shown.collect();
    format!(
        "{} of {} findings match (run of {} in {}, started {}); `explain` with an id shows the calls{shown}",
        findings.len(),
        run.findings.len(),
        text(&run.overview, "subject"),
        run.folder.display(),
        text(&run.overview, "started"),
    )
}

/// A finding with its calls and what its code means; or what a code means.
///
/// # Errors
///
/// When neither the run nor the program knows it.
pub(super) fn explain(run: Result<Run, String>, wanted: &str) -> Result<String, String> {
    let no_run = run.as_ref().err().cloned();
    let finding = run.ok().and_then(|run| {
        let mut findings = run.findings.into_iter();
        findings.find(|finding| text(finding, "id") == wanted)
    });
    let Some(finding) = finding else {
        return explain::text(wanted).map_err(|why| match no_run {
            Some(no_run) => format!("{why}; {no_run}"),
            None => format!("{why}; `list_findings` lists ids"),
        });
    };
    let of = |key: &str| text(&finding, key);
    let mut answer = format!("{}: {}\n{}\n", of("code"), of("subject"), of("message"));
    for detail in finding["details"].as_array().into_iter().flatten() {
        answer.push_str(&format!("{}\n", detail.as_str().unwrap_or_default()));
    }
    if !of("reproduce").is_empty() {
        answer.push_str(&format!("\nCalls that show it:\n{}\n", of("reproduce")));
    }
    if !of("no_test").is_empty() {
        answer.push_str(&format!("\nNo test: {}\n", of("no_test")));
    }
    // The kinds of the schema job explain themselves.
    if let Ok(meaning) = explain::text(of("code")) {
        answer.push_str(&format!("\n{meaning}"));
    }
    Ok(answer)
}

fn text<'j>(value: &'j Json, key: &str) -> &'j str {
    value[key].as_str().unwrap_or_default()
}
