//! One task as search sees it: cells to fill, and how far they are from what is asked.
//!
//! The predicate is compiled once into a tree of leaves. Each leaf remembers
//! its distance until a cell that it reads changes, so that a move of the
//! search costs what it touches and not the whole predicate.

use isobath_distance::Truth;
use isobath_sql::eval::{self, EvalError};
use isobath_sql::memory::compared_as;
use isobath_sql::schema::Filled;
use isobath_sql::{Cell, Row, Table, Value};

use super::{GenerationTask, GeneratorResult};
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

/// The distance of a part that has no gradient.
const WRONG: f64 = 1.0;

/// The distance of a verdict from a NULL: any value is nearer, or search would rest at NULL.
const FROM_NULL: f64 = 1e18;

/// A cell to fill: row, then column.
pub(super) type At = (usize, usize);

/// One task, its cells and its compiled predicate.
pub(super) struct SearchProblem<'p> {
    pub(super) task: &'p GenerationTask<'p>,
    pub(super) rows: Vec<DraftRow<'p>>,
    pub(super) root: PredicateNode,
    pub(super) leaves: Vec<PredicateLeaf<'p>>,
    /// Leaves by the cell that they read.
    readers: Vec<Vec<Vec<usize>>>,
    /// Something that cannot be evaluated, once it was met.
    pub(super) unsupported: Option<String>,
}

/// A row under construction.
pub(super) struct DraftRow<'p> {
    pub(super) table: usize,
    pub(super) definition: &'p Table,
    /// Values as the INSERT gives them.
    pub(super) given: Vec<Value>,
    /// Values as the database stores them.
    pub(super) stored: Vec<Value>,
    /// The last value other than NULL of each cell.
    last: Vec<Option<Value>>,
    /// Cells that an INSERT may give.
    pub(super) free: Vec<bool>,
    /// Cells that the predicate wants to have a value, whatever else holds.
    required: Vec<bool>,
    /// Whether the database computes or replaces values of this row.
    computed: bool,
}

/// The shape of the predicate.
pub(super) enum PredicateNode {
    And(Vec<PredicateNode>),
    Or(Vec<PredicateNode>),
    Leaf(usize),
}

/// A part without parts.
pub(super) struct PredicateLeaf<'p> {
    pub(super) row: usize,
    pub(super) what: &'p Predicate,
    /// `None` until it is computed after a change.
    distance: Option<f64>,
}

/// A row that the new one is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ComparedRow {
    There(usize),
    Draft(usize),
}

impl<'p> SearchProblem<'p> {
    /// `fresh` holds the predicates of the fresh rows, in the task's order.
    pub(super) fn new(task: &'p GenerationTask<'p>, fresh: &'p [Predicate]) -> Self {
        let tables = task.fresh.iter().copied().chain([task.table]);
        let rows: Vec<DraftRow<'p>> = tables.map(|table| DraftRow::new(task, table)).collect();
        let readers = rows
            .iter()
            .map(|row| vec![Vec::new(); row.given.len()])
            .collect();
        let mut problem = Self {
            task,
            rows,
            root: PredicateNode::And(Vec::new()),
            leaves: Vec::new(),
            readers,
            unsupported: None,
        };
        let predicates = fresh.iter().chain([task.predicate]);
        let parts = predicates
            .enumerate()
            .map(|(row, predicate)| {
                problem.require(row, predicate);
                problem.compile(row, predicate)
            })
            .collect();
        problem.root = PredicateNode::And(parts);
        problem
    }

    fn require(&mut self, row: usize, predicate: &Predicate) {
        match predicate {
            Predicate::And(parts) => parts.iter().for_each(|part| self.require(row, part)),
            Predicate::Null {
                column,
                is_null: false,
            } => self.rows[row].required[*column] = true,
            _ => {}
        }
    }

    fn compile(&mut self, row: usize, predicate: &'p Predicate) -> PredicateNode {
        match predicate {
            Predicate::And(parts) => {
                PredicateNode::And(parts.iter().map(|part| self.compile(row, part)).collect())
            }
            Predicate::Or(parts) => {
                PredicateNode::Or(parts.iter().map(|part| self.compile(row, part)).collect())
            }
            leaf => {
                let index = self.leaves.len();
                self.leaves.push(PredicateLeaf {
                    row,
                    what: leaf,
                    distance: None,
                });
                for (row, column) in self.reads(row, leaf) {
                    if !self.readers[row][column].contains(&index) {
                        self.readers[row][column].push(index);
                    }
                }
                PredicateNode::Leaf(index)
            }
        }
    }

