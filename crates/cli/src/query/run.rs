//! Runs the query job on every query of the input.

use std::time::Instant;

use isobath_emit::report::query::{QueryReport, QueryView, UnreadableQuery};
use isobath_emit::{Suite, writer};
use isobath_exec::Engine;
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::confirm;
use isobath_rows::query::cover::{
    MutationMode, QueryCoverage, QueryProblem, QueryText, TargetSource,
};
use isobath_rows::query::job::{CoverageOutcome, TargetStatus};
use isobath_rows::query::mutation::QueryMutantStatus;
use isobath_rows::query::overview::overview;
use isobath_rows::query::print::{self, CoveredQuery, PrintRemark, PrintResult};
use isobath_rows::query::stop::StopSignal;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::QueryCriterion;
use isobath_sql::ddl::{self, LoadedSchema, Source};
use isobath_sql::limitation::{Limitation, Severity};
use isobath_sql::{DialectName, Schema};
use serde_json::json;

use super::args::{CriterionName, QueryOptions};
use super::error::QueryRunError;
use super::limit::QueryLimit;
use super::read::{self, Queries};
use super::{files, suggest, summary};
use crate::exit::Exit;
use crate::input;
use crate::schema::{EngineName, Engines};
use crate::terminal::{Terminal, Tone};

/// Prints the targets of every query, and runs nothing.
pub(crate) fn targets(options: &QueryOptions, terminal: &Terminal) -> Exit {
    let print = || -> Result<Exit, QueryRunError> {
        let (loaded, _) = load(options, terminal)?;
        let mut exit = syntax(&loaded);
        let cover = cover(options, &loaded, None)?;
        for Queries { source, given } in read::read(options.query_paths(), loaded.dialect)? {
            for given in given {
                match cover.targets(&given, &source) {
                    Ok(targets) => {
                        let targets: Vec<_> = targets
                            .iter()
                            .map(|target| {
                                json!({ "sql": target.sql, "rule": target.rule, "description": target.says })
                            })
                            .collect();
                        let object = json!({ "id": given.id, "targets": targets });
                        terminal.object(&object.to_string());
                    }
                    Err(problem) => {
                        let why = complain(&given, &source, &problem, &loaded.schema, terminal);
                        let object = json!({ "id": given.id, "error": why });
                        terminal.object(&object.to_string());
                        exit = exit.max(Exit::Usage);
                    }
                }
            }
        }
        Ok(exit)
    };
    print().unwrap_or_else(|error| error.tell(terminal))
}

/// Covers every query of the input; one that cannot be read does not lose the others.
pub(crate) fn run(options: &QueryOptions, terminal: &Terminal) -> Exit {
    all(options, terminal).unwrap_or_else(|error| error.tell(terminal))
}

fn all(options: &QueryOptions, terminal: &Terminal) -> Result<Exit, QueryRunError> {
    for lang in &options.lang {
        writer::by_name(lang).map_err(|error| QueryRunError::Flag(format!("--lang: {error}")))?;
    }
    let (loaded, sources) = load(options, terminal)?;
    let mut exit = syntax(&loaded);
    let engine = engine(options, loaded.dialect);
    let limit = QueryLimit::listen(options.time_limit);
    let stop = || limit.reason();
    let mut cover = cover(options, &loaded, engine)?;
    cover.stop = StopSignal::new(&stop);
    let queries = read::read(options.query_paths(), loaded.dialect)?;
    summary::head(options, &loaded, &sources, terminal);

    let mut engines = Engines::new(&options.test_db);
    let stored = confirm::fixture_schema(&loaded.schema, !options.ignore_constraints);
    if let Some(engine) = engine {
        let created = create_tables(&stored, engine, &mut cover, &mut engines, terminal)?;
        exit = exit.max(created);
    }
    let setting = print::PrintContext {
        schema: &stored,
        written: loaded.dialect,
        dialect: cover.rules(),
    };
    let mut job = QueryRun {
        options,
        terminal,
        cover: &cover,
        setting,
        prints: options.out.is_some() || !options.json,
        suite: print::empty(&read::name(options.query_paths().next()), setting),
        report: report(options, &loaded, engine),
        width: queries
            .iter()
            .flat_map(|queries| &queries.given)
            .map(|given| given.id.chars().count().min(32))
            .max()
            .unwrap_or(0),
    };
    let started = Instant::now();
    let mut lost = None;
    'all: for Queries { source, given } in &queries {
        for given in given {
            if limit.is_interrupted() {
                let said = "interrupted: the remaining queries were not run".to_owned();
                terminal.complain(&said);
                job.report.notes.push(said);
                exit = exit.max(Exit::Interrupted);
                break 'all;
            }
            limit.begin();
            match job.one(given, source, &mut engines) {
                Ok(one) => exit = exit.max(one),
                Err(error) => {
                    lost = Some(error);
                    break 'all;
                }
            }
        }
    }
    job.report.millis = started.elapsed().as_secs_f64() * 1e3;
    // What was found is handed over also when a database died on the way.
    let written = if job.prints {
        files::dress(&mut job.suite, options, &job.report);
        Some(files::write(&mut job.suite, &job.report, options)?)
    } else {
        None
    };
    summary::whole(&job.report, written.as_ref(), options, terminal);
    match lost {
        Some(error) => Err(error),
        None => Ok(exit),
    }
}

