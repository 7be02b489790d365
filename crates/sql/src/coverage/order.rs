//! Windows, ORDER BY and LIMIT: rows that are compared with each other.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, LimitClause, OrderByKind, Query, Select, SelectItem, Value,
    WindowSpec, WindowType,
};

use super::condition;
use super::expr_parts::ExprParts;
use super::generate::TargetDraft;
use super::grouping::{compare, count, counted, greater, number, one};
use super::select_block::{self, SelectBlock};
use super::target::{Clause, ClauseKind, CoverageRule};

/// Greater limits would need more rows than anybody wants to read.
const MAX_LIMIT: u64 = 10;

/// The targets of window functions of the select list.
pub(super) fn windows(block: &SelectBlock<'_>) -> Vec<TargetDraft> {
    let mut drafts = Vec::new();
    if block.groups() || block.aggregates() {
        return drafts;
    }
    let mut seen: Vec<WindowSpec> = Vec::new();
    for window in block.listed.iter().flat_map(|parts| &parts.windows) {
        let Some(spec) = spec(window, &block.select) else {
            continue;
        };
        if !seen.contains(&spec) {
            partition(block, &spec, &mut drafts);
            seen.push(spec);
        }
    }
    drafts
}

fn spec(window: &WindowType, select: &Select) -> Option<WindowSpec> {
    match window {
        WindowType::WindowSpec(spec) => Some(spec.clone()),
        WindowType::NamedWindow(name) => {
            select
                .named_window
                .iter()
                .find_map(|window| match (&window.0 == name, &window.1) {
                    (true, sqlparser::ast::NamedWindowExpr::WindowSpec(spec)) => Some(spec.clone()),
                    _ => None,
                })
        }
    }
}

fn partition(block: &SelectBlock<'_>, spec: &WindowSpec, drafts: &mut Vec<TargetDraft>) {
    let by = &spec.partition_by;
    let order: Vec<Expr> = spec.order_by.iter().map(|key| key.expr.clone()).collect();
    let clause = Clause {
        kind: ClauseKind::Select,
        text: format!("OVER ({spec})"),
        span: by.first().or(order.first()).and_then(condition::span),
    };
    let mut push = |by: &[Expr], having: Expr, rule: CoverageRule, description: String| {
        drafts.push(TargetDraft {
            query: select_block::query(grouped(block, by, having)),
            rule,
            clause: clause.clone(),
            nesting: Vec::new(),
            description: description.into(),
        });
    };
    let several = || greater(count(None, false), one());
    push(
        by,
        several(),
        CoverageRule::PartitionRepeats,
        "a window's partition has more than one row".into(),
    );
    if let Some(first) = by.first() {
        let differ = greater(count(Some(first), true), one());
        let description = format!("there is more than one partition by `{first}`");
        push(&[], differ, CoverageRule::PartitionsDiffer, description);
    }
    if let Some(first) = order.first() {
        let description = format!("two rows of a partition tie on {}", names(&order));
        push(
            &[by.clone(), order.clone()].concat(),
            several(),
            CoverageRule::PeersTie,
            description,
        );
        let differ = greater(count(Some(first), true), one());
        let description = format!("two rows of a partition differ in `{first}`");
        push(by, differ, CoverageRule::PeersDiffer, description);
    }
}

/// The targets of ORDER BY and LIMIT.
pub(super) fn tail(block: &SelectBlock<'_>, query: &Query) -> Vec<TargetDraft> {
    let mut drafts = Vec::new();
    if !block.groups() && !block.aggregates() && block.select.distinct.is_none() {
        order(block, query, &mut drafts);
    }
    limit(block, query, &mut drafts);
    drafts
}

fn order(block: &SelectBlock<'_>, query: &Query, drafts: &mut Vec<TargetDraft>) {
    let Some(OrderByKind::Expressions(written)) = query.order_by.as_ref().map(|of| &of.kind) else {
        return;
    };
    let keys: Vec<Expr> = written
        .iter()
        .map(|key| select_block::listed_expr(&key.expr, &block.select, &block.scope))
        .filter(|key| {
            let parts = ExprParts::of(key);
            !parts.mentions.is_empty() && parts.subqueries.is_empty() && parts.windows.is_empty()
        })
        .collect();
    let Some(first) = keys.first() else {
        return;
    };
    let clause = Clause {
        kind: ClauseKind::OrderBy,
        text: names(&keys).replace('`', ""),
        span: condition::span(first),
    };
    let mut push = |by: &[Expr], having: Expr, rule: CoverageRule, description: String| {
        drafts.push(TargetDraft {
            query: select_block::query(grouped(block, by, having)),
            rule,
            clause: clause.clone(),
            nesting: Vec::new(),
            description: description.into(),
        });
    };
    let differ = greater(count(Some(first), true), one());
    let description = format!("two rows differ in `{first}`, so that the order shows");
    push(&[], differ, CoverageRule::OrderDiffers, description);
    let description = format!("two rows tie on {}", names(&keys));
    push(
        &keys,
        greater(count(None, false), one()),
        CoverageRule::OrderTies,
        description,
    );
}

fn limit(block: &SelectBlock<'_>, query: &Query, drafts: &mut Vec<TargetDraft>) {
    let fetch = query.fetch.as_ref().filter(|fetch| !fetch.percent);
    let (limit, offset) = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, offset, .. }) => {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
        None => (fetch.and_then(|fetch| fetch.quantity.as_ref()), None),
    };
    let offset = match offset.map(whole) {
        Some(None) => return,
        Some(Some(offset)) => offset,
        None => 0,
    };
    let Some(limit) = limit.and_then(whole) else {
        return;
    };
    // A query that aggregates all rows has one row, whatever the limit.
    if limit == 0 || limit.saturating_add(offset) > MAX_LIMIT || block.is_bare_aggregate() {
        return;
    }
    let mut push = |having: Expr, rule: CoverageRule, description: String| {
        let inner = block.with(block.original(), block.filter());
        drafts.push(TargetDraft {
            query: select_block::query(counted(inner, "all_rows", having)),
            rule,
            clause: Clause {
                kind: ClauseKind::Limit,
                text: format!("LIMIT {limit}"),
                span: None,
            },
            nesting: Vec::new(),
            description: description.into(),
        });
    };
    let rows = |op, bound| compare(count(None, false), op, number(bound));
    let description = format!("there are more rows than the limit of {limit}");
    push(
        rows(BinaryOperator::Gt, limit + offset),
        CoverageRule::LimitCuts,
        description,
    );
    if limit > 1 {
        let some = rows(BinaryOperator::Gt, offset);
        let fewer = rows(BinaryOperator::Lt, limit + offset);
        if let Some(having) = condition::all([some, fewer]) {
            let description = format!("there are fewer rows than the limit of {limit}");
            push(having, CoverageRule::LimitLeaves, description);
        }
    }
}

fn whole(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The rows of a block in groups.
fn grouped(block: &SelectBlock<'_>, by: &[Expr], having: Expr) -> Select {
    let mut select = block.with(block.original(), block.filter());
    select.projection = if by.is_empty() {
        vec![SelectItem::UnnamedExpr(count(None, false))]
    } else {
        by.iter().cloned().map(SelectItem::UnnamedExpr).collect()
    };
    select.distinct = None;
    select.named_window = Vec::new();
    select.group_by = GroupByExpr::Expressions(by.to_vec(), Vec::new());
    select.having = Some(having);
    select
}

fn names(exprs: &[Expr]) -> String {
    let quoted: Vec<String> = exprs.iter().map(|expr| format!("`{expr}`")).collect();
    quoted.join(", ")
}