    fn reads(&self, row: usize, leaf: &Predicate) -> Vec<At> {
        match leaf {
            Predicate::Null { column, .. } | Predicate::Fits { column, .. } => vec![(row, *column)],
            Predicate::Expr { expr, .. } => expr.columns().into_iter().map(|c| (row, c)).collect(),
            Predicate::Duplicate { constraint, .. } => {
                let constraint = &self.rows[row].definition.constraints[*constraint];
                constraint.columns().into_iter().map(|c| (row, c)).collect()
            }
            Predicate::Match(wanted) => {
                let mut cells = Vec::new();
                let drafts: Vec<usize> = self
                    .others(row, wanted)
                    .filter_map(|other| match other {
                        ComparedRow::There(_) => None,
                        ComparedRow::Draft(draft) => Some(draft),
                    })
                    .collect();
                for (own, theirs) in wanted.equal.iter().chain(&wanted.differ) {
                    cells.push((row, *own));
                    cells.extend(drafts.iter().map(|draft| (*draft, *theirs)));
                }
                cells
            }
            Predicate::And(_) | Predicate::Or(_) => Vec::new(),
        }
    }

    /// The cells that search may fill, row by row.
    pub(super) fn cells(&self) -> Vec<At> {
        let mut cells = Vec::new();
        for (row, draft) in self.rows.iter().enumerate() {
            cells.extend(
                (0..draft.given.len())
                    .filter(|c| draft.free[*c])
                    .map(|c| (row, c)),
            );
        }
        cells
    }

    /// The value that an INSERT would give.
    pub(super) fn given(&self, (row, column): At) -> &Value {
        &self.rows[row].given[column]
    }

    /// The last value other than NULL, for undoing a NULL.
    pub(super) fn last(&self, (row, column): At) -> Option<&Value> {
        self.rows[row].last[column].as_ref()
    }

    /// Whether the predicate of a row demands a value in a cell, whatever else holds.
    pub(super) fn must_have_value(&self, (row, column): At) -> bool {
        self.rows[row].required[column]
    }

    /// Gives a cell a value; false, and no change, when the column does not take it.
    pub(super) fn set(&mut self, (row, column): At, value: Value) -> bool {
        let task = self.task;
        let draft = &mut self.rows[row];
        if !draft.free[column] {
            return false;
        }
        if draft.computed {
            return self.set_computed((row, column), value);
        }
        let stored = if value.is_null() {
            Value::Null
        } else {
            match task.dialect.store_in(&value, draft.definition, column) {
                Ok(stored) => stored,
                Err(_) => return false,
            }
        };
        if !value.is_null() {
            draft.last[column] = Some(value.clone());
        }
        draft.given[column] = value;
        draft.stored[column] = stored;
        for leaf in &self.readers[row][column] {
            self.leaves[*leaf].distance = None;
        }
        true
    }

    /// As `set`, where other columns of the row may change with it.
    fn set_computed(&mut self, (row, column): At, value: Value) -> bool {
        let draft = &mut self.rows[row];
        let before = std::mem::replace(&mut draft.given[column], value);
        match self.task.existing.stored(&self.rows[row].insert()) {
            Ok(Ok(stored)) => {
                let draft = &mut self.rows[row];
                let value = draft.given[column].clone();
                if !value.is_null() {
                    draft.last[column] = Some(value);
                }
                draft.stored = stored;
                for leaf in self.readers[row].iter().flatten() {
                    self.leaves[*leaf].distance = None;
                }
                true
            }
            Ok(Err(_)) => {
                self.rows[row].given[column] = before;
                false
            }
            Err(unsupported) => {
                self.unsupported = Some(unsupported.what);
                self.rows[row].given[column] = before;
                false
            }
        }
    }

    /// The distance of the whole; zero when it holds.
    pub(super) fn distance(&mut self) -> f64 {
        self.refresh();
        self.fold(&self.root)
    }

    /// Computes the distances of the leaves whose cells changed.
    pub(super) fn refresh(&mut self) {
        for index in 0..self.leaves.len() {
            if self.leaves[index].distance.is_none() {
                let distance = self.measure(index);
                self.leaves[index].distance = Some(distance);
            }
        }
    }

    /// The distance of one leaf as of the last refresh.
    pub(super) fn leaf_distance(&self, index: usize) -> f64 {
        self.leaves[index].distance.unwrap_or(WRONG)
    }

    fn fold(&self, node: &PredicateNode) -> f64 {
        match node {
            PredicateNode::And(parts) => parts.iter().map(|part| squeeze(self.fold(part))).sum(),
            PredicateNode::Or(parts) => {
                // A NULL is one step away but often forbidden elsewhere; counted like any other part
                // it would hide the slope of the rest. It counts once it is there, or is all there is.
                let nearest = |parts: &mut dyn Iterator<Item = &PredicateNode>| {
                    parts
                        .map(|part| self.fold(part))
                        .fold(f64::INFINITY, f64::min)
                };
                let steep = nearest(&mut parts.iter().filter(|part| !self.is_distant_null(part)));
                if steep.is_finite() {
                    steep
                } else {
                    nearest(&mut parts.iter())
                }
            }
            PredicateNode::Leaf(index) => self.leaf_distance(*index),
        }
    }

