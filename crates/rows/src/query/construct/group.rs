//! Groups: how many rows they have, and which of their values are equal, different or NULL.

use std::rc::Rc;

use isobath_sql::expr::{BinaryOp, CompareOp};
use isobath_sql::query::model::{Aggregate, AggregateFunction, From, Grouping, Select};
use isobath_sql::{Expr, Value};

use super::join::joined;
use super::proof::{Cause, Proof};
use super::state::{Binding, Env, Goal, Origin, State, Want};

/// How a group is made.
#[derive(Clone, Debug)]
pub(super) struct GroupPlan {
    /// How many rows it has.
    copies: usize,
    /// Relations, by bit, that all of them share.
    shared: u64,
    /// For an aggregate's argument, which copies have equal values; `None` is NULL.
    patterns: Vec<(Expr, Vec<Option<u8>>)>,
    /// Whether HAVING is asked for.
    having: bool,
    /// Whether the copies must be different rows.
    several: bool,
}

/// Ways to make a group that HAVING likes, the simplest first; not all there are.
pub(super) fn plans(select: &Select, grouping: &Grouping) -> Vec<GroupPlan> {
    let plain = |copies| GroupPlan {
        copies,
        shared: 0,
        patterns: Vec::new(),
        having: true,
        several: false,
    };
    let empty = grouping.keys.is_empty();
    let Some(having) = &select.having else {
        let mut plans = vec![plain(1)];
        if empty {
            plans.push(plain(0));
        }
        return plans;
    };
    let used = having.columns();
    let mut arguments: Vec<&Expr> = Vec::new();
    for (slot, aggregate) in &grouping.aggregates {
        if let (true, Some(argument)) = (used.contains(slot), &aggregate.argument)
            && !arguments.contains(&argument)
        {
            arguments.push(argument);
        }
    }
    let mut copies = vec![1, 2, 3];
    having.walk(&mut |part| {
        if let Expr::Literal(Value::Int(number)) = part
            && let Ok(number) = usize::try_from(*number)
            && (4..=20).contains(&number)
        {
            copies.extend([number, number + 1]);
        }
    });
    let mut plans = Vec::new();
    for copies in copies {
        for assigned in assignments(&arguments, copies) {
            let mut shares = vec![0];
            if copies > 1 {
                shares = sharings(select, &assigned);
            }
            for shared in shares {
                plans.push(GroupPlan {
                    shared,
                    patterns: assigned.clone(),
                    several: shared != 0,
                    ..plain(copies)
                });
            }
        }
    }
    if empty {
        plans.push(plain(0));
    }
    plans
}

/// Every way to give arguments a pattern.
fn assignments(arguments: &[&Expr], copies: usize) -> Vec<Vec<(Expr, Vec<Option<u8>>)>> {
    let mut patterns: Vec<Vec<Option<u8>>> = Vec::new();
    let last = copies.saturating_sub(1);
    patterns.push(vec![Some(0); copies]);
    if copies > 1 {
        let different = (0..copies).map(|copy| u8::try_from(copy).ok());
        patterns.push(different.clone().collect());
        let mut with_null: Vec<Option<u8>> = different.collect();
        with_null[last] = None;
        patterns.push(with_null);
    }
    if copies > 2 {
        let mut repeated = vec![Some(0); copies];
        repeated[last] = Some(1);
        patterns.push(repeated);
    }
    let mut all: Vec<Vec<(Expr, Vec<Option<u8>>)>> = vec![Vec::new()];
    for argument in arguments.iter().take(3) {
        all = all
            .into_iter()
            .flat_map(|so_far| {
                patterns.iter().map(move |pattern| {
                    let mut next = so_far.clone();
                    next.push(((*argument).clone(), pattern.clone()));
                    next
                })
            })
            .collect();
    }
    all
}

