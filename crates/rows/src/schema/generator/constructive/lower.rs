//! From a task to goals over cells: matches become comparisons of cells.
//!
//! A task is lowered in one of two ways. *Concretely*, the rows already there
//! are constants: this finds rows. *Symbolically*, they are rows of unknown
//! values that obey the rules of their tables, and every match has a witness of
//! its own: a weaker problem, so that what is impossible there is impossible
//! whatever rows are there.

use isobath_sql::Value;
use isobath_sql::schema::{ConstraintKind, ForeignKey};

use super::logic;
use super::problem::{CellConstraint, CellProblem, CellTerm, GUESS, ReasonOrigin, Reasons, SEED};
use crate::schema::generator::GenerationTask;
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

/// A row to compare with.
#[derive(Clone, Copy)]
enum ComparedRow<'a> {
    Planned(usize),
    There(&'a [Value]),
}

/// Lowers tasks.
pub(super) struct Lowering<'t, 'a> {
    task: &'t GenerationTask<'a>,
    problem: CellProblem<'a>,
    /// Symbolic rows of the table under test, one per match that needs a witness.
    witnesses: Option<Vec<usize>>,
    next_witness: usize,
    /// Set while a part refers to rows that are there.
    seeds: Reasons,
}

/// The task as it stands, with these fresh rows.
pub(super) fn concrete<'a>(task: &GenerationTask<'a>, fresh: &[usize]) -> CellProblem<'a> {
    let mut lowering = Lowering::new(task, None);
    for table in fresh {
        let row = lowering.add_row(*table);
        lowering.obey(row, true);
    }
    lowering.finish()
}

/// The task over unknown rows there.
pub(super) fn symbolic<'a>(task: &GenerationTask<'a>) -> CellProblem<'a> {
    let mut lowering = Lowering::new(task, Some(Vec::new()));
    let mut count = usize::from(!task.existing.rows(task.table).is_empty());
    count = count.max(witnesses_needed(task.predicate, task.table));
    for _ in 0..count {
        let row = lowering.add_row(task.table);
        lowering.obey(row, false);
        lowering.witnesses.get_or_insert_default().push(row);
    }
    lowering.finish()
}

/// How many matches ask for an equal row of the table itself.
fn witnesses_needed(predicate: &Predicate, table: usize) -> usize {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => {
            parts.iter().map(|part| witnesses_needed(part, table)).sum()
        }
        Predicate::Match(wanted) => usize::from(wanted.with == table && !wanted.equal.is_empty()),
        _ => 0,
    }
}

impl<'t, 'a> Lowering<'t, 'a> {
    fn new(task: &'t GenerationTask<'a>, witnesses: Option<Vec<usize>>) -> Self {
        Self {
            task,
            problem: CellProblem::empty(task.dialect),
            witnesses,
            next_witness: 0,
            seeds: 0,
        }
    }

    fn add_row(&mut self, table: usize) -> usize {
        let schema = self.task.schema;
        self.problem.add_row(table, &schema.tables[table])
    }

    fn finish(mut self) -> CellProblem<'a> {
        let subject = self.add_row(self.task.table);
        self.problem.subject = subject;
        let parts = match self.task.predicate {
            Predicate::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        for part in parts {
            self.seeds = 0;
            let constraint = self.part(subject, part);
            let why = self.problem.source(ReasonOrigin::Part(part));
            self.problem
                .constraints
                .push((constraint, why | self.seeds));
            // What a requirement says of an expression outright is what it is about; the rest
            // of the table's rules come as alternatives with NULL.
            if let Predicate::Expr {
                expr,
                wanted: RequiredTruth::True | RequiredTruth::False,
            } = part
            {
                for column in expr.columns() {
                    let cell = self.problem.cell(subject, column);
                    if !self.problem.focus.contains(&cell) {
                        self.problem.focus.push(cell);
                    }
                }
            }
        }
        self.problem.name_types();
        self.problem
    }