    fn is_distant_null(&self, node: &PredicateNode) -> bool {
        let PredicateNode::Leaf(index) = node else {
            return false;
        };
        matches!(
            self.leaves[*index].what,
            Predicate::Null { is_null: true, .. }
        ) && self.leaf_distance(*index) > 0.0
    }

    fn measure(&mut self, index: usize) -> f64 {
        let PredicateLeaf { row, what, .. } = self.leaves[index];
        let draft = &self.rows[row];
        let wrong = |holds: bool| if holds { 0.0 } else { WRONG };
        match what {
            Predicate::Null { column, is_null } => {
                wrong(draft.stored[*column].is_null() == *is_null)
            }
            Predicate::Expr { expr, wanted } => {
                match eval::truth(expr, &draft.stored, self.task.dialect) {
                    Ok(truth) => wanted_distance(*wanted, truth),
                    Err(EvalError::Raised(_)) => WRONG,
                    Err(EvalError::Unsupported(unsupported)) => {
                        self.unsupported = Some(unsupported.what);
                        WRONG
                    }
                }
            }
            Predicate::Match(wanted) => self.match_distance(row, wanted),
            Predicate::Duplicate { .. } | Predicate::Fits { .. } => {
                let holds = what.holds(
                    draft.table,
                    &draft.stored,
                    self.task.existing,
                    self.task.dialect,
                );
                match holds {
                    Ok(holds) => wrong(holds),
                    Err(stop) => {
                        self.unsupported = Some(stop.to_string());
                        WRONG
                    }
                }
            }
            Predicate::And(_) | Predicate::Or(_) => 0.0,
        }
    }

    /// The rows that a match of a row compares with: those there, earlier drafts, and the row itself
    /// when different columns are related.
    pub(super) fn others<'a>(
        &'a self,
        row: usize,
        wanted: &'a RowMatch,
    ) -> impl Iterator<Item = ComparedRow> + 'a {
        let existing = (0..self.task.existing.rows(wanted.with).len()).map(ComparedRow::There);
        let earlier = (0..row)
            .filter(|draft| self.rows[*draft].table == wanted.with)
            .map(ComparedRow::Draft);
        let itself = (self.rows[row].table == wanted.with && wanted.crosses())
            .then_some(ComparedRow::Draft(row));
        existing.chain(earlier).chain(itself)
    }

    /// The stored values of a row that is compared with.
    pub(super) fn values(&self, wanted: &RowMatch, other: ComparedRow) -> &[Value] {
        match other {
            ComparedRow::There(index) => &self.task.existing.rows(wanted.with)[index],
            ComparedRow::Draft(draft) => &self.rows[draft].stored,
        }
    }

    fn match_distance(&self, row: usize, wanted: &RowMatch) -> f64 {
        if wanted.equal.is_empty() {
            return self
                .others(row, wanted)
                .map(|other| squeeze(self.differ_distance(row, wanted, other)))
                .sum();
        }
        let mut nearest: Option<f64> = None;
        let mut too_equal = 0.0;
        for other in self.others(row, wanted) {
            let equal = self.equal_distance(row, wanted, other);
            let differ = self.differ_distance(row, wanted, other);
            if equal == 0.0 {
                too_equal += differ;
            }
            let distance = equal + differ;
            nearest = Some(nearest.map_or(distance, |nearest| nearest.min(distance)));
        }
        nearest.map_or(WRONG, |nearest| nearest + too_equal)
    }

    fn equal_distance(&self, row: usize, wanted: &RowMatch, other: ComparedRow) -> f64 {
        joined(wanted, &wanted.equal, |pair| {
            if self.same(row, wanted, other, pair) == Some(false) {
                let theirs = &self.values(wanted, other)[pair.1];
                squeeze(gap(&self.rows[row].stored[pair.0], theirs))
            } else {
                0.0
            }
        })
    }

    fn differ_distance(&self, row: usize, wanted: &RowMatch, other: ComparedRow) -> f64 {
        joined(wanted, &wanted.differ, |pair| {
            if self.same(row, wanted, other, pair) == Some(true) {
                WRONG
            } else {
                0.0
            }
        })
    }

    /// Whether the two cells of a pair are the same; `None` when one of them is NULL.
    pub(super) fn same(
        &self,
        row: usize,
        wanted: &RowMatch,
        other: ComparedRow,
        (own, theirs): At,
    ) -> Option<bool> {
        let a = &self.rows[row].stored[own];
        let b = &self.values(wanted, other)[theirs];
        let column = compared_as(
            &self.rows[row].definition.columns[own],
            &self.task.schema.tables[wanted.with].columns[theirs],
        );
        (!a.is_null() && !b.is_null()).then(|| self.task.dialect.duplicates(a, b, column))
    }

    /// The rows as INSERTs give them.
    pub(super) fn found(&self) -> GeneratorResult {
        GeneratorResult::Rows(vec![self.rows.iter().map(DraftRow::insert).collect()])
    }
}

