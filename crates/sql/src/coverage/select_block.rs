//! One SELECT split into clauses, which can be replaced and reassembled.

use std::ops::Range;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Join, JoinConstraint, JoinOperator, Query, Select,
    SelectItem, TableFactor, TableWithJoins,
};

use super::condition::ConditionTree;
use super::error::TargetError;
use super::expr_parts::{ColumnMention, ExprParts};
use super::from;
use super::parse;
use super::scope::{CoverageContext, Ctes, ResolvedColumn, Scope};
use super::value_class;

/// How a join treats rows without a partner.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JoinTreatment {
    Inner,
    Left,
    Right,
    Full,
    /// A join that the rules leave as it is: CROSS, LATERAL, APPLY.
    Fixed(Box<JoinOperator>),
}

/// One join: what it adds to FROM and on which condition.
#[derive(Clone, Debug)]
pub(super) struct JoinPart {
    pub(super) factor: TableFactor,
    pub(super) kind: JoinTreatment,
    pub(super) constraint: JoinConstraint,
    /// Which relations of the scope it brings.
    pub(super) relations: Range<usize>,
    /// The columns of its condition, each once, in order of appearance.
    pub(super) columns: Vec<(ColumnMention, ResolvedColumn)>,
}

impl JoinPart {
    /// Whether the rules of joins apply.
    pub(super) fn has_condition(&self) -> bool {
        !matches!(self.constraint, JoinConstraint::None)
            && !matches!(self.kind, JoinTreatment::Fixed(_))
    }
}

/// One SELECT.
pub(super) struct SelectBlock<'p> {
    pub(super) select: Select,
    pub(super) first: Option<TableFactor>,
    pub(super) parts: Vec<JoinPart>,
    pub(super) scope: Scope<'p>,
    /// WHERE without the conditions that comma joins took.
    pub(super) filter: Option<ConditionTree>,
    pub(super) having: Option<ConditionTree>,
    /// Of the select list, item by item.
    pub(super) listed: Vec<ExprParts>,
    /// GROUP BY's plain expressions, with names and positions of the select list replaced.
    pub(super) keys: Vec<Expr>,
}

