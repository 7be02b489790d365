//! The columns of a query's result: select lists, ORDER BY keys, and types.

use sqlparser::ast::{self, SelectItem, Spanned};

use crate::dialect::DialectName;
use crate::eval::static_type::kind_of;
use crate::expr::{ColumnRef, Expr};
use crate::syntax::last_part;
use crate::types::DataType;

use super::model::{OrderBy, OrderKey, OutputColumn, Query, QueryBody, Subquery, SubqueryUsage};
use super::resolve::{ResolveError, Resolver, unsupported};
use super::scope::Scope;

impl Resolver<'_> {
    pub(super) fn items(
        &self,
        select: &ast::Select,
        scope: &Scope<'_>,
    ) -> Result<Vec<OutputColumn>, ResolveError> {
        let mut items = Vec::new();
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
                SelectItem::Wildcard(_) => self.star(scope, &mut items),
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
                    items.extend(relation.columns.iter().map(plain));
                }
                other => {
                    return Err(unsupported(
                        other,
                        "this form of select item is not supported",
                    ));
                }
            }
        }
        Ok(items)
    }

    /// `*`: merged columns come once, before all others or, in SQLite, in the place of the first.
    fn star(&self, scope: &Scope<'_>, items: &mut Vec<OutputColumn>) {
        let in_place = self.dialect == DialectName::Sqlite;
        let merged = |(name, expr): &(String, Expr)| self.named(name.clone(), expr.clone(), scope);
        let mut shown: Vec<&str> = Vec::new();
        if !in_place {
            items.extend(scope.merged.iter().map(merged));
        }
        let mut relations: Vec<_> = scope.relations.iter().collect();
        for [start, middle, end] in &scope.turned {
            relations[*start..*end].rotate_left(middle - start);
        }
        for relation in relations {
            for column in &relation.columns {
                let is = |name: &str| name.eq_ignore_ascii_case(&column.name);
                if !relation.merged.iter().any(|name| is(name)) {
                    items.push(plain(column));
                } else if let Some(both) = scope.merged.iter().find(|(name, _)| is(name))
                    && in_place
                    && !shown.contains(&both.0.as_str())
                {
                    shown.push(&both.0);
                    items.push(merged(both));
                }
            }
        }
    }

    fn named(&self, name: String, expr: Expr, scope: &Scope<'_>) -> OutputColumn {
        OutputColumn {
            data_type: type_of(&expr, &scope.subqueries.borrow(), self.dialect),
            name,
            expr,
        }
    }
}

/// A column as it is.
fn plain(column: &ColumnRef) -> OutputColumn {
    OutputColumn {
        name: column.name.clone(),
        data_type: Some(column.data_type.clone()),
        expr: Expr::Column(column.clone()),
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
        let unknown = |column: &ColumnRef| column.data_type == unknown_type();
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
pub(super) fn outputs(query: &Query) -> Vec<(String, ColumnRef)> {
    let column = |name: &str, data_type, collation| {
        (
            name.to_owned(),
            ColumnRef {
                slot: 0,
                name: name.to_owned(),
                data_type,
                collation,
            },
        )
    };
    let unknown = unknown_type;
    match &query.body {
        QueryBody::Select(select) => select
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
        QueryBody::Set { left, .. } => outputs(left),
        QueryBody::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            (1..=width)
                .map(|number| column(&format!("column{number}"), unknown(), None))
                .collect()
        }
    }
}
