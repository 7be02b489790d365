//! What the names in a FROM clause stand for.

use sqlparser::ast::{self, JoinConstraint, JoinOperator, Spanned, TableFactor, TableWithJoins};

use crate::expr::{ColumnUse, CompareOp, Expr};
use crate::syntax::last_part;

use super::model::{From, JoinKind};
use super::output::outputs;
use super::resolve::{ResolveError, Resolver, unsupported};
use super::scope::{Relation, Scope};

impl Resolver<'_> {
    pub(super) fn tables(
        &self,
        tables: &TableWithJoins,
        scope: &mut Scope<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<From, ResolveError> {
        let mut from = self.factor(&tables.relation, scope, parent)?;
        for join in &tables.joins {
            let before = scope.relations.len();
            let right = self.factor(&join.relation, scope, parent)?;
            let (kind, constraint) = match &join.join_operator {
                JoinOperator::Join(on)
                | JoinOperator::Inner(on)
                | JoinOperator::StraightJoin(on) => (JoinKind::Inner, on),
                JoinOperator::CrossJoin(on) => (JoinKind::Inner, on),
                JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (JoinKind::Left, on),
                JoinOperator::Right(on) | JoinOperator::RightOuter(on) => (JoinKind::Right, on),
                JoinOperator::FullOuter(on) => (JoinKind::Full, on),
                _ => return Err(unsupported(join, "this kind of join is not evaluated")),
            };
            let on = match constraint {
                JoinConstraint::None => None,
                JoinConstraint::On(on) => {
                    let on = scope.expr(on)?;
                    scope.nothing_computed(join)?;
                    Some(on)
                }
                JoinConstraint::Using(names) => {
                    let names: Vec<String> = names.iter().map(last_part).collect();
                    Some(merge(scope, before, &names, kind).ok_or_else(|| {
                        unsupported(
                            join,
                            "a column of USING is not on both sides, or the join is RIGHT or FULL",
                        )
                    })?)
                }
                JoinConstraint::Natural => {
                    let left: Vec<&str> = column_names(&scope.relations[..before]);
                    let names: Vec<String> = column_names(&scope.relations[before..])
                        .into_iter()
                        .filter(|name| left.iter().any(|other| other.eq_ignore_ascii_case(name)))
                        .map(str::to_owned)
                        .collect();
                    if names.is_empty() {
                        None
                    } else {
                        Some(merge(scope, before, &names, kind).ok_or_else(|| {
                            unsupported(join, "a RIGHT or FULL natural join is not evaluated")
                        })?)
                    }
                }
            };
            from = From::Join {
                kind,
                left: Box::new(from),
                right: Box::new(right),
                on,
            };
        }
        Ok(from)
    }

    fn factor(
        &self,
        factor: &TableFactor,
        scope: &mut Scope<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<From, ResolveError> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                ..
            } => {
                let table_name = last_part(name);
                let known_as = alias
                    .as_ref()
                    .map_or_else(|| table_name.clone(), |alias| alias.name.value.clone());
                let cte = self
                    .ctes
                    .iter()
                    .rposition(|cte| cte.alias.name.value.eq_ignore_ascii_case(&table_name));
                if let Some(position) = cte.filter(|_| name.0.len() == 1) {
                    // A common table expression sees those before it, not itself.
                    let mut visible = self.clone();
                    visible.ctes.truncate(position);
                    let cte = self.ctes[position];
                    let renamed: Vec<String> = cte
                        .alias
                        .columns
                        .iter()
                        .map(|column| column.name.value.clone())
                        .collect();
                    return visible.derived(&cte.query, known_as, &renamed, scope, parent);
                }
                let table = self.schema.table_index(&table_name).ok_or_else(|| {
                    ResolveError::UnknownTable {
                        name: table_name,
                        span: name.span(),
                    }
                })?;
                let slot = scope.width.get();
                let definition = &scope.schema().tables[table];
                let columns: Vec<ColumnUse> = definition
                    .columns
                    .iter()
                    .enumerate()
                    .map(|(index, column)| ColumnUse {
                        slot: slot + index,
                        name: column.name.clone(),
                        data_type: column.data_type.clone(),
                        collation: column.collation.clone(),
                    })
                    .collect();
                scope.width.set(slot + columns.len());
                let from = From::Table {
                    table,
                    alias: known_as.clone(),
                    slot,
                    columns: columns.len(),
                };
                scope.relations.push(Relation {
                    alias: known_as,
                    columns,
                    merged: Vec::new(),
                });
                Ok(from)
            }
            TableFactor::Derived {
                lateral: false,
                subquery,
                alias,
                ..
            } => {
                let known_as = alias
                    .as_ref()
                    .map_or_else(String::new, |alias| alias.name.value.clone());
                let renamed: Vec<String> = alias
                    .iter()
                    .flat_map(|alias| alias.columns.iter().map(|column| column.name.value.clone()))
                    .collect();
                self.derived(subquery, known_as, &renamed, scope, parent)
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => self.tables(table_with_joins, scope, parent),
            other => Err(unsupported(
                other,
                "only tables, queries and joins of them are evaluated in FROM",
            )),
        }
    }

    /// A derived table: it sees what the SELECT around it sees from outside, but not its neighbours.
    fn derived(
        &self,
        query: &ast::Query,
        alias: String,
        renamed: &[String],
        scope: &mut Scope<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<From, ResolveError> {
        let (query, correlated) = self.query(query, parent)?;
        if correlated {
            scope.correlated.set(true);
        }
        let slot = scope.width.get();
        let columns: Vec<ColumnUse> = outputs(&query)
            .into_iter()
            .enumerate()
            .map(|(index, (name, column))| ColumnUse {
                slot: slot + index,
                name: renamed.get(index).cloned().unwrap_or(name),
                ..column
            })
            .collect();
        scope.width.set(slot + columns.len());
        let from = From::Derived {
            query: Box::new(query),
            alias: alias.clone(),
            slot,
            columns: columns.len(),
        };
        scope.relations.push(Relation {
            alias,
            columns,
            merged: Vec::new(),
        });
        Ok(from)
    }
}

/// The equalities of USING; unqualified names then mean the left column.
fn merge(scope: &mut Scope<'_>, before: usize, names: &[String], kind: JoinKind) -> Option<Expr> {
    // The merged column of a RIGHT or FULL join is a COALESCE, which is not a plain column.
    if matches!(kind, JoinKind::Right | JoinKind::Full) {
        return None;
    }
    let find = |relations: &[Relation], name: &str| {
        relations
            .iter()
            .flat_map(|relation| &relation.columns)
            .find(|column| column.name.eq_ignore_ascii_case(name))
            .cloned()
    };
    let mut equalities = Vec::new();
    for name in names {
        let left = find(&scope.relations[..before], name)?;
        let right = find(&scope.relations[before..], name)?;
        equalities.push(Expr::Compare {
            op: CompareOp::Equal,
            left: Box::new(Expr::Column(left)),
            right: Box::new(Expr::Column(right)),
        });
    }
    for relation in &mut scope.relations[before..] {
        relation.merged.extend(names.iter().cloned());
    }
    Some(if equalities.len() == 1 {
        equalities.remove(0)
    } else {
        Expr::And(equalities)
    })
}

fn column_names(relations: &[Relation]) -> Vec<&str> {
    relations
        .iter()
        .flat_map(|relation| relation.columns.iter().map(|column| column.name.as_str()))
        .collect()
}
