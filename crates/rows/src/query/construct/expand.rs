//! From a query that must return a row to conditions over cells, one choice at a time.

use std::rc::Rc;

use isobath_sql::ConstraintKind;
use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{Body, From, JoinKind, Query, Select, SetOp, SubqueryUsage};
use isobath_sql::{Expr, Value};

use super::pick::{self, Picked};
use super::state::{Binding, Env, Goal, State, Want};
use super::{Construction, Setting, fill, group};
use crate::query::candidate::Candidate;

/// How many ends of choices are looked at.
const MOST_ENDS: u32 = 400;

/// How many combinations of rows a condition on all rows is written out for.
const MOST_COMBINATIONS: usize = 64;

/// The search through all choices.
pub(super) struct Expansion<'s, 'f> {
    setting: Setting<'s>,
    accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ends: u32,
    proof: Option<String>,
}

/// What became of a state.
enum End {
    Found(Candidate),
    /// Nothing can come of it.
    Refuted,
    /// Nothing came of it.
    Failed,
}

impl<'s, 'f> Expansion<'s, 'f> {
    pub(super) fn new(setting: Setting<'s>, accept: &'f mut dyn FnMut(&Candidate) -> bool) -> Self {
        Self {
            setting,
            accept,
            ends: 0,
            proof: None,
        }
    }

    pub(super) fn run(mut self, query: &Query) -> Construction {
        let mut state = State::new(self.setting);
        state.pending.push(Goal::Returns {
            query,
            env: Rc::default(),
            with: None,
        });
        match self.go(state) {
            End::Found(candidate) => Construction::Candidate(candidate),
            End::Refuted => Construction::Infeasible {
                proof: self
                    .proof
                    .unwrap_or_else(|| "no row can be returned".to_owned()),
            },
            End::Failed => Construction::Unknown,
        }
    }

    fn go(&mut self, mut state: State<'_>) -> End {
        loop {
            let Some(goal) = state.pending.pop() else {
                if let Some(goal) = state.later.pop() {
                    state.pending.push(goal);
                    continue;
                }
                if let Some(apart) = keys_in_question(&mut state) {
                    state.pending.extend(apart);
                    continue;
                }
                return self.end(&state);
            };
            let alternatives = match step(&mut state, goal) {
                Step::Done => continue,
                Step::Never(why) => {
                    self.proof.get_or_insert(why);
                    return if state.guess {
                        End::Failed
                    } else {
                        End::Refuted
                    };
                }
                Step::Choice(alternatives) => alternatives,
                Step::Needs(needs, alternatives) => {
                    for need in needs {
                        let mut branch = state.clone();
                        branch.pending.push(need);
                        match self.go(branch) {
                            End::Found(candidate) => return End::Found(candidate),
                            End::Refuted => return End::Refuted,
                            End::Failed => {}
                        }
                    }
                    state.guess = true;
                    alternatives
                }
            };
            // A conflict that is there already need not be found once per alternative.
            if alternatives.len() > 1
                && let Some(why) = pick::conflict(&state)
            {
                self.proof.get_or_insert(why);
                return if state.guess {
                    End::Failed
                } else {
                    End::Refuted
                };
            }
            let mut refuted = true;
            for alternative in alternatives {
                let mut branch = state.clone();
                branch.pending.push(alternative);
                match self.go(branch) {
                    End::Found(candidate) => return End::Found(candidate),
                    End::Refuted => {}
                    End::Failed => refuted = false,
                }
                if self.ends > MOST_ENDS {
                    return End::Failed;
                }
            }
            return if refuted && !state.guess {
                End::Refuted
            } else {
                End::Failed
            };
        }
    }

    /// Values for a state in which all is decided.
    fn end(&mut self, state: &State<'_>) -> End {
        self.ends += 1;
        match pick::pick(state) {
            Picked::Values(values) => match fill::fill(state, &values) {
                Some(candidate) if (self.accept)(&candidate) => End::Found(candidate),
                _ => End::Failed,
            },
            Picked::Conflict(why) if !state.guess => {
                self.proof.get_or_insert(why);
                End::Refuted
            }
            Picked::Conflict(_) | Picked::Nothing => End::Failed,
        }
    }
}

/// What a goal leads to.
enum Step<'a> {
    Done,
    Never(String),
    Choice(Vec<Goal<'a>>),
    /// What any way must meet, then ways that are not all there are.
    Needs(Vec<Goal<'a>>, Vec<Goal<'a>>),
}

