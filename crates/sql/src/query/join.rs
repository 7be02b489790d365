//! FROM: tables, derived tables and joins, as rows with a cost.

use smallvec::SmallVec;

use crate::eval::{EvalError, RowPart};
use crate::expr::Expr;

use super::evaluate::{QueryEvaluator, QueryOutcome};
use super::model::{From, JoinKind, Select};
use super::pushdown::{JoinCondition, MIN_PAIRS, covered};
use super::row_pool::{Costed, RelationRows, RowParts, RowPool};
use super::subquery::SubqueryResults;

/// A SELECT under evaluation, and below which row.
#[derive(Clone, Copy)]
pub(super) struct SelectFrame<'s, 'a> {
    pub(super) select: &'s Select,
    /// The row of the enclosing query, as far as the SELECT may read it.
    pub(super) outer: &'s [RowPart<'a>],
    /// What its joins can judge of WHERE.
    pub(super) conditions: &'s [JoinCondition<'s>],
}

/// The rows of a FROM tree.
pub(super) struct FromRows<'a> {
    pub(super) rows: RelationRows<'a>,
    /// How many steps it takes.
    pub(super) steps: u32,
    /// Which conditions of WHERE it has judged, by their number.
    judged: u64,
}

impl<'a> FromRows<'a> {
    fn new(rows: RelationRows<'a>, steps: u32) -> Self {
        Self {
            rows,
            steps,
            judged: 0,
        }
    }
}

impl<'a> SelectFrame<'_, 'a> {
    /// A row of this SELECT that has nothing yet but what encloses it.
    pub(super) fn blank(&self) -> RowParts<'a> {
        RowParts::from(self.outer)
    }

    fn with(&self, part: RowPart<'a>) -> RowParts<'a> {
        let mut row = self.blank();
        row.push(part);
        row
    }
}

/// Which rows a join puts together.
#[derive(Clone, Copy)]
enum JoinPair {
    Both(usize, usize),
    /// A row of one side, without a partner.
    Left(usize),
    Right(usize),
}

