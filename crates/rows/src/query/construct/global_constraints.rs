//! Constraints over all rows of a candidate: rows that must not exist, and keys.

use std::rc::Rc;

use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{From, JoinKind, Query, QueryBody, Select, SetOp};
use isobath_sql::{ConstraintKind, Expr};

use super::chase::{CellEqualities, chase};
use super::fill::is_not_null;
use super::state::{
    Binding, ConditionOrigin, ConstructionState, Env, ForbiddenRow, Obligation, TruthRequirement,
    free,
};
use super::step::{StepResult, rebind};

/// How many combinations of rows a condition on all rows is written out for.
const MAX_COMBINATIONS: usize = 64;

/// Asks that a query returns no row (that is so), whatever rows there are in the end.
pub(super) fn forbid_query<'a>(
    state: &mut ConstructionState<'a>,
    query: &'a Query,
    env: &Env,
    with: Option<&ForbiddenRow>,
) {
    match &query.body {
        QueryBody::Select(select)
            if select.grouping.is_none() && query.limit.is_none() && query.offset.is_none() =>
        {
            state.later.push(Obligation::Avoids {
                select,
                env: Rc::clone(env),
                with: with.cloned(),
                known: 0,
            });
        }
        QueryBody::Set {
            op: SetOp::Union,
            recursive: None,
            left,
            right,
            ..
        } if query.limit.is_none() && query.offset.is_none() => {
            forbid_query(state, left, env, with);
            forbid_query(state, right, env, with);
        }
        QueryBody::Select(_) | QueryBody::Set { .. } | QueryBody::Values(_) => state.guess = true,
    }
}

/// No combination of the rows that are there lets FROM and WHERE through (a row that is so).
pub(super) fn forbid_match<'a>(
    state: &mut ConstructionState<'a>,
    select: &'a Select,
    env: &Env,
    with: Option<ForbiddenRow>,
    known: usize,
) {
    let mut tables = Vec::new();
    let mut conditions = Vec::new();
    let plain = select
        .from
        .as_ref()
        .is_none_or(|from| inner_only(from, &mut tables, &mut conditions));
    if !plain {
        state.guess = true;
        return;
    }
    conditions.extend(&select.filter);
    if select.grouping.is_none() {
        conditions.extend(&select.having);
    }
    let choices: Vec<Vec<usize>> = tables
        .iter()
        .map(|(table, ..)| state.rows_of(*table))
        .collect();
    let combinations: usize = choices.iter().map(Vec::len).product();
    if combinations > MAX_COMBINATIONS {
        state.guess = true;
        return;
    }
    for index in 0..combinations {
        let mut bound: Vec<Binding> = env.iter().take(select.base).cloned().collect();
        bound.resize_with(select.width, || Binding::Expr(free()));
        let mut rest = index;
        // Without tables, the conditions are the same whatever rows there are.
        let mut is_new = known == 0;
        for ((_, slot, columns), rows) in tables.iter().zip(&choices) {
            let row = rows[rest % rows.len()];
            rest /= rows.len();
            is_new |= row >= known;
            for column in 0..*columns {
                bound[slot + column] = Binding::Column { row, column };
            }
        }
        if !is_new {
            continue;
        }
        let bound = Rc::new(bound);
        let mut ways: Vec<Obligation<'a>> = Vec::new();
        for condition in &conditions {
            let expr = state.over_cells(condition, &bound, select);
            ways.push(Obligation::Holds {
                expr,
                want: TruthRequirement::NotTrue,
                origin: ConditionOrigin::Query,
            });
        }
        match &with {
            Some(ForbiddenRow::First(op, left, want)) => {
                if let Some(item) = select.items.first() {
                    let right = state.over_cells(&item.expr, &bound, select);
                    ways.insert(0, holds(compared(*op, left.clone(), right), *want));
                }
            }
            Some(ForbiddenRow::Row(row)) => {
                for (value, item) in row.iter().zip(&select.items) {
                    let other = state.over_cells(&item.expr, &bound, select);
                    ways.push(holds(
                        distinct(value.clone(), other, true),
                        TruthRequirement::True,
                    ));
                }
            }
            None => {}
        }
        state.pending.push(Obligation::Any(ways));
    }
}

fn holds<'a>(expr: Expr, want: TruthRequirement) -> Obligation<'a> {
    Obligation::Holds {
        expr,
        want,
        origin: ConditionOrigin::Query,
    }
}

pub(super) fn compared(op: CompareOp, left: Expr, right: Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}

/// `left IS [NOT] DISTINCT FROM right`.
pub(super) fn distinct(left: Expr, right: Expr, wanted: bool) -> Expr {
    Expr::IsDistinct {
        left: Box::new(left),
        right: Box::new(right),
        negated: !wanted,
    }
}

