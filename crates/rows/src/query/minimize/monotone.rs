//! Monotone targets: they stay covered when rows are added.

use isobath_sql::Expr;
use isobath_sql::query::Query;
use isobath_sql::query::model::{From, JoinKind, QueryBody, Select, SetOp, SubqueryUsage};

/// Whether more rows can neither take away what a query returns nor make it fail.
pub(in crate::query) fn is_monotone(query: &Query) -> bool {
    let limited = query.offset.is_some() || query.limit.is_some();
    !limited
        && match &query.body {
            QueryBody::Select(select) => is_monotone_select(select),
            QueryBody::Set {
                op: SetOp::Union,
                left,
                right,
                ..
            } => is_monotone(left) && is_monotone(right),
            QueryBody::Set { .. } => false,
            QueryBody::Values(_) => true,
        }
}

fn is_monotone_select(select: &Select) -> bool {
    select.grouping.is_none()
        && select.windows.is_empty()
        && select.from.as_ref().is_none_or(|from| grows(from, select))
        && select
            .filter
            .iter()
            .chain(&select.having)
            .all(|condition| asks_for_more(condition, select))
        && select.items.iter().all(|item| is_harmless(&item.expr))
}

fn grows(from: &From, select: &Select) -> bool {
    match from {
        From::Table { .. } => true,
        From::Derived { query, .. } => is_monotone(query),
        From::Join {
            kind,
            left,
            right,
            on,
        } => {
            *kind == JoinKind::Inner
                && grows(left, select)
                && grows(right, select)
                && on.as_ref().is_none_or(|on| asks_for_more(on, select))
        }
    }
}

/// Whether a condition that is true stays so when subqueries return more.
fn asks_for_more(condition: &Expr, select: &Select) -> bool {
    match condition {
        Expr::And(parts) | Expr::Or(parts) => parts.iter().all(|part| asks_for_more(part, select)),
        Expr::Subquery(number) => select.subqueries.get(*number).is_some_and(|subquery| {
            let usage = match &subquery.usage {
                SubqueryUsage::Exists => true,
                SubqueryUsage::Any { left, .. } => is_harmless(left),
                SubqueryUsage::All { .. } | SubqueryUsage::Scalar => false,
            };
            usage && is_monotone(&subquery.query)
        }),
        other => is_harmless(other),
    }
}

/// Whether an expression reads its row alone and raises no errors on others.
fn is_harmless(expr: &Expr) -> bool {
    let mut harmless = true;
    expr.walk(&mut |part| {
        harmless &= match part {
            Expr::Function { name, .. } => matches!(name.as_str(), "ifnull" | "coalesce"),
            Expr::Subquery(_)
            | Expr::Binary { .. }
            | Expr::Cast { .. }
            | Expr::Opaque { .. }
            | Expr::Unary { .. } => false,
            _ => true,
        };
    });
    harmless
}
