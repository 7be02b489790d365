//! The columns of FROM items and of queries.

use sqlparser::ast::{
    Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    TableAlias, TableFactor,
};

use super::error::TargetError;
use super::from;
use super::scope::{CoverageContext, Ctes, FromRelation, RelationColumn, Scope};
use super::value_class::{self, ValueClass};
use crate::schema::Table;
use crate::types::DataType;

pub(super) fn first_select(query: &Query) -> &SetExpr {
    let mut body = &*query.body;
    loop {
        body = match body {
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &query.body,
            _ => return body,
        };
    }
}

/// The relations that one item of FROM brings.
pub(super) fn relations(
    world: CoverageContext<'_>,
    factor: &TableFactor,
    ctes: &Ctes,
    around: Option<&Scope<'_>>,
    into: &mut Vec<FromRelation>,
) -> Result<(), TargetError> {
    let named = |alias: &Option<TableAlias>, name: Ident, columns: Option<Vec<RelationColumn>>| {
        let written = alias.as_ref().map_or(name, |alias| alias.name.clone());
        FromRelation {
            name: written.value.clone(),
            written,
            columns: match alias {
                Some(alias) => renamed(columns, alias),
                None => columns,
            },
            outer: false,
        }
    };
    let nameless = || Ident::new(String::new());
    match factor {
        TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } => {
            let columns = table_columns(world, name, ctes)?;
            into.push(named(alias, ident(name), columns));
        }
        TableFactor::Derived {
            lateral: true,
            subquery,
            alias,
            ..
        } => {
            // It sees what stands before it.
            let mut before = Scope::new(world, around);
            before.relations = into.clone();
            let ctes = ctes.with(world, subquery, Some(&before))?;
            let columns = output(world, &subquery.body, &ctes, Some(&before))?;
            into.push(named(alias, nameless(), columns));
        }
        TableFactor::Derived {
            subquery, alias, ..
        } => {
            let ctes = ctes.with(world, subquery, around)?;
            let columns = output(world, &subquery.body, &ctes, around)?;
            into.push(named(alias, nameless(), columns));
        }
        TableFactor::NestedJoin {
            table_with_joins,
            alias,
        } => {
            let start = into.len();
            relations(world, &table_with_joins.relation, ctes, around, into)?;
            for join in &table_with_joins.joins {
                relations(world, &join.relation, ctes, around, into)?;
            }
            from::mark_outer(table_with_joins, into.get_mut(start..).unwrap_or_default());
            if let Some(alias) = alias {
                let columns: Option<Vec<Vec<RelationColumn>>> = into
                    .drain(start..)
                    .map(|relation| relation.columns)
                    .collect();
                let columns = columns.map(|all| all.into_iter().flatten().collect());
                into.push(named(&Some(alias.clone()), nameless(), columns));
            }
        }
        TableFactor::Table { name, alias, .. } | TableFactor::Function { name, alias, .. } => {
            into.push(named(alias, ident(name), None));
        }
        other => {
            let alias = match other {
                TableFactor::TableFunction { alias, .. }
                | TableFactor::UNNEST { alias, .. }
                | TableFactor::JsonTable { alias, .. }
                | TableFactor::OpenJsonTable { alias, .. }
                | TableFactor::Pivot { alias, .. }
                | TableFactor::Unpivot { alias, .. } => alias.clone(),
                _ => None,
            };
            into.push(named(&alias, nameless(), None));
        }
    }
    Ok(())
}

/// The last part of a name, as written.
fn ident(name: &ObjectName) -> Ident {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.cloned().unwrap_or_else(|| Ident::new(String::new()))
}

fn last(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|part| part.as_ident())
        .map(|ident| ident.value.clone())
        .unwrap_or_default()
}

fn table_columns(
    world: CoverageContext<'_>,
    name: &ObjectName,
    ctes: &Ctes,
) -> Result<Option<Vec<RelationColumn>>, TargetError> {
    let table = last(name);
    if name.0.len() == 1
        && let Some(columns) = ctes.get(&table)
    {
        return Ok(columns.clone());
    }
    if let Some(index) = world.schema.table_index(&table) {
        return Ok(Some(declared(world, world.schema.table(index))));
    }
    let catalogue = name
        .0
        .first()
        .and_then(|part| part.as_ident())
        .is_some_and(|ident| {
            ["information_schema", "pg_catalog"]
                .iter()
                .any(|of| ident.value.eq_ignore_ascii_case(of))
        });
    if catalogue
        || ["dual", "sqlite_master"]
            .iter()
            .any(|of| table.eq_ignore_ascii_case(of))
    {
        return Ok(None);
    }
    let at = name
        .0
        .first()
        .and_then(|part| part.as_ident())
        .map(|ident| ident.span.start);
    Err(TargetError::UnknownTable {
        name: name.to_string(),
        line: at.map_or(0, |at| at.line),
        column: at.map_or(0, |at| at.column),
    })
}

