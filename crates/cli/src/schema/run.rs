//! Runs the schema job on every schema of the input.

use std::path::Path;
use std::time::Instant;

use isobath_emit::RunReport;
use isobath_emit::report::Disagreement;
use isobath_exec::Engine;
use isobath_exec::server::ServerError;
use isobath_rows::schema::confirm::{self, Confirmation};
use isobath_rows::schema::criterion::Criterion;
use isobath_rows::schema::cross_engine::{self, EngineDifference};
use isobath_rows::schema::generator::GeneratorName;
use isobath_rows::schema::job::Config;
use isobath_rows::schema::mutation::{self, OperatorSet};
use isobath_rows::schema::overview::overview;
use isobath_rows::schema::run::{SchemaPlan, SchemaRun, run as run_schema};
use isobath_sql::ddl::{self, LoadedSchema, Source};
use isobath_sql::limitation::Severity;

use super::args::{EngineName, Operators, SchemaArgs, SchemaOptions};
use super::engines::Engines;
use super::summary;
use crate::exit::Exit;
use crate::input::{self, Input};
use crate::output;
use crate::terminal::{Terminal, Tone};

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchemaRunError {
    /// A flag has a value that means nothing.
    #[error("{0}")]
    Flag(String),
    /// A path cannot be read.
    #[error(transparent)]
    Input(#[from] input::InputError),
    /// No database to work with.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The database went away.
    #[error(transparent)]
    Database(#[from] isobath_exec::DatabaseError),
    /// Files cannot be written.
    #[error(transparent)]
    Output(#[from] output::OutputError),
}

impl SchemaRunError {
    /// The exit code that it ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Flag(_) | Self::Input(_) | Self::Output(_) => Exit::Usage,
            Self::Server(_) | Self::Database(_) => Exit::Unreachable,
        }
    }
}

/// Runs the job on every schema; one that cannot be read does not lose the others.
pub(crate) fn run(args: &SchemaArgs, terminal: &Terminal) -> Exit {
    let options = &args.options;
    let plan = match plan(options) {
        Ok(plan) => plan,
        Err(error) => return fail(&error, terminal),
    };
    terminal.say(Tone::Faint, &format!("seed {}", options.seed));
    let mut engines = Engines::new(&options.test_db);
    let mut exit = Exit::Clean;
    for input in inputs(args) {
        let one = input.and_then(|(loaded, sources)| {
            one(&loaded, &sources, options, &plan, &mut engines, terminal)
        });
        exit = exit.max(match one {
            Ok(exit) => exit,
            Err(error) => fail(&error, terminal),
        });
    }
    terminal.say(Tone::Faint, &format!("seed {}", options.seed));
    exit
}

/// Says what went wrong and returns the exit code for it.
pub(crate) fn fail(error: &SchemaRunError, terminal: &Terminal) -> Exit {
    terminal.complain(&format!("error: {error}"));
    error.exit()
}

/// The plan that the flags describe.
///
/// # Errors
///
/// When a criterion, generator or format has no such name.
pub(crate) fn plan(options: &SchemaOptions) -> Result<SchemaPlan, SchemaRunError> {
    let criterion: Criterion = options
        .criterion
        .parse()
        .map_err(|error| SchemaRunError::Flag(format!("{error}")))?;
    let generator: GeneratorName = options
        .generator
        .parse()
        .map_err(|error| SchemaRunError::Flag(format!("{error}")))?;
    for lang in &options.lang {
        isobath_emit::writer::by_name(lang)
            .map_err(|error| SchemaRunError::Flag(format!("--lang: {error}")))?;
    }
    let engine = options.engines.first().copied().unwrap_or(options.engine);
    let extras = options
        .extras
        .unwrap_or(generator == GeneratorName::Default);
    let mutates = options.mutate || options.strengthen || options.confirm;
    Ok(SchemaPlan {
        rules: engine.engine().map(Engine::dialect),
        config: Config {
            criterion,
            generator,
            seed: options.seed,
            budget: options.budget,
            extras,
        },
        mutants: mutates.then_some(match options.operators {
            Operators::Paper => OperatorSet::Paper,
            Operators::All => OperatorSet::All,
        }),
        strengthen: options.strengthen,
        reduce: options.reduce,
    })
}

fn inputs(args: &SchemaArgs) -> Vec<Result<(LoadedSchema, Vec<Source>), SchemaRunError>> {
    if let Some(address) = &args.db {
        return vec![
            isobath_exec::catalog::read(address)
                .map(|loaded| (loaded, Vec::new()))
                .map_err(SchemaRunError::from),
        ];
    }
    args.paths
        .iter()
        .map(|path| load(path, &args.options))
        .collect()
}

/// Reads and loads one path.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn load(
    path: &Path,
    options: &SchemaOptions,
) -> Result<(LoadedSchema, Vec<Source>), SchemaRunError> {
    let Input {
        name,
        sources,
        skipped,
    } = input::read(path)?;
    let mut loaded = ddl::load(&name, &sources, options.dialect);
    loaded
        .limitations
        .extend(skipped.into_iter().map(|skipped| isobath_sql::Limitation {
            severity: Severity::Ignored,
            location: isobath_sql::SourceLocation {
                source: skipped.name.clone(),
                line: 0,
                column: 0,
            },
            input: skipped.name,
            why: skipped.why,
        }));
    Ok((loaded, sources))
}

