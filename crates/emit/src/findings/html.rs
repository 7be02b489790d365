//! The report as one self-contained HTML file.

use std::fmt::Write;

use super::database;
use super::model::{FaultView, OperationView, RestReport, TestCase};
use super::outbound;
use super::plot;
use super::source::source;
use crate::report::page::{self, escape, fact, meter, snippet, tile};

/// The report as one offline page.
pub fn html(report: &RestReport) -> String {
    let mut out = page::open(&report.title).replacen(
        "</style>",
        concat!(include_str!("page.css"), "</style>"),
        1,
    );
    header(&mut out, report);
    out.push_str("<main id=\"main\">\n");
    summary(&mut out, report);
    out.push_str("<h2 id=\"findings\">Findings</h2>\n");
    let hint = "operation, status, words in a finding";
    page::toolbar(
        &mut out,
        report.by_root_cause().len(),
        ("finding", "findings"),
        hint,
    );
    findings(&mut out, report);
    operations(&mut out, report);
    if let Some(plot) = plot::progress(report) {
        let _ = write!(
            out,
            "<section aria-labelledby=\"progress\">\n<h2 id=\"progress\">Targets over time</h2>\n\
             <div class=\"card\">{plot}</div>\n</section>\n"
        );
    }
    code(&mut out, report);
    database::html(&mut out, report);
    outbound::html(&mut out, report);
    uncovered(&mut out, report);
    limitations(&mut out, report);
    tests(&mut out, report);
    let mut end = String::new();
    page::close(&mut end, &report.version);
    let script = concat!("<script>\n", include_str!("rows.js"), "</script>\n</body>");
    out.push_str(&end.replacen("</body>", script, 1));
    out
}

fn header(out: &mut String, report: &RestReport) {
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">REST tests</p>\n<h1>{}</h1>\n<dl class=\"facts\">\n",
        escape(&report.title)
    );
    fact(out, "Document", &report.source);
    fact(out, "Service", &report.url);
    fact(out, "Algorithm", &report.algorithm);
    fact(out, "Budget", &report.budget);
    fact(out, "Seed", &report.seed.to_string());
    fact(
        out,
        "Started",
        report.started.as_deref().unwrap_or_default(),
    );
    fact(out, "Time", &format!("{:.1} s", report.seconds));
    fact(
        out,
        "Ended early",
        report.ended_early.as_deref().unwrap_or_default(),
    );
    out.push_str("</dl>\n");
    if let Some(command) = &report.command {
        snippet(out, &escape(command), "the command");
    }
    out.push_str("</header>\n");
}

fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn summary(out: &mut String, report: &RestReport) {
    out.push_str(
        "<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n<div class=\"tiles\">\n",
    );
    meter(
        out,
        "Targets covered",
        count(report.covered),
        count(report.targets),
        "",
    );
    let causes = report.by_root_cause().len();
    let seen: u64 = report.faults.iter().map(|fault| fault.seen).sum();
    tile(
        out,
        causes,
        "fault",
        "faults",
        &if seen > report.faults.len() as u64 {
            format!("seen {seen} times")
        } else {
            "one per root cause".to_owned()
        },
    );
    let answered = |operation: &&OperationView| {
        operation
            .statuses
            .iter()
            .any(|count| (200..300).contains(&count.status))
    };
    let succeeded = report.operations.iter().filter(answered).count();
    tile(
        out,
        report.operations.len(),
        "operation",
        "operations",
        &format!("{succeeded} returned 2xx"),
    );
    let rate = if report.seconds > 0.0 {
        format!("{:.0} per second", report.calls as f64 / report.seconds)
    } else {
        String::new()
    };
    tile(out, count(report.calls), "call", "calls", &rate);
    let calls = format!("{} calls", report.suite_calls);
    tile(out, count(report.tests), "test", "tests", &calls);
    out.push_str("</div>\n</section>\n");
}

/// A root cause and its faults.
type RootCause<'a> = (&'a str, Vec<&'a FaultView>);

