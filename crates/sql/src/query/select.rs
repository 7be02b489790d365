//! SELECT: WHERE, groups, HAVING, windows, select list, DISTINCT.

use isobath_distance::Truth;

use crate::eval::{self, EvalError, Row, RowPart};
use crate::expr::Expr;
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::{QueryEvaluator, QueryOutcome};
use super::join::SelectFrame;
use super::model::{OrderKey, Select};
use super::order::SortedRow;
use super::pushdown::join_conditions;
use super::row_pool::{Costed, RelationRows, RowParts, RowPool};
use super::subquery::SubqueryResults;

impl<'a> QueryEvaluator<'a> {
    pub(super) fn select(
        &self,
        select: &Select,
        outer: &[RowPart<'a>],
        order_by: &[OrderKey],
        shown: bool,
    ) -> Result<QueryOutcome, EvalError> {
        // Later slots of the enclosing row are not yet known where this one was written.
        let outer: RowParts<'a> = outer
            .iter()
            .filter_map(|part| part.before(select.base))
            .collect();
        let conditions = join_conditions(select);
        let frame = SelectFrame {
            select,
            outer: &outer,
            conditions: &conditions,
        };
        let mut subquery_results = SubqueryResults::new(select);
        let (mut rows, mut steps) = match &select.from {
            Some(from) => {
                let joined = self.from(from, frame)?;
                (joined.rows, joined.steps)
            }
            None => {
                let mut one = RowPool::default();
                one.push(Costed::matching(frame.blank()))?;
                (one, 0)
            }
        };
        if let Some(filter) = &select.filter {
            rows = self.filter(filter, rows, select, &mut subquery_results, steps)?;
            steps += 1;
        }
        let mut missing_row_cost = 0.0;
        if let Some(grouping) = &select.grouping {
            if grouping.keys.is_empty() && rows.matching.is_empty() {
                missing_row_cost = rows.nearest_cost();
            }
            rows = self.group(grouping, rows, frame, &mut subquery_results, steps)?;
            steps += u32::from(select.having.is_some());
        } else if let Some(having) = &select.having {
            // MySQL's HAVING of a query that has no groups.
            rows = self.filter(having, rows, select, &mut subquery_results, steps)?;
            steps += 1;
        }
        let empty = rows.matching.is_empty();
        let distance = if empty { rows.nearest_cost() } else { 0.0 };
        let stepwise = match (empty, rows.furthest_failure()) {
            (false, _) => 0.0,
            (true, Some(failed)) => {
                f64::from(steps - failed.passed.min(steps)) - 1.0
                    + eval::normalized(failed.distance)
            }
            (true, None) => f64::from(steps),
        };
        let measured = QueryOutcome {
            rows: Vec::new(),
            near_misses: Vec::new(),
            distance,
            stepwise: stepwise.max(0.0),
            missing_row_cost,
        };
        if shown {
            self.shown(rows, measured, select, order_by, &mut subquery_results)
        } else {
            self.counted(rows, measured, select, &mut subquery_results)
        }
    }

    /// The rows with their values.
    fn shown<'s>(
        &self,
        rows: RelationRows<'a>,
        measured: QueryOutcome,
        select: &'s Select,
        order_by: &'s [OrderKey],
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<QueryOutcome, EvalError> {
        let mut there = rows.matching;
        self.windows(select, &mut there, subquery_results)?;
        let mut keyed = Vec::with_capacity(there.len());
        for costed in there {
            let output = self.project(select, &costed.row, subquery_results)?;
            let keys = self.sort_keys(order_by, &costed.row, &output, select, subquery_results)?;
            let on = select
                .distinct_on
                .iter()
                .map(|expr| self.value(expr, &costed.row, select, subquery_results))
                .collect::<Result<_, _>>()?;
            keyed.push(SortedRow {
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
        let near_misses = rows
            .near_misses
            .into_iter()
            // What keeps a near miss out may also keep its select list from having a value.
            .filter_map(|costed| {
                self.project(select, &costed.row, subquery_results)
                    .ok()
                    .map(|row| (row, costed.cost))
            })
            .collect();
        Ok(QueryOutcome {
            rows: keyed
                .into_iter()
                .map(|keyed| (keyed.output, keyed.to_remove))
                .collect(),
            near_misses,
            ..measured
        })
    }

    /// The rows without their values; what can go wrong in the select list still does.
    fn counted<'s>(
        &self,
        rows: RelationRows<'a>,
        measured: QueryOutcome,
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<QueryOutcome, EvalError> {
        for costed in &rows.matching {
            for item in &select.items {
                if !matches!(item.expr, Expr::Column(_) | Expr::Literal(_)) {
                    self.value(&item.expr, &costed.row, select, subquery_results)?;
                }
            }
        }
        let rows_there = rows.matching.iter().map(|row| (Vec::new(), row.to_remove));
        let rows_near = rows.near_misses.iter().map(|row| (Vec::new(), row.cost));
        Ok(QueryOutcome {
            rows: rows_there.collect(),
            near_misses: rows_near.collect(),
            ..measured
        })
    }

    /// Adds the price of a condition to every row.
    fn filter<'s>(
        &self,
        condition: &'s Expr,
        rows: RelationRows<'a>,
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
        passed: u32,
    ) -> Result<RelationRows<'a>, EvalError> {
        self.charge(rows.len())?;
        let mut filtered = RowPool::default();
        for mut costed in rows.matching.into_iter().chain(rows.near_misses) {
            if !filtered.would_keep(costed.cost) {
                continue;
            }
            let is_there = costed.is_there();
            match self.condition_truth(condition, &costed.row, select, subquery_results) {
                Ok((to_true, to_false)) => {
                    costed.prepaid = 0.0;
                    costed.to_remove = costed.to_remove.min(to_false);
                    costed.add_cost(to_true, passed);
                    filtered.push(costed)?;
                }
                Err(stop) if is_there => return Err(stop),
                Err(_) => {}
            }
        }
        Ok(filtered)
    }

    fn project<'s>(
        &self,
        select: &'s Select,
        row: &[RowPart<'a>],
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Vec<Value>, EvalError> {
        select
            .items
            .iter()
            .map(|item| self.value(&item.expr, row, select, subquery_results))
            .collect()
    }

    fn distinct(&self, select: &Select, rows: Vec<SortedRow>) -> Result<Vec<SortedRow>, EvalError> {
        let pairs: Vec<ComparedExprs<'_>> = select
            .items
            .iter()
            .map(|item| ComparedExprs::same(&item.expr))
            .collect();
        let mut kept: Vec<SortedRow> = Vec::new();
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
    fn distinct_on(
        &self,
        select: &Select,
        rows: Vec<SortedRow>,
    ) -> Result<Vec<SortedRow>, EvalError> {
        let pairs: Vec<ComparedExprs<'_>> =
            select.distinct_on.iter().map(ComparedExprs::same).collect();
        let mut kept: Vec<SortedRow> = Vec::new();
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
        pairs: &[ComparedExprs<'_>],
        a: &[Value],
        b: &[Value],
    ) -> Result<bool, EvalError> {
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
        row: &[RowPart<'a>],
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Truth, EvalError> {
        self.answer(expr, row, select, subquery_results)?;
        let env = self
            .env(Row::Parts(row))
            .with_subqueries(subquery_results.as_slice());
        eval::condition_truth(expr, &env, self.dialect)
    }

    /// A value on a row, its subqueries answered first.
    pub(super) fn value<'s>(
        &self,
        expr: &'s Expr,
        row: &[RowPart<'a>],
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Value, EvalError> {
        self.answer(expr, row, select, subquery_results)?;
        let env = self
            .env(Row::Parts(row))
            .with_subqueries(subquery_results.as_slice());
        eval::value_in(expr, env, self.dialect)
    }
}
