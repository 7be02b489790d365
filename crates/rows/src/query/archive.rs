//! Archive of the query job: covering candidates, and the status of every target.

use isobath_sql::eval::{EvalError, Unsupported};
use isobath_sql::query::model::{From, QueryBody};
use isobath_sql::query::{Query, measure};

use super::candidate::Candidate;
use super::construct::{SolverContext, complete};
use super::job::TargetStatus;
use super::minimize::is_monotone;
use super::target::QueryTarget;
use super::unread;

/// How far a target is that we cannot evaluate over a candidate.
const UNKNOWN: f64 = 1e9;

/// Candidates that cover something, and the outcome of each target.
pub(super) struct Archive<'a> {
    pub(super) context: SolverContext<'a>,
    pub(super) targets: &'a [QueryTarget],
    /// `None` is open.
    pub(super) statuses: Vec<Option<TargetStatus>>,
    pub(super) found: Vec<Candidate>,
    /// What we could not evaluate, by target.
    pub(super) unsupported: Vec<Option<Unsupported>>,
    pub(super) evaluations: u64,
    /// How many combinations of rows they looked at.
    pub(super) combinations: u64,
    /// Whether a target stays covered when there are more rows.
    monotone: Vec<bool>,
    /// The tables of every relation of a target, as often as they are read.
    pub(super) relations: Vec<Vec<usize>>,
    /// Who says whether a target returns a row where we cannot evaluate it.
    judge: Option<&'a mut EngineJudge<'a>>,
    /// How often it may still be asked, by target.
    questions: Vec<u32>,
}

/// Whether a target returns a row over a candidate, asked of an engine; `None` when it does not answer.
pub type EngineJudge<'j> = dyn FnMut(&QueryTarget, &Candidate) -> Option<bool> + 'j;

/// How many combinations of rows an evaluation of a usual size looks at.
const USUAL_COMBINATIONS: u64 = 500;

/// How often an engine is asked about one target.
const MAX_QUESTIONS: u32 = 120;

impl<'a> Archive<'a> {
    pub(super) fn new(
        context: SolverContext<'a>,
        targets: &'a [QueryTarget],
        judge: Option<&'a mut EngineJudge<'a>>,
    ) -> Self {
        let statuses = targets.iter().map(|target| match &target.query {
            Ok(_) => None,
            Err(error) => Some(TargetStatus::Uncovered {
                reason: error.clone().into(),
            }),
        });
        Self {
            context,
            targets,
            statuses: statuses.collect(),
            found: Vec::new(),
            unsupported: vec![None; targets.len()],
            judge,
            questions: vec![MAX_QUESTIONS; targets.len()],
            evaluations: 0,
            combinations: 0,
            relations: targets
                .iter()
                .map(|target| target.query.as_ref().map(relations).unwrap_or_default())
                .collect(),
            monotone: targets
                .iter()
                .map(|target| target.query.as_ref().is_ok_and(is_monotone))
                .collect(),
        }
    }

    /// Whether a target stays covered when there are more rows.
    pub(super) fn is_monotone(&self, target: usize) -> bool {
        self.monotone[target]
    }

    pub(super) fn is_open(&self, target: usize) -> bool {
        self.statuses[target].is_none()
    }

    /// The targets that are neither covered nor proven infeasible.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.targets.len())
            .filter(|target| self.is_open(*target))
            .collect()
    }

    /// What was spent so far, in evaluations of a usual size.
    pub(super) fn spent(&self) -> u64 {
        self.evaluations + self.combinations / USUAL_COMBINATIONS
    }

    /// How far a target is from returning a row over a candidate.
    pub(super) fn distance(&mut self, target: usize, candidate: &Candidate) -> f64 {
        let Ok(query) = &self.targets[target].query else {
            return self.judged(target, candidate);
        };
        self.evaluations += 1;
        let parameters = &candidate.parameters;
        let context = &self.context;
        let (measured, combinations) = measure(
            query,
            candidate,
            parameters,
            Some(context.now),
            context.dialect,
        );
        self.combinations += combinations;
        match measured {
            Ok(distance) => distance,
            Err(error) => {
                if let EvalError::Unsupported(unsupported) = error {
                    self.unsupported[target] = Some(unsupported);
                    return self.judged(target, candidate);
                }
                UNKNOWN
            }
        }
    }

    /// The engine's verdict on a target that we cannot evaluate.
    fn judged(&mut self, target: usize, candidate: &Candidate) -> f64 {
        let Some(judge) = &mut self.judge else {
            return UNKNOWN;
        };
        let Some(left) = self.questions[target].checked_sub(1) else {
            return UNKNOWN;
        };
        self.questions[target] = left;
        match judge(&self.targets[target], candidate) {
            Some(true) => 0.0,
            Some(false) | None => UNKNOWN,
        }
    }

    /// Asks about the targets that we cannot read, over what was found for others and over a few rows of their
    /// tables.
    pub(super) fn ask_about_unread(&mut self) {
        for target in 0..self.targets.len() {
            if self.targets[target].query.is_ok() || self.judge.is_none() {
                continue;
            }
            let found = (0..self.found.len()).find(|number| {
                let candidate = self.found[*number].clone();
                self.covers(target, &candidate)
            });
            if let Some(number) = found {
                self.statuses[target] = Some(TargetStatus::Covered(number));
                continue;
            }
            let trials = unread::candidates(&self.targets[target], self.context);
            if let Some(candidate) = trials.into_iter().find(|of| self.covers(target, of)) {
                self.keep(target, candidate);
            }
        }
    }

    pub(super) fn covers(&mut self, target: usize, candidate: &Candidate) -> bool {
        self.distance(target, candidate) == 0.0
    }

    /// As [`Archive::distance`], where rows that the database refuses do not count.
    pub(super) fn constraint_distance(&mut self, target: usize, candidate: &Candidate) -> f64 {
        let distance = self.distance(target, candidate);
        if distance > 0.0 || !self.context.constraints {
            return distance;
        }
        match complete(&self.context, candidate.clone()) {
            Some(completed) if self.covers(target, &completed) => 0.0,
            _ => f64::MIN_POSITIVE,
        }
    }

    /// Keeps a candidate that covers a target, and asks the other open targets about it.
    pub(super) fn keep(&mut self, target: usize, candidate: Candidate) {
        let number = self.found.len();
        self.statuses[target] = Some(TargetStatus::Covered(number));
        for other in self.open() {
            if self.covers(other, &candidate) {
                self.statuses[other] = Some(TargetStatus::Covered(number));
            }
        }
        self.found.push(candidate);
    }
}

/// The tables of every relation of a query and its subqueries, as often as they are read.
fn relations(query: &Query) -> Vec<usize> {
    let mut found = Vec::new();
    gather(query, &mut found);
    found
}

fn gather(query: &Query, found: &mut Vec<usize>) {
    match &query.body {
        QueryBody::Select(select) => {
            if let Some(from) = &select.from {
                gather_from(from, found);
            }
            for subquery in &select.subqueries {
                gather(&subquery.query, found);
            }
        }
        QueryBody::Set { left, right, .. } => {
            gather(left, found);
            gather(right, found);
        }
        QueryBody::Values(_) => {}
    }
}

fn gather_from(from: &From, found: &mut Vec<usize>) {
    match from {
        From::Table { table, .. } => found.push(*table),
        From::Derived { query, .. } => gather(query, found),
        From::Join { left, right, .. } => {
            gather_from(left, found);
            gather_from(right, found);
        }
    }
}
