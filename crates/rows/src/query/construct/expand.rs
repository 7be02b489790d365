//! From a query that must return a row to conditions over cells, one choice at a time.

use std::rc::Rc;

use isobath_sql::expr::CompareOp;
use isobath_sql::query::model::{Body, Query, Select, SetOp, SubqueryUsage};
use isobath_sql::{Expr, Value};

use super::apart::{apart, avoid, avoids, compared, distinct, keys_in_question};
use super::join::{RELAXED, derived, has_all_shapes, joined, shapes};
use super::pick::{self, Picked};
use super::plan::GroupPlan;
use super::proof::{Cause, Proof};
use super::state::{Binding, Env, Goal, Match, Origin, State, Unwanted, Want, is_free};
use super::{Construction, Setting, fill, group, parent, plan};
use crate::query::candidate::Candidate;

/// How many ends of choices are looked at.
const MOST_ENDS: u32 = 400;
/// How many of them for one plan of a group.
const MOST_ENDS_OF_PLAN: u32 = 12;

/// How many choices follow each other.
const MOST_DEPTH: u32 = 120;

/// How many shapes of the rows of a group are looked at one by one.
const MOST_SHAPES: usize = 16;

/// The search through all choices.
pub(super) struct Expansion<'s, 'f> {
    setting: Setting<'s>,
    accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ends: u32,
    limit: u32,
    depth: u32,
    made: usize,
    proof: Option<Proof>,
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
    pub(super) fn new(
        setting: Setting<'s>,
        made: usize,
        accept: &'f mut dyn FnMut(&Candidate) -> bool,
    ) -> Self {
        Self {
            setting,
            accept,
            ends: 0,
            limit: MOST_ENDS,
            depth: 0,
            made,
            proof: None,
        }
    }

    pub(super) fn run(mut self, query: &Query) -> Construction {
        let mut state = State::new(self.setting, self.made);
        state.read = query.tables();
        state.pending.push(Goal::Returns {
            query,
            env: Rc::default(),
            with: None,
        });
        match self.go(state) {
            End::Found(candidate) => Construction::Candidate(candidate),
            End::Refuted => {
                let proof = self
                    .proof
                    .unwrap_or_else(|| Proof::new(Cause::Contradiction, "no row can be returned"));
                Construction::Infeasible {
                    cause: proof.cause,
                    proof: proof.says,
                }
            }
            End::Failed => Construction::Unknown,
        }
    }

    fn go(&mut self, state: State<'_>) -> End {
        if self.depth == MOST_DEPTH {
            return End::Failed;
        }
        self.depth += 1;
        let end = self.decide(state);
        self.depth -= 1;
        end
    }

