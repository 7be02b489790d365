//! `isobath query check`: runs stored fixtures against the current queries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isobath_emit::query::{CaseTarget, Query};
use isobath_emit::{Suite, SuiteDialect};
use isobath_exec::{Engine, StatementOutcome};
use isobath_rows::query::check::{CheckError, CheckResult, CurrentQuery, ResultChange, check};
use isobath_rows::query::confirm;
use isobath_rows::query::cover::QueryText;
use isobath_sql::ddl::{self, Source};
use isobath_sql::limitation::{Limitation, Severity, SourceLocation};
use isobath_sql::{DialectName, Schema};
use serde_json::json;

use super::args::CheckOptions;
use super::error::QueryRunError;
use super::read;
use crate::exit::Exit;
use crate::input;
use crate::schema::Engines;
use crate::terminal::{Terminal, Tone};

/// Checks all stored tests.
pub(crate) fn run(options: &CheckOptions, terminal: &Terminal) -> Exit {
    all(options, terminal).unwrap_or_else(|error| error.tell(terminal))
}

fn all(options: &CheckOptions, terminal: &Terminal) -> Result<Exit, QueryRunError> {
    let suites = stored(&options.stored)?;
    let written = options
        .dialect
        .or_else(|| suites.first().map(|suite| engine(suite).dialect()));
    let mut queries = Vec::new();
    for texts in read::read(options.queries.iter(), written.unwrap_or(DialectName::Ansi))? {
        let source = texts.source;
        queries.extend(texts.given.into_iter().map(|given| (given, source.clone())));
    }
    let mut engines = Engines::new(&options.test_db);
    let mut exit = Exit::Clean;
    for suite in &suites {
        let one = Check {
            options,
            terminal,
            suite,
            queries: &queries,
        };
        exit = exit.max(one.run(&mut engines)?);
    }
    for (given, _) in &queries {
        let known = suites.iter().flat_map(|suite| &suite.queries);
        if !known.into_iter().any(|query| query.id == given.id) {
            let line = format!("{}: new, there are no fixtures for it yet", given.id);
            terminal.say(Tone::Warning, &line);
        }
    }
    Ok(exit)
}

/// The suites of paths: files, or all that are found below folders.
fn stored(paths: &[PathBuf]) -> Result<Vec<Suite>, QueryRunError> {
    let mut suites = Vec::new();
    for path in paths {
        let mut files = Vec::new();
        if path.is_dir() {
            collect(path, &mut files).map_err(|cause| input::InputError::Unreadable {
                path: path.clone(),
                cause,
            })?;
        } else {
            files.push(path.clone());
        }
        let before = suites.len();
        let mut why = String::from("no .json file is there; was --lang json left out?");
        for file in files {
            let text =
                std::fs::read_to_string(&file).map_err(|cause| input::InputError::Unreadable {
                    path: file.clone(),
                    cause,
                })?;
            match Suite::from_json(&text) {
                Ok(suite) if !suite.queries.is_empty() => suites.push(suite),
                Ok(_) => why = format!("{} has no queries", file.display()),
                Err(error) => why = format!("{}: cannot {error}", file.display()),
            }
        }
        if suites.len() == before {
            return Err(QueryRunError::Flag(format!(
                "{} holds no tests of queries: {why}",
                path.display()
            )));
        }
    }
    Ok(suites)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "json")
            && path.file_name().is_none_or(|name| name != "report.json")
        {
            files.push(path);
        }
    }
    Ok(())
}

/// The engine that a suite was made for.
fn engine(suite: &Suite) -> Engine {
    match suite.dialect {
        SuiteDialect::Sqlite => Engine::Sqlite,
        SuiteDialect::Postgres => Engine::Postgres,
        SuiteDialect::Mysql => Engine::MariaDb,
    }
}

/// A stored suite, and the queries as they are now.
struct Check<'r> {
    options: &'r CheckOptions,
    terminal: &'r Terminal,
    suite: &'r Suite,
    queries: &'r [(QueryText, Source)],
}

