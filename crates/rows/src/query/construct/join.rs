//! FROM: a row for each relation, and what becomes of outer joins.

use std::rc::Rc;

use isobath_sql::query::model::{Body, From, JoinKind, Query, Select};
use isobath_sql::{Expr, Value};

use super::group;
use super::state::{Binding, Env, Goal, Origin, State, Want};

/// The ways in which outer joins can come out, the likeliest first: a bit per outer join whose rows do not meet.
pub(super) fn shapes(select: &Select) -> Vec<u64> {
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

pub(super) fn outer_joins<'a>(from: &'a From, found: &mut Vec<(JoinKind, &'a From, &'a From)>) {
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
                    origin: Origin::Query,
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
pub(super) fn derived<'a>(
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
                    origin: Origin::Query,
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