fn one(
    loaded: &LoadedSchema,
    sources: &[Source],
    options: &SchemaOptions,
    plan: &SchemaPlan,
    engines: &mut Engines,
    terminal: &Terminal,
) -> Result<Exit, SchemaRunError> {
    let schema = &loaded.schema;
    introduce(loaded, sources, terminal);
    let syntax = loaded
        .limitations
        .iter()
        .any(|limitation| limitation.severity == Severity::Syntax);
    let mut exit = if syntax { Exit::Usage } else { Exit::Clean };
    if schema.tables.is_empty() {
        return Err(SchemaRunError::Flag(format!(
            "{} defines no table; expected SQL with CREATE TABLE statements",
            schema.name
        )));
    }
    let started = Instant::now();
    let found = run_schema(loaded, plan);
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    // A suite that nobody reads and no engine runs is not printed.
    let out = match (&options.out, options.json) {
        (Some(out), _) => Some(out.clone()),
        (None, false) => Some("isobath-out".into()),
        (None, true) => None,
    };
    let runs = engines_wanted(options).next().is_some();
    let suite = (runs || out.is_some()).then(|| dressed(found.suite(), options, loaded, sources));
    let limitations: Vec<_> = loaded
        .limitations
        .iter()
        .chain(&found.notes)
        .cloned()
        .collect();
    terminal.translations(&found.notes);
    let mut report = overview(
        &found.schema,
        found.dialect,
        &found.outcome,
        suite.as_ref(),
        &limitations,
        found.analysis.as_ref(),
    );
    report.dialect = loaded.dialect.to_string();
    report.dialect_evidence = loaded.evidence.clone();
    report.engine = "none".to_owned();
    report.totals.millis = Some(millis);
    let confirmed = match &suite {
        Some(suite) => confirm_all(
            loaded,
            &found,
            suite,
            options,
            engines,
            &mut report,
            terminal,
        ),
        None => Ok(Exit::Clean),
    };
    // What was found is handed over also when a database died on the way.
    if let (Some(out), Some(suite)) = (&out, &suite) {
        let folder = output::write(out, suite, &report, &options.lang)?;
        terminal.say(
            Tone::Plain,
            &format!("  wrote {}", folder.join("report.html").display()),
        );
    }
    summary::tell(&report, terminal);
    if options.json {
        let object = serde_json::to_string(&summary::Summary::of(&report))
            .expect("a summary is plain numbers and text");
        terminal.object(&object);
    }
    exit = exit.max(confirmed?);
    Ok(exit)
}

/// Says what was read.
fn introduce(loaded: &LoadedSchema, sources: &[Source], terminal: &Terminal) {
    let tables = &loaded.schema.tables;
    let columns: usize = tables.iter().map(|table| table.columns.len()).sum();
    terminal.say(
        Tone::Plain,
        &format!(
            "{}: {} tables, {columns} columns; dialect {} ({})",
            loaded.schema.name,
            tables.len(),
            loaded.dialect,
            loaded.evidence
        ),
    );
    terminal.limitations(&loaded.limitations, sources);
}

fn dressed(
    mut suite: isobath_emit::Suite,
    options: &SchemaOptions,
    loaded: &LoadedSchema,
    sources: &[Source],
) -> isobath_emit::Suite {
    suite.seed = options.seed;
    suite.generator.clone_from(&options.generator);
    suite.criterion.clone_from(&options.criterion);
    suite.version = env!("CARGO_PKG_VERSION").to_owned();
    suite.command = Some(command(options, loaded, sources));
    suite
}

/// The command that makes a suite again; a folder or database is called by the schema's name.
fn command(options: &SchemaOptions, loaded: &LoadedSchema, sources: &[Source]) -> String {
    let place = match sources {
        [file] => file.name.as_str(),
        _ => loaded.schema.name.as_str(),
    };
    let mut words = vec![
        format!("isobath schema {place}"),
        format!("--dialect {}", loaded.dialect),
        format!("--criterion {}", options.criterion),
        format!("--generator {}", options.generator),
        format!("--seed {}", options.seed),
    ];
    let engine = options.engines.first().copied().unwrap_or(options.engine);
    words.push(format!(
        "--engine {}",
        engine.engine().map_or("none", Engine::as_str)
    ));
    if let Some(extras) = options.extras {
        words.push(format!("--extras {extras}"));
    }
    if options.strengthen {
        words.push("--strengthen".to_owned());
        if options.operators == Operators::Paper {
            words.push("--operators paper".to_owned());
        }
    }
    if options.reduce {
        words.push("--reduce".to_owned());
    }
    words.join(" ")
}

