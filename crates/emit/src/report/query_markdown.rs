//! The report of queries as Markdown, for a pull request or a terminal.

use std::fmt::Write;

use serde_json::Value;

use super::markdown::{code, fenced, inline};
use super::query::{FixtureView, QueryReport, QueryView, StatusView};

/// The report as GitHub-flavoured Markdown.
pub fn query_markdown(report: &QueryReport) -> String {
    let mut out = format!("# Queries of {}\n\n", inline(&report.name));
    let counts = report.counts();
    let _ = writeln!(
        out,
        "{} of {} targets covered, {} proven infeasible, {} open. Read as {}; engine {}; criterion {}; \
         algorithm {}; seed {}; Isobath {}.\n",
        counts.covered,
        counts.targets,
        counts.infeasible,
        counts.open(),
        inline(&report.dialect),
        inline(&report.engine),
        inline(&report.criterion),
        inline(&report.algorithm),
        report.seed,
        inline(&report.version)
    );
    if let Some(command) = &report.command {
        fenced(&mut out, "sh", std::slice::from_ref(command), "");
    }
    out.push_str("| Query | Targets | Covered | Infeasible | Open | Rows |\n|---|---:|---:|---:|---:|---:|\n");
    for query in &report.queries {
        let counts = query.counts();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            inline(&query.id),
            counts.targets,
            counts.covered,
            counts.infeasible,
            counts.open(),
            query.rows()
        );
    }
    out.push('\n');
    for unreadable in &report.unreadable {
        let _ = writeln!(
            out,
            "- **not read**: {} at {}: {}",
            inline(&unreadable.id),
            code(&unreadable.location),
            prose(&unreadable.why)
        );
    }
    for remark in report.disagreements.iter().chain(&report.notes) {
        let _ = writeln!(out, "- {}", prose(remark));
    }
    for query in &report.queries {
        self::query(&mut out, query);
    }
    out
}

fn query(out: &mut String, query: &QueryView) {
    let _ = write!(out, "\n## {}\n\n", inline(&query.id));
    fenced(out, "sql", std::slice::from_ref(&query.sql), "");
    for clause in &query.clauses {
        let text = if clause.text.is_empty() {
            String::new()
        } else {
            code(&clause.text)
        };
        let _ = write!(out, "**{}** {text}\n\n", inline(&clause.kind));
        for target in &clause.targets {
            let description = if target.description.is_empty() {
                code(&target.sql)
            } else {
                prose(&target.description)
            };
            let verdict = match &target.verdict {
                StatusView::Covered { fixture } => format!("covered by fixture {}", fixture + 1),
                StatusView::Infeasible { proof } => format!("infeasible: {}", prose(proof)),
                StatusView::Uncovered { why } if why.is_empty() => "not covered".to_owned(),
                StatusView::Uncovered { why } => format!("not covered: {}", prose(why)),
            };
            let _ = writeln!(out, "- {description} — {verdict}");
        }
        out.push('\n');
    }
    for (number, fixture) in query.fixtures.iter().enumerate() {
        self::fixture(out, number, fixture);
    }
}

fn fixture(out: &mut String, number: usize, fixture: &FixtureView) {
    let _ = write!(out, "### Fixture {}\n\n", number + 1);
    for given in &fixture.given {
        let rows = given.rows.iter().map(|row| row.iter().map(text).collect());
        table(out, &given.table, &given.columns, rows.collect());
    }
    for (name, value) in &fixture.parameters {
        let _ = write!(out, "With {} = {}.\n\n", code(name), code(&text(value)));
    }
    if let Some(result) = &fixture.result {
        let cell = |cell: &Option<String>| cell.clone().unwrap_or_else(|| "NULL".to_owned());
        let rows = result.iter().map(|row| row.iter().map(cell).collect());
        table(out, "the query returns", &fixture.columns, rows.collect());
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn table(out: &mut String, name: &str, columns: &[String], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        let _ = write!(out, "{}: no row.\n\n", inline(name));
        return;
    }
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| inline(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let _ = write!(out, "{}:\n\n{}|", inline(name), line(columns));
    out.push_str(&"---|".repeat(columns.len().max(1)));
    out.push('\n');
    for row in rows {
        out.push_str(&line(&row));
    }
    out.push('\n');
}

/// A sentence whose code stays code.
fn prose(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    pieces
        .map(|(index, piece)| {
            if index % 2 == 1 {
                return code(piece);
            }
            // The blanks beside code stay.
            let is_blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
            let before = is_blank(piece.chars().next());
            let after = is_blank(piece.chars().next_back()) && !piece.trim().is_empty();
            let blank = |wanted: bool| if wanted { " " } else { "" };
            format!("{}{}{}", blank(before), inline(piece.trim()), blank(after))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn code_in_a_sentence_keeps_the_blanks_around_it() {
        let sentence = "the target requires `a = 1` and `b *\n2`; no value";
        let expected = "the target requires `a = 1` and `b * 2`; no value";
        assert_eq!(prose(sentence), expected);
        assert_eq!(prose("`a` `b`*"), "`a` `b`\\*");
    }
}
