//! The report of a REST run as one self-contained HTML file.

use maud::{Markup, PreEscaped, html};

use super::database;
use super::model::{FaultView, OperationView, RestReport, TestCase};
use super::outbound;
use super::plot;
use super::source::source;
use crate::report::page::{self, Page, facts, list_note, meter, note, snippet, tile};

/// A table of uncovered targets with more rows than this is closed.
const OPEN_TARGETS: usize = 30;

/// The report as one offline page.
pub fn html(report: &RestReport) -> String {
    let page = Page {
        kicker: "REST tests",
        title: &report.title,
        facts: vec![
            ("Document", report.source.clone()),
            ("Service", report.url.clone()),
            ("Algorithm", report.algorithm.clone()),
            ("Budget", report.budget.clone()),
            ("Seed", report.seed.to_string()),
            ("Started", report.started.clone().unwrap_or_default()),
            ("Time", format!("{:.1} s", report.seconds)),
            (
                "Ended early",
                report.ended_early.clone().unwrap_or_default(),
            ),
        ],
        command: report.command.as_deref(),
        version: &report.version,
        style: include_str!("page.css"),
        script: include_str!("rows.js"),
    };
    page.render(&html! {
        (summary(report))
        h2 #findings { "Findings" }
        (page::toolbar(
            report.by_root_cause().len(),
            ("finding", "findings"),
            "operation, status, words in a finding",
        ))
        (findings(report))
        (operations(report))
        @if let Some(plot) = plot::progress(report) {
            section aria-labelledby="progress" {
                h2 #progress { "Targets over time" }
                div.card { (PreEscaped(plot)) }
            }
        }
        (code(report))
        (database::html(report))
        (outbound::html(report))
        (uncovered(report))
        (limitations(report))
        (tests(report))
    })
}

fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn summary(report: &RestReport) -> Markup {
    let seen: u64 = report.faults.iter().map(|fault| fault.seen).sum();
    let seen = if seen > report.faults.len() as u64 {
        format!("seen {seen} times")
    } else {
        "one per root cause".to_owned()
    };
    let succeeds = |operation: &&OperationView| {
        let mut statuses = operation.statuses.iter();
        statuses.any(|count| (200..300).contains(&count.status))
    };
    let succeeded = report.operations.iter().filter(succeeds).count();
    let rate = if report.seconds > 0.0 {
        format!("{:.0} per second", report.calls as f64 / report.seconds)
    } else {
        String::new()
    };
    let tiles = html! {
        (meter("Targets covered", count(report.covered), count(report.targets), ""))
        (tile(report.by_root_cause().len(), "fault", "faults", &seen))
        (tile(
            report.operations.len(),
            "operation",
            "operations",
            &format!("{succeeded} returned 2xx"),
        ))
        (tile(count(report.calls), "call", "calls", &rate))
        (tile(count(report.tests), "test", "tests", &format!("{} calls", report.suite_calls)))
    };
    page::summary(&tiles, &Markup::default())
}

/// A root cause and its faults.
type RootCause<'a> = (&'a str, Vec<&'a FaultView>);

