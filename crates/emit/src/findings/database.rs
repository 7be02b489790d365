//! What a run learned about the database behind the service: who violates which constraint, and where document and columns
//! have drifted apart.

use std::fmt::Write;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::model::RestReport;
use super::statements::{self, StatementView};
use crate::report::markdown::{code, inline};
use crate::report::page::{note, plain_table};

/// What a run learned about the database behind the service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseView {
    /// Its address, without a password.
    pub address: String,
    /// Number of resets.
    pub resets: u64,
    /// Total seconds of these.
    pub reset_seconds: f64,
    /// Number of checks for changes.
    pub checks: u64,
    /// Total seconds of these.
    pub check_seconds: f64,
    /// Tables with too many rows to reset.
    pub not_reset: Vec<String>,
    /// What decides about rows and is not understood, such as a trigger, with the reason.
    pub limitations: Vec<String>,
    /// Its constraints, and how calls that violate them were answered.
    pub constraints: Vec<ConstraintView>,
    /// Where the document allows what a column refuses.
    pub drift: Vec<DriftView>,
    /// The statements that the service looked for rows with, by shape.
    pub statements: Vec<StatementView>,
}

/// A constraint, and how calls that violate it were answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConstraintView {
    /// Its table.
    pub table: String,
    /// What it is, such as `UNIQUE (pier, number)`.
    pub constraint: String,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// The operations that were seen to violate it; none when nobody did.
    pub operations: Vec<ViolationView>,
}

/// How calls of an operation that violate a constraint were answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViolationView {
    /// The operation, as [`OperationView::id`](super::OperationView::id).
    pub operation: String,
    /// With 4xx, as it should be.
    pub refused: u64,
    /// With 5xx: the violation reached the client.
    pub failed: u64,
    /// With 2xx: the value was changed or dropped on its way to the database.
    pub accepted: u64,
}

/// A property that the document bounds in another way than its column does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriftView {
    /// The operation, as [`OperationView::id`](super::OperationView::id).
    pub operation: String,
    /// The property of its body.
    pub property: String,
    /// The column, as `table.column`.
    pub column: String,
    /// What the document says.
    pub document: String,
    /// What the database says.
    pub database: String,
}

impl ViolationView {
    /// Good, a fault, or a constraint that the value never reached.
    pub fn verdict(&self) -> &'static str {
        match (self.failed, self.accepted) {
            (1.., _) => "fault",
            (0, 1..) => "accepted",
            (0, 0) => "good",
        }
    }
}

impl DatabaseView {
    /// What looking after the rows cost, in a sentence.
    fn cost(&self) -> String {
        let each = |seconds: f64, times: u64| 1000.0 * seconds / times.max(1) as f64;
        format!(
            "The database was reset {} times ({:.2} ms each) and checked for changes {} times ({:.2} ms each).",
            self.resets,
            each(self.reset_seconds, self.resets),
            self.checks,
            each(self.check_seconds, self.checks)
        )
    }

    /// What is not looked after, a sentence each.
    fn gaps(&self) -> Vec<String> {
        let tables = self.not_reset.iter();
        tables
            .map(|table| format!("Table {table} has too many rows and is not reset."))
            .chain(self.limitations.iter().cloned())
            .collect()
    }

    /// The constraints that somebody ran into, a row per operation: constraint, operation, counts, verdict.
    fn violations(&self) -> Vec<[String; 6]> {
        let mut rows = Vec::new();
        for constraint in &self.constraints {
            for by in &constraint.operations {
                rows.push([
                    constraint.title(),
                    by.operation.clone(),
                    by.refused.to_string(),
                    by.failed.to_string(),
                    by.accepted.to_string(),
                    by.verdict().to_owned(),
                ]);
            }
        }
        rows
    }

    /// The constraints that nobody ran into.
    fn untried(&self) -> Vec<String> {
        let untried = self
            .constraints
            .iter()
            .filter(|constraint| constraint.operations.is_empty());
        untried.map(ConstraintView::title).collect()
    }

    /// The drift, a row each.
    fn drifted(&self) -> Vec<[String; 5]> {
        let drift = self.drift.iter();
        drift
            .map(|drift| {
                [
                    drift.operation.clone(),
                    drift.property.clone(),
                    drift.document.clone(),
                    drift.column.clone(),
                    drift.database.clone(),
                ]
            })
            .collect()
    }
}

impl ConstraintView {
    /// The table and what is demanded of it.
    fn title(&self) -> String {
        format!("{} {}", self.table, self.constraint)
    }
}

const VIOLATIONS: [&str; 6] = ["Constraint", "Operation", "4xx", "5xx", "2xx", "Verdict"];
const DRIFT: [&str; 5] = ["Operation", "Property", "Document", "Column", "Database"];
/// What the verdicts mean.
const LEGEND: &str = "A request that would violate a constraint should be rejected with 4xx (good). With 5xx the violation surfaced as a server error \
     (fault); with 2xx the value was changed or dropped on its way to the database (accepted).";

/// The section of the report in Markdown.
pub(super) fn markdown(out: &mut String, report: &RestReport) {
    let Some(database) = &report.database else {
        return;
    };
    let _ = writeln!(
        out,
        "## Database\n\n{}: {}\n",
        code(&database.address),
        database.cost()
    );
    for gap in database.gaps() {
        let _ = writeln!(out, "- {}", inline(&gap));
    }
    let violations = database.violations();
    if !violations.is_empty() {
        let _ = writeln!(out, "\n### Constraints and operations\n\n{LEGEND}\n");
        table(out, &VIOLATIONS, &violations);
    }
    let untried = database.untried();
    if !untried.is_empty() {
        let list: Vec<String> = untried.iter().map(|title| code(title)).collect();
        let _ = writeln!(out, "\nNot violated by any call: {}.", list.join(", "));
    }
    if !database.drift.is_empty() {
        out.push_str("\n### Drift between document and database\n\n");
        table(out, &DRIFT, &database.drifted());
    }
    statements::markdown(out, &database.statements);
    out.push('\n');
}

pub(super) fn table<const N: usize>(out: &mut String, heads: &[&str; N], rows: &[[String; N]]) {
    let _ = writeln!(out, "| {} |\n|{}", heads.join(" | "), "---|".repeat(N));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| inline(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

/// The section of the page.
pub(super) fn html(report: &RestReport) -> Markup {
    let Some(database) = &report.database else {
        return Markup::default();
    };
    let (gaps, untried) = (database.gaps(), database.untried());
    let violations = database.violations();
    let content = html! {
        p { code { (database.address) } ": " (database.cost()) }
        @if !gaps.is_empty() { ul { @for gap in &gaps { li { (gap) } } } }
        @if !violations.is_empty() {
            h3 { "Constraints and operations" }
            p { (LEGEND) }
            (plain_table("Constraints and operations", &VIOLATIONS, &violations))
        }
        @if !untried.is_empty() {
            p {
                "Not violated by any call: "
                @for (idx, title) in untried.iter().enumerate() {
                    @if idx > 0 { ", " }
                    code { (title) }
                }
                "."
            }
        }
        @if !database.drift.is_empty() {
            h3 { "Drift between document and database" }
            (plain_table("Drift", &DRIFT, &database.drifted()))
        }
        (statements::html(&database.statements))
    };
    let counts = format!(
        "{} constraints, {} drifted",
        database.constraints.len(),
        database.drift.len()
    );
    note("database", "Database", &counts, true, &content)
}
