//! FROM: tables, derived tables and joins, as rows with a cost.

use std::borrow::Cow;
use std::ops::Range;

use crate::eval::Stop;
use crate::expr::Expr;
use crate::value::Value;

use super::evaluate::Run;
use super::model::{From, JoinKind, Select};
use super::pool::{Costed, Pool, normalize};
use super::subquery::Answers;

/// The most pairs that one join looks at.
const MOST_PAIRS: usize = 4_000_000;

/// A SELECT under evaluation: below which row, and whether its select list matters.
#[derive(Clone, Copy)]
pub(super) struct Frame<'s> {
    pub(super) select: &'s Select,
    pub(super) outer: &'s [Value],
    pub(super) shown: bool,
}

impl Frame<'_> {
    /// A row of NULLs behind what is read of the enclosing row.
    pub(super) fn blank(&self) -> Vec<Value> {
        let mut row = vec![Value::Null; self.select.width];
        self.copy(0..self.select.base, self.outer, &mut row);
        row
    }

    /// Copies those slots of a range that anything reads.
    pub(super) fn copy(&self, range: Range<usize>, from: &[Value], to: &mut [Value]) {
        self.each_read(&range, |slot| {
            if let Some(value) = from.get(slot) {
                to[slot].clone_from(value);
            }
        });
    }

    fn each_read(&self, range: &Range<usize>, mut visit: impl FnMut(usize)) {
        let within = |slots: &[usize], visit: &mut dyn FnMut(usize)| {
            let first = slots.partition_point(|slot| *slot < range.start);
            for slot in &slots[first..] {
                if *slot >= range.end {
                    break;
                }
                visit(*slot);
            }
        };
        within(&self.select.reads, &mut visit);
        if self.shown {
            within(&self.select.shows, &mut visit);
        }
    }

    fn placed(&self, slot: usize, values: &[Value]) -> Vec<Value> {
        let mut row = self.blank();
        self.each_read(&(slot..slot + values.len()), |at| {
            row[at].clone_from(&values[at - slot]);
        });
        row
    }
}

impl<'a> Run<'a> {
    /// The rows of a FROM tree; every row is as wide as the SELECT's, with NULL where others stand.
    pub(super) fn from(&self, from: &From, frame: Frame<'_>) -> Result<Pool<'a>, Stop> {
        let mut pool = Pool::default();
        match from {
            From::Table { table, slot, .. } => {
                // One table alone needs no rows of its own.
                let alone = *slot == 0 && matches!(frame.select.from, Some(From::Table { .. }));
                let relations: &'a dyn super::Relations = self.relations;
                for values in relations.rows(*table) {
                    pool.push(Costed {
                        row: if alone {
                            Cow::Borrowed(values.as_slice())
                        } else {
                            Cow::Owned(frame.placed(*slot, values))
                        },
                        cost: 0.0,
                        to_remove: 1.0,
                    })?;
                }
            }
            From::Derived { query, slot, .. } => {
                let outcome = self.outcome(query, frame.outer, true)?;
                for (values, to_remove) in &outcome.rows {
                    pool.push(Costed {
                        row: Cow::Owned(frame.placed(*slot, values)),
                        cost: 0.0,
                        to_remove: *to_remove,
                    })?;
                }
                for (values, cost) in &outcome.near {
                    pool.push(Costed {
                        row: Cow::Owned(frame.placed(*slot, values)),
                        cost: *cost,
                        to_remove: 1.0,
                    })?;
                }
            }
            From::Join {
                kind,
                left,
                right,
                on,
            } => {
                let (rows, others) = (self.from(left, frame)?, self.from(right, frame)?);
                return self.join(*kind, [rows, others], span(right), on.as_ref(), frame);
            }
        }
        Ok(pool)
    }

    fn join(
        &self,
        kind: JoinKind,
        [left, right]: [Pool<'a>; 2],
        right_span: Range<usize>,
        on: Option<&Expr>,
        frame: Frame<'_>,
    ) -> Result<Pool<'a>, Stop> {
        let count = |pool: &Pool<'_>| pool.there.len() + pool.near.len();
        if count(&left).saturating_mul(count(&right)) > MOST_PAIRS {
            return Err(Stop::unsupported(format!(
                "a join of more than {MOST_PAIRS} pairs of rows"
            )));
        }
        let mut joined = Pool::default();
        // What it takes to be rid of all partners of a row on the right.
        let mut right_partners = vec![0.0; count(&right)];
        let mut answers = Answers::new(frame.select);
        for l in left.there.iter().chain(&left.near) {
            let mut left_partners = 0.0;
            let mut row = l.row.to_vec();
            for (r, right_partner) in right
                .there
                .iter()
                .chain(&right.near)
                .zip(&mut right_partners)
            {
                let both = l.cost == 0.0 && r.cost == 0.0;
                frame.copy(right_span.clone(), &r.row, &mut row);
                let (to_true, to_false) = match on {
                    None => (0.0, 1.0),
                    Some(on) => match self.weigh(on, &row, frame.select, &mut answers) {
                        Ok(weight) => weight,
                        Err(stop) if both => return Err(stop),
                        Err(_) => continue,
                    },
                };
                if to_true == 0.0 {
                    if r.cost == 0.0 {
                        left_partners += to_false;
                    }
                    if l.cost == 0.0 {
                        *right_partner += to_false;
                    }
                }
                let cost = l.cost + r.cost + to_true;
                if joined.wants(cost) {
                    joined.push(Costed {
                        row: Cow::Owned(row.clone()),
                        cost,
                        to_remove: match on {
                            Some(_) => to_false,
                            None => l.to_remove.min(r.to_remove),
                        },
                    })?;
                }
            }
            if matches!(kind, JoinKind::Left | JoinKind::Full) {
                joined.push(Costed {
                    row: l.row.clone(),
                    cost: l.cost + left_partners,
                    to_remove: l.to_remove,
                })?;
            }
        }
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            for (r, partners) in right
                .there
                .into_iter()
                .chain(right.near)
                .zip(right_partners)
            {
                joined.push(Costed {
                    cost: r.cost + partners,
                    ..r
                })?;
            }
        }
        Ok(joined)
    }

    /// The price of making a condition true, and that of making it false.
    ///
    /// Parts of a conjunction are squeezed one by one, so that a large number
    /// in one of them does not drown the others.
    pub(super) fn weigh<'s>(
        &self,
        expr: &'s Expr,
        row: &[Value],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<(f64, f64), Stop> {
        let parts = match expr {
            Expr::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let (mut to_true, mut to_false) = (0.0, f64::INFINITY);
        for part in parts {
            match self.truth(part, row, select, answers) {
                Ok(truth) => {
                    to_true += normalize(truth.to_true());
                    to_false = f64::min(to_false, normalize(truth.to_false()));
                }
                // Another part may keep the database from coming here.
                Err(_) if parts.len() > 1 => {
                    let truth = self.truth(expr, row, select, answers)?;
                    return Ok((normalize(truth.to_true()), normalize(truth.to_false())));
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok((to_true, to_false))
    }
}

/// The slots that a FROM tree fills: one after another.
fn span(from: &From) -> Range<usize> {
    match from {
        From::Table { slot, columns, .. } | From::Derived { slot, columns, .. } => {
            *slot..*slot + *columns
        }
        From::Join { left, right, .. } => span(left).start..span(right).end,
    }
}
