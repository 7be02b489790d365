//! CHECKs that are gone or say something slightly different.

use isobath_sql::expr::CompareOp;
use isobath_sql::schema::ConstraintKind;
use isobath_sql::{Expr, Value};
use jiff::{Span, ToSpan};
use rust_decimal::Decimal;

use super::mutant::MutationSite;
use crate::schema::phrase;

/// Each CHECK is gone.
pub(super) fn remove(site: &mut MutationSite<'_>) {
    for (index, expr) in checks(site) {
        let description = format!(
            "CHECK ({}) of `{}` is removed",
            phrase::expr(&expr, site.dialect),
            site.table.name
        );
        site.remove(index, description);
    }
}

/// Each IN list loses each element.
pub(super) fn remove_elements(site: &mut MutationSite<'_>) {
    each_variant(site, &|expr| match expr {
        Expr::InList {
            expr,
            list,
            negated,
        } => (0..list.len())
            .map(|element| {
                let mut list = list.clone();
                list.remove(element);
                if list.is_empty() {
                    // `x IN ()` is no SQL everywhere; it is false, and NOT IN () is true.
                    Expr::Literal(Value::Bool(*negated))
                } else {
                    Expr::InList {
                        expr: expr.clone(),
                        list,
                        negated: *negated,
                    }
                }
            })
            .collect(),
        _ => Vec::new(),
    });
}

/// Each comparison becomes each of the five others.
pub(super) fn exchange_comparisons(site: &mut MutationSite<'_>) {
    each_variant(site, &|expr| match expr {
        Expr::Compare { op, left, right } => CompareOp::ALL
            .into_iter()
            .filter(|other| other != op)
            .map(|op| Expr::Compare {
                op,
                left: left.clone(),
                right: right.clone(),
            })
            .collect(),
        _ => Vec::new(),
    });
}

/// Each constant outside lists, bounds and patterns is one step more, and one step less.
pub(super) fn shift_constants(site: &mut MutationSite<'_>) {
    each_variant(site, &|expr| match expr {
        Expr::InList { .. } | Expr::Between { .. } | Expr::Like { .. } => Vec::new(),
        expr => shifted_children(expr, 0),
    });
}

/// Each bound of each BETWEEN is one step more, and one step less.
pub(super) fn shift_bounds(site: &mut MutationSite<'_>) {
    each_variant(site, &|expr| match expr {
        Expr::Between { .. } => shifted_children(expr, 1),
        _ => Vec::new(),
    });
}

/// Each AND becomes OR, and each OR becomes AND.
pub(super) fn swap_connectives(site: &mut MutationSite<'_>) {
    each_variant(site, &|expr| match expr {
        Expr::And(parts) => vec![Expr::Or(parts.clone())],
        Expr::Or(parts) => vec![Expr::And(parts.clone())],
        _ => Vec::new(),
    });
}

/// Each IS NULL, IN, LIKE, BETWEEN and IS … says the opposite.
pub(super) fn negate(site: &mut MutationSite<'_>) {
    each_variant(site, &|expr| {
        let mut negated_expr = expr.clone();
        match &mut negated_expr {
            Expr::IsNull { negated, .. }
            | Expr::InList { negated, .. }
            | Expr::Like { negated, .. }
            | Expr::Between { negated, .. }
            | Expr::IsTruth { negated, .. }
            | Expr::IsDistinct { negated, .. } => {
                *negated = !*negated;
                vec![negated_expr]
            }
            _ => Vec::new(),
        }
    });
}

fn checks(site: &MutationSite<'_>) -> Vec<(usize, Expr)> {
    site.constraints()
        .into_iter()
        .filter_map(|(index, constraint)| match constraint.kind {
            ConstraintKind::Check { expr } => Some((index, expr)),
            _ => None,
        })
        .collect()
}

