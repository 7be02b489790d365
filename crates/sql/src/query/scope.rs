//! What names mean inside one SELECT.

use std::cell::{Cell, RefCell};

use sqlparser::ast::{self, Expr as Ast, Ident, ObjectName};

use crate::expr::{ColumnRef, CompareOp, Expr};
use crate::schema::Schema;
use crate::syntax::{ExprConverter, NameResolver};
use crate::types::DataType;
use crate::value::Value;

use super::model::{Aggregate, Subquery, SubqueryUsage, Window};
use super::resolve::{ResolveError, Resolver, unsupported};

/// The function that stands for a row of values, on the left of IN with a subquery.
pub(super) const ROW: &str = "row";

/// A relation of FROM as names see it.
#[derive(Clone, Debug)]
pub(super) struct ScopedRelation {
    pub(super) alias: String,
    pub(super) columns: Vec<ColumnRef>,
    /// Columns that USING or NATURAL merged into those of an earlier relation: found only by a qualified name.
    pub(super) merged: Vec<String>,
}

/// The names of one SELECT, and what its expressions have asked for so far.
pub(super) struct Scope<'a> {
    pub(super) resolver: &'a Resolver<'a>,
    pub(super) parent: Option<&'a Scope<'a>>,
    pub(super) base: usize,
    pub(super) relations: Vec<ScopedRelation>,
    /// Names of the select list, for clauses that may use them.
    pub(super) aliases: RefCell<Vec<(String, Expr)>>,
    pub(super) aliases_visible: Cell<bool>,
    /// The next free slot.
    pub(super) width: Cell<usize>,
    pub(super) subqueries: RefCell<Vec<Subquery>>,
    pub(super) aggregates: RefCell<Vec<(usize, Aggregate)>>,
    pub(super) windows: RefCell<Vec<Window>>,
    /// The WINDOW clause.
    pub(super) named_windows: &'a [ast::NamedWindowDefinition],
    /// What the names that USING and NATURAL merged stand for.
    pub(super) merged: Vec<(String, Expr)>,
    /// Ranges of relations of which `*` shows those from the middle on first: MySQL turns such right joins around.
    pub(super) turned: Vec<[usize; 3]>,
    /// Whether a name was found in an enclosing query.
    pub(super) correlated: Cell<bool>,
    /// The first thing that went wrong inside a hook, which can only say "no".
    pub(super) error: RefCell<Option<ResolveError>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(resolver: &'a Resolver<'a>, parent: Option<&'a Scope<'a>>) -> Self {
        let base = parent.map_or(0, |parent| parent.width.get());
        Self {
            resolver,
            parent,
            base,
            relations: Vec::new(),
            aliases: RefCell::default(),
            aliases_visible: Cell::new(false),
            width: Cell::new(base),
            subqueries: RefCell::default(),
            aggregates: RefCell::default(),
            windows: RefCell::default(),
            named_windows: &[],
            merged: Vec::new(),
            turned: Vec::new(),
            correlated: Cell::new(false),
            error: RefCell::default(),
        }
    }

    pub(super) fn schema(&self) -> &'a Schema {
        self.resolver.schema
    }

    /// Converts an expression in which the names of this scope hold.
    pub(super) fn expr(&self, ast: &Ast) -> Result<Expr, ResolveError> {
        let mut converter = ExprConverter::new(self, self.resolver.dialect);
        let expr = converter.expr(ast);
        if let Some(error) = self.error.borrow_mut().take() {
            return Err(error);
        }
        match converter.problems.into_iter().next() {
            Some(problem) => Err(ResolveError::of_problem(problem)),
            None => Ok(expr),
        }
    }

    /// A fresh slot behind all others.
    pub(super) fn slot(&self) -> usize {
        let slot = self.width.get();
        self.width.set(slot + 1);
        slot
    }

    /// How many aggregates and window functions were asked for so far.
    pub(super) fn computed(&self) -> (usize, usize) {
        (self.aggregates.borrow().len(), self.windows.borrow().len())
    }

    /// Whether a slot holds the result of an aggregate or window function.
    pub(super) fn is_computed(&self, slot: usize) -> bool {
        self.aggregates.borrow().iter().any(|(at, _)| *at == slot)
            || self
                .windows
                .borrow()
                .iter()
                .any(|window| window.slot == slot)
    }

    /// Refuses aggregates and window functions where rows are still being gathered.
    pub(super) fn nothing_computed(
        &self,
        place: &(impl ast::Spanned + std::fmt::Display),
    ) -> Result<(), ResolveError> {
        match self.computed() {
            (0, 0) => Ok(()),
            _ => Err(unsupported(
                place,
                "aggregates and window functions are not allowed in WHERE and ON",
            )),
        }
    }

    fn found(&self, path: &[Ident]) -> Result<Option<ColumnRef>, ResolveError> {
        let (name, qualifier) = match path {
            [name] => (name, None),
            [.., table, name] => (name, Some(table)),
            [] => return Ok(None),
        };
        if qualifier.is_none()
            && let Some((_, Expr::Column(column))) = self
                .merged
                .iter()
                .find(|(merged, _)| merged.eq_ignore_ascii_case(&name.value))
        {
            return Ok(Some(column.clone()));
        }
        let mut matches = Vec::new();
        for relation in &self.relations {
            if let Some(qualifier) = qualifier {
                if !relation.alias.eq_ignore_ascii_case(&qualifier.value) {
                    continue;
                }
            } else if relation
                .merged
                .iter()
                .any(|merged| merged.eq_ignore_ascii_case(&name.value))
            {
                continue;
            }
            matches.extend(
                relation
                    .columns
                    .iter()
                    .filter(|column| column.name.eq_ignore_ascii_case(&name.value)),
            );
        }
        match matches.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some((*only).clone())),
            [first, ..] if qualifier.is_some() => Ok(Some((*first).clone())),
            _ => Err(ResolveError::Ambiguous {
                name: name.value.clone(),
                span: name.span,
            }),
        }
    }

    fn fail(&self, error: ResolveError) {
        self.error.borrow_mut().get_or_insert(error);
    }

    fn subquery(&self, usage: SubqueryUsage, query: &ast::Query) -> Result<Expr, ResolveError> {
        let (query, correlated) = self.resolver.nested(query, self)?;
        let mut subqueries = self.subqueries.borrow_mut();
        subqueries.push(Subquery {
            usage,
            query,
            correlated,
        });
        Ok(Expr::Subquery(subqueries.len() - 1))
    }

    fn quantified(
        &self,
        left: &Ast,
        op: CompareOp,
        all: bool,
        query: &ast::Query,
    ) -> Result<Expr, ResolveError> {
        let left = match left {
            Ast::Tuple(parts) => Expr::Function {
                name: ROW.to_owned(),
                args: parts
                    .iter()
                    .map(|part| self.expr(part))
                    .collect::<Result<_, _>>()?,
            },
            left => self.expr(left)?,
        };
        let usage = if all {
            SubqueryUsage::All { left, op }
        } else {
            SubqueryUsage::Any { left, op }
        };
        self.subquery(usage, query)
    }

    fn special_expr(&self, ast: &Ast) -> Result<Option<Expr>, ResolveError> {
        match ast {
            Ast::Exists { subquery, negated } => {
                let exists = self.subquery(SubqueryUsage::Exists, subquery)?;
                Ok(Some(if *negated {
                    Expr::Not(Box::new(exists))
                } else {
                    exists
                }))
            }
            Ast::Subquery(query) => self.subquery(SubqueryUsage::Scalar, query).map(Some),
            Ast::InSubquery {
                expr,
                subquery,
                negated,
            } => {
                let op = if *negated {
                    CompareOp::NotEqual
                } else {
                    CompareOp::Equal
                };
                self.quantified(expr, op, *negated, subquery).map(Some)
            }
            Ast::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => match (crate::syntax::compare_op(compare_op), right.as_ref()) {
                (Some(op), Ast::Subquery(query)) => {
                    self.quantified(left, op, false, query).map(Some)
                }
                _ => Ok(None),
            },
            Ast::AllOp {
                left,
                compare_op,
                right,
            } => match (crate::syntax::compare_op(compare_op), right.as_ref()) {
                (Some(op), Ast::Subquery(query)) => {
                    self.quantified(left, op, true, query).map(Some)
                }
                _ => Ok(None),
            },
            Ast::Function(function) => self.call(function),
            Ast::Value(ast::ValueWithSpan {
                value: ast::Value::Placeholder(name),
                ..
            }) => Ok(Some(Expr::Parameter(self.resolver.parameter(name)))),
            _ => Ok(None),
        }
    }
}

