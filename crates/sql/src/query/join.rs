//! FROM: tables, derived tables and joins, as rows with a cost.

use crate::eval::{Part, Stop};
use crate::expr::Expr;

use super::evaluate::{Outcome, Run};
use super::model::{From, JoinKind, Select};
use super::pool::{Costed, Parts, Pool, Rows};
use super::subquery::Answers;

/// The most pairs that one join looks at.
const MOST_PAIRS: usize = 4_000_000;

/// A SELECT under evaluation, and below which row.
#[derive(Clone, Copy)]
pub(super) struct Frame<'s, 'a> {
    pub(super) select: &'s Select,
    /// The row of the enclosing query, as far as the SELECT may read it.
    pub(super) outer: &'s [Part<'a>],
}

impl<'a> Frame<'_, 'a> {
    /// A row of this SELECT that has nothing yet but what encloses it.
    pub(super) fn blank(&self) -> Parts<'a> {
        Parts::from(self.outer)
    }

    fn with(&self, part: Part<'a>) -> Parts<'a> {
        let mut row = self.blank();
        row.push(part);
        row
    }
}

/// Which rows a join puts together.
#[derive(Clone, Copy)]
enum Pair {
    Both(usize, usize),
    /// A row of one side, without a partner.
    Left(usize),
    Right(usize),
}

impl<'a> Run<'a> {
    /// The rows of a FROM tree, and the number of steps that it takes.
    pub(super) fn from(&self, from: &From, frame: Frame<'_, 'a>) -> Result<(Rows<'a>, u32), Stop> {
        let mut pool = Pool::default();
        match from {
            From::Table { table, slot, .. } => {
                let relations: &'a dyn super::Relations = self.relations;
                let rows = relations.rows(*table);
                pool.there.reserve_exact(rows.len());
                for values in rows {
                    pool.push(Costed::there(frame.with(Part::lent(*slot, values))))?;
                }
                Ok((pool, 0))
            }
            From::Derived {
                working: Some(number),
                slot,
                ..
            } => {
                let rows = self.working.and_then(|working| working.of(*number));
                for (values, to_remove) in rows.unwrap_or_default() {
                    let row = frame.with(Part::kept(*slot, values.clone()));
                    pool.push(Costed {
                        to_remove: *to_remove,
                        ..Costed::there(row)
                    })?;
                }
                Ok((pool, 1))
            }
            From::Derived { query, slot, .. } => {
                let Outcome { rows, near, .. } = self.outcome(query, frame.outer, true)?;
                for (values, to_remove) in rows {
                    let row = frame.with(Part::kept(*slot, values));
                    pool.push(Costed {
                        to_remove,
                        ..Costed::there(row)
                    })?;
                }
                for (values, cost) in near {
                    let mut costed = Costed::there(frame.with(Part::kept(*slot, values)));
                    costed.pays(cost, 0);
                    pool.push(costed)?;
                }
                Ok((pool, 1))
            }
            From::Join {
                kind,
                left,
                right,
                on,
            } => {
                let (left, steps) = self.from(left, frame)?;
                if let From::Derived { lateral: true, .. } = &**right {
                    let joined = self.lateral(*kind, left, right, on.as_ref(), frame, steps)?;
                    return Ok((joined, steps + 2));
                }
                let (right, more) = self.from(right, frame)?;
                let steps = steps + more;
                let joined = self.join(*kind, [left, right], on.as_ref(), frame, steps)?;
                Ok((joined, steps + u32::from(on.is_some())))
            }
        }
    }

