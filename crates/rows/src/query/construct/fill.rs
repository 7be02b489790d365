//! Completes rows: values for the cells that no condition mentions, so that a database accepts the
//! rows.

use isobath_sql::memory::MemoryDatabase;
use isobath_sql::row::Statement;
use isobath_sql::schema::{Column, Filled, Table};
use isobath_sql::{Cell, ConstraintKind, Row, Value, eval};

use super::SolverContext;
use super::state::ConstructionState;
use super::valid_row::valid_row;
use super::values::fresh;
use crate::query::candidate::Candidate;

/// How many rows are added for the sake of foreign keys.
const MAX_PARENTS: usize = 24;

/// Whether a column of a stored row is never NULL.
pub(crate) fn is_not_null(context: &SolverContext<'_>, table: &Table, column: usize) -> bool {
    table.is_not_null(column)
        || (!context.dialect.key_admits_null(table)
            && table.primary_key().is_some_and(|key| key.contains(&column)))
}

/// The rows of a state, filled up.
pub(super) fn fill(state: &ConstructionState<'_>, values: &[Value]) -> Option<Candidate> {
    let context = &state.context;
    let mut rows = Vec::new();
    for plan in state.rows.iter().filter(|plan| plan.is.is_none()) {
        let number = rows.len() + 11 + 20 * state.made;
        rows.push(whole_row(context, plan.table, number, &|column| {
            plan.cells.get(&column).map(|cell| values[*cell].clone())
        }));
    }
    let count = state.parameters.keys().max().map_or(0, |most| most + 1);
    let mut parameters = vec![Value::Null; count];
    for (number, cell) in &state.parameters {
        parameters[*number] = values[*cell].clone();
    }
    insert_all(context, rows, parameters, 15 + 20 * state.made)
}

/// What a column stores when an INSERT leaves it out, as far as that is known.
pub(crate) fn omitted(context: &SolverContext<'_>, table: usize, column: usize) -> Option<Value> {
    let definition = &context.schema.tables[table];
    match (
        &definition.columns[column].filled,
        &definition.columns[column].default,
    ) {
        (Filled::No, None) => Some(Value::Null),
        (Filled::No, Some(_)) => {
            let value = default(context, &definition.columns[column])?;
            if value.is_null() {
                return Some(Value::Null);
            }
            context.dialect.store_in(&value, definition, column).ok()
        }
        _ => None,
    }
}

/// What a DEFAULT amounts to, where that does not depend on when it is asked.
fn default(context: &SolverContext<'_>, column: &Column) -> Option<Value> {
    eval::value(column.default.as_ref()?, &[], context.dialect).ok()
}

/// A row in which nothing is given, as stored.
pub(crate) fn blank_row(context: &SolverContext<'_>, table: usize) -> Option<Vec<Value>> {
    let row = whole_row(context, table, 1, &|_| None);
    stored_row(
        context,
        &MemoryDatabase::new(context.schema, context.dialect),
        &row,
    )
}

/// Adds the rows that foreign keys ask for; `None` when the database would refuse the candidate.
pub(crate) fn complete(context: &SolverContext<'_>, candidate: Candidate) -> Option<Candidate> {
    let memory = MemoryDatabase::new(context.schema, context.dialect);
    let mut stored: Vec<(usize, Vec<Value>)> = Vec::new();
    for (table, rows) in candidate.rows {
        stored.extend(rows.into_iter().map(|row| (table, row)));
    }
    add_parents(context, &memory, &mut stored, 500)?;
    if !satisfies_constraints(context, &stored) {
        return None;
    }
    Some(gathered(stored, candidate.parameters))
}

/// A row in which everything that is not given is NULL, a default or something readable.
fn whole_row(
    context: &SolverContext<'_>,
    table: usize,
    number: usize,
    given: &dyn Fn(usize) -> Option<Value>,
) -> Row {
    let definition = &context.schema.tables[table];
    let mut in_key = vec![false; definition.columns.len()];
    for constraint in &definition.constraints {
        if let ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } =
            &constraint.kind
        {
            columns.iter().for_each(|column| in_key[*column] = true);
        }
    }
    // SQLite lets keys be NULL, but nobody means them to be.
    let in_primary_key = |column: usize| {
        definition
            .primary_key()
            .is_some_and(|key| key.contains(&column))
    };
    let cells = definition
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            if let Some(value) = given(index)
                && !matches!(column.filled, Filled::CounterAlways | Filled::Generated(_))
            {
                return Cell::Value(value);
            }
            match &column.filled {
                // A number of our own, because the counter would give rows of one statement the same.
                Filled::Counter => Cell::Value(fresh(&column.data_type, number)),
                Filled::CounterAlways | Filled::Generated(_) => Cell::Default,
                Filled::No
                    if !is_not_null(context, definition, index) && !in_primary_key(index) =>
                {
                    Cell::Value(Value::Null)
                }
                Filled::No if !in_key[index] && default(context, column).is_some() => Cell::Default,
                Filled::No => {
                    let number = if in_key[index] { number } else { 0 };
                    Cell::Value(fresh(&column.data_type, number))
                }
            }
        });
    Row {
        table,
        cells: cells.collect(),
    }
}

