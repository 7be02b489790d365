//! Output of a run: a JSON object per query, or a few lines for the terminal.

use isobath_emit::report::query::{QueryReport, QueryView, StatusView, TargetView};
use isobath_rows::query::job::{CoverageOutcome, TargetStatus};
use isobath_rows::query::mutation::MutationAnalysis;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::ddl::{LoadedSchema, Source};
use serde_json::json;

use super::args::QueryOptions;
use super::files::{WrittenFiles, quoted};
use super::run::is_open;
use crate::terminal::{Terminal, Tone, plural};

/// At most this many targets of a kind are shown per query; the report has them all.
const SHOWN: usize = 3;

/// The object that `--json` prints for a query.
pub(crate) fn object(
    id: &str,
    targets: &[QueryTarget],
    outcome: &CoverageOutcome,
    mutants: Option<&MutationAnalysis>,
    millis: f64,
) -> String {
    let open = outcome.statuses.iter().zip(targets);
    let uncovered: Vec<_> = open
        .filter(|(status, _)| is_open(status))
        .map(|(status, target)| match status {
            TargetStatus::Uncovered { reason } => {
                json!({ "sql": target.sql, "why": reason.to_string() })
            }
            _ => json!({ "sql": target.sql }),
        })
        .collect();
    let mut object = json!({
        "id": id,
        "targets": targets.len(),
        "covered": outcome.covered(),
        "infeasible": outcome.infeasible(),
        "uncovered": uncovered,
        "rows": outcome.rows(),
        "evaluations": outcome.evaluations,
        "millis": (millis * 1e3).round() / 1e3,
    });
    if let Some(mutants) = mutants {
        let counts = mutants.counts();
        let survivors = mutants.survivors().map(|(mutant, _)| {
            json!({
                "operator": mutant.operator.to_string(),
                "description": mutant.description,
                "sql": mutant.sql,
            })
        });
        object["mutants"] = json!({
            "killed": counts.killed,
            "equivalent": counts.equivalent,
            "alive": counts.alive,
            "unsupported": counts.unsupported,
            "survivors": survivors.collect::<Vec<_>>(),
        });
    }
    object.to_string()
}

/// The outcome of the mutants of a query.
pub(crate) fn mutants(analysis: &MutationAnalysis, terminal: &Terminal) {
    let counts = analysis.counts();
    let mut line = format!(
        "    {} of {} mutants killed",
        counts.killed,
        analysis.mutants.len()
    );
    let others = [
        (counts.equivalent, "proven equivalent"),
        (counts.alive, "alive"),
        (counts.unsupported, "not evaluated"),
    ];
    for (count, what) in others.into_iter().filter(|(count, _)| *count > 0) {
        line.push_str(&format!(", {count} {what}"));
    }
    let survive = counts.alive + counts.unsupported > 0;
    terminal.say(if survive { Tone::Warning } else { Tone::Good }, &line);
    for (mutant, _) in analysis.survivors().take(SHOWN) {
        let line = format!("      alive: {}: {}", mutant.operator, mutant.description);
        terminal.say(Tone::Warning, &line);
    }
}

/// What is about to happen.
pub(crate) fn head(
    options: &QueryOptions,
    loaded: &LoadedSchema,
    sources: &[Source],
    terminal: &Terminal,
) {
    let tables = loaded.schema.tables.len();
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let names = match names.as_slice() {
        [one] => (*one).to_owned(),
        more => format!("{} files", more.len()),
    };
    let line = format!(
        "{names}: {tables} {}; dialect {} ({}); seed {}",
        if tables == 1 { "table" } else { "tables" },
        loaded.dialect,
        loaded.evidence,
        options.seed
    );
    terminal.say(Tone::Faint, &line);
}

