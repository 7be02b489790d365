//! Covers one query: generates its targets, finds rows, confirms them on the database.

use isobath_exec::{Database, Engine};
use isobath_rows::query::algorithm::Config;
use isobath_rows::query::candidate::Candidate;
use isobath_rows::query::confirm::{self, EngineVerdict};
use isobath_rows::query::construct::SolverContext;
use isobath_rows::query::fixture::Fixture;
use isobath_rows::query::job::{self, CoverageOutcome, TargetStatus, UncoveredReason};
use isobath_rows::query::mutation::{self, MutationAnalysis};
use isobath_rows::query::parameter;
use isobath_rows::query::print;
use isobath_rows::query::stop::StopSignal;
use isobath_rows::query::target::QueryTarget;
use isobath_sql::coverage::{self, QueryCriterion};
use isobath_sql::ddl::Source;
use isobath_sql::limitation::{Limitation, Severity, SourceLocation};
use isobath_sql::query::distance;
use isobath_sql::referenced_tables::referenced_tables;
use isobath_sql::{DialectName, Schema};
use jiff::civil::DateTime;

use super::args::{CriterionName, QueryOptions};
use super::error::QueryRunError;
use super::read::{QueryText, Targets};
use super::suggest;
use crate::terminal::Terminal;

/// What stays the same for all queries.
pub(crate) struct QueryCoverage<'r> {
    /// The flags.
    pub options: &'r QueryOptions,
    /// The terminal.
    pub terminal: &'r Terminal,
    /// The tables.
    pub schema: &'r Schema,
    /// SQL dialect of the schema and the queries.
    pub written: DialectName,
    /// The database that confirms.
    pub engine: Option<Engine>,
    /// Targets of a file, instead of generated ones.
    pub targets: Option<Targets>,
    /// Tables that the database refused to create.
    pub missing: Vec<usize>,
    /// When the query at hand has to end.
    pub stop: StopSignal<'r>,
}

/// Why a query has no targets.
#[derive(Clone, Debug)]
pub(crate) struct QueryProblem {
    /// What is wrong.
    pub why: String,
    /// Where.
    pub location: SourceLocation,
}

impl QueryProblem {
    fn new(why: String, at: Option<(u64, u64)>, given: &QueryText, source: &Source) -> Self {
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
        Self { why, location }
    }
}