    fn decide(&mut self, mut state: State<'_>) -> End {
        loop {
            let Some(goal) = state.pending.pop() else {
                if let Some(goal) = state.next_later() {
                    // What would make us guess must not hide a conflict that is there already.
                    if let (Goal::Unmatched { stricter: true, .. }, false) = (&goal, state.guess)
                        && let Some(why) = pick::conflict(&state)
                    {
                        self.proof.get_or_insert(why);
                        return End::Refuted;
                    }
                    state.pending.push(goal);
                    continue;
                }
                if let Some(goal) = parent::in_question(&mut state) {
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
                Step::Never(why) => return self.dead_end(&state, why),
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
                return self.dead_end(&state, why);
            }
            let mut refuted = true;
            for alternative in alternatives {
                let limit = self.limit;
                if let Goal::Grouped { .. } = alternative {
                    // One plan that leads nowhere must not use up what the others need.
                    self.limit = limit.min(self.ends + MOST_ENDS_OF_PLAN);
                }
                let mut branch = state.clone();
                branch.pending.push(alternative);
                let end = self.go(branch);
                self.limit = limit;
                match end {
                    End::Found(candidate) => return End::Found(candidate),
                    End::Refuted => {}
                    End::Failed => refuted = false,
                }
                if self.ends >= self.limit {
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

    /// What a conflict means: a proof, unless something was left out or asked for in excess.
    fn dead_end(&mut self, state: &State<'_>, why: Proof) -> End {
        if state.guess {
            return End::Failed;
        }
        self.proof.get_or_insert(why);
        End::Refuted
    }

    /// Values for a state in which all is decided.
    fn end(&mut self, state: &State<'_>) -> End {
        self.ends += 1;
        match pick::pick(state) {
            Picked::Values(values) => match fill::fill(state, &values) {
                Some(candidate) if (self.accept)(&candidate) => End::Found(candidate),
                _ => End::Failed,
            },
            Picked::Conflict(why) => self.dead_end(state, why),
            Picked::Nothing => End::Failed,
        }
    }
}

/// What a goal leads to.
pub(super) enum Step<'a> {
    Done,
    Never(Proof),
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

/// A query returns a row.
fn returns<'a>(
    state: &mut State<'a>,
    query: &'a Query,
    env: &Env,
    with: Option<Match>,
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
                match plan::needs(select, grouping) {
                    Err(why) => return Step::Never(why),
                    Ok(plans) => needs = plans,
                }
            }
            let all_shapes = shapes(select);
            let mut needs: Vec<Goal<'a>> = needs
                .into_iter()
                .map(|plan| in_every_shape(select, env, plan, &all_shapes))
                .collect();
            let complete = select.grouping.is_none() && has_all_shapes(select);
            if select.grouping.is_none() && !complete {
                needs.push(Goal::Joined {
                    select,
                    env: Rc::clone(env),
                    missing: RELAXED,
                    with: with.clone(),
                });
            }
            for missing in all_shapes {
                match &select.grouping {
                    None => alternatives.push(Goal::Joined {
                        select,
                        env: Rc::clone(env),
                        missing,
                        with: with.clone(),
                    }),
                    Some(grouping) => {
                        let plans = plan::plans(select, grouping, state.setting.dialect);
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
            if complete {
                Step::Choice(alternatives)
            } else {
                Step::Needs(needs, alternatives)
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
                    let items = items_of(state, left, env);
                    if let (Some(Match::First(op, value)), Some(item)) = (&with, items.first()) {
                        state.pending.push(Goal::Holds {
                            expr: compared(*op, value.clone(), item.clone()),
                            want: Want::True,
                            origin: Origin::Query,
                        });
                    }
                    if *op == SetOp::Except {
                        avoid(state, right, env, Some(&Unwanted::Row(items)));
                        return Step::Done;
                    }
                    Step::Choice(vec![Goal::Returns {
                        query: right,
                        env: Rc::clone(env),
                        with: Some(Match::Row(items)),
                    }])
                }
            }
        }
        Body::Values(rows) => {
            if rows.is_empty() {
                Step::Never(Proof::new(Cause::Contradiction, "VALUES has no rows"))
            } else {
                state.guess |= with.is_some();
                Step::Done
            }
        }
    }
}

fn compare_item<'a>(state: &mut State<'a>, select: &'a Select, env: &Env, with: Option<Match>) {
    let goal = |expr| Goal::Holds {
        expr,
        want: Want::True,
        origin: Origin::Query,
    };
    match with {
        Some(Match::First(op, left)) => {
            if let Some(item) = select.items.first() {
                let right = state.over_cells(&item.expr, env, select);
                state.pending.push(goal(compared(op, left, right)));
            }
        }
        Some(Match::Row(row)) => {
            for (value, item) in row.into_iter().zip(&select.items) {
                let other = state.over_cells(&item.expr, env, select);
                // Cells that are compared by `=` share their values, which NULL cannot.
                state.pending.push(Goal::Any(vec![
                    goal(compared(CompareOp::Equal, value.clone(), other.clone())),
                    goal(distinct(value, other, false)),
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
) -> Goal<'a> {
    let grouped = |shapes: Vec<u64>, missing: u64| Goal::Grouped {
        select,
        env: Rc::clone(env),
        missing,
        plan: GroupPlan {
            shapes,
            ..plan.clone()
        },
        with: None,
    };
    let copies = u32::try_from(plan.copies).unwrap_or(u32::MAX);
    let ways = all_shapes.len().checked_pow(copies);
    match ways.filter(|ways| *ways <= MOST_SHAPES && has_all_shapes(select)) {
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
            Goal::Any(shapes.collect())
        }
    }
}

/// The select list of a row that a query returns, over cells.
fn items_of<'a>(state: &mut State<'a>, query: &'a Query, env: &Env) -> Vec<Expr> {
    let width = width(query);
    let mut bound = vec![Binding::Expr(Expr::Literal(Value::Null)); width.max(1)];
    derived(state, query, env, 0, &mut bound);
    let exprs = bound.into_iter().map(|binding| match binding {
        Binding::Expr(expr) => expr,
        Binding::Column { .. } => Expr::Literal(Value::Null),
    });
    exprs.collect()
}

fn width(query: &Query) -> usize {
    match &query.body {
        Body::Select(select) => select.items.len(),
        Body::Set { left, .. } => width(left),
        Body::Values(rows) => rows.first().map_or(0, Vec::len),
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
