//! `match`: each arm is a target, and literals have a distance.

use isobath_protocol::TargetKind;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Arm, Expr, ExprMatch, Lit, Pat, RangeLimits};

use super::{Rewriter, SiteKind};
use crate::text;

impl Rewriter<'_> {
    pub(super) fn match_(&mut self, choice: &ExprMatch) {
        let arms: Vec<&Arm> = choice
            .arms
            .iter()
            .filter(|arm| self.cfg.includes(&arm.attrs))
            .collect();
        let range = self.range(choice.expr.span());
        let literals: Vec<Option<Vec<String>>> =
            arms.iter().map(|arm| literals(&arm.pat)).collect();
        let apart = literals.iter().any(Option::is_some)
            && arms
                .iter()
                .zip(&literals)
                .all(|(arm, literals)| literals.is_some() || plain(&arm.pat));
        let told = apart && self.allowed(SiteKind::Match, &range);
        if !self.constant {
            self.count(!apart || told);
        }
        let mark = self.edits.len();
        self.visit_expr(&choice.expr);
        // The arms with literals have consecutive numbers, in their order.
        let mut numbers: Vec<Option<u32>> = vec![None; arms.len()];
        if told {
            let mut first = None;
            for ((arm, literals), number) in arms.iter().zip(&literals).zip(&mut numbers) {
                if literals.is_some() {
                    let at = self.range(arm.pat.span());
                    let target = self.targets(&[TargetKind::Arm], arm.pat.span(), &at);
                    first.get_or_insert(target);
                    *number = Some(target);
                }
            }
            if let Some(first) = first {
                let of_arms: Vec<String> = literals
                    .iter()
                    .flatten()
                    .map(|of_arm| format!("&[{}]", of_arm.join(", ")))
                    .collect();
                self.watch_value(choice, mark, first, &of_arms);
            }
        }
        for (arm, number) in arms.into_iter().zip(numbers) {
            if let Some((_, guard)) = &arm.guard {
                self.condition(guard, false);
            }
            self.arm(arm, number);
        }
    }

    /// Shows the value that is matched to the runtime.
    fn watch_value(&mut self, choice: &ExprMatch, mark: usize, first: u32, arms: &[String]) {
        let range = self.range(choice.expr.span());
        let inner = self.rendered(mark, range.clone());
        self.edits.truncate(mark);
        let text = format!(
            "(match ({inner}) {{ __fs => {{ ::isobath_rt::arms({}, &__fs, &[{}]); __fs }} }})",
            text::target(first),
            arms.join(", ")
        );
        self.replace(SiteKind::Match, choice.expr.span(), range, &text);
    }

    fn arm(&mut self, arm: &Arm, number: Option<u32>) {
        let body = self.range(arm.body.span());
        if !self.allowed(SiteKind::Hit, &body) {
            self.visit_expr(&arm.body);
            return;
        }
        let target = number.unwrap_or_else(|| {
            let at = self.range(arm.pat.span());
            self.targets(&[TargetKind::Arm], arm.pat.span(), &at)
        });
        if let Expr::Block(block) = &*arm.body
            && block.label.is_none()
            && block.attrs.is_empty()
        {
            let start = self.range(block.block.brace_token.span.open()).end;
            self.insert(start, format!(" {}", Self::hit(target)));
            self.visit_block(&block.block);
            return;
        }
        let mark = self.edits.len();
        self.visit_expr(&arm.body);
        let inner = self.rendered(mark, body.clone());
        self.edits.truncate(mark);
        let text = format!("{{ {} {inner} }}", Self::hit(target));
        self.replace(SiteKind::Hit, arm.body.span(), body, &text);
    }

    /// `matches!(value, pattern)` whose pattern is of literals.
    pub(super) fn matches(&mut self, value: &Expr, pattern: &Pat) {
        let mark = self.edits.len();
        self.visit_expr(value);
        let range = self.range(value.span());
        let Some(literals) = literals(pattern) else {
            return;
        };
        if !self.allowed(SiteKind::Match, &range) {
            return;
        }
        let at = self.range(pattern.span());
        let target = self.targets(&[TargetKind::Arm], pattern.span(), &at);
        let inner = self.rendered(mark, range.clone());
        self.edits.truncate(mark);
        let text = format!(
            "(match ({inner}) {{ __fs => {{ ::isobath_rt::among({}, &__fs, &[{}]); __fs }} }})",
            text::target(target),
            literals.join(", ")
        );
        self.replace(SiteKind::Match, value.span(), range, &text);
    }
}

/// The literals of a pattern that is made of nothing else, as the runtime writes them.
fn literals(pattern: &Pat) -> Option<Vec<String>> {
    match pattern {
        Pat::Lit(lit) => literal(&lit.lit).map(|literal| vec![literal]),
        Pat::Or(or) => {
            let all: Option<Vec<Vec<String>>> = or.cases.iter().map(literals).collect();
            all.map(|all| all.concat())
        }
        Pat::Paren(paren) => literals(&paren.pat),
        Pat::TupleStruct(of) if of.path.is_ident("Some") && of.elems.len() == 1 => {
            of.elems.first().and_then(literals)
        }
        Pat::Range(range) => {
            let number = |expr: &Option<Box<Expr>>| match expr.as_deref() {
                Some(Expr::Lit(lit)) => match &lit.lit {
                    Lit::Int(int) => int.base10_parse::<i64>().ok(),
                    _ => None,
                },
                _ => None,
            };
            let (low, high) = (number(&range.start)?, number(&range.end)?);
            let high = match range.limits {
                RangeLimits::Closed(_) => high,
                RangeLimits::HalfOpen(_) => high.checked_sub(1)?,
            };
            Some(vec![format!("::isobath_rt::Val::R({low}, {high})")])
        }
        _ => None,
    }
}

fn literal(lit: &Lit) -> Option<String> {
    Some(match lit {
        Lit::Str(text) => format!("::isobath_rt::Val::S({:?})", text.value()),
        Lit::Char(c) => format!("::isobath_rt::Val::C({:?})", c.value()),
        Lit::Int(int) => format!("::isobath_rt::Val::I({})", int.base10_parse::<i64>().ok()?),
        _ => return None,
    })
}

/// Whether a pattern binds or ignores what then surely can be copied.
fn plain(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(ident) => ident.by_ref.is_none() && ident.subpat.is_none(),
        Pat::Path(path) => path.path.is_ident("None"),
        Pat::TupleStruct(of) if of.path.is_ident("Some") => of.elems.iter().all(plain),
        Pat::Or(or) => or
            .cases
            .iter()
            .all(|case| plain(case) || literals(case).is_some()),
        _ => false,
    }
}
