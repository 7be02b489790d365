//! The report as one self-contained HTML file.

use std::fmt::Write;

use super::model::{ConstraintView, Mutation, RunReport, TableView};
use super::mutants;
use super::page::{self, escape, meter, snippet};
use crate::suite::{Expectation, Step, Test};
use crate::writer::text::{bare, expectation};

/// The report as one offline page.
pub fn html(report: &RunReport) -> String {
    let mut out = String::with_capacity(32 * 1024 + 1024 * report.tests.len());
    let title = escape(&report.schema);
    out.push_str(&page::open(&report.schema));
    header(&mut out, report, &title);
    out.push_str("<main id=\"main\">\n");
    summary(&mut out, report);
    notes(&mut out, report);
    if let Some(mutation) = &report.mutation {
        mutants::section(&mut out, mutation, &report.tests);
    }
    toolbar(&mut out, report);
    tables(&mut out, report);
    page::close(&mut out, &report.version);
    out
}

fn header(out: &mut String, report: &RunReport, title: &str) {
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">Integrity constraints</p>\n<h1>{title}</h1>\n<dl class=\"facts\">\n"
    );
    let mut fact = |name: &str, value: &str| page::fact(out, name, value);
    fact("Engine", &report.engine);
    let dialect = if report.dialect_evidence.is_empty() {
        report.dialect.clone()
    } else {
        format!("{} ({})", report.dialect, report.dialect_evidence)
    };
    fact("Dialect", &dialect);
    fact("Criterion", &report.criterion);
    fact("Generator", &report.generator);
    fact("Seed", &report.seed.to_string());
    if let Some(millis) = report.totals.millis {
        fact("Time", &format!("{millis} ms"));
    }
    out.push_str("</dl>\n");
    if let Some(command) = &report.command {
        snippet(out, &escape(command), "the command");
    }
    out.push_str("</header>\n");
}

fn summary(out: &mut String, report: &RunReport) {
    let totals = &report.totals;
    out.push_str("<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n<div class=\"tiles\">\n");
    let feasible = totals.requirements.saturating_sub(totals.infeasible);
    meter(
        out,
        "Requirements covered",
        totals.covered,
        feasible,
        &match totals.infeasible {
            0 => String::new(),
            n => format!("{n} more proven infeasible"),
        },
    );
    if let Some(mutation) = &report.mutation {
        let mut more = Vec::new();
        if mutation.equivalent > 0 {
            more.push(format!("{} equivalent", mutation.equivalent));
        }
        more.extend(
            mutation
                .excluded
                .iter()
                .map(|(why, n)| format!("{n} {why}")),
        );
        let more = more.join(", ");
        meter(
            out,
            "Mutants killed",
            mutation.killed,
            mutation.mutants,
            &more,
        );
    }
    let mut tile =
        |value: usize, one: &str, many: &str, more: &str| page::tile(out, value, one, many, more);
    let inserts = format!("{} INSERT statements", totals.inserts);
    tile(totals.tests, "test", "tests", &inserts);
    let columns = format!("{} columns", totals.columns);
    tile(totals.tables, "table", "tables", &columns);
    let n_constraints = totals.constraints.iter().map(|(_, n)| n).sum();
    let kinds: Vec<String> = totals
        .constraints
        .iter()
        .map(|(kind, n)| format!("{n} {kind}").replace(' ', "\u{a0}"))
        .collect();
    tile(
        n_constraints,
        "constraint",
        "constraints",
        &kinds.join(" · "),
    );
    out.push_str("</div>\n</section>\n");
}

