//! What an expression is made of, as far as the rules care.
//!
//! Subqueries are borders: what they mention is their own business.

use std::ops::ControlFlow;

use isobath_walk::{Tree, TreeVisitor};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query,
    WindowType,
};

/// A column as it is written somewhere.
#[derive(Clone, Debug)]
pub(super) struct ColumnMention {
    /// Its name, qualified or not.
    pub(super) path: Vec<Ident>,
    /// Whether it stands inside IFNULL or COALESCE, where NULL does no harm.
    pub(super) guarded: bool,
    /// Whether it stands inside an aggregate, where it is not a column of the group.
    pub(super) aggregated: bool,
}

impl ColumnMention {
    /// The column as an expression again.
    pub(super) fn expr(&self) -> Expr {
        match self.path.as_slice() {
            [name] => Expr::Identifier(name.clone()),
            _ => Expr::CompoundIdentifier(self.path.clone()),
        }
    }
}

/// An aggregate function over an argument.
#[derive(Clone, Debug)]
pub(super) struct AggregateCall {
    /// The call.
    pub(super) call: Expr,
    /// Its first argument; `None` for `COUNT(*)`.
    pub(super) argument: Option<Expr>,
    /// `FILTER (WHERE …)`.
    pub(super) filter: Option<Expr>,
}

/// A choice between values, with the whole expression.
#[derive(Clone, Debug)]
pub(super) struct ConditionalExpr {
    /// The CASE, IFNULL, … itself.
    pub(super) expr: Expr,
    /// Whether an aggregate is around it.
    pub(super) aggregated: bool,
    /// Whether an aggregate is within it.
    pub(super) aggregates: bool,
}

/// What an expression is made of, outside its subqueries, in order of appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct ExprParts {
    pub(super) mentions: Vec<ColumnMention>,
    pub(super) subqueries: Vec<Query>,
    pub(super) aggregates: Vec<AggregateCall>,
    /// IFNULL, COALESCE and similar functions.
    pub(super) guards: Vec<ConditionalExpr>,
    /// CASE, IF, NULLIF.
    pub(super) cases: Vec<ConditionalExpr>,
    pub(super) windows: Vec<WindowType>,
}

impl ExprParts {
    /// Takes an expression apart.
    pub(super) fn of(expr: &Expr) -> Self {
        let mut visitor = PartsVisitor::default();
        let _ = expr.walk(&mut visitor);
        visitor.parts
    }
}

#[derive(Default)]
struct PartsVisitor {
    parts: ExprParts,
    queries: usize,
    guards: usize,
    aggregates: usize,
    /// Positions of words that look like columns and are units (`TIMESTAMPDIFF(DAY, …)`).
    units: Vec<Ident>,
}

impl TreeVisitor for PartsVisitor {
    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.queries == 0 {
            self.parts.subqueries.push(query.clone());
        }
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.queries > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Identifier(name) => self.mention(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(path) => self.mention(path),
            Expr::Case { .. } => self.choice(expr, false),
            Expr::Function(function) => self.function(expr, function),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.queries == 0
            && let Expr::Function(function) = expr
        {
            self.guards -= usize::from(is_guard(function));
            self.aggregates -= usize::from(is_aggregate(function));
        }
        ControlFlow::Continue(())
    }
}

impl PartsVisitor {
    fn mention(&mut self, path: &[Ident]) {
        let is_unit = |name: &Ident| {
            let mut units = self.units.iter();
            units.any(|unit| unit.span == name.span && unit == name)
        };
        if !matches!(path, [name] if is_unit(name)) {
            self.parts.mentions.push(ColumnMention {
                path: path.to_vec(),
                guarded: self.guards > 0,
                aggregated: self.aggregates > 0,
            });
        }
    }

    fn choice(&mut self, expr: &Expr, guard: bool) {
        let aggregated = self.aggregates > 0;
        let choice = ConditionalExpr {
            expr: expr.clone(),
            aggregated,
            aggregates: contains_aggregate(expr),
        };
        if guard {
            self.parts.guards.push(choice);
        } else {
            self.parts.cases.push(choice);
        }
    }

    fn function(&mut self, expr: &Expr, function: &Function) {
        let name = function_name(&function.name);
        if is_guard(function) {
            self.choice(expr, true);
            self.guards += 1;
        } else if matches!(name.as_str(), "if" | "iif" | "nullif") {
            self.choice(expr, false);
        } else if matches!(name.as_str(), "timestampdiff" | "timestampadd")
            && let Some(Expr::Identifier(unit)) = arguments(function).into_iter().next().flatten()
        {
            self.units.push(unit.clone());
        }
        if is_aggregate(function) {
            self.parts.aggregates.push(AggregateCall {
                call: expr.clone(),
                argument: arguments(function).into_iter().next().flatten().cloned(),
                filter: function.filter.as_deref().cloned(),
            });
            self.aggregates += 1;
        }
        if let Some(over) = &function.over {
            self.parts.windows.push(over.clone());
        }
    }
}

/// The last part of a function's name, in lower case.
pub(super) fn function_name(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|part| part.as_ident())
        .map(|ident| ident.value.to_ascii_lowercase())
        .unwrap_or_default()
}

/// The arguments of a call; `None` stands for `*`.
pub(super) fn arguments(function: &Function) -> Vec<Option<&Expr>> {
    let FunctionArguments::List(list) = &function.args else {
        return Vec::new();
    };
    list.args
        .iter()
        .map(|arg| match arg {
            FunctionArg::Named { arg, .. }
            | FunctionArg::ExprNamed { arg, .. }
            | FunctionArg::Unnamed(arg) => match arg {
                FunctionArgExpr::Expr(expr) => Some(expr),
                _ => None,
            },
        })
        .collect()
}

/// Whether a call aggregates the rows of a group.
pub(super) fn is_aggregate(function: &Function) -> bool {
    let name = function_name(&function.name);
    function.over.is_none()
        && (AGGREGATES.contains(&name.as_str())
            // SQLite's MIN and MAX of several arguments compare values of one row.
            && !(matches!(name.as_str(), "min" | "max") && arguments(function).len() > 1))
}

fn is_guard(function: &Function) -> bool {
    matches!(
        function_name(&function.name).as_str(),
        "ifnull" | "coalesce" | "nvl"
    )
}

pub(crate) fn contains_aggregate(expr: &Expr) -> bool {
    struct FindColumn(usize);
    impl TreeVisitor for FindColumn {
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(function) if self.0 == 0 && is_aggregate(function) => {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    expr.walk(&mut FindColumn(0)).is_break()
}

const AGGREGATES: [&str; 30] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "total",
    "group_concat",
    "string_agg",
    "array_agg",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "jsonb_object_agg",
    "json_arrayagg",
    "json_objectagg",
    "json_group_array",
    "json_group_object",
    "bool_and",
    "bool_or",
    "every",
    "bit_and",
    "bit_or",
    "bit_xor",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "any_value",
];
