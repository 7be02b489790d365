//! `isobath schema diff`: rows that a schema change makes accepted or rejected.

use std::path::Path;

use isobath_exec::Engine;
use isobath_rows::schema::diff::{diff, failing_tests};
use isobath_rows::schema::run::run as run_schema;
use isobath_sql::{DialectName, Schema, render};

use super::args::SchemaOptions;
use super::run::{self, SchemaRunError};
use crate::exit::Exit;
use crate::terminal::{Terminal, Tone};

/// Compares two versions of a schema.
pub(crate) fn run(old: &Path, new: &Path, options: &SchemaOptions, terminal: &Terminal) -> Exit {
    match compare(old, new, options, terminal) {
        Ok(exit) => exit,
        Err(error) => run::fail(&error, terminal),
    }
}

fn compare(
    old: &Path,
    new: &Path,
    options: &SchemaOptions,
    terminal: &Terminal,
) -> Result<Exit, SchemaRunError> {
    let plan = run::plan(options)?;
    let (old, old_sources) = run::load(old, options)?;
    let (new, new_sources) = run::load(new, options)?;
    terminal.limitations(&old.limitations, &old_sources);
    terminal.limitations(&new.limitations, &new_sources);
    let rules = options.engine.engine().map_or(new.dialect, Engine::dialect);
    let before = render::translate(&old.schema, old.dialect, rules).schema;
    let after = render::translate(&new.schema, new.dialect, rules).schema;
    let found = diff(&before, &after, rules.dialect());
    for note in &found.notes {
        terminal.say(Tone::Plain, note);
    }
    for change in &found.changes {
        let (verb, tone) = if change.becomes_accepted {
            ("accepted", Tone::Good)
        } else {
            ("rejected", Tone::Warning)
        };
        let table = &before.tables[change.table].name;
        terminal.say(
            tone,
            &format!("{table}: a row becomes {verb}, because {}", change.because),
        );
        for statement in change.setup_rows.iter().chain([&change.statement]) {
            for sql in texts(&before, statement, rules) {
                terminal.say(Tone::Plain, &format!("    {sql};"));
            }
        }
        terminal.say(Tone::Faint, &format!("    {}", change.refusal));
    }
    for harmless in &found.harmless {
        terminal.say(Tone::Faint, &format!("no difference: {harmless}"));
    }
    for undecided in &found.undecided {
        terminal.say(Tone::Warning, &format!("undecided: {undecided}"));
    }
    let tests = run_schema(&old, &plan).outcome.tests;
    let failing = failing_tests(&before, &after, rules.dialect(), &tests);
    terminal.say(
        Tone::Plain,
        &format!(
            "{} of {} tests of the old suite fail on the new schema",
            failing.len(),
            tests.len()
        ),
    );
    for test in &failing {
        terminal.say(
            Tone::Plain,
            &format!("    {}: {}", tests[test.test].name, test.now),
        );
    }
    if options.json {
        let object = serde_json::json!({
            "old": before.name,
            "new": after.name,
            "accepted": found.changes.iter().filter(|change| change.becomes_accepted).count(),
            "rejected": found.changes.iter().filter(|change| !change.becomes_accepted).count(),
            "harmless": found.harmless.len(),
            "undecided": found.undecided.len(),
            "failing_tests": failing.iter().map(|test| tests[test.test].name.as_str()).collect::<Vec<_>>(),
        });
        terminal.object(&object.to_string());
    }
    let changed = !found.changes.is_empty() || !failing.is_empty();
    Ok(if changed { Exit::Findings } else { Exit::Clean })
}

fn texts(
    schema: &Schema,
    statement: &isobath_sql::row::Statement,
    dialect: DialectName,
) -> Vec<String> {
    render::statement(schema, statement, dialect)
}
