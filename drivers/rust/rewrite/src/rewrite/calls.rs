//! Replaced methods and functions, parsers, and `?`.

use isobath_protocol::TargetKind;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, ExprTry, Lit};

use super::{Rewriter, SiteKind};
use crate::text;

/// What a replaced method returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    Verdict,
    Option,
}

/// Methods of one argument, with the number that the runtime knows them by.
const METHODS: [(&str, u8, Returns); 14] = [
    ("contains", 0, Returns::Verdict),
    ("starts_with", 1, Returns::Verdict),
    ("ends_with", 2, Returns::Verdict),
    ("eq_ignore_ascii_case", 3, Returns::Verdict),
    ("contains_key", 4, Returns::Verdict),
    ("is_match", 5, Returns::Verdict),
    ("get", 4, Returns::Option),
    ("strip_prefix", 1, Returns::Option),
    ("strip_suffix", 2, Returns::Option),
    ("split_once", 0, Returns::Option),
    ("find", 0, Returns::Option),
    ("captures", 5, Returns::Option),
    ("cookie", 7, Returns::Option),
    ("pointer", 8, Returns::Option),
];

/// Functions that make something of a text.
const PARSERS: [&str; 7] = [
    "parse_str",
    "try_parse",
    "parse_from_rfc3339",
    "parse_from_rfc2822",
    "parse_from_str",
    "from_str",
    "strptime",
];

/// Types whose function `parse` makes one of a text; others of that name read files and the like.
const PARSED: [&str; 8] = [
    "Date",
    "Time",
    "OffsetDateTime",
    "PrimitiveDateTime",
    "UtcDateTime",
    "Url",
    "Version",
    "Uuid",
];

/// Functions that read a structure from a text, and what the runtime calls what they read.
const READERS: [(&str, &[&str], &str); 2] = [
    (
        "serde_json::",
        &["from_slice", "from_str", "from_reader", "from_value"],
        "json",
    ),
    (
        "serde_urlencoded::",
        &["from_str", "from_bytes", "from_reader"],
        "form",
    ),
];