fn step<'a>(state: &mut State<'a>, goal: Goal<'a>) -> Step<'a> {
    match goal {
        Goal::All(goals) => {
            state.pending.extend(goals.into_iter().rev());
            Step::Done
        }
        Goal::Any(goals) => Step::Choice(goals),
        Goal::Holds { expr, want } => holds(state, expr, want),
        Goal::Returns { query, env, with } => returns(state, query, &env, with),
        Goal::Joined {
            select,
            env,
            missing,
            with,
        } => {
            let env = joined(state, select, &env, missing, None);
            if let Some(filter) = &select.filter {
                let expr = state.over_cells(filter, &env, select);
                state.pending.push(Goal::Holds {
                    expr,
                    want: Want::True,
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
            None => Step::Never("a group cannot have so many rows".to_owned()),
        },
        Goal::Scalar { expr, want, number } => scalar(state, expr, want, number),
        Goal::Avoids { query, env, with } => {
            avoids(state, query, &env, with);
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
        } => {
            state.guess |= stricter;
            for row in state.rows_of(table) {
                let mut bound = env.as_ref().clone();
                for column in 0..columns {
                    bound[slot + column] = Binding::Column { row, column };
                }
                let expr = state.over_cells(on, &Rc::new(bound), select);
                state.pending.push(Goal::Holds {
                    expr,
                    want: Want::NotTrue,
                });
            }
            Step::Done
        }
        Goal::Apart { a, b } => apart(state, a, b),
        Goal::Same { a, b } => {
            state.unite(a, b);
            Step::Done
        }
    }
}

/// Takes a condition apart.
fn holds<'a>(state: &mut State<'a>, expr: Expr, want: Want) -> Step<'a> {
    let each = |parts: Vec<Expr>| -> Vec<Goal<'a>> {
        parts
            .into_iter()
            .map(|expr| Goal::Holds { expr, want })
            .collect()
    };
    match expr {
        Expr::Not(inner) => holds(state, *inner, want.negated()),
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
                    state.later.push(Goal::Avoids {
                        query: &subquery.query,
                        env,
                        with: None,
                    });
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
                    let guess = state.guess;
                    state.add_leaf(expr, want, guess);
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

fn rebind(state: &mut State<'_>, expr: &mut Expr, env: &Env) {
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
        Want::True => returns(state, query, &env, Some((op, left))),
        Want::NotFalse => {
            state.guess = true;
            returns(state, query, &env, Some((op, left)))
        }
        Want::False | Want::NotTrue => {
            state.later.push(Goal::Avoids {
                query,
                env,
                with: Some((op, left, want)),
            });
            Step::Done
        }
    }
}

/// A query returns a row.
fn returns<'a>(
    state: &mut State<'a>,
    query: &'a Query,
    env: &Env,
    with: Option<(CompareOp, Expr)>,
) -> Step<'a> {
    if query.limit.is_some() || query.offset.is_some() {
        // LIMIT 0 and OFFSET are for the search.
        state.guess |= query.offset.is_some();
    }
    match &query.body {
        Body::Select(select) => {
            let mut alternatives = Vec::new();
            let mut needs = Vec::new();
            if let Some(grouping) = &select.grouping {
                match group::needs(select, grouping) {
                    Err(why) => return Step::Never(why),
                    Ok(plans) => needs = plans,
                }
            }
            let all_shapes = shapes(select);
            let needs: Vec<Goal<'a>> = needs
                .into_iter()
                .filter(|_| all_shapes.len() == 1)
                .map(|plan| Goal::Grouped {
                    select,
                    env: Rc::clone(env),
                    missing: all_shapes[0],
                    plan,
                    with: None,
                })
                .collect();
            for missing in all_shapes {
                match &select.grouping {
                    None => alternatives.push(Goal::Joined {
                        select,
                        env: Rc::clone(env),
                        missing,
                        with: with.clone(),
                    }),
                    Some(grouping) => {
                        let plans = group::plans(select, grouping);
                        alternatives.extend(plans.into_iter().map(|plan| Goal::Grouped {
                            select,
                            env: Rc::clone(env),
                            missing,
                            plan,
                            with: with.clone(),
                        }));
                    }
                }
            }
            if select.grouping.is_some() {
                Step::Needs(needs, alternatives)
            } else {
                Step::Choice(alternatives)
            }
        }
        Body::Set {
            op, left, right, ..
        } => {
            let side = |query: &'a Query| Goal::Returns {
                query,
                env: Rc::clone(env),
                with: with.clone(),
            };
            match op {
                SetOp::Union => Step::Choice(vec![side(left), side(right)]),
                SetOp::Intersect | SetOp::Except => {
                    state.guess = true;
                    Step::Choice(vec![side(left)])
                }
            }
        }
        Body::Values(rows) => {
            if rows.is_empty() {
                Step::Never("VALUES has no rows".to_owned())
            } else {
                state.guess |= with.is_some();
                Step::Done
            }
        }
    }
}