/// Puts rows into an empty database, with those that their foreign keys ask for.
fn insert_all(
    context: &SolverContext<'_>,
    rows: Vec<Row>,
    parameters: Vec<Value>,
    first: usize,
) -> Option<Candidate> {
    let mut memory = MemoryDatabase::new(context.schema, context.dialect);
    let mut stored = Vec::new();
    for row in rows {
        let values = stored_row(context, &memory, &row)?;
        if counts_always(context, row.table) {
            // So that the next row has the next number.
            memory.put_stored(row.table, values.clone());
        }
        stored.push((row.table, values));
    }
    if context.constraints {
        add_parents(context, &memory, &mut stored, first)?;
        if !satisfies_constraints(context, &stored) {
            return None;
        }
    }
    Some(gathered(stored, parameters))
}

fn gathered(stored: Vec<(usize, Vec<Value>)>, parameters: Vec<Value>) -> Candidate {
    let mut candidate = Candidate {
        parameters,
        ..Candidate::default()
    };
    for (table, row) in stored {
        candidate.push(table, row);
    }
    candidate
}

fn counts_always(context: &SolverContext<'_>, table: usize) -> bool {
    let mut columns = context.schema.tables[table].columns.iter();
    columns.any(|column| matches!(column.filled, Filled::CounterAlways))
}

/// What a row stores; lengths do not count where constraints do not.
fn stored_row(
    context: &SolverContext<'_>,
    memory: &MemoryDatabase<'_>,
    row: &Row,
) -> Option<Vec<Value>> {
    match memory.stored(row) {
        Ok(Ok(values)) => Some(values),
        Ok(Err(_)) | Err(_) if !context.constraints => Some(
            row.cells
                .iter()
                .map(|cell| match cell {
                    Cell::Value(value) => value.clone(),
                    Cell::Default => Value::Null,
                })
                .collect(),
        ),
        Ok(Err(_)) | Err(_) => None,
    }
}

fn add_parents(
    context: &SolverContext<'_>,
    memory: &MemoryDatabase<'_>,
    stored: &mut Vec<(usize, Vec<Value>)>,
    first: usize,
) -> Option<()> {
    let mut next = 0;
    let given = stored.len();
    while next < stored.len() {
        let (table, values) = stored[next].clone();
        next += 1;
        for key in context.schema.tables[table].foreign_keys() {
            let wanted: Vec<&Value> = key.columns.iter().map(|column| &values[*column]).collect();
            if wanted.iter().any(|value| value.is_null()) {
                continue;
            }
            let there = stored.iter().any(|(of, row)| {
                *of == key.parent
                    && key
                        .parent_columns
                        .iter()
                        .zip(&wanted)
                        .all(|(column, value)| row[*column] == **value)
            });
            if there {
                continue;
            }
            if stored.len() >= given + MAX_PARENTS {
                return None;
            }
            let number = first + stored.len();
            let given = |column: usize| {
                if let Some(at) = key.parent_columns.iter().position(|of| *of == column) {
                    return Some(wanted[at].clone());
                }
                // A parent's own key refers to what is there, so that circles close.
                let table = &context.schema.tables[key.parent];
                let own = table
                    .foreign_keys()
                    .find(|own| own.columns.contains(&column))?;
                let at = own.columns.iter().position(|of| *of == column)?;
                let free = !is_not_null(context, table, column)
                    || own.columns.iter().any(|of| key.parent_columns.contains(of));
                let there = stored.iter().find(|(of, _)| *of == own.parent)?;
                (!free).then(|| there.1[own.parent_columns[at]].clone())
            };
            let parent = whole_row(context, key.parent, number, &given);
            let row = match stored_row(context, memory, &parent) {
                Some(row) if checks_hold(context, key.parent, &row) => row,
                _ => valid_row(context, key.parent, number, &given, stored)?,
            };
            stored.push((key.parent, row));
        }
    }
    Some(())
}

/// Whether the CHECKs of a table say nothing against a row.
pub(crate) fn checks_hold(context: &SolverContext<'_>, table: usize, row: &[Value]) -> bool {
    let constraints = context.schema.tables[table].constraints.iter();
    let mut checks = constraints.filter_map(|constraint| match &constraint.kind {
        ConstraintKind::Check { expr } => Some(expr),
        _ => None,
    });
    checks.all(|expr| {
        eval::truth(expr, row, context.dialect).is_ok_and(|truth| truth.verdict() != Some(false))
    })
}

/// Whether all rows together obey all constraints.
fn satisfies_constraints(context: &SolverContext<'_>, stored: &[(usize, Vec<Value>)]) -> bool {
    let mut memory = MemoryDatabase::new(context.schema, context.dialect);
    let mut waiting: Vec<&(usize, Vec<Value>)> = stored.iter().collect();
    // Parents first; what remains in the end refers in a circle, or is refused for another reason.
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|(table, row)| {
            !matches!(memory.insert_stored(*table, row.clone()), Ok(verdict) if verdict.is_accepted())
        });
        if waiting.len() == before {
            let rows = waiting
                .iter()
                .map(|(table, row)| Row::of(*table, row.clone()));
            let together = Statement::InsertTogether(rows.collect());
            return matches!(memory.run(&together), Ok(verdict) if verdict.is_accepted());
        }
    }
    true
}