/// Which relations the copies may share: all but those that aggregates read, all but one, none.
fn sharings(select: &Select, assigned: &[(Expr, Vec<Option<u8>>)]) -> Vec<u64> {
    let mut slots = Vec::new();
    if let Some(from) = &select.from {
        relations(from, &mut slots);
    }
    let count = slots.len().min(63);
    if count < 2 {
        return vec![0];
    }
    let all = (1u64 << count) - 1;
    let mut read = 0;
    for (argument, _) in assigned {
        for column in argument.columns() {
            for (number, range) in slots.iter().enumerate().take(count) {
                if range.contains(&column) {
                    read |= 1 << number;
                }
            }
        }
    }
    let mut shares = Vec::new();
    if read != 0 {
        shares.push(all & !read);
    }
    for number in (0..count).rev() {
        shares.push(all & !(1 << number));
    }
    shares.push(0);
    shares.dedup();
    shares
}

fn relations(from: &From, found: &mut Vec<std::ops::Range<usize>>) {
    match from {
        From::Table { slot, columns, .. } | From::Derived { slot, columns, .. } => {
            found.push(*slot..slot + columns);
        }
        From::Join { left, right, .. } => {
            relations(left, found);
            relations(right, found);
        }
    }
}

/// What every group that HAVING likes must have, as plans that leave HAVING itself out.
///
/// # Errors
///
/// When no group can have it.
pub(super) fn needs(select: &Select, grouping: &Grouping) -> Result<Vec<GroupPlan>, Proof> {
    let mut needs = Vec::new();
    let mut need = |copies, patterns, several| {
        needs.push(GroupPlan {
            copies,
            shared: 0,
            patterns,
            having: false,
            several,
        });
    };
    let empty = grouping.keys.is_empty();
    if !empty {
        need(1, Vec::new(), false);
    }
    let parts = match &select.having {
        None => &[][..],
        Some(Expr::And(parts)) => parts.as_slice(),
        Some(single) => std::slice::from_ref(single),
    };
    let of = |expr: &Expr| -> Option<&Aggregate> {
        let Expr::Column(column) = expr else {
            return None;
        };
        let found = grouping.aggregates.iter();
        let mut found = found.filter(|(slot, aggregate)| {
            *slot == column.slot
                && aggregate.function == AggregateFunction::Count
                && aggregate.filter.is_none()
        });
        found.next().map(|(_, aggregate)| aggregate)
    };
    let alone = matches!(select.from, Some(From::Table { .. }));
    for part in parts {
        let Expr::Compare { op, left, right } = part else {
            continue;
        };
        let (Some(count), op) = (of(left), *op) else {
            continue;
        };
        match (&count.argument, &**right, of(right)) {
            (None, Expr::Literal(Value::Int(bound)), _) => {
                let least = i128::from(!empty);
                let possible = match op {
                    CompareOp::Equal | CompareOp::LessOrEqual => *bound >= least,
                    CompareOp::Less => *bound > least,
                    _ => true,
                };
                if !possible {
                    let says = format!(
                        "a group has at least {least} rows, so that COUNT(*) {} {bound} is never true",
                        op.symbol()
                    );
                    return Err(Proof::new(Cause::Group, says));
                }
            }
            (Some(argument), Expr::Literal(Value::Int(1)), _)
                if count.distinct && op == CompareOp::Greater =>
            {
                need(2, vec![(argument.clone(), vec![Some(0), Some(1)])], false);
            }
            (Some(argument), _, Some(other))
                if !count.distinct
                    && op == CompareOp::Greater
                    && other.distinct
                    && other.argument.as_ref() == Some(argument)
                    && alone =>
            {
                need(2, vec![(argument.clone(), vec![Some(0), Some(0)])], true);
            }
            (None, _, Some(other)) if op == CompareOp::Greater && !other.distinct => {
                if let Some(argument) = &other.argument {
                    need(1, vec![(argument.clone(), vec![None])], false);
                }
            }
            _ => {}
        }
    }
    Ok(needs)
}