impl<'p> DraftRow<'p> {
    fn new(task: &GenerationTask<'p>, table: usize) -> Self {
        let definition: &'p Table = &task.schema.tables[table];
        let alias = task.dialect.rowid_alias(definition);
        let free: Vec<bool> = definition
            .columns
            .iter()
            .map(|column| !matches!(column.filled, Filled::Generated(_) | Filled::CounterAlways))
            .collect();
        let computed = alias.is_some()
            || definition
                .columns
                .iter()
                .any(|column| column.filled != Filled::No);
        let width = definition.columns.len();
        Self {
            table,
            definition,
            given: vec![Value::Null; width],
            stored: vec![Value::Null; width],
            last: vec![None; width],
            free,
            required: vec![false; width],
            computed,
        }
    }

    fn insert(&self) -> Row {
        let cells = self.given.iter().zip(&self.free);
        Row {
            table: self.table,
            cells: cells
                .map(|(value, free)| {
                    if *free {
                        Cell::Value(value.clone())
                    } else {
                        Cell::Default
                    }
                })
                .collect(),
        }
    }
}

fn wanted_distance(wanted: RequiredTruth, truth: Truth) -> f64 {
    match wanted {
        RequiredTruth::True | RequiredTruth::False if truth.verdict().is_none() => FROM_NULL,
        RequiredTruth::True => truth.to_true(),
        RequiredTruth::False => truth.to_false(),
        RequiredTruth::NotFalse if truth.verdict() != Some(false) => 0.0,
        RequiredTruth::NotFalse => truth.to_true(),
        RequiredTruth::Unknown if truth.verdict().is_none() => 0.0,
        RequiredTruth::Unknown => WRONG,
    }
}

fn joined(wanted: &RowMatch, pairs: &[At], distance: impl Fn(At) -> f64) -> f64 {
    let distances = pairs.iter().map(|pair| distance(*pair));
    match wanted.mode {
        MatchMode::All => distances.sum(),
        MatchMode::Any if pairs.is_empty() => 0.0,
        MatchMode::Any => distances.fold(f64::INFINITY, f64::min),
    }
}

/// Squeezes a distance below one, so that unlike distances can be added.
fn squeeze(distance: f64) -> f64 {
    if distance.is_finite() {
        distance / (distance + 1.0)
    } else {
        1.0
    }
}

/// How far two different values are from being equal; never zero.
fn gap(a: &Value, b: &Value) -> f64 {
    let gap = match (a, b) {
        (Value::Text(a), Value::Text(b)) => text_gap(a, b),
        (Value::Date(a), Value::Date(b)) => f64::from((day_number(*a) - day_number(*b)).abs()),
        (Value::DateTime(a), Value::DateTime(b)) => {
            let days = f64::from((day_number(a.date()) - day_number(b.date())).abs());
            days + (seconds(a.time()) - seconds(b.time())).abs() / 86_400.0
        }
        (Value::Time(a), Value::Time(b)) => (seconds(*a) - seconds(*b)).abs(),
        (Value::Instant(a), Value::Instant(b)) => {
            (a.as_second() - b.as_second()).unsigned_abs() as f64 / 86_400.0
        }
        (a, b) => match (number(a), number(b)) {
            (Some(a), Some(b)) => (a - b).abs(),
            _ => WRONG,
        },
    };
    if gap > 0.0 { gap } else { WRONG }
}

/// One per missing or extra character, less than one per different character.
fn text_gap(a: &str, b: &str) -> f64 {
    let (mut a, mut b) = (a.chars(), b.chars());
    let mut sum = 0.0;
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) => sum += squeeze(f64::from((x as u32).abs_diff(y as u32))),
            (None, None) => return sum,
            _ => sum += 1.0,
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Decimal(value) => rust_decimal::prelude::ToPrimitive::to_f64(value),
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}

fn day_number(date: jiff::civil::Date) -> i32 {
    i32::from(date.year()) * 366 + i32::from(date.day_of_year())
}

fn seconds(time: jiff::civil::Time) -> f64 {
    f64::from(time.hour()) * 3600.0 + f64::from(time.minute()) * 60.0 + f64::from(time.second())
}
