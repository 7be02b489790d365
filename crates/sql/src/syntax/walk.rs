//! The walk over `sqlparser`'s trees, compiled once.
//!
//! `Visit::visit` is generic over the visitor: each visitor of ours would compile a copy of the walk over every type of
//! the tree. Here they are called through one trait object instead.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Query, Statement, Visit, Visitor};

/// What is called on the way. These are the calls of [`Visitor`] that somebody needs.
pub(crate) trait TreeVisitor {
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

/// Walks over a tree.
pub(crate) fn walk(tree: &impl Visit, visitor: &mut dyn TreeVisitor) -> ControlFlow<()> {
    tree.visit(&mut Walk(visitor))
}

/// Calls a function with every expression of a tree.
pub(crate) fn expressions(tree: &impl Visit, visit: &mut dyn FnMut(&Expr)) {
    struct Expressions<'f>(&'f mut dyn FnMut(&Expr));
    impl TreeVisitor for Expressions<'_> {
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            (self.0)(expr);
            ControlFlow::Continue(())
        }
    }
    let _ = walk(tree, &mut Expressions(visit));
}

/// Calls a function with the name of every relation in a tree.
pub(crate) fn relations(tree: &impl Visit, visit: &mut dyn FnMut(&ObjectName)) {
    struct Relations<'f>(&'f mut dyn FnMut(&ObjectName));
    impl TreeVisitor for Relations<'_> {
        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
            (self.0)(name);
            ControlFlow::Continue(())
        }
    }
    let _ = walk(tree, &mut Relations(visit));
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