    fn part(&mut self, row: usize, part: &'a Predicate) -> CellConstraint<'a> {
        match part {
            Predicate::And(parts) => CellConstraint::all(
                parts
                    .iter()
                    .map(|part| self.part(row, part))
                    .collect::<Vec<_>>(),
            ),
            Predicate::Or(parts) => CellConstraint::any(
                parts
                    .iter()
                    .map(|part| self.part(row, part))
                    .collect::<Vec<_>>(),
            ),
            Predicate::Null { column, is_null } => CellConstraint::Null {
                cell: self.problem.cell(row, *column),
                is_null: *is_null,
            },
            Predicate::Expr { expr, wanted } => {
                logic::constraint(&self.problem, row, expr, *wanted)
            }
            Predicate::Match(wanted) => self.matching(row, wanted),
            Predicate::Duplicate {
                constraint,
                duplicate,
            } => self.index(row, *constraint, *duplicate),
            Predicate::Fits { fits: true, .. } => CellConstraint::TRUE,
            Predicate::Fits {
                column,
                data_type,
                fits: false,
            } => CellConstraint::Misfit {
                cell: self.problem.cell(row, *column),
                data_type,
            },
        }
    }

    /// All rules of a row's table, and a value in every column.
    fn obey(&mut self, row: usize, keys_and_parents: bool) {
        let table = self.problem.rows[row].table;
        let definition = self.problem.rows[row].definition;
        for column in 0..definition.columns.len() {
            let cell = self.problem.cell(row, column);
            // Having a value everywhere needs no explanation.
            let constraint = CellConstraint::Null {
                cell,
                is_null: false,
            };
            self.problem.constraints.push((constraint, 0));
        }
        for (index, constraint) in definition.constraints.iter().enumerate() {
            self.seeds = 0;
            let constraint = match &constraint.kind {
                ConstraintKind::Check { expr } => {
                    logic::constraint(&self.problem, row, expr, RequiredTruth::NotFalse)
                }
                ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. }
                    if keys_and_parents =>
                {
                    self.unique(row, columns)
                }
                ConstraintKind::ForeignKey(key) if keys_and_parents => self.refers(row, key),
                ConstraintKind::UniqueIndex { .. } if keys_and_parents => {
                    self.index(row, index, false)
                }
                _ => continue,
            };
            let why = self.problem.source(ReasonOrigin::Constraint {
                table,
                constraint: index,
            });
            self.problem
                .constraints
                .push((constraint, why | self.seeds));
        }
    }

