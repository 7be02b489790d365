//! SELECT: WHERE, groups, HAVING, windows, select list, DISTINCT.

use std::borrow::Cow;

use crate::eval::{self, Stop};
use crate::expr::Expr;
use crate::value::Value;

use super::compare::Pair;
use super::evaluate::{Outcome, Run};
use super::join::Frame;
use super::model::{OrderKey, Select};
use super::order::Keyed;
use super::pool::{Costed, Pool};
use super::subquery::Answers;

impl<'a> Run<'a> {
    pub(super) fn select(
        &self,
        select: &Select,
        outer: &[Value],
        order_by: &[OrderKey],
        shown: bool,
    ) -> Result<Outcome, Stop> {
        let frame = Frame {
            select,
            outer,
            shown,
        };
        let mut answers = Answers::new(select);
        let mut rows = match &select.from {
            Some(from) => self.from(from, frame)?,
            None => {
                let mut one = Pool::default();
                one.push(Costed {
                    row: Cow::Owned(frame.blank()),
                    cost: 0.0,
                    to_remove: 1.0,
                })?;
                one
            }
        };
        if let Some(filter) = &select.filter {
            rows = self.filter(filter, rows, select, &mut answers)?;
        }
        if let Some(grouping) = &select.grouping {
            rows = self.group(grouping, rows, frame, &mut answers)?;
        } else if let Some(having) = &select.having {
            // MySQL's HAVING of a query that has no groups.
            rows = self.filter(having, rows, select, &mut answers)?;
        }
        let distance = if rows.there.is_empty() {
            rows.near_cost()
        } else {
            0.0
        };
        if !shown {
            return self.counted(rows, distance, select, &mut answers);
        }
        let mut there = rows.there;
        self.windows(select, &mut there, &mut answers)?;
        let mut keyed = Vec::with_capacity(there.len());
        for costed in there {
            let output = self.project(select, &costed.row, &mut answers)?;
            let keys = self.sort_keys(order_by, &costed.row, &output, select, &mut answers)?;
            keyed.push(Keyed {
                output,
                keys,
                to_remove: costed.to_remove,
            });
        }
        if select.distinct {
            keyed = self.distinct(select, keyed)?;
        }
        self.sort(&mut keyed, order_by, select)?;
        let near = rows
            .near
            .into_iter()
            // What keeps a near miss out may also keep its select list from having a value.
            .filter_map(|costed| {
                self.project(select, &costed.row, &mut answers)
                    .ok()
                    .map(|row| (row, costed.cost))
            })
            .collect();
        Ok(Outcome {
            rows: keyed
                .into_iter()
                .map(|keyed| (keyed.output, keyed.to_remove))
                .collect(),
            near,
            distance,
        })
    }

    /// The rows without their values; what can go wrong in the select list still does.
    fn counted<'s>(
        &self,
        rows: Pool<'a>,
        distance: f64,
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<Outcome, Stop> {
        for costed in &rows.there {
            for item in &select.items {
                if !matches!(item.expr, Expr::Column(_) | Expr::Literal(_)) {
                    self.value(&item.expr, &costed.row, select, answers)?;
                }
            }
        }
        let rows_there = rows.there.iter().map(|row| (Vec::new(), row.to_remove));
        let rows_near = rows.near.iter().map(|row| (Vec::new(), row.cost));
        Ok(Outcome {
            rows: rows_there.collect(),
            near: rows_near.collect(),
            distance,
        })
    }

    /// Adds the price of a condition to every row.
    fn filter<'s>(
        &self,
        condition: &'s Expr,
        rows: Pool<'a>,
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<Pool<'a>, Stop> {
        let mut filtered = Pool::default();
        for mut costed in rows.there.into_iter().chain(rows.near) {
            match self.weigh(condition, &costed.row, select, answers) {
                Ok((to_true, to_false)) => {
                    costed.to_remove = costed.to_remove.min(to_false);
                    costed.cost += to_true;
                    filtered.push(costed)?;
                }
                Err(stop) if costed.cost == 0.0 => return Err(stop),
                Err(_) => {}
            }
        }
        Ok(filtered)
    }

    fn project<'s>(
        &self,
        select: &'s Select,
        row: &[Value],
        answers: &mut Answers<'s>,
    ) -> Result<Vec<Value>, Stop> {
        select
            .items
            .iter()
            .map(|item| self.value(&item.expr, row, select, answers))
            .collect()
    }

    fn distinct(&self, select: &Select, rows: Vec<Keyed>) -> Result<Vec<Keyed>, Stop> {
        let pairs: Vec<Pair<'_>> = select
            .items
            .iter()
            .map(|item| Pair::same(&item.expr))
            .collect();
        let mut kept: Vec<Keyed> = Vec::new();
        for row in rows {
            let mut seen = None;
            for (index, other) in kept.iter().enumerate() {
                if self.all_same(&pairs, &row.output, &other.output)? {
                    seen = Some(index);
                    break;
                }
            }
            match seen {
                // To be rid of a distinct row, all its copies must go.
                Some(index) => kept[index].to_remove += row.to_remove,
                None => kept.push(row),
            }
        }
        Ok(kept)
    }

    pub(super) fn all_same(
        &self,
        pairs: &[Pair<'_>],
        a: &[Value],
        b: &[Value],
    ) -> Result<bool, Stop> {
        for (pair, (a, b)) in pairs.iter().zip(a.iter().zip(b)) {
            if !pair.is_same(a, b, self)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A condition on a row, its subqueries answered first.
    pub(super) fn truth<'s>(
        &self,
        expr: &'s Expr,
        row: &[Value],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<isobath_distance::Truth, Stop> {
        self.answer(expr, row, select, answers)?;
        eval::truth_in(
            expr,
            self.env(row).answered(answers.as_slice()),
            self.dialect,
        )
    }

    /// A value on a row, its subqueries answered first.
    pub(super) fn value<'s>(
        &self,
        expr: &'s Expr,
        row: &[Value],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<Value, Stop> {
        self.answer(expr, row, select, answers)?;
        eval::value_in(
            expr,
            self.env(row).answered(answers.as_slice()),
            self.dialect,
        )
    }
}
