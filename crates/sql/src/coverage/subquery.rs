//! Subqueries: their own targets, reached through the query around them.

use sqlparser::ast::{Expr, JoinConstraint, Query, SelectItem, SetExpr, TableFactor};

use super::condition::{self, ConditionLeaf, ConditionTree};
use super::error::TargetError;
use super::expr_parts::ExprParts;
use super::generate::{self, TargetDraft};
use super::mcdc::RuleSelection;
use super::scope::{CoverageContext, Ctes};
use super::select_block::{self, SelectBlock};
use super::target::Nesting;

/// The targets of all subqueries in expressions: select list, WHERE, HAVING, ON.
pub(super) fn drafts(
    world: CoverageContext<'_>,
    how: RuleSelection,
    block: &SelectBlock<'_>,
    ctes: &Ctes,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut drafts = Vec::new();
    let mut add = |nesting: Nesting, leaf: Option<&ConditionLeaf>, parts: &ExprParts| {
        for subquery in &parts.subqueries {
            let around = Some(&block.scope);
            for inner in generate::of_query(world, how, subquery, ctes, around)? {
                drafts.push(wrap(block, how, nesting, leaf, subquery, inner));
            }
        }
        Ok::<(), TargetError>(())
    };
    for parts in &block.listed {
        add(Nesting::Select, None, parts)?;
    }
    for (nesting, node) in [
        (Nesting::Where, &block.filter),
        (Nesting::Having, &block.having),
    ] {
        for leaf in node.as_ref().map(ConditionTree::leaves).unwrap_or_default() {
            add(nesting, Some(&leaf), &leaf.parts)?;
        }
    }
    for part in &block.parts {
        if let JoinConstraint::On(on) = &part.constraint {
            add(Nesting::On, None, &ExprParts::of(on))?;
        }
    }
    Ok(drafts)
}

/// The targets of derived tables, which stand for themselves.
pub(super) fn derived(
    world: CoverageContext<'_>,
    how: RuleSelection,
    block: &SelectBlock<'_>,
    ctes: &Ctes,
) -> Result<Vec<TargetDraft>, TargetError> {
    let mut found = Vec::new();
    for factor in block
        .first
        .iter()
        .chain(block.parts.iter().map(|part| &part.factor))
    {
        collect(factor, &mut found);
    }
    let mut drafts = Vec::new();
    for subquery in found {
        for mut draft in generate::of_query(world, how, subquery, ctes, block.scope.around)? {
            draft.nesting.insert(0, Nesting::From);
            drafts.push(draft);
        }
    }
    Ok(drafts)
}

/// The derived tables of an item of FROM that do not depend on their neighbours.
fn collect<'f>(factor: &'f TableFactor, into: &mut Vec<&'f Query>) {
    match factor {
        TableFactor::Derived {
            lateral: false,
            subquery,
            ..
        } => into.push(subquery),
        TableFactor::NestedJoin {
            table_with_joins, ..
        } => {
            collect(&table_with_joins.relation, into);
            for join in &table_with_joins.joins {
                collect(&join.relation, into);
            }
        }
        _ => {}
    }
}

/// Puts the target of a subquery into the query around it, in place of the condition it stands in.
fn wrap(
    block: &SelectBlock<'_>,
    how: RuleSelection,
    nesting: Nesting,
    leaf: Option<&ConditionLeaf>,
    subquery: &Query,
    inner: TargetDraft,
) -> TargetDraft {
    let without = |node: &ConditionTree| {
        let rest = match leaf {
            Some(leaf) => node.without(&|of| of.id == leaf.id),
            None => Some(node.clone()),
        };
        rest.map(|node| node.expr())
    };
    let term = term(how, leaf, subquery, inner.query);
    let in_having = nesting == Nesting::Having;
    let filter = match (&block.filter, nesting) {
        (Some(node), Nesting::Where) => without(node),
        _ => block.filter(),
    };
    let filter = if in_having {
        filter
    } else {
        condition::all(std::iter::once(term.clone()).chain(filter))
    };
    // A query that aggregates all rows returns one on any data, so SQLFpc's target says nothing.
    let mut select = if how.extended() {
        block.rows(block.original(), filter)
    } else {
        block.with(block.original(), filter)
    };
    if in_having {
        let rest = block.having.as_ref().and_then(without);
        select.having = condition::all(std::iter::once(term).chain(rest));
    }
    let mut path = vec![nesting];
    path.extend(inner.nesting);
    TargetDraft {
        query: select_block::query(select),
        rule: inner.rule,
        clause: inner.clause,
        nesting: path,
        description: inner.description.within("in a subquery, "),
    }
}

/// EXISTS, or IN where the value can still be compared.
fn term(how: RuleSelection, leaf: Option<&ConditionLeaf>, subquery: &Query, target: Query) -> Expr {
    if let (
        true,
        Some(Expr::InSubquery {
            expr,
            negated: false,
            ..
        }),
    ) = (how.extended(), leaf.map(|leaf| &leaf.expr))
        && projection(&target).is_some()
        && projection(&target) == projection(subquery)
    {
        return Expr::InSubquery {
            expr: expr.clone(),
            subquery: Box::new(target),
            negated: false,
        };
    }
    Expr::Exists {
        subquery: Box::new(target),
        negated: false,
    }
}

fn projection(query: &Query) -> Option<&[SelectItem]> {
    match &*query.body {
        SetExpr::Select(select) => Some(&select.projection),
        _ => None,
    }
}
