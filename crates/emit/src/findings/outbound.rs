//! The requests that the service sent to external services during a run.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::database::table;
use super::model::RestReport;
use crate::report::page::{note, plain_table};

/// One kind of call that the service made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutboundView {
    /// The external service: the name of its setting, or its host.
    pub service: String,
    /// The method.
    pub method: String,
    /// The path; `*` stands for any one segment.
    pub path: String,
    /// How often it was made.
    pub calls: u64,
    /// The statuses it got, in order, with how often; 0 stands for a closed connection.
    pub statuses: Vec<(u16, u64)>,
    /// The operations that caused it; empty for calls that none did.
    pub operations: Vec<String>,
    /// Whether it was mocked.
    pub mocked: bool,
    /// The first query and body that were seen, shortened.
    pub example: String,
    /// What the user should know about it.
    pub note: Option<String>,
}

impl OutboundView {
    fn row(&self) -> [String; 6] {
        let statuses: Vec<String> = self
            .statuses
            .iter()
            .map(|(status, calls)| match status {
                0 => format!("no response ({calls})"),
                status => format!("{status} ({calls})"),
            })
            .collect();
        let by = if self.operations.is_empty() {
            "none".to_owned()
        } else {
            self.operations.join(", ")
        };
        let note = match (&self.note, self.mocked) {
            (Some(note), _) => note.clone(),
            (None, true) => "mocked".to_owned(),
            (None, false) => String::new(),
        };
        [
            self.service.clone(),
            format!("{} {}", self.method, self.path).trim().to_owned(),
            self.calls.to_string(),
            statuses.join(", "),
            by,
            note,
        ]
    }
}

const HEADS: [&str; 6] = ["Service", "Call", "Times", "Statuses", "Caused by", "Note"];

fn rows(report: &RestReport) -> Vec<[String; 6]> {
    report.outbound.iter().map(OutboundView::row).collect()
}

/// The section of the summary.
pub(super) fn markdown(out: &mut String, report: &RestReport) {
    if report.outbound.is_empty() {
        return;
    }
    out.push_str("## Calls to external services\n\n");
    table(out, &HEADS, &rows(report));
    out.push('\n');
}

/// The section of the page.
pub(super) fn html(report: &RestReport) -> Markup {
    let calls: u64 = report.outbound.iter().map(|one| one.calls).sum();
    let counts = format!("{} kinds, {calls} calls", report.outbound.len());
    let title = "Calls to external services";
    html! {
        @if !report.outbound.is_empty() {
            (note("outbound", title, &counts, true, &plain_table(title, &HEADS, &rows(report))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_listed_with_what_they_got_and_who_caused_them() {
        let report = RestReport {
            outbound: vec![OutboundView {
                service: "rates".into(),
                method: "GET".into(),
                path: "/latest/*".into(),
                calls: 5,
                statuses: vec![(0, 1), (200, 4)],
                operations: vec!["GET /price".into()],
                mocked: true,
                ..OutboundView::default()
            }],
            ..RestReport::default()
        };
        let mut text = String::new();
        markdown(&mut text, &report);
        insta::assert_snapshot!(text, @r"
        ## Calls to external services

        | Service | Call | Times | Statuses | Caused by | Note |
        |---|---|---|---|---|---|
        | rates | GET /latest/\* | 5 | no response (1), 200 (4) | GET /price | mocked |
        ");
        let page = html(&report).into_string();
        assert!(page.contains("<td>GET /latest/*</td>"), "{page}");
    }
}