    /// A join whose right side is made anew for every row of the left.
    fn lateral(
        &self,
        kind: JoinKind,
        left: Rows<'a>,
        right: &From,
        on: Option<&Expr>,
        frame: Frame<'_, 'a>,
        steps: u32,
    ) -> Result<Rows<'a>, Stop> {
        let mut joined = Pool::default();
        for l in left.there.into_iter().chain(left.near) {
            let there = l.cost == 0.0;
            let below = Frame {
                outer: &l.row,
                ..frame
            };
            let mut partners = match self.from(right, below) {
                Ok((partners, _)) => partners,
                Err(stop) if there => return Err(stop),
                Err(_) => continue,
            };
            for partner in partners.there.iter_mut().chain(&mut partners.near) {
                partner.row.drain(frame.outer.len()..l.row.len());
            }
            let mut one = Pool::default();
            one.push(l)?;
            let pairs = self.join(kind, [one, partners], on, frame, steps + 1)?;
            for pair in pairs.there.into_iter().chain(pairs.near) {
                joined.push(pair)?;
            }
        }
        Ok(joined)
    }

    fn join(
        &self,
        kind: JoinKind,
        [left, right]: [Rows<'a>; 2],
        on: Option<&Expr>,
        frame: Frame<'_, 'a>,
        passed: u32,
    ) -> Result<Rows<'a>, Stop> {
        if left.len().saturating_mul(right.len()) > MOST_PAIRS {
            return Err(Stop::unsupported(format!(
                "a join of more than {MOST_PAIRS} pairs of rows"
            )));
        }
        // Most pairs are not kept, so that rows are put together in the end.
        let mut joined: Pool<Pair> = Pool::default();
        let enclosing = frame.outer.len();
        let (lefts, rights): (Vec<_>, Vec<_>) = (left.all().collect(), right.all().collect());
        // What it takes to be rid of all partners of a row on the right.
        let mut right_partners = vec![0.0; rights.len()];
        let mut answers = Answers::new(frame.select);
        let keeps_left = matches!(kind, JoinKind::Left | JoinKind::Full);
        let keeps_right = matches!(kind, JoinKind::Right | JoinKind::Full);
        let mut row = Parts::new();
        for (at, l) in lefts.iter().enumerate() {
            let mut left_partners = 0.0;
            row.clear();
            row.extend(l.row.iter().cloned());
            for (number, r) in rights.iter().enumerate() {
                // A pair that is too far before ON is looked at matters only as a partner.
                let is_partner = keeps_left && r.cost == 0.0 || keeps_right && l.cost == 0.0;
                if !is_partner && !joined.wants(l.cost + r.cost) {
                    continue;
                }
                let (to_true, to_false) = match on {
                    None => (0.0, 1.0),
                    Some(on) => {
                        row.truncate(l.row.len());
                        row.extend(r.row[enclosing..].iter().cloned());
                        match self.weigh(on, &row, frame.select, &mut answers) {
                            Ok(weight) => weight,
                            Err(stop) if l.cost == 0.0 && r.cost == 0.0 => return Err(stop),
                            Err(_) => continue,
                        }
                    }
                };
                if to_true == 0.0 {
                    if r.cost == 0.0 {
                        left_partners += to_false;
                    }
                    if l.cost == 0.0 {
                        right_partners[number] += to_false;
                    }
                }
                if joined.wants(l.cost + r.cost + to_true) {
                    let mut pair = Costed {
                        row: Pair::Both(at, number),
                        cost: l.cost + r.cost,
                        to_remove: match on {
                            Some(_) => to_false,
                            None => l.to_remove.min(r.to_remove),
                        },
                        failed: l.failed.or(r.failed),
                    };
                    pair.pays(to_true, passed);
                    joined.push(pair)?;
                }
            }
            if keeps_left {
                let mut alone = Costed {
                    row: Pair::Left(at),
                    cost: l.cost,
                    to_remove: l.to_remove,
                    failed: l.failed,
                };
                alone.pays(left_partners, passed);
                joined.push(alone)?;
            }
        }
        if keeps_right {
            for (number, (r, partners)) in rights.iter().zip(right_partners).enumerate() {
                let mut alone = Costed {
                    row: Pair::Right(number),
                    cost: r.cost,
                    to_remove: r.to_remove,
                    failed: r.failed,
                };
                alone.pays(partners, passed);
                joined.push(alone)?;
            }
        }
        joined.settle();
        Ok(joined.map(|pair| match pair {
            Pair::Both(at, number) => {
                let right = &rights[number].row[enclosing..];
                let mut row = Parts::with_capacity(lefts[at].row.len() + right.len());
                row.extend(lefts[at].row.iter().cloned());
                row.extend(right.iter().cloned());
                row
            }
            Pair::Left(at) => lefts[at].row.clone(),
            Pair::Right(number) => rights[number].row.clone(),
        }))
    }

    /// The price of making a condition true, and that of making it false.
    pub(super) fn weigh<'s>(
        &self,
        expr: &'s Expr,
        row: &[Part<'a>],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<(f64, f64), Stop> {
        let truth = self.truth(expr, row, select, answers)?;
        Ok((truth.to_true(), truth.to_false()))
    }
}
