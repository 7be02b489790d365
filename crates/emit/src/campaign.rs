//! The merged report of a campaign: its jobs, and their findings once each.

use std::fmt::Write;
use std::time::Duration;

use maud::{Markup, html};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::{Deserialize, Serialize};

use crate::findings::without_total_of_skipped;
use crate::report::page::{self, Page, meter, plural, snippet, tile};
use crate::suite::ReadError;

/// The report of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CampaignReport {
    /// The name of the campaign.
    pub campaign: String,
    /// The version of Isobath.
    pub version: String,
    /// The command line.
    pub command: Option<String>,
    /// When it began, in RFC 3339.
    pub started: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// The jobs, in the order of the file.
    pub jobs: Vec<CampaignJob>,
    /// The findings, the severest first.
    pub findings: Vec<CampaignFinding>,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobVerdict {
    /// It has no result.
    #[default]
    Missing,
    /// No findings.
    Clean,
    /// Findings.
    Findings,
    /// It could not be done.
    Failed,
}

impl JobVerdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "no result",
            Self::Clean => "clean",
            Self::Findings => "findings",
            Self::Failed => "failed",
        }
    }
}

/// One job of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CampaignJob {
    /// Its name; also that of its folder.
    pub name: String,
    /// `rest`, `query` or `schema`.
    pub kind: String,
    /// What it tested: the titles of its reports.
    pub subject: String,
    /// How it ended.
    pub verdict: JobVerdict,
    /// Its exit code.
    pub exit: Option<i32>,
    /// How many times it was delivered.
    pub attempts: u32,
    /// How long the last attempt took.
    pub seconds: f64,
    /// The worker that ended it.
    pub worker: String,
    /// HTTP calls made.
    pub calls: u64,
    /// Targets covered.
    pub covered: u64,
    /// Targets known.
    pub targets: u64,
    /// Tests written.
    pub tests: u64,
    /// Findings.
    pub findings: u64,
    /// Why it failed, with the end of its log.
    pub error: Option<String>,
}

/// A finding, and the jobs that made it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CampaignFinding {
    /// What was tested.
    pub subject: String,
    /// The id of the finding in the reports of the jobs.
    pub id: String,
    /// Its code.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The operation or table.
    pub location: String,
    /// What happened.
    pub message: String,
    /// Why it is expected, when the baseline has it.
    pub known: Option<String>,
    /// Commands that show it.
    pub reproduce: String,
    /// The jobs that made it.
    pub jobs: Vec<String>,
}

impl CampaignReport {
    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("a report has string keys and no value that JSON lacks");
        text.push('\n');
        text
    }

    /// Reads a report.
    ///
    /// # Errors
    ///
    /// When the text is not one.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        serde_json::from_str(text).map_err(|cause| ReadError {
            what: "campaign report",
            cause,
        })
    }

    fn with(&self, verdict: JobVerdict) -> impl Iterator<Item = &CampaignJob> {
        self.jobs.iter().filter(move |job| job.verdict == verdict)
    }

    fn sum(&self, of: impl Fn(&CampaignJob) -> u64) -> u64 {
        self.jobs.iter().map(of).sum()
    }

    /// The report in one sentence.
    pub fn summary(&self) -> String {
        let failed = self.with(JobVerdict::Failed).count();
        let missing = self.with(JobVerdict::Missing).count();
        let mut text = format!(
            "{}, {} in {:.1} s",
            plural(self.jobs.len(), "job"),
            plural(self.findings.len(), "finding"),
            self.seconds
        );
        if failed > 0 {
            let _ = write!(text, "; {failed} failed");
        }
        if missing > 0 {
            let _ = write!(text, "; {missing} without a result");
        }
        text
    }
}

