//! The SELECT statements of the service: rows found, and coverage rules satisfied.

use std::fmt::Write;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::database::table;
use crate::report::markdown::code;
use crate::report::page::plain_table;

/// A statement that the service looked for rows with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatementView {
    /// The text without its values.
    pub shape: String,
    /// One text of it.
    pub example: String,
    /// How often it was run.
    pub times: u64,
    /// How often it found something.
    pub found: u64,
    /// Its coverage rules, in a run with `--query-coverage`.
    pub rules: Vec<RuleView>,
}

/// A coverage rule of a statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleView {
    /// Its label, such as `WT`; a number tells those of the same label apart.
    pub label: String,
    /// What the rows must show.
    pub description: String,
    /// Whether rows did when the statement was run.
    pub covered: bool,
    /// How far the nearest rows were from it, where that is a number.
    pub distance: Option<f64>,
}

const HEADS: [&str; 4] = ["Statement", "Times", "Found rows", "Found none"];
const RULED: [&str; 5] = ["Statement", "Times", "Found rows", "Found none", "Rules"];

/// How many rules are covered, of how many.
fn share(rules: &[RuleView]) -> String {
    let covered = rules.iter().filter(|rule| rule.covered).count();
    format!("{covered} of {}", rules.len())
}

fn cells(statement: &StatementView) -> [String; 4] {
    [
        statement.shape.clone(),
        statement.times.to_string(),
        statement.found.to_string(),
        statement.times.saturating_sub(statement.found).to_string(),
    ]
}

fn ruled(statement: &StatementView) -> [String; 5] {
    let [shape, times, found, none] = cells(statement);
    [shape, times, found, none, share(&statement.rules)]
}

/// A rule that was not covered, in a line.
fn missed(rule: &RuleView) -> String {
    match rule.distance {
        Some(far) => format!(
            "{}: {} (nearest rows {far:.3} away)",
            rule.label, rule.description
        ),
        None => format!("{}: {}", rule.label, rule.description),
    }
}

fn has_rules(statements: &[StatementView]) -> bool {
    statements
        .iter()
        .any(|statement| !statement.rules.is_empty())
}

/// The section of the report in Markdown.
pub(super) fn markdown(out: &mut String, statements: &[StatementView]) {
    if statements.is_empty() {
        return;
    }
    out.push_str("\n### SQL statements\n\n");
    if !has_rules(statements) {
        let rows: Vec<_> = statements.iter().map(cells).collect();
        return table(out, &HEADS, &rows);
    }
    let rows: Vec<_> = statements.iter().map(ruled).collect();
    table(out, &RULED, &rows);
    for statement in statements {
        let mut open = statement
            .rules
            .iter()
            .filter(|rule| !rule.covered)
            .peekable();
        if open.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "\nNot covered of {}:\n", code(&statement.shape));
        for rule in open {
            let _ = writeln!(out, "- {}", crate::report::markdown::inline(&missed(rule)));
        }
    }
}

/// The section of the page.
pub(super) fn html(statements: &[StatementView]) -> Markup {
    let title = "SQL statements";
    let table = if has_rules(statements) {
        let rows: Vec<_> = statements.iter().map(ruled).collect();
        plain_table(title, &RULED, &rows)
    } else {
        let rows: Vec<_> = statements.iter().map(cells).collect();
        plain_table(title, &HEADS, &rows)
    };
    let with_rules = |statement: &&StatementView| !statement.rules.is_empty();
    html! {
        @if !statements.is_empty() {
            h3 #statements { (title) }
            (table)
            @for statement in statements.iter().filter(with_rules) {
                details.note {
                    summary {
                        code { (statement.shape) } " "
                        span.count { (share(&statement.rules)) " rules" }
                    }
                    ul { @for rule in &statement.rules { li { (outcome(rule)) } } }
                }
            }
        }
    }
}

/// The outcome of a rule, in a line.
fn outcome(rule: &RuleView) -> String {
    if rule.covered {
        format!("covered: {}: {}", rule.label, rule.description)
    } else {
        format!("not covered: {}", missed(rule))
    }
}
