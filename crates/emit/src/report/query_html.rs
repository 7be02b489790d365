//! The report of queries as one self-contained HTML file.

use maud::{Markup, html};
use serde_json::Value;

use super::page::{self, Page, list_note, meter, plural, sentence, snippet, tile};
use super::query::{
    ClauseView, FixtureView, QueryReport, QueryView, StatusView, TargetCounts, TargetView,
};
use crate::query::GivenRows;

/// The report as one offline page.
pub fn query_html(report: &QueryReport) -> String {
    let page = Page {
        kicker: "Queries",
        title: &report.name,
        facts: vec![
            ("Engine", report.engine.clone()),
            (
                "Dialect",
                page::dialect(&report.dialect, &report.dialect_evidence),
            ),
            ("Criterion", report.criterion.clone()),
            ("Algorithm", report.algorithm.clone()),
            ("Seed", report.seed.to_string()),
        ],
        command: report.command.as_deref(),
        version: &report.version,
        style: "",
        script: "",
    };
    let open = report.queries.len() == 1;
    page.render(&html! {
        (summary(report))
        (notes(report))
        h2 #queries { "Queries and targets" }
        (page::toolbar(
            report.counts().targets,
            ("target", "targets"),
            "query, column, words in a target",
        ))
        @for (number, query) in report.queries.iter().enumerate() {
            (self::query(number, query, open))
        }
    })
}

fn summary(report: &QueryReport) -> Markup {
    let counts = report.counts();
    let infeasible = match counts.infeasible {
        0 => String::new(),
        n => format!("{n} more proven infeasible"),
    };
    let feasible = counts.targets - counts.infeasible;
    let queries = report.queries.iter();
    let complete = queries
        .clone()
        .filter(|query| query.counts().open() == 0)
        .count();
    let rows = queries.clone().map(QueryView::rows).sum();
    let fixtures = queries.clone().map(|query| query.fixtures.len()).sum();
    let fixtures = format!("in {}", plural(fixtures, "fixture"));
    let evaluations: u64 = queries.map(|query| query.evaluations).sum();
    let evaluations = usize::try_from(evaluations).unwrap_or(usize::MAX);
    let tiles = html! {
        (meter("Targets covered", counts.covered, feasible, &infeasible))
        (meter("Fully covered queries", complete, report.queries.len(), ""))
        (tile(rows, "row", "rows", &fixtures))
        (tile(evaluations, "evaluation", "evaluations", &format!("{:.1} ms", report.millis)))
    };
    page::summary(
        &tiles,
        &html! { @if report.queries.len() > 1 { (index(report)) } },
    )
}

/// All queries in one table, each a link to its part of the page.
fn index(report: &QueryReport) -> Markup {
    let rows = html! {
        @for (number, query) in report.queries.iter().enumerate() {
            @let counts = query.counts();
            tr {
                th scope="row" { a href={ "#q" (number) } { (query.id) } }
                td { (counts.covered) " of " (counts.targets) }
                td { (counts.infeasible) }
                td { (counts.open()) }
                td { (query.rows()) }
            }
        }
    };
    let heads = ["Query", "Covered", "Infeasible", "Open", "Rows"];
    html! { div.index { (page::table("All queries", &heads, &rows)) } }
}

fn notes(report: &QueryReport) -> Markup {
    let unreadable = report.unreadable.iter().map(|query| {
        html! {
            strong { (query.id) } " at " code { (query.location) }
            br;
            (sentence(&query.why))
        }
    });
    let disagreements = report.disagreements.iter().map(|text| sentence(text));
    let remarks = report.notes.iter().map(|text| sentence(text));
    html! {
        (list_note("unreadable", "Not read", &unreadable.collect::<Vec<_>>(), true))
        (list_note(
            "disagreements",
            "Where Isobath and the engine disagree",
            &disagreements.collect::<Vec<_>>(),
            true,
        ))
        (list_note("remarks", "Remarks", &remarks.collect::<Vec<_>>(), true))
    }
}

/// How well a part is covered, as a class and in words.
fn state(counts: TargetCounts) -> (&'static str, String) {
    let class = match (counts.covered, counts.open(), counts.infeasible) {
        (0, 0, _) => "infeasible",
        (_, 0, _) => "covered",
        (0, ..) => "open",
        _ => "partly",
    };
    let mut words = format!("{} of {} targets covered", counts.covered, counts.targets);
    if counts.infeasible > 0 {
        words.push_str(&format!(", {} infeasible", counts.infeasible));
    }
    if counts.open() > 0 {
        words.push_str(&format!(", {} open", counts.open()));
    }
    (class, words)
}

fn query(number: usize, query: &QueryView, open: bool) -> Markup {
    let (class, words) = state(query.counts());
    html! {
        details.table.query id={ "q" (number) } open[open] {
            summary {
                h3 { (query.id) } " "
                span.dot.(class) aria-hidden="true" {}
                span.count { (words) " · " (plural(query.rows(), "row")) " · " (query.location) }
            }
            pre.sql tabindex="0" aria-label="The query" { code { (marked(number, query)) } }
            p.legend {
                span.m.covered { "covered" } " "
                span.m.partly { "partly covered" } " "
                span.m.open { "not covered" } " "
                span.m.infeasible { "cannot be covered" }
            }
            @for (index, clause) in query.clauses.iter().enumerate() {
                (self::clause(number, index, clause, query))
            }
            @for (at, fixture) in query.fixtures.iter().enumerate() {
                (self::fixture(number, at, fixture))
            }
        }
    }
}

