//! The report of queries as one self-contained HTML file.

use std::fmt::Write;

use serde_json::Value;

use super::page::{self, escape, fact, meter, snippet, tile};
use super::query::{
    ClauseView, FixtureView, QueryReport, QueryView, StatusView, TargetCounts, TargetView,
};
use crate::query::GivenRows;

/// The report as one offline page.
pub fn query_html(report: &QueryReport) -> String {
    let mut out = page::open(&report.name);
    header(&mut out, report);
    out.push_str("<main id=\"main\">\n");
    summary(&mut out, report);
    notes(&mut out, report);
    let counts = report.counts();
    out.push_str("<h2 id=\"queries\">Queries and targets</h2>\n");
    let hint = "query, column, words in a target";
    page::toolbar(&mut out, counts.targets, ("target", "targets"), hint);
    let open = report.queries.len() == 1;
    for (number, query) in report.queries.iter().enumerate() {
        self::query(&mut out, number, query, open);
    }
    page::close(&mut out, &report.version);
    out
}

fn header(out: &mut String, report: &QueryReport) {
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">Queries</p>\n<h1>{}</h1>\n<dl class=\"facts\">\n",
        escape(&report.name)
    );
    fact(out, "Engine", &report.engine);
    let dialect = if report.dialect_evidence.is_empty() {
        report.dialect.clone()
    } else {
        format!("{} ({})", report.dialect, report.dialect_evidence)
    };
    fact(out, "Dialect", &dialect);
    fact(out, "Criterion", &report.criterion);
    fact(out, "Algorithm", &report.algorithm);
    fact(out, "Seed", &report.seed.to_string());
    out.push_str("</dl>\n");
    if let Some(command) = &report.command {
        snippet(out, &escape(command), "the command");
    }
    out.push_str("</header>\n");
}

fn summary(out: &mut String, report: &QueryReport) {
    let counts = report.counts();
    out.push_str("<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n<div class=\"tiles\">\n");
    let more = match counts.infeasible {
        0 => String::new(),
        n => format!("{n} more proven infeasible"),
    };
    let feasible = counts.targets - counts.infeasible;
    meter(out, "Targets covered", counts.covered, feasible, &more);
    let complete = report
        .queries
        .iter()
        .filter(|query| query.counts().open() == 0);
    meter(
        out,
        "Fully covered queries",
        complete.count(),
        report.queries.len(),
        "",
    );
    let rows = report.queries.iter().map(QueryView::rows).sum();
    let fixtures: usize = report
        .queries
        .iter()
        .map(|query| query.fixtures.len())
        .sum();
    let fixtures = format!("in {}", plural(fixtures, "fixture"));
    tile(out, rows, "row", "rows", &fixtures);
    let evaluations: u64 = report.queries.iter().map(|query| query.evaluations).sum();
    let evaluations = usize::try_from(evaluations).unwrap_or(usize::MAX);
    let millis = format!("{:.1} ms", report.millis);
    tile(out, evaluations, "evaluation", "evaluations", &millis);
    out.push_str("</div>\n");
    if report.queries.len() > 1 {
        index(out, report);
    }
    out.push_str("</section>\n");
}

/// All queries in one table, each a link to its part of the page.
fn index(out: &mut String, report: &QueryReport) {
    out.push_str(
        "<div class=\"scroll index\" tabindex=\"0\" role=\"region\" aria-label=\"All queries\"><table>\n\
         <thead><tr><th scope=\"col\">Query</th><th scope=\"col\">Covered</th>\
         <th scope=\"col\">Infeasible</th><th scope=\"col\">Open</th><th scope=\"col\">Rows</th></tr></thead>\n<tbody>\n",
    );
    for (number, query) in report.queries.iter().enumerate() {
        let counts = query.counts();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><a href=\"#q{number}\">{}</a></th><td>{} of {}</td><td>{}</td>\
             <td>{}</td><td>{}</td></tr>",
            escape(&query.id),
            counts.covered,
            counts.targets,
            counts.infeasible,
            counts.open(),
            query.rows()
        );
    }
    out.push_str("</tbody></table></div>\n");
}

