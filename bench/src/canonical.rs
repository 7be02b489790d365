//! Two queries that differ in formatting only, made the same.
//!
//! Parentheses, quoting, letter case of names, the spelling of negation and of
//! cross joins are formatting; the order of conditions is not.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Join,
    JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select, SelectItem, SetExpr,
    TableAlias, TableFactor, UnaryOperator, Value, VisitMut, VisitorMut,
};
use sqlparser::dialect::Dialect;
use sqlparser::parser::Parser;

/// The canonical text of a query, or why it cannot be parsed.
pub(crate) fn canonical(sql: &str, dialect: &dyn Dialect) -> Result<String, String> {
    let mut statements = Parser::parse_sql(dialect, sql).map_err(|error| error.to_string())?;
    let _: ControlFlow<()> = VisitMut::visit(&mut statements, &mut Fold);
    let texts: Vec<String> = statements.iter().map(ToString::to_string).collect();
    Ok(texts.join("; "))
}

struct Fold;

impl VisitorMut for Fold {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = &mut *query.body {
            fold_select(select);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { alias, .. } | TableFactor::Derived { alias, .. } => {
                fold_alias(alias);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        fold_name(name);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        fold_expr(expr);
        ControlFlow::Continue(())
    }
}

fn fold_select(select: &mut Select) {
    for item in &mut select.projection {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => fold_ident(alias),
            SelectItem::QualifiedWildcard(
                sqlparser::ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                _,
            ) => fold_name(name),
            _ => {}
        }
    }
    let mut tables = std::mem::take(&mut select.from).into_iter();
    if let Some(mut first) = tables.next() {
        for table in tables {
            first.joins.push(Join {
                relation: table.relation,
                global: false,
                join_operator: JoinOperator::CrossJoin(JoinConstraint::None),
            });
            first.joins.extend(table.joins);
        }
        for join in &mut first.joins {
            let operator = match &join.join_operator {
                JoinOperator::Join(on) => JoinOperator::Inner(on.clone()),
                JoinOperator::LeftOuter(on) => JoinOperator::Left(on.clone()),
                JoinOperator::RightOuter(on) => JoinOperator::Right(on.clone()),
                other => other.clone(),
            };
            join.join_operator = operator;
        }
        select.from.push(first);
    }
}

fn fold_alias(alias: &mut Option<TableAlias>) {
    if let Some(alias) = alias {
        alias.explicit = true;
        fold_ident(&mut alias.name);
    }
}

fn fold_name(name: &mut ObjectName) {
    for part in &mut name.0 {
        if let ObjectNamePart::Identifier(ident) = part {
            fold_ident(ident);
        }
    }
}

fn fold_ident(ident: &mut Ident) {
    ident.value = ident.value.to_uppercase();
    ident.quote_style = Some('"');
}

/// Called after the operands were folded, so every operator in them has its parentheses.
fn fold_expr(expr: &mut Expr) {
    match expr {
        Expr::Identifier(ident) => fold_ident(ident),
        Expr::CompoundIdentifier(path) => path.iter_mut().for_each(fold_ident),
        Expr::Function(function) => {
            fold_name(&mut function.name);
            if let Some(argument) = dated(function) {
                *expr = argument;
            }
        }
        Expr::Value(value) => {
            if let Value::DoubleQuotedString(text) = &value.value {
                value.value = Value::SingleQuotedString(text.clone());
            }
        }
        Expr::Nested(inner) => {
            let mut inner = (**inner).clone();
            // The operand has its own parentheses already, or needs none.
            if let Expr::Nested(operator) = inner {
                inner = *operator;
                if is_operator(&inner) {
                    inner = Expr::Nested(Box::new(inner));
                }
            }
            *expr = inner;
        }
        _ => {}
    }
    if let Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: inner,
    } = expr
        && let Some(opposite) = negated(strip(inner))
    {
        *expr = opposite;
    }
    if let Expr::BinaryOp {
        left,
        op: op @ (BinaryOperator::And | BinaryOperator::Or),
        right,
    } = expr
    {
        let mut operands = Vec::new();
        flatten(left, op, &mut operands);
        flatten(right, op, &mut operands);
        let chain = operands.into_iter().reduce(|left, right| Expr::BinaryOp {
            left: Box::new(left),
            op: op.clone(),
            right: Box::new(right),
        });
        if let Some(chain) = chain {
            *expr = chain;
        }
    }
    if is_operator(expr) {
        *expr = Expr::Nested(Box::new(expr.clone()));
    }
}

/// The argument of DATE(x) or TIMESTAMP(x), which the recording exchanged for each other.
fn dated(function: &Function) -> Option<Expr> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    match (function.name.to_string().as_str(), list.args.as_slice()) {
        ("\"DATE\"" | "\"TIMESTAMP\"", [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))]) => {
            Some(argument.clone())
        }
        _ => None,
    }
}

fn is_operator(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::BinaryOp { .. }
            | Expr::UnaryOp { .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
    )
}

fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip(inner),
        other => other,
    }
}

fn flatten(expr: &Expr, op: &BinaryOperator, into: &mut Vec<Expr>) {
    match strip(expr) {
        Expr::BinaryOp {
            left,
            op: of,
            right,
        } if of == op => {
            flatten(left, op, into);
            flatten(right, op, into);
        }
        _ => into.push(expr.clone()),
    }
}

fn negated(expr: &Expr) -> Option<Expr> {
    let mut opposite = expr.clone();
    match &mut opposite {
        Expr::InList { negated, .. }
        | Expr::InSubquery { negated, .. }
        | Expr::Between { negated, .. }
        | Expr::Like { negated, .. }
        | Expr::Exists { negated, .. } => *negated = !*negated,
        Expr::IsNull(inner) => return Some(Expr::IsNotNull(inner.clone())),
        Expr::IsNotNull(inner) => return Some(Expr::IsNull(inner.clone())),
        _ => return None,
    }
    Some(opposite)
}