impl<'a> QueryEvaluator<'a> {
    /// The rows of a FROM tree.
    pub(super) fn from(
        &self,
        from: &From,
        frame: SelectFrame<'_, 'a>,
    ) -> Result<FromRows<'a>, EvalError> {
        let mut row_pool = RowPool::default();
        match from {
            From::Table { table, slot, .. } => {
                let relations: &'a dyn super::Relations = self.relations;
                let rows = relations.rows(*table);
                row_pool.matching.reserve_exact(rows.len());
                for values in rows {
                    row_pool.push(Costed::matching(frame.with(RowPart::lent(*slot, values))))?;
                }
                Ok(FromRows::new(row_pool, 0))
            }
            From::Derived {
                working: Some(number),
                slot,
                ..
            } => {
                let rows = self.working.and_then(|working| working.of(*number));
                for (values, to_remove) in rows.unwrap_or_default() {
                    let row = frame.with(RowPart::kept(*slot, values.clone()));
                    row_pool.push(Costed {
                        to_remove: *to_remove,
                        ..Costed::matching(row)
                    })?;
                }
                Ok(FromRows::new(row_pool, 1))
            }
            From::Derived { query, slot, .. } => {
                let QueryOutcome {
                    rows, near_misses, ..
                } = self.outcome(query, frame.outer, true)?;
                for (values, to_remove) in rows {
                    let row = frame.with(RowPart::kept(*slot, values));
                    row_pool.push(Costed {
                        to_remove,
                        ..Costed::matching(row)
                    })?;
                }
                for (values, cost) in near_misses {
                    let mut costed = Costed::matching(frame.with(RowPart::kept(*slot, values)));
                    costed.add_cost(cost, 0);
                    row_pool.push(costed)?;
                }
                Ok(FromRows::new(row_pool, 1))
            }
            From::Join {
                kind,
                left,
                right,
                on,
            } => {
                // WHERE speaks of the missing side of an outer join only when its NULLs are there.
                let alone = SelectFrame {
                    conditions: &[],
                    ..frame
                };
                let (above, below) = match kind {
                    JoinKind::Inner => (frame, frame),
                    JoinKind::Left => (frame, alone),
                    JoinKind::Right => (alone, frame),
                    JoinKind::Full => (alone, alone),
                };
                let one = self.from(left, above)?;
                if let From::Derived { lateral: true, .. } = &**right {
                    let joined =
                        self.lateral(*kind, one.rows, right, on.as_ref(), alone, one.steps)?;
                    return Ok(FromRows::new(joined, one.steps + 2));
                }
                let other = self.from(right, below)?;
                let steps = one.steps + other.steps;
                let mut judged = one.judged | other.judged;
                let mut conditions: SmallVec<[&Expr; 8]> = SmallVec::new();
                let pairs = one.rows.len().saturating_mul(other.rows.len());
                if *kind == JoinKind::Inner && pairs > MIN_PAIRS {
                    let covered = covered(frame.conditions, from, judged);
                    judged |= covered;
                    let numbered = frame.conditions.iter().enumerate();
                    let these =
                        numbered.filter(|(number, _)| covered & (1 << number.min(&63)) != 0);
                    conditions.extend(these.map(|(_, condition)| condition.expr));
                }
                let sides = [one.rows, other.rows];
                let on = (on.as_ref(), &conditions[..]);
                let rows = self.join(*kind, sides, on, frame, steps)?;
                Ok(FromRows {
                    rows,
                    steps: steps + u32::from(on.0.is_some()),
                    judged,
                })
            }
        }
    }

    /// A join whose right side is made anew for every row of the left.
    fn lateral(
        &self,
        kind: JoinKind,
        left: RelationRows<'a>,
        right: &From,
        on: Option<&Expr>,
        frame: SelectFrame<'_, 'a>,
        steps: u32,
    ) -> Result<RelationRows<'a>, EvalError> {
        let mut joined = RowPool::default();
        for l in left.matching.into_iter().chain(left.near_misses) {
            let there = l.is_there();
            let below = SelectFrame {
                outer: &l.row,
                ..frame
            };
            let mut partners = match self.from(right, below) {
                Ok(partners) => partners.rows,
                Err(stop) if there => return Err(stop),
                Err(_) => continue,
            };
            for partner in partners
                .matching
                .iter_mut()
                .chain(&mut partners.near_misses)
            {
                partner.row.drain(frame.outer.len()..l.row.len());
            }
            let mut one = RowPool::default();
            one.push(l)?;
            let pairs = self.join(kind, [one, partners], (on, &[]), frame, steps + 1)?;
            for pair in pairs.matching.into_iter().chain(pairs.near_misses) {
                joined.push(pair)?;
            }
        }
        Ok(joined)
    }

    /// Pairs of rows under ON; what conditions of WHERE will say of them is noted.
    fn join(
        &self,
        kind: JoinKind,
        [left, right]: [RelationRows<'a>; 2],
        (on, conditions): (Option<&Expr>, &[&Expr]),
        frame: SelectFrame<'_, 'a>,
        passed: u32,
    ) -> Result<RelationRows<'a>, EvalError> {
        self.charge(left.len().saturating_mul(right.len()))?;
        // Most pairs are not kept, so that rows are put together in the end.
        let mut joined: RowPool<JoinPair> = RowPool::default();
        let enclosing = frame.outer.len();
        let (lefts, rights): (Vec<_>, Vec<_>) = (left.all().collect(), right.all().collect());
        // What it takes to be rid of all partners of a row on the right.
        let mut right_partners = vec![0.0; rights.len()];
        let mut subquery_results = SubqueryResults::new(frame.select);
        let keeps_left = matches!(kind, JoinKind::Left | JoinKind::Full);
        let keeps_right = matches!(kind, JoinKind::Right | JoinKind::Full);
        let mut row = RowParts::new();
        for (at, l) in lefts.iter().enumerate() {
            let mut left_partners = 0.0;
            row.clear();
            row.extend(l.row.iter().cloned());
            for (number, r) in rights.iter().enumerate() {
                // A pair that is too far before ON is looked at matters only as a partner.
                let is_partner = keeps_left && r.is_there() || keeps_right && l.is_there();
                let mut prepaid = l.prepaid + r.prepaid;
                if !is_partner && !joined.would_keep(l.cost + r.cost + prepaid) {
                    continue;
                }
                if on.is_some() || !conditions.is_empty() {
                    row.truncate(l.row.len());
                    row.extend(r.row[enclosing..].iter().cloned());
                }
                let (to_true, to_false) = match on {
                    None => (0.0, 1.0),
                    Some(on) => {
                        match self.condition_truth(on, &row, frame.select, &mut subquery_results) {
                            Ok(weight) => weight,
                            Err(stop) if l.is_there() && r.is_there() => return Err(stop),
                            Err(_) => continue,
                        }
                    }
                };
                if to_true == 0.0 {
                    if r.is_there() {
                        left_partners += to_false;
                    }
                    if l.is_there() {
                        right_partners[number] += to_false;
                    }
                }
                for condition in conditions {
                    if !joined.would_keep(l.cost + r.cost + to_true + prepaid) {
                        break;
                    }
                    // An error is the filter's to judge.
                    let truth =
                        self.condition_truth(condition, &row, frame.select, &mut subquery_results);
                    prepaid += truth.map_or(0.0, |(to_true, _)| to_true);
                }
                if joined.would_keep(l.cost + r.cost + to_true + prepaid) {
                    let mut pair = Costed {
                        row: JoinPair::Both(at, number),
                        cost: l.cost + r.cost,
                        prepaid,
                        to_remove: match on {
                            Some(_) => to_false,
                            None => l.to_remove.min(r.to_remove),
                        },
                        failed: l.failed.or(r.failed),
                    };
                    pair.add_cost(to_true, passed);
                    joined.push(pair)?;
                }
            }
            if keeps_left {
                let mut alone = Costed {
                    row: JoinPair::Left(at),
                    cost: l.cost,
                    prepaid: l.prepaid,
                    to_remove: l.to_remove,
                    failed: l.failed,
                };
                alone.add_cost(left_partners, passed);
                joined.push(alone)?;
            }
        }
        if keeps_right {
            for (number, (r, partners)) in rights.iter().zip(right_partners).enumerate() {
                let mut alone = Costed {
                    row: JoinPair::Right(number),
                    cost: r.cost,
                    prepaid: r.prepaid,
                    to_remove: r.to_remove,
                    failed: r.failed,
                };
                alone.add_cost(partners, passed);
                joined.push(alone)?;
            }
        }
        joined.truncate();
        Ok(joined.map(|pair| match pair {
            JoinPair::Both(at, number) => {
                let right = &rights[number].row[enclosing..];
                let mut row = RowParts::with_capacity(lefts[at].row.len() + right.len());
                row.extend(lefts[at].row.iter().cloned());
                row.extend(right.iter().cloned());
                row
            }
            JoinPair::Left(at) => lefts[at].row.clone(),
            JoinPair::Right(number) => rights[number].row.clone(),
        }))
    }

    /// The price of making a condition true, and that of making it false.
    pub(super) fn condition_truth<'s>(
        &self,
        expr: &'s Expr,
        row: &[RowPart<'a>],
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<(f64, f64), EvalError> {
        let truth = self.truth(expr, row, select, subquery_results)?;
        Ok((truth.to_true(), truth.to_false()))
    }
}
