//! Covering queries, one after the other.

use std::path::PathBuf;
use std::time::Instant;

use isobath_exec::Engine;
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::confirm::{self, Verdict};
use isobath_rows::query::construct::Setting;
use isobath_rows::query::job::{self, Fate, Outcome};
use isobath_rows::query::parameter;
use isobath_rows::query::target::Target;
use isobath_sql::coverage::{self, Criterion};
use isobath_sql::ddl::{self, Source};
use isobath_sql::limitation::{Limitation, Place, Severity};
use isobath_sql::{DialectName, Schema};
use serde_json::json;

use super::args::{CriterionName, Options};
use super::read::{self, Given};
use crate::exit::Exit;
use crate::input::{self, InputError};
use crate::schema::Engines;
use crate::terminal::{Terminal, Tone};

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
enum RunError {
    /// A path cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No database to work with.
    #[error(transparent)]
    Server(#[from] isobath_exec::server::ServerError),
    /// The database went away.
    #[error(transparent)]
    Database(#[from] isobath_exec::DatabaseError),
    /// Files cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Output {
        /// The path.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
}

/// What stays the same for all queries.
struct Run<'r> {
    options: &'r Options,
    terminal: &'r Terminal,
    schema: &'r Schema,
    /// How schema and queries are written.
    written: DialectName,
    engine: Option<Engine>,
}

/// Covers every query of the input; one that cannot be read does not lose the others.
pub(crate) fn run(options: &Options, targets_only: bool, terminal: &Terminal) -> Exit {
    match all(options, targets_only, terminal) {
        Ok(exit) => exit,
        Err(error) => {
            terminal.complain(&format!("error: {error}"));
            match error {
                RunError::Input(_) | RunError::Output { .. } => Exit::Usage,
                RunError::Server(_) | RunError::Database(_) => Exit::Unreachable,
            }
        }
    }
}

fn all(options: &Options, targets_only: bool, terminal: &Terminal) -> Result<Exit, RunError> {
    let mut sources = Vec::new();
    for path in &options.schema {
        sources.extend(input::read(path)?.sources);
    }
    let loaded = ddl::load("schema", &sources, options.dialect);
    terminal.limitations(&loaded.limitations, &sources);
    let mut exit = Exit::Clean;
    if loaded
        .limitations
        .iter()
        .any(|limitation| limitation.severity == Severity::Syntax)
    {
        exit = Exit::Usage;
    }
    let run = Run {
        options,
        terminal,
        schema: &loaded.schema,
        written: loaded.dialect,
        engine: options.engine.engine(),
    };
    let mut engines = Engines::new(&options.test_db);
    let stored = confirm::fixture_schema(&loaded.schema, !options.ignore_constraints);
    if let (Some(engine), false) = (run.engine, targets_only) {
        for (sql, why) in confirm::prepare(&stored, engines.database(engine)?)? {
            terminal.complain(&format!("error: {engine} refuses `{sql}`: {why}"));
            exit = exit.max(Exit::Usage);
        }
    }
    for path in &options.queries {
        for (source, queries) in read::read(path)? {
            for given in queries {
                let one = if targets_only {
                    run.print_targets(&given, &source)
                } else {
                    run.cover(&given, &source, &stored, &mut engines)?
                };
                exit = exit.max(one);
            }
        }
    }
    Ok(exit)
}

impl Run<'_> {
    /// The targets of a query, or nothing after having said why.
    fn targets(&self, given: &Given, source: &Source) -> Option<Vec<Target>> {
        if let Some(why) = &given.broken {
            self.bad(given, source, why, None);
            return None;
        }
        let criterion = match self.options.criterion {
            CriterionName::Recorded => {
                let targets = given.targets.iter();
                return Some(
                    targets
                        .map(|sql| {
                            Target::read(sql, "recorded", "", self.schema, DialectName::Ansi)
                        })
                        .collect(),
                );
            }
            CriterionName::Fpc => Criterion::Fpc,
            CriterionName::Extended => Criterion::Extended,
        };
        let made = coverage::targets(
            &given.sql,
            self.schema,
            self.written,
            criterion,
            coverage::Options::default(),
        );
        match made {
            Ok(targets) => Some(
                targets
                    .iter()
                    .map(|target| Target::of(target, self.schema, self.written))
                    .collect(),
            ),
            Err(error) => {
                self.bad(given, source, &error.to_string(), error.place());
                None
            }
        }
    }

    /// Reports a query that has no targets.
    fn bad(&self, given: &Given, source: &Source, why: &str, place: Option<(u64, u64)>) {
        let (line, column) = place.unwrap_or((1, 1));
        let limitation = Limitation {
            severity: Severity::Syntax,
            place: Place {
                source: source.name.clone(),
                line: given.line + line - 1,
                column,
            },
            input: given.id.clone(),
            why: format!("{}: {why}", given.id),
        };
        self.terminal
            .limitations(&[limitation], std::slice::from_ref(source));
        if self.options.json {
            self.terminal
                .object(&json!({ "id": given.id, "error": why }).to_string());
        }
    }

    fn print_targets(&self, given: &Given, source: &Source) -> Exit {
        let Some(targets) = self.targets(given, source) else {
            return Exit::Usage;
        };
        let targets: Vec<_> = targets
            .iter()
            .map(|target| json!({ "sql": target.sql, "rule": target.rule, "says": target.says }))
            .collect();
        self.terminal
            .object(&json!({ "id": given.id, "targets": targets }).to_string());
        Exit::Clean
    }

