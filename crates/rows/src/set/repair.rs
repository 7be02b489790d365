//! Rows that a database accepts, after they were changed or put together.
//!
//! As in "SQL Data Generation to Enhance Search-Based System Testing" (section 6.1): the first row that
//! would be refused is changed a few times; when that does not help, it and all after it are left
//! out. Beyond the paper, a row whose key is also a foreign key gets a parent of its own, and CHECKs are met
//! by values that are built for them.

use std::collections::VecDeque;

use isobath_sql::memory::{MemoryDatabase, Verdict, Violation, ViolationKind};
use isobath_sql::schema::ForeignKey;
use isobath_sql::{ConstraintKind, Value};

use super::{ExistingRows, Inserted, NewCell, NewRow};
use crate::query::construct::fresh;

/// How often one row is changed.
const TRIES: usize = 8;
/// The most rows of a test.
pub(super) const MAX_ROWS: usize = 40;

impl ExistingRows {
    /// Makes rows acceptable: changes what would be refused, adds parents that are missing, and leaves out the rest.
    ///
    /// `next` is the first id that is free. Says whether all rows are still there.
    pub fn repair(&self, rows: &mut Vec<NewRow>, next: u32, rng: &mut fastrand::Rng) -> bool {
        let tables = self.with_parents(rows.iter().map(|row| row.table));
        let mut repair = RowRepair {
            existing_rows: self,
            memory: self.memory(&tables),
            stored: Inserted::new(),
            done: Vec::with_capacity(rows.len()),
            next,
        };
        let mut waiting: VecDeque<NewRow> = std::mem::take(rows).into();
        let mut whole = true;
        while let Some(row) = waiting.pop_front() {
            if repair.done.len() >= MAX_ROWS || !repair.place(row, &mut waiting, rng) {
                whole = false;
                break;
            }
        }
        *rows = repair.done;
        whole
    }
}

struct RowRepair<'g> {
    existing_rows: &'g ExistingRows,
    memory: MemoryDatabase<'g>,
    stored: Inserted,
    done: Vec<NewRow>,
    next: u32,
}

/// What changing a row came to.
enum RepairStep {
    /// It is another row now.
    Changed,
    /// It needs a new row of this table before it, to be referred to by this foreign key of it.
    NeedsParent(ForeignKey),
    /// Nothing can be done.
    Hopeless,
}

