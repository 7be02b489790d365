//! The report as Markdown, for a pull request or a terminal.

use std::fmt::Write;

use super::model::{ConstraintView, RunReport};
use crate::writer::text::{expectation, one_line};

/// The report as GitHub-flavoured Markdown.
pub fn markdown(report: &RunReport) -> String {
    let mut out = String::with_capacity(4096 + 256 * report.tests.len());
    let _ = writeln!(
        out,
        "# Integrity constraints of {}\n",
        inline(&report.schema)
    );
    facts(&mut out, report);
    totals(&mut out, report);
    findings(&mut out, report);
    gaps(&mut out, report);
    mutants(&mut out, report);
    disagreements(&mut out, report);
    limitations(&mut out, report);
    tables(&mut out, report);
    tests(&mut out, report);
    out
}

fn facts(out: &mut String, report: &RunReport) {
    let _ = write!(out, "Read as {}", inline(&report.dialect));
    if !report.dialect_evidence.is_empty() {
        let _ = write!(out, " ({})", inline(&report.dialect_evidence));
    }
    let _ = writeln!(
        out,
        "; engine {}; criterion {}; generator {}; seed {}; Isobath {}.\n",
        inline(&report.engine),
        inline(&report.criterion),
        inline(&report.generator),
        report.seed,
        inline(&report.version)
    );
    if let Some(command) = &report.command {
        fenced(out, "sh", std::slice::from_ref(command), "");
    }
}

fn totals(out: &mut String, report: &RunReport) {
    let totals = &report.totals;
    let mut rows: Vec<(&str, String)> = vec![
        ("Tables", totals.tables.to_string()),
        ("Columns", totals.columns.to_string()),
    ];
    for (kind, count) in &totals.constraints {
        rows.push((kind, count.to_string()));
    }
    rows.push(("Requirements", totals.requirements.to_string()));
    rows.push(("Covered", totals.covered.to_string()));
    rows.push(("Proven infeasible", totals.infeasible.to_string()));
    rows.push(("Not covered", report.open_requirements().to_string()));
    rows.push(("Tests", totals.tests.to_string()));
    rows.push(("INSERT statements", totals.inserts.to_string()));
    if let Some(mutation) = &report.mutation {
        rows.push(("Mutants", mutation.mutants.to_string()));
        rows.push(("Killed", mutation.killed.to_string()));
        rows.push(("Equivalent", mutation.equivalent.to_string()));
        for (why, count) in &mutation.excluded {
            rows.push((why, count.to_string()));
        }
    }
    if let Some(millis) = totals.millis {
        rows.push(("Milliseconds", millis.to_string()));
    }
    out.push_str("| What | Count |\n|---|---:|\n");
    for (what, count) in rows {
        let _ = writeln!(out, "| {} | {count} |", inline(what));
    }
    out.push('\n');
}

fn findings(out: &mut String, report: &RunReport) {
    if report.findings.is_empty() {
        return;
    }
    out.push_str("## Design findings\n\n");
    for finding in &report.findings {
        let _ = writeln!(
            out,
            "- **{}**, {}: {}",
            inline(&finding.kind),
            code(&finding.table),
            inline(&finding.explanation)
        );
    }
    out.push('\n');
}

fn gaps(out: &mut String, report: &RunReport) {
    if !report.uncovered.is_empty() {
        out.push_str("## Not covered\n\n");
        for open in &report.uncovered {
            let reason = open.reason.as_deref().unwrap_or("reason unknown");
            let (table, requirement) = (code(&open.table), inline(&open.requirement));
            let _ = writeln!(out, "- {table}: {requirement} — {}", inline(reason));
        }
        out.push('\n');
    }
    if !report.infeasible.is_empty() {
        out.push_str("## Proven infeasible\n\n");
        for proven in &report.infeasible {
            let (table, requirement) = (code(&proven.table), inline(&proven.requirement));
            let _ = writeln!(out, "- {table}: {requirement} — {}", inline(&proven.proof));
        }
        out.push('\n');
    }
}