/// The ways in which outer joins can come out, the likeliest first: a bit per outer join whose rows do not meet.
fn shapes(select: &Select) -> Vec<u64> {
    let mut outer = Vec::new();
    if let Some(from) = &select.from {
        outer_joins(from, &mut outer);
    }
    let count = outer.len().min(63);
    let mut likely = 0u64;
    for (number, (kind, left, right)) in outer.iter().take(count).enumerate() {
        let missing = if *kind == JoinKind::Right {
            left
        } else {
            right
        };
        if let Some(filter) = &select.filter
            && asks_null(filter, missing)
        {
            likely |= 1 << number;
        }
    }
    let mut shapes = vec![likely];
    if count <= 6 {
        shapes.extend((0..1u64 << count).filter(|shape| *shape != likely));
    } else {
        shapes.extend((0..count).map(|number| likely ^ (1 << number)));
        shapes.extend([0, (1 << count) - 1]);
    }
    shapes
}

fn outer_joins<'a>(from: &'a From, found: &mut Vec<(JoinKind, &'a From, &'a From)>) {
    if let From::Join {
        kind, left, right, ..
    } = from
    {
        outer_joins(left, found);
        outer_joins(right, found);
        if *kind != JoinKind::Inner {
            found.push((*kind, left, right));
        }
    }
}

/// Whether a condition asks a column of one side to be NULL outright.
fn asks_null(filter: &Expr, side: &From) -> bool {
    match filter {
        Expr::And(parts) => parts.iter().any(|part| asks_null(part, side)),
        Expr::IsNull {
            expr,
            negated: false,
        } => matches!(&**expr, Expr::Column(column) if holds_slot(side, column.slot)),
        _ => false,
    }
}

fn holds_slot(from: &From, of: usize) -> bool {
    match from {
        From::Table { slot, columns, .. } | From::Derived { slot, columns, .. } => {
            (*slot..*slot + *columns).contains(&of)
        }
        From::Join { left, right, .. } => holds_slot(left, of) || holds_slot(right, of),
    }
}

/// Rows for all relations of a SELECT, ON conditions asked for; returns what its slots stand for.
///
/// Relations whose bit is in `reuse` take their rows from there.
pub(super) fn joined<'a>(
    state: &mut State<'a>,
    select: &'a Select,
    outer: &Env,
    missing: u64,
    reuse: Option<(&Env, u64)>,
) -> Env {
    let mut bound: Vec<Binding> = outer.iter().take(select.base).cloned().collect();
    bound.resize_with(select.width, || Binding::Expr(Expr::Literal(Value::Null)));
    let mut placing = Placing {
        state,
        select,
        missing,
        reuse,
        bound,
        joins: 0,
        relations: 0,
        conditions: Vec::new(),
    };
    if let Some(from) = &select.from {
        placing.place(from, true);
    }
    let Placing {
        bound, conditions, ..
    } = placing;
    let env = Rc::new(bound);
    for condition in conditions {
        match condition {
            Condition::Meets(on) => {
                let expr = state.over_cells(on, &env, select);
                state.pending.push(Goal::Holds {
                    expr,
                    want: Want::True,
                });
            }
            Condition::Misses { on, side } => {
                let mut tables = Vec::new();
                tables_in(side, &mut tables);
                let alone = tables.len() == 1;
                let columns = on.columns();
                for (table, slot, width) in tables {
                    // Only the relations that ON speaks of decide whether it can be met.
                    if alone || columns.iter().any(|of| (slot..slot + width).contains(of)) {
                        state.later.push(Goal::Unmatched {
                            select,
                            env: Rc::clone(&env),
                            on,
                            table,
                            slot,
                            columns: width,
                            stricter: !alone,
                        });
                    }
                }
            }
        }
    }
    env
}

enum Condition<'a> {
    Meets(&'a Expr),
    Misses { on: &'a Expr, side: &'a From },
}

fn tables_in(from: &From, found: &mut Vec<(usize, usize, usize)>) {
    match from {
        From::Table {
            table,
            slot,
            columns,
            ..
        } => found.push((*table, *slot, *columns)),
        From::Derived { .. } => {}
        From::Join { left, right, .. } => {
            tables_in(left, found);
            tables_in(right, found);
        }
    }
}

