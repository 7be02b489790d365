//! Macros whose arguments are expressions are looked into, others are left alone.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, Macro, Pat, Token};

use super::Rewriter;

const OF_EXPRESSIONS: [&str; 16] = [
    "format",
    "print",
    "println",
    "eprint",
    "eprintln",
    "write",
    "writeln",
    "vec",
    "bail",
    "anyhow",
    "join",
    "try_join",
    "format_args",
    "panic",
    "unreachable",
    "dbg",
];
const PANICKING: [&str; 10] = [
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
];

impl Rewriter<'_> {
    pub(super) fn macro_call(&mut self, call: &Macro) {
        let name = call
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string())
            .unwrap_or_default();
        if PANICKING.contains(&name.as_str()) {
            self.fault(call.span(), call.path.span(), "panic");
        }
        // `dbg!` prints its argument's text, so it is looked at but not changed.
        if name == "matches" {
            self.matches_call(call);
        } else if name == "ensure" {
            self.ensure(call);
        } else if OF_EXPRESSIONS.contains(&name.as_str()) && name != "dbg" {
            let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
            match parser.parse2(call.tokens.clone()) {
                Ok(arguments) => arguments
                    .iter()
                    .for_each(|argument| self.argument(argument)),
                Err(_) => self.opaque(&call.tokens),
            }
        } else {
            self.opaque(&call.tokens);
        }
    }

    /// A named argument looks like an assignment.
    fn argument(&mut self, argument: &Expr) {
        match argument {
            Expr::Assign(named) => self.visit_expr(&named.right),
            argument => self.visit_expr(argument),
        }
    }

    fn matches_call(&mut self, call: &Macro) {
        let parser = |input: ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard: Option<Expr> = if input.peek(Token![if]) {
                input.parse::<Token![if]>()?;
                Some(input.parse()?)
            } else {
                None
            };
            input.parse::<Option<Token![,]>>()?;
            Ok((value, pattern, guard))
        };
        match parser.parse2(call.tokens.clone()) {
            Ok((value, pattern, guard)) => {
                self.matches(&value, &pattern);
                if let Some(guard) = guard {
                    self.condition(&guard, false);
                }
            }
            Err(_) => self.opaque(&call.tokens),
        }
    }

    /// Without a message of its own `ensure!` prints its condition, which must not change.
    fn ensure(&mut self, call: &Macro) {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        match parser.parse2(call.tokens.clone()) {
            Ok(arguments) if arguments.len() > 1 => {
                for (n, argument) in arguments.iter().enumerate() {
                    if n == 0 {
                        self.condition(argument, false);
                    } else {
                        self.argument(argument);
                    }
                }
            }
            _ => self.opaque(&call.tokens),
        }
    }

    /// A macro among items. Of `macro_rules!` only what it expands to is code.
    pub(super) fn macro_item(&mut self, call: &Macro) {
        if !call.path.is_ident("macro_rules") {
            self.opaque(&call.tokens);
            return;
        }
        let mut expands = false;
        for token in call.tokens.clone() {
            match token {
                TokenTree::Punct(punct) => expands = punct.as_char() == '>',
                TokenTree::Group(group) if expands => self.opaque(&group.stream()),
                _ => expands = false,
            }
        }
    }

    /// Counts what looks like a branch in a macro that is not looked into.
    fn opaque(&mut self, tokens: &TokenStream) {
        let mut after_equals = false;
        // `$(…)?` says how often something is repeated.
        let (mut dollar, mut repeated) = (false, false);
        for token in tokens.clone() {
            let mut equals = false;
            let (after_dollar, after_repeated) = (dollar, repeated);
            (dollar, repeated) = (false, false);
            match token {
                TokenTree::Ident(ident) => {
                    if ident == "if" || ident == "while" || ident == "match" {
                        self.counts.in_macros += 1;
                    }
                }
                TokenTree::Punct(punct) => {
                    dollar = punct.as_char() == '$';
                    equals = matches!(punct.as_char(), '=' | '!' | '<' | '>')
                        && punct.spacing() == proc_macro2::Spacing::Joint;
                    let question = punct.as_char() == '?' && !after_repeated;
                    if question || (after_equals && punct.as_char() == '=') {
                        self.counts.in_macros += 1;
                    }
                }
                TokenTree::Group(group) => {
                    repeated = after_dollar;
                    self.opaque(&group.stream());
                }
                TokenTree::Literal(_) => {}
            }
            after_equals = equals;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cfg::Cfg;
    use crate::rewrite::{SkippedSites, rewrite};

    #[test]
    fn branches_that_macros_expand_to_are_counted_as_not_told() {
        let source = "macro_rules! word {
    ($($word:literal)? $(,)?) => { match read()? { $($word)? => 1, _ if a == b => 2 } };
}
words! { One = \"1\" }
";
        let rewritten = rewrite(
            "shop",
            "a.rs",
            source,
            &Cfg::default(),
            &SkippedSites::default(),
        );
        let counts = rewritten.expect("it parses").counts;
        assert_eq!((counts.instrumented, counts.in_macros), (0, 4));
    }
}
