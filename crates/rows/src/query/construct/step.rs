//! What a goal leads to: further goals, choices, or conditions over cells.

use std::rc::Rc;

use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{Query, SubqueryUsage};
use isobath_sql::{Expr, Value};

use super::apart::{apart, avoid, avoids};
use super::join::joined;
use super::proof::{Cause, Proof};
use super::returns::{compare_item, items_of, returns};
use super::state::{Binding, Env, Goal, Match, Origin, State, Unwanted, Want, is_free};
use super::{group, parent};

/// What a goal leads to.
pub(super) enum Step<'a> {
    Done,
    Never(Proof),
    Choice(Vec<Goal<'a>>),
    /// What any way must meet, then ways that are not all there are.
    Needs(Vec<Goal<'a>>, Vec<Goal<'a>>),
}

/// Takes one step towards a goal.
pub(super) fn step<'a>(state: &mut State<'a>, goal: Goal<'a>) -> Step<'a> {
    match goal {
        Goal::All(goals) => {
            state.pending.extend(goals.into_iter().rev());
            Step::Done
        }
        Goal::Any(goals) => Step::Choice(goals),
        Goal::Holds { expr, want, origin } => holds(state, expr, want, origin),
        Goal::Returns { query, env, with } => returns(state, query, &env, with),
        Goal::Joined {
            select,
            env,
            missing,
            with,
        } => {
            let env = joined(state, select, &env, missing, None);
            // Without groups, MySQL's HAVING is one more condition.
            for filter in select.filter.iter().chain(&select.having) {
                let expr = state.over_cells(filter, &env, select);
                state.pending.push(Goal::Holds {
                    expr,
                    want: Want::True,
                    origin: Origin::Query,
                });
            }
            compare_item(state, select, &env, with);
            Step::Done
        }
        Goal::Grouped {
            select,
            env,
            missing,
            plan,
            with,
        } => match group::expand(state, select, &env, missing, &plan) {
            Some(env) => {
                compare_item(state, select, &env, with);
                Step::Done
            }
            None => Step::Never(Proof::new(Cause::Group, "a group cannot have so many rows")),
        },
        Goal::Scalar { expr, want, number } => scalar(state, expr, want, number),
        Goal::Avoids {
            select,
            env,
            with,
            known,
        } => {
            avoids(state, select, &env, with, known);
            Step::Done
        }
        Goal::Unmatched {
            select,
            env,
            on,
            table,
            slot,
            columns,
            stricter,
            known,
        } => {
            state.guess |= stricter;
            let rows = state.rows_of(table).into_iter();
            for row in rows.filter(|row| *row >= known) {
                let mut bound = env.as_ref().clone();
                for column in 0..columns {
                    bound[slot + column] = Binding::Column { row, column };
                }
                let expr = state.over_cells(on, &Rc::new(bound), select);
                state.pending.push(Goal::Holds {
                    expr,
                    want: Want::NotTrue,
                    origin: Origin::Query,
                });
            }
            Step::Done
        }
        Goal::Apart { a, b } => apart(state, a, b),
        Goal::Same { a, b } => {
            state.unite(a, b);
            Step::Done
        }
        Goal::Differ { mut pairs } => {
            pairs.retain(|(a, b)| state.real(*a) != state.real(*b));
            match pairs.as_slice() {
                [] => Step::Never(Proof::new(
                    Cause::Key,
                    "rows that must be different are one by their key",
                )),
                [pair] => {
                    state.several.push(*pair);
                    Step::Done
                }
                several if several.iter().any(|(a, b)| state.must_differ(*a, *b)) => Step::Done,
                several => Step::Choice(
                    several
                        .iter()
                        .map(|pair| Goal::Differ { pairs: vec![*pair] })
                        .collect(),
                ),
            }
        }
        Goal::Parent { row, key } => parent::parent(state, row, key),
        Goal::Refers { row, key, parent } => parent::refers(state, row, key, parent),
    }
}

