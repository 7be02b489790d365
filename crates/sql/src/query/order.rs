//! ORDER BY.

use std::cmp::Ordering;

use crate::dialect::DialectName;
use crate::eval::{EvalError, RowPart};
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::QueryEvaluator;
use super::model::{OrderBy, OrderKey, Query, Select};
use super::subquery::SubqueryResults;

/// A row of the result with the values it is ordered by.
pub(super) struct SortedRow {
    pub(super) output: Vec<Value>,
    pub(super) keys: Vec<Value>,
    /// What DISTINCT ON tells it apart by.
    pub(super) on: Vec<Value>,
    pub(super) to_remove: f64,
}

impl<'a> QueryEvaluator<'a> {
    pub(super) fn sort_keys<'s>(
        &self,
        order_by: &'s [OrderKey],
        row: &[RowPart<'a>],
        output: &[Value],
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Vec<Value>, EvalError> {
        order_by
            .iter()
            .map(|key| match &key.by {
                OrderBy::Output(index) => Ok(output[*index].clone()),
                OrderBy::Expr(expr) => self.value(expr, row, select, subquery_results),
            })
            .collect()
    }

    pub(super) fn sort(
        &self,
        rows: &mut [SortedRow],
        order_by: &[OrderKey],
        select: &Select,
    ) -> Result<(), EvalError> {
        if order_by.is_empty() || rows.len() < 2 {
            return Ok(());
        }
        let pairs: Vec<ComparedExprs<'_>> = order_by
            .iter()
            .map(|key| match &key.by {
                OrderBy::Output(index) => ComparedExprs::same(&select.items[*index].expr),
                OrderBy::Expr(expr) => ComparedExprs::same(expr),
            })
            .collect();
        let mut stop = None;
        rows.sort_by(|a, b| {
            self.by_keys(&a.keys, &b.keys, order_by, &pairs)
                .unwrap_or_else(|error| {
                    stop = Some(error);
                    Ordering::Equal
                })
        });
        stop.map_or(Ok(()), Err)
    }

    /// Orders the rows of a set operation, which can only refer to its result's columns.
    pub(super) fn sort_output(
        &self,
        rows: &mut [(Vec<Value>, f64)],
        query: &Query,
    ) -> Result<(), EvalError> {
        if query.order_by.is_empty() || rows.len() < 2 {
            return Ok(());
        }
        let mut columns = Vec::new();
        for key in &query.order_by {
            match &key.by {
                OrderBy::Output(index) => columns.push(*index),
                OrderBy::Expr(_) => {
                    return Err(EvalError::unsupported(
                        "ORDER BY an expression after a set operation",
                    ));
                }
            }
        }
        let pairs: Vec<ComparedExprs<'_>> = columns
            .iter()
            .map(|column| ComparedExprs::output(query, *column))
            .collect();
        let keys = |row: &[Value]| -> Vec<Value> {
            columns.iter().map(|column| row[*column].clone()).collect()
        };
        let mut stop = None;
        rows.sort_by(|(a, _), (b, _)| {
            self.by_keys(&keys(a), &keys(b), &query.order_by, &pairs)
                .unwrap_or_else(|error| {
                    stop = Some(error);
                    Ordering::Equal
                })
        });
        stop.map_or(Ok(()), Err)
    }

    pub(super) fn by_keys(
        &self,
        a: &[Value],
        b: &[Value],
        order_by: &[OrderKey],
        pairs: &[ComparedExprs<'_>],
    ) -> Result<Ordering, EvalError> {
        for ((key, pair), (a, b)) in order_by.iter().zip(pairs).zip(a.iter().zip(b)) {
            // NULL is the greatest value in PostgreSQL and the least in the others.
            let nulls_first = key
                .nulls_first
                .unwrap_or((self.dialect.name() == DialectName::Postgres) == key.descending);
            let order = match (a.is_null(), b.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) => {
                    if nulls_first {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
                (false, true) => {
                    if nulls_first {
                        Ordering::Greater
                    } else {
                        Ordering::Less
                    }
                }
                (false, false) => {
                    let order = pair.order(a, b, self)?;
                    if key.descending {
                        order.reverse()
                    } else {
                        order
                    }
                }
            };
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }
}