/// One mutant for each way in which `change` changes one place of one CHECK.
fn each_variant(site: &mut MutationSite<'_>, change: &dyn Fn(&Expr) -> Vec<Expr>) {
    for (index, expr) in checks(site) {
        for variant in variants(&expr, change) {
            let description = format!(
                "CHECK ({}) of `{}` becomes CHECK ({})",
                phrase::expr(&expr, site.dialect),
                site.table.name,
                phrase::expr(&variant, site.dialect)
            );
            site.replace(index, ConstraintKind::Check { expr: variant }, description);
        }
    }
}

/// The expression with one place changed, for every place and every change, outermost first.
fn variants(expr: &Expr, change: &dyn Fn(&Expr) -> Vec<Expr>) -> Vec<Expr> {
    let mut found = change(expr);
    for (position, child) in expr.children().into_iter().enumerate() {
        for variant in variants(child, change) {
            let mut whole = expr.clone();
            if let Some(place) = whole.children_mut().into_iter().nth(position) {
                *place = variant;
            }
            found.push(whole);
        }
    }
    found
}

/// Copies in which one direct constant is a step off, leaving out the first `skip` children.
fn shifted_children(expr: &Expr, skip: usize) -> Vec<Expr> {
    let mut found = Vec::new();
    for (position, child) in expr.children().into_iter().enumerate().skip(skip) {
        let Some(value) = constant(child) else {
            continue;
        };
        for value in steps(&value) {
            let mut whole = expr.clone();
            if let Some(place) = whole.children_mut().into_iter().nth(position) {
                *place = Expr::Literal(value);
            }
            found.push(whole);
        }
    }
    found
}

/// The value of a literal; a minus sign before a number belongs to it.
fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Literal(value) => Some(value.clone()),
        Expr::Unary {
            op: isobath_sql::expr::UnaryOp::Minus,
            expr,
        } => match expr.as_ref() {
            Expr::Literal(Value::Int(number)) => number.checked_neg().map(Value::Int),
            Expr::Literal(Value::Decimal(number)) => Some(Value::Decimal(-*number)),
            _ => None,
        },
        _ => None,
    }
}

/// The neighbours of a value, as far as its kind has neighbours.
fn steps(value: &Value) -> Vec<Value> {
    let day: Span = 1.day();
    match value {
        Value::Int(number) => [number.checked_sub(1), number.checked_add(1)]
            .into_iter()
            .flatten()
            .map(Value::Int)
            .collect(),
        Value::Decimal(number) => {
            let unit = Decimal::new(1, number.scale());
            [number.checked_sub(unit), number.checked_add(unit)]
                .into_iter()
                .flatten()
                .map(Value::Decimal)
                .collect()
        }
        Value::Float(number) => vec![Value::Float(number - 1.0), Value::Float(number + 1.0)],
        Value::Bool(value) => vec![Value::Bool(!value)],
        Value::Date(date) => [date.checked_sub(day), date.checked_add(day)]
            .into_iter()
            .flatten()
            .map(Value::Date)
            .collect(),
        Value::DateTime(time) => [time.checked_sub(day), time.checked_add(day)]
            .into_iter()
            .flatten()
            .map(Value::DateTime)
            .collect(),
        Value::Text(text) => neighbor(text).map(Value::Text).into_iter().collect(),
        // A step of these has no size that a person would get wrong by one.
        Value::Null
        | Value::Bytes(_)
        | Value::Time(_)
        | Value::Instant(_)
        | Value::Interval(_)
        | Value::Uuid(_)
        | Value::Json(_) => Vec::new(),
    }
}

/// The text with its last letter or digit replaced by the next one.
fn neighbor(text: &str) -> Option<String> {
    let last = text.chars().next_back()?;
    let next = match last {
        'z' | 'Z' | '9' => char::from_u32(u32::from(last) - 1)?,
        'a'..='y' | 'A'..='Y' | '0'..='8' => char::from_u32(u32::from(last) + 1)?,
        _ => return None,
    };
    let mut changed = text[..text.len() - last.len_utf8()].to_owned();
    changed.push(next);
    Some(changed)
}
