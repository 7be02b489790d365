//! One row of one table that meets a predicate of the schema job, or a proof that there is none.

use std::rc::Rc;
use std::sync::Arc;

use isobath_sql::{Dialect, Expr, Schema, Value, eval};

use super::expand::Expansion;
use super::state::{
    Binding, ConditionOrigin, ConstructionState, Env, Obligation, TruthRequirement,
};
use super::step::rebind;
use super::{Construction, SolverContext};
use crate::schema::predicate::{Predicate, RequiredTruth};

/// Builds a row for a predicate. What a predicate says of other rows is left out: a proof holds all the same, a row is
/// for the caller to check.
pub(crate) fn single_row(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    table: usize,
    predicate: &Predicate,
) -> Construction {
    if asks_for_misfit(predicate) {
        return Construction::Unknown;
    }
    // The predicate says which of the constraints count.
    let mut unconstrained = schema.clone();
    Arc::make_mut(&mut unconstrained.tables[table])
        .constraints
        .clear();
    let context = SolverContext {
        constraints: false,
        ..SolverContext::new(&unconstrained, dialect)
    };
    let mut state = ConstructionState::new(context, 0);
    let row = state.add_row(table);
    let columns = 0..unconstrained.tables[table].columns.len();
    let env: Env = Rc::new(
        columns
            .map(|column| Binding::Column { row, column })
            .collect(),
    );
    let obligation = obligation(&mut state, &env, predicate);
    state.pending.push(obligation);
    Expansion::new(context, 0, &mut |candidate| {
        let rows = candidate.rows.get(&table).into_iter().flatten();
        rows.into_iter().any(|row| is_met(predicate, row, dialect))
    })
    .finish(state)
}

/// Whether a value is to be beyond its type, which no cell here can be.
fn asks_for_misfit(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(asks_for_misfit),
        Predicate::Fits { fits, .. } => !fits,
        _ => false,
    }
}

fn obligation<'a>(
    state: &mut ConstructionState<'a>,
    env: &Env,
    predicate: &Predicate,
) -> Obligation<'a> {
    let mut holds = |expr: &Expr, want| {
        let mut expr = expr.clone();
        rebind(state, &mut expr, env);
        Obligation::Holds {
            expr,
            want,
            origin: ConditionOrigin::Check,
        }
    };
    match predicate {
        Predicate::Expr { expr, wanted } => match wanted {
            RequiredTruth::True => holds(expr, TruthRequirement::True),
            RequiredTruth::False => holds(expr, TruthRequirement::False),
            RequiredTruth::NotFalse => holds(expr, TruthRequirement::NotFalse),
            RequiredTruth::Unknown => Obligation::All(vec![
                holds(expr, TruthRequirement::NotTrue),
                holds(expr, TruthRequirement::NotFalse),
            ]),
        },
        Predicate::Null { column, is_null } => {
            let row = match env.first() {
                Some(Binding::Column { row, .. }) => *row,
                _ => 0,
            };
            let expr = Expr::IsNull {
                expr: Box::new(state.column_expr(row, *column)),
                negated: !is_null,
            };
            Obligation::Holds {
                expr,
                want: TruthRequirement::True,
                origin: ConditionOrigin::Check,
            }
        }
        Predicate::And(parts) => {
            let parts = parts.iter().map(|part| obligation(state, env, part));
            Obligation::All(parts.collect())
        }
        Predicate::Or(parts) => {
            let parts = parts.iter().map(|part| obligation(state, env, part));
            Obligation::Any(parts.collect())
        }
        Predicate::Match(_) | Predicate::Duplicate { .. } | Predicate::Fits { .. } => {
            Obligation::All(Vec::new())
        }
    }
}

/// Whether a row meets a predicate as far as it speaks of this row alone.
fn is_met(predicate: &Predicate, row: &[Value], dialect: &dyn Dialect) -> bool {
    match predicate {
        Predicate::And(parts) => parts.iter().all(|part| is_met(part, row, dialect)),
        Predicate::Or(parts) => parts.iter().any(|part| is_met(part, row, dialect)),
        Predicate::Null { column, is_null } => row[*column].is_null() == *is_null,
        Predicate::Expr { expr, wanted } => {
            eval::truth(expr, row, dialect).is_ok_and(|truth| wanted.is(truth.verdict()))
        }
        Predicate::Match(_) | Predicate::Duplicate { .. } | Predicate::Fits { .. } => true,
    }
}