/// The report in Markdown.
pub fn markdown(report: &CampaignReport) -> String {
    let mut text = format!(
        "# Campaign {}\n\n{}.\n\n## Jobs\n\n",
        report.campaign,
        report.summary()
    );
    text.push_str(
        "| Job | Tested | Ended | Attempts | Calls | Covered | Tests | Findings | Seconds |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for job in &report.jobs {
        let _ = writeln!(
            text,
            "| [{0}]({0}) | {1} | {2} | {3} | {4} | {5} of {6} | {7} | {8} | {9:.1} |",
            job.name,
            cell(&job.subject),
            job.verdict.word(),
            job.attempts,
            job.calls,
            job.covered,
            job.targets,
            job.tests,
            job.findings,
            job.seconds
        );
    }
    for job in &report.jobs {
        if let Some(error) = &job.error {
            let _ = write!(
                text,
                "\n### {} failed\n\n```\n{}\n```\n",
                job.name,
                error.replace("```", "'''")
            );
        }
    }
    text.push_str("\n## Findings\n\n");
    if report.findings.is_empty() {
        text.push_str("None.\n");
    }
    for finding in &report.findings {
        let known = match &finding.known {
            Some(why) => format!(" (known: {})", cell(why)),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "- **{}** {}: {} — {}{known} (`{}`, jobs: {})",
            finding.code,
            cell(&finding.subject),
            cell(&finding.location),
            cell(&finding.message),
            finding.id,
            finding.jobs.join(", ")
        );
    }
    text
}

/// A text on one line, as the cell of a table.
fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('|', "\\|").replace('<', "&lt;")
}

/// The report as one offline page.
pub fn html(report: &CampaignReport) -> String {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let page = Page {
        kicker: "Campaign",
        title: &report.campaign,
        facts: vec![
            ("Started", report.started.clone().unwrap_or_default()),
            ("Time", format!("{:.1} s", report.seconds)),
        ],
        command: report.command.as_deref(),
        version: &report.version,
        style: "",
        script: "",
    };
    let failed = report.with(JobVerdict::Failed).count() + report.with(JobVerdict::Missing).count();
    let tiles = html! {
        (tile(report.jobs.len(), "job", "jobs", &format!("{failed} failed")))
        (tile(report.findings.len(), "finding", "findings", "each once"))
        (tile(count(report.sum(|job| job.tests)), "test", "tests", ""))
        (tile(count(report.sum(|job| job.calls)), "call", "calls", ""))
        (meter("targets covered", count(report.sum(|job| job.covered)), count(report.sum(|job| job.targets)), "of all jobs"))
    };
    let rows = html! {
        @for job in &report.jobs {
            tr {
                td { a href={ (job.name) "/" } { (job.name) } }
                td { (job.kind) }
                td { (job.subject) }
                td { (job.verdict.word()) }
                td { (job.attempts) }
                td { (job.calls) }
                td { (job.covered) " of " (job.targets) }
                td { (job.tests) }
                td { (job.findings) }
                td { (format!("{:.1}", job.seconds)) }
                td { (job.worker) }
            }
        }
    };
    let heads = [
        "Job", "Kind", "Tested", "Ended", "Attempts", "Calls", "Covered", "Tests", "Findings",
        "Seconds", "Worker",
    ];
    page.render(&html! {
        (page::summary(&tiles, &html! {}))
        h2 #jobs { "Jobs" }
        (page::table("Jobs", &heads, &rows))
        @for job in &report.jobs {
            @if let Some(error) = &job.error {
                section { h3 { (job.name) " failed" } (snippet(error, "the log")) }
            }
        }
        h2 #findings { "Findings" }
        (page::toolbar(report.findings.len(), ("finding", "findings"), "code, operation, words in a finding"))
        @if report.findings.is_empty() { p { "No job found anything." } }
        @for (subject, findings) in by_subject(report) {
            details.table open[page::is_short(findings.len())] {
                summary { h3 { (subject) } " " span.count { (plural(findings.len(), "finding")) } }
                div.tests { @for finding in findings { (self::finding(finding)) } }
            }
        }
    })
}

/// The findings of each system under test, in order.
fn by_subject(report: &CampaignReport) -> Vec<(&str, Vec<&CampaignFinding>)> {
    let mut groups: Vec<(&str, Vec<&CampaignFinding>)> = Vec::new();
    for finding in &report.findings {
        let subject = finding.subject.as_str();
        match groups.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, findings)) => findings.push(finding),
            None => groups.push((subject, vec![finding])),
        }
    }
    groups
}

fn finding(finding: &CampaignFinding) -> Markup {
    html! {
        details.test.finding {
            summary {
                span.verdict.(finding.severity) { (finding.severity) } " "
                code { (finding.location) } " " (finding.code) ": " (finding.message)
            }
            @if let Some(known) = &finding.known { p { "Known: " (known) } }
            p.remark { "Found by " (finding.jobs.join(", ")) }
            @if !finding.reproduce.is_empty() { (snippet(&finding.reproduce, "the calls")) }
        }
    }
}

