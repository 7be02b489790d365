//! Output of a run: a JSON object per schema, or a few lines for the terminal.

use isobath_emit::RunReport;
use serde::Serialize;

use crate::terminal::{Terminal, Tone};

/// The object that `--json` prints, one per schema.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    schema: &'a str,
    requirements: usize,
    covered: usize,
    infeasible: usize,
    tests: usize,
    inserts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutants: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    equivalent: Option<usize>,
    millis: u64,
}

impl<'a> Summary<'a> {
    /// The numbers of a report.
    pub(crate) fn of(report: &'a RunReport) -> Self {
        let totals = &report.totals;
        let mutation = report.mutation.as_ref();
        Self {
            schema: &report.schema,
            requirements: totals.requirements,
            covered: totals.covered,
            infeasible: totals.infeasible,
            tests: totals.tests,
            inserts: totals.inserts,
            mutants: mutation.map(|mutation| mutation.mutants),
            killed: mutation.map(|mutation| mutation.killed),
            equivalent: mutation.map(|mutation| mutation.equivalent),
            millis: totals.millis.unwrap_or(0),
        }
    }
}

/// At most this many entries of a list are shown on the terminal; the report has them all.
const SHOWN: usize = 8;

/// Says to a person what was found.
pub(crate) fn tell(report: &RunReport, terminal: &Terminal) {
    let totals = &report.totals;
    let open = report.open_requirements();
    let mut line = format!(
        "  {} of {} requirements covered",
        totals.covered, totals.requirements
    );
    if totals.infeasible > 0 {
        line.push_str(&format!(", {} proven infeasible", totals.infeasible));
    }
    if open > 0 {
        line.push_str(&format!(", {open} open"));
    }
    line.push_str(&format!(
        "; {} tests, {} inserts",
        totals.tests, totals.inserts
    ));
    terminal.say(if open == 0 { Tone::Good } else { Tone::Warning }, &line);
    if let Some(mutation) = &report.mutation {
        let tone = if mutation.killed == mutation.mutants {
            Tone::Good
        } else {
            Tone::Warning
        };
        terminal.say(
            tone,
            &format!(
                "  {} of {} mutants killed; {} more proven equivalent",
                mutation.killed, mutation.mutants, mutation.equivalent
            ),
        );
        let lines = mutation
            .alive()
            .map(|mutant| format!("alive: {}: {}", mutant.table, mutant.description));
        list(terminal, lines.collect());
    }
    let lines = report.uncovered.iter().map(|entry| {
        format!(
            "open: {}: {}; {}",
            entry.table,
            entry.requirement,
            entry.reason.as_deref().unwrap_or("not found")
        )
    });
    list(terminal, lines.collect());
    // What is infeasible is among the findings, with its proof.
    let lines = report
        .findings
        .iter()
        .map(|finding| format!("design: {}: {}", finding.table, finding.explanation));
    list(terminal, lines.collect());
}

fn list(terminal: &Terminal, lines: Vec<String>) {
    for line in lines.iter().take(SHOWN) {
        terminal.say(Tone::Plain, &format!("    {line}"));
    }
    if lines.len() > SHOWN {
        terminal.say(
            Tone::Faint,
            &format!("    and {} more in the report", lines.len() - SHOWN),
        );
    }
}
