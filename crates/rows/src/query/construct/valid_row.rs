//! A row that only a foreign key needs: any row that satisfies the CHECKs and keys of its table.

use isobath_sql::expr::CompareOp;
use isobath_sql::{ConstraintKind, Expr, Value};

use super::SolverContext;
use super::expand::Expansion;
use super::fill::checks_hold;
use super::global_constraints::{compared, obey_checks};
use super::state::{ConditionOrigin, ConstructionState, Obligation, TruthRequirement};

/// A row with the given values that the CHECKs of its table accept, beside the rows that are there.
pub(super) fn valid_row(
    context: &SolverContext<'_>,
    table: usize,
    number: usize,
    given: &dyn Fn(usize) -> Option<Value>,
    beside: &[(usize, Vec<Value>)],
) -> Option<Vec<Value>> {
    // Its own foreign keys are for whoever asks for the row.
    let alone = SolverContext {
        constraints: false,
        ..*context
    };
    let mut state = ConstructionState::new(alone, number / 20);
    let row = state.add_row(table);
    let definition = &context.schema.tables[table];
    for column in 0..definition.columns.len() {
        if let Some(value) = given(column) {
            ask(&mut state, row, column, value, TruthRequirement::True);
        }
    }
    for constraint in &definition.constraints {
        let (ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. }) =
            &constraint.kind
        else {
            continue;
        };
        let Some(column) = columns.iter().find(|column| given(**column).is_none()) else {
            continue;
        };
        for (_, other) in beside.iter().filter(|(of, _)| *of == table) {
            ask(
                &mut state,
                row,
                *column,
                other[*column].clone(),
                TruthRequirement::NotTrue,
            );
        }
    }
    let mut obligations = std::mem::take(&mut state.pending);
    obey_checks(&mut state, row, &mut obligations);
    state.pending = obligations;
    let mut lawful = None;
    Expansion::new(alone, 0, &mut |candidate| {
        let rows = candidate.rows.get(&table).into_iter().flatten();
        let mut rows = rows.filter(|row| checks_hold(context, table, row));
        lawful = rows.next().cloned();
        lawful.is_some()
    })
    .finish(state);
    lawful
}

fn ask<'a>(
    state: &mut ConstructionState<'a>,
    row: usize,
    column: usize,
    value: Value,
    want: TruthRequirement,
) {
    let cell = state.column_expr(row, column);
    state.pending.push(Obligation::Holds {
        expr: compared(CompareOp::Equal, cell, Expr::Literal(value)),
        want,
        origin: ConditionOrigin::Key,
    });
}