fn notes(out: &mut String, report: &QueryReport) {
    let unreadable = report.unreadable.iter().map(|query| {
        format!(
            "<strong>{}</strong> at <code>{}</code><br>{}",
            escape(&query.id),
            escape(&query.location),
            sentence(&query.why)
        )
    });
    note(out, "Not read", unreadable.collect());
    let disagreements = report.disagreements.iter().map(|said| sentence(said));
    note(
        out,
        "Where Isobath and the engine disagree",
        disagreements.collect(),
    );
    let notes = report.notes.iter().map(|remark| sentence(remark));
    note(out, "Remarks", notes.collect());
}

fn note(out: &mut String, title: &str, items: Vec<String>) {
    if items.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<details class=\"note\" open>\n<summary><h2>{title}</h2> <span class=\"count\">{}</span></summary>\n<ul>\n",
        items.len()
    );
    for item in items {
        let _ = writeln!(out, "<li>{item}</li>");
    }
    out.push_str("</ul>\n</details>\n");
}

fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
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
        let _ = write!(words, ", {} infeasible", counts.infeasible);
    }
    if counts.open() > 0 {
        let _ = write!(words, ", {} open", counts.open());
    }
    (class, words)
}

fn query(out: &mut String, number: usize, query: &QueryView, open: bool) {
    let (class, words) = state(query.counts());
    let _ = write!(
        out,
        "<details class=\"table query\" id=\"q{number}\"{}>\n<summary><h3>{}</h3> \
         <span class=\"dot {class}\" aria-hidden=\"true\"></span><span class=\"count\">{words} · {} · {}</span></summary>\n",
        if open { " open" } else { "" },
        escape(&query.id),
        plural(query.rows(), "row"),
        escape(&query.location)
    );
    let _ = writeln!(
        out,
        "<pre class=\"sql\" tabindex=\"0\" aria-label=\"The query\"><code>{}</code></pre>\n\
         <p class=\"legend\"><span class=\"m covered\">covered</span> \
         <span class=\"m partly\">partly covered</span> <span class=\"m open\">not covered</span> \
         <span class=\"m infeasible\">cannot be covered</span></p>",
        marked(number, query)
    );
    for (index, clause) in query.clauses.iter().enumerate() {
        self::clause(out, number, index, clause, query);
    }
    for (at, fixture) in query.fixtures.iter().enumerate() {
        self::fixture(out, number, at, fixture);
    }
    out.push_str("</details>\n");
}

/// The text of a query in which every part that targets are about is a link to them. Where parts
/// lie inside each other, the innermost one is meant.
fn marked(number: usize, query: &QueryView) -> String {
    let sql = &query.sql;
    let mut edges: Vec<usize> = vec![0, sql.len()];
    let ranges: Vec<(usize, usize, usize)> = query
        .clauses
        .iter()
        .enumerate()
        .filter_map(|(index, clause)| {
            let (start, end) = clause.range?;
            (sql.get(start..end).is_some() && start < end).then_some((start, end, index))
        })
        .collect();
    for (start, end, _) in &ranges {
        edges.extend([*start, *end]);
    }
    edges.sort_unstable();
    edges.dedup();
    let mut out = String::new();
    for pair in edges.windows(2) {
        let text = escape(&sql[pair[0]..pair[1]]);
        let inside = |range: &&(usize, usize, usize)| range.0 <= pair[0] && pair[1] <= range.1;
        let innermost = ranges
            .iter()
            .filter(inside)
            .min_by_key(|range| range.1 - range.0);
        match innermost {
            Some((.., index)) if !text.trim().is_empty() => {
                let (class, words) = state(query.clauses[*index].counts());
                let _ = write!(
                    out,
                    "<a class=\"m {class}\" href=\"#q{number}c{index}\" title=\"{words}\">{text}</a>"
                );
            }
            _ => out.push_str(&text),
        }
    }
    out
}

