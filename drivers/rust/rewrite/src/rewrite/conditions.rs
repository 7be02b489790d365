//! Conditions: comparisons, and leaves of which only the verdict is known.

use isobath_protocol::Kind;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprBinary, UnOp};

use super::{Rewriter, Shape};
use crate::text;

impl Rewriter<'_> {
    /// Walks a condition down to its leaves. Under `!` a leaf need not be a `bool`.
    pub(super) fn condition(&mut self, expr: &Expr, negated: bool) {
        match expr {
            Expr::Paren(paren) if paren.attrs.is_empty() => self.condition(&paren.expr, negated),
            Expr::Binary(binary)
                if matches!(
                    binary.op,
                    BinOp::And(_)
                        | BinOp::Or(_)
                        | BinOp::Eq(_)
                        | BinOp::Ne(_)
                        | BinOp::Lt(_)
                        | BinOp::Le(_)
                        | BinOp::Gt(_)
                        | BinOp::Ge(_)
                ) =>
            {
                self.visit_expr(expr);
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                self.condition(&unary.expr, true);
            }
            Expr::Let(_)
            | Expr::Lit(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_)
            | Expr::Verbatim(_) => self.visit_expr(expr),
            Expr::MethodCall(call) if self.tells(call) => self.visit_expr(expr),
            _ => self.leaf(expr, negated),
        }
    }

    /// A condition of which only the verdict is known.
    pub(super) fn leaf(&mut self, expr: &Expr, negated: bool) {
        let mark = self.edits.len();
        self.visit_expr(expr);
        self.flag(expr, mark, negated);
    }

    /// Puts a flag around an expression whose children were walked since `mark`.
    pub(super) fn flag(&mut self, expr: &Expr, mark: usize, negated: bool) {
        let range = self.range(expr.span());
        let told = self.allowed(Shape::Flag, &range);
        self.count(told);
        if !told {
            return;
        }
        let inner = self.rendered(mark, range.clone());
        self.edits.truncate(mark);
        let target = self.targets(&[Kind::True, Kind::False], expr.span(), &range);
        let name = if negated { "flagn" } else { "flag" };
        let text = format!("::isobath_rt::{name}({}, {inner})", text::target(target));
        self.replace(Shape::Flag, expr.span(), range, &text);
    }

    pub(super) fn comparison(&mut self, expr: &Expr, binary: &ExprBinary) {
        let mark = self.edits.len();
        self.visit_expr(&binary.left);
        self.visit_expr(&binary.right);
        let range = self.range(expr.span());
        let (left, right) = (
            self.range(binary.left.span()),
            self.range(binary.right.span()),
        );
        // A borrow of the left operand must not live across an await in the right one.
        let apart = self.allowed(Shape::Comparison, &range)
            && binary.attrs.is_empty()
            && !self.source_of(&right).contains(".await");
        if !apart {
            self.flag(expr, mark, false);
            return;
        }
        self.count(true);
        let operator = self.range(binary.op.span());
        let (relation, sign) = match binary.op {
            BinOp::Eq(_) => (0, "=="),
            BinOp::Ne(_) => (1, "!="),
            BinOp::Lt(_) => (2, "<"),
            BinOp::Le(_) => (3, "<="),
            BinOp::Gt(_) => (4, ">"),
            _ => (5, ">="),
        };
        let before = self.breaks(left.end..operator.start);
        let after = self.breaks(operator.end..right.start);
        let left = self.rendered(mark, left);
        let right = self.rendered(mark, right);
        self.edits.truncate(mark);
        let target = self.targets(&[Kind::True, Kind::False], expr.span(), &range);
        let target = text::target(target);
        let record =
            format!("::isobath_rt::c(__fl, __fr).cmp({target}, {relation}, *__fl {sign} *__fr)");
        // `Some(&string)` is coerced to the type of the other side, which a borrow would prevent.
        let text = if wrapped_value(&binary.right) {
            format!(
                "(match &({left}) {{ __fl => match &::isobath_rt::like(__fl,{before}{after} {right}) {{ __fr => {record} }} }})"
            )
        } else {
            format!("(match (&({left}),{before}{after} &({right})) {{ (__fl, __fr) => {record} }})")
        };
        self.replace(Shape::Comparison, expr.span(), range, &text);
    }
}

/// `Some(…)`, `Ok(…)` or `Err(…)`.
fn wrapped_value(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    ["Some", "Ok", "Err"]
        .iter()
        .any(|name| path.path.is_ident(name))
}