/// The lists that ask for attention, each only when it has something to say.
fn notes(out: &mut String, report: &RunReport) {
    let items = report.uncovered.iter().map(|open| {
        let reason = open.reason.as_deref().unwrap_or("reason unknown");
        item(&open.table, &open.requirement, reason)
    });
    note(out, "uncovered", "Not covered", items.collect(), true);
    let alive = report.mutation.iter().flat_map(Mutation::alive);
    let items = alive.map(|mutant| item(&mutant.table, &mutant.description, &mutant.operator));
    note(out, "alive", "Surviving mutants", items.collect(), true);
    let items = report
        .findings
        .iter()
        .map(|finding| item(&finding.table, &finding.kind, &finding.explanation));
    note(out, "findings", "Design findings", items.collect(), true);
    let items = report.disagreements.iter().map(|disagreement| {
        let mut text = format!("<strong>{}</strong>", escape(&disagreement.test));
        snippet(&mut text, &escape(&disagreement.sql), "the statement");
        text.push_str("<dl class=\"facts\">");
        for (engine, outcome) in &disagreement.outcomes {
            let (engine, outcome) = (escape(engine), escape(outcome));
            let _ = write!(text, "<div><dt>{engine}</dt><dd>{outcome}</dd></div>");
        }
        text.push_str("</dl>");
        text
    });
    note(
        out,
        "disagreements",
        "Where engines disagree",
        items.collect(),
        true,
    );
    let items = report
        .infeasible
        .iter()
        .map(|proven| item(&proven.table, &proven.requirement, &proven.proof));
    note(
        out,
        "infeasible",
        "Proven infeasible",
        items.collect(),
        false,
    );
    let items = report.limitations.iter().map(|limitation| {
        let mut text = format!("<strong>{}</strong>", escape(&limitation.what));
        if limitation.count > 1 {
            let _ = write!(text, " ({} times)", limitation.count);
        }
        if let Some(location) = &limitation.location {
            let _ = write!(text, " at <code>{}</code>", escape(location));
        }
        if !limitation.quote.is_empty() {
            let _ = write!(
                text,
                "<pre><code>{}</code></pre>",
                escape(&limitation.quote)
            );
        }
        text
    });
    note(out, "limitations", "Limitations", items.collect(), false);
}

fn item(table: &str, what: &str, why: &str) -> String {
    let mut text = String::new();
    if !table.is_empty() {
        let _ = write!(text, "<code>{}</code> ", escape(table));
    }
    let _ = write!(text, "<strong>{}</strong>", escape(what));
    if !why.is_empty() {
        let _ = write!(text, "<br>{}", escape(why));
    }
    text
}

fn note(out: &mut String, id: &str, title: &str, items: Vec<String>, open: bool) {
    if items.is_empty() {
        return;
    }
    let open = if open && items.len() <= 12 {
        " open"
    } else {
        ""
    };
    let _ = write!(
        out,
        "<details class=\"note\" id=\"{id}\"{open}>\n<summary><h2>{title}</h2> \
         <span class=\"count\">{}</span></summary>\n<ul>\n",
        items.len()
    );
    for item in items {
        let _ = writeln!(out, "<li>{item}</li>");
    }
    out.push_str("</ul>\n</details>\n");
}

fn toolbar(out: &mut String, report: &RunReport) {
    out.push_str("<h2 id=\"tables\">Tables and tests</h2>\n");
    let hint = "table, column, words in a test name";
    page::toolbar(out, report.tests.len(), ("test", "tests"), hint);
}

/// A test with its place in the suite, which links go by.
type Numbered<'a> = (usize, &'a Test);