impl QueryCoverage<'_> {
    /// The dialect whose rules apply.
    pub(crate) fn rules(&self) -> DialectName {
        self.engine.map_or(self.written, Engine::dialect)
    }

    /// The targets of a query, or why there are none.
    pub(crate) fn targets(
        &self,
        given: &QueryText,
        source: &Source,
    ) -> Result<Vec<QueryTarget>, QueryProblem> {
        let problem =
            |why: String, at: Option<(u64, u64)>| QueryProblem::new(why, at, given, source);
        if let Some(why) = &given.broken {
            return Err(problem(why.clone(), None));
        }
        let read = |targets: &[String], dialect| {
            let targets = targets.iter();
            targets
                .map(|sql| QueryTarget::read(sql, "recorded", "", self.schema, dialect))
                .collect()
        };
        if let Some(targets) = &self.targets {
            let dialect = if targets.ansi {
                DialectName::Ansi
            } else {
                self.written
            };
            return Ok(read(&targets.of(&given.id), dialect));
        }
        let criterion = match self.options.criterion {
            CriterionName::Recorded => return Ok(read(&given.targets, DialectName::Ansi)),
            CriterionName::Fpc => QueryCriterion::Fpc,
            CriterionName::Extended => QueryCriterion::Extended,
        };
        let options = coverage::CoverageOptions::default();
        let made = coverage::targets(&given.sql, self.schema, self.written, criterion, options)
            .map_err(|error| {
                let at = error.location().or_else(|| end_of(&error, &given.sql));
                let mut why = error.to_string();
                if let Some(meant) = suggest::meant(&error, self.schema) {
                    why.push_str(&format!("; did you mean `{meant}`?"));
                }
                problem(why, at)
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
            return Err(problem(error.to_string(), at));
        }
        Ok(targets)
    }

    /// The outcome of a query that reads a table which the database refused to create.
    pub(crate) fn not_run(
        &self,
        given: &QueryText,
        targets: &[QueryTarget],
    ) -> Option<CoverageOutcome> {
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
        let ansi = match &self.targets {
            Some(targets) => targets.ansi,
            None => self.options.criterion == CriterionName::Recorded,
        };
        if ansi {
            confirm::quote_identifiers(sql, self.schema, dialect)
        } else {
            sql.to_owned()
        }
    }

    /// Functions that our evaluator does not know, where the query calls them.
    pub(crate) fn unsupported(
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
            let why =
                format!("unsupported function `{name}`; targets that depend on it stay uncovered");
            QueryProblem::new(why, at, given, source)
        });
        problems.collect()
    }

    /// Says that a query has no targets.
    pub(crate) fn complain(&self, given: &QueryText, source: &Source, problem: &QueryProblem) {
        let limitation = Limitation {
            severity: Severity::Syntax,
            location: problem.location.clone(),
            input: given.id.clone(),
            why: format!("{}: {}", given.id, problem.why),
        };
        self.terminal
            .limitations(&[limitation], std::slice::from_ref(source));
    }

    /// Rows for the targets. What depends on the time is built for the engine's time, unless its
    /// clock can be stopped; what we cannot evaluate is judged by the engine.
    ///
    /// # Errors
    ///
    /// When the connection is lost.
    pub(crate) fn find(
        &self,
        given: &QueryText,
        targets: &[QueryTarget],
        stored: &Schema,
        mut database: Option<&mut dyn Database>,
    ) -> Result<CoverageOutcome, QueryRunError> {
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
        let config = self.config();
        let Some(database) = database else {
            return Ok(job::run(targets, setting, &config));
        };
        let dialect = database.dialect();
        let mut lost = None;
        let mut judge = |target: &QueryTarget, candidate: &Candidate| {
            let sql = self.engine_text(&target.sql, dialect);
            let returns =
                confirm::returns_row(&sql, target, candidate, setting, stored, &mut *database);
            returns.map_err(|error| lost = Some(error)).ok()
        };
        let outcome = job::run_judged(targets, setting, &config, Some(&mut judge));
        match lost {
            Some(error) => Err(error.into()),
            None => Ok(outcome),
        }
    }

    fn context(&self) -> SolverContext<'_> {
        SolverContext {
            constraints: !self.options.ignore_constraints,
            stop: self.stop,
            ..SolverContext::new(self.schema, self.rules().dialect())
        }
    }

    fn config(&self) -> Config {
        Config {
            algorithm: self.options.algorithm,
            seed: self.options.seed,
            budget: self.options.budget,
            ..Config::default()
        }
    }

    /// What became of the mutants of a query, where they are asked for; fixtures that kill more of them are added.
    pub(crate) fn mutate(
        &self,
        given: &QueryText,
        targets: &mut Vec<QueryTarget>,
        outcome: &mut CoverageOutcome,
    ) -> Option<MutationAnalysis> {
        let options = self.options;
        if !(options.mutate || options.strengthen) {
            return None;
        }
        let context = SolverContext {
            now: outcome.now,
            ..self.context()
        };
        let (sql, written, config) = (&given.sql, self.written, self.config());
        let adds = options.strengthen;
        mutation::analyze(sql, written, context, &config, adds, targets, outcome).ok()
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
    pub(crate) fn confirm(
        &self,
        given: &QueryText,
        targets: &[QueryTarget],
        outcome: &mut CoverageOutcome,
        stored: &Schema,
        database: &mut dyn Database,
    ) -> Result<Vec<String>, QueryRunError> {
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
