//! What follows from equal cells without a choice: rows with equal keys are one row, and a foreign
//! key that equals a row's key refers to it.
//!
//! Found out late, each of these would be found out once per combination of the choices in between.

use super::cell_solver::{equality, find, union};
use super::global_constraints::{keys, mentions};
use super::proof::{Cause, Proof};
use super::state::{CellOwner, ConstructionState};

/// Which cells are known to be equal and not NULL.
pub(super) struct CellEqualities(Vec<usize>);

impl CellEqualities {
    /// What the conditions decided so far say.
    pub(super) fn of(state: &ConstructionState<'_>) -> Self {
        let mut parent: Vec<usize> = (0..state.cells.len()).collect();
        for (a, b) in &state.merged {
            union(&mut parent, *a, *b);
        }
        for leaf in &state.leaves {
            if let Some((a, b)) = equality(state, leaf)
                && compare_as_stored(state, a, b)
            {
                union(&mut parent, a, b);
            }
        }
        for cell in 0..parent.len() {
            find(&mut parent, cell);
        }
        Self(parent)
    }

    fn holds(&self, a: usize, b: usize) -> bool {
        a == b || (a < self.0.len() && b < self.0.len() && self.0[a] == self.0[b])
    }

    /// Whether a column of one row equals a column of another.
    pub(super) fn columns(
        &self,
        state: &ConstructionState<'_>,
        a: (usize, usize),
        b: (usize, usize),
    ) -> bool {
        let cell = |(row, column): (usize, usize)| state.rows[state.real(row)].cells.get(&column);
        match (cell(a), cell(b)) {
            (Some(a), Some(b)) => self.holds(*a, *b),
            _ => false,
        }
    }
}

/// Whether two cells are equal only if no key tells their values apart: two texts can equal one number, and
/// two texts that differ in case one text of another collation.
fn compare_as_stored(state: &ConstructionState<'_>, a: usize, b: usize) -> bool {
    let column = |cell: usize| match state.cells[cell] {
        CellOwner::Column { table, column } => {
            Some(&state.context.schema.tables[table].columns[column])
        }
        CellOwner::Parameter(_) | CellOwner::Rank => None,
    };
    match (column(a), column(b)) {
        (Some(a), Some(b)) => {
            std::mem::discriminant(&a.data_type) == std::mem::discriminant(&b.data_type)
                && a.collation == b.collation
        }
        // A parameter has one value; whether it is compared as that of the column is not known.
        _ => false,
    }
}

/// Makes rows with equal keys one, until there are no more.
///
/// # Errors
///
/// When rows that must be different have equal keys.
pub(super) fn chase(state: &mut ConstructionState<'_>) -> Result<(), Proof> {
    while state.context.constraints {
        let equal = CellEqualities::of(state);
        let Some((a, b)) = with_equal_keys(state, &equal) else {
            break;
        };
        if state.must_differ(a, b) {
            let table = &state.context.schema.tables[state.rows[a].table].name;
            return Err(Proof::new(
                Cause::Key,
                format!("the target requires two different rows of `{table}` with the same key"),
            ));
        }
        state.unite(a, b);
    }
    Ok(())
}

fn with_equal_keys(
    state: &ConstructionState<'_>,
    equal: &CellEqualities,
) -> Option<(usize, usize)> {
    let rows = state.rows_of_all();
    for (index, a) in rows.iter().enumerate() {
        let table = state.rows[*a].table;
        for b in &rows[index + 1..] {
            let one = |key: &[usize]| {
                key.iter().all(|column| {
                    mentions(state, *a, *column)
                        && equal.columns(state, (*a, *column), (*b, *column))
                })
            };
            if state.rows[*b].table == table && keys(state, table).any(one) {
                return Some((*a, *b));
            }
        }
    }
    None
}
