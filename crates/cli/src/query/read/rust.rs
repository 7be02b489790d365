//! Reads queries from Rust source: the string literals passed to sqlx macros and functions.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprLit, ImplItemFn, ItemFn, Lit, LitStr, Macro};

use isobath_rows::query::cover::QueryText;

/// The queries of a Rust file, named after the functions that they stand in.
pub(super) fn read(text: &str, file: &str) -> Vec<QueryText> {
    let parsed = match syn::parse_file(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            return vec![QueryText {
                id: file.to_owned(),
                line: error.span().start().line as u64,
                broken: Some(format!("this is no Rust: {error}")),
                ..QueryText::default()
            }];
        }
    };
    let mut found = QueryCollector {
        file,
        function: Vec::new(),
        given: Vec::new(),
    };
    found.visit_file(&parsed);
    found.given
}

struct QueryCollector<'a> {
    file: &'a str,
    function: Vec<String>,
    given: Vec<QueryText>,
}

/// Where in the arguments of a sqlx macro or function the SQL stands.
fn position(name: &str, is_macro: bool) -> Option<usize> {
    match name {
        "query" | "query_scalar" | "query_unchecked" | "query_scalar_unchecked" | "query_with" => {
            Some(0)
        }
        "query_as" | "query_as_unchecked" => Some(usize::from(is_macro)),
        _ => None,
    }
}

impl QueryCollector<'_> {
    fn add(&mut self, literal: &LitStr) {
        let sql = literal.value();
        let word = sql.split_whitespace().next().unwrap_or_default();
        let starts = ["SELECT", "WITH", "UPDATE", "DELETE", "INSERT"];
        if !starts.iter().any(|start| word.eq_ignore_ascii_case(start)) {
            return;
        }
        let line = literal.span().start().line as u64;
        let id = match self.function.last() {
            Some(function) => function.clone(),
            None => format!("{}:{line}", self.file),
        };
        self.given.push(QueryText {
            id,
            sql,
            line,
            encoded: true,
            ..QueryText::default()
        });
    }

    fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.function.push(name);
        visit(self);
        self.function.pop();
    }
}

impl<'ast> Visit<'ast> for QueryCollector<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.within(item.sig.ident.to_string(), |found| {
            visit::visit_item_fn(found, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.within(item.sig.ident.to_string(), |found| {
            visit::visit_impl_item_fn(found, item);
        });
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        let name = item.path.segments.last().map(|last| last.ident.to_string());
        let at = name.and_then(|name| position(&name, true));
        if let Some(literal) = at.and_then(|at| argument(item.tokens.clone(), at)) {
            self.add(&literal);
        }
        visit::visit_macro(self, item);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let name = path.path.segments.last().map(|last| last.ident.to_string());
            let at = name.and_then(|name| position(&name, false));
            if let Some(Expr::Lit(ExprLit {
                lit: Lit::Str(literal),
                ..
            })) = at.and_then(|at| call.args.iter().nth(at))
            {
                self.add(literal);
            }
        }
        visit::visit_expr_call(self, call);
    }
}

/// The string literal at one argument of a macro; `"a" + "b"` is joined, as sqlx joins it.
fn argument(tokens: TokenStream, at: usize) -> Option<LitStr> {
    let mut index = 0;
    let mut text: Option<(String, Span)> = None;
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => {
                if index == at {
                    break;
                }
                index += 1;
            }
            TokenTree::Punct(punct) if punct.as_char() == '+' && text.is_some() => {}
            other if index == at => {
                let literal: LitStr = syn::parse2(TokenStream::from(other)).ok()?;
                match &mut text {
                    Some((text, _)) => text.push_str(&literal.value()),
                    None => text = Some((literal.value(), literal.span())),
                }
            }
            _ => {}
        }
    }
    text.map(|(text, span)| LitStr::new(&text, span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_macros_and_functions_are_found_by_function() {
        let text = r##"
            async fn big(pool: &Pool) {
                sqlx::query!("SELECT id FROM orders WHERE total > $1", 5).fetch_all(pool);
            }
            impl Shop {
                fn named() {
                    sqlx::query_as::<_, Row>(r#"SELECT * FROM "people""#);
                    query_as!(Row, "SELECT 1 " + "FROM people");
                    println!("SELECT not this");
                }
            }
        "##;
        let found: Vec<_> = read(text, "lib")
            .into_iter()
            .map(|given| (given.id, given.line, given.sql))
            .collect();
        let expected = [
            ("big", 3, "SELECT id FROM orders WHERE total > $1"),
            ("named", 7, "SELECT * FROM \"people\""),
            ("named", 8, "SELECT 1 FROM people"),
        ];
        let expected = expected.map(|(id, line, sql)| (id.to_owned(), line, sql.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn text_that_is_no_rust_is_said_to_be_none() {
        let found = read("fn {", "lib");
        assert!(
            found[0]
                .broken
                .as_ref()
                .is_some_and(|why| why.contains("no Rust"))
        );
    }
}
