//! Visits all expressions of a query, including its subqueries and derived tables.

use crate::expr::Expr;
use crate::value::Value;

use super::model::{
    Aggregate, From, OrderBy, OrderKey, Query, QueryBody, Select, SubqueryUsage, Window,
    WindowFunction,
};

impl Query {
    /// Calls `visit` on every expression and everything inside it.
    pub fn each_expr<'q>(&'q self, visit: &mut dyn FnMut(&'q Expr)) {
        match &self.body {
            QueryBody::Select(select) => select.each_expr(visit),
            QueryBody::Set { left, right, .. } => {
                left.each_expr(visit);
                right.each_expr(visit);
            }
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|expr| expr.walk(visit)),
        }
        keys(&self.order_by, visit);
        let counts = self.limit.iter().chain(&self.offset);
        counts.for_each(|expr| expr.walk(visit));
    }

    /// Whether its answer depends on the time at which it is asked (NOW, CURRENT_DATE and similar functions).
    ///
    /// Such a query wants [`evaluate_at`](super::evaluate_at) with the clock of
    /// the engine that confirms the rows (MariaDB's can be set: `SET timestamp`),
    /// or rows that satisfy it at several times.
    pub fn reads_clock(&self) -> bool {
        let mut read_slots = false;
        self.each_expr(&mut |expr| {
            if let Expr::Function { name, args } = expr {
                let asks = matches!(
                    name.as_str(),
                    "now"
                        | "current_timestamp"
                        | "localtimestamp"
                        | "localtime"
                        | "current_date"
                        | "curdate"
                        | "current_time"
                        | "curtime"
                        | "sysdate"
                        | "utc_date"
                        | "utc_time"
                        | "utc_timestamp"
                        | "unix_timestamp"
                        | "transaction_timestamp"
                        | "statement_timestamp"
                        | "clock_timestamp"
                        | "age"
                );
                // SQLite's functions of dates know the word.
                let word = args.iter().any(|arg| {
                    matches!(arg, Expr::Literal(Value::Text(text)) if text.eq_ignore_ascii_case("now"))
                });
                read_slots |= asks || word;
            }
        });
        read_slots
    }
}

impl Select {
    fn each_expr<'q>(&'q self, visit: &mut dyn FnMut(&'q Expr)) {
        if let Some(from) = &self.from {
            from.each_expr(visit);
        }
        let conditions = self.filter.iter().chain(&self.having);
        conditions.for_each(|expr| expr.walk(visit));
        if let Some(grouping) = &self.grouping {
            grouping.keys.iter().for_each(|key| key.walk(visit));
            for (_, aggregate) in &grouping.aggregates {
                aggregate.each_expr(visit);
            }
        }
        for window in &self.windows {
            window.each_expr(visit);
        }
        let shown = self.items.iter().map(|item| &item.expr);
        shown
            .chain(&self.distinct_on)
            .for_each(|expr| expr.walk(visit));
        for subquery in &self.subqueries {
            match &subquery.usage {
                SubqueryUsage::Any { left, .. } | SubqueryUsage::All { left, .. } => {
                    left.walk(visit);
                }
                SubqueryUsage::Exists | SubqueryUsage::Scalar => {}
            }
            subquery.query.each_expr(visit);
        }
    }
}

impl From {
    fn each_expr<'q>(&'q self, visit: &mut dyn FnMut(&'q Expr)) {
        match self {
            Self::Table { .. } => {}
            Self::Derived { query, .. } => query.each_expr(visit),
            Self::Join {
                left, right, on, ..
            } => {
                left.each_expr(visit);
                right.each_expr(visit);
                on.iter().for_each(|on| on.walk(visit));
            }
        }
    }
}

impl Aggregate {
    fn each_expr<'q>(&'q self, visit: &mut dyn FnMut(&'q Expr)) {
        let parts = self.argument.iter().chain(&self.filter);
        parts.for_each(|expr| expr.walk(visit));
        keys(&self.order_by, visit);
    }
}

impl Window {
    fn each_expr<'q>(&'q self, visit: &mut dyn FnMut(&'q Expr)) {
        self.partition_by.iter().for_each(|key| key.walk(visit));
        keys(&self.order_by, visit);
        match &self.function {
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::Ntile(_)
            | WindowFunction::PercentRank
            | WindowFunction::CumeDist => {}
            WindowFunction::Shift {
                expr, otherwise, ..
            } => {
                let parts = std::iter::once(expr).chain(otherwise);
                parts.for_each(|expr| expr.walk(visit));
            }
            WindowFunction::FirstValue(expr)
            | WindowFunction::LastValue(expr)
            | WindowFunction::NthValue(expr, _) => expr.walk(visit),
            WindowFunction::Aggregate(aggregate) => aggregate.each_expr(visit),
        }
    }
}

fn keys<'q>(order_by: &'q [OrderKey], visit: &mut dyn FnMut(&'q Expr)) {
    for key in order_by {
        if let OrderBy::Expr(expr) = &key.by {
            expr.walk(visit);
        }
    }
}