/// The engines asked for, the one that the suite is made for first.
fn engines_wanted(options: &SchemaOptions) -> impl Iterator<Item = Engine> {
    let several = options.engines.iter().copied();
    let one = options.engines.is_empty().then_some(options.engine);
    several.chain(one).filter_map(EngineName::engine)
}

/// Runs the suite on every engine asked for.
fn confirm_all(
    loaded: &LoadedSchema,
    found: &SchemaRun,
    suite: &isobath_emit::Suite,
    options: &SchemaOptions,
    engines: &mut Engines,
    report: &mut RunReport,
    terminal: &Terminal,
) -> Result<Exit, SchemaRunError> {
    let mut wanted = engines_wanted(options);
    let Some(first) = wanted.next() else {
        return Ok(Exit::Clean);
    };
    report.engine = first.to_string();
    let confirmation = confirm::confirm(suite, engines.database(first)?)?;
    let mut exit = told(&confirmation, first, report, terminal);
    if let (true, Some(analysis)) = (options.confirm, &found.analysis) {
        let kills = mutation::confirm(
            analysis,
            &found.outcome.tests,
            engines.database(first)?,
            usize::MAX,
        )?;
        let skipped = match kills.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        let line = format!(
            "  {} killed mutants confirmed on {first}{skipped}",
            kills.agreed
        );
        terminal.say(Tone::Good, &line);
        for one in &kills.disagreements {
            terminal.complain(&format!(
                "  {first} disagrees about a mutant ({}): expected {}, got {} for {}",
                analysis.mutants[one.mutant].description, one.memory, one.engine, one.sql
            ));
            exit = exit.max(Exit::Findings);
        }
    }
    for other in wanted {
        let differences = cross_engine::compare(
            loaded,
            &found.outcome.tests,
            &found.schema,
            other,
            engines.database(other)?,
        )?;
        tell_differences(
            &differences,
            (first, other),
            found.outcome.tests.len(),
            terminal,
        );
        report
            .disagreements
            .extend(differences.into_iter().map(|difference| Disagreement {
                test: difference.test,
                sql: difference.sql,
                outcomes: vec![
                    (first.to_string(), difference.first),
                    (other.to_string(), difference.other),
                ],
            }));
        if !report.disagreements.is_empty() {
            exit = exit.max(Exit::Findings);
        }
    }
    Ok(exit)
}

/// Says on how many tests two engines agree, and the first on which they do not.
fn tell_differences(
    differences: &[EngineDifference],
    (first, other): (Engine, Engine),
    n_tests: usize,
    terminal: &Terminal,
) {
    let tone = match differences {
        [] => Tone::Good,
        _ => Tone::Warning,
    };
    let n_agreed = n_tests - differences.len();
    let line = format!("  {other} agrees with {first} on {n_agreed} of {n_tests} tests");
    terminal.say(tone, &line);
    for difference in differences.iter().take(8) {
        terminal.say(
            Tone::Plain,
            &format!(
                "    {}: {first} {}, {other} {}",
                difference.test, difference.first, difference.other
            ),
        );
    }
}

fn told(
    confirmation: &Confirmation,
    engine: Engine,
    report: &mut RunReport,
    terminal: &Terminal,
) -> Exit {
    for (sql, message) in &confirmation.refused_setup {
        terminal.complain(&format!(
            "  {engine} rejected `{}`: {message}",
            sql.lines().next().unwrap_or_default()
        ));
    }
    for disagreement in confirmation.disagreements.iter().take(8) {
        terminal.complain(&format!(
            "  {engine} disagrees with `{}`: expected {}, got {} for {}",
            disagreement.test, disagreement.expected, disagreement.actual, disagreement.sql
        ));
    }
    report
        .disagreements
        .extend(
            confirmation
                .disagreements
                .iter()
                .map(|disagreement| Disagreement {
                    test: disagreement.test.clone(),
                    sql: disagreement.sql.clone(),
                    outcomes: vec![
                        ("isobath".to_owned(), disagreement.expected.clone()),
                        (engine.to_string(), disagreement.actual.clone()),
                    ],
                }),
        );
    if confirmation.disagreements.is_empty() && confirmation.refused_setup.is_empty() {
        terminal.say(
            Tone::Good,
            &format!("  all {} tests confirmed on {engine}", confirmation.agreed),
        );
        Exit::Clean
    } else {
        Exit::Findings
    }
}