/// The text of a query in which every part that targets are about is a link to them. Where parts
/// lie inside each other, the innermost one is meant.
fn marked(number: usize, query: &QueryView) -> Markup {
    let sql = &query.sql;
    let mut edges: Vec<usize> = vec![0, sql.len()];
    let ranges: Vec<(usize, usize, (usize, &ClauseView))> = query
        .clauses
        .iter()
        .enumerate()
        .filter_map(|(index, clause)| {
            let (start, end) = clause.range?;
            (sql.get(start..end).is_some() && start < end).then_some((start, end, (index, clause)))
        })
        .collect();
    for (start, end, _) in &ranges {
        edges.extend([*start, *end]);
    }
    edges.sort_unstable();
    edges.dedup();
    let innermost = |from: usize, to: usize| {
        let around = ranges
            .iter()
            .filter(|range| range.0 <= from && to <= range.1);
        around.min_by_key(|range| range.1 - range.0)
    };
    html! {
        @for (from, to) in edges.iter().zip(edges.iter().skip(1)) {
            @let text = sql.get(*from..*to).unwrap_or_default();
            @match innermost(*from, *to) {
                Some((.., (index, clause))) if !text.trim().is_empty() => {
                    @let (class, words) = state(clause.counts());
                    a.m.(class) href={ "#q" (number) "c" (index) } title=(words) { (text) }
                },
                _ => (text),
            }
        }
    }
}

fn clause(number: usize, index: usize, clause: &ClauseView, query: &QueryView) -> Markup {
    let (class, words) = state(clause.counts());
    html! {
        section.clause.tests id={ "q" (number) "c" (index) } {
            h4 {
                span.kind { (clause.kind) } " " code { (clause.text) } " "
                span.dot.(class) aria-hidden="true" {}
                span.count { (words) }
            }
            @for target in &clause.targets { (self::target(number, target, query)) }
        }
    }
}

fn target(number: usize, target: &TargetView, query: &QueryView) -> Markup {
    let (class, label, why) = match &target.verdict {
        StatusView::Covered { .. } => ("covered", "covered", ""),
        StatusView::Infeasible { proof } => ("infeasible", "infeasible", proof.as_str()),
        StatusView::Uncovered { why } => ("open", "not covered", why.as_str()),
    };
    let description = if target.description.is_empty() {
        &target.sql
    } else {
        &target.description
    };
    let fixture = match target.verdict {
        StatusView::Covered { fixture: at } => query.fixtures.get(at).map(|fixture| (at, fixture)),
        _ => None,
    };
    html! {
        details.test {
            summary {
                span.verdict.(class) { (label) } " " (sentence(description)) " "
                span.count { (target.rule) }
            }
            @if !why.is_empty() { p.remark { (sentence(why)) } }
            @if let Some((at, fixture)) = fixture {
                div.rows {
                    (given(if target.rows.is_empty() { &fixture.given } else { &target.rows }))
                    (parameters(fixture))
                }
                p.remark { "In " a href={ "#q" (number) "f" (at) } { "fixture " (at + 1) } "." }
            }
            (snippet(&target.sql, "the target"))
        }
    }
}

/// All rows of a fixture, and what the query makes of them.
fn fixture(number: usize, at: usize, fixture: &FixtureView) -> Markup {
    html! {
        section.clause id={ "q" (number) "f" (at) } {
            h4 { "Fixture " (at + 1) }
            div.rows {
                (given(&fixture.given))
                (parameters(fixture))
                @if let Some(result) = &fixture.result {
                    (small_table("the query returns", "result", &fixture.columns, result))
                }
            }
        }
    }
}

fn given(given: &[GivenRows]) -> Markup {
    html! {
        @if given.is_empty() { p.remark { "No table has a row." } }
        @for given in given {
            @let rows: Vec<Vec<_>> = given.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
            (small_table(&given.table, "", &given.columns, &rows))
        }
    }
}

fn parameters(fixture: &FixtureView) -> Markup {
    let (names, values): (Vec<String>, Vec<Option<String>>) = fixture
        .parameters
        .iter()
        .map(|(name, value)| (name.clone(), cell(value)))
        .unzip();
    html! { @if !names.is_empty() { (small_table("parameters", "", &names, &[values])) } }
}

fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn small_table(
    caption: &str,
    class: &str,
    columns: &[String],
    rows: &[Vec<Option<String>>],
) -> Markup {
    html! {
        div class={ "scroll small " (class) } tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                @if rows.is_empty() {
                    tbody { tr { td.null { "no row" } } }
                } @else {
                    thead { tr { @for column in columns { th scope="col" { (column) } } } }
                    tbody {
                        @for row in rows {
                            tr {
                                @for cell in row {
                                    @match cell.as_deref() {
                                        Some("") => td.null { "''" },
                                        Some(text) => td { (text) },
                                        None => td.null { "NULL" },
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
