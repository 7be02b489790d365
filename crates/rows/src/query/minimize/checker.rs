//! Checks during minimization whether a candidate still covers its targets, within a budget.

use isobath_sql::Value;

use super::FixtureDraft;
use crate::query::archive::Archive;
use crate::query::candidate::Candidate;
use crate::query::construct::{SolverContext, complete};

/// How many combinations of rows, and how many pairs of them, cost as much as asking at all.
const COMBINATIONS_PER_UNIT: u64 = 8;
const PAIRS_PER_UNIT: u64 = 16;

/// Asks whether candidates still cover targets. The answers are the evaluator's; when patience has
/// run out, nothing more should be tried.
pub(super) struct CoverageChecker<'j, 'a> {
    archive: &'j mut Archive<'a>,
    patience: u64,
}

/// A value of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueSlot {
    /// Table, row, column.
    Cell(usize, usize, usize),
    /// The number of a parameter.
    Parameter(usize),
}

/// Values that are put in place at once or not at all.
pub(super) type Edit = Vec<(ValueSlot, Value)>;

impl<'j, 'a> CoverageChecker<'j, 'a> {
    pub(super) fn new(archive: &'j mut Archive<'a>) -> Self {
        Self {
            archive,
            patience: 0,
        }
    }

    /// More patience.
    pub(super) fn add_budget(&mut self, units: u64) {
        self.patience += units;
    }

    pub(super) fn context(&self) -> SolverContext<'a> {
        self.archive.context
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.patience == 0
    }

    /// Whether a target stays covered when there are more rows.
    pub(super) fn is_monotone(&self, target: usize) -> bool {
        self.archive.is_monotone(target)
    }

    /// How many combinations of rows a target has to look through at most.
    pub(super) fn combinations(&self, target: usize, rows: &dyn Fn(usize) -> usize) -> u64 {
        let relations = self.archive.relations[target].iter();
        relations.fold(1, |product: u64, table| {
            product.saturating_mul((rows(*table) as u64).max(1))
        })
    }

    pub(super) fn target(&self, target: usize) -> &'a crate::query::target::QueryTarget {
        &self.archive.targets[target]
    }

    pub(super) fn covers(&mut self, target: usize, candidate: &Candidate) -> bool {
        let rows = |table: usize| candidate.rows.get(&table).map_or(0, Vec::len);
        // Conditions of joins leave few of all combinations to be looked at.
        let relations = self.archive.relations[target].iter();
        let sum: u64 = relations.map(|table| rows(*table) as u64).sum();
        let all = self.combinations(target, &rows) / COMBINATIONS_PER_UNIT;
        let cost = 1 + all.min(sum * sum / PAIRS_PER_UNIT);
        self.patience = self.patience.saturating_sub(cost);
        self.archive.covers(target, candidate)
    }

    pub(super) fn covers_all(&mut self, targets: &[usize], candidate: &Candidate) -> bool {
        targets.iter().all(|target| self.covers(*target, candidate))
    }

    /// Whether a database takes all rows as they are.
    pub(super) fn satisfies_constraints(&mut self, candidate: &Candidate) -> bool {
        let context = self.context();
        if !context.constraints {
            return true;
        }
        self.patience = self.patience.saturating_sub(1);
        complete(&context, candidate.clone()).as_ref() == Some(candidate)
    }

    /// Makes as many edits as leave the rows lawful and the targets covered: all at once if that
    /// goes, else halves of them.
    pub(super) fn edit(&mut self, candidate: &mut Candidate, targets: &[usize], edits: &[Edit]) {
        if edits.is_empty() || self.is_exhausted() {
            return;
        }
        let mut edited = candidate.clone();
        for (place, value) in edits.iter().flatten() {
            put(&mut edited, *place, value.clone());
        }
        if self.satisfies_constraints(&edited) && self.covers_all(targets, &edited) {
            *candidate = edited;
        } else if edits.len() > 1 {
            let (one, other) = edits.split_at(edits.len() / 2);
            self.edit(candidate, targets, one);
            self.edit(candidate, targets, other);
        }
    }
}

/// Puts a value into its place.
pub(super) fn put(candidate: &mut Candidate, place: ValueSlot, value: Value) {
    match place {
        ValueSlot::Cell(table, row, column) => {
            let rows = candidate.rows.get_mut(&table);
            if let Some(cell) = rows.and_then(|rows| rows.get_mut(row)?.get_mut(column)) {
                *cell = value;
            }
        }
        ValueSlot::Parameter(number) => candidate.bind(number, value),
    }
}

impl FixtureDraft {
    /// The targets that it covers.
    pub(super) fn targets(&self) -> Vec<usize> {
        self.covers.iter().map(|(target, _)| *target).collect()
    }

    /// Whether one of its targets speaks of a parameter.
    pub(super) fn mentions(&self, checker: &CoverageChecker<'_, '_>, parameter: usize) -> bool {
        let mut targets = self.covers.iter();
        targets.any(|(target, _)| checker.target(*target).parameters.contains(&parameter))
    }
}
