//! Rows of values: compared part by part.

use sqlparser::ast::Expr as Ast;

use super::expr::ExprConverter;
use crate::expr::{CompareOp, Expr};

impl ExprConverter<'_> {
    /// `(a, b) = (c, d)` and the other relations, as conditions on the parts.
    pub(super) fn rows_compared(
        &mut self,
        ast: &Ast,
        op: CompareOp,
        left: &Ast,
        right: &Ast,
    ) -> Expr {
        let (Some(left), Some(right)) = (self.row(left), self.row(right)) else {
            return self.opaque(ast, "a row is compared with something else");
        };
        if left.len() != right.len() {
            return self.opaque(ast, "its rows have different numbers of values");
        }
        match op {
            CompareOp::Equal => equal(&left, &right),
            CompareOp::NotEqual => Expr::Not(Box::new(equal(&left, &right))),
            op => ordered(op, &left, &right),
        }
    }

    /// `(a, b) IN ((1, 2), (3, 4))`.
    pub(super) fn rows_in(&mut self, ast: &Ast, x: &Ast, list: &[Ast], negated: bool) -> Expr {
        let Some(left) = self.row(x) else {
            return self.opaque(ast, "it is no row of values");
        };
        let mut any = Vec::with_capacity(list.len());
        for item in list {
            match self.row(item) {
                Some(right) if right.len() == left.len() => any.push(equal(&left, &right)),
                _ => return self.opaque(ast, "its rows have different numbers of values"),
            }
        }
        let any = match any.len() {
            1 => any.remove(0),
            _ => Expr::Or(any),
        };
        if negated {
            Expr::Not(Box::new(any))
        } else {
            any
        }
    }

    fn row(&mut self, ast: &Ast) -> Option<Vec<Expr>> {
        match ast {
            Ast::Tuple(parts) => Some(parts.iter().map(|part| self.expr(part)).collect()),
            Ast::Nested(inner) => self.row(inner),
            _ => None,
        }
    }
}

fn compare(op: CompareOp, left: &Expr, right: &Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left.clone()),
        right: Box::new(right.clone()),
    }
}

fn equal(left: &[Expr], right: &[Expr]) -> Expr {
    let mut parts: Vec<Expr> = left
        .iter()
        .zip(right)
        .map(|(left, right)| compare(CompareOp::Equal, left, right))
        .collect();
    match parts.len() {
        1 => parts.remove(0),
        _ => Expr::And(parts),
    }
}

/// The first parts that differ decide.
fn ordered(op: CompareOp, left: &[Expr], right: &[Expr]) -> Expr {
    let strict = match op {
        CompareOp::LessOrEqual => CompareOp::Less,
        CompareOp::GreaterOrEqual => CompareOp::Greater,
        op => op,
    };
    match (left, right) {
        ([a], [b]) => compare(op, a, b),
        ([a, rest @ ..], [b, others @ ..]) => Expr::Or(vec![
            compare(strict, a, b),
            Expr::And(vec![
                compare(CompareOp::Equal, a, b),
                ordered(op, rest, others),
            ]),
        ]),
        _ => Expr::Literal(crate::value::Value::Null),
    }
}
