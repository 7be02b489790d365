//! SELECT: WHERE, groups, HAVING, windows, select list, DISTINCT.

use isobath_distance::Truth;

use crate::eval::{self, Part, Row, Stop};
use crate::expr::Expr;
use crate::value::Value;

use super::compare::Pair;
use super::evaluate::{Outcome, Run};
use super::join::Frame;
use super::model::{OrderKey, Select};
use super::order::Keyed;
use super::pool::{Costed, Parts, Pool, Rows};
use super::subquery::Answers;

impl<'a> Run<'a> {
    pub(super) fn select(
        &self,
        select: &Select,
        outer: &[Part<'a>],
        order_by: &[OrderKey],
        shown: bool,
    ) -> Result<Outcome, Stop> {
        // Later slots of the enclosing row are not yet known where this one was written.
        let outer: Parts<'a> = outer
            .iter()
            .filter_map(|part| part.before(select.base))
            .collect();
        let frame = Frame {
            select,
            outer: &outer,
        };
        let mut answers = Answers::new(select);
        let (mut rows, mut steps) = match &select.from {
            Some(from) => self.from(from, frame)?,
            None => {
                let mut one = Pool::default();
                one.push(Costed::there(frame.blank()))?;
                (one, 0)
            }
        };
        if let Some(filter) = &select.filter {
            rows = self.filter(filter, rows, select, &mut answers, steps)?;
            steps += 1;
        }
        let mut lacking = 0.0;
        if let Some(grouping) = &select.grouping {
            if grouping.keys.is_empty() && rows.there.is_empty() {
                lacking = rows.near_cost();
            }
            rows = self.group(grouping, rows, frame, &mut answers, steps)?;
            steps += u32::from(select.having.is_some());
        } else if let Some(having) = &select.having {
            // MySQL's HAVING of a query that has no groups.
            rows = self.filter(having, rows, select, &mut answers, steps)?;
            steps += 1;
        }
        let empty = rows.there.is_empty();
        let distance = if empty { rows.near_cost() } else { 0.0 };
        let stepwise = match (empty, rows.furthest()) {
            (false, _) => 0.0,
            (true, Some(failed)) => {
                f64::from(steps - failed.passed.min(steps)) - 1.0 + eval::squeezed(failed.distance)
            }
            (true, None) => f64::from(steps),
        };
        let measured = Outcome {
            rows: Vec::new(),
            near: Vec::new(),
            distance,
            stepwise: stepwise.max(0.0),
            lacking,
        };
        if shown {
            self.shown(rows, measured, select, order_by, &mut answers)
        } else {
            self.counted(rows, measured, select, &mut answers)
        }
    }

    /// The rows with their values.
    fn shown<'s>(
        &self,
        rows: Rows<'a>,
        measured: Outcome,
        select: &'s Select,
        order_by: &'s [OrderKey],
        answers: &mut Answers<'s>,
    ) -> Result<Outcome, Stop> {
        let mut there = rows.there;
        self.windows(select, &mut there, answers)?;
        let mut keyed = Vec::with_capacity(there.len());
        for costed in there {
            let output = self.project(select, &costed.row, answers)?;
            let keys = self.sort_keys(order_by, &costed.row, &output, select, answers)?;
            let on = select
                .distinct_on
                .iter()
                .map(|expr| self.value(expr, &costed.row, select, answers))
                .collect::<Result<_, _>>()?;
            keyed.push(Keyed {
                output,
                keys,
                on,
                to_remove: costed.to_remove,
            });
        }
        if select.distinct {
            keyed = self.distinct(select, keyed)?;
        }
        self.sort(&mut keyed, order_by, select)?;
        if !select.distinct_on.is_empty() {
            keyed = self.distinct_on(select, keyed)?;
        }
        let near = rows
            .near
            .into_iter()
            // What keeps a near miss out may also keep its select list from having a value.
            .filter_map(|costed| {
                self.project(select, &costed.row, answers)
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
            ..measured
        })
    }

    /// The rows without their values; what can go wrong in the select list still does.
    fn counted<'s>(
        &self,
        rows: Rows<'a>,
        measured: Outcome,
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
            ..measured
        })
    }

    /// Adds the price of a condition to every row.
    fn filter<'s>(
        &self,
        condition: &'s Expr,
        rows: Rows<'a>,
        select: &'s Select,
        answers: &mut Answers<'s>,
        passed: u32,
    ) -> Result<Rows<'a>, Stop> {
        let mut filtered = Pool::default();
        for mut costed in rows.there.into_iter().chain(rows.near) {
            if !filtered.wants(costed.cost) {
                continue;
            }
            match self.weigh(condition, &costed.row, select, answers) {
                Ok((to_true, to_false)) => {
                    costed.to_remove = costed.to_remove.min(to_false);
                    costed.pays(to_true, passed);
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
        row: &[Part<'a>],
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

    /// The first row of those that DISTINCT ON does not tell apart.
    fn distinct_on(&self, select: &Select, rows: Vec<Keyed>) -> Result<Vec<Keyed>, Stop> {
        let pairs: Vec<Pair<'_>> = select.distinct_on.iter().map(Pair::same).collect();
        let mut kept: Vec<Keyed> = Vec::new();
        for row in rows {
            let mut seen = false;
            for other in &kept {
                if self.all_same(&pairs, &row.on, &other.on)? {
                    seen = true;
                    break;
                }
            }
            if !seen {
                kept.push(row);
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
        row: &[Part<'a>],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<Truth, Stop> {
        self.answer(expr, row, select, answers)?;
        let env = self.env(Row::Parts(row)).answered(answers.as_slice());
        eval::weigh(expr, &env, self.dialect)
    }

    /// A value on a row, its subqueries answered first.
    pub(super) fn value<'s>(
        &self,
        expr: &'s Expr,
        row: &[Part<'a>],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<Value, Stop> {
        self.answer(expr, row, select, answers)?;
        let env = self.env(Row::Parts(row)).answered(answers.as_slice());
        eval::value_in(expr, env, self.dialect)
    }
}
