//! What the names in a FROM clause stand for.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use sqlparser::ast::{self, JoinConstraint, JoinOperator, Spanned, TableFactor, TableWithJoins};

use crate::dialect::DialectName;
use crate::expr::{ColumnRef, CompareOp, Expr};
use crate::syntax::last_part;

use super::model::{From, JoinKind, Query, QueryBody, SetOp};
use super::output::{outputs, set_types};
use super::resolve::{CteDefinition, RecursiveCte, ResolveError, Resolver, unsupported};
use super::scope::{Scope, ScopedRelation};

impl Resolver<'_> {
    pub(super) fn tables(
        &self,
        tables: &TableWithJoins,
        scope: &mut Scope<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<From, ResolveError> {
        let first = scope.relations.len();
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
                _ => return Err(unsupported(join, "this kind of join is not supported")),
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
                    let on = merge(scope, first..before, &names, kind, self.dialect);
                    Some(on.ok_or_else(|| {
                        unsupported(join, "a column of USING is not on both sides")
                    })?)
                }
                JoinConstraint::Natural => {
                    let left: Vec<&str> = column_names(&scope.relations[first..before]);
                    let names: Vec<String> = column_names(&scope.relations[before..])
                        .into_iter()
                        .filter(|name| left.iter().any(|other| other.eq_ignore_ascii_case(name)))
                        .map(str::to_owned)
                        .collect();
                    if names.is_empty() {
                        None
                    } else {
                        let on = merge(scope, first..before, &names, kind, self.dialect);
                        Some(on.ok_or_else(|| {
                            unsupported(join, "a column of the natural join is not on both sides")
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
                let cte = self.ctes.iter().rposition(|common| {
                    common
                        .cte
                        .alias
                        .name
                        .value
                        .eq_ignore_ascii_case(&table_name)
                });
                if let Some(position) = cte.filter(|_| name.0.len() == 1) {
                    return self.common(position, known_as, scope, parent);
                }
                let table = self.schema.table_index(&table_name).ok_or_else(|| {
                    ResolveError::UnknownTable {
                        name: table_name,
                        span: name.span(),
                    }
                })?;
                let slot = scope.width.get();
                let definition = &scope.schema().tables[table];
                let columns: Vec<ColumnRef> = definition
                    .columns
                    .iter()
                    .enumerate()
                    .map(|(index, column)| ColumnRef {
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
                scope.relations.push(ScopedRelation {
                    alias: known_as,
                    columns,
                    merged: Vec::new(),
                });
                Ok(from)
            }
            TableFactor::Derived {
                lateral,
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
                let (query, correlated) = if *lateral {
                    self.query(subquery, Some(scope))?
                } else {
                    self.query(subquery, parent)?
                };
                if correlated && !lateral {
                    scope.correlated.set(true);
                }
                if *lateral && reaches_out(&query, scope.base) {
                    scope.correlated.set(true);
                }
                let lateral = *lateral;
                Ok(derived(query, (known_as, lateral, None), &renamed, scope))
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

    /// A common table expression sees those before it, and itself when it is recursive.
    fn common(
        &self,
        position: usize,
        alias: String,
        scope: &mut Scope<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<From, ResolveError> {
        let CteDefinition { cte, recursive } = self.ctes[position];
        let renamed: Vec<String> = cte
            .alias
            .columns
            .iter()
            .map(|column| column.name.value.clone())
            .collect();
        let working = self
            .working
            .iter()
            .rfind(|working| std::ptr::eq(working.cte, cte));
        if let Some(working) = working {
            working.used.set(true);
            let first = Query::clone(&working.first);
            let place = (alias, false, Some(working.number));
            return Ok(derived(first, place, &renamed, scope));
        }
        let mut visible = self.clone();
        visible.ctes.truncate(position);
        let (query, correlated) = match &*cte.query.body {
            ast::SetExpr::SetOperation {
                op: ast::SetOperator::Union,
                left,
                set_quantifier,
                right,
            } if recursive && cte.query.with.is_none() => {
                let all = matches!(set_quantifier, ast::SetQuantifier::All);
                match visible.recursive(self.ctes[position], [left, right], all, parent)? {
                    Some(both)
                        if cte.query.order_by.is_none() && cte.query.limit_clause.is_none() =>
                    {
                        both
                    }
                    Some(_) => {
                        return Err(unsupported(
                            &*cte.query,
                            "ORDER BY and LIMIT inside a recursive query are not supported",
                        ));
                    }
                    None => visible.query(&cte.query, parent)?,
                }
            }
            _ => visible.query(&cte.query, parent)?,
        };
        if correlated {
            scope.correlated.set(true);
        }
        Ok(derived(query, (alias, false, None), &renamed, scope))
    }

    /// A query whose second operand reads what it has found so far; `None` when it does not.
    fn recursive(
        &self,
        common: CteDefinition<'_>,
        [left, right]: [&ast::SetExpr; 2],
        all: bool,
        parent: Option<&Scope<'_>>,
    ) -> Result<Option<(Query, bool)>, ResolveError> {
        let mut inner: Resolver<'_> = self.clone();
        inner.ctes.push(common);
        let (first, correlated) = self.body(left, &[], parent)?;
        let number = self.recursions.get();
        self.recursions.set(number + 1);
        let used = Rc::new(Cell::new(false));
        inner.working.push(RecursiveCte {
            cte: common.cte,
            number,
            first: Rc::new(first.clone()),
            used: Rc::clone(&used),
        });
        let (step, step_correlated) = inner.body(right, &[], parent)?;
        if !used.get() {
            return Ok(None);
        }
        set_types(&first, &step, self.dialect).map_err(|why| unsupported(right, why))?;
        if self.dialect == DialectName::MySql && grows(&step) {
            return Err(unsupported(
                right,
                "MariaDB cuts text that grows in a recursive query",
            ));
        }
        let query = Query {
            body: QueryBody::Set {
                op: SetOp::Union,
                all,
                left: Box::new(first),
                right: Box::new(step),
                recursive: Some(number),
            },
            order_by: Vec::new(),
            limit: None,
            offset: None,
        };
        Ok(Some((query, correlated || step_correlated)))
    }
}

/// Whether a query computes text, which may get longer from round to round.
fn grows(query: &Query) -> bool {
    match &query.body {
        QueryBody::Select(select) => select.items.iter().any(|item| {
            !matches!(item.expr, Expr::Column(_))
                && item
                    .data_type
                    .as_ref()
                    .is_none_or(|data_type| !data_type.is_numeric())
        }),
        _ => true,
    }
}

/// Whether a query reads a slot of the row that encloses the SELECT whose slots begin at `base`.
fn reaches_out(query: &Query, base: usize) -> bool {
    let mut found = false;
    query.each_expr(&mut |expr| {
        found |= matches!(expr, Expr::Column(column) if column.slot < base);
    });
    found
}

/// Puts the result of a query among the relations, under an alias, perhaps LATERAL or read round by round.
fn derived(
    query: Query,
    (alias, lateral, working): (String, bool, Option<usize>),
    renamed: &[String],
    scope: &mut Scope<'_>,
) -> From {
    let slot = scope.width.get();
    let columns: Vec<ColumnRef> = outputs(&query)
        .into_iter()
        .enumerate()
        .map(|(index, (name, column))| ColumnRef {
            slot: slot + index,
            name: renamed.get(index).cloned().unwrap_or(name),
            ..column
        })
        .collect();
    scope.width.set(slot + columns.len());
    let from = From::Derived {
        query: Box::new(query),
        lateral,
        working,
        alias: alias.clone(),
        slot,
        columns: columns.len(),
    };
    scope.relations.push(ScopedRelation {
        alias,
        columns,
        merged: Vec::new(),
    });
    from
}

/// The equalities of USING; an unqualified name then means the side that has a row, or both.
fn merge(
    scope: &mut Scope<'_>,
    left: Range<usize>,
    names: &[String],
    kind: JoinKind,
    dialect: DialectName,
) -> Option<Expr> {
    let before = left.end;
    let find = |relations: &[ScopedRelation], name: &str| {
        relations
            .iter()
            .flat_map(|relation| {
                relation
                    .columns
                    .iter()
                    .map(move |column| (relation, column))
            })
            .find(|(relation, column)| {
                let hidden = |merged: &String| merged.eq_ignore_ascii_case(name);
                column.name.eq_ignore_ascii_case(name) && !relation.merged.iter().any(hidden)
            })
            .map(|(_, column)| Expr::Column(column.clone()))
    };
    let mut equalities = Vec::new();
    let mut merged = Vec::new();
    for name in names {
        let known = scope
            .merged
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        let l = match known {
            Some((_, expr)) => expr.clone(),
            None => find(&scope.relations[left.clone()], name)?,
        };
        let r = find(&scope.relations[before..], name)?;
        let both = Expr::Function {
            name: "coalesce".to_owned(),
            args: vec![l.clone(), r.clone()],
        };
        merged.push((
            name.clone(),
            match kind {
                JoinKind::Inner | JoinKind::Left => l.clone(),
                JoinKind::Right if dialect == DialectName::Sqlite => both,
                JoinKind::Right => r.clone(),
                JoinKind::Full => both,
            },
        ));
        equalities.push(Expr::Compare {
            op: CompareOp::Equal,
            left: Box::new(l),
            right: Box::new(r),
        });
    }
    if kind == JoinKind::Right && dialect == DialectName::MySql {
        let end = scope.relations.len();
        scope.turned.push([left.start, before, end]);
    }
    for relation in &mut scope.relations[left.start..] {
        relation.merged.extend(names.iter().cloned());
    }
    // The names of the last join come first.
    scope
        .merged
        .retain(|(known, _)| !names.iter().any(|name| name.eq_ignore_ascii_case(known)));
    merged.append(&mut scope.merged);
    scope.merged = merged;
    Some(if equalities.len() == 1 {
        equalities.remove(0)
    } else {
        Expr::And(equalities)
    })
}

fn column_names(relations: &[ScopedRelation]) -> Vec<&str> {
    relations
        .iter()
        .flat_map(|relation| relation.columns.iter().map(|column| column.name.as_str()))
        .collect()
}