impl<'p> SelectBlock<'p> {
    /// A part by its index.
    #[expect(
        clippy::indexing_slicing,
        reason = "indexes of parts come from the block that they are used with"
    )]
    pub(super) fn part(&self, index: usize) -> &JoinPart {
        &self.parts[index]
    }

    /// Takes a SELECT apart.
    pub(super) fn new(
        world: CoverageContext<'_>,
        select: &Select,
        ctes: &Ctes,
        around: Option<&'p Scope<'p>>,
    ) -> Result<Self, TargetError> {
        let scope = from::scope(world, select, ctes, around)?;
        let (first, mut parts) = from::parts(select);
        let mut conjuncts = Vec::new();
        if let Some(selection) = &select.selection {
            from::split(selection, &mut conjuncts);
        }
        for part in &mut parts {
            from::take_links(part, &mut conjuncts, &scope)?;
            part.columns = from::join_columns(part, &scope)?;
        }
        let filter = conjuncts
            .into_iter()
            .reduce(|left, right| Expr::BinaryOp {
                left: Box::new(left),
                op: BinaryOperator::And,
                right: Box::new(right),
            })
            .map(|expr| ConditionTree::read(&expr, &scope))
            .transpose()?;
        let having = select
            .having
            .as_ref()
            .map(|expr| ConditionTree::read(expr, &scope))
            .transpose()?;
        let listed = listed(select, &scope)?;
        let keys = keys(select, &scope)?;
        Ok(Self {
            select: select.clone(),
            first,
            parts,
            scope,
            filter,
            having,
            listed,
            keys,
        })
    }

    /// Whether the select list aggregates all rows into one: then a row comes back on any data.
    pub(super) fn is_bare_aggregate(&self) -> bool {
        self.aggregates() && self.having.is_none() && !self.groups()
    }

    /// Whether the select list aggregates.
    pub(super) fn aggregates(&self) -> bool {
        self.listed.iter().any(|parts| !parts.aggregates.is_empty())
    }

    /// Whether there is a GROUP BY.
    pub(super) fn groups(&self) -> bool {
        match &self.select.group_by {
            GroupByExpr::All(_) => true,
            GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
        }
    }

    /// FROM with the joins' kinds replaced.
    pub(super) fn from(
        &self,
        kind: impl Fn(usize, &JoinPart) -> JoinTreatment,
    ) -> Vec<TableWithJoins> {
        self.chain(&self.parts, kind)
    }

    /// FROM with other conditions and kinds.
    pub(super) fn chain(
        &self,
        parts: &[JoinPart],
        kind: impl Fn(usize, &JoinPart) -> JoinTreatment,
    ) -> Vec<TableWithJoins> {
        let Some(first) = &self.first else {
            return Vec::new();
        };
        let joins = parts.iter().enumerate().map(|(index, part)| {
            let constraint = part.constraint.clone();
            let operator = match (&part.kind, &constraint) {
                (JoinTreatment::Fixed(operator), _) => (**operator).clone(),
                (_, JoinConstraint::None) => JoinOperator::CrossJoin(JoinConstraint::None),
                _ => match kind(index, part) {
                    JoinTreatment::Inner => JoinOperator::Inner(constraint),
                    JoinTreatment::Left => JoinOperator::Left(constraint),
                    JoinTreatment::Right => JoinOperator::Right(constraint),
                    JoinTreatment::Full => JoinOperator::FullOuter(constraint),
                    JoinTreatment::Fixed(operator) => *operator,
                },
            };
            Join {
                relation: part.factor.clone(),
                global: false,
                join_operator: operator,
            }
        });
        vec![TableWithJoins {
            relation: first.clone(),
            joins: joins.collect(),
        }]
    }

    /// FROM with every join INNER.
    pub(super) fn inner(&self) -> Vec<TableWithJoins> {
        self.from(|_, _| JoinTreatment::Inner)
    }

    /// FROM as written, comma joins aside.
    pub(super) fn original(&self) -> Vec<TableWithJoins> {
        self.from(|_, part| part.kind.clone())
    }

    /// The SELECT with FROM and WHERE replaced; the select list becomes `*` when it would aggregate
    /// all rows into one.
    pub(super) fn rows(&self, from: Vec<TableWithJoins>, filter: Option<Expr>) -> Select {
        let mut select = self.with(from, filter);
        if self.is_bare_aggregate() {
            select.projection = vec![parse::wildcard()];
            select.distinct = None;
        }
        select
    }

    /// The SELECT with FROM and WHERE replaced.
    pub(super) fn with(&self, from: Vec<TableWithJoins>, filter: Option<Expr>) -> Select {
        Select {
            from,
            selection: filter,
            into: None,
            ..self.select.clone()
        }
    }

    /// WHERE as SQL.
    pub(super) fn filter(&self) -> Option<Expr> {
        self.filter.as_ref().map(ConditionTree::expr)
    }

    /// The expressions of the select list.
    pub(super) fn items(&self) -> impl Iterator<Item = &Expr> {
        self.select.projection.iter().filter_map(item_expr)
    }
}

/// A query that is just this SELECT.
pub(super) fn query(select: Select) -> Query {
    parse::plain(select)
}

fn item_expr(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr)
        | SelectItem::ExprWithAlias { expr, .. }
        | SelectItem::ExprWithAliases { expr, .. } => Some(expr),
        SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => None,
    }
}

/// The parts of the select list, with its names checked.
fn listed(select: &Select, scope: &Scope<'_>) -> Result<Vec<ExprParts>, TargetError> {
    let mut listed = Vec::new();
    for expr in select.projection.iter().filter_map(item_expr) {
        let parts = ExprParts::of(expr);
        for mention in &parts.mentions {
            scope.resolve(mention)?;
        }
        listed.push(parts);
    }
    Ok(listed)
}

/// GROUP BY's expressions; names and positions of the select list stand for their expressions.
fn keys(select: &Select, scope: &Scope<'_>) -> Result<Vec<Expr>, TargetError> {
    let GroupByExpr::Expressions(written, _) = &select.group_by else {
        return Ok(Vec::new());
    };
    let mut keys = Vec::new();
    for key in written {
        for mention in &ExprParts::of(key).mentions {
            scope.resolve(mention)?;
        }
        keys.push(listed_expr(key, select, scope));
    }
    Ok(keys)
}

/// The expression that a key of GROUP BY or ORDER BY means.
pub(super) fn listed_expr(key: &Expr, select: &Select, scope: &Scope<'_>) -> Expr {
    if let Expr::Value(value) = key {
        let position: Option<usize> = value.to_string().parse().ok();
        let item = position
            .and_then(|position| select.projection.get(position.checked_sub(1)?))
            .and_then(item_expr);
        return item.unwrap_or(key).clone();
    }
    if let Expr::Identifier(name) = key {
        let column = value_class::as_mention(key).map(|mention| scope.resolve(&mention));
        if let Some(Ok(None)) = column {
            return scope.alias(&name.value).unwrap_or(key).clone();
        }
    }
    key.clone()
}
