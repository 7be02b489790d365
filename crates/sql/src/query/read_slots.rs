//! Which slots of its row a SELECT reads: columns that matter to a search, and those that do not.

use std::collections::BTreeSet;

use crate::expr::Expr;

use super::model::{
    Aggregate, From, OrderBy, OrderKey, Query, QueryBody, Select, SubqueryUsage, WindowFunction,
};

/// The slots that anything but a plain column of the select list reads, and those that only such columns read.
pub(super) fn of(select: &Select, order_by: &[OrderKey]) -> (Vec<usize>, Vec<usize>) {
    let mut read_slots = ReadSlots::default();
    let mut shows = BTreeSet::new();
    read_slots.select(select, order_by);
    for item in &select.items {
        match &item.expr {
            Expr::Column(column) => {
                shows.insert(column.slot);
            }
            other => read_slots.expr(other),
        }
    }
    let shows = shows.difference(&read_slots.0).copied().collect();
    (read_slots.0.into_iter().collect(), shows)
}

#[derive(Default)]
struct ReadSlots(BTreeSet<usize>);

impl ReadSlots {
    fn expr(&mut self, expr: &Expr) {
        self.0.extend(expr.columns());
    }

    fn select(&mut self, select: &Select, order_by: &[OrderKey]) {
        if let Some(from) = &select.from {
            self.from(from);
        }
        select.filter.iter().for_each(|expr| self.expr(expr));
        select.having.iter().for_each(|expr| self.expr(expr));
        if let Some(grouping) = &select.grouping {
            grouping.keys.iter().for_each(|key| self.expr(key));
            for (_, aggregate) in &grouping.aggregates {
                self.aggregate(aggregate);
            }
        }
        for window in &select.windows {
            window.partition_by.iter().for_each(|key| self.expr(key));
            self.keys(&window.order_by);
            match &window.function {
                WindowFunction::RowNumber
                | WindowFunction::Rank
                | WindowFunction::DenseRank
                | WindowFunction::Ntile(_)
                | WindowFunction::PercentRank
                | WindowFunction::CumeDist => {}
                WindowFunction::Shift {
                    expr, otherwise, ..
                } => {
                    self.expr(expr);
                    otherwise.iter().for_each(|expr| self.expr(expr));
                }
                WindowFunction::FirstValue(expr)
                | WindowFunction::LastValue(expr)
                | WindowFunction::NthValue(expr, _) => self.expr(expr),
                WindowFunction::Aggregate(aggregate) => self.aggregate(aggregate),
            }
        }
        self.keys(order_by);
        select.distinct_on.iter().for_each(|expr| self.expr(expr));
        for subquery in &select.subqueries {
            match &subquery.usage {
                SubqueryUsage::Any { left, .. } | SubqueryUsage::All { left, .. } => {
                    self.expr(left);
                }
                SubqueryUsage::Exists | SubqueryUsage::Scalar => {}
            }
            self.query(&subquery.query);
        }
    }

    fn aggregate(&mut self, aggregate: &Aggregate) {
        let parts = aggregate.argument.iter().chain(&aggregate.filter);
        parts.for_each(|expr| self.expr(expr));
        self.keys(&aggregate.order_by);
    }

    fn keys(&mut self, order_by: &[OrderKey]) {
        for key in order_by {
            if let OrderBy::Expr(expr) = &key.by {
                self.expr(expr);
            }
        }
    }

    fn from(&mut self, from: &From) {
        match from {
            From::Table { .. } => {}
            From::Derived { query, .. } => self.query(query),
            From::Join {
                left, right, on, ..
            } => {
                self.from(left);
                self.from(right);
                on.iter().for_each(|on| self.expr(on));
            }
        }
    }

    /// What a query inside reads of the row around it.
    fn query(&mut self, query: &Query) {
        query.limit.iter().for_each(|expr| self.expr(expr));
        query.offset.iter().for_each(|expr| self.expr(expr));
        match &query.body {
            QueryBody::Select(select) => {
                let slots = select.read_slots.iter().chain(&select.shows);
                self.0.extend(slots.filter(|slot| **slot < select.base));
            }
            QueryBody::Set { left, right, .. } => {
                self.query(left);
                self.query(right);
            }
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|expr| self.expr(expr)),
        }
    }
}
