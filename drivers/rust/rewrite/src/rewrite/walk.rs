//! The walk over items, blocks and expressions.

use isobath_protocol::TargetKind;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, ExprBinary, ExprClosure, ExprIf, Item, Stmt};

use super::{Rewriter, SiteKind};

impl<'ast> Visit<'ast> for Rewriter<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !self.cfg.includes(attributes(item)) {
            return;
        }
        match item {
            Item::Fn(item) => {
                self.function(&item.sig, &item.block);
            }
            Item::Const(item) => self.in_constant(|walk| walk.visit_expr(&item.expr)),
            Item::Static(item) => self.in_constant(|walk| walk.visit_expr(&item.expr)),
            Item::Impl(item) => {
                let name = self.source_of(&self.range(item.self_ty.span())).to_owned();
                self.functions.push(name);
                visit::visit_item_impl(self, item);
                self.functions.pop();
            }
            Item::Trait(item) => {
                self.functions.push(item.ident.to_string());
                visit::visit_item_trait(self, item);
                self.functions.pop();
            }
            Item::Mod(item) => {
                if let Some((_, items)) = &item.content {
                    items.iter().for_each(|item| self.visit_item(item));
                }
            }
            Item::Macro(item) => self.macro_item(&item.mac),
            // Nothing else holds code that runs; discriminants and the like are constants.
            _ => {}
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if self.cfg.includes(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.in_constant(|walk| walk.visit_expr(&item.expr));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let (true, Some(block)) = (self.cfg.includes(&item.attrs), &item.default) {
            self.function(&item.sig, block);
        }
    }

    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_impl_item_macro(&mut self, item: &'ast syn::ImplItemMacro) {
        self.macro_item(&item.mac);
    }

    fn visit_trait_item_macro(&mut self, item: &'ast syn::TraitItemMacro) {
        self.macro_item(&item.mac);
    }

    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_block(&mut self, block: &'ast Block) {
        for stmt in &block.stmts {
            self.statement(stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        // Attributes on expressions are rare and may mean anything.
        match expr {
            Expr::Binary(binary) => self.binary(expr, binary),
            Expr::If(branch) => self.if_(branch),
            Expr::While(repeat) => {
                self.condition(&repeat.cond, false);
                self.visit_block(&repeat.body);
            }
            Expr::Match(choice) => self.match_(choice),
            Expr::MethodCall(call) => self.method(expr, call),
            Expr::Call(call) => self.function_call(expr, call),
            Expr::Try(question) => self.question(expr, question),
            Expr::Closure(closure) => self.closure(closure),
            Expr::Async(body) => {
                let range = self.range(body.block.span());
                let before = self.asynchronous.replace(range);
                self.visit_block(&body.block);
                self.asynchronous = before;
            }
            Expr::Macro(call) => self.macro_call(&call.mac),
            Expr::Index(index) => {
                self.fault(expr.span(), expr.span(), "index");
                visit::visit_expr_index(self, index);
                self.named_index(index);
            }
            Expr::Let(condition) => self.visit_expr(&condition.expr),
            Expr::Cast(cast) => self.visit_expr(&cast.expr),
            Expr::Repeat(repeat) => self.visit_expr(&repeat.expr),
            Expr::Const(_) | Expr::Verbatim(_) | Expr::Lit(_) | Expr::Path(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }
}

impl Rewriter<'_> {
    fn function(&mut self, signature: &syn::Signature, block: &Block) {
        self.functions.push(signature.ident.to_string());
        let body = signature
            .asyncness
            .as_ref()
            .map(|_| self.range(block.span()));
        let outside = std::mem::replace(&mut self.asynchronous, body);
        if signature.constness.is_some() {
            self.in_constant(|walk| walk.visit_block(block));
        } else {
            let before = std::mem::replace(&mut self.constant, false);
            self.visit_block(block);
            self.constant = before;
        }
        self.asynchronous = outside;
        self.functions.pop();
    }

    /// Walks what is evaluated by the compiler; only closures in it run.
    fn in_constant(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.constant, true);
        walk(self);
        self.constant = before;
    }

    fn statement(&mut self, stmt: &Stmt) {
        let attributes: &[Attribute] = match stmt {
            Stmt::Local(local) => &local.attrs,
            Stmt::Item(item) => {
                self.visit_item(item);
                return;
            }
            Stmt::Expr(expr, _) => expr_attributes(expr),
            Stmt::Macro(call) => &call.attrs,
        };
        if !self.cfg.includes(attributes) {
            return;
        }
        let range = self.range(stmt.span());
        // Before an attribute nothing can be put: it would move to what is put there.
        if !self.source_of(&range).starts_with('#') && self.allowed(SiteKind::Hit, &range) {
            let target = self.targets(&[TargetKind::Statement], stmt.span(), &range);
            let text = format!("{} ", Self::hit(target));
            self.insert(range.start, text);
        }
        match stmt {
            Stmt::Local(local) => {
                if let Some(init) = &local.init {
                    self.visit_expr(&init.expr);
                    if let Some((_, diverge)) = &init.diverge {
                        self.visit_expr(diverge);
                    }
                }
            }
            Stmt::Expr(expr, _) => self.visit_expr(expr),
            Stmt::Macro(call) => self.macro_call(&call.mac),
            Stmt::Item(_) => {}
        }
    }

    fn binary(&mut self, expr: &Expr, binary: &ExprBinary) {
        match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.condition(&binary.left, false);
                self.condition(&binary.right, false);
            }
            BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_) => self.comparison(expr, binary),
            _ => {
                self.fault(expr.span(), expr.span(), "arithmetic");
                self.visit_expr(&binary.left);
                self.visit_expr(&binary.right);
            }
        }
    }

    fn if_(&mut self, branch: &ExprIf) {
        self.condition(&branch.cond, false);
        let matching = has_let(&branch.cond) && !self.constant;
        if !matching {
            self.visit_block(&branch.then_branch);
            if let Some((_, otherwise)) = &branch.else_branch {
                self.visit_expr(otherwise);
            }
            return;
        }
        // `if let` is a branch like others: its body is one outcome, `else` the other.
        let range = self.range(branch.cond.span());
        let target = self.targets(
            &[TargetKind::True, TargetKind::False],
            branch.cond.span(),
            &range,
        );
        self.count(true);
        let body = self.range(branch.then_branch.brace_token.span.open());
        self.insert(body.end, format!(" {}", Self::hit(target)));
        self.visit_block(&branch.then_branch);
        match &branch.else_branch {
            None => {
                let end = self.range(branch.then_branch.brace_token.span.close()).end;
                self.insert(end, format!(" else {{ {} }}", Self::hit(target + 1)));
            }
            Some((_, otherwise)) => {
                if let Expr::Block(block) = &**otherwise {
                    let start = self.range(block.block.brace_token.span.open()).end;
                    self.insert(start, format!(" {}", Self::hit(target + 1)));
                } else {
                    let mark = self.edits.len();
                    self.visit_expr(otherwise);
                    let range = self.range(otherwise.span());
                    let inner = self.rendered(mark, range.clone());
                    self.edits.truncate(mark);
                    let text = format!("{{ {} {inner} }}", Self::hit(target + 1));
                    self.replace(SiteKind::Hit, otherwise.span(), range, &text);
                    return;
                }
                self.visit_expr(otherwise);
            }
        }
    }

    fn closure(&mut self, closure: &ExprClosure) {
        let before = std::mem::replace(&mut self.constant, closure.constness.is_some());
        let outside = self.asynchronous.take();
        let range = self.range(closure.body.span());
        let block = matches!(*closure.body, Expr::Block(_));
        let typed = matches!(closure.output, syn::ReturnType::Type(..));
        if block || typed || !self.allowed(SiteKind::Hit, &range) {
            self.visit_expr(&closure.body);
        } else {
            let mark = self.edits.len();
            let target = self.targets(&[TargetKind::Statement], closure.body.span(), &range);
            self.visit_expr(&closure.body);
            let inner = self.rendered(mark, range.clone());
            self.edits.truncate(mark);
            let text = format!("{{ {} {inner} }}", Self::hit(target));
            self.replace(SiteKind::Hit, closure.body.span(), range, &text);
        }
        self.asynchronous = outside;
        self.constant = before;
    }
}

fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(paren) => has_let(&paren.expr),
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of a statement that is an expression.
fn expr_attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Block(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::If(e) => &e.attrs,
        Expr::Loop(e) => &e.attrs,
        Expr::Macro(e) => &e.attrs,
        Expr::Match(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Return(e) => &e.attrs,
        Expr::Unsafe(e) => &e.attrs,
        Expr::While(e) => &e.attrs,
        _ => &[],
    }
}
