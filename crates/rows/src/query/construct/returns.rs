//! Makes a query return a row: its outer joins, groups and set operations become choices.

use std::rc::Rc;

use isobath_sql::Expr;
use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{
    AggregateFunction, Query, QueryBody, Select, SetOp, SubqueryUsage,
};

use super::global_constraints::{compared, distinct, forbid_query};
use super::join::{RELAXED, derived, has_all_shapes, shaped, shapes};
use super::plan::{self, GroupPlan};
use super::proof::{Cause, Proof};
use super::state::{
    Binding, ConditionOrigin, ConstructionState, Env, ForbiddenRow, Obligation, ReturnedRow,
    TruthRequirement, free,
};
use super::step::StepResult;

/// How many shapes of the rows of a group are looked at one by one.
const MAX_SHAPES: usize = 64;

/// A query returns a row.
pub(super) fn returns<'a>(
    state: &mut ConstructionState<'a>,
    query: &'a Query,
    env: &Env,
    with: Option<ReturnedRow>,
) -> StepResult<'a> {
    if query.limit.is_some() || query.offset.is_some() {
        // LIMIT 0 and OFFSET are for the search.
        state.guess |= query.offset.is_some();
    }
    match &query.body {
        QueryBody::Select(select) => {
            let mut alternatives = Vec::new();
            let mut needs = Vec::new();
            if let Some(grouping) = &select.grouping {
                match plan::needs(select, grouping) {
                    Err(why) => return StepResult::Never(why),
                    Ok(plans) => needs = plans,
                }
            }
            let all_shapes = shapes(select);
            let mut needs: Vec<Obligation<'a>> = needs
                .into_iter()
                .map(|plan| {
                    let with = with.clone().filter(|_| shows_key(select));
                    in_every_shape(select, env, plan, &all_shapes, with)
                })
                .collect();
            needs.extend(required_by_having(select, env));
            let complete = select.grouping.is_none() && has_all_shapes(select);
            if select.grouping.is_none() && !complete {
                needs.push(Obligation::Joined {
                    select,
                    env: Rc::clone(env),
                    missing: RELAXED,
                    with: with.clone(),
                });
            }
            if let Some(grouping) = &select.grouping {
                let plans = plan::plans(select, grouping, state.context.dialect);
                let shaped = plans
                    .into_iter()
                    .filter_map(|plan| shaped(select, plan, &all_shapes));
                alternatives.extend(shaped.map(|plan| Obligation::Grouped {
                    select,
                    env: Rc::clone(env),
                    missing: 0,
                    plan,
                    with: with.clone(),
                }));
            }
            for missing in all_shapes {
                match &select.grouping {
                    None => alternatives.push(Obligation::Joined {
                        select,
                        env: Rc::clone(env),
                        missing,
                        with: with.clone(),
                    }),
                    Some(grouping) => {
                        let plans = plan::plans(select, grouping, state.context.dialect);
                        alternatives.extend(plans.into_iter().map(|plan| Obligation::Grouped {
                            select,
                            env: Rc::clone(env),
                            missing,
                            plan,
                            with: with.clone(),
                        }));
                    }
                }
            }
            if complete {
                StepResult::Choice(alternatives)
            } else {
                StepResult::Needs(needs, alternatives)
            }
        }
        QueryBody::Set {
            op,
            all,
            recursive,
            left,
            right,
        } => {
            // The right operand of a recursive query reads rows that we do not model.
            state.guess |= recursive.is_some();
            let side = |query: &'a Query| Obligation::Returns {
                query,
                env: Rc::clone(env),
                with: with.clone(),
            };
            match op {
                SetOp::Union => StepResult::Choice(vec![side(left), side(right)]),
                SetOp::Intersect | SetOp::Except => {
                    let items = items_of(state, left, env);
                    if let (Some(ReturnedRow::First(op, value)), Some(item)) =
                        (&with, items.first())
                    {
                        state.pending.push(Obligation::Holds {
                            expr: compared(*op, value.clone(), item.clone()),
                            want: TruthRequirement::True,
                            origin: ConditionOrigin::Query,
                        });
                    }
                    if *op == SetOp::Except {
                        // EXCEPT ALL only takes away as many rows as the right operand has.
                        state.guess |= *all;
                        forbid_query(state, right, env, Some(&ForbiddenRow::Row(items)));
                        return StepResult::Done;
                    }
                    StepResult::Choice(vec![Obligation::Returns {
                        query: right,
                        env: Rc::clone(env),
                        with: Some(ReturnedRow::Row(items)),
                    }])
                }
            }
        }
        QueryBody::Values(rows) => {
            if rows.is_empty() {
                StepResult::Never(Proof::new(Cause::Contradiction, "VALUES has no rows"))
            } else {
                state.guess |= with.is_some();
                StepResult::Done
            }
        }
    }
}