/// The faults: a group per code, in it an entry per root cause.
fn findings(report: &RestReport) -> Markup {
    let mut groups: Vec<(&str, Vec<RootCause<'_>>)> = Vec::new();
    for (cause, faults) in report.by_root_cause() {
        let code = faults.first().map_or("", |fault| fault.code.as_str());
        match groups.iter_mut().find(|(known, _)| *known == code) {
            Some((_, causes)) => causes.push((cause, faults)),
            None => groups.push((code, vec![(cause, faults)])),
        }
    }
    html! {
        @if groups.is_empty() { p { "No fault was found." } }
        @for (code, causes) in &groups {
            @let wfc = causes.first().and_then(|(_, faults)| faults.first()?.wfc_code);
            details.table open[page::is_short(groups.len())] {
                summary {
                    h3 { (code) } " "
                    span.count {
                        (page::plural(causes.len(), "root cause"))
                        @if let Some(wfc) = wfc { " · WFC " (wfc) }
                    }
                }
                div.tests { @for (cause, faults) in causes { (root_cause(cause, faults)) } }
            }
        }
    }
}

fn root_cause(cause: &str, faults: &[&FaultView]) -> Markup {
    let Some(first) = faults.first() else {
        return Markup::default();
    };
    let severity = first.severity.word();
    // Most sentences begin with their operation.
    let message = first.message.strip_prefix(first.operation.as_str());
    let message = message.unwrap_or(&first.message).trim_start();
    html! {
        details.test.finding {
            summary {
                span.verdict.(severity) { (severity) } " "
                code { (first.operation) } " " (message)
            }
            p.remark { "Root cause " code { (cause) } }
            @for fault in faults {
                @if faults.len() > 1 { h4 { code { (fault.operation) } } }
                (self::fault(fault))
            }
        }
    }
}

fn fault(fault: &FaultView) -> Markup {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let seen = if fault.seen > 1 {
        format!("{} times", fault.seen)
    } else {
        String::new()
    };
    let location = fault.location.as_ref().map(|location| match location.line {
        0 => format!("{} {}", location.file, location.pointer),
        line => format!("{}:{line} {}", location.file, location.pointer),
    });
    html! {
        @if !fault.details.is_empty() { ul { @for detail in &fault.details { li { (detail) } } } }
        (facts(&[
            ("Seen", seen),
            ("Known", text(&fault.known)),
            ("Fingerprint", fault.fingerprint.clone()),
            ("Test", text(&fault.test)),
            ("No test", text(&fault.no_test)),
            ("Document", text(&location)),
        ]))
        @if !fault.rows.is_empty() { (snippet(&(fault.rows.join(";\n") + ";"), "the rows")) }
        @if !fault.curl.is_empty() { (snippet(fault.curl.trim_end(), "the cURL calls")) }
    }
}

/// Operations × statuses, shaded by the number of calls.
fn operations(report: &RestReport) -> Markup {
    let statuses = report.statuses();
    let silent = report
        .operations
        .iter()
        .any(|operation| operation.no_response > 0);
    html! {
        @if !report.operations.is_empty() {
            section aria-labelledby="operations" {
                h2 #operations { "Operations and statuses" }
                p.remark { "Calls per status. A dashed cell is a status that is not documented." }
                div.scroll.card tabindex="0" role="region" aria-labelledby="operations" {
                    table.heat {
                        thead {
                            tr {
                                th scope="col" { "Operation" }
                                th scope="col" { "Calls" }
                                @for status in &statuses { th scope="col" { (status) } }
                                @if silent { th scope="col" { "no response" } }
                            }
                        }
                        tbody {
                            @for operation in &report.operations {
                                tr data-row {
                                    th scope="row" { code { (operation.id) } }
                                    td { (operation.calls) }
                                    @for status in &statuses { (cell(operation, *status)) }
                                    @if silent {
                                        @match operation.no_response {
                                            0 => td {},
                                            n => td.f5 { (n) },
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(operation: &OperationView, status: u16) -> Markup {
    let mut statuses = operation.statuses.iter();
    let Some(count) = statuses.find(|count| count.status == status) else {
        return html! { td {} };
    };
    // By orders of magnitude: 1, 10, 100, 1000 calls.
    let heat = count.calls.max(1).ilog10().min(3);
    let class = format!("f{} h{heat}", status / 100);
    let title = (!count.documented).then_some("not documented");
    html! {
        td.(class).strange[!count.documented] title=[title] { (count.calls) }
    }
}

/// The code, file by file.
fn code(report: &RestReport) -> Markup {
    let Some(code) = &report.code else {
        return Markup::default();
    };
    let rows = html! {
        @for file in &code.files {
            tr { td { (file.file) } td { (file.lines) } td { (file.branches) } }
        }
    };
    let content = html! {
        (page::table("Code", &["File", "Lines", "Branches"], &rows))
        @for file in &code.files { (source(file)) }
    };
    let total = format!("{} lines, {} branches", code.lines, code.branches);
    note("code", "Code", &total, true, &content)
}

fn uncovered(report: &RestReport) -> Markup {
    let n = report.uncovered.len();
    let rows = html! {
        @for target in &report.uncovered {
            @let reasons = target.nearest_miss.iter().chain(&target.reason);
            @let reasons: Vec<&str> = reasons.map(String::as_str).collect();
            tr data-row {
                th scope="row" { (target.target) }
                td { (format!("{:.2}", target.score)) }
                td { (reasons.join("; ")) }
            }
        }
    };
    let table = page::table("Not covered", &["Target", "Score", "Nearest miss"], &rows);
    html! {
        @if n > 0 { (note("uncovered", "Not covered", &n.to_string(), n <= OPEN_TARGETS, &table)) }
    }
}

fn limitations(report: &RestReport) -> Markup {
    let items = report.limitations.iter().map(|limitation| {
        page::limitation(
            &limitation.what,
            count(limitation.count),
            &limitation.location,
            &limitation.quote,
        )
    });
    list_note(
        "limitations",
        "Limitations",
        &items.collect::<Vec<_>>(),
        false,
    )
}

fn tests(report: &RestReport) -> Markup {
    let n = report.test_cases.len();
    let rows = html! {
        @for test in &report.test_cases {
            tr data-row {
                th scope="row" { (test.name) }
                td { code { (test.operation) } }
                td { code { (test.file) ":" (test.start_line) } }
                td { (verdict(test)) }
            }
        }
    };
    let table = page::table("Tests", &["Test", "Operation", "Location", "Run"], &rows);
    html! { @if n > 0 { (note("tests", "Tests", &n.to_string(), false, &table)) } }
}

fn verdict(test: &TestCase) -> String {
    match test.passed {
        Some(true) => "passed".into(),
        Some(false) => format!("failed: {}", test.message),
        None => "not run".into(),
    }
}