/// One walk over FROM, which fills slots and collects conditions.
struct Placing<'p, 'a> {
    state: &'p mut State<'a>,
    select: &'a Select,
    missing: u64,
    reuse: Option<(&'p Env, u64)>,
    bound: Vec<Binding>,
    /// Outer joins and relations met so far.
    joins: u32,
    relations: u32,
    conditions: Vec<Condition<'a>>,
}

impl<'a> Placing<'_, 'a> {
    fn place(&mut self, from: &'a From, there: bool) {
        match from {
            From::Table {
                table,
                slot,
                columns,
                ..
            } => {
                let number = self.relations.min(63);
                self.relations += 1;
                if !there {
                    return;
                }
                if let Some((env, shared)) = self.reuse
                    && shared & (1 << number) != 0
                {
                    self.bound[*slot..slot + columns].clone_from_slice(&env[*slot..slot + columns]);
                    return;
                }
                let row = self.state.add_row(*table);
                for column in 0..*columns {
                    self.bound[slot + column] = Binding::Column { row, column };
                }
            }
            From::Derived { query, slot, .. } => {
                self.relations += 1;
                if there {
                    let outer: Env =
                        Rc::new(self.bound.iter().take(self.select.base).cloned().collect());
                    derived(self.state, query, &outer, *slot, &mut self.bound);
                }
            }
            From::Join {
                kind,
                left,
                right,
                on,
            } => {
                // Bits are given out in the order of `outer_joins`: the sides before the join.
                let mut inside = Vec::new();
                outer_joins(left, &mut inside);
                outer_joins(right, &mut inside);
                let own = self.joins + u32::try_from(inside.len()).unwrap_or(u32::MAX);
                let misses =
                    there && *kind != JoinKind::Inner && own < 63 && self.missing & (1 << own) != 0;
                let drop_left = misses && *kind == JoinKind::Right;
                let drop_right = misses && !drop_left;
                self.place(left, there && !drop_left);
                self.place(right, there && !drop_right);
                if *kind != JoinKind::Inner {
                    self.joins += 1;
                }
                if let (true, Some(on)) = (there, on) {
                    self.conditions.push(if misses {
                        Condition::Misses {
                            on,
                            side: if drop_left { left } else { right },
                        }
                    } else {
                        Condition::Meets(on)
                    });
                }
            }
        }
    }
}

/// The rows behind a derived table; its columns stand for its select list.
fn derived<'a>(
    state: &mut State<'a>,
    query: &'a Query,
    outer: &Env,
    slot: usize,
    bound: &mut [Binding],
) {
    let mut query = query;
    while let Body::Set { left, .. } = &query.body {
        state.guess = true;
        query = left;
    }
    let Body::Select(select) = &query.body else {
        state.guess = true;
        return;
    };
    let missing = shapes(select).first().copied().unwrap_or(0);
    state.guess |= missing != 0 || query.limit.is_some();
    let env = match &select.grouping {
        None => {
            let env = joined(state, select, outer, missing, None);
            if let Some(filter) = &select.filter {
                let expr = state.over_cells(filter, &env, select);
                state.pending.push(Goal::Holds {
                    expr,
                    want: Want::True,
                });
            }
            env
        }
        Some(grouping) => {
            state.guess = true;
            let plan = group::plans(select, grouping).into_iter().next();
            match plan.and_then(|plan| group::expand(state, select, outer, missing, &plan)) {
                Some(env) => env,
                None => return,
            }
        }
    };
    for (index, item) in select.items.iter().enumerate() {
        bound[slot + index] = Binding::Expr(state.over_cells(&item.expr, &env, select));
    }
}

fn compare_item<'a>(
    state: &mut State<'a>,
    select: &'a Select,
    env: &Env,
    with: Option<(CompareOp, Expr)>,
) {
    if let (Some((op, left)), Some(item)) = (with, select.items.first()) {
        let right = state.over_cells(&item.expr, env, select);
        state.pending.push(Goal::Holds {
            expr: Expr::Compare {
                op,
                left: Box::new(left),
                right: Box::new(right),
            },
            want: Want::True,
        });
    }
}

/// A scalar subquery yields a row; its item takes its place in the condition.
fn scalar<'a>(state: &mut State<'a>, mut expr: Expr, want: Want, number: usize) -> Step<'a> {
    let (subquery, env) = state.subqueries[number].clone();
    state.guess = true;
    let width = match &subquery.query.body {
        Body::Select(select) => select.items.len(),
        _ => 1,
    };
    let mut bound = vec![Binding::Expr(Expr::Literal(Value::Null)); width.max(1)];
    derived(state, &subquery.query, &env, 0, &mut bound);
    let Some(Binding::Expr(item)) = bound.first().cloned() else {
        return Step::Done;
    };
    expr.walk_mut(&mut |part| {
        if matches!(part, Expr::Subquery(of) if *of == number) {
            *part = item.clone();
        }
    });
    Step::Choice(vec![Goal::Holds { expr, want }])
}

/// No combination of the rows that are there makes the query return a row (that compares so).
fn avoids<'a>(
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
fn keys_in_question<'a>(state: &mut State<'a>) -> Option<Vec<Goal<'a>>> {
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

fn apart<'a>(state: &mut State<'a>, a: usize, b: usize) -> Step<'a> {
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
            });
        }
        all.push(Goal::Any(ways));
    }
    let differ = Goal::All(all);
    let several = state.several.iter().any(|pair| *pair == (a, b));
    Step::Choice(if several {
        vec![differ]
    } else {
        vec![differ, Goal::Same { a, b }]
    })
}
