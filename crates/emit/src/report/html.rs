//! The report of a schema run as one self-contained HTML file.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::model::{ConstraintView, Mutation, RunReport, TableView};
use super::mutants;
use super::page::{self, Page, facts, list_note, meter, plural, snippet, tile};
use crate::suite::{Expectation, Step, Test};
use crate::writer::text::{bare, expectation};

/// The report as one offline page.
pub fn html(report: &RunReport) -> String {
    let millis = report.totals.millis.map(|millis| format!("{millis} ms"));
    let page = Page {
        kicker: "Integrity constraints",
        title: &report.schema,
        facts: vec![
            ("Engine", report.engine.clone()),
            (
                "Dialect",
                page::dialect(&report.dialect, &report.dialect_evidence),
            ),
            ("Criterion", report.criterion.clone()),
            ("Generator", report.generator.clone()),
            ("Seed", report.seed.to_string()),
            ("Time", millis.unwrap_or_default()),
        ],
        command: report.command.as_deref(),
        version: &report.version,
        style: "",
        script: "",
    };
    page.render(&html! {
        (summary(report))
        (notes(report))
        @if let Some(mutation) = &report.mutation { (mutants::section(mutation, &report.tests)) }
        h2 #tables { "Tables and tests" }
        (page::toolbar(
            report.tests.len(),
            ("test", "tests"),
            "table, column, words in a test name",
        ))
        (tables(report))
    })
}

fn summary(report: &RunReport) -> Markup {
    let totals = &report.totals;
    let feasible = totals.requirements.saturating_sub(totals.infeasible);
    let infeasible = match totals.infeasible {
        0 => String::new(),
        n => format!("{n} more proven infeasible"),
    };
    let n_constraints = totals.constraints.iter().map(|(_, n)| n).sum();
    let kinds: Vec<String> = totals
        .constraints
        .iter()
        .map(|(kind, n)| format!("{n} {kind}").replace(' ', "\u{a0}"))
        .collect();
    let tiles = html! {
        (meter("Requirements covered", totals.covered, feasible, &infeasible))
        @if let Some(mutation) = &report.mutation {
            (meter("Mutants killed", mutation.killed, mutation.mutants, &not_counted(mutation)))
        }
        (tile(totals.tests, "test", "tests", &format!("{} INSERT statements", totals.inserts)))
        (tile(totals.tables, "table", "tables", &format!("{} columns", totals.columns)))
        (tile(n_constraints, "constraint", "constraints", &kinds.join(" · ")))
    };
    page::summary(&tiles, &Markup::default())
}

/// The mutants that do not count, and why.
fn not_counted(mutation: &Mutation) -> String {
    let equivalent =
        (mutation.equivalent > 0).then(|| format!("{} equivalent", mutation.equivalent));
    let excluded = mutation.excluded.iter();
    let excluded = excluded.map(|(why, n)| format!("{n} {why}"));
    let parts: Vec<String> = equivalent.into_iter().chain(excluded).collect();
    parts.join(", ")
}

/// The lists that ask for attention, each only when it has something to say.
fn notes(report: &RunReport) -> Markup {
    let uncovered = report.uncovered.iter().map(|open| {
        let reason = open.reason.as_deref().unwrap_or("reason unknown");
        item(&open.table, &open.requirement, reason)
    });
    let alive = report.mutation.iter().flat_map(Mutation::alive);
    let alive = alive.map(|mutant| item(&mutant.table, &mutant.description, &mutant.operator));
    let findings = report.findings.iter();
    let findings =
        findings.map(|finding| item(&finding.table, &finding.kind, &finding.explanation));
    let disagreements = report.disagreements.iter().map(|disagreement| {
        html! {
            strong { (disagreement.test) }
            (snippet(&disagreement.sql, "the statement"))
            (facts(&disagreement.outcomes))
        }
    });
    let infeasible = report.infeasible.iter();
    let infeasible =
        infeasible.map(|proven| item(&proven.table, &proven.requirement, &proven.proof));
    let limitations = report.limitations.iter().map(|limitation| {
        let location = limitation.location.as_deref().unwrap_or_default();
        page::limitation(
            &limitation.what,
            limitation.count,
            location,
            &limitation.quote,
        )
    });
    html! {
        (list_note("uncovered", "Not covered", &uncovered.collect::<Vec<_>>(), true))
        (list_note("alive", "Surviving mutants", &alive.collect::<Vec<_>>(), true))
        (list_note("findings", "Design findings", &findings.collect::<Vec<_>>(), true))
        (list_note("disagreements", "Where engines disagree", &disagreements.collect::<Vec<_>>(), true))
        (list_note("infeasible", "Proven infeasible", &infeasible.collect::<Vec<_>>(), false))
        (list_note("limitations", "Limitations", &limitations.collect::<Vec<_>>(), false))
    }
}