/// Creates the tables on the engine, and notes which of them it refuses.
fn create_tables(
    stored: &Schema,
    engine: Engine,
    cover: &mut QueryCoverage<'_>,
    engines: &mut Engines,
    terminal: &Terminal,
) -> Result<Exit, QueryRunError> {
    let mut exit = Exit::Clean;
    let refused = confirm::prepare(stored, engines.database(engine)?)?;
    for (sql, why) in &refused {
        terminal.complain(&format!("error: {engine} rejects `{sql}`: {why}"));
        exit = Exit::Usage;
    }
    if !refused.is_empty() {
        cover.missing = confirm::missing_tables(stored, engines.database(engine)?)?;
    }
    if let Some(clock) = print::clock(stored, engine.dialect()) {
        engines.database(engine)?.execute_required(&clock)?;
    }
    Ok(exit)
}

/// Reads the schema.
fn load(
    options: &QueryOptions,
    terminal: &Terminal,
) -> Result<(LoadedSchema, Vec<Source>), QueryRunError> {
    let mut sources = Vec::new();
    let mut name = None;
    for path in &options.schema {
        let input = input::read(path)?;
        name.get_or_insert(input.name);
        sources.extend(input.sources);
    }
    let name = name.unwrap_or_else(|| "schema".to_owned());
    let engine = asked(options).map(Engine::dialect);
    let loaded = ddl::load_for_engine(&name, &sources, options.dialect, engine);
    terminal.limitations(&loaded.limitations, &sources);
    if loaded.schema.tables.is_empty() {
        return Err(QueryRunError::Flag(format!(
            "{name} defines no table; expected SQL with CREATE TABLE statements"
        )));
    }
    Ok((loaded, sources))
}

fn syntax(loaded: &LoadedSchema) -> Exit {
    let limitations = loaded.limitations.iter();
    let mut severities = limitations.map(|limitation| limitation.severity);
    if severities.any(|severity| severity == Severity::Syntax) {
        Exit::Usage
    } else {
        Exit::Clean
    }
}

/// The engine that the flags name.
fn asked(options: &QueryOptions) -> Option<Engine> {
    options.engine.and_then(EngineName::engine)
}

/// The engine asked for; SQLite is always at hand, so its queries are always confirmed.
fn engine(options: &QueryOptions, written: DialectName) -> Option<Engine> {
    match options.engine {
        Some(_) => asked(options),
        None if written == DialectName::Sqlite => EngineName::Sqlite.engine(),
        None => None,
    }
}

fn cover<'r>(
    options: &QueryOptions,
    loaded: &'r LoadedSchema,
    engine: Option<Engine>,
) -> Result<QueryCoverage<'r>, QueryRunError> {
    let source = match (&options.targets, options.criterion) {
        (Some(path), _) => TargetSource::Given(read::targets(path, loaded.dialect)?),
        (None, CriterionName::Recorded) => TargetSource::Recorded,
        (None, CriterionName::Fpc) => TargetSource::Criterion(QueryCriterion::Fpc),
        (None, CriterionName::Extended) => TargetSource::Criterion(QueryCriterion::Extended),
    };
    let mutation = match (options.mutate, options.strengthen) {
        (_, true) => MutationMode::Strengthen,
        (true, false) => MutationMode::Measure,
        (false, false) => MutationMode::Off,
    };
    Ok(QueryCoverage {
        schema: &loaded.schema,
        written: loaded.dialect,
        engine,
        source,
        constraints: !options.ignore_constraints,
        config: Config {
            algorithm: options.algorithm,
            seed: options.seed,
            budget: options.budget,
            ..Config::default()
        },
        mutation,
        missing: Vec::new(),
        stop: StopSignal::default(),
    })
}

/// Says what is wrong with a query, and returns it.
fn complain(
    given: &QueryText,
    source: &Source,
    problem: &QueryProblem,
    schema: &Schema,
    terminal: &Terminal,
) -> String {
    let why = suggest::explain(problem, schema);
    let limitation = Limitation {
        severity: Severity::Syntax,
        location: problem.location.clone(),
        input: given.id.clone(),
        why: format!("{}: {why}", given.id),
    };
    terminal.limitations(&[limitation], std::slice::from_ref(source));
    why
}

fn report(options: &QueryOptions, loaded: &LoadedSchema, engine: Option<Engine>) -> QueryReport {
    QueryReport {
        name: read::name(options.query_paths().next()),
        engine: engine.map_or_else(|| "none".to_owned(), |engine| engine.to_string()),
        dialect: loaded.dialect.to_string(),
        dialect_evidence: loaded.evidence.clone(),
        criterion: files::criterion(options),
        algorithm: options.algorithm.to_string(),
        seed: options.seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: Some(files::command(options)),
        ..QueryReport::default()
    }
}