fn mutants(out: &mut String, report: &RunReport) {
    let Some(mutation) = &report.mutation else {
        return;
    };
    if mutation.alive().next().is_none() {
        return;
    }
    out.push_str("## Surviving mutants\n\n");
    for mutant in mutation.alive() {
        let _ = writeln!(
            out,
            "- {}: {} ({})",
            code(&mutant.table),
            inline(&mutant.description),
            inline(&mutant.operator)
        );
    }
    out.push('\n');
}

fn disagreements(out: &mut String, report: &RunReport) {
    if report.disagreements.is_empty() {
        return;
    }
    out.push_str("## Where engines disagree\n\n");
    for disagreement in &report.disagreements {
        let _ = writeln!(out, "### {}\n", inline(&disagreement.test));
        fenced(out, "sql", std::slice::from_ref(&disagreement.sql), ";");
        for (engine, outcome) in &disagreement.outcomes {
            let _ = writeln!(out, "- {}: {}", inline(engine), inline(outcome));
        }
        out.push('\n');
    }
}

fn limitations(out: &mut String, report: &RunReport) {
    if report.limitations.is_empty() {
        return;
    }
    out.push_str("## Limitations\n\n");
    for limitation in &report.limitations {
        let _ = write!(out, "- {}", inline(&limitation.what));
        if !limitation.quote.is_empty() {
            let _ = write!(out, ": {}", code(&limitation.quote));
        }
        if let Some(location) = &limitation.location {
            let _ = write!(out, " at {}", code(location));
        }
        if limitation.count > 1 {
            let _ = write!(out, " ({} times)", limitation.count);
        }
        out.push('\n');
    }
    out.push('\n');
}

fn tables(out: &mut String, report: &RunReport) {
    for table in &report.tables {
        let _ = writeln!(out, "## Table {}\n", code(&table.name));
        if !table.columns.is_empty() {
            out.push_str("| Column | Type | |\n|---|---|---|\n");
            for column in &table.columns {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} |",
                    code(&column.name),
                    code(&column.data_type),
                    inline(&column.notes.join(", "))
                );
            }
            out.push('\n');
        }
        for constraint in &table.constraints {
            self::constraint(out, constraint);
        }
    }
}

fn constraint(out: &mut String, constraint: &ConstraintView) {
    let _ = write!(out, "### {}", inline(&constraint.kind));
    if let Some(name) = &constraint.name {
        let _ = write!(out, " {}", code(name));
    }
    out.push_str("\n\n");
    if !constraint.definition.is_empty() {
        let _ = writeln!(out, "{}\n", code(&constraint.definition));
    }
    if !constraint.accepting.is_empty() {
        out.push_str("Accepts the last row of:\n\n");
        fenced(out, "sql", &constraint.accepting, ";");
    }
    if !constraint.rejecting.is_empty() {
        out.push_str("Rejects the last statement of:\n\n");
        fenced(out, "sql", &constraint.rejecting, ";");
    }
    if let Some(note) = &constraint.note {
        let _ = writeln!(out, "{}\n", inline(note));
    }
}

fn tests(out: &mut String, report: &RunReport) {
    if report.tests.is_empty() {
        return;
    }
    out.push_str("## Tests\n\n");
    for test in &report.tests {
        let outcome = test.steps.last().map(|step| expectation(&step.expect));
        let outcome = outcome.unwrap_or_else(|| "no statements".into());
        let _ = writeln!(out, "- {} ({})", inline(&test.name), inline(&outcome));
    }
}

/// Text that Markdown and HTML leave alone.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// A code span whose fence does not occur in it.
pub(crate) fn code(text: &str) -> String {
    // A pipe ends a table cell even in a code span.
    let text = one_line(text).replace('|', "\\|");
    let mut fence = String::from("`");
    while text.contains(&fence) {
        fence.push('`');
    }
    if text.starts_with('`') || text.ends_with('`') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

pub(crate) fn fenced(out: &mut String, language: &str, lines: &[String], end: &str) {
    let mut fence = String::from("```");
    while lines.iter().any(|line| line.contains(&fence)) {
        fence.push('`');
    }
    let _ = writeln!(out, "{fence}{language}");
    for line in lines {
        let _ = writeln!(out, "{line}{end}");
    }
    let _ = writeln!(out, "{fence}\n");
}
