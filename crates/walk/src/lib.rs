//! The walk over the syntax trees of SQL statements, compiled once for all visitors.
//!
//! It stands between `sqlparser`, which derives a walk over more than 500 types, and `sql`, which has visitors. The walk
//! of `sqlparser` is generic over the visitor, so each visitor would compile a copy of it. Here visitors are called
//! through a trait object. That is a third of what `sql` would hand to the compiler, and it is a crate of its own because
//! it need not be optimized where `sql` has to be (`docs/design/build-time.md`).
//!
//! This crate does not know what a tree means.
//!
//! # Reading order
//!
//! [`TreeVisitor`] and [`Tree`], then [`TreeMutator`], which may change what it visits.
//!
//! # Example
//!
//! ```
//! use isobath_walk::relations;
//! use sqlparser::{dialect::GenericDialect, parser::Parser};
//!
//! let tree = Parser::parse_sql(&GenericDialect {}, "SELECT 1 FROM a WHERE x IN (SELECT y FROM b)").unwrap();
//! let mut names = Vec::new();
//! relations(&tree[0], &mut |name| names.push(name.to_string()));
//! assert_eq!(names, ["a", "b"]);
//! ```

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Query, Statement, Visit, VisitMut, Visitor, VisitorMut};

/// What is called on the way. These are the calls of [`Visitor`] that somebody needs.
pub trait TreeVisitor {
    /// Before the parts of a query.
    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// After the parts of a query.
    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// At the name of a table.
    fn pre_visit_relation(&mut self, _: &ObjectName) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Before the parts of an expression.
    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// After the parts of an expression.
    fn post_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Before the parts of a statement.
    fn pre_visit_statement(&mut self, _: &Statement) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What can be walked over.
pub trait Tree {
    /// Calls a visitor on the way over this tree.
    fn walk(&self, visitor: &mut dyn TreeVisitor) -> ControlFlow<()>;
}

impl Tree for Statement {
    fn walk(&self, visitor: &mut dyn TreeVisitor) -> ControlFlow<()> {
        self.visit(&mut Walk(visitor))
    }
}

impl Tree for Query {
    fn walk(&self, visitor: &mut dyn TreeVisitor) -> ControlFlow<()> {
        self.visit(&mut Walk(visitor))
    }
}

impl Tree for Expr {
    fn walk(&self, visitor: &mut dyn TreeVisitor) -> ControlFlow<()> {
        self.visit(&mut Walk(visitor))
    }
}

/// Calls a function with every expression of a tree.
pub fn expressions(tree: &dyn Tree, visit: &mut dyn FnMut(&Expr)) {
    struct Expressions<'f>(&'f mut dyn FnMut(&Expr));
    impl TreeVisitor for Expressions<'_> {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            (self.0)(expr);
            ControlFlow::Continue(())
        }
    }
    let _ = tree.walk(&mut Expressions(visit));
}

/// Calls a function with the name of every relation in a tree.
pub fn relations(tree: &dyn Tree, visit: &mut dyn FnMut(&ObjectName)) {
    struct Relations<'f>(&'f mut dyn FnMut(&ObjectName));
    impl TreeVisitor for Relations<'_> {
        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
            (self.0)(name);
            ControlFlow::Continue(())
        }
    }
    let _ = tree.walk(&mut Relations(visit));
}

/// What is called on the way, and may change the tree. These are the calls of [`VisitorMut`] that somebody needs.
pub trait TreeMutator {
    /// Before the parts of a query.
    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()>;

    /// After the parts of a query.
    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()>;

    /// Before the parts of an expression.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()>;
}

/// Calls a visitor that may change the query on the way over it.
pub fn walk_mut(query: &mut Query, mutator: &mut dyn TreeMutator) -> ControlFlow<()> {
    query.visit(&mut WalkMut(mutator))
}

struct WalkMut<'v>(&'v mut dyn TreeMutator);

impl VisitorMut for WalkMut<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.0.pre_visit_query(query)
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.0.post_visit_query(query)
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.0.pre_visit_expr(expr)
    }
}

struct Walk<'v>(&'v mut dyn TreeVisitor);

impl Visitor for Walk<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.0.pre_visit_query(query)
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.0.post_visit_query(query)
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        self.0.pre_visit_relation(name)
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0.pre_visit_expr(expr)
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0.post_visit_expr(expr)
    }

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        self.0.pre_visit_statement(statement)
    }
}