fn tables(out: &mut String, report: &RunReport) {
    let mut groups: Vec<(&str, Option<&TableView>, Vec<Numbered<'_>>)> = report
        .tables
        .iter()
        .map(|table| (table.name.as_str(), Some(table), Vec::new()))
        .collect();
    let mut location: std::collections::BTreeMap<&str, usize> = groups
        .iter()
        .enumerate()
        .map(|(idx, (name, ..))| (*name, idx))
        .collect();
    for (idx, test) in report.tests.iter().enumerate() {
        let at = *location.entry(test.group.as_str()).or_insert_with(|| {
            groups.push((&test.group, None, Vec::new()));
            groups.len() - 1
        });
        groups[at].2.push((idx, test));
    }
    let open = if groups.len() == 1 { " open" } else { "" };
    for (name, table, tests) in groups {
        let _ = write!(
            out,
            "<details class=\"table\"{open}>\n<summary><h3>{}</h3> <span class=\"count\">{}</span></summary>\n",
            escape(name),
            counts(table, tests.len())
        );
        if let Some(table) = table {
            self::table(out, table);
        }
        if !tests.is_empty() {
            out.push_str("<h4>Tests</h4>\n<div class=\"tests\">\n");
            for (idx, test) in tests {
                self::test(out, idx, test);
            }
            out.push_str("</div>\n");
        }
        out.push_str("</details>\n");
    }
}

fn counts(table: Option<&TableView>, n_tests: usize) -> String {
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if let Some(table) = table {
        parts.push(plural(table.constraints.len(), "constraint"));
    }
    parts.push(plural(n_tests, "test"));
    parts.join(" · ")
}

fn table(out: &mut String, table: &TableView) {
    if !table.columns.is_empty() {
        out.push_str(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Columns\"><table>\n\
             <thead><tr><th scope=\"col\">Column</th><th scope=\"col\">Type</th>\
             <th scope=\"col\">Further</th></tr></thead>\n<tbody>\n",
        );
        for column in &table.columns {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td><td>{}</td></tr>",
                escape(&column.name),
                escape(&column.data_type),
                escape(&column.notes.join(", "))
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    for constraint in &table.constraints {
        self::constraint(out, constraint);
    }
}

fn constraint(out: &mut String, constraint: &ConstraintView) {
    let _ = write!(
        out,
        "<section class=\"constraint\">\n<h4><span class=\"kind\">{}</span> {}</h4>\n",
        escape(&constraint.kind),
        escape(constraint.name.as_deref().unwrap_or_default())
    );
    if !constraint.definition.is_empty() {
        let definition = escape(&constraint.definition);
        let _ = writeln!(out, "<p><code>{definition}</code></p>");
    }
    if !constraint.accepting.is_empty() || !constraint.rejecting.is_empty() {
        out.push_str("<div class=\"pair\">\n");
        example(out, "accepted", "Accepted", &constraint.accepting);
        example(out, "rejected", "Rejected", &constraint.rejecting);
        out.push_str("</div>\n");
    }
    if let Some(note) = &constraint.note {
        let _ = writeln!(out, "<p class=\"remark\">{}</p>", escape(note));
    }
    out.push_str("</section>\n");
}

fn example(out: &mut String, class: &str, label: &str, statements: &[String]) {
    if statements.is_empty() {
        return;
    }
    let _ = writeln!(out, "<div><p class=\"verdict {class}\">{label}</p>");
    snippet(
        out,
        &script(statements.iter().map(String::as_str)),
        "the statements",
    );
    out.push_str("</div>\n");
}

fn test(out: &mut String, idx: usize, test: &Test) {
    let verdict = match test.steps.last().map(|step| &step.expect) {
        Some(Expectation::Rejected(_)) => ("rejected", "rejects"),
        Some(Expectation::Rows { .. }) => ("accepted", "leaves rows"),
        _ => ("accepted", "accepts"),
    };
    let _ = writeln!(
        out,
        "<details class=\"test\" id=\"test-{idx}\"><summary><span class=\"verdict {}\">{}</span> {}</summary>",
        verdict.0,
        verdict.1,
        escape(&test.name)
    );
    if !test.covers.is_empty() {
        out.push_str("<ul class=\"covers\">");
        for covered in &test.covers {
            let _ = write!(out, "<li>{}</li>", escape(covered));
        }
        out.push_str("</ul>\n");
    }
    let mut sql = String::new();
    for step in &test.steps {
        self::step(&mut sql, step);
    }
    snippet(out, sql.trim_end(), "the statements");
    out.push_str("</details>\n");
}

fn step(sql: &mut String, step: &Step) {
    if !step.sql.is_empty() {
        sql.push_str(&script(step.sql.iter().map(String::as_str)));
        let words = match &step.expect {
            Expectation::Rejected(rejection) => {
                let state = rejection.sqlstate.clone();
                let code = state.or_else(|| rejection.code.map(|code| code.to_string()));
                let code = code.map(|code| format!(" ({code})"));
                expectation(&step.expect) + &code.unwrap_or_default()
            }
            other => expectation(other),
        };
        let _ = writeln!(sql, " <i>-- {}</i>", escape(&words));
    }
    if let Expectation::Rows { query, rows } = &step.expect {
        let _ = write!(sql, "{};\n<i>", escape(bare(query)));
        for row in rows {
            let cells: Vec<&str> = row
                .iter()
                .map(|cell| cell.as_deref().unwrap_or("NULL"))
                .collect();
            let _ = writeln!(sql, "-- {}", escape(&cells.join(" | ").replace('\n', "⏎")));
        }
        sql.push_str("</i>");
    }
}

/// Statements as escaped text, one below the other.
fn script<'a>(statements: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<String> = statements.map(|sql| escape(bare(sql)) + ";").collect();
    lines.join("\n")
}
