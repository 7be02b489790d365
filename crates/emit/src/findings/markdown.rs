//! The report as Markdown, for a pull request or a terminal.

use std::fmt::Write;

use super::database;
use super::model::{FaultView, OperationView, RestReport};
use super::outbound;
use crate::report::markdown::{code, fenced, inline};

/// How many uncovered targets are listed; the others are counted.
const UNCOVERED: usize = 50;

/// The report as GitHub-flavoured Markdown.
pub fn markdown(report: &RestReport) -> String {
    let mut out = String::with_capacity(4096);
    let _ = writeln!(out, "# REST tests of {}\n", inline(&report.title));
    let _ = writeln!(
        out,
        "From {} at {}; algorithm {}; seed {}; budget {}; Isobath {}.\n",
        inline(&report.source),
        inline(&report.url),
        inline(&report.algorithm),
        report.seed,
        inline(&report.budget),
        inline(&report.version)
    );
    if let Some(early) = &report.ended_early {
        let _ = writeln!(out, "**Ended early:** {}\n", inline(early));
    }
    if let Some(command) = &report.command {
        fenced(&mut out, "sh", std::slice::from_ref(command), "");
    }
    totals(&mut out, report);
    faults(&mut out, report);
    operations(&mut out, report);
    source(&mut out, report);
    database::markdown(&mut out, report);
    outbound::markdown(&mut out, report);
    uncovered(&mut out, report);
    limitations(&mut out, report);
    out
}

fn totals(out: &mut String, report: &RestReport) {
    out.push_str("| What | Count |\n|---|---:|\n");
    for (what, count) in [
        ("Calls", report.calls.to_string()),
        ("Seconds", format!("{:.1}", report.seconds)),
        ("Operations", report.operations.len().to_string()),
        ("Targets", report.targets.to_string()),
        ("Covered", report.covered.to_string()),
        ("Faults", report.faults.len().to_string()),
        ("Tests", report.tests.to_string()),
    ] {
        let _ = writeln!(out, "| {what} | {count} |");
    }
    if let Some(code) = &report.code {
        let _ = writeln!(out, "| Lines covered | {} |", code.lines);
        let _ = writeln!(out, "| Branches covered | {} |", code.branches);
    }
    out.push('\n');
}

/// The code, file by file.
fn source(out: &mut String, report: &RestReport) {
    let Some(code) = &report.code else { return };
    out.push_str("## Code\n\n| File | Lines | Branches |\n|---|---:|---:|\n");
    for file in &code.files {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            inline(&file.file),
            file.lines,
            file.branches
        );
    }
    let _ = writeln!(
        out,
        "\n{} branch sites are instrumented, {} are in macros or constants, {} did not compile when instrumented.\n",
        code.instrumented,
        code.not_instrumentable,
        code.dropped.len()
    );
    for left in code.dropped.iter().chain(&code.not_instrumented) {
        let _ = writeln!(out, "- not instrumented: {}", inline(left));
    }
    if code.lost_events > 0 {
        let _ = writeln!(
            out,
            "- {} driver events were dropped: too many between two calls",
            code.lost_events
        );
    }
}

fn faults(out: &mut String, report: &RestReport) {
    if report.faults.is_empty() {
        out.push_str("## Faults\n\nNone found.\n\n");
        return;
    }
    out.push_str("## Faults\n\n");
    for (cause, faults) in report.by_root_cause() {
        let Some(first) = faults.first() else {
            continue;
        };
        let _ = writeln!(
            out,
            "### {}: {}\n",
            inline(&first.code),
            inline(&first.message)
        );
        let _ = writeln!(out, "Root cause {}.\n", code(cause));
        for fault in faults {
            self::fault(out, fault);
        }
    }
}

fn fault(out: &mut String, fault: &FaultView) {
    let mut facts = vec![fault.severity.word().to_owned(), code(&fault.operation)];
    facts.extend(fault.wfc_code.map(|wfc| format!("WFC {wfc}")));
    if fault.seen > 1 {
        facts.push(format!("seen {} times", fault.seen));
    }
    facts.extend(
        fault
            .known
            .as_ref()
            .map(|reason| format!("known: {}", inline(reason))),
    );
    match (&fault.test, &fault.no_test) {
        (Some(test), _) => facts.push(format!("test {}", code(test))),
        (None, Some(reason)) => facts.push(format!("no test: {}", inline(reason))),
        (None, None) => {}
    }
    let _ = writeln!(out, "{}.\n", facts.join("; "));
    for detail in &fault.details {
        let _ = writeln!(out, "- {}", inline(detail));
    }
    if !fault.details.is_empty() {
        out.push('\n');
    }
    if !fault.rows.is_empty() {
        fenced(out, "sql", &fault.rows, ";");
    }
    if !fault.curl.is_empty() {
        let lines: Vec<String> = fault.curl.lines().map(str::to_owned).collect();
        fenced(out, "sh", &lines, "");
    }
}

fn operations(out: &mut String, report: &RestReport) {
    if report.operations.is_empty() {
        return;
    }
    let statuses = report.statuses();
    out.push_str("## Operations\n\n| Operation | Calls |");
    for status in &statuses {
        let _ = write!(out, " {status} |");
    }
    out.push_str("\n|---|---:|");
    out.push_str(&"---:|".repeat(statuses.len()));
    out.push('\n');
    for operation in &report.operations {
        let _ = write!(out, "| {} | {} |", code(&operation.id), operation.calls);
        for status in &statuses {
            let _ = write!(out, " {} |", cell(operation, *status));
        }
        out.push('\n');
    }
    out.push_str("\nA status with * is not in the document.\n\n");
}

fn cell(operation: &OperationView, status: u16) -> String {
    let found = operation
        .statuses
        .iter()
        .find(|count| count.status == status);
    match found {
        Some(count) if count.documented => count.calls.to_string(),
        Some(count) => format!("{}\\*", count.calls),
        None => String::new(),
    }
}

fn uncovered(out: &mut String, report: &RestReport) {
    if report.uncovered.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Not covered\n");
    for target in report.uncovered.iter().take(UNCOVERED) {
        let _ = write!(out, "- {}", inline(&target.target));
        if let Some(miss) = &target.nearest_miss {
            let _ = write!(out, "; nearest: {}", inline(miss));
        }
        if let Some(reason) = &target.reason {
            let _ = write!(out, "; {}", inline(reason));
        }
        out.push('\n');
    }
    if report.uncovered.len() > UNCOVERED {
        let _ = writeln!(out, "- and {} more", report.uncovered.len() - UNCOVERED);
    }
    out.push('\n');
}

fn limitations(out: &mut String, report: &RestReport) {
    if report.limitations.is_empty() {
        return;
    }
    out.push_str("## Limitations\n\n");
    for limitation in &report.limitations {
        let _ = write!(out, "- {}", inline(&limitation.what));
        if limitation.count > 1 {
            let _ = write!(out, " ({} times)", limitation.count);
        }
        if !limitation.location.is_empty() {
            let _ = write!(out, " at {}", code(&limitation.location));
        }
        if !limitation.quote.is_empty() {
            let _ = write!(out, ": {}", code(&limitation.quote));
        }
        out.push('\n');
    }
}