/// One query.
pub(crate) fn query(view: &QueryView, width: usize, terminal: &Terminal) {
    let counts = view.counts();
    let mut line = format!(
        "  {:width$}  {} of {} targets covered",
        view.id, counts.covered, counts.targets
    );
    if counts.infeasible > 0 {
        line.push_str(&format!(", {} infeasible", counts.infeasible));
    }
    if counts.open() > 0 {
        line.push_str(&format!(", {} open", counts.open()));
    }
    line.push_str(&format!(
        "; {} in {}",
        plural(view.rows(), "row"),
        plural(view.fixtures.len(), "fixture")
    ));
    let tone = if counts.open() == 0 {
        Tone::Good
    } else {
        Tone::Warning
    };
    terminal.say(tone, &line);
    let targets = || view.clauses.iter().flat_map(|clause| &clause.targets);
    let infeasible = targets().filter_map(|target| match &target.verdict {
        StatusView::Infeasible { proof } => Some((target, "infeasible", proof)),
        _ => None,
    });
    list(infeasible.collect(), Tone::Faint, terminal);
    let open = targets().filter_map(|target| match &target.verdict {
        StatusView::Uncovered { why } => Some((target, "open", why)),
        _ => None,
    });
    list(open.collect(), Tone::Warning, terminal);
}

fn list(targets: Vec<(&TargetView, &str, &String)>, tone: Tone, terminal: &Terminal) {
    for (target, label, why) in targets.iter().take(SHOWN) {
        let says = if target.description.is_empty() {
            &target.sql
        } else {
            &target.description
        };
        terminal.say(tone, &format!("    {label}: {says}"));
        if !why.is_empty() {
            terminal.say(Tone::Faint, &format!("      {why}"));
        }
    }
    if targets.len() > SHOWN {
        let more = targets.len() - SHOWN;
        terminal.say(Tone::Faint, &format!("    and {more} more, in the report"));
    }
}

/// All of them, where the files are, and what to do next.
pub(crate) fn whole(
    report: &QueryReport,
    written: Option<&WrittenFiles>,
    options: &QueryOptions,
    terminal: &Terminal,
) {
    let counts = report.counts();
    let rows: usize = report.queries.iter().map(QueryView::rows).sum();
    let evaluations: u64 = report.queries.iter().map(|query| query.evaluations).sum();
    let mut line = format!(
        "{}: {} of {} targets covered",
        match report.queries.len() {
            1 => "1 query".to_owned(),
            n => format!("{n} queries"),
        },
        counts.covered,
        counts.targets
    );
    if counts.infeasible > 0 {
        line.push_str(&format!(", {} proven infeasible", counts.infeasible));
    }
    if counts.open() > 0 {
        line.push_str(&format!(", {} open", counts.open()));
    }
    if !report.unreadable.is_empty() {
        line.push_str(&format!("; {} not read", report.unreadable.len()));
    }
    line.push_str(&format!(
        "; {}, {evaluations} evaluations, {:.0} ms",
        plural(rows, "row"),
        report.millis
    ));
    let tone = if counts.open() == 0 && report.unreadable.is_empty() {
        Tone::Good
    } else {
        Tone::Warning
    };
    terminal.say(tone, &line);
    if report.engine == "none" {
        let line = "not confirmed on a database; --engine sqlite, postgres or mariadb does that";
        terminal.say(Tone::Plain, line);
    } else if report.disagreements.is_empty() && counts.covered > 0 {
        let line = format!("every covered target was confirmed on {}", report.engine);
        terminal.say(Tone::Good, &line);
    }
    if let Some(written) = written {
        files(written, options, terminal);
    }
}

fn files(written: &WrittenFiles, options: &QueryOptions, terminal: &Terminal) {
    let folder = written.folder.display();
    terminal.say(Tone::Plain, &format!("wrote {folder}"));
    let report = written.folder.join("report.html");
    terminal.say(Tone::Plain, &format!("  {}", report.display()));
    for file in &written.tests {
        terminal.say(Tone::Plain, &format!("  {}", file.display()));
    }
    if options.lang.iter().any(|lang| lang == "json") && !written.tests.is_empty() {
        let queries: Vec<String> = options.query_paths().map(|path| quoted(path)).collect();
        let schema: Vec<String> = options.schema.iter().map(|path| quoted(path)).collect();
        let next = format!(
            "next: read the report; after a change, isobath query check {} --schema {} --queries {}",
            quoted(&written.folder),
            schema.join(" "),
            queries.join(" ")
        );
        terminal.say(Tone::Faint, &next);
    }
}
