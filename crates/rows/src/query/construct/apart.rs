//! Conditions on all rows that are there in the end: what must not be found, and keys.

use std::rc::Rc;

use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{Body, From, JoinKind, Query};
use isobath_sql::{ConstraintKind, Expr, Value};

use super::expand::{Step, rebind};
use super::fill;
use super::state::{Binding, Env, Goal, Origin, State, Want};

/// How many combinations of rows a condition on all rows is written out for.
const MOST_COMBINATIONS: usize = 64;

/// No combination of the rows that are there makes the query return a row (that compares so).
pub(super) fn avoids<'a>(
    state: &mut State<'a>,
    query: &'a Query,
    env: &Env,
    with: Option<(CompareOp, Expr, Want)>,
) {
    let Body::Select(select) = &query.body else {
        state.guess = true;
        return;
    };
    let mut tables = Vec::new();
    let mut conditions = Vec::new();
    let plain = select.grouping.is_none()
        && query.limit.is_none()
        && select
            .from
            .as_ref()
            .is_none_or(|from| inner_only(from, &mut tables, &mut conditions));
    if !plain {
        state.guess = true;
        return;
    }
    conditions.extend(&select.filter);
    let choices: Vec<Vec<usize>> = tables
        .iter()
        .map(|(table, ..)| state.rows_of(*table))
        .collect();
    let combinations: usize = choices.iter().map(Vec::len).product();
    if combinations > MOST_COMBINATIONS {
        state.guess = true;
        return;
    }
    for index in 0..combinations {
        let mut bound: Vec<Binding> = env.iter().take(select.base).cloned().collect();
        bound.resize_with(select.width, || Binding::Expr(Expr::Literal(Value::Null)));
        let mut rest = index;
        for ((_, slot, columns), rows) in tables.iter().zip(&choices) {
            let row = rows[rest % rows.len()];
            rest /= rows.len();
            for column in 0..*columns {
                bound[slot + column] = Binding::Column { row, column };
            }
        }
        let bound = Rc::new(bound);
        let mut ways: Vec<Goal<'a>> = Vec::new();
        for condition in &conditions {
            let expr = state.over_cells(condition, &bound, select);
            ways.push(Goal::Holds {
                expr,
                want: Want::NotTrue,
                origin: Origin::Query,
            });
        }
        if let (Some((op, left, want)), Some(item)) = (&with, select.items.first()) {
            let right = state.over_cells(&item.expr, &bound, select);
            ways.insert(
                0,
                Goal::Holds {
                    expr: Expr::Compare {
                        op: *op,
                        left: Box::new(left.clone()),
                        right: Box::new(right),
                    },
                    want: *want,
                    origin: Origin::Query,
                },
            );
        }
        state.pending.push(Goal::Any(ways));
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
pub(super) fn keys_in_question<'a>(state: &mut State<'a>) -> Option<Vec<Goal<'a>>> {
    if !state.setting.constraints || state.keys_done {
        return None;
    }
    state.keys_done = true;
    let mut pairs = Vec::new();
    for a in 0..state.rows.len() {
        for b in a + 1..state.rows.len() {
            if state.rows[a].table == state.rows[b].table
                && keys(state, state.rows[a].table).any(|key| {
                    key.iter()
                        .all(|column| mentions(state, a, *column) && mentions(state, b, *column))
                })
            {
                pairs.push(Goal::Apart { a, b });
            }
        }
    }
    for row in state.rows_of_all() {
        obey_checks(state, row, &mut pairs);
    }
    Some(pairs)
}

/// CHECKs over columns that are spoken of or cannot be NULL.
fn obey_checks<'a>(state: &mut State<'a>, row: usize, goals: &mut Vec<Goal<'a>>) {
    let table = &state.setting.schema.tables[state.rows[row].table];
    for constraint in &table.constraints {
        let ConstraintKind::Check { expr } = &constraint.kind else {
            continue;
        };
        let columns = expr.columns();
        let matters = columns.iter().any(|column| {
            mentions(state, row, *column) || fill::is_not_null(&state.setting, table, *column)
        });
        if !matters {
            continue;
        }
        let bound = (0..table.columns.len()).map(|column| Binding::Column { row, column });
        let mut expr = expr.clone();
        rebind(state, &mut expr, &Rc::new(bound.collect()));
        goals.push(Goal::Holds {
            expr,
            want: Want::NotFalse,
            origin: Origin::Check,
        });
    }
}

fn mentions(state: &State<'_>, row: usize, column: usize) -> bool {
    state.rows[state.real(row)].cells.contains_key(&column)
}

fn keys<'a>(state: &State<'a>, table: usize) -> impl Iterator<Item = &'a [usize]> + use<'a> {
    state.setting.schema.tables[table]
        .constraints
        .iter()
        .filter_map(|constraint| match &constraint.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                Some(columns.as_slice())
            }
            _ => None,
        })
}

pub(super) fn apart<'a>(state: &mut State<'a>, a: usize, b: usize) -> Step<'a> {
    if state.real(a) == state.real(b) {
        return Step::Done;
    }
    let table = state.rows[a].table;
    let keys: Vec<&[usize]> = keys(state, table)
        .filter(|key| {
            key.iter()
                .all(|column| mentions(state, a, *column) && mentions(state, b, *column))
        })
        .collect();
    let mut all = Vec::new();
    for key in keys {
        let mut ways = Vec::new();
        for column in key {
            let (left, right) = (state.column_expr(a, *column), state.column_expr(b, *column));
            ways.push(Goal::Holds {
                expr: Expr::Compare {
                    op: CompareOp::Equal,
                    left: Box::new(left),
                    right: Box::new(right),
                },
                want: Want::NotTrue,
                origin: Origin::Key,
            });
        }
        all.push(Goal::Any(ways));
    }
    let differ = Goal::All(all);
    let several = state.several.contains(&(a, b));
    Step::Choice(if several {
        vec![differ]
    } else {
        vec![differ, Goal::Same { a, b }]
    })
}
