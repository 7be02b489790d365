//! Mutation of rows.

use isobath_sql::Value;

use super::{ExistingRows, NewCell, NewRow};
use crate::query::construct::{is_not_null, neighbors};

impl ExistingRows {
    /// Changes one cell of one row; false where there is nothing to change.
    ///
    /// `hints` are values worth trying, and `keep` says of cells, by row and column, that they stay. The rows may have to be
    /// repaired afterwards.
    pub fn mutate(
        &self,
        rows: &mut [NewRow],
        hints: &[Value],
        keep: &dyn Fn(u32, usize) -> bool,
        rng: &mut fastrand::Rng,
    ) -> bool {
        if rows.is_empty() {
            return false;
        }
        let at = rng.usize(..rows.len());
        let table = rows[at].table;
        let open: Vec<usize> = (0..rows[at].cells.len())
            .filter(|column| {
                !self.counts(table, *column)
                    && !self.is_generated(table, *column)
                    && !matches!(rows[at].cells[*column], NewCell::Of { .. })
                    && !keep(rows[at].id, *column)
            })
            .collect();
        if open.is_empty() {
            return false;
        }
        // Where few values are possible, each of them is likely to mean something.
        let telling = |column: &&usize| !self.constraint_values[table][**column].is_empty();
        let few: Vec<usize> = open.iter().filter(telling).copied().collect();
        let column = if few.is_empty() || rng.f64() < 0.4 {
            open[rng.usize(..open.len())]
        } else {
            few[rng.usize(..few.len())]
        };
        let old = match &rows[at].cells[column] {
            NewCell::Value(value) => Some(value.clone()),
            NewCell::Default | NewCell::Of { .. } => None,
        };
        let Some(new) = self.other(table, column, old.as_ref(), hints, rng) else {
            return false;
        };
        rows[at].cells[column] = NewCell::Value(new);
        true
    }

    /// The values of a column that its table speaks of: those of enumerations and CHECKs, TRUE and FALSE, and NULL where
    /// it may be.
    pub fn constraint_values_of(&self, table: usize, column: usize) -> Vec<Value> {
        let mut values = self.constraint_values[table][column].clone();
        let of = &self.schema.tables[table];
        let is_reference = of.foreign_keys().any(|key| key.columns.contains(&column));
        let is_key = of.primary_key().is_some_and(|key| key.contains(&column));
        if !is_reference && !is_key && !is_not_null(&self.solver_context(), of, column) {
            values.push(Value::Null);
        }
        values
    }

    /// Another value for a column.
    fn other(
        &self,
        table: usize,
        column: usize,
        old: Option<&Value>,
        hints: &[Value],
        rng: &mut fastrand::Rng,
    ) -> Option<Value> {
        let of = &self.schema.tables[table];
        let definition = &of.columns[column];
        let may_be_null = !is_not_null(&self.solver_context(), of, column);
        for _ in 0..8 {
            let constraint_values = &self.constraint_values[table][column];
            let drawn = match rng.u8(..10) {
                4..=9 if !constraint_values.is_empty() => {
                    constraint_values[rng.usize(..constraint_values.len())].clone()
                }
                0 if may_be_null => Value::Null,
                0..=3 => match old.map(|old| neighbors(old, Some(&definition.data_type))) {
                    Some(near) if !near.is_empty() => near[rng.usize(..near.len())].clone(),
                    _ => self.profile.draw_value(&definition.data_type, rng),
                },
                4..=5 if !hints.is_empty() => hints[rng.usize(..hints.len())].clone(),
                _ => self.profile.draw_value(&definition.data_type, rng),
            };
            let stored = if drawn.is_null() {
                Ok(Value::Null)
            } else {
                self.dialect_rules().store_in(&drawn, of, column)
            };
            if let Ok(stored) = stored
                && Some(&stored) != old
            {
                return Some(stored);
            }
        }
        None
    }
}