    fn cover(
        &self,
        given: &Given,
        source: &Source,
        stored: &Schema,
        engines: &mut Engines,
    ) -> Result<Exit, RunError> {
        let started = Instant::now();
        let Some(targets) = self.targets(given, source) else {
            return Ok(Exit::Usage);
        };
        let rules = self.engine.map_or(self.written, Engine::dialect);
        let setting = Setting {
            constraints: !self.options.ignore_constraints,
            ..Setting::new(self.schema, rules.dialect())
        };
        let config = Config {
            seed: self.options.seed,
            ..Config::default()
        };
        let mut outcome = job::run(&targets, setting, &config);
        let millis = started.elapsed().as_secs_f64() * 1e3;
        let mut exit = Exit::Clean;
        if let Some(engine) = self.engine
            && self.confirm(
                given,
                &targets,
                &mut outcome,
                stored,
                engines.database(engine)?,
            )?
        {
            exit = Exit::Findings;
        }
        self.report(given, &targets, &outcome, millis);
        if let Some(folder) = &self.options.out {
            self.write(folder, given, &targets, &outcome, rules)?;
        }
        Ok(exit)
    }

    /// Takes back what the engine does not confirm; says whether there was something.
    fn confirm(
        &self,
        given: &Given,
        targets: &[Target],
        outcome: &mut Outcome,
        stored: &Schema,
        database: &mut dyn isobath_exec::Database,
    ) -> Result<bool, RunError> {
        let dialect = database.dialect();
        let mut disagreed = false;
        for number in 0..outcome.fixtures.len() {
            let fixture = &outcome.fixtures[number];
            let covered: Vec<usize> = (0..targets.len())
                .filter(|index| outcome.fates[*index] == Fate::Covered(number))
                .collect();
            let sql: Vec<String> = covered
                .iter()
                .map(|index| {
                    let sql = match self.options.criterion {
                        CriterionName::Recorded => {
                            confirm::spelled(&targets[*index].sql, self.schema, dialect)
                        }
                        _ => targets[*index].sql.clone(),
                    };
                    parameter::bound(
                        &sql,
                        &targets[*index].parameters,
                        fixture.parameters(),
                        dialect,
                    )
                })
                .collect();
            let verdicts = confirm::confirm(fixture, &sql, stored, database)?;
            for (index, verdict) in covered.into_iter().zip(verdicts) {
                if let Verdict::Disagrees { actual } = verdict {
                    disagreed = true;
                    self.terminal.complain(&format!(
                        "{}: our evaluator and the engine disagree on `{}`: {actual}",
                        given.id, targets[index].sql
                    ));
                    outcome.fates[index] = Fate::Uncovered {
                        why: format!("the engine disagrees: {actual}"),
                    };
                }
            }
        }
        Ok(disagreed)
    }

    fn report(&self, given: &Given, targets: &[Target], outcome: &Outcome, millis: f64) {
        let uncovered: Vec<_> = outcome
            .fates
            .iter()
            .zip(targets)
            .filter_map(|(fate, target)| match fate {
                Fate::Uncovered { why } => Some(json!({ "sql": target.sql, "why": why })),
                _ => None,
            })
            .collect();
        if self.options.json {
            let object = json!({
                "id": given.id,
                "targets": targets.len(),
                "covered": outcome.covered(),
                "infeasible": outcome.infeasible(),
                "uncovered": uncovered,
                "rows": outcome.rows(),
                "evaluations": outcome.evaluations,
                "millis": (millis * 1e3).round() / 1e3,
            });
            self.terminal.object(&object.to_string());
            return;
        }
        let tone = if uncovered.is_empty() {
            Tone::Good
        } else {
            Tone::Warning
        };
        self.terminal.say(
            tone,
            &format!(
                "{}: {} of {} targets covered by {} rows, {} infeasible, {} open",
                given.id,
                outcome.covered(),
                targets.len(),
                outcome.rows(),
                outcome.infeasible(),
                uncovered.len()
            ),
        );
        for (fate, target) in outcome.fates.iter().zip(targets) {
            match fate {
                Fate::Covered(_) => {}
                Fate::Infeasible { proof, .. } => {
                    let line = format!("  infeasible: {}\n    {proof}", target.sql);
                    self.terminal.say(Tone::Faint, &line);
                }
                Fate::Uncovered { why } => {
                    let line = format!("  open: {} {why}", target.sql);
                    self.terminal.say(Tone::Warning, &line);
                }
            }
        }
    }

    /// One SQL file per query: fixtures, each with the targets that it covers.
    fn write(
        &self,
        folder: &std::path::Path,
        given: &Given,
        targets: &[Target],
        outcome: &Outcome,
        dialect: DialectName,
    ) -> Result<(), RunError> {
        let mut text = String::new();
        for (number, fixture) in outcome.fixtures.iter().enumerate() {
            text.push_str(&format!("-- Fixture {}\n", number + 1));
            for (fate, target) in outcome.fates.iter().zip(targets) {
                if *fate == Fate::Covered(number) {
                    let says = if target.says.is_empty() {
                        &target.sql
                    } else {
                        &target.says
                    };
                    text.push_str(&format!("-- covers: {}\n", says.replace('\n', " ")));
                }
            }
            for (index, value) in fixture.parameters().iter().enumerate() {
                text.push_str(&format!("-- parameter {}: {value}\n", index + 1));
            }
            for insert in confirm::inserts(fixture, self.schema, dialect) {
                text.push_str(&insert);
                text.push_str(";\n");
            }
            text.push('\n');
        }
        let name: String = given
            .id
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || matches!(c, '-' | '_') {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let path = folder.join(format!("{name}.sql"));
        let failed = |cause| RunError::Output {
            path: path.clone(),
            cause,
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        std::fs::write(&path, text).map_err(failed)
    }
}