/// Asks that a returned row is like this.
pub(super) fn compare_item<'a>(
    state: &mut ConstructionState<'a>,
    select: &'a Select,
    env: &Env,
    with: Option<ReturnedRow>,
) {
    let obligation = |expr| Obligation::Holds {
        expr,
        want: TruthRequirement::True,
        origin: ConditionOrigin::Query,
    };
    match with {
        Some(ReturnedRow::First(op, left)) => {
            if let Some(item) = select.items.first() {
                let right = state.over_cells(&item.expr, env, select);
                state.pending.push(obligation(compared(op, left, right)));
            }
        }
        Some(ReturnedRow::Row(row)) => {
            for (value, item) in row.into_iter().zip(&select.items) {
                let other = state.over_cells(&item.expr, env, select);
                // Cells that are compared by `=` share their values, which NULL cannot.
                state.pending.push(Obligation::Any(vec![
                    obligation(compared(CompareOp::Equal, value.clone(), other.clone())),
                    obligation(distinct(value, other, false)),
                ]));
            }
        }
        None => {}
    }
}

/// A group that is necessary, however the outer joins of each of its rows come out.
fn in_every_shape<'a>(
    select: &'a Select,
    env: &Env,
    plan: GroupPlan,
    all_shapes: &[u64],
    with: Option<ReturnedRow>,
) -> Obligation<'a> {
    let grouped = |shapes: Vec<u64>, missing: u64| Obligation::Grouped {
        select,
        env: Rc::clone(env),
        missing,
        plan: GroupPlan {
            shapes,
            ..plan.clone()
        },
        with: with.clone(),
    };
    let copies = u32::try_from(plan.copies).unwrap_or(u32::MAX);
    let ways = all_shapes.len().checked_pow(copies);
    match ways.filter(|ways| *ways <= MAX_SHAPES && has_all_shapes(select)) {
        None => grouped(Vec::new(), RELAXED),
        Some(ways) => {
            let shapes = (0..ways).map(|mut way| {
                let mut shapes = Vec::with_capacity(plan.copies);
                for _ in 0..plan.copies {
                    shapes.push(all_shapes[way % all_shapes.len()]);
                    way /= all_shapes.len();
                }
                grouped(shapes, 0)
            });
            Obligation::Any(shapes.collect())
        }
    }
}

/// The subqueries that return a row wherever HAVING is true, whatever the group.
fn required_by_having<'a>(select: &'a Select, env: &Env) -> Vec<Obligation<'a>> {
    let parts = match &select.having {
        Some(Expr::And(parts)) => parts.as_slice(),
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    let mut needs = Vec::new();
    for part in parts {
        if let Expr::Subquery(number) = part
            && let Some(subquery) = select.subqueries.get(*number)
            && !subquery.correlated
            && subquery.usage == SubqueryUsage::Exists
            && select.grouping.is_some()
        {
            needs.push(Obligation::Returns {
                query: &subquery.query,
                env: Rc::clone(env),
                with: None,
            });
        }
    }
    needs
}

/// Whether all that a SELECT shows are keys of its groups, which every row of a group has in common.
fn shows_key(select: &Select) -> bool {
    let grouping = select.grouping.as_ref();
    grouping.is_some_and(|grouping| {
        let mut items = select.items.iter();
        grouping.sets.is_none() && items.all(|item| grouping.keys.contains(&item.expr))
    })
}

/// What must be so for a scalar subquery to have a value other than NULL, where that is known.
pub(super) fn value_need<'a>(query: &'a Query, env: &Env) -> Option<Obligation<'a>> {
    let QueryBody::Select(select) = &query.body else {
        return None;
    };
    let Some(grouping) = &select.grouping else {
        return Some(Obligation::Returns {
            query,
            env: Rc::clone(env),
            with: None,
        });
    };
    let item = &select.items.first()?.expr;
    if !grouping.keys.is_empty() || grouping.sets.is_some() || select.having.is_some() {
        return None;
    }
    let (_, aggregate) = grouping.aggregates.iter().find(|(slot, aggregate)| {
        use AggregateFunction::{Avg, Max, Min, Sum};
        let is_it = |part: &Expr| matches!(part, Expr::Column(column) if column.slot == *slot);
        matches!(aggregate.function, Avg | Max | Min | Sum) && is_null_with(item, &is_it)
    })?;
    let argument = aggregate.argument.clone()?;
    let plan = GroupPlan::with_value(argument);
    Some(in_every_shape(select, env, plan, &shapes(select), None))
}

/// Whether an expression is NULL wherever a part of it is.
pub(super) fn is_null_with(expr: &Expr, is_part: &dyn Fn(&Expr) -> bool) -> bool {
    match expr {
        Expr::Unary { expr, .. } | Expr::Cast { expr, .. } => is_null_with(expr, is_part),
        Expr::Binary { left, right, .. } | Expr::Compare { left, right, .. } => {
            is_null_with(left, is_part) || is_null_with(right, is_part)
        }
        other => is_part(other),
    }
}

/// The select list of a row that a query returns, over cells.
pub(super) fn items_of<'a>(
    state: &mut ConstructionState<'a>,
    query: &'a Query,
    env: &Env,
) -> Vec<Expr> {
    let width = width(query);
    let mut bound = vec![Binding::Expr(free()); width.max(1)];
    derived(state, query, env, 0, &mut bound);
    let exprs = bound.into_iter().map(|binding| match binding {
        Binding::Expr(expr) => expr,
        Binding::Column { .. } => free(),
    });
    exprs.collect()
}

fn width(query: &Query) -> usize {
    match &query.body {
        QueryBody::Select(select) => select.items.len(),
        QueryBody::Set { left, .. } => width(left),
        QueryBody::Values(rows) => rows.first().map_or(0, Vec::len),
    }
}