impl Check<'_> {
    fn run(&self, engines: &mut Engines) -> Result<Exit, QueryRunError> {
        let engine = match self.options.engine.map(|name| name.engine()) {
            Some(Some(engine)) => engine,
            Some(None) => {
                return Err(QueryRunError::Flag(
                    "checking needs a database; leave --engine out or name one".to_owned(),
                ));
            }
            None => engine(self.suite),
        };
        let (schema, written) = self.schema(engines, engine)?;
        let mut exit = Exit::Clean;
        let mut told = CheckTally::default();
        for query in &self.suite.queries {
            let place = self.queries.iter().find(|(given, _)| given.id == query.id);
            let one = match (place, self.options.queries.is_empty()) {
                (None, false) => {
                    told.removed(query, self);
                    Exit::Findings
                }
                (given, _) => {
                    let stored = query.sql();
                    let sql = given.map_or(stored.as_str(), |(given, _)| given.sql.as_str());
                    let now = CurrentQuery {
                        sql,
                        schema: &schema,
                        written,
                    };
                    let database = engines.database(engine)?;
                    match check(query, self.suite, now, database) {
                        Ok(checked) => told.checked(query, &checked, self),
                        Err(CheckError::Database(lost)) => return Err(lost.into()),
                        Err(error) => {
                            self.complain(query, given, &error);
                            Exit::Usage
                        }
                    }
                }
            };
            exit = exit.max(one);
        }
        told.whole(engine, self);
        Ok(exit)
    }

    /// The tables as they are now, created on the engine.
    fn schema(
        &self,
        engines: &mut Engines,
        engine: Engine,
    ) -> Result<(Schema, DialectName), QueryRunError> {
        let mut sources = Vec::new();
        for path in &self.options.schema {
            sources.extend(input::read(path)?.sources);
        }
        let database = engines.database(engine)?;
        database.drop_all_objects()?;
        for sql in &self.suite.session {
            // A session of another engine is not ours to begin.
            let _ = database.execute(sql)?;
        }
        if sources.is_empty() {
            let text: String = self
                .suite
                .setup
                .iter()
                .map(|sql| format!("{sql};\n"))
                .collect();
            let source = Source {
                name: "stored schema".to_owned(),
                text,
            };
            let dialect = self.options.dialect.unwrap_or_else(|| engine.dialect());
            let loaded = ddl::load(&self.suite.schema, &[source], Some(dialect));
            for sql in &self.suite.setup {
                if let StatementOutcome::Refused(refusal) = database.execute(sql)? {
                    let line = format!("error: {engine} refuses `{sql}`: {}", refusal.message);
                    self.terminal.complain(&line);
                }
            }
            return Ok((loaded.schema, loaded.dialect));
        }
        let loaded = ddl::load_for_engine(
            &self.suite.schema,
            &sources,
            self.options.dialect,
            Some(engine.dialect()),
        );
        self.terminal.limitations(&loaded.limitations, &sources);
        let schema = confirm::fixture_schema(&loaded.schema, !self.options.ignore_constraints);
        for (sql, why) in confirm::prepare(&schema, database)? {
            let line = format!("error: {engine} refuses `{sql}`: {why}");
            self.terminal.complain(&line);
        }
        Ok((schema, loaded.dialect))
    }

    fn complain(&self, query: &Query, given: Option<&(QueryText, Source)>, error: &CheckError) {
        let at = match error {
            CheckError::Query(error) => error.location(),
            CheckError::Statement | CheckError::Database(_) => None,
        };
        let (line, column) = at.unwrap_or((1, 1));
        let (first, name) = given.map_or((1, query.location.clone()), |(given, source)| {
            (given.line, source.name.clone())
        });
        let limitation = Limitation {
            severity: Severity::Syntax,
            location: SourceLocation {
                source: name,
                line: first + line - 1,
                column,
            },
            input: query.id.clone(),
            why: format!("{}: {error}", query.id),
        };
        let sources: Vec<Source> = given.iter().map(|(_, source)| source.clone()).collect();
        self.terminal.limitations(&[limitation], &sources);
        if self.options.json {
            let object = json!({ "id": query.id, "error": error.to_string() });
            self.terminal.object(&object.to_string());
        }
    }
}

/// What was said so far.
#[derive(Default)]
struct CheckTally {
    tests: usize,
    same: usize,
    changed: BTreeMap<&'static str, usize>,
}

