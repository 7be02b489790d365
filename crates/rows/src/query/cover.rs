//! Covers one query: generates its targets, finds rows, confirms them on the database.

use isobath_exec::{Database, DatabaseError, Engine};
use isobath_sql::coverage::{self, QueryCriterion, TargetError};
use isobath_sql::ddl::Source;
use isobath_sql::limitation::SourceLocation;
use isobath_sql::query::{ResolveError, distance};
use isobath_sql::referenced_tables::referenced_tables;
use isobath_sql::{DialectName, Schema};
use jiff::civil::DateTime;

use super::algorithm::Config;
use super::candidate::Candidate;
use super::confirm::{self, EngineVerdict};
use super::construct::SolverContext;
use super::fixture::Fixture;
use super::job::{self, CoverageOutcome, TargetStatus, UncoveredReason};
use super::mutation::{self, MutationAnalysis};
use super::stop::StopSignal;
use super::target::QueryTarget;
use super::{parameter, print};

/// One query of an input.
#[derive(Clone, Debug, Default)]
pub struct QueryText {
    /// Its name in reports.
    pub id: String,
    /// Its text, with blanks before it so that its columns are those of the file.
    pub sql: String,
    /// Targets that came with it.
    pub targets: Vec<String>,
    /// Line of the file at which it starts, from one.
    pub line: u64,
    /// What is wrong with the line, when it is no query at all.
    pub broken: Option<String>,
    /// Whether lines and columns of the text are not those of the file, as inside JSON.
    pub encoded: bool,
}

/// Targets from a file.
#[derive(Debug, Default)]
pub struct GivenTargets {
    /// Whether they are written with ANSI quotes, as recorded ones are.
    pub ansi: bool,
    /// The targets, each with the id of its query where the file names it.
    pub lines: Vec<(Option<String>, String)>,
}

impl GivenTargets {
    /// The targets of a query.
    fn of(&self, id: &str) -> Vec<String> {
        let lines = self.lines.iter();
        lines
            .filter(|(of, _)| of.as_deref().is_none_or(|of| of == id))
            .map(|(_, sql)| sql.clone())
            .collect()
    }
}

/// Where targets come from.
#[derive(Debug)]
pub enum TargetSource {
    /// Generated from each query.
    Criterion(QueryCriterion),
    /// Recorded with each query.
    Recorded,
    /// Given for all queries.
    Given(GivenTargets),
}

/// Which mutants of a query are analyzed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MutationMode {
    /// None.
    #[default]
    Off,
    /// All; the fixtures stay as they are.
    Measure,
    /// All; fixtures are added that kill more of them.
    Strengthen,
}

/// What stays the same for all queries.
#[derive(Debug)]
pub struct QueryCoverage<'r> {
    /// The tables.
    pub schema: &'r Schema,
    /// SQL dialect of the schema and the queries.
    pub written: DialectName,
    /// The database that confirms.
    pub engine: Option<Engine>,
    /// Where targets come from.
    pub source: TargetSource,
    /// Whether rows satisfy keys, foreign keys, CHECKs and lengths.
    pub constraints: bool,
    /// The search.
    pub config: Config,
    /// Which mutants are analyzed.
    pub mutation: MutationMode,
    /// Tables that the database refused to create.
    pub missing: Vec<usize>,
    /// When the query at hand has to end.
    pub stop: StopSignal<'r>,
}

/// Why a query, or a part of it, has no targets.
#[derive(Clone, Debug)]
pub struct QueryProblem {
    /// What is wrong.
    pub reason: ProblemReason,
    /// Where.
    pub location: SourceLocation,
}

/// What is wrong with a query.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProblemReason {
    /// The input is no query.
    #[error("{0}")]
    Broken(String),
    /// No targets can be made of it.
    #[error(transparent)]
    Targets(#[from] TargetError),
    /// None of its targets can be evaluated.
    #[error(transparent)]
    Unevaluated(Box<ResolveError>),
    /// It calls a function that we do not evaluate.
    #[error("unsupported function `{0}`; targets that depend on it stay uncovered")]
    Function(String),
}

impl QueryProblem {
    fn new(
        reason: ProblemReason,
        at: Option<(u64, u64)>,
        given: &QueryText,
        source: &Source,
    ) -> Self {
        // Inside a line of JSON or a string of Rust, the text's own columns mean nothing.
        let (line, column) = match at {
            Some((line, column)) if !given.encoded => (given.line + line - 1, column),
            _ => (given.line, 1),
        };
        let source = source.name.clone();
        let location = SourceLocation {
            source,
            line,
            column,
        };
        Self { reason, location }
    }
}

