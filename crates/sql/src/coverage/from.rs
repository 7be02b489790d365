//! FROM as one chain of joins, with the relations that it brings into scope.

use std::ops::Range;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator, Select, TableFactor, TableWithJoins,
};

use super::condition;
use super::error::TargetError;
use super::expr_parts::{ColumnMention, ExprParts};
use super::relation;
use super::scope::{self, CoverageContext, Ctes, FromRelation, ResolvedColumn, Scope};
use super::select_block::{JoinPart, JoinTreatment};
use super::value_class;

/// The scope of a SELECT.
pub(super) fn scope<'p>(
    world: CoverageContext<'_>,
    select: &Select,
    ctes: &Ctes,
    around: Option<&'p Scope<'p>>,
) -> Result<Scope<'p>, TargetError> {
    let mut scope = Scope::new(world, around);
    for table in &select.from {
        let start = scope.relations.len();
        let mut relations = Vec::new();
        std::mem::swap(&mut relations, &mut scope.relations);
        relation::relations(world, &table.relation, ctes, around, &mut relations)?;
        for join in &table.joins {
            relation::relations(world, &join.relation, ctes, around, &mut relations)?;
            merge(&join.join_operator, &relations, &mut scope.merged);
        }
        mark_outer(table, relations.get_mut(start..).unwrap_or_default());
        scope.relations = relations;
    }
    scope.aliases = scope::aliases(select);
    Ok(scope)
}

/// Notes the columns that USING or NATURAL make one.
fn merge(operator: &JoinOperator, relations: &[FromRelation], merged: &mut Vec<String>) {
    match taken(operator).1 {
        JoinConstraint::Using(names) => merged.extend(
            names
                .iter()
                .filter_map(|name| Some(name.0.last()?.as_ident()?.value.clone())),
        ),
        JoinConstraint::Natural => {
            if let Some((last, before)) = relations.split_last() {
                merged.extend(common(last, before));
            }
        }
        JoinConstraint::On(_) | JoinConstraint::None => {}
    }
}

/// The columns that a relation shares with those before it.
fn common(last: &FromRelation, before: &[FromRelation]) -> Vec<String> {
    let has = |relation: &FromRelation, name: &str| {
        let columns = relation.columns.iter().flatten();
        columns
            .into_iter()
            .any(|column| column.name.eq_ignore_ascii_case(name))
    };
    last.columns
        .iter()
        .flatten()
        .filter(|column| before.iter().any(|of| has(of, &column.name)))
        .map(|column| column.name.clone())
        .collect()
}

/// Marks the relations that an outer join may leave without a row.
///
/// The relations are those of this chain only; nested joins count as one.
pub(super) fn mark_outer(table: &TableWithJoins, relations: &mut [FromRelation]) {
    let mut end = width(&table.relation);
    for join in &table.joins {
        let start = end;
        end += width(&join.relation);
        let (kind, _) = taken(&join.join_operator);
        for (index, relation) in relations.iter_mut().enumerate().take(end) {
            relation.outer |= match kind {
                JoinTreatment::Left => index >= start,
                JoinTreatment::Right => index < start,
                JoinTreatment::Full => true,
                JoinTreatment::Inner | JoinTreatment::Fixed(_) => false,
            };
        }
    }
}

/// How many relations an item of FROM brings.
fn width(factor: &TableFactor) -> usize {
    match factor {
        TableFactor::NestedJoin {
            table_with_joins,
            alias: None,
        } => {
            width(&table_with_joins.relation)
                + table_with_joins
                    .joins
                    .iter()
                    .map(|join| width(&join.relation))
                    .sum::<usize>()
        }
        _ => 1,
    }
}

/// The kind and condition of a join operator.
fn taken(operator: &JoinOperator) -> (JoinTreatment, JoinConstraint) {
    match operator {
        JoinOperator::Join(on)
        | JoinOperator::Inner(on)
        | JoinOperator::StraightJoin(on)
        | JoinOperator::CrossJoin(on) => (JoinTreatment::Inner, on.clone()),
        JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (JoinTreatment::Left, on.clone()),
        JoinOperator::Right(on) | JoinOperator::RightOuter(on) => {
            (JoinTreatment::Right, on.clone())
        }
        JoinOperator::FullOuter(on) => (JoinTreatment::Full, on.clone()),
        other => (
            JoinTreatment::Fixed(Box::new(other.clone())),
            JoinConstraint::None,
        ),
    }
}