impl Rewriter<'_> {
    /// Whether a call tells its verdict when it is walked, so that no flag is needed.
    pub(super) fn tells(&self, call: &ExprMethodCall) -> bool {
        let range = self.range(call.span());
        self.allowed(SiteKind::Method, &range)
            && (self.is_empty(call)
                || self
                    .replaced(call)
                    .is_some_and(|(_, returns)| returns == Returns::Verdict))
    }

    fn is_empty(&self, call: &ExprMethodCall) -> bool {
        call.method == "is_empty" && call.args.is_empty() && call.turbofish.is_none()
    }

    fn replaced(&self, call: &ExprMethodCall) -> Option<(u8, Returns)> {
        let method = call.method.to_string();
        let &(_, number, returns) = METHODS.iter().find(|(name, ..)| *name == method)?;
        let argument = call.args.first()?;
        if call.args.len() != 1 || call.turbofish.is_some() || !call.attrs.is_empty() {
            return None;
        }
        let known = match method.as_str() {
            // Other methods of these names take handlers, ranges and query expressions.
            "get" => key(argument),
            "cookie" | "pointer" => {
                matches!(argument, Expr::Lit(lit) if matches!(lit.lit, Lit::Str(_)))
            }
            "find" | "split_once" | "strip_prefix" | "strip_suffix" => {
                matches!(argument, Expr::Lit(_) | Expr::Path(_) | Expr::Reference(_))
            }
            "captures" | "is_match" => !matches!(argument, Expr::Closure(_)),
            _ => !matches!(argument, Expr::Closure(_) | Expr::Array(_) | Expr::Range(_)),
        };
        let range = self.range(argument.span());
        (known && !self.source_of(&range).contains(".await")).then_some((number, returns))
    }

    pub(super) fn method(&mut self, expr: &Expr, call: &ExprMethodCall) {
        let range = self.range(expr.span());
        if matches!(
            call.method.to_string().as_str(),
            "unwrap" | "expect" | "unwrap_err" | "expect_err"
        ) {
            self.fault(expr.span(), call.method.span(), "panic");
        }
        let mark = self.edits.len();
        self.visit_expr(&call.receiver);
        call.args
            .iter()
            .for_each(|argument| self.visit_expr(argument));
        if call.method == "parse" && call.args.is_empty() && call.attrs.is_empty() {
            self.parse(expr, call, mark);
            return;
        }
        let empty = self.is_empty(call);
        let Some((number, returns)) = self
            .replaced(call)
            .or(empty.then_some((6, Returns::Verdict)))
        else {
            return;
        };
        let told = self.allowed(SiteKind::Method, &range);
        self.count(told);
        if !told {
            return;
        }
        let receiver = self.range(call.receiver.span());
        let method = &call.method;
        let target = self.targets(&[TargetKind::True, TargetKind::False], expr.span(), &range);
        let target = text::target(target);
        let inner = self.rendered(mark, receiver.clone());
        let text = match call.args.first() {
            None => {
                let breaks = self.breaks(receiver.end..range.end);
                format!(
                    "(match &({inner}){breaks} {{ __fr => {{ let __fh = ::isobath_rt::p(__fr).pre({target}, {number}, &()); __fh.post(__fr.{method}()) }} }})"
                )
            }
            Some(argument) => {
                let at = self.range(argument.span());
                let before = self.breaks(receiver.end..at.start);
                let after = self.breaks(at.end..range.end);
                // The name of a header is often a constant; the runtime is told the name itself.
                let shown =
                    header(argument).map_or("&__fa".to_owned(), |name| format!("&{name:?}"));
                let argument = self.rendered(mark, at);
                let tail = match returns {
                    Returns::Verdict => format!("__fh.post(__fr.{method}(__fa))"),
                    Returns::Option => format!(
                        "let __fv = __fr.{method}(__fa); ::isobath_rt::q(&__fv).found(__fh); __fv"
                    ),
                };
                format!(
                    "(match (&({inner}),{before} {argument}){after} {{ (__fr, __fa) => {{ let __fh = ::isobath_rt::p(__fr).pre({target}, {number}, {shown}); {tail} }} }})"
                )
            }
        };
        self.edits.truncate(mark);
        self.replace(SiteKind::Method, expr.span(), range, &text);
    }

    /// `text.parse::<T>()`.
    fn parse(&mut self, expr: &Expr, call: &ExprMethodCall, mark: usize) {
        let range = self.range(expr.span());
        let told = self.allowed(SiteKind::Parser, &range);
        self.count(told);
        if !told {
            return;
        }
        let receiver = self.range(call.receiver.span());
        let inner = self.rendered(mark, receiver.clone());
        self.edits.truncate(mark);
        let method = self.range(call.method.span());
        let breaks = self.breaks(receiver.end..method.start);
        let called = self.source_of(&(method.start..range.end)).to_owned();
        let target = self.targets(&[TargetKind::True, TargetKind::False], expr.span(), &range);
        let target = text::target(target);
        let text = format!(
            "(match &({inner}){breaks} {{ __fr => {{ let __fv = __fr.{called}; ::isobath_rt::q(&__fv).parsed({target}, __fr); __fv }} }})"
        );
        self.replace(SiteKind::Parser, expr.span(), range, &text);
    }

    /// A known function that makes something of a text.
    pub(super) fn function_call(&mut self, expr: &Expr, call: &ExprCall) {
        let mark = self.edits.len();
        visit::visit_expr_call(self, call);
        let Expr::Path(path) = &*call.func else {
            return;
        };
        let Some(last) = path.path.segments.last() else {
            return;
        };
        let of = path.path.segments.iter().rev().nth(1);
        let parses = last.ident == "parse"
            && of.is_some_and(|of| PARSED.iter().any(|name| of.ident == name));
        let known = path.path.segments.len() > 1
            && (parses || PARSERS.iter().any(|name| last.ident == name))
            && matches!(call.args.len(), 1 | 2)
            && call.attrs.is_empty();
        let range = self.range(expr.span());
        // Errors and what is made of JSON or TOML have their own words for what is wrong.
        let function = self
            .source_of(&self.range(path.span()))
            .replace([' ', '\n'], "");
        let reader = READERS.iter().find(|(module, names, _)| {
            function.starts_with(module) && names.iter().any(|name| last.ident == name)
        });
        if let Some((.., what)) = reader {
            self.reader(expr, mark, what);
            return;
        }
        let foreign = ["serde_", "toml", "json"]
            .iter()
            .any(|name| function.contains(name));
        if !known || foreign || self.source_of(&range).contains(".await") {
            return;
        }
        let told = self.allowed(SiteKind::Parser, &range);
        self.count(told);
        if !told {
            return;
        }
        let arguments: Vec<_> = call.args.iter().map(|a| self.range(a.span())).collect();
        let Some(first) = arguments.first().cloned() else {
            return;
        };
        let target = self.targets(&[TargetKind::True, TargetKind::False], expr.span(), &range);
        let target = text::target(target);
        let value = self.rendered(mark, first.clone());
        let second = arguments
            .get(1)
            .map(|second| self.rendered(mark, second.clone()));
        // `strptime` takes the format first.
        let (text, form) = if last.ident == "strptime" && call.args.len() == 2 {
            ("__fb", 0)
        } else {
            ("__fa", 1)
        };
        let format = match call.args.get(form) {
            Some(Expr::Lit(ExprLit {
                lit: Lit::Str(format),
                ..
            })) => format.value(),
            _ => String::new(),
        };
        let last = arguments.last().cloned().unwrap_or(first.clone());
        let head = self.breaks(range.start..first.start);
        let between = self.breaks(first.end..last.start.max(first.end));
        let tail = self.breaks(last.end..range.end);
        self.edits.truncate(mark);
        let (values, names, handed) = match second {
            None => (value, "__fa", "__fa"),
            Some(second) => (
                format!("({value},{between} {second})"),
                "(__fa, __fb)",
                "__fa, __fb",
            ),
        };
        let between = if arguments.len() == 1 {
            between
        } else {
            String::new()
        };
        let text = format!(
            "(match{head} {values}{between}{tail} {{ {names} => {{ let __fh = ::isobath_rt::call({target}, {function:?}, &{text}, {format:?}); let __fv = {function}({handed}); ::isobath_rt::q(&__fv).found(__fh); __fv }} }})"
        );
        self.replace(SiteKind::Parser, expr.span(), range, &text);
    }

    /// A function that reads JSON or a form; what it misses is what may be sent.
    fn reader(&mut self, expr: &Expr, mark: usize, what: &str) {
        let range = self.range(expr.span());
        let told = self.allowed(SiteKind::Parser, &range);
        self.count(told);
        if !told {
            return;
        }
        let target = self.targets(&[TargetKind::True, TargetKind::False], expr.span(), &range);
        let inner = self.rendered(mark, range.clone());
        self.edits.truncate(mark);
        let text = format!(
            "(match ({inner}) {{ __fv => {{ ::isobath_rt::q(&__fv).{what}({}); __fv }} }})",
            text::target(target)
        );
        self.replace(SiteKind::Parser, expr.span(), range, &text);
    }

    /// `value["name"]`: the name may be that of an input.
    pub(super) fn named_index(&mut self, index: &syn::ExprIndex) {
        let Expr::Lit(ExprLit {
            lit: Lit::Str(_), ..
        }) = &*index.index
        else {
            return;
        };
        let range = self.range(index.index.span());
        if self.allowed(SiteKind::Method, &range) {
            let name = self.source_of(&range).to_owned();
            let text = format!("::isobath_rt::named({name})");
            self.replace(SiteKind::Method, index.index.span(), range, &text);
        }
    }

    pub(super) fn question(&mut self, expr: &Expr, question: &ExprTry) {
        let mark = self.edits.len();
        self.visit_expr(&question.expr);
        let range = self.range(expr.span());
        let told = self.allowed(SiteKind::Question, &range) && question.attrs.is_empty();
        self.count(told);
        if !told {
            return;
        }
        let inner = self.range(question.expr.span());
        let breaks = self.breaks(inner.end..range.end);
        let inner = self.rendered(mark, inner);
        self.edits.truncate(mark);
        let target = self.targets(
            &[TargetKind::Proceed, TargetKind::Leave],
            expr.span(),
            &range,
        );
        let text = format!(
            "(match ({inner}) {{ __fv => {{ ::isobath_rt::q(&__fv).q({}); __fv }} }}){breaks}?",
            text::target(target)
        );
        self.replace(SiteKind::Question, expr.span(), range, &text);
    }
}

