//! Conditions: comparisons, and leaves of which only the verdict is known.

use isobath_protocol::TargetKind;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprBinary, Lit, UnOp};

use super::{Rewriter, SiteKind};
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
        let told = self.allowed(SiteKind::Flag, &range);
        self.count(told);
        if !told {
            return;
        }
        let inner = self.rendered(mark, range.clone());
        self.edits.truncate(mark);
        let target = self.targets(&[TargetKind::True, TargetKind::False], expr.span(), &range);
        let name = if negated { "flagn" } else { "flag" };
        let text = format!("::isobath_rt::{name}({}, {inner})", text::target(target));
        self.replace(SiteKind::Flag, expr.span(), range, &text);
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
        let apart = self.allowed(SiteKind::Comparison, &range)
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
        let operands = [
            (&*binary.left, &*binary.right),
            (&*binary.right, &*binary.left),
        ];
        let [copies_left, copies_right] =
            operands.map(|(operand, other)| self.is_copied(operand, other));
        let copied = (copies_left || copies_right) && self.allowed(SiteKind::Copy, &range);
        let borrowed = |copies: bool, operand: String| {
            if copies && copied {
                format!("&::isobath_rt::copied({operand})")
            } else {
                format!("&({operand})")
            }
        };
        let coerced = wrapped_value(&binary.right);
        let left = borrowed(copies_left, self.rendered(mark, left));
        let right = self.rendered(mark, right);
        self.edits.truncate(mark);
        let target = self.targets(&[TargetKind::True, TargetKind::False], expr.span(), &range);
        let target = text::target(target);
        let record =
            format!("::isobath_rt::c(__fl, __fr).cmp({target}, {relation}, *__fl {sign} *__fr)");
        // `Some(&string)` is coerced to the type of the other side, which a borrow would prevent.
        let text = if coerced {
            format!(
                "(match {left} {{ __fl => match &::isobath_rt::like(__fl,{before}{after} {right}) {{ __fr => {record} }} }})"
            )
        } else {
            let right = borrowed(copies_right, right);
            format!("(match ({left},{before}{after} {right}) {{ (__fl, __fr) => {record} }})")
        };
        let shape = if copied {
            SiteKind::Copy
        } else {
            SiteKind::Comparison
        };
        self.replace(shape, expr.span(), range, &text);
    }

    /// Whether an operand had better be copied: a variable that is borrowed once is kept in the
    /// future from there to its end, at every await, and the future of the service would grow.
    fn is_copied(&self, operand: &Expr, other: &Expr) -> bool {
        let Some(body) = &self.asynchronous else {
            return false;
        };
        let Expr::Path(path) = operand else {
            return false;
        };
        let Some(name) = path.path.get_ident() else {
            return false;
        };
        let body = self.source_of(body);
        let number =
            matches!(other, Expr::Lit(lit) if matches!(lit.lit, Lit::Int(_) | Lit::Float(_)));
        body.contains(".await") && (number || !is_borrowed(body, &name.to_string()))
    }
}

/// Whether a variable seems to be borrowed somewhere in a body: by `&` or as a receiver. What
/// cannot be copied nearly always is, so that few guesses cost a round.
fn is_borrowed(body: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices(name).any(|(at, _)| {
        let before = body[..at].trim_end();
        let after = &body[at + name.len()..];
        let whole = !body[..at].ends_with(is_word) && !after.starts_with(is_word);
        let receiver = after
            .trim_start()
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
        let borrow = before.ends_with('&') && !before.ends_with("&&") || before.ends_with("&mut");
        whole && (receiver || borrow)
    })
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

#[cfg(test)]
mod tests {
    use crate::cfg::Cfg;
    use crate::rewrite::{SiteKind, SkippedSites, rewrite};

    fn text(source: &str, skip: &SkippedSites) -> String {
        let rewritten = rewrite("shop", "a.rs", source, &Cfg::default(), skip);
        rewritten.expect("it parses").number(0).text
    }

    #[test]
    fn a_variable_that_nothing_else_borrows_is_copied_before_an_await() {
        let check = |source: &str, copied: bool| {
            let text = text(source, &SkippedSites::default());
            assert_eq!(text.contains("copied("), copied, "{text}");
        };
        check(
            "async fn f(owner: i64, id: i64) { if owner == id {} g().await; }",
            true,
        );
        check(
            "fn f() { let f = async { if owner == id {} g().await; }; }",
            true,
        );
        check("async fn f(owner: i64) { if owner == id {} }", false);
        check("fn f(owner: i64, id: i64) { if owner == id {} }", false);
        check(
            "async fn f() { if name == other { h(&name, &other) } g().await; }",
            false,
        );
        check(
            "async fn f() { if name == 7 { h(&name) } g().await; }",
            true,
        );
        check("async fn f() { let h = |a| a == b; g().await; }", false);
        check("async fn f() { if name.x == \"a\" {} g().await; }", false);
    }

    #[test]
    fn what_cannot_be_copied_is_borrowed_in_the_next_round() {
        let source = "async fn f() { if name == other {} g().await; }";
        let at = source.find("name").expect("it is there");
        let mut skip = SkippedSites::default();
        skip.sites
            .insert((SiteKind::Copy, at, at + "name == other".len()));
        let text = text(source, &skip);
        assert!(text.contains("&(name)") && text.contains(".cmp("), "{text}");
    }
}