fn inner_only<'a>(
    from: &'a From,
    tables: &mut Vec<(usize, usize, usize)>,
    conditions: &mut Vec<&'a Expr>,
) -> bool {
    match from {
        From::Table {
            table,
            slot,
            columns,
            ..
        } => {
            tables.push((*table, *slot, *columns));
            true
        }
        From::Derived { .. } => false,
        From::Join {
            kind,
            left,
            right,
            on,
        } => {
            conditions.extend(on);
            *kind == JoinKind::Inner
                && inner_only(left, tables, conditions)
                && inner_only(right, tables, conditions)
        }
    }
}

/// Pairs of rows of one table whose keys are spoken of, each to be told apart or made one.
pub(super) fn pending_keys<'a>(state: &mut ConstructionState<'a>) -> Option<Vec<Obligation<'a>>> {
    if !state.context.constraints || state.keys_done {
        return None;
    }
    state.keys_done = true;
    // CHECKs speak of columns, which may be those of keys.
    let mut pairs = Vec::new();
    for row in state.rows_of_all() {
        obey_checks(state, row, &mut pairs);
    }
    for a in 0..state.rows.len() {
        for b in a + 1..state.rows.len() {
            if state.rows[a].table == state.rows[b].table
                && keys(state, state.rows[a].table).any(|key| {
                    key.iter()
                        .all(|column| mentions(state, a, *column) && mentions(state, b, *column))
                })
            {
                pairs.push(Obligation::Apart { a, b });
            }
        }
    }
    // What leaves no choice comes first, which is last here, so that conflicts show early.
    pairs.sort_by_key(|obligation| match obligation {
        Obligation::Apart { a, b } => u8::from(state.must_differ(*a, *b)),
        _ => 2,
    });
    Some(pairs)
}

/// CHECKs over columns that are spoken of or cannot be NULL.
pub(super) fn obey_checks<'a>(
    state: &mut ConstructionState<'a>,
    row: usize,
    obligations: &mut Vec<Obligation<'a>>,
) {
    let table = &state.context.schema.tables[state.rows[row].table];
    for constraint in &table.constraints {
        let ConstraintKind::Check { expr } = &constraint.kind else {
            continue;
        };
        let columns = expr.columns();
        let matters = columns.iter().any(|column| {
            mentions(state, row, *column) || is_not_null(&state.context, table, *column)
        });
        if !matters {
            continue;
        }
        let bound = (0..table.columns.len()).map(|column| Binding::Column { row, column });
        let mut expr = expr.clone();
        rebind(state, &mut expr, &Rc::new(bound.collect()));
        obligations.push(Obligation::Holds {
            expr,
            want: TruthRequirement::NotFalse,
            origin: ConditionOrigin::Check,
        });
    }
}

pub(super) fn mentions(state: &ConstructionState<'_>, row: usize, column: usize) -> bool {
    state.rows[state.real(row)].cells.contains_key(&column)
}

pub(super) fn keys<'a>(
    state: &ConstructionState<'a>,
    table: usize,
) -> impl Iterator<Item = &'a [usize]> + use<'a> {
    state.context.schema.tables[table]
        .constraints
        .iter()
        .filter_map(|constraint| match &constraint.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                Some(columns.as_slice())
            }
            _ => None,
        })
}

pub(super) fn require_distinct_keys<'a>(
    state: &mut ConstructionState<'a>,
    a: usize,
    b: usize,
) -> StepResult<'a> {
    if state.real(a) == state.real(b) {
        return StepResult::Done;
    }
    let table = state.rows[a].table;
    let keys: Vec<&[usize]> = keys(state, table)
        .filter(|key| {
            key.iter()
                .all(|column| mentions(state, a, *column) && mentions(state, b, *column))
        })
        .collect();
    let equal = CellEqualities::of(state);
    let mut all = Vec::new();
    for key in keys {
        let mut ways = Vec::new();
        for column in key {
            if equal.columns(state, (a, *column), (b, *column)) {
                continue;
            }
            let (left, right) = (state.column_expr(a, *column), state.column_expr(b, *column));
            ways.push(Obligation::Holds {
                expr: compared(CompareOp::Equal, left, right),
                want: TruthRequirement::NotTrue,
                origin: ConditionOrigin::Key,
            });
        }
        if ways.is_empty() {
            return match chase(state) {
                Ok(()) => StepResult::Done,
                Err(why) => StepResult::Never(why),
            };
        }
        all.push(Obligation::Any(ways));
    }
    let differ = Obligation::All(all);
    StepResult::Choice(if state.must_differ(a, b) {
        vec![differ]
    } else {
        vec![differ, Obligation::Same { a, b }]
    })
}