/// Whether an argument of `get` looks like a key or a position.
fn key(argument: &Expr) -> bool {
    match argument {
        Expr::Lit(lit) => matches!(lit.lit, Lit::Str(_) | Lit::Int(_)),
        Expr::Reference(reference) => !matches!(*reference.expr, Expr::Array(_) | Expr::Closure(_)),
        Expr::Path(path) => path.path.get_ident().is_some() || header(argument).is_some(),
        Expr::Field(_) => true,
        Expr::MethodCall(call) => call.args.is_empty(),
        _ => false,
    }
}

/// The name of a header, where an argument is a constant of the module `header`.
fn header(argument: &Expr) -> Option<String> {
    let argument = match argument {
        Expr::Reference(reference) => &*reference.expr,
        argument => argument,
    };
    let Expr::Path(path) = argument else {
        return None;
    };
    let mut words = path.path.segments.iter().rev();
    let name = words.next()?.ident.to_string();
    let of = words.next()?;
    let constant = name
        .chars()
        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    (of.ident == "header" && constant).then(|| name.to_ascii_lowercase().replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use crate::cfg::Cfg;
    use crate::rewrite::{SkippedSites, rewrite};

    fn text(body: &str) -> String {
        let source = format!("fn f() {{ {body}; }}");
        let rewritten = rewrite(
            "shop",
            "a.rs",
            &source,
            &Cfg::default(),
            &SkippedSites::default(),
        );
        rewritten.expect("it parses").number(0).text
    }

    #[test]
    fn known_functions_and_methods_are_shown_what_they_read() {
        let shown = |body: &str, part: &str| {
            let text = text(body);
            assert!(text.contains(part), "{text}");
        };
        shown(
            "time::Date::parse(&day, FORMAT)",
            r#""time::Date::parse", &__fa, """#,
        );
        shown(
            "Date::strptime(\"%Y\", &day)",
            r#""Date::strptime", &__fb, "%Y""#,
        );
        shown("Uuid::parse_str(&id)", r#""Uuid::parse_str", &__fa"#);
        shown("headers.get(header::USER_AGENT)", r#", 4, &"user-agent")"#);
        shown("headers.get(&http::header::X_API_2)", r#", 4, &"x-api-2")"#);
        shown("request.cookie(\"theme\")", ", 7, &__fa)");
        shown("body.pointer(\"/a/b\")", ", 8, &__fa)");
        shown("serde_urlencoded::from_str::<Form>(&body)", ".form(");
        shown("serde_json::from_str::<Form>(&body)", ".json(");
    }

    #[test]
    fn other_functions_of_those_names_are_left_alone() {
        for body in [
            "Config::parse(path)",
            "cli.get(crate::LIMIT)",
            "jar.cookie(name)",
            "x.pointer(y)",
        ] {
            let text = text(body);
            assert!(!text.contains("__f"), "{text}");
        }
    }
}
