//! FROM: a row for each relation, and which outer joins find a partner.

use std::rc::Rc;

use isobath_sql::query::model::{From, JoinKind, Query, QueryBody, Select, WindowFunction};
use isobath_sql::{Expr, Value};

use super::plan::GroupPlan;
use super::state::{
    Binding, ConditionOrigin, ConstructionState, Env, Obligation, TruthRequirement, free,
};
use super::{group, plan};

/// In place of a shape: what outer joins may miss is not spoken of at all, so that whatever follows
/// is necessary in every shape.
pub(super) const RELAXED: u64 = u64::MAX;

/// Whether [`shapes`] lists all there are.
pub(super) fn has_all_shapes(select: &Select) -> bool {
    outer_joins(select).len() <= MAX_OUTER
}

/// Above so many outer joins, not all their shapes are looked at.
const MAX_OUTER: usize = 6;

/// The ways in which outer joins can come out, the likeliest first: a bit per side that may be missing.
pub(super) fn shapes(select: &Select) -> Vec<u64> {
    let outer = outer_joins(select);
    let count = outer.len().min(63);
    let mut likely = 0u64;
    for (number, join) in outer.iter().take(count).enumerate() {
        if let Some(filter) = &select.filter
            && asks_null(filter, join.missing)
        {
            likely |= 1 << number;
        }
    }
    let mut shapes = vec![likely];
    if count <= MAX_OUTER {
        shapes.extend((0..1u64 << count).filter(|shape| *shape != likely));
    } else {
        shapes.extend((0..count).map(|number| likely ^ (1 << number)));
        shapes.extend([0, (1 << count) - 1]);
    }
    // A FULL join without either side is no row.
    shapes.retain(|shape| {
        !(1..count).any(|number| outer[number].other_half && (shape >> (number - 1)) & 3 == 3)
    });
    shapes
}

/// A plan whose rows come out of outer joins as its patterns ask: a NULL where a side is missing, a
/// value where it is there; `None` where one shape does for all rows.
pub(super) fn shaped(select: &Select, plan: GroupPlan, all_shapes: &[u64]) -> Option<GroupPlan> {
    let outer = outer_joins(select);
    let likely = *all_shapes.first()?;
    let mut shapes = vec![likely; plan.copies];
    for (argument, pattern) in &plan.patterns {
        let columns = argument.columns();
        let mut sides = 0u64;
        for (number, join) in outer.iter().take(63).enumerate() {
            if columns.iter().any(|slot| holds_slot(join.missing, *slot)) {
                sides |= 1 << number;
            }
        }
        // Inner joins come before those around them, so that the least goes missing.
        let innermost = sides & sides.wrapping_neg();
        for (shape, letter) in shapes.iter_mut().zip(pattern) {
            match letter {
                Some(_) => *shape &= !sides,
                None if *shape & sides == 0 => *shape |= innermost,
                None => {}
            }
        }
    }
    let mixed = shapes.iter().any(|shape| *shape != shapes[0]);
    let known = shapes.iter().all(|shape| all_shapes.contains(shape));
    (mixed && known).then_some(GroupPlan { shapes, ..plan })
}

/// A side that an outer join may miss.
struct OuterJoin<'a> {
    missing: &'a From,
    /// Whether it is the left side of a FULL join, whose right side comes just before.
    other_half: bool,
}

fn outer_joins(select: &Select) -> Vec<OuterJoin<'_>> {
    let mut found = Vec::new();
    if let Some(from) = &select.from {
        outer_joins_of(from, &mut found);
    }
    found
}

