//! Foreign keys: each references an existing row, a new row, or is NULL.

use isobath_sql::expr::CompareOp;
use isobath_sql::{Expr, Value};

use super::chase::CellEqualities;
use super::fill::is_not_null;
use super::state::{ConditionOrigin, ConstructionState, Obligation, TruthRequirement};
use super::step::StepResult;

/// How many rows are added for the sake of foreign keys before we stop to reason about them.
const MAX_ROWS: usize = 16;

/// A foreign key that matters to the query and was not looked at yet.
pub(super) fn pending_foreign_key<'a>(state: &mut ConstructionState<'a>) -> Option<Obligation<'a>> {
    if !state.context.constraints {
        return None;
    }
    for row in state.rows_of_all() {
        let table = &state.context.schema.tables[state.rows[row].table];
        for (number, key) in table.foreign_keys().enumerate() {
            let spoken = |column: &usize| state.rows[row].cells.contains_key(column);
            // What may be NULL and is not spoken of is NULL.
            let silent =
                |column: &usize| !spoken(column) && !is_not_null(&state.context, table, *column);
            let matters = (state.read.contains(&key.parent) || key.columns.iter().any(spoken))
                && !key.columns.iter().any(silent);
            if matters && !state.parents_done.contains(&(row, number)) {
                state.parents_done.push((row, number));
                return Some(Obligation::Parent { row, key: number });
            }
        }
    }
    None
}

/// The ways in which a foreign key can be obeyed.
pub(super) fn parent<'a>(
    state: &mut ConstructionState<'a>,
    row: usize,
    key: usize,
) -> StepResult<'a> {
    let row = state.real(row);
    let table = &state.context.schema.tables[state.rows[row].table];
    let Some(definition) = table.foreign_keys().nth(key) else {
        return StepResult::Done;
    };
    let equal = CellEqualities::of(state);
    let refers = |parent: &usize| {
        let mut pairs = definition.columns.iter().zip(&definition.parent_columns);
        pairs.all(|(own, theirs)| equal.columns(state, (row, *own), (*parent, *theirs)))
    };
    if state.rows_of(definition.parent).iter().any(refers) {
        return StepResult::Done;
    }
    let spoken = definition
        .columns
        .iter()
        .any(|column| state.rows[row].cells.contains_key(column));
    let mut ways = Vec::new();
    for column in &definition.columns {
        if !is_not_null(&state.context, table, *column) {
            let expr = Expr::IsNull {
                expr: Box::new(state.column_expr(row, *column)),
                negated: false,
            };
            ways.push(Obligation::Holds {
                expr,
                want: TruthRequirement::True,
                origin: ConditionOrigin::ForeignKey,
            });
        }
    }
    let mut referring: Vec<Obligation<'a>> = state
        .rows_of(definition.parent)
        .into_iter()
        .map(|parent| Obligation::Refers {
            row,
            key,
            parent: Some(parent),
        })
        .collect();
    if state.rows.len() < MAX_ROWS {
        referring.push(Obligation::Refers {
            row,
            key,
            parent: None,
        });
    } else {
        state.guess = true;
        if referring.is_empty() && ways.is_empty() {
            return StepResult::Done;
        }
    }
    // What the query speaks of is likelier to be asked for a value than for NULL.
    if spoken {
        referring.extend(ways);
        StepResult::Choice(referring)
    } else {
        ways.extend(referring);
        StepResult::Choice(ways)
    }
}

/// Makes a foreign key refer to a row.
pub(super) fn refers<'a>(
    state: &mut ConstructionState<'a>,
    row: usize,
    key: usize,
    parent: Option<usize>,
) -> StepResult<'a> {
    let row = state.real(row);
    let table = &state.context.schema.tables[state.rows[row].table];
    let Some(definition) = table.foreign_keys().nth(key) else {
        return StepResult::Done;
    };
    let parent = parent.unwrap_or_else(|| state.add_row(definition.parent));
    let pairs = definition.columns.iter().zip(&definition.parent_columns);
    for (column, theirs) in pairs {
        let (left, right) = (
            state.column_expr(row, *column),
            state.column_expr(parent, *theirs),
        );
        let expr = if left == right {
            // A row that refers to itself by the same column.
            Expr::Literal(Value::Bool(true))
        } else {
            Expr::Compare {
                op: CompareOp::Equal,
                left: Box::new(left),
                right: Box::new(right),
            }
        };
        state.pending.push(Obligation::Holds {
            expr,
            want: TruthRequirement::True,
            origin: ConditionOrigin::ForeignKey,
        });
    }
    StepResult::Done
}