/// Asks for the rows of a group; returns what the slots stand for, `None` when the plan contradicts itself.
pub(super) fn expand<'a>(
    state: &mut State<'a>,
    select: &'a Select,
    outer: &Env,
    missing: u64,
    plan: &GroupPlan,
) -> Option<Env> {
    let grouping = select.grouping.as_ref()?;
    let mut copies: Vec<Env> = Vec::new();
    for number in 0..plan.copies {
        let before = state.rows.len();
        let reuse = copies.first().map(|first| (first, plan.shared));
        let env = joined(state, select, outer, missing, reuse);
        if plan.several && number > 0 {
            tell_apart(state, &copies, &env, before);
        }
        if let Some(filter) = &select.filter {
            let expr = state.over_cells(filter, &env, select);
            state.pending.push(Goal::Holds {
                expr,
                want: Want::True,
                origin: Origin::Query,
            });
        }
        copies.push(env);
    }
    for key in &grouping.keys {
        let values: Vec<Expr> = over(state, select, key, &copies);
        for other in values.iter().skip(1) {
            let null = |expr: &Expr| is_null(expr.clone(), true);
            state.pending.push(Goal::Any(vec![
                compare(CompareOp::Equal, &values[0], other),
                Goal::All(vec![null(&values[0]), null(other)]),
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
            bound.resize_with(select.width, || Binding::Expr(Expr::Literal(Value::Null)));
            bound
        }
    };
    for (slot, aggregate) in &grouping.aggregates {
        let result = aggregated(state, select, aggregate, &copies, plan);
        bound[*slot] = Binding::Expr(result);
    }
    let env: Env = Rc::new(bound);
    if let (true, Some(having)) = (plan.having, &select.having) {
        let expr = state.over_cells(having, &env, select);
        state.pending.push(Goal::Holds {
            expr,
            want: Want::True,
            origin: Origin::Query,
        });
    }
    Some(env)
}

/// Rows of a copy that stand where an earlier copy has another are not to be made one.
fn tell_apart(state: &mut State<'_>, copies: &[Env], env: &Env, before: usize) {
    for binding in 0..env.len() {
        if let Binding::Column { row, column: 0 } = env[binding]
            && row >= before
        {
            for copy in copies {
                if let Binding::Column { row: other, .. } = copy[binding] {
                    state.several.push((other, row));
                }
            }
        }
    }
}

fn over<'a>(state: &mut State<'a>, select: &'a Select, expr: &Expr, copies: &[Env]) -> Vec<Expr> {
    copies
        .iter()
        .map(|env| state.over_cells(expr, env, select))
        .collect()
}

fn compare<'a>(op: CompareOp, left: &Expr, right: &Expr) -> Goal<'a> {
    Goal::Holds {
        expr: Expr::Compare {
            op,
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
        },
        want: Want::True,
        origin: Origin::Query,
    }
}

fn is_null<'a>(expr: Expr, null: bool) -> Goal<'a> {
    Goal::Holds {
        expr: Expr::IsNull {
            expr: Box::new(expr),
            negated: !null,
        },
        want: Want::True,
        origin: Origin::Query,
    }
}

/// What an aggregate yields over the copies, as far as the plan fixes it.
fn aggregated<'a>(
    state: &mut State<'a>,
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
            .reduce(|sum, value| Expr::Binary {
                op: BinaryOp::Add,
                left: Box::new(sum),
                right: Box::new(value),
            })
            .unwrap_or(Expr::Literal(Value::Null)),
        AggregateFunction::Min | AggregateFunction::Max => {
            let op = if aggregate.function == AggregateFunction::Min {
                CompareOp::LessOrEqual
            } else {
                CompareOp::GreaterOrEqual
            };
            for other in present.iter().skip(1) {
                let goal = compare(op, &present[0], other);
                state.pending.push(goal);
            }
            present
                .into_iter()
                .next()
                .unwrap_or(Expr::Literal(Value::Null))
        }
        AggregateFunction::Avg
        | AggregateFunction::Concat(_)
        | AggregateFunction::BoolAnd
        | AggregateFunction::BoolOr => present
            .into_iter()
            .next()
            .unwrap_or(Expr::Literal(Value::Null)),
    }
}