fn item(table: &str, what: &str, why: &str) -> Markup {
    html! {
        @if !table.is_empty() { code { (table) } " " }
        strong { (what) }
        @if !why.is_empty() { br; (why) }
    }
}

/// A test with its place in the suite, which links go by.
type Numbered<'a> = (usize, &'a Test);

fn tables(report: &RunReport) -> Markup {
    let mut groups: Vec<(&str, Option<&TableView>, Vec<Numbered<'_>>)> = report
        .tables
        .iter()
        .map(|table| (table.name.as_str(), Some(table), Vec::new()))
        .collect();
    let mut location: BTreeMap<&str, usize> = groups
        .iter()
        .enumerate()
        .map(|(idx, (name, ..))| (*name, idx))
        .collect();
    for (idx, test) in report.tests.iter().enumerate() {
        let at = *location.entry(test.group.as_str()).or_insert_with(|| {
            groups.push((&test.group, None, Vec::new()));
            groups.len() - 1
        });
        if let Some((.., tests)) = groups.get_mut(at) {
            tests.push((idx, test));
        }
    }
    let open = groups.len() == 1;
    html! {
        @for (name, table, tests) in &groups {
            details.table open[open] {
                summary { h3 { (name) } " " span.count { (counts(*table, tests.len())) } }
                @if let Some(table) = table { (self::table(table)) }
                @if !tests.is_empty() {
                    h4 { "Tests" }
                    div.tests { @for (idx, test) in tests { (self::test(*idx, test)) } }
                }
            }
        }
    }
}

fn counts(table: Option<&TableView>, n_tests: usize) -> String {
    let tests = plural(n_tests, "test");
    match table {
        Some(table) => format!(
            "{} · {tests}",
            plural(table.constraints.len(), "constraint")
        ),
        None => tests,
    }
}

fn table(table: &TableView) -> Markup {
    let columns = html! {
        @for column in &table.columns {
            tr {
                th scope="row" { code { (column.name) } }
                td { code { (column.data_type) } }
                td { (column.notes.join(", ")) }
            }
        }
    };
    html! {
        @if !table.columns.is_empty() {
            (page::table("Columns", &["Column", "Type", "Further"], &columns))
        }
        @for constraint in &table.constraints { (self::constraint(constraint)) }
    }
}

fn constraint(constraint: &ConstraintView) -> Markup {
    html! {
        section.constraint {
            h4 { span.kind { (constraint.kind) } " " (constraint.name.as_deref().unwrap_or_default()) }
            @if !constraint.definition.is_empty() { p { code { (constraint.definition) } } }
            @if !constraint.accepting.is_empty() || !constraint.rejecting.is_empty() {
                div.pair {
                    (example("accepted", "Accepted", &constraint.accepting))
                    (example("rejected", "Rejected", &constraint.rejecting))
                }
            }
            @if let Some(note) = &constraint.note { p.remark { (note) } }
        }
    }
}

fn example(class: &str, label: &str, statements: &[String]) -> Markup {
    html! {
        @if !statements.is_empty() {
            div {
                p.verdict.(class) { (label) }
                (snippet(&script(statements), "the statements"))
            }
        }
    }
}

fn test(idx: usize, test: &Test) -> Markup {
    let (class, label) = match test.steps.last().map(|step| &step.expect) {
        Some(Expectation::Rejected(_)) => ("rejected", "rejects"),
        Some(Expectation::Rows { .. }) => ("accepted", "leaves rows"),
        _ => ("accepted", "accepts"),
    };
    let sql = html! { @for step in &test.steps { (self::step(step)) } };
    html! {
        details.test id={ "test-" (idx) } {
            summary { span.verdict.(class) { (label) } " " (test.name) }
            @if !test.covers.is_empty() {
                ul.covers { @for covered in &test.covers { li { (covered) } } }
            }
            (page::marked_snippet(&sql, "the statements"))
        }
    }
}

fn step(step: &Step) -> Markup {
    let outcome = match &step.expect {
        Expectation::Rejected(rejection) => {
            let state = rejection.sqlstate.clone();
            let code = state.or_else(|| rejection.code.map(|code| code.to_string()));
            let code = code.map(|code| format!(" ({code})"));
            expectation(&step.expect) + &code.unwrap_or_default()
        }
        other => expectation(other),
    };
    html! {
        @if !step.sql.is_empty() { (script(&step.sql)) " " i { "-- " (outcome) } "\n" }
        @if let Expectation::Rows { query, rows } = &step.expect {
            (bare(query)) ";\n"
            i {
                @for row in rows {
                    @let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
                    "-- " (cells.join(" | ").replace('\n', "⏎")) "\n"
                }
            }
        }
    }
}

/// Statements, one below the other.
fn script(statements: &[String]) -> String {
    let lines: Vec<String> = statements
        .iter()
        .map(|sql| format!("{};", bare(sql)))
        .collect();
    lines.join("\n")
}