impl RowRepair<'_> {
    /// Puts a row where it belongs, changed where it must be; false when that is impossible.
    fn place(
        &mut self,
        mut row: NewRow,
        waiting: &mut VecDeque<NewRow>,
        rng: &mut fastrand::Rng,
    ) -> bool {
        for attempt in 0..TRIES {
            self.drop_dangling(&mut row);
            let Some(resolved) = row.resolved(&self.stored) else {
                return false;
            };
            let violations = match self.memory.stored(&resolved) {
                Ok(Ok(values)) => match self.memory.insert_stored(row.table, values.clone()) {
                    Ok(Verdict::Accepted) => {
                        self.keep(row, values);
                        return true;
                    }
                    Ok(Verdict::Rejected(violations)) => violations,
                    // What we cannot judge is for the database.
                    Err(_) => {
                        self.memory.put_stored(row.table, values.clone());
                        self.keep(row, values);
                        return true;
                    }
                },
                Ok(Err(violations)) => violations,
                Err(_) => {
                    let values = row.cells.iter().map(|cell| match cell {
                        NewCell::Value(value) => value.clone(),
                        NewCell::Default | NewCell::Of { .. } => Value::Null,
                    });
                    let values = values.collect();
                    self.keep(row, values);
                    return true;
                }
            };
            let Some(violation) = violations.first() else {
                return false;
            };
            match self.change(&mut row, violation, attempt, rng) {
                RepairStep::Changed => {}
                RepairStep::Hopeless => return false,
                RepairStep::NeedsParent(key) => {
                    return self.insert_parent(row, &key, waiting);
                }
            }
        }
        false
    }

    fn keep(&mut self, row: NewRow, values: Vec<Value>) {
        self.next = self.next.max(row.id + 1);
        self.stored
            .insert(row.id, values.into_iter().map(Some).collect());
        self.done.push(row);
    }

    /// References to rows that are gone are redrawn like values.
    fn drop_dangling(&self, row: &mut NewRow) {
        for cell in &mut row.cells {
            if let NewCell::Of { row, .. } = cell
                && !self.stored.contains_key(row)
            {
                *cell = NewCell::Value(Value::Null);
            }
        }
    }

    fn change(
        &self,
        row: &mut NewRow,
        violation: &Violation,
        attempt: usize,
        rng: &mut fastrand::Rng,
    ) -> RepairStep {
        let of = &self.existing_rows.schema.tables[row.table];
        let rule = violation
            .constraint
            .filter(|_| violation.table == row.table)
            .and_then(|index| of.constraints.get(index));
        match (&violation.kind, rule.map(|rule| &rule.kind)) {
            (ViolationKind::NoParent, Some(ConstraintKind::ForeignKey(key))) => {
                self.refer(row, key, false, rng)
            }
            (ViolationKind::Null { column }, _) => {
                match of.foreign_keys().find(|key| key.columns.contains(column)) {
                    Some(key) => self.refer(row, key, false, rng),
                    None => self.redraw(row, &[*column], rng),
                }
            }
            (ViolationKind::Duplicate, Some(rule)) => {
                let columns = columns_of(rule);
                let free: Vec<usize> = columns
                    .iter()
                    .copied()
                    .filter(|column| !of.foreign_keys().any(|key| key.columns.contains(column)))
                    .collect();
                if !free.is_empty() {
                    return self.redraw(row, &free, rng);
                }
                // The key is a reference: another parent, or one more.
                match of
                    .foreign_keys()
                    .find(|key| key.columns.iter().any(|column| columns.contains(column)))
                {
                    Some(key) if attempt < TRIES / 2 => self.refer(row, key, true, rng),
                    Some(key) => RepairStep::NeedsParent(key.clone()),
                    None => RepairStep::Hopeless,
                }
            }
            (ViolationKind::CheckFalse | ViolationKind::Raises(_), Some(rule)) => {
                let columns = columns_of(rule);
                self.satisfy_check(row, &columns, rng)
            }
            (ViolationKind::Type { column, .. }, _) => self.redraw(row, &[*column], rng),
            (ViolationKind::GivenGenerated { column }, _) => {
                row.cells[*column] = NewCell::Default;
                RepairStep::Changed
            }
            _ => RepairStep::Hopeless,
        }
    }

    /// Gives one of the columns another value.
    fn redraw(&self, row: &mut NewRow, columns: &[usize], rng: &mut fastrand::Rng) -> RepairStep {
        let of = &self.existing_rows.schema.tables[row.table];
        let column = columns[rng.usize(..columns.len())];
        if self.existing_rows.counts(row.table, column) {
            row.cells[column] = NewCell::Default;
            return RepairStep::Changed;
        }
        let definition = &of.columns[column];
        let drawn = if rng.bool() {
            fresh(&definition.data_type, rng.usize(1..100_000))
        } else {
            self.existing_rows
                .profile
                .draw_value(&definition.data_type, rng)
        };
        row.cells[column] = NewCell::Value(drawn);
        RepairStep::Changed
    }

    /// Gives the columns values that are built for the constraints of the table.
    fn satisfy_check(
        &self,
        row: &mut NewRow,
        columns: &[usize],
        rng: &mut fastrand::Rng,
    ) -> RepairStep {
        let built = self.existing_rows.any_row(row.table, &[], rng.usize(..50));
        let Some((_, values)) = built
            .iter()
            .flatten()
            .rfind(|(table, _)| *table == row.table)
        else {
            return self.redraw(row, columns, rng);
        };
        for &column in columns {
            if !self.existing_rows.is_generated(row.table, column)
                && !matches!(row.cells[column], NewCell::Of { .. })
            {
                row.cells[column] = NewCell::Value(values[column].clone());
            }
        }
        RepairStep::Changed
    }

    /// Lets a foreign key refer to a row that is there, to `another` one than before.
    fn refer(
        &self,
        row: &mut NewRow,
        key: &ForeignKey,
        another: bool,
        rng: &mut fastrand::Rng,
    ) -> RepairStep {
        let own: Vec<&NewRow> = self
            .done
            .iter()
            .filter(|other| other.table == key.parent)
            .collect();
        let existing = self
            .existing_rows
            .existing
            .get(key.parent)
            .map_or(0, Vec::len);
        let n = own.len() + existing;
        if n == 0 || (another && n == 1) {
            return RepairStep::NeedsParent(key.clone());
        }
        let chosen = rng.usize(..n);
        for (column, of) in key.columns.iter().zip(&key.parent_columns) {
            row.cells[*column] = match own.get(chosen) {
                Some(parent) => NewCell::Of {
                    row: parent.id,
                    column: *of,
                },
                None => NewCell::Value(
                    self.existing_rows.existing[key.parent][chosen - own.len()][*of].clone(),
                ),
            };
        }
        RepairStep::Changed
    }

    /// Has a new parent inserted first, with a key that nobody has, and the row after it.
    fn insert_parent(
        &mut self,
        mut row: NewRow,
        key: &ForeignKey,
        waiting: &mut VecDeque<NewRow>,
    ) -> bool {
        let own: Vec<(usize, Vec<Value>)> = self
            .done
            .iter()
            .filter_map(|row| {
                let stored = self.stored.get(&row.id)?;
                let values = stored.iter().cloned().collect::<Option<Vec<_>>>()?;
                Some((row.table, values))
            })
            .collect();
        if self.done.len() + waiting.len() >= MAX_ROWS || row.table == key.parent {
            return false;
        }
        let made = own.len() + 1;
        let Some(built) = self.existing_rows.any_row(key.parent, &own, made) else {
            return false;
        };
        let taken = waiting.iter().map(|row| row.id + 1).max().unwrap_or(0);
        let next = self.next.max(taken).max(row.id + 1);
        let links = super::LinkContext {
            rows: &self.done,
            inserted: &self.stored,
            constants: &[],
            is_input: &|_| false,
        };
        let (parents, _) = self.existing_rows.link(&built, &links, next);
        let Some(parent) = parents.iter().rfind(|parent| parent.table == key.parent) else {
            return false;
        };
        for (column, of) in key.columns.iter().zip(&key.parent_columns) {
            row.cells[*column] = NewCell::Of {
                row: parent.id,
                column: *of,
            };
        }
        waiting.push_front(row);
        for parent in parents.into_iter().rev() {
            self.next = self.next.max(parent.id + 1);
            waiting.push_front(parent);
        }
        true
    }
}

fn columns_of(rule: &ConstraintKind) -> Vec<usize> {
    isobath_sql::Constraint::unnamed(rule.clone()).columns()
}