impl NameResolver for Scope<'_> {
    fn column(&self, path: &[Ident]) -> Option<ColumnRef> {
        match self.found(path) {
            Ok(Some(column)) => return Some(column),
            Ok(None) => {}
            Err(error) => {
                self.fail(error);
                return None;
            }
        }
        let outer = self.parent?.column(path)?;
        self.correlated.set(true);
        Some(outer)
    }

    fn user_type(&self, name: &ObjectName) -> Option<DataType> {
        let _ = name;
        None
    }

    fn special(&self, ast: &Ast) -> Option<Expr> {
        if let (true, Ast::Identifier(ident)) = (self.aliases_visible.get(), ast) {
            // A column of the tables hides an alias of the select list.
            if matches!(self.found(std::slice::from_ref(ident)), Ok(None)) {
                let aliases = self.aliases.borrow();
                if let Some((_, expr)) = aliases
                    .iter()
                    .find(|(alias, _)| alias.eq_ignore_ascii_case(&ident.value))
                {
                    return Some(expr.clone());
                }
            }
        }
        if let Ast::Identifier(ident) = ast
            && let Some((_, merged)) = self
                .merged
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(&ident.value))
        {
            return Some(merged.clone());
        }
        match self.special_expr(ast) {
            Ok(expr) => expr,
            Err(error) => {
                self.fail(error);
                Some(Expr::Literal(Value::Null))
            }
        }
    }
}
