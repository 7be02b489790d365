//! From SQL text to a query with its names resolved.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sqlparser::ast::{
    self, Distinct, LimitClause, OrderByKind, SetExpr, SetOperator, SetQuantifier, Spanned,
    Statement,
};
use sqlparser::tokenizer::{Location, Span};

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::schema::Schema;
use crate::syntax::UnsupportedSyntax;

use super::grouping;
use super::model::{From, Grouping, JoinKind, OrderBy, Query, QueryBody, Select, SetOp};
use super::output::{order_key, output_names, output_position, set_types};
use super::read_slots;
use super::scope::Scope;

/// Why a query cannot be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResolveError {
    /// It does not parse.
    #[error("{message}")]
    Syntax {
        /// What the parser said.
        message: String,
        /// Where.
        span: Option<Span>,
    },
    /// A table that the schema does not have.
    #[error("unknown table `{name}` in the schema")]
    UnknownTable {
        /// Its name.
        name: String,
        /// Where.
        span: Span,
    },
    /// A name that several tables have.
    #[error("column `{name}` is ambiguous; qualify it with the table name")]
    Ambiguous {
        /// The name.
        name: String,
        /// Where.
        span: Span,
    },
    /// Something that we do not evaluate, or a name that means nothing.
    #[error("`{what}`: {why}")]
    Unsupported {
        /// The construct.
        what: String,
        /// Why not.
        why: String,
        /// Where.
        span: Option<Span>,
    },
}

impl ResolveError {
    pub(super) fn of_problem(problem: UnsupportedSyntax) -> Self {
        Self::Unsupported {
            what: problem.input,
            why: problem.why,
            span: Some(problem.span),
        }
    }

    /// The line and column of the trouble, from one, where they are known.
    pub fn location(&self) -> Option<(u64, u64)> {
        let span = match self {
            Self::Syntax { span, .. } | Self::Unsupported { span, .. } => (*span)?,
            Self::UnknownTable { span, .. } | Self::Ambiguous { span, .. } => *span,
        };
        (span.start.line > 0).then_some((span.start.line, span.start.column))
    }
}

/// Parses one statement and resolves its reading part.
///
/// # Errors
///
/// When it does not parse, names something unknown, or uses what we do not evaluate.
pub fn parse(sql: &str, schema: &Schema, dialect: DialectName) -> Result<Query, ResolveError> {
    parse_as(sql, schema, dialect, dialect)
}

/// Parses one statement written in the syntax of one dialect, and resolves it for the rules of another.
///
/// # Errors
///
/// As for [`parse`].
pub fn parse_as(
    sql: &str,
    schema: &Schema,
    syntax: DialectName,
    dialect: DialectName,
) -> Result<Query, ResolveError> {
    let (statement, _) = crate::ddl::parse::with_parameters(sql, syntax).map_err(syntax_error)?;
    match statement {
        Statement::Query(query) => resolve(&query, schema, dialect),
        other => Err(ResolveError::Unsupported {
            what: other.to_string(),
            why: "expected a query".to_owned(),
            span: Some(other.span()),
        }),
    }
}

/// What the parser said, as the reason why a query cannot be evaluated.
pub(super) fn syntax_error(error: crate::ddl::parse::SyntaxError) -> ResolveError {
    let at = Location::new(error.line, error.column);
    ResolveError::Syntax {
        message: error.why,
        span: Some(Span::new(at, at)),
    }
}

/// Resolves a parsed query.
///
/// # Errors
///
/// As for [`parse`].
pub fn resolve(
    query: &ast::Query,
    schema: &Schema,
    dialect: DialectName,
) -> Result<Query, ResolveError> {
    let resolver = Resolver {
        schema,
        dialect,
        ctes: Vec::new(),
        working: Vec::new(),
        recursions: &Cell::default(),
        parameters: &RefCell::default(),
    };
    resolver.query(query, None).map(|(query, _)| query)
}

/// What stays the same while a query is resolved.
#[derive(Clone)]
pub(super) struct Resolver<'a> {
    pub(super) schema: &'a Schema,
    pub(super) dialect: DialectName,
    /// Common table expressions in sight, the nearest last; each sees those before it.
    pub(super) ctes: Vec<CteDefinition<'a>>,
    /// The recursive ones whose definition is being resolved.
    pub(super) working: Vec<RecursiveCte<'a>>,
    /// How many recursive queries there were so far.
    pub(super) recursions: &'a Cell<usize>,
    parameters: &'a RefCell<ParameterNames>,
}

/// A common table expression.
#[derive(Clone, Copy)]
pub(super) struct CteDefinition<'a> {
    pub(super) cte: &'a ast::Cte,
    /// Whether its WITH is RECURSIVE.
    pub(super) recursive: bool,
}

/// A recursive common table expression inside its own definition.
#[derive(Clone)]
pub(super) struct RecursiveCte<'a> {
    pub(super) cte: &'a ast::Cte,
    pub(super) number: usize,
    /// Its first operand, which says what its columns are.
    pub(super) first: Rc<Query>,
    /// Whether the second operand reads it.
    pub(super) used: Rc<Cell<bool>>,
}