    fn unique(&mut self, row: usize, columns: &[usize]) -> CellConstraint<'a> {
        let table = self.problem.rows[row].table;
        let others = self.others(table, Some(row));
        let mut constraints = Vec::with_capacity(others.len());
        for other in others {
            let pairs = columns.iter().map(|column| {
                let cell = self.problem.cell(row, *column);
                self.complies(cell, other, *column, false)
            });
            constraints.push(CellConstraint::any(pairs.collect::<Vec<_>>()));
        }
        CellConstraint::all(constraints)
    }

    /// A likely way to repeat, or not to repeat, the key of a unique index. Whether it does is for
    /// verification: expressions may be equal where their columns are not.
    fn index(&mut self, row: usize, constraint: usize, duplicate: bool) -> CellConstraint<'a> {
        if self.witnesses.is_some() {
            return CellConstraint::TRUE;
        }
        let table = self.problem.rows[row].table;
        let definition = self.problem.rows[row].definition;
        let columns = definition.constraints[constraint].columns();
        let others = self.others(table, Some(row));
        self.seeds |= GUESS;
        let null = |cell, is_null| CellConstraint::Null { cell, is_null };
        let mut constraints = Vec::with_capacity(others.len());
        for other in others {
            let pairs = columns.iter().map(|column| {
                let cell = self.problem.cell(row, *column);
                match (self.term(other, *column), duplicate) {
                    (Some(term), true) => CellConstraint::Same(cell, term),
                    (Some(term), false) => {
                        CellConstraint::any([CellConstraint::Differ(cell, term), null(cell, true)])
                    }
                    (None, duplicate) => null(cell, duplicate),
                }
            });
            let pairs: Vec<_> = pairs.collect();
            constraints.push(if duplicate {
                CellConstraint::all(pairs)
            } else {
                CellConstraint::any(pairs)
            });
        }
        if duplicate {
            CellConstraint::any(constraints)
        } else if let ConstraintKind::UniqueIndex {
            predicate: Some(predicate),
            ..
        } = &definition.constraints[constraint].kind
        {
            let outside = logic::constraint(&self.problem, row, predicate, RequiredTruth::False);
            CellConstraint::any([CellConstraint::all(constraints), outside])
        } else {
            CellConstraint::all(constraints)
        }
    }

    fn refers(&mut self, row: usize, key: &ForeignKey) -> CellConstraint<'a> {
        let itself = key.parent == self.problem.rows[row].table;
        let mut others = self.others(key.parent, Some(row));
        if itself {
            others.push(ComparedRow::Planned(row));
        }
        let mut constraints = Vec::with_capacity(others.len());
        for other in others {
            let pairs = key
                .columns
                .iter()
                .zip(&key.parent_columns)
                .map(|(own, theirs)| {
                    let cell = self.problem.cell(row, *own);
                    match self.term(other, *theirs) {
                        Some(term) => CellConstraint::Same(cell, term),
                        None => CellConstraint::FALSE,
                    }
                });
            constraints.push(CellConstraint::all(pairs.collect::<Vec<_>>()));
        }
        CellConstraint::any(constraints)
    }

    /// The rows of a table to compare with: planned ones first, because they differ from what is there.
    fn others(&mut self, table: usize, except: Option<usize>) -> Vec<ComparedRow<'a>> {
        let planned = self
            .problem
            .rows
            .iter()
            .enumerate()
            .filter(|(index, row)| row.table == table && Some(*index) != except)
            .map(|(index, _)| ComparedRow::Planned(index));
        let mut others: Vec<ComparedRow<'a>> = planned.collect();
        if self.witnesses.is_none() {
            let rows = self.task.existing.rows(table);
            // Even having no row at all is a fact of the rows there.
            self.seeds |= SEED;
            others.extend(rows.iter().map(|row| ComparedRow::There(row)));
        }
        others
    }

    fn matching(&mut self, row: usize, wanted: &'a RowMatch) -> CellConstraint<'a> {
        let own = self.task.table;
        let crosses = wanted
            .equal
            .iter()
            .chain(&wanted.differ)
            .any(|(own, theirs)| own != theirs);
        let itself = wanted.with == own && crosses;
        if let Some(witnesses) = self.witnesses.clone() {
            return self.matching_unknown(row, wanted, &witnesses, itself);
        }
        let mut others = self.others(wanted.with, Some(row));
        if itself {
            others.push(ComparedRow::Planned(row));
        }
        if wanted.equal.is_empty() {
            let differ = others
                .iter()
                .map(|other| self.part_of(row, wanted, *other, false));
            return CellConstraint::all(differ.collect::<Vec<_>>());
        }
        let witness = others.iter().map(|other| {
            CellConstraint::all([
                self.part_of(row, wanted, *other, true),
                self.part_of(row, wanted, *other, false),
            ])
        });
        let mut constraints = vec![CellConstraint::any(witness.collect::<Vec<_>>())];
        if !wanted.differ.is_empty() {
            for other in &others {
                constraints.push(CellConstraint::any([
                    self.disagrees(row, wanted, *other),
                    self.part_of(row, wanted, *other, false),
                ]));
            }
        }
        CellConstraint::all(constraints)
    }

    /// The same against unknown rows; only what one witness implies is asked.
    fn matching_unknown(
        &mut self,
        row: usize,
        wanted: &'a RowMatch,
        witnesses: &[usize],
        itself: bool,
    ) -> CellConstraint<'a> {
        if wanted.equal.is_empty() {
            if wanted.with != self.task.table {
                return CellConstraint::TRUE;
            }
            let differ = witnesses
                .iter()
                .map(|other| self.part_of(row, wanted, ComparedRow::Planned(*other), false));
            return CellConstraint::all(differ.collect::<Vec<_>>());
        }
        let witness = if wanted.with == self.task.table {
            let witness = witnesses.get(self.next_witness).copied();
            self.next_witness += 1;
            witness
        } else {
            let witness = self.add_row(wanted.with);
            self.obey(witness, false);
            Some(witness)
        };
        let candidates = witness.into_iter().chain(itself.then_some(row));
        let constraints = candidates.map(|other| {
            CellConstraint::all([
                self.part_of(row, wanted, ComparedRow::Planned(other), true),
                self.part_of(row, wanted, ComparedRow::Planned(other), false),
            ])
        });
        CellConstraint::any(constraints.collect::<Vec<_>>())
    }

    /// The equal (or the differing) part of a match with one row.
    fn part_of(
        &self,
        row: usize,
        wanted: &RowMatch,
        other: ComparedRow<'a>,
        equal: bool,
    ) -> CellConstraint<'a> {
        let pairs = if equal { &wanted.equal } else { &wanted.differ };
        if pairs.is_empty() {
            return CellConstraint::TRUE;
        }
        let constraints = pairs.iter().map(|(own, theirs)| {
            let cell = self.problem.cell(row, *own);
            self.complies(cell, other, *theirs, equal)
        });
        match wanted.mode {
            MatchMode::All => CellConstraint::all(constraints.collect::<Vec<_>>()),
            MatchMode::Any => CellConstraint::any(constraints.collect::<Vec<_>>()),
        }
    }

    /// The equal part does not hold with a row.
    fn disagrees(
        &self,
        row: usize,
        wanted: &RowMatch,
        other: ComparedRow<'a>,
    ) -> CellConstraint<'a> {
        let constraints = wanted.equal.iter().map(|(own, theirs)| {
            let cell = self.problem.cell(row, *own);
            match self.term(other, *theirs) {
                Some(term) => CellConstraint::Differ(cell, term),
                None => CellConstraint::FALSE,
            }
        });
        match wanted.mode {
            MatchMode::All => CellConstraint::any(constraints.collect::<Vec<_>>()),
            MatchMode::Any => CellConstraint::all(constraints.collect::<Vec<_>>()),
        }
    }

    /// A pair complies when its cells are equal (or differ), or when one of them is NULL.
    fn complies(
        &self,
        cell: usize,
        other: ComparedRow<'a>,
        theirs: usize,
        equal: bool,
    ) -> CellConstraint<'a> {
        let Some(term) = self.term(other, theirs) else {
            return CellConstraint::TRUE;
        };
        let compared = if equal {
            CellConstraint::Same(cell, term)
        } else {
            CellConstraint::Differ(cell, term)
        };
        let null = |cell| CellConstraint::Null {
            cell,
            is_null: true,
        };
        match term {
            CellTerm::Cell(other) if other == cell => compared,
            CellTerm::Cell(other) => CellConstraint::any([compared, null(cell), null(other)]),
            CellTerm::There(_) => CellConstraint::any([compared, null(cell)]),
        }
    }

    /// The cell of another row, `None` when it is NULL for certain.
    fn term(&self, other: ComparedRow<'a>, column: usize) -> Option<CellTerm<'a>> {
        match other {
            ComparedRow::Planned(row) => Some(CellTerm::Cell(self.problem.cell(row, column))),
            ComparedRow::There(row) if row[column].is_null() => None,
            ComparedRow::There(row) => Some(CellTerm::There(&row[column])),
        }
    }
}