/// The items of FROM as one chain of joins.
pub(super) fn parts(select: &Select) -> (Option<TableFactor>, Vec<JoinPart>) {
    let mut first = None;
    let mut parts = Vec::new();
    let mut next = 0;
    for table in &select.from {
        let start = next;
        next += width(&table.relation);
        if first.is_none() {
            first = Some(table.relation.clone());
        } else {
            parts.push(JoinPart {
                factor: table.relation.clone(),
                kind: JoinTreatment::Inner,
                constraint: JoinConstraint::None,
                relations: start..next,
                columns: Vec::new(),
            });
        }
        for join in &table.joins {
            let start = next;
            next += width(&join.relation);
            let (kind, constraint) = taken(&join.join_operator);
            parts.push(JoinPart {
                factor: join.relation.clone(),
                kind,
                constraint,
                relations: start..next,
                columns: Vec::new(),
            });
        }
    }
    (first, parts)
}

/// The conjuncts of a condition, parentheses untouched.
pub(super) fn split(expr: &Expr, into: &mut Vec<Expr>) {
    match expr {
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        } => {
            split(left, into);
            split(right, into);
        }
        other => into.push(other.clone()),
    }
}

/// A comma join takes the equalities of WHERE that link it with what stands before it.
pub(super) fn take_links(
    part: &mut JoinPart,
    conjuncts: &mut Vec<Expr>,
    scope: &Scope<'_>,
) -> Result<(), TargetError> {
    if part.kind != JoinTreatment::Inner || !matches!(part.constraint, JoinConstraint::None) {
        return Ok(());
    }
    let mut links = Vec::new();
    let mut rest = Vec::new();
    for conjunct in conjuncts.drain(..) {
        if is_link(condition::strip(&conjunct), &part.relations, scope)? {
            links.push(condition::strip(&conjunct).clone());
        } else {
            rest.push(conjunct);
        }
    }
    *conjuncts = rest;
    if let Some(on) = condition::all(links) {
        part.constraint = JoinConstraint::On(on);
    }
    Ok(())
}

/// Whether an expression equates a column of these relations with one of an earlier relation.
fn is_link(expr: &Expr, relations: &Range<usize>, scope: &Scope<'_>) -> Result<bool, TargetError> {
    let Expr::BinaryOp {
        left,
        op: BinaryOperator::Eq,
        right,
    } = expr
    else {
        return Ok(false);
    };
    let mut sides = Vec::new();
    for side in [left, right] {
        let Some(mention) = value_class::as_mention(side) else {
            return Ok(false);
        };
        match scope.resolve(&mention)? {
            Some(found) if found.id.depth == 0 => sides.push(found.id.relation),
            _ => return Ok(false),
        }
    }
    let new = |side: &usize| relations.contains(side);
    let earlier = |side: &usize| *side < relations.start;
    Ok(sides.iter().any(new) && sides.iter().any(earlier))
}

/// The columns of a join's condition, each once.
pub(super) fn join_columns(
    part: &JoinPart,
    scope: &Scope<'_>,
) -> Result<Vec<(ColumnMention, ResolvedColumn)>, TargetError> {
    let mut columns: Vec<(ColumnMention, ResolvedColumn)> = Vec::new();
    let mut add = |mention: &ColumnMention| -> Result<(), TargetError> {
        if let Some(found) = scope.resolve(mention)?
            && columns.iter().all(|(_, known)| known.id != found.id)
        {
            columns.push((mention.clone(), found));
        }
        Ok(())
    };
    match &part.constraint {
        JoinConstraint::On(on) => {
            for mention in &ExprParts::of(on).mentions {
                add(mention)?;
            }
        }
        JoinConstraint::Using(_) | JoinConstraint::Natural => {
            for mention in merged_columns(part, scope) {
                add(&mention)?;
            }
        }
        JoinConstraint::None => {}
    }
    Ok(columns)
}

/// The qualified columns that USING or NATURAL compare.
fn merged_columns(part: &JoinPart, scope: &Scope<'_>) -> Vec<ColumnMention> {
    let Some((before, [new, ..])) = scope.relations.split_at_checked(part.relations.start) else {
        return Vec::new();
    };
    let names: Vec<Ident> = match &part.constraint {
        JoinConstraint::Using(names) => names
            .iter()
            .filter_map(|name| Some(name.0.last()?.as_ident()?.clone()))
            .collect(),
        _ => {
            let names = common(new, before);
            names.iter().map(|name| scope.ident(name)).collect()
        }
    };
    let has = |relation: &FromRelation, name: &str| {
        relation
            .columns
            .iter()
            .flatten()
            .any(|column| column.name.eq_ignore_ascii_case(name))
    };
    let mut mentions = Vec::new();
    for name in names {
        let left = before.iter().find(|relation| has(relation, &name.value));
        for relation in left.into_iter().chain([new]) {
            // MySQL takes a string for an alias, but not where the alias is used.
            let table = match relation.written.quote_style {
                Some('\'') => scope.ident(&relation.name),
                _ => relation.written.clone(),
            };
            mentions.push(ColumnMention {
                path: vec![table, name.clone()],
                guarded: false,
                aggregated: false,
            });
        }
    }
    mentions
}
