//! Code targets as search targets, and code coverage.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_exec::driver::{Event, Target as CodeTarget, TargetKind};
use isobath_search::{Score, TargetId};
use isobath_sql::DialectName;
use isobath_sql::query::shape;

use crate::exchange::Exchange;
use crate::target::{Target, Targets, outcome};

/// The code of a service, as far as its driver knows it.
#[derive(Clone, Debug, Default)]
pub struct CodeTargets {
    /// By number of the target.
    target_states: Vec<TargetState>,
    /// Whether the search is not to know.
    silent: bool,
    /// Statements that a database ran and that look for rows, one of each shape.
    statements: BTreeMap<String, String>,
}

/// Shapes of statements that are kept; a service that writes values into its statements has as many as it is
/// called with.
const STATEMENTS: usize = 1_000;

/// State of one code target.
#[derive(Clone, Debug, Default)]
struct TargetState {
    target: Option<Arc<CodeTarget>>,
    /// Its number in the search, once it was reached.
    id: Option<TargetId>,
    /// The best score so far, and the operation that had it.
    best: f64,
    operation: Option<usize>,
}

/// What of the code is covered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeCoverage {
    /// Lines with a statement on them.
    pub lines: CoverageCount,
    /// Outcomes of conditions, arms, and operations that may fail.
    pub branches: CoverageCount,
    /// Places that may panic; the covered ones did.
    pub faults: CoverageCount,
    /// By file.
    pub files: BTreeMap<String, FileCoverage>,
}

/// What of a file is covered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileCoverage {
    /// The lines with a statement on them, and whether one of it is covered.
    pub lines: BTreeMap<u32, bool>,
    /// Outcomes of conditions, arms, and operations that may fail.
    pub branches: CoverageCount,
    /// Those of them that are not covered.
    pub missed: Vec<MissedBranch>,
}

/// An uncovered branch.
#[derive(Clone, Debug, PartialEq)]
pub struct MissedBranch {
    /// The line.
    pub line: u32,
    /// What did not happen, in words.
    pub what: String,
    /// How near the nearest call came to it, from 0 to 1; 0 when the place was never come to.
    pub score: f64,
}

impl FileCoverage {
    /// How many of its lines are covered.
    #[must_use]
    pub fn share(&self) -> CoverageCount {
        let mut share = CoverageCount::default();
        self.lines.values().for_each(|covered| share.add(*covered));
        share
    }
}

/// Covered and total count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverageCount {
    /// How many are covered.
    pub covered: usize,
    /// How many there are.
    pub total: usize,
}

impl CoverageCount {
    fn add(&mut self, covered: bool) {
        self.total += 1;
        self.covered += usize::from(covered);
    }
}

impl CodeTargets {
    /// The code with these targets, some of them covered before anything was called.
    #[must_use]
    pub fn new(targets: &[CodeTarget], covered_at_start: &[u32]) -> Self {
        let mut code = Self::default();
        for target in targets {
            code.target_state(target.id).target = Some(Arc::new(target.clone()));
        }
        for &number in covered_at_start {
            code.target_state(number).best = 1.0;
        }
        code
    }

    /// The same code, only counted: the search does not learn of it.
    #[must_use]
    pub fn silent(mut self, silent: bool) -> Self {
        self.silent = silent;
        self
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "the states are extended to the number just before"
    )]
    fn target_state(&mut self, number: u32) -> &mut TargetState {
        let at = number as usize;
        if self.target_states.len() <= at {
            self.target_states.resize_with(at + 1, TargetState::default);
        }
        &mut self.target_states[at]
    }

    /// Adds the scores of what a call reached.
    pub(crate) fn score(
        &mut self,
        exchange: &Exchange,
        targets: &mut Targets,
        scores: &mut Vec<Score>,
    ) {
        self.note_statements(&exchange.trace.events);
        for &(number, score) in &exchange.trace.reached {
            // A driver that names what it never made known is not worth a crash.
            let Some(target_state) = self.target_states.get_mut(number as usize) else {
                continue;
            };
            let Some(target) = &target_state.target else {
                continue;
            };
            if score > target_state.best {
                target_state.best = score;
                target_state.operation = exchange.operation;
            }
            if self.silent {
                continue;
            }
            let id = *target_state
                .id
                .get_or_insert_with(|| targets.id(Target::Code(number, Arc::clone(target))));
            scores.push(Score::new(id, score));
        }
    }

    fn note_statements(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Statement {
                text,
                database,
                failure: None,
                ..
            } = event
                && self.statements.len() < STATEMENTS
                && looks_for_rows(text)
            {
                let dialect = database.parse().unwrap_or(DialectName::Ansi);
                let text_of_shape = self.statements.entry(shape(text, dialect).text);
                text_of_shape.or_insert_with(|| text.clone());
            }
        }
    }

    /// Statements that a database ran for the service and that look for rows: the first of each shape, with the values of its call.
    pub fn statements(&self) -> impl Iterator<Item = &str> {
        self.statements.values().map(String::as_str)
    }

    /// The operation that came nearest to a target.
    #[must_use]
    pub fn operation(&self, number: u32) -> Option<usize> {
        self.target_states.get(number as usize)?.operation
    }

    /// Whether there is anything to cover.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.target_states.is_empty()
    }

    /// What is covered so far.
    #[must_use]
    pub fn coverage(&self) -> CodeCoverage {
        let mut coverage = CodeCoverage::default();
        for target_state in &self.target_states {
            let Some(target) = &target_state.target else {
                continue;
            };
            let covered = target_state.best >= 1.0;
            if target.kind == TargetKind::Fault {
                coverage.faults.add(covered);
                continue;
            }
            let file = coverage.files.entry(target.file.clone()).or_default();
            match target.kind {
                TargetKind::Statement => *file.lines.entry(target.line).or_default() |= covered,
                _ => {
                    coverage.branches.add(covered);
                    file.branches.add(covered);
                    if !covered {
                        file.missed.push(MissedBranch {
                            line: target.line,
                            what: format!("`{}` {}", target.text, outcome(target.kind)),
                            score: target_state.best,
                        });
                    }
                }
            }
        }
        for file in coverage.files.values() {
            let share = file.share();
            coverage.lines.covered += share.covered;
            coverage.lines.total += share.total;
        }
        coverage
    }
}

/// Whether a statement has conditions of its own, as those that only write, define or begin something have not.
fn looks_for_rows(statement: &str) -> bool {
    let first = statement.split_whitespace().next().unwrap_or_default();
    let looks = ["SELECT", "WITH", "UPDATE", "DELETE"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word));
    // Tables of the database itself are in no schema.
    let lower = statement.to_ascii_lowercase();
    let own = ["sqlite_", "pg_catalog.", "information_schema."];
    looks && !own.iter().any(|name| lower.contains(name))
}