/// The columns of a table of the schema.
fn declared(world: CoverageContext<'_>, table: &Table) -> Vec<RelationColumn> {
    let key = match table.primary_key() {
        Some(key) if !world.dialect.key_admits_null(table) => key,
        _ => &[],
    };
    table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| RelationColumn {
            name: column.name.clone(),
            nullable: !table.is_not_null(index)
                && !key.contains(&index)
                && world.dialect.rowid_alias(table) != Some(index),
            class: class(&column.data_type, &column.declared),
        })
        .collect()
}

/// MySQL's `tinyint(1)` and `bit` are booleans, whatever they can store.
fn class(data_type: &DataType, declared: &str) -> ValueClass {
    let declared = declared.to_ascii_lowercase().replace(' ', "");
    if declared.starts_with("tinyint(1)") || declared.starts_with("bit") {
        return ValueClass::Boolean;
    }
    match data_type {
        DataType::Boolean => ValueClass::Boolean,
        DataType::Date => ValueClass::Date,
        DataType::Timestamp { .. } => ValueClass::Timestamp,
        numeric if numeric.is_numeric() => ValueClass::Number,
        _ => ValueClass::Other,
    }
}

pub(super) fn renamed(
    columns: Option<Vec<RelationColumn>>,
    alias: &TableAlias,
) -> Option<Vec<RelationColumn>> {
    if alias.columns.is_empty() {
        return columns;
    }
    let mut columns = columns.unwrap_or_default();
    for (index, name) in alias.columns.iter().enumerate() {
        let name = name.name.value.clone();
        match columns.get_mut(index) {
            Some(column) => column.name = name,
            None => columns.push(RelationColumn {
                name,
                nullable: true,
                class: ValueClass::Other,
            }),
        }
    }
    Some(columns)
}

/// The columns that a query returns; `None` when they cannot be known.
pub(super) fn output(
    world: CoverageContext<'_>,
    body: &SetExpr,
    ctes: &Ctes,
    around: Option<&Scope<'_>>,
) -> Result<Option<Vec<RelationColumn>>, TargetError> {
    match body {
        SetExpr::Select(select) => selected(world, select, ctes, around),
        SetExpr::Query(query) => {
            let ctes = ctes.with(world, query, around)?;
            output(world, &query.body, &ctes, around)
        }
        SetExpr::SetOperation { left, right, .. } => {
            let left = output(world, left, ctes, around)?;
            let right = output(world, right, ctes, around)?;
            Ok(left.zip(right).map(|(left, right)| {
                left.into_iter()
                    .zip(right)
                    .map(|(column, other)| RelationColumn {
                        nullable: column.nullable || other.nullable,
                        ..column
                    })
                    .collect()
            }))
        }
        SetExpr::Values(values) => {
            let width = values.rows.first().map_or(0, |row| row.content.len());
            let column = |index| RelationColumn {
                name: format!("column{}", index + 1),
                nullable: true,
                class: ValueClass::Other,
            };
            Ok(Some((0..width).map(column).collect()))
        }
        SetExpr::Insert(_)
        | SetExpr::Update(_)
        | SetExpr::Delete(_)
        | SetExpr::Merge(_)
        | SetExpr::Table(_) => Ok(None),
    }
}

fn selected(
    world: CoverageContext<'_>,
    select: &Select,
    ctes: &Ctes,
    around: Option<&Scope<'_>>,
) -> Result<Option<Vec<RelationColumn>>, TargetError> {
    let scope = from::scope(world, select, ctes, around)?;
    let mut columns = Vec::new();
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(expr) => columns.push(value_class::column(expr, None, &scope)?),
            SelectItem::ExprWithAlias { expr, alias } => {
                columns.push(value_class::column(expr, Some(&alias.value), &scope)?);
            }
            SelectItem::ExprWithAliases { .. } => return Ok(None),
            SelectItem::Wildcard(_) => {
                for relation in &scope.relations {
                    match relation.visible() {
                        Some(all) => columns.extend(all),
                        None => return Ok(None),
                    }
                }
            }
            SelectItem::QualifiedWildcard(kind, _) => {
                let SelectItemQualifiedWildcardKind::ObjectName(name) = kind else {
                    return Ok(None);
                };
                let name = last(name);
                let relation = scope
                    .relations
                    .iter()
                    .find(|of| of.name.eq_ignore_ascii_case(&name));
                match relation.and_then(FromRelation::visible) {
                    Some(all) => columns.extend(all),
                    None => return Ok(None),
                }
            }
        }
    }
    Ok(Some(columns))
}