/// Parameters met so far: unnamed ones are counted, named ones are numbered by first mention, and
/// `?3` and `$3` say their number themselves.
#[derive(Default)]
struct ParameterNames {
    names: Vec<String>,
}

impl<'a> Resolver<'a> {
    /// The number of a parameter.
    pub(super) fn parameter(&self, name: &str) -> usize {
        let number = name.strip_prefix(['?', '$']);
        if let Some(number @ 1..) = number.and_then(|digits| digits.parse().ok()) {
            return number - 1;
        }
        let mut parameters = self.parameters.borrow_mut();
        let unnamed = matches!(name, "?" | "%s");
        let known = parameters.names.iter().position(|known| known == name);
        if let (false, Some(index)) = (unnamed, known) {
            return index;
        }
        parameters.names.push(name.to_owned());
        parameters.names.len() - 1
    }

    /// A subquery inside an expression of `scope`, and whether it looks outside.
    pub(super) fn nested(
        &self,
        query: &ast::Query,
        scope: &Scope<'_>,
    ) -> Result<(Query, bool), ResolveError> {
        self.query(query, Some(scope))
    }

    pub(super) fn query(
        &self,
        query: &ast::Query,
        parent: Option<&Scope<'_>>,
    ) -> Result<(Query, bool), ResolveError> {
        let mut inner: Resolver<'_> = Resolver {
            schema: self.schema,
            dialect: self.dialect,
            ctes: self.ctes.clone(),
            working: self.working.clone(),
            recursions: self.recursions,
            parameters: self.parameters,
        };
        if let Some(with) = &query.with {
            inner
                .ctes
                .extend(with.cte_tables.iter().map(|cte| CteDefinition {
                    cte,
                    recursive: with.recursive,
                }));
        }
        if !query.pipe_operators.is_empty() {
            return Err(unsupported(query, "pipe operators are not supported"));
        }
        let fetched = match &query.fetch {
            Some(fetch) if fetch.with_ties || fetch.percent || query.limit_clause.is_some() => {
                return Err(unsupported(
                    query,
                    "FETCH is evaluated for a number of rows and alone",
                ));
            }
            Some(fetch) => Some(match &fetch.quantity {
                Some(quantity) => Scope::new(&inner, parent).expr(quantity)?,
                None => Expr::int(1),
            }),
            None => None,
        };
        let order_by = match &query.order_by {
            None => &[][..],
            Some(ast::OrderBy {
                kind: OrderByKind::Expressions(keys),
                ..
            }) => keys.as_slice(),
            Some(_) => return Err(unsupported(query, "ORDER BY ALL is not supported")),
        };
        let (mut resolved, correlated) = inner.body(&query.body, order_by, parent)?;
        let scope = Scope::new(&inner, parent);
        let (limit, offset) = match &query.limit_clause {
            None => (None, None),
            Some(LimitClause::LimitOffset {
                limit,
                offset,
                limit_by,
            }) if limit_by.is_empty() => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(_) => return Err(unsupported(query, "LIMIT BY is not supported")),
        };
        resolved.limit = match limit {
            Some(limit) => Some(scope.expr(limit)?),
            None => fetched,
        };
        resolved.offset = offset.map(|offset| scope.expr(offset)).transpose()?;
        Ok((resolved, correlated))
    }

    pub(super) fn body(
        &self,
        body: &SetExpr,
        order_by: &[ast::OrderByExpr],
        parent: Option<&Scope<'_>>,
    ) -> Result<(Query, bool), ResolveError> {
        let plain = |body| Query {
            body,
            order_by: Vec::new(),
            limit: None,
            offset: None,
        };
        match body {
            SetExpr::Select(select) => self.select(select, order_by, parent),
            SetExpr::Query(query) if order_by.is_empty() => self.query(query, parent),
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } => {
                let (left, left_correlated) = self.body(left, &[], parent)?;
                let (right, right_correlated) = self.body(right, &[], parent)?;
                let op = match op {
                    SetOperator::Union => SetOp::Union,
                    SetOperator::Intersect => SetOp::Intersect,
                    SetOperator::Except | SetOperator::Minus => SetOp::Except,
                };
                let all = match set_quantifier {
                    SetQuantifier::All => true,
                    SetQuantifier::Distinct | SetQuantifier::None => false,
                    _ => return Err(unsupported(body, "BY NAME is not supported")),
                };
                set_types(&left, &right, self.dialect).map_err(|why| unsupported(body, why))?;
                let names: Vec<String> = output_names(&left);
                let order_by = order_by
                    .iter()
                    .map(|key| {
                        order_key(key, output_position(&key.expr, &names), || {
                            Err(unsupported(
                                &key.expr,
                                "after a set operation only result columns can be ordered by",
                            ))
                        })
                    })
                    .collect::<Result<_, _>>()?;
                let body = QueryBody::Set {
                    op,
                    all,
                    left: Box::new(left),
                    right: Box::new(right),
                    recursive: None,
                };
                Ok((
                    Query {
                        order_by,
                        ..plain(body)
                    },
                    left_correlated || right_correlated,
                ))
            }
            SetExpr::Values(values) => {
                let scope = Scope::new(self, parent);
                let rows = values
                    .rows
                    .iter()
                    .map(|row| row.content.iter().map(|value| scope.expr(value)).collect())
                    .collect::<Result<_, ResolveError>>()?;
                Ok((plain(QueryBody::Values(rows)), scope.correlated.get()))
            }
            other => Err(unsupported(other, "expected a query")),
        }
    }

    fn select(
        &self,
        select: &ast::Select,
        order_by: &[ast::OrderByExpr],
        parent: Option<&Scope<'_>>,
    ) -> Result<(Query, bool), ResolveError> {
        let mut scope = Scope::new(self, parent);
        scope.named_windows = &select.named_window;
        let mut from = None;
        for tables in &select.from {
            let next = self.tables(tables, &mut scope, parent)?;
            from = Some(match from {
                None => next,
                Some(left) => From::Join {
                    kind: JoinKind::Inner,
                    left: Box::new(left),
                    right: Box::new(next),
                    on: None,
                },
            });
        }
        let computed = scope.width.get();
        if select.qualify.is_some() || select.top.is_some() || !select.lateral_views.is_empty() {
            return Err(unsupported(
                select,
                "QUALIFY, TOP and LATERAL VIEW are not supported",
            ));
        }
        let distinct = matches!(select.distinct, Some(Distinct::Distinct));
        let filter = select
            .selection
            .as_ref()
            .map(|filter| scope.expr(filter))
            .transpose()?;
        scope.nothing_computed(select)?;
        let items = self.items(select, &scope)?;
        *scope.aliases.borrow_mut() = items
            .iter()
            .map(|item| (item.name.clone(), item.expr.clone()))
            .collect();
        let (keys, sets) = self.group_keys(select, &items, &scope)?;
        // PostgreSQL knows no alias in HAVING.
        scope
            .aliases_visible
            .set(self.dialect != DialectName::Postgres);
        let having = select
            .having
            .as_ref()
            .map(|having| scope.expr(having))
            .transpose()?;
        scope.aliases_visible.set(true);
        let names: Vec<String> = items.iter().map(|item| item.name.clone()).collect();
        let mut order_by = order_by
            .iter()
            .map(|key| {
                order_key(key, output_position(&key.expr, &names), || {
                    scope.expr(&key.expr).map(OrderBy::Expr)
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let distinct_on = match &select.distinct {
            Some(Distinct::On(exprs)) => exprs
                .iter()
                .map(|expr| match position(expr) {
                    Some(at) if at > 0 && at <= items.len() => Ok(items[at - 1].expr.clone()),
                    _ => scope.expr(expr),
                })
                .collect::<Result<_, _>>()?,
            _ => Vec::new(),
        };
        let aggregates = scope.aggregates.take();
        // HAVING makes one group of all rows; in MySQL it is a second WHERE instead.
        let grouped = !aggregates.is_empty()
            || !keys.is_empty()
            || (having.is_some() && self.dialect != DialectName::MySql);
        if grouped
            && aggregates.is_empty()
            && keys.is_empty()
            && self.dialect == DialectName::Sqlite
        {
            return Err(unsupported(select, "HAVING without groups or aggregates"));
        }
        let mut resolved = Select {
            base: scope.base,
            width: scope.width.get(),
            computed,
            from,
            filter,
            grouping: grouped.then_some(Grouping {
                keys,
                sets: None,
                aggregates,
            }),
            having,
            windows: scope.windows.take(),
            items,
            distinct,
            distinct_on,
            subqueries: scope.subqueries.take(),
            read_slots: Vec::new(),
            shows: Vec::new(),
        };
        if let Some(sets) = sets {
            grouping::split_grouping_sets(&mut resolved, &mut order_by, sets);
        }
        (resolved.read_slots, resolved.shows) = read_slots::of(&resolved, &order_by);
        let query = Query {
            body: QueryBody::Select(Box::new(resolved)),
            order_by,
            limit: None,
            offset: None,
        };
        Ok((query, scope.correlated.get()))
    }
}

/// A position in the select list that GROUP BY names.
pub(super) fn position(key: &ast::Expr) -> Option<usize> {
    match key {
        ast::Expr::Value(ast::ValueWithSpan {
            value: ast::Value::Number(number, _),
            ..
        }) => number.parse().ok(),
        _ => None,
    }
}

pub(super) fn unsupported(what: &(impl Spanned + std::fmt::Display), why: &str) -> ResolveError {
    ResolveError::Unsupported {
        what: what.to_string(),
        why: why.to_owned(),
        span: Some(what.span()),
    }
}