fn clause(out: &mut String, number: usize, index: usize, clause: &ClauseView, query: &QueryView) {
    let (class, words) = state(clause.counts());
    let _ = write!(
        out,
        "<section class=\"clause tests\" id=\"q{number}c{index}\">\n<h4><span class=\"kind\">{}</span> \
         <code>{}</code> <span class=\"dot {class}\" aria-hidden=\"true\"></span>\
         <span class=\"count\">{words}</span></h4>\n",
        escape(&clause.kind),
        escape(&clause.text)
    );
    for target in &clause.targets {
        self::target(out, number, target, query);
    }
    out.push_str("</section>\n");
}

fn target(out: &mut String, number: usize, target: &TargetView, query: &QueryView) {
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
    let _ = writeln!(
        out,
        "<details class=\"test\"><summary><span class=\"verdict {class}\">{label}</span> {} \
         <span class=\"count\">{}</span></summary>",
        sentence(description),
        escape(&target.rule)
    );
    if !why.is_empty() {
        let _ = writeln!(out, "<p class=\"remark\">{}</p>", sentence(why));
    }
    if let StatusView::Covered { fixture: at } = target.verdict
        && let Some(fixture) = query.fixtures.get(at)
    {
        out.push_str("<div class=\"rows\">\n");
        if target.rows.is_empty() {
            given(out, &fixture.given);
        } else {
            given(out, &target.rows);
        }
        parameters(out, fixture);
        out.push_str("</div>\n");
        let _ = writeln!(
            out,
            "<p class=\"remark\">In <a href=\"#q{number}f{at}\">fixture {}</a>.</p>",
            at + 1
        );
    }
    snippet(out, &escape(&target.sql), "the target");
    out.push_str("</details>\n");
}

/// A sentence with its `code` as code.
fn sentence(text: &str) -> String {
    let mut out = String::new();
    for (index, piece) in text.split('`').enumerate() {
        if index % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escape(piece));
        } else {
            out.push_str(&escape(piece));
        }
    }
    out
}

/// All rows of a fixture, and what the query makes of them.
fn fixture(out: &mut String, number: usize, at: usize, fixture: &FixtureView) {
    let _ = write!(
        out,
        "<section class=\"clause\" id=\"q{number}f{at}\">\n<h4>Fixture {}</h4>\n<div class=\"rows\">\n",
        at + 1
    );
    given(out, &fixture.given);
    parameters(out, fixture);
    if let Some(result) = &fixture.result {
        small_table(
            out,
            "the query returns",
            "result",
            &fixture.columns,
            result.clone(),
        );
    }
    out.push_str("</div>\n</section>\n");
}

fn given(out: &mut String, given: &[GivenRows]) {
    if given.is_empty() {
        out.push_str("<p class=\"remark\">No table has a row.</p>\n");
    }
    for given in given {
        let rows = given.rows.iter().map(|row| row.iter().map(cell).collect());
        small_table(out, &given.table, "", &given.columns, rows.collect());
    }
}

fn parameters(out: &mut String, fixture: &FixtureView) {
    if fixture.parameters.is_empty() {
        return;
    }
    let (names, values): (Vec<String>, Vec<Option<String>>) = fixture
        .parameters
        .iter()
        .map(|(name, value)| (name.clone(), cell(value)))
        .unzip();
    small_table(out, "parameters", "", &names, vec![values]);
}

fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn small_table(
    out: &mut String,
    caption: &str,
    class: &str,
    columns: &[String],
    rows: Vec<Vec<Option<String>>>,
) {
    let _ = write!(
        out,
        "<div class=\"scroll small {class}\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}</caption>",
        escape(caption)
    );
    if rows.is_empty() {
        out.push_str("<tbody><tr><td class=\"null\">no row</td></tr></tbody></table></div>\n");
        return;
    }
    out.push_str("<thead><tr>");
    for column in columns {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(column));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            match cell {
                Some(text) if text.is_empty() => out.push_str("<td class=\"null\">''</td>"),
                Some(text) => {
                    let _ = write!(out, "<td>{}</td>", escape(&text));
                }
                None => out.push_str("<td class=\"null\">NULL</td>"),
            }
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>\n");
}
