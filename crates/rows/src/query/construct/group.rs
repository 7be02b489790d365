//! Groups: their planned rows, and the values of aggregates over them.

use std::rc::Rc;

use isobath_sql::expr::{BinaryOp, CompareOp};
use isobath_sql::query::model::{Aggregate, AggregateFunction, From, Select};
use isobath_sql::{Expr, Value};
use rust_decimal::Decimal;

use super::join::{RELAXED, joined};
use super::plan::GroupPlan;
use super::state::{
    Binding, ConditionOrigin, ConstructionState, Env, Obligation, TruthRequirement, free,
};

/// Asks for the rows of a group; returns what the slots stand for, `None` when the plan contradicts itself.
pub(super) fn expand<'a>(
    state: &mut ConstructionState<'a>,
    select: &'a Select,
    outer: &Env,
    missing: u64,
    plan: &GroupPlan,
) -> Option<Env> {
    let grouping = select.grouping.as_ref()?;
    let mut copies: Vec<Env> = Vec::new();
    for number in 0..plan.copies {
        let (twin, shared) = plan.shared[number];
        let reuse = copies.get(twin).map(|twin| (twin, shared));
        let missing = plan.shapes.get(number).copied().unwrap_or(missing);
        let env = joined(state, select, outer, missing, reuse);
        // Rows of derived tables can differ in ways that we do not see.
        if missing != RELAXED && !select.from.as_ref().is_some_and(has_derived) {
            for (earlier, copy) in copies.iter().enumerate() {
                // Rows of which one misses a side and the other does not are different anyway.
                let alike = plan.shapes.get(earlier) == plan.shapes.get(number);
                if alike && !plan.tells_apart(earlier, number) {
                    let pairs = pairs(copy, &env);
                    if pairs.is_empty() {
                        return None;
                    }
                    state.pending.push(Obligation::Differ { pairs });
                }
            }
        }
        if let Some(filter) = &select.filter {
            let expr = state.over_cells(filter, &env, select);
            state.pending.push(Obligation::Holds {
                expr,
                want: TruthRequirement::True,
                origin: ConditionOrigin::Query,
            });
        }
        copies.push(env);
    }
    if plan.copies == 0 {
        state.later.push(Obligation::Avoids {
            select,
            env: Rc::clone(outer),
            with: None,
            known: 0,
        });
    }
    // Which of the keys make the group is open where there are several grouping sets.
    let keys = if grouping.sets.is_some() {
        &[][..]
    } else {
        grouping.keys.as_slice()
    };
    for key in keys {
        let values: Vec<Expr> = over(state, select, key, &copies);
        for other in values.iter().skip(1) {
            let null = |expr: &Expr| is_null(expr.clone(), true);
            state.pending.push(Obligation::Any(vec![
                compare(CompareOp::Equal, &values[0], other),
                Obligation::All(vec![null(&values[0]), null(other)]),
            ]));
        }
    }
    for (argument, pattern) in &plan.patterns {
        let values = over(state, select, argument, &copies);
        for (index, value) in values.iter().enumerate() {
            state
                .pending
                .push(is_null(value.clone(), pattern[index].is_none()));
            for earlier in 0..index {
                if let (Some(a), Some(b)) = (pattern[earlier], pattern[index]) {
                    let op = if a == b {
                        CompareOp::Equal
                    } else {
                        CompareOp::NotEqual
                    };
                    state.pending.push(compare(op, &values[earlier], value));
                }
            }
        }
    }
    let mut bound: Vec<Binding> = match copies.first() {
        Some(first) => first.as_ref().clone(),
        None => {
            let mut bound: Vec<Binding> = outer.iter().take(select.base).cloned().collect();
            bound.resize_with(select.computed, || {
                Binding::Expr(Expr::Literal(Value::Null))
            });
            bound.resize_with(select.width, || Binding::Expr(free()));
            bound
        }
    };
    for (slot, aggregate) in &grouping.aggregates {
        let result = match (&plan.part, copies.first(), &aggregate.argument) {
            _ if plan.having => aggregated(state, select, aggregate, &copies, plan),
            // A necessary row stands for its group in the one condition that holds for it too.
            (Some(_), Some(row), Some(argument)) => state.over_cells(argument, row, select),
            // A group has more rows than those that are necessary: its aggregates are unknown.
            _ => continue,
        };
        bound[*slot] = Binding::Expr(result);
    }
    let env: Env = Rc::new(bound);
    let having = select.having.as_ref().filter(|_| plan.having);
    for having in having.into_iter().chain(plan.part.as_deref()) {
        let expr = state.over_cells(having, &env, select);
        state.pending.push(Obligation::Holds {
            expr,
            want: TruthRequirement::True,
            origin: ConditionOrigin::Query,
        });
    }
    Some(env)
}