/// The faults: a group per code, in it an entry per root cause.
fn findings(out: &mut String, report: &RestReport) {
    if report.faults.is_empty() {
        out.push_str("<p>No fault was found.</p>\n");
        return;
    }
    let mut groups: Vec<(&str, Vec<RootCause<'_>>)> = Vec::new();
    for (cause, faults) in report.by_root_cause() {
        let code = faults.first().map_or("", |fault| fault.code.as_str());
        match groups.iter_mut().find(|(known, _)| *known == code) {
            Some((_, causes)) => causes.push((cause, faults)),
            None => groups.push((code, vec![(cause, faults)])),
        }
    }
    let open = if groups.len() <= 12 { " open" } else { "" };
    for (code, causes) in groups {
        let wfc = causes
            .first()
            .and_then(|(_, faults)| faults.first()?.wfc_code);
        let wfc = wfc.map(|wfc| format!(" · WFC {wfc}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "<details class=\"table\"{open}>\n<summary><h3>{}</h3> <span class=\"count\">{} root {}{wfc}</span></summary>\n\
             <div class=\"tests\">",
            escape(code),
            causes.len(),
            if causes.len() == 1 { "cause" } else { "causes" },
        );
        for (cause, faults) in causes {
            root_cause(out, cause, &faults);
        }
        out.push_str("</div>\n</details>\n");
    }
}

fn root_cause(out: &mut String, cause: &str, faults: &[&FaultView]) {
    let Some(first) = faults.first() else {
        return;
    };
    let severity = first.severity.word();
    // Most sentences begin with their operation.
    let message = first.message.strip_prefix(first.operation.as_str());
    let message = message.unwrap_or(&first.message).trim_start();
    let _ = writeln!(
        out,
        "<details class=\"test finding\"><summary><span class=\"verdict {severity}\">{severity}</span> \
         <code>{}</code> {}</summary>\n<p class=\"remark\">Root cause <code>{}</code></p>",
        escape(&first.operation),
        escape(message),
        escape(cause)
    );
    for fault in faults {
        self::fault(out, fault, faults.len() > 1);
    }
    out.push_str("</details>\n");
}

fn fault(out: &mut String, fault: &FaultView, named: bool) {
    if named {
        let _ = writeln!(out, "<h4><code>{}</code></h4>", escape(&fault.operation));
    }
    if !fault.details.is_empty() {
        out.push_str("<ul>");
        for detail in &fault.details {
            let _ = write!(out, "<li>{}</li>", escape(detail));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<dl class=\"facts\">\n");
    if fault.seen > 1 {
        fact(out, "Seen", &format!("{} times", fault.seen));
    }
    fact(out, "Known", fault.known.as_deref().unwrap_or_default());
    fact(out, "Fingerprint", &fault.fingerprint);
    fact(out, "Test", fault.test.as_deref().unwrap_or_default());
    fact(out, "No test", fault.no_test.as_deref().unwrap_or_default());
    if let Some(location) = &fault.location {
        let line = match location.line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        fact(
            out,
            "Document",
            &format!("{}{line} {}", location.file, location.pointer),
        );
    }
    out.push_str("</dl>\n");
    if !fault.rows.is_empty() {
        snippet(out, &escape(&(fault.rows.join(";\n") + ";")), "the rows");
    }
    if !fault.curl.is_empty() {
        snippet(out, &escape(fault.curl.trim_end()), "the cURL calls");
    }
}

/// Operations × statuses, shaded by the number of calls.
fn operations(out: &mut String, report: &RestReport) {
    if report.operations.is_empty() {
        return;
    }
    let statuses = report.statuses();
    let silent = report
        .operations
        .iter()
        .any(|operation| operation.no_response > 0);
    out.push_str(
        "<section aria-labelledby=\"operations\">\n<h2 id=\"operations\">Operations and statuses</h2>\n\
         <p class=\"remark\">Calls per status. A dashed cell is a status that the document does not tell of.</p>\n\
         <div class=\"scroll card\" tabindex=\"0\" role=\"region\" aria-labelledby=\"operations\"><table class=\"heat\">\n\
         <thead><tr><th scope=\"col\">Operation</th><th scope=\"col\">Calls</th>",
    );
    for status in &statuses {
        let _ = write!(out, "<th scope=\"col\">{status}</th>");
    }
    if silent {
        out.push_str("<th scope=\"col\">no answer</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for operation in &report.operations {
        let _ = write!(
            out,
            "<tr data-row><th scope=\"row\"><code>{}</code></th><td>{}</td>",
            escape(&operation.id),
            operation.calls
        );
        for status in &statuses {
            cell(out, operation, *status);
        }
        if silent {
            let n = operation.no_response;
            let _ = if n > 0 {
                write!(out, "<td class=\"f5\">{n}</td>")
            } else {
                write!(out, "<td></td>")
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

fn cell(out: &mut String, operation: &OperationView, status: u16) {
    let found = operation
        .statuses
        .iter()
        .find(|count| count.status == status);
    let Some(count) = found else {
        out.push_str("<td></td>");
        return;
    };
    // By orders of magnitude: 1, 10, 100, 1000 calls.
    let heat = count.calls.max(1).ilog10().min(3);
    let strange = if count.documented { "" } else { " strange" };
    let title = if count.documented {
        ""
    } else {
        " title=\"not in the document\""
    };
    let _ = write!(
        out,
        "<td class=\"f{} h{heat}{strange}\"{title}>{}</td>",
        status / 100,
        count.calls
    );
}

/// The code, file by file.
fn code(out: &mut String, report: &RestReport) {
    let Some(code) = &report.code else { return };
    let _ = writeln!(
        out,
        "<details class=\"note\" id=\"code\" open>\n<summary><h2>Code</h2> \
         <span class=\"count\">{} lines, {} branches</span></summary>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Code\"><table>\n\
         <thead><tr><th scope=\"col\">File</th><th scope=\"col\">Lines</th><th scope=\"col\">Branches</th></tr></thead>\n<tbody>",
        code.lines, code.branches
    );
    for file in &code.files {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&file.file),
            file.lines,
            file.branches
        );
    }
    out.push_str("</tbody></table></div>\n");
    for file in &code.files {
        source(out, file);
    }
    out.push_str("</details>\n");
}

fn uncovered(out: &mut String, report: &RestReport) {
    if report.uncovered.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<details class=\"note\" id=\"uncovered\"{}>\n<summary><h2>Not covered</h2> \
         <span class=\"count\">{}</span></summary>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Not covered\"><table>\n\
         <thead><tr><th scope=\"col\">Target</th><th scope=\"col\">Score</th><th scope=\"col\">Nearest miss</th></tr></thead>\n<tbody>",
        if report.uncovered.len() <= 30 {
            " open"
        } else {
            ""
        },
        report.uncovered.len()
    );
    for target in &report.uncovered {
        let mut why = target.nearest_miss.clone().unwrap_or_default();
        if let Some(reason) = &target.reason {
            if !why.is_empty() {
                why.push_str("; ");
            }
            why.push_str(reason);
        }
        let _ = writeln!(
            out,
            "<tr data-row><th scope=\"row\">{}</th><td>{:.2}</td><td>{}</td></tr>",
            escape(&target.target),
            target.score,
            escape(&why)
        );
    }
    out.push_str("</tbody></table></div>\n</details>\n");
}

fn limitations(out: &mut String, report: &RestReport) {
    if report.limitations.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<details class=\"note\" id=\"limitations\">\n<summary><h2>Limitations</h2> \
         <span class=\"count\">{}</span></summary>\n<ul>",
        report.limitations.len()
    );
    for limitation in &report.limitations {
        let _ = write!(out, "<li><strong>{}</strong>", escape(&limitation.what));
        if limitation.count > 1 {
            let _ = write!(out, " ({} times)", limitation.count);
        }
        if !limitation.location.is_empty() {
            let _ = write!(out, " at <code>{}</code>", escape(&limitation.location));
        }
        if !limitation.quote.is_empty() {
            let _ = write!(out, "<pre><code>{}</code></pre>", escape(&limitation.quote));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n</details>\n");
}

fn tests(out: &mut String, report: &RestReport) {
    if report.test_cases.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<details class=\"note\" id=\"tests\">\n<summary><h2>Tests</h2> <span class=\"count\">{}</span></summary>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Tests\"><table>\n\
         <thead><tr><th scope=\"col\">Test</th><th scope=\"col\">Operation</th><th scope=\"col\">Location</th><th scope=\"col\">Run</th></tr></thead>\n<tbody>",
        report.test_cases.len()
    );
    for test in &report.test_cases {
        let _ = writeln!(
            out,
            "<tr data-row><th scope=\"row\">{}</th><td><code>{}</code></td><td><code>{}:{}</code></td><td>{}</td></tr>",
            escape(&test.name),
            escape(&test.operation),
            escape(&test.file),
            test.start_line,
            escape(&verdict(test))
        );
    }
    out.push_str("</tbody></table></div>\n</details>\n");
}

fn verdict(test: &TestCase) -> String {
    match test.passed {
        Some(true) => "passed".into(),
        Some(false) => format!("failed: {}", test.message),
        None => "not run".into(),
    }
}
