//! The columns of a query's result: select lists, ORDER BY keys, and types.

use sqlparser::ast::{self, SelectItem, Spanned};

use crate::dialect::DialectName;
use crate::eval::kind::kind_of;
use crate::expr::{ColumnUse, Expr};
use crate::syntax::last_part;
use crate::types::DataType;

use super::model::{Body, Item, OrderBy, OrderKey, Query, Subquery, SubqueryUsage};
use super::resolve::{ResolveError, Resolver, unsupported};
use super::scope::{Relation, Scope};

impl Resolver<'_> {
    pub(super) fn items(
        &self,
        select: &ast::Select,
        scope: &Scope<'_>,
    ) -> Result<Vec<Item>, ResolveError> {
        let mut items = Vec::new();
        let all = |relation: &Relation, qualified: bool, items: &mut Vec<Item>| {
            for column in &relation.columns {
                if qualified
                    || !relation
                        .merged
                        .iter()
                        .any(|merged| merged.eq_ignore_ascii_case(&column.name))
                {
                    items.push(Item {
                        name: column.name.clone(),
                        data_type: Some(column.data_type.clone()),
                        expr: Expr::Column(column.clone()),
                    });
                }
            }
        };
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(ast) => {
                    let name = match ast {
                        ast::Expr::Identifier(ident) => ident.value.clone(),
                        ast::Expr::CompoundIdentifier(path) => path
                            .last()
                            .map(|ident| ident.value.clone())
                            .unwrap_or_default(),
                        other => other.to_string(),
                    };
                    items.push(self.named(name, scope.expr(ast)?, scope));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    items.push(self.named(alias.value.clone(), scope.expr(expr)?, scope));
                }
                SelectItem::Wildcard(_) => {
                    scope
                        .relations
                        .iter()
                        .for_each(|relation| all(relation, false, &mut items));
                }
                SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let alias = last_part(name);
                    let relation = scope
                        .relations
                        .iter()
                        .find(|relation| relation.alias.eq_ignore_ascii_case(&alias));
                    let relation = relation.ok_or_else(|| ResolveError::UnknownTable {
                        name: alias.clone(),
                        span: name.span(),
                    })?;
                    all(relation, true, &mut items);
                }
                other => {
                    return Err(unsupported(
                        other,
                        "this form of select item is not evaluated",
                    ));
                }
            }
        }
        Ok(items)
    }

    fn named(&self, name: String, expr: Expr, scope: &Scope<'_>) -> Item {
        Item {
            data_type: type_of(&expr, &scope.subqueries.borrow(), self.dialect),
            name,
            expr,
        }
    }
}

/// The type of a computed column, as far as it is known.
fn type_of(expr: &Expr, subqueries: &[Subquery], dialect: DialectName) -> Option<DataType> {
    match expr {
        Expr::Column(column) => Some(column.data_type.clone()),
        Expr::Cast { data_type, .. } => Some(data_type.clone()),
        Expr::Subquery(number) => match subqueries.get(*number) {
            Some(Subquery {
                usage: SubqueryUsage::Scalar,
                query,
                ..
            }) => outputs(query)
                .into_iter()
                .next()
                .map(|(_, use_)| use_.data_type),
            _ if dialect == DialectName::Sqlite => None,
            _ => Some(DataType::Boolean),
        },
        // SQLite's expressions have no affinity.
        _ if dialect == DialectName::Sqlite => None,
        other => kind_of(other, dialect).data_type(),
    }
}

/// Refuses set operations whose columns have no common type, or one that changes values.
pub(super) fn set_types(
    left: &Query,
    right: &Query,
    dialect: DialectName,
) -> Result<(), &'static str> {
    let (left, right) = (outputs(left), outputs(right));
    if left.len() != right.len() {
        return Err("its sides have different numbers of columns");
    }
    if dialect == DialectName::Sqlite {
        return Ok(());
    }
    for ((_, left), (_, right)) in left.iter().zip(&right) {
        let unknown = |column: &ColumnUse| column.data_type == unknown_type();
        if unknown(left) || unknown(right) || left.data_type == right.data_type {
            continue;
        }
        let numbers = left.data_type.is_numeric() && right.data_type.is_numeric();
        let texts = left.data_type.is_text() && right.data_type.is_text();
        if !numbers && !texts {
            return Err("its sides have columns of different types");
        }
    }
    Ok(())
}

/// A type that we know nothing of; a column of it is taken for what its value is.
fn unknown_type() -> DataType {
    DataType::Other(String::new())
}

pub(super) fn order_key(
    key: &ast::OrderByExpr,
    position: Option<usize>,
    otherwise: impl FnOnce() -> Result<OrderBy, ResolveError>,
) -> Result<OrderKey, ResolveError> {
    Ok(OrderKey {
        by: match position {
            Some(position) => OrderBy::Output(position),
            None => otherwise()?,
        },
        descending: matches!(key.options.sort, Some(ast::OrderBySort::Desc)),
        nulls_first: key.options.nulls_first,
    })
}

/// The result column that an ORDER BY key names, by alias or by number.
pub(super) fn output_position(expr: &ast::Expr, names: &[String]) -> Option<usize> {
    match expr {
        ast::Expr::Identifier(ident) => names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(&ident.value)),
        ast::Expr::Value(ast::ValueWithSpan {
            value: ast::Value::Number(number, _),
            ..
        }) => {
            let position: usize = number.parse().ok()?;
            position.checked_sub(1).filter(|index| *index < names.len())
        }
        _ => None,
    }
}

pub(super) fn output_names(query: &Query) -> Vec<String> {
    outputs(query).into_iter().map(|(name, _)| name).collect()
}

/// The columns of a query's result.
pub(super) fn outputs(query: &Query) -> Vec<(String, ColumnUse)> {
    let column = |name: &str, data_type, collation| {
        (
            name.to_owned(),
            ColumnUse {
                slot: 0,
                name: name.to_owned(),
                data_type,
                collation,
            },
        )
    };
    let unknown = unknown_type;
    match &query.body {
        Body::Select(select) => select
            .items
            .iter()
            .map(|item| {
                let collation = match &item.expr {
                    Expr::Column(column) => column.collation.clone(),
                    _ => None,
                };
                column(
                    &item.name,
                    item.data_type.clone().unwrap_or_else(unknown),
                    collation,
                )
            })
            .collect(),
        Body::Set { left, .. } => outputs(left),
        Body::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            (1..=width)
                .map(|number| column(&format!("column{number}"), unknown(), None))
                .collect()
        }
    }
}
