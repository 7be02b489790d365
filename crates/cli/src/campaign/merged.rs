//! The merged report of a campaign, from the reports of its jobs.

use std::collections::BTreeMap;
use std::path::Path;

use isobath_emit::campaign::{self, CampaignFinding, CampaignJob, CampaignReport, JobVerdict};
use serde_json::Value as Json;

use super::file::{Campaign, PlannedJob};
use super::job::JobOutcome;
use crate::exit::Exit;
use crate::output::{OutputError, put};
use crate::runs::{self, Run};
use crate::terminal::{Terminal, Tone};

/// The results of jobs, with the number of their attempts.
type Outcomes = BTreeMap<String, (u32, JobOutcome)>;

/// The report of a campaign whose jobs wrote below `out`.
pub(super) fn merge(campaign: &Campaign, outcomes: &Outcomes, out: &Path) -> CampaignReport {
    let mut findings: Vec<CampaignFinding> = Vec::new();
    let mut jobs = Vec::new();
    for planned in &campaign.jobs {
        let folder = out.join(&planned.name);
        let is_previous = |run: &Run| {
            let below = run.folder.strip_prefix(&folder);
            below.is_ok_and(|below| below.starts_with("previous"))
        };
        // Without a result there is nothing to report yet.
        let outcome = outcomes.get(&planned.name);
        let runs: Vec<Run> = match outcome {
            Some(_) => runs::find(&folder)
                .into_iter()
                .filter(|run| !is_previous(run))
                .collect(),
            None => Vec::new(),
        };
        for run in &runs {
            for finding in &run.findings {
                add(&mut findings, &planned.name, run, finding);
            }
        }
        jobs.push(view(planned, outcome, &runs));
    }
    let rank = |severity: &str| {
        ["error", "warning", "note"]
            .iter()
            .position(|one| *one == severity)
    };
    findings.sort_by_key(|finding| rank(&finding.severity).unwrap_or(usize::MAX));
    CampaignReport {
        campaign: campaign.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        jobs,
        findings,
        ..CampaignReport::default()
    }
}

fn text<'j>(value: &'j Json, key: &str) -> &'j str {
    value[key].as_str().unwrap_or_default()
}

/// Adds a finding, or the job to a finding that another job made.
fn add(findings: &mut Vec<CampaignFinding>, job: &str, run: &Run, finding: &Json) {
    let (subject, id) = (text(&run.overview, "subject"), text(finding, "id"));
    let known = findings
        .iter_mut()
        .find(|other| other.subject == subject && other.id == id);
    if let Some(known) = known {
        if !known.jobs.iter().any(|other| other == job) {
            known.jobs.push(job.to_owned());
        }
        return;
    }
    findings.push(CampaignFinding {
        subject: subject.to_owned(),
        id: id.to_owned(),
        code: text(finding, "code").to_owned(),
        severity: text(finding, "severity").to_owned(),
        location: text(finding, "subject").to_owned(),
        message: text(finding, "message").to_owned(),
        known: finding["known"].as_str().map(str::to_owned),
        reproduce: text(finding, "reproduce").to_owned(),
        jobs: vec![job.to_owned()],
    });
}

fn view(planned: &PlannedJob, outcome: Option<&(u32, JobOutcome)>, runs: &[Run]) -> CampaignJob {
    let sum = |of: &dyn Fn(&Json) -> Option<u64>| -> u64 {
        runs.iter().filter_map(|run| of(&run.overview)).sum()
    };
    let subjects: Vec<&str> = runs
        .iter()
        .map(|run| text(&run.overview, "subject"))
        .collect();
    let mut job = CampaignJob {
        name: planned.name.clone(),
        kind: planned.text.settings.job.clone(),
        subject: subjects.join(", "),
        calls: sum(&|run| run["calls"].as_u64()),
        covered: sum(&|run| run["covered"][0].as_u64()),
        targets: sum(&|run| run["covered"][1].as_u64()),
        tests: sum(&|run| run["tests"].as_u64()),
        findings: sum(&|run| run["findings"].as_u64()),
        ..CampaignJob::default()
    };
    if let Some((attempts, outcome)) = outcome {
        job.verdict = match outcome.exit {
            Some(0) => JobVerdict::Clean,
            Some(1) => JobVerdict::Findings,
            _ => JobVerdict::Failed,
        };
        job.exit = outcome.exit;
        job.attempts = *attempts;
        job.seconds = outcome.seconds;
        job.worker.clone_from(&outcome.worker);
        job.error.clone_from(&outcome.error);
    }
    job
}

/// Writes the report in all formats.
///
/// # Errors
///
/// When a file cannot be written.
pub(super) fn write(out: &Path, report: &CampaignReport) -> Result<(), OutputError> {
    put(&out.join("campaign.json"), &report.to_json())?;
    put(&out.join("campaign.md"), &campaign::markdown(report))?;
    put(&out.join("campaign.html"), &campaign::html(report))?;
    put(&out.join("junit.xml"), &campaign::junit(report))
}

/// Prints its result.
pub(super) fn summarize(report: &CampaignReport, out: &Path, terminal: &Terminal) {
    let is_good = |job: &CampaignJob| job.verdict == JobVerdict::Clean;
    let tone = match report.jobs.iter().all(is_good) {
        true => Tone::Good,
        false => Tone::Warning,
    };
    terminal.say(tone, &report.summary());
    for job in report.jobs.iter().filter(|job| job.error.is_some()) {
        let error = job.error.as_deref().unwrap_or_default();
        terminal.complain(&format!("{}: {error}", job.name));
    }
    let out = out.display();
    let line = format!("report: {out}/campaign.html; all runs: isobath serve {out}");
    terminal.say(Tone::Plain, &line);
}

/// The exit code: the worst of the jobs.
pub(super) fn exit(outcomes: &Outcomes) -> Exit {
    let of = |outcome: &JobOutcome| match outcome.exit {
        Some(0) => Exit::Clean,
        Some(1) => Exit::Findings,
        Some(2) => Exit::Usage,
        Some(3) => Exit::Unreachable,
        _ => Exit::Internal,
    };
    let exits = outcomes.values().map(|(_, outcome)| of(outcome));
    exits.max().unwrap_or(Exit::Clean)
}