/// A run over queries, as far as it has got.
struct QueryRun<'r> {
    options: &'r QueryOptions,
    terminal: &'r Terminal,
    cover: &'r QueryCoverage<'r>,
    setting: print::PrintContext<'r>,
    /// Whether anybody reads a suite.
    prints: bool,
    suite: Suite,
    report: QueryReport,
    /// How wide names are on the terminal.
    width: usize,
}

impl QueryRun<'_> {
    fn one(
        &mut self,
        given: &QueryText,
        source: &Source,
        engines: &mut Engines,
    ) -> Result<Exit, QueryRunError> {
        let (cover, options, terminal) = (self.cover, self.options, self.terminal);
        let started = Instant::now();
        let mut targets = match cover.targets(given, source) {
            Ok(targets) => targets,
            Err(problem) => {
                let why = complain(given, source, &problem, cover.schema, terminal);
                if options.json {
                    let object = json!({ "id": given.id, "error": why });
                    terminal.object(&object.to_string());
                }
                self.report.unreadable.push(UnreadableQuery {
                    id: given.id.clone(),
                    location: problem.location.to_string(),
                    why,
                });
                return Ok(Exit::Usage);
            }
        };
        let stored = self.setting.schema;
        let mut outcome = match (cover.not_run(given, &targets), cover.engine) {
            (Some(outcome), _) => outcome,
            (None, Some(engine)) => {
                cover.find(given, &targets, stored, Some(engines.database(engine)?))?
            }
            (None, None) => cover.find(given, &targets, stored, None)?,
        };
        let mutants = cover.mutate(given, &mut targets, &mut outcome);
        let millis = started.elapsed().as_secs_f64() * 1e3;
        let mut exit = Exit::Clean;
        if let Some(engine) = cover.engine {
            let database = engines.database(engine)?;
            for said in cover.confirm(given, &targets, &mut outcome, stored, database)? {
                terminal.complain(&said);
                self.report.disagreements.push(said);
                exit = Exit::Findings;
            }
        }
        if options.json {
            terminal.object(&summary::object(
                &given.id,
                &targets,
                &outcome,
                mutants.as_ref(),
                millis,
            ));
        }
        for problem in cover.unsupported(given, source, &outcome) {
            complain(given, source, &problem, cover.schema, terminal);
            exit = exit.max(Exit::Usage);
        }
        let mut view = self.print(given, source, &targets, &outcome, engines, &mut exit)?;
        view.millis = millis;
        if !options.json {
            summary::query(&view, self.width, terminal);
            if let Some(mutants) = &mutants {
                summary::mutants(mutants, terminal);
            }
        }
        let survivors = mutants.iter().flat_map(|mutants| mutants.survivors());
        let survivors = survivors.map(|(mutant, status)| {
            let (id, said) = (&given.id, &mutant.description);
            match status {
                QueryMutantStatus::Unsupported { why } => {
                    format!("{id}: mutant not evaluated: {said}: {why}")
                }
                _ => format!("{id}: mutant alive: {said}"),
            }
        });
        self.report.notes.extend(survivors);
        self.report.queries.push(view);
        Ok(exit)
    }

    /// Adds the tests of a query to the suite, and returns what the report shows of it.
    fn print(
        &mut self,
        given: &QueryText,
        source: &Source,
        targets: &[QueryTarget],
        outcome: &CoverageOutcome,
        engines: &mut Engines,
        exit: &mut Exit,
    ) -> Result<QueryView, QueryRunError> {
        let place = format!("{}:{}", source.name, given.line);
        let covered = CoveredQuery {
            id: &given.id,
            sql: &given.sql,
            place: &place,
            targets,
            outcome,
        };
        let printed = if self.prints {
            let database = match self.cover.engine {
                Some(engine) => Some(engines.database(engine)?),
                None => None,
            };
            print::add(&mut self.suite, &covered, self.setting, database)?
        } else {
            PrintResult::default()
        };
        for remark in &printed.remarks {
            self.remark(&given.id, remark, exit);
        }
        let schema: &Schema = self.setting.schema;
        Ok(overview(&covered, &printed, &self.suite, schema))
    }
}

impl QueryRun<'_> {
    /// Says what printing a query brought to light, each thing once.
    fn remark(&mut self, id: &str, remark: &PrintRemark, exit: &mut Exit) {
        let terminal = self.terminal;
        let said = match remark {
            PrintRemark::NoTest { why } => {
                format!("{id}: cannot print a test for a fixture: {why}")
            }
            PrintRemark::Nondeterministic { on } => {
                format!("{id}: the result depends on {on}; its tests may fail at another time")
            }
            PrintRemark::Disagrees { sql, ours, engine } => {
                let said = format!(
                    "{id}: our evaluator and the engine disagree: {ours} rows and {engine} rows for `{sql}`"
                );
                terminal.complain(&said);
                self.report.disagreements.push(said);
                *exit = (*exit).max(Exit::Findings);
                return;
            }
        };
        if !self.report.notes.contains(&said) {
            terminal.say(Tone::Warning, &said);
            self.report.notes.push(said);
        }
    }
}

/// Whether a target is still open.
pub(super) fn is_open(status: &TargetStatus) -> bool {
    matches!(status, TargetStatus::Uncovered { .. })
}