/// The report as JUnit XML: a suite for each job, with a test case for each of its findings.
pub fn junit(report: &CampaignReport) -> String {
    let mut out = Report::new(format!("isobath campaign {}", report.campaign));
    for job in &report.jobs {
        let mut suite = TestSuite::new(job.name.clone());
        if job.seconds.is_finite() && job.seconds >= 0.0 {
            suite.set_time(Duration::from_secs_f64(job.seconds));
        }
        let mut status = TestCaseStatus::success();
        if matches!(job.verdict, JobVerdict::Failed | JobVerdict::Missing) {
            status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(job.error.clone().unwrap_or_else(|| "no result".to_owned()));
        }
        let mut case = TestCase::new("the job ends with a result", status);
        case.set_classname(job.subject.clone());
        suite.add_test_case(case);
        let of_job = |finding: &&CampaignFinding| finding.jobs.contains(&job.name);
        for finding in report.findings.iter().filter(of_job) {
            let mut status = match &finding.known {
                Some(_) => TestCaseStatus::skipped(),
                None => TestCaseStatus::non_success(NonSuccessKind::Failure),
            };
            status.set_message(finding.message.clone());
            status.set_type(finding.code.clone());
            let name = format!("{} {}", finding.code, finding.id);
            let mut case = TestCase::new(name, status);
            case.set_classname(finding.location.clone());
            suite.add_test_case(case);
        }
        out.add_test_suite(suite);
    }
    without_total_of_skipped(out.to_string().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> CampaignReport {
        CampaignReport {
            campaign: "nightly".into(),
            seconds: 12.0,
            jobs: vec![
                CampaignJob {
                    name: "shop-1".into(),
                    kind: "rest".into(),
                    subject: "Shop".into(),
                    verdict: JobVerdict::Findings,
                    exit: Some(1),
                    attempts: 1,
                    calls: 900,
                    covered: 20,
                    targets: 30,
                    tests: 9,
                    findings: 1,
                    ..CampaignJob::default()
                },
                CampaignJob {
                    name: "bad".into(),
                    kind: "query".into(),
                    verdict: JobVerdict::Failed,
                    exit: Some(4),
                    attempts: 3,
                    error: Some("killed <by> ```the system```".into()),
                    ..CampaignJob::default()
                },
            ],
            findings: vec![CampaignFinding {
                subject: "Shop".into(),
                id: "ab12".into(),
                code: "server-error".into(),
                severity: "error".into(),
                location: "GET /carts|all".into(),
                message: "returned 500\nfor <x>".into(),
                jobs: vec!["shop-1".into(), "shop-2".into()],
                ..CampaignFinding::default()
            }],
            ..CampaignReport::default()
        }
    }

    #[test]
    fn every_job_and_every_finding_is_in_every_format() {
        let report = report();
        let markdown = markdown(&report);
        insta::assert_snapshot!(markdown, @r"
        # Campaign nightly

        2 jobs, 1 finding in 12.0 s; 1 failed.

        ## Jobs

        | Job | Tested | Ended | Attempts | Calls | Covered | Tests | Findings | Seconds |
        | --- | --- | --- | --- | --- | --- | --- | --- | --- |
        | [shop-1](shop-1) | Shop | findings | 1 | 900 | 20 of 30 | 9 | 1 | 0.0 |
        | [bad](bad) |  | failed | 3 | 0 | 0 of 0 | 0 | 0 | 0.0 |

        ### bad failed

        ```
        killed <by> '''the system'''
        ```

        ## Findings

        - **server-error** Shop: GET /carts\|all — returned 500 for &lt;x> (`ab12`, jobs: shop-1, shop-2)
        ");
        let (html, junit) = (html(&report), junit(&report));
        for text in [&html, &junit] {
            assert!(
                text.contains("shop-1") && text.contains("server-error"),
                "{text}"
            );
            assert!(text.contains("killed &lt;by&gt;"), "{text}");
        }
        assert!(junit.contains(r#"errors="1""#), "{junit}");
        assert_eq!(
            CampaignReport::from_json(&report.to_json()).unwrap(),
            report
        );
    }
}