impl QueryCoverage<'_> {
    /// The dialect whose rules apply.
    pub fn rules(&self) -> DialectName {
        self.engine.map_or(self.written, Engine::dialect)
    }

    /// The targets of a query, or why there are none.
    pub fn targets(
        &self,
        given: &QueryText,
        source: &Source,
    ) -> Result<Vec<QueryTarget>, QueryProblem> {
        let problem = |reason: ProblemReason, at| QueryProblem::new(reason, at, given, source);
        if let Some(why) = &given.broken {
            return Err(problem(ProblemReason::Broken(why.clone()), None));
        }
        let read = |targets: &[String], dialect| {
            let targets = targets.iter();
            targets
                .map(|sql| QueryTarget::read(sql, "recorded", "", self.schema, dialect))
                .collect()
        };
        let criterion = match &self.source {
            TargetSource::Criterion(criterion) => *criterion,
            TargetSource::Recorded => return Ok(read(&given.targets, DialectName::Ansi)),
            TargetSource::Given(targets) if targets.ansi => {
                return Ok(read(&targets.of(&given.id), DialectName::Ansi));
            }
            TargetSource::Given(targets) => {
                return Ok(read(&targets.of(&given.id), self.written));
            }
        };
        let options = coverage::CoverageOptions::default();
        let made = coverage::targets(&given.sql, self.schema, self.written, criterion, options)
            .map_err(|error| {
                let at = error.location().or_else(|| end_of(&error, &given.sql));
                problem(error.into(), at)
            })?;
        let targets: Vec<QueryTarget> = made
            .iter()
            .map(|target| QueryTarget::of(target, self.schema, self.written))
            .collect();
        // What no target can be evaluated of is trouble with the query itself, unless an engine judges.
        let all_of_them = self.engine.is_none()
            && !targets.is_empty()
            && targets.iter().all(|target| target.query.is_err());
        if let (true, Some(Err(error))) = (all_of_them, targets.first().map(|t| &t.query)) {
            let at = isobath_sql::query::parse(&given.sql, self.schema, self.written)
                .err()
                .and_then(|error| error.location());
            let reason = ProblemReason::Unevaluated(Box::new(error.clone()));
            return Err(problem(reason, at));
        }
        Ok(targets)
    }

    /// The outcome of a query that reads a table which the database refused to create.
    pub fn not_run(&self, given: &QueryText, targets: &[QueryTarget]) -> Option<CoverageOutcome> {
        let reads = referenced_tables(self.schema, &given.sql, self.written);
        let is_read = |table: &usize| reads.as_ref().is_none_or(|of| of.names.contains(table));
        let table = *self.missing.iter().find(|table| is_read(table))?;
        let reason = UncoveredReason::NotRun {
            table: self.schema.tables[table].name.clone(),
        };
        Some(CoverageOutcome {
            statuses: vec![TargetStatus::Uncovered { reason }; targets.len()],
            ..CoverageOutcome::default()
        })
    }

    /// A target as the database reads it.
    fn engine_text(&self, sql: &str, dialect: DialectName) -> String {
        let ansi = match &self.source {
            TargetSource::Criterion(_) => false,
            TargetSource::Recorded => true,
            TargetSource::Given(targets) => targets.ansi,
        };
        if ansi {
            confirm::quote_identifiers(sql, self.schema, dialect)
        } else {
            sql.to_owned()
        }
    }

    /// Functions that our evaluator does not know, where the query calls them.
    pub fn unsupported(
        &self,
        given: &QueryText,
        source: &Source,
        outcome: &CoverageOutcome,
    ) -> Vec<QueryProblem> {
        let mut names: Vec<&str> = Vec::new();
        for status in &outcome.statuses {
            if let TargetStatus::Uncovered { reason } = status
                && let Some(name) = reason.unsupported_function()
                && !names.iter().any(|known| known.eq_ignore_ascii_case(name))
            {
                names.push(name);
            }
        }
        let problems = names.into_iter().map(|name| {
            let at = called(name, &given.sql);
            QueryProblem::new(ProblemReason::Function(name.to_owned()), at, given, source)
        });
        problems.collect()
    }

    /// Rows for the targets. What depends on the time is built for the engine's time, unless its
    /// clock can be stopped; what we cannot evaluate is judged by the engine.
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    pub fn find(
        &self,
        given: &QueryText,
        targets: &[QueryTarget],
        stored: &Schema,
        mut database: Option<&mut dyn Database>,
    ) -> Result<CoverageOutcome, DatabaseError> {
        let mut setting = self.context();
        let asks = match self.rules() {
            DialectName::Postgres => {
                Some("SELECT to_char(LOCALTIMESTAMP, 'YYYY-MM-DD HH24:MI:SS')")
            }
            DialectName::Sqlite => Some("SELECT datetime('now')"),
            DialectName::MySql | DialectName::Ansi => None,
        };
        if let (Some(database), Some(sql), Some(_)) = (
            &mut database,
            asks,
            print::nondeterministic_call(&given.sql),
        ) {
            let rows = database.query_required(sql)?.rows;
            let now = rows.first().and_then(|row| row.first());
            if let Some(now) = now.and_then(|now| now.to_string().parse().ok()) {
                setting.now = now;
            }
        }
        let Some(database) = database else {
            return Ok(job::run(targets, setting, &self.config));
        };
        let dialect = database.dialect();
        let mut lost = None;
        let mut judge = |target: &QueryTarget, candidate: &Candidate| {
            let sql = self.engine_text(&target.sql, dialect);
            let returns =
                confirm::returns_row(&sql, target, candidate, setting, stored, &mut *database);
            returns.map_err(|error| lost = Some(error)).ok()
        };
        let outcome = job::run_judged(targets, setting, &self.config, Some(&mut judge));
        match lost {
            Some(error) => Err(error),
            None => Ok(outcome),
        }
    }

    fn context(&self) -> SolverContext<'_> {
        SolverContext {
            constraints: self.constraints,
            stop: self.stop,
            ..SolverContext::new(self.schema, self.rules().dialect())
        }
    }

    /// The mutants of a query, where they are asked for; fixtures that kill more of them are added.
    pub fn mutate(
        &self,
        given: &QueryText,
        targets: &mut Vec<QueryTarget>,
        outcome: &mut CoverageOutcome,
    ) -> Option<MutationAnalysis> {
        let adds = match self.mutation {
            MutationMode::Off => return None,
            MutationMode::Measure => false,
            MutationMode::Strengthen => true,
        };
        let context = SolverContext {
            now: outcome.now,
            ..self.context()
        };
        let (sql, written, config) = (&given.sql, self.written, &self.config);
        mutation::analyze(sql, written, context, config, adds, targets, outcome).ok()
    }

    /// Whether our evaluator has a verdict on a target over a fixture.
    fn evaluates(&self, target: &QueryTarget, fixture: &Fixture, now: DateTime) -> bool {
        let rules = self.rules().dialect();
        let rows = &fixture.candidate;
        target
            .query
            .as_ref()
            .is_ok_and(|query| distance(query, rows, &rows.parameters, Some(now), rules).is_ok())
    }

    /// Takes back what the engine does not confirm; says what that was.
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    pub fn confirm(
        &self,
        given: &QueryText,
        targets: &[QueryTarget],
        outcome: &mut CoverageOutcome,
        stored: &Schema,
        database: &mut dyn Database,
    ) -> Result<Vec<String>, DatabaseError> {
        let dialect = database.dialect();
        let mut disagreements = Vec::new();
        for number in 0..outcome.fixtures.len() {
            let fixture = &outcome.fixtures[number];
            let covered: Vec<usize> = (0..targets.len())
                .filter(|index| outcome.statuses[*index] == TargetStatus::Covered(number))
                .collect();
            let sql: Vec<String> = covered
                .iter()
                .map(|index| {
                    let sql = self.engine_text(&targets[*index].sql, dialect);
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
                if let EngineVerdict::Disagrees { actual } = verdict {
                    // What only the engine can judge is no disagreement.
                    if self.evaluates(&targets[index], &outcome.fixtures[number], outcome.now) {
                        disagreements.push(format!(
                            "{}: the evaluator and the engine disagree on `{}`: {actual}",
                            given.id, targets[index].sql
                        ));
                    }
                    outcome.statuses[index] = TargetStatus::Uncovered {
                        reason: UncoveredReason::EngineDisagrees { actual },
                    };
                }
            }
        }
        Ok(disagreements)
    }
}

/// A syntax error without a place is one at the end of the text.
fn end_of(error: &coverage::TargetError, sql: &str) -> Option<(u64, u64)> {
    let coverage::TargetError::Syntax { .. } = error else {
        return None;
    };
    let line = sql.matches('\n').count() as u64 + 1;
    let column = sql.lines().last().map_or(0, |last| last.chars().count()) as u64 + 1;
    Some((line, column))
}

/// Where a text calls a function: line and column, from one.
fn called(name: &str, sql: &str) -> Option<(u64, u64)> {
    let (lower, name) = (sql.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut calls = lower.match_indices(&name).map(|(at, _)| at);
    let at = calls.find(|at| {
        let before = lower[..*at].chars().next_back();
        let apart = before.is_none_or(|c| !(c.is_alphanumeric() || c == '_'));
        apart && lower[at + name.len()..].trim_start().starts_with('(')
    })?;
    let line = sql[..at].matches('\n').count() as u64 + 1;
    let column = sql[..at].chars().rev().take_while(|c| *c != '\n').count() as u64 + 1;
    Some((line, column))
}
