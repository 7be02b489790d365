//! The class of value that an expression has, and whether it may be NULL.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

use super::error::TargetError;
use super::expr_parts::{self, ColumnMention, ExprParts};
use super::scope::{RelationColumn, Scope};

/// A kind of value, as far as boundaries care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    /// Integers, decimals, floats.
    Number,
    /// Truth values, which have no neighbours.
    Boolean,
    /// Days.
    Date,
    /// Moments.
    Timestamp,
    /// A parameter, which takes the class of what it is compared with.
    Parameter,
    /// Anything else.
    Other,
}

/// The class of an expression.
///
/// SQLFpc knows few numeric functions; `wide` knows more.
pub(super) fn class(expr: &Expr, scope: &Scope<'_>, wide: bool) -> ValueClass {
    match expr {
        Expr::Nested(inner) => class(inner, scope, wide),
        Expr::Value(value) => match &value.value {
            Value::Number(..) => ValueClass::Number,
            Value::Placeholder(_) => ValueClass::Parameter,
            Value::Boolean(_) => ValueClass::Boolean,
            _ => ValueClass::Other,
        },
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => column_class(expr, scope),
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => match class(expr, scope, wide) {
            ValueClass::Number => ValueClass::Number,
            _ => ValueClass::Other,
        },
        Expr::BinaryOp { left, op, right } if is_arithmetic(op) => {
            let sides = [class(left, scope, wide), class(right, scope, wide)];
            let moment =
                |class: &ValueClass| matches!(class, ValueClass::Date | ValueClass::Timestamp);
            if sides.contains(&ValueClass::Number) && !sides.iter().any(moment) {
                ValueClass::Number
            } else {
                ValueClass::Other
            }
        }
        Expr::Function(function) if function.over.is_none() || wide => {
            let argument = expr_parts::arguments(function).into_iter().next().flatten();
            match expr_parts::function_name(&function.name).as_str() {
                "count" => ValueClass::Number,
                "sum" | "avg" | "min" | "max" | "ifnull" | "coalesce" | "nvl" => {
                    argument.map_or(ValueClass::Other, |argument| class(argument, scope, wide))
                }
                name if wide && NUMERIC.contains(&name) => ValueClass::Number,
                _ => ValueClass::Other,
            }
        }
        Expr::Extract { .. } | Expr::Ceil { .. } | Expr::Floor { .. } | Expr::Position { .. }
            if wide =>
        {
            ValueClass::Number
        }
        _ => ValueClass::Other,
    }
}

fn column_class(expr: &Expr, scope: &Scope<'_>) -> ValueClass {
    let Some(mention) = as_mention(expr) else {
        return ValueClass::Other;
    };
    match scope.resolve(&mention) {
        Ok(Some(found)) => found.class,
        // A name of the select list has the class of its expression, unless it is about itself.
        Ok(None) => match mention.path.as_slice() {
            [name] => scope
                .alias(&name.value)
                .filter(|of| *of != expr)
                .filter(|of| {
                    ExprParts::of(of)
                        .mentions
                        .iter()
                        .all(|m| m.path.last() != Some(name))
                })
                .map_or(ValueClass::Other, |of| class(of, scope, false)),
            _ => ValueClass::Other,
        },
        Err(_) => ValueClass::Other,
    }
}

/// The mention, when an expression is a plain column.
pub(super) fn as_mention(expr: &Expr) -> Option<ColumnMention> {
    let path = match expr {
        Expr::Nested(inner) => return as_mention(inner),
        Expr::Identifier(name) => vec![name.clone()],
        Expr::CompoundIdentifier(path) => path.clone(),
        _ => return None,
    };
    Some(ColumnMention {
        path,
        guarded: false,
        aggregated: false,
    })
}

/// Whether an operator computes a number.
pub(super) fn is_arithmetic(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::MyIntegerDivide
    )
}

/// What a query around knows of a column of a select list.
pub(super) fn column(
    expr: &Expr,
    alias: Option<&str>,
    scope: &Scope<'_>,
) -> Result<RelationColumn, TargetError> {
    let name = match (alias, expr) {
        (Some(alias), _) => alias.to_owned(),
        (None, Expr::Identifier(name)) => name.value.clone(),
        (None, Expr::CompoundIdentifier(path)) => path
            .last()
            .map(|name| name.value.clone())
            .unwrap_or_default(),
        (None, Expr::Function(function)) => expr_parts::function_name(&function.name),
        (None, other) => other.to_string(),
    };
    let class = match class(expr, scope, true) {
        ValueClass::Parameter => ValueClass::Other,
        class => class,
    };
    Ok(RelationColumn {
        name,
        nullable: nullable(expr, scope)?,
        class,
    })
}

/// Whether an expression may be NULL; when in doubt, it may.
fn nullable(expr: &Expr, scope: &Scope<'_>) -> Result<bool, TargetError> {
    Ok(match expr {
        Expr::Nested(inner) => nullable(inner, scope)?,
        Expr::Value(value) => matches!(value.value, Value::Null | Value::Placeholder(_)),
        Expr::Function(function) => match expr_parts::function_name(&function.name).as_str() {
            "count" | "row_number" | "rank" | "dense_rank" | "now" => false,
            "ifnull" | "coalesce" | "nvl" => {
                let mut all = true;
                for argument in expr_parts::arguments(function).into_iter().flatten() {
                    all &= nullable(argument, scope)?;
                }
                all
            }
            _ => true,
        },
        _ => match as_mention(expr) {
            Some(mention) => match scope.resolve(&mention)? {
                Some(found) => found.nullable || found.outer,
                None => true,
            },
            None => true,
        },
    })
}

const NUMERIC: [&str; 34] = [
    "abs",
    "ceil",
    "ceiling",
    "floor",
    "round",
    "trunc",
    "truncate",
    "mod",
    "power",
    "pow",
    "sqrt",
    "sign",
    "length",
    "char_length",
    "character_length",
    "octet_length",
    "instr",
    "locate",
    "position",
    "strpos",
    "year",
    "month",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "hour",
    "minute",
    "second",
    "datediff",
    "timestampdiff",
    "row_number",
    "rank",
    "dense_rank",
];