/// The rows of relations that two copies do not share.
fn pairs(a: &Env, b: &Env) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (a, b) in a.iter().zip(b.iter()).rev() {
        if let (Binding::Column { row: a, column: 0 }, Binding::Column { row: b, .. }) = (a, b)
            && a != b
        {
            pairs.push((*a, *b));
        }
    }
    pairs
}

fn has_derived(from: &From) -> bool {
    match from {
        From::Table { .. } => false,
        From::Derived { .. } => true,
        From::Join { left, right, .. } => has_derived(left) || has_derived(right),
    }
}

fn over<'a>(
    state: &mut ConstructionState<'a>,
    select: &'a Select,
    expr: &Expr,
    copies: &[Env],
) -> Vec<Expr> {
    copies
        .iter()
        .map(|env| state.over_cells(expr, env, select))
        .collect()
}

fn compare<'a>(op: CompareOp, left: &Expr, right: &Expr) -> Obligation<'a> {
    Obligation::Holds {
        expr: Expr::Compare {
            op,
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
        },
        want: TruthRequirement::True,
        origin: ConditionOrigin::Query,
    }
}

fn is_null<'a>(expr: Expr, null: bool) -> Obligation<'a> {
    Obligation::Holds {
        expr: Expr::IsNull {
            expr: Box::new(expr),
            negated: !null,
        },
        want: TruthRequirement::True,
        origin: ConditionOrigin::Query,
    }
}

/// What an aggregate yields over the copies, as far as the plan fixes it.
fn aggregated<'a>(
    state: &mut ConstructionState<'a>,
    select: &'a Select,
    aggregate: &Aggregate,
    copies: &[Env],
    plan: &GroupPlan,
) -> Expr {
    let count = |number: usize| Expr::int(i64::try_from(number).unwrap_or(i64::MAX));
    let Some(argument) = &aggregate.argument else {
        return count(copies.len());
    };
    let values = over(state, select, argument, copies);
    let all_same = vec![Some(0); copies.len()];
    let known = plan.patterns.iter().find(|(of, _)| of == argument);
    let pattern = known.map_or(&all_same, |(_, pattern)| pattern);
    let mut letters: Vec<u8> = Vec::new();
    let mut present: Vec<Expr> = Vec::new();
    for (value, letter) in values.into_iter().zip(pattern) {
        if let Some(letter) = letter
            && !(aggregate.distinct && letters.contains(letter))
        {
            letters.push(*letter);
            present.push(value);
        }
    }
    match aggregate.function {
        AggregateFunction::Count => count(present.len()),
        AggregateFunction::Sum | AggregateFunction::Total => present
            .into_iter()
            .reduce(|sum, value| binary(BinaryOp::Add, sum, value))
            .unwrap_or(Expr::Literal(Value::Null)),
        AggregateFunction::Min | AggregateFunction::Max => {
            let op = if aggregate.function == AggregateFunction::Min {
                CompareOp::LessOrEqual
            } else {
                CompareOp::GreaterOrEqual
            };
            for other in present.iter().skip(1) {
                let obligation = compare(op, &present[0], other);
                state.pending.push(obligation);
            }
            present
                .into_iter()
                .next()
                .unwrap_or(Expr::Literal(Value::Null))
        }
        AggregateFunction::Avg => {
            let number = present.len();
            let sum = present
                .into_iter()
                .reduce(|sum, value| binary(BinaryOp::Add, sum, value));
            match sum {
                Some(only) if number == 1 => only,
                Some(sum) => {
                    // A factor that keeps engines from dividing whole numbers.
                    let one = Expr::Literal(Value::Decimal(Decimal::new(10, 1)));
                    let sum = binary(BinaryOp::Multiply, sum, one);
                    binary(BinaryOp::Divide, sum, count(number))
                }
                None => Expr::Literal(Value::Null),
            }
        }
        AggregateFunction::Concat(_) | AggregateFunction::BoolAnd | AggregateFunction::BoolOr => {
            present
                .into_iter()
                .next()
                .unwrap_or(Expr::Literal(Value::Null))
        }
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}