impl CheckTally {
    fn removed(&mut self, query: &Query, check: &Check<'_>) {
        *self.changed.entry("removed queries").or_default() += 1;
        if check.options.json {
            let object = json!({ "id": query.id, "gone": true });
            check.terminal.object(&object.to_string());
        } else {
            let line = format!("{}: removed; it was at {}", query.id, query.location);
            check.terminal.insist(Tone::Warning, &line);
        }
    }

    fn checked(&mut self, query: &Query, checked: &CheckResult, check: &Check<'_>) -> Exit {
        self.tests += query.cases.len();
        self.same += checked.same;
        for (what, n) in [
            ("changed results", checked.changed.len()),
            ("tests that no longer run", checked.refused.len()),
            ("targets no longer covered", checked.lost.len()),
            ("new targets without rows", checked.uncovered.len()),
        ] {
            if n > 0 {
                *self.changed.entry(what).or_default() += n;
            }
        }
        if check.options.json {
            check.terminal.object(&object(query, checked));
        } else {
            tell(query, checked, check.terminal);
        }
        if checked.is_unchanged() {
            Exit::Clean
        } else {
            Exit::Findings
        }
    }

    fn whole(&self, engine: Engine, check: &Check<'_>) {
        let mut line = format!(
            "{} of {} tests go as before on {engine}",
            self.same, self.tests
        );
        for (what, n) in &self.changed {
            line.push_str(&format!("; {n} {what}"));
        }
        let tone = if self.changed.is_empty() {
            Tone::Good
        } else {
            Tone::Warning
        };
        check.terminal.say(tone, &line);
    }
}

fn object(query: &Query, checked: &CheckResult) -> String {
    let changed: Vec<_> = checked
        .changed
        .iter()
        .map(|change| {
            let mut object = json!({
                "test": change.test,
                "appeared": change.appeared,
                "disappeared": change.disappeared,
                "reordered": change.reordered,
            });
            if let Some((before, after)) = &change.columns {
                object["columns"] = json!({ "before": before, "after": after });
            }
            object
        })
        .collect();
    let refused: Vec<_> = checked
        .refused
        .iter()
        .map(|(test, why)| json!({ "test": test, "why": why }))
        .collect();
    let object = json!({
        "id": query.id,
        "tests": query.cases.len(),
        "same": checked.same,
        "changed": changed,
        "refused": refused,
        "no_longer_covered": checked.lost,
        "not_covered": checked.uncovered,
    });
    object.to_string()
}

fn tell(query: &Query, checked: &CheckResult, terminal: &Terminal) {
    if checked.is_unchanged() {
        let line = format!("{}: {} tests as before", query.id, checked.same);
        terminal.say(Tone::Good, &line);
        return;
    }
    let line = format!(
        "{}: {} of {} tests as before",
        query.id,
        checked.same,
        query.cases.len()
    );
    terminal.insist(Tone::Warning, &line);
    for change in &checked.changed {
        tell_change(change, terminal);
    }
    for (test, why) in &checked.refused {
        terminal.insist(Tone::Plain, &format!("  no longer runs: {test}"));
        terminal.insist(Tone::Bad, &format!("    {why}"));
    }
    targets("no longer covered", &checked.lost, terminal);
    targets(
        "new, and no stored rows cover it",
        &checked.uncovered,
        terminal,
    );
}

fn tell_change(change: &ResultChange, terminal: &Terminal) {
    terminal.insist(Tone::Plain, &format!("  changed: {}", change.test));
    if let Some((before, after)) = &change.columns {
        let line = format!(
            "    columns were {}, now {}",
            before.join(", "),
            after.join(", ")
        );
        terminal.insist(Tone::Plain, &line);
    }
    let line = |row: &Vec<Option<String>>| {
        let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL"));
        cells.collect::<Vec<_>>().join(" | ")
    };
    for row in &change.disappeared {
        terminal.insist(Tone::Bad, &format!("    - {}", line(row)));
    }
    for row in &change.appeared {
        terminal.insist(Tone::Good, &format!("    + {}", line(row)));
    }
    if change.reordered {
        terminal.insist(Tone::Plain, "    the same rows, in another order");
    }
}

fn targets(label: &str, targets: &[CaseTarget], terminal: &Terminal) {
    for target in targets {
        let says = if target.description.is_empty() {
            &target.sql
        } else {
            &target.description
        };
        terminal.insist(Tone::Plain, &format!("  {label}: {says}"));
    }
}