/// Takes a condition apart.
fn holds<'a>(state: &mut State<'a>, expr: Expr, want: Want, origin: Origin) -> Step<'a> {
    let each = |parts: Vec<Expr>| -> Vec<Goal<'a>> {
        parts
            .into_iter()
            .map(|expr| Goal::Holds { expr, want, origin })
            .collect()
    };
    match expr {
        Expr::Not(inner) => holds(state, *inner, want.negated(), origin),
        Expr::And(parts) => match want {
            Want::True | Want::NotFalse => step(state, Goal::All(each(parts))),
            Want::False | Want::NotTrue => Step::Choice(each(parts)),
        },
        Expr::Or(parts) => match want {
            Want::True | Want::NotFalse => Step::Choice(each(parts)),
            Want::False | Want::NotTrue => step(state, Goal::All(each(parts))),
        },
        Expr::Subquery(number) => {
            let (subquery, env) = state.subqueries[number].clone();
            let positive = matches!(want, Want::True | Want::NotFalse);
            match &subquery.usage {
                SubqueryUsage::Exists if positive => returns(state, &subquery.query, &env, None),
                SubqueryUsage::Exists => {
                    avoid(state, &subquery.query, &env, None);
                    Step::Done
                }
                SubqueryUsage::Any { left, op } => {
                    let left = over_outer(state, left, &env);
                    quantified(state, &subquery.query, env, left, *op, want)
                }
                // x op ALL (q) is NOT (x negated-op ANY (q)).
                SubqueryUsage::All { left, op } => {
                    let left = over_outer(state, left, &env);
                    quantified(
                        state,
                        &subquery.query,
                        env,
                        left,
                        op.negated(),
                        want.negated(),
                    )
                }
                SubqueryUsage::Scalar => scalar(state, Expr::Subquery(number), want, number),
            }
        }
        expr if is_free(&expr) => Step::Done,
        expr => {
            let mut inside = None;
            expr.walk(&mut |part| {
                if let (None, Expr::Subquery(number)) = (inside, part) {
                    inside = Some(*number);
                }
            });
            match inside {
                Some(number)
                    if matches!(state.subqueries[number].0.usage, SubqueryUsage::Scalar) =>
                {
                    Step::Choice(vec![Goal::Scalar { expr, want, number }])
                }
                Some(_) => {
                    // A verdict of a subquery in the middle of an expression is left to the search.
                    state.guess = true;
                    Step::Done
                }
                None => {
                    state.add_leaf(expr, want, origin);
                    Step::Done
                }
            }
        }
    }
}

/// The left side of IN, which belongs to the enclosing SELECT: it cannot hold subqueries of its own here.
fn over_outer<'a>(state: &mut State<'a>, left: &Expr, env: &Env) -> Expr {
    let mut left = left.clone();
    let mut nested = false;
    left.walk(&mut |part| nested |= matches!(part, Expr::Subquery(_)));
    if nested {
        state.guess = true;
        return Expr::Literal(Value::Null);
    }
    rebind(state, &mut left, env);
    left
}

pub(super) fn rebind(state: &mut State<'_>, expr: &mut Expr, env: &Env) {
    if let Expr::Column(column) = expr {
        match env.get(column.slot) {
            Some(Binding::Column {
                row,
                column: column_index,
            }) => column.slot = state.cell(*row, *column_index),
            Some(Binding::Expr(bound)) => *expr = bound.clone(),
            None => *expr = Expr::Literal(Value::Null),
        }
        return;
    }
    for child in expr.children_mut() {
        rebind(state, child, env);
    }
}

fn quantified<'a>(
    state: &mut State<'a>,
    query: &'a Query,
    env: Env,
    left: Expr,
    op: CompareOp,
    want: Want,
) -> Step<'a> {
    match want {
        Want::True => returns(state, query, &env, Some(Match::First(op, left))),
        Want::NotFalse => {
            state.guess = true;
            returns(state, query, &env, Some(Match::First(op, left)))
        }
        Want::False | Want::NotTrue => {
            avoid(state, query, &env, Some(&Unwanted::First(op, left, want)));
            Step::Done
        }
    }
}

/// A scalar subquery yields a row; its item takes its place in the condition.
fn scalar<'a>(state: &mut State<'a>, mut expr: Expr, want: Want, number: usize) -> Step<'a> {
    let (subquery, env) = state.subqueries[number].clone();
    state.guess = true;
    let Some(item) = items_of(state, &subquery.query, &env).into_iter().next() else {
        return Step::Done;
    };
    expr.walk_mut(&mut |part| {
        if matches!(part, Expr::Subquery(of) if *of == number) {
            *part = item.clone();
        }
    });
    Step::Choice(vec![Goal::Holds {
        expr,
        want,
        origin: Origin::Query,
    }])
}
