//! Conditions of WHERE that a join judges already, so that a product of many relations stays small.
//!
//! The filter still judges every row that is left: what is found out here only decides which pairs are carried along,
//! and a pair that fails is a near miss whose price is known early. A condition is judged by the lowest inner join that
//! has all its columns; the missing side of an outer join is left alone, because its NULLs come later.

use smallvec::SmallVec;

use crate::expr::Expr;

use super::model::{From, Select};

/// Up to so many pairs of rows it does not pay.
pub(super) const MIN_PAIRS: usize = 64;

/// A part of WHERE without subqueries, and between which slots its columns lie.
#[derive(Clone, Copy)]
pub(super) struct JoinCondition<'s> {
    pub(super) expr: &'s Expr,
    first: usize,
    last: usize,
}

/// The conditions of WHERE that joins can judge.
pub(super) type JoinConditions<'s> = SmallVec<[JoinCondition<'s>; 8]>;

/// The parts of a SELECT's WHERE that its joins can judge.
pub(super) fn join_conditions(select: &Select) -> JoinConditions<'_> {
    let mut found = JoinConditions::new();
    if let (Some(From::Join { .. }), Some(filter)) = (&select.from, &select.filter) {
        gather(filter, select.base, &mut found);
    }
    found
}

fn gather<'s>(expr: &'s Expr, base: usize, found: &mut JoinConditions<'s>) {
    if let Expr::And(parts) = expr {
        parts.iter().for_each(|part| gather(part, base, found));
        return;
    }
    let (mut first, mut last, mut is_plain) = (usize::MAX, 0, true);
    expr.walk(&mut |part| match part {
        Expr::Column(column) if column.slot >= base => {
            first = first.min(column.slot);
            last = last.max(column.slot);
        }
        Expr::Subquery(_) | Expr::Opaque { .. } => is_plain = false,
        _ => {}
    });
    if is_plain && first <= last {
        found.push(JoinCondition { expr, first, last });
    }
}

/// Those that read nothing but the columns of a join, by their number, without those that were judged before.
pub(super) fn covered(conditions: &[JoinCondition<'_>], from: &From, judged: u64) -> u64 {
    let (start, end) = slots(from);
    let mut covered = 0;
    for (number, condition) in conditions.iter().enumerate().take(64) {
        if start <= condition.first && condition.last < end {
            covered |= 1 << number;
        }
    }
    covered & !judged
}

/// The slots of the relations of a FROM tree, the end excluded.
fn slots(from: &From) -> (usize, usize) {
    match from {
        From::Table { slot, columns, .. } | From::Derived { slot, columns, .. } => {
            (*slot, slot + columns)
        }
        From::Join { left, right, .. } => {
            let (left, right) = (slots(left), slots(right));
            (left.0.min(right.0), left.1.max(right.1))
        }
    }
}