fn outer_joins_of<'a>(from: &'a From, found: &mut Vec<OuterJoin<'a>>) {
    if let From::Join {
        kind, left, right, ..
    } = from
    {
        outer_joins_of(left, found);
        outer_joins_of(right, found);
        if matches!(kind, JoinKind::Left | JoinKind::Full) {
            found.push(OuterJoin {
                missing: right,
                other_half: false,
            });
        }
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            found.push(OuterJoin {
                missing: left,
                other_half: *kind == JoinKind::Full,
            });
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
    state: &mut ConstructionState<'a>,
    select: &'a Select,
    outer: &Env,
    missing: u64,
    reuse: Option<(&Env, u64)>,
) -> Env {
    let mut bound: Vec<Binding> = outer.iter().take(select.base).cloned().collect();
    // What nothing below gives a value, such as a window function, is unknown.
    bound.resize_with(select.width, || Binding::Expr(free()));
    let mut placing = RowPlacement {
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
    let RowPlacement {
        mut bound,
        conditions,
        ..
    } = placing;
    for window in &select.windows {
        if let WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::Ntile(_) = window.function
        {
            bound[window.slot] = Binding::Expr(state.rank());
        }
    }
    let env = Rc::new(bound);
    for condition in conditions {
        match condition {
            JoinCondition::Meets(on) => {
                let expr = state.over_cells(on, &env, select);
                state.pending.push(Obligation::Holds {
                    expr,
                    want: TruthRequirement::True,
                    origin: ConditionOrigin::Query,
                });
            }
            JoinCondition::Misses { on, side } => {
                let mut relations = Vec::new();
                relations_in(side, &mut relations);
                let columns = on.columns();
                let spoken = |slot: usize, width: usize| {
                    columns.iter().any(|of| (slot..slot + width).contains(of))
                };
                let alone = relations.len() == 1;
                let several = relations
                    .iter()
                    .filter(|(_, slot, width)| spoken(*slot, *width));
                let several = several.count() > 1;
                for (table, slot, width) in relations {
                    let Some(table) = table else {
                        continue;
                    };
                    // Only the relations that ON speaks of decide whether it can be met.
                    if alone || spoken(slot, width) {
                        state.later.push(Obligation::Unmatched {
                            select,
                            env: Rc::clone(&env),
                            on,
                            table,
                            slot,
                            columns: width,
                            stricter: !alone && (several || !keeps_all(side, slot)),
                            known: 0,
                        });
                    }
                }
            }
        }
    }
    env
}

enum JoinCondition<'a> {
    Meets(&'a Expr),
    Misses { on: &'a Expr, side: &'a From },
}

/// Whether every row of the relation at a slot comes out of a join.
fn keeps_all(from: &From, of: usize) -> bool {
    match from {
        From::Table { slot, .. } | From::Derived { slot, .. } => *slot == of,
        From::Join {
            kind, left, right, ..
        } => match kind {
            JoinKind::Inner => false,
            JoinKind::Left => keeps_all(left, of),
            JoinKind::Right => keeps_all(right, of),
            JoinKind::Full => keeps_all(left, of) || keeps_all(right, of),
        },
    }
}

/// The relations of FROM: the table of the schema, if it is one, and its slots.
fn relations_in(from: &From, found: &mut Vec<(Option<usize>, usize, usize)>) {
    match from {
        From::Table {
            table,
            slot,
            columns,
            ..
        } => found.push((Some(*table), *slot, *columns)),
        From::Derived { slot, columns, .. } => found.push((None, *slot, *columns)),
        From::Join { left, right, .. } => {
            relations_in(left, found);
            relations_in(right, found);
        }
    }
}

/// One walk over FROM, which fills slots and collects conditions.
struct RowPlacement<'p, 'a> {
    state: &'p mut ConstructionState<'a>,
    select: &'a Select,
    missing: u64,
    reuse: Option<(&'p Env, u64)>,
    bound: Vec<Binding>,
    /// Outer joins and relations met so far.
    joins: u32,
    relations: u32,
    conditions: Vec<JoinCondition<'a>>,
}

impl<'a> RowPlacement<'_, 'a> {
    /// The columns of a missing side are NULL; without a shape, nothing is known about them.
    fn leave_out(&mut self, slot: usize, columns: usize) {
        if self.missing != RELAXED {
            self.bound[slot..slot + columns].fill(Binding::Expr(Expr::Literal(Value::Null)));
        }
    }

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
                    self.leave_out(*slot, *columns);
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
            From::Derived {
                query,
                lateral,
                working,
                slot,
                columns,
                ..
            } => {
                self.relations += 1;
                if !there {
                    self.leave_out(*slot, *columns);
                } else if working.is_some() {
                    // The rows of the round before are not those of the first operand.
                    self.state.guess = true;
                } else {
                    // LATERAL sees the relations before it.
                    let seen = if *lateral { *slot } else { self.select.base };
                    let outer: Env = Rc::new(self.bound.iter().take(seen).cloned().collect());
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
                outer_joins_of(left, &mut inside);
                outer_joins_of(right, &mut inside);
                let own = self.joins + u32::try_from(inside.len()).unwrap_or(u32::MAX);
                let bit = |number: u32| there && number < 63 && self.missing & (1 << number) != 0;
                let (drop_left, drop_right, bits) = match kind {
                    JoinKind::Inner => (false, false, 0),
                    JoinKind::Left => (false, bit(own), 1),
                    JoinKind::Right => (bit(own), false, 1),
                    JoinKind::Full => (bit(own + 1), bit(own), 2),
                };
                let misses = drop_left || drop_right;
                let relaxed = self.missing == RELAXED && misses;
                self.place(left, there && !drop_left);
                self.place(right, there && !drop_right);
                self.joins += bits;
                if let (true, false, Some(on)) = (there, relaxed, on) {
                    self.conditions.push(if misses {
                        JoinCondition::Misses {
                            on,
                            side: if drop_left { left } else { right },
                        }
                    } else {
                        JoinCondition::Meets(on)
                    });
                }
            }
        }
    }
}

/// The rows behind a derived table; its columns stand for its select list.
pub(super) fn derived<'a>(
    state: &mut ConstructionState<'a>,
    query: &'a Query,
    outer: &Env,
    slot: usize,
    bound: &mut [Binding],
) {
    let mut query = query;
    while let QueryBody::Set { left, .. } = &query.body {
        state.guess = true;
        query = left;
    }
    let QueryBody::Select(select) = &query.body else {
        state.guess = true;
        return;
    };
    let shapes = shapes(select);
    let missing = shapes.first().copied().unwrap_or(0);
    state.guess |= shapes.len() > 1 || query.limit.is_some();
    let env = match &select.grouping {
        None => {
            let env = joined(state, select, outer, missing, None);
            if let Some(filter) = &select.filter {
                let expr = state.over_cells(filter, &env, select);
                state.pending.push(Obligation::Holds {
                    expr,
                    want: TruthRequirement::True,
                    origin: ConditionOrigin::Query,
                });
            }
            env
        }
        Some(grouping) => {
            state.guess = true;
            let plans = plan::plans(select, grouping, state.context.dialect);
            let plan = plans.into_iter().next();
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
