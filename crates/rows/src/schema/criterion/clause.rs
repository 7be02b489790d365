//! Splits a CHECK at its top-level operator into the cases in which it passes and fails.

use isobath_sql::Expr;
use isobath_sql::expr::CompareOp;

use super::predicates::{not_null, nullable_columns, unknown, verdict};
use crate::schema::phrase;
use crate::schema::predicate::{Predicate, RequiredTruth};

/// One way to pass or to fail a CHECK.
pub(super) struct CheckCase {
    /// What it asks of the row.
    pub(super) predicate: Predicate,
    /// Whether it passes.
    pub(super) passes: bool,
    /// How, as the end of a sentence about a row.
    pub(super) description: String,
}

/// The ways of a condition as a whole: unknown, true, false.
pub(super) fn whole(expr: &Expr) -> Vec<CheckCase> {
    let text = phrase::condition(expr);
    vec![
        CheckCase {
            predicate: unknown(expr),
            passes: true,
            description: format!("with {text} unknown"),
        },
        CheckCase {
            predicate: verdict(expr, RequiredTruth::True),
            passes: true,
            description: format!("with {text}"),
        },
        CheckCase {
            predicate: verdict(expr, RequiredTruth::False),
            passes: false,
            description: format!("without {text}"),
        },
    ]
}

/// The ways of a condition by its topmost connective.
pub(super) fn clauses(expr: &Expr) -> Vec<CheckCase> {
    match pushed(expr).as_ref() {
        Expr::And(parts) => conjunction(parts),
        Expr::Or(parts) => disjunction(parts),
        between @ Expr::Between { .. } => between_clauses(between),
        list @ Expr::InList { .. } => list_clauses(list),
        other => whole(other),
    }
}

fn conjunction(parts: &[Expr]) -> Vec<CheckCase> {
    let mut ways = each_unknown(parts);
    ways.push(CheckCase {
        predicate: Predicate::and(parts.iter().map(|part| verdict(part, RequiredTruth::True))),
        passes: true,
        description: format!("with {}", phrase::conditions(parts, " and ")),
    });
    for index in 0..parts.len() {
        ways.push(CheckCase {
            predicate: all_but(parts, index, RequiredTruth::False, RequiredTruth::True),
            passes: false,
            description: format!("with only {} false", phrase::condition(&parts[index])),
        });
    }
    ways
}

fn disjunction(parts: &[Expr]) -> Vec<CheckCase> {
    let mut ways = each_unknown(parts);
    for index in 0..parts.len() {
        ways.push(CheckCase {
            predicate: all_but(parts, index, RequiredTruth::True, RequiredTruth::False),
            passes: true,
            description: format!("with only {}", phrase::condition(&parts[index])),
        });
    }
    ways.push(CheckCase {
        predicate: Predicate::and(parts.iter().map(|part| verdict(part, RequiredTruth::False))),
        passes: false,
        description: format!("with neither {}", phrase::conditions(parts, " nor ")),
    });
    ways
}

/// For each part: it is unknown, the others are true.
fn each_unknown(parts: &[Expr]) -> Vec<CheckCase> {
    (0..parts.len())
        .map(|index| CheckCase {
            predicate: Predicate::and(parts.iter().enumerate().map(|(at, part)| {
                if at == index {
                    unknown(part)
                } else {
                    verdict(part, RequiredTruth::True)
                }
            })),
            passes: true,
            description: format!("with {} unknown", phrase::condition(&parts[index])),
        })
        .collect()
}

fn all_but(parts: &[Expr], index: usize, this: RequiredTruth, others: RequiredTruth) -> Predicate {
    Predicate::and(
        parts
            .iter()
            .enumerate()
            .map(|(at, part)| verdict(part, if at == index { this } else { others })),
    )
}

/// Unknown, inside, below, above; which of them pass depends on NOT.
fn between_clauses(between: &Expr) -> Vec<CheckCase> {
    let Expr::Between {
        expr,
        low,
        high,
        negated,
        symmetric,
    } = between
    else {
        return whole(between);
    };
    let named = phrase::condition(expr);
    let (low_text, high_text) = (phrase::condition(low), phrase::condition(high));
    // With SYMMETRIC the bounds come in either order: below is below both, above is above both.
    let (below, above) = if *symmetric {
        (CompareOp::Less, CompareOp::Greater)
    } else {
        (CompareOp::LessOrEqual, CompareOp::GreaterOrEqual)
    };
    let values: Vec<Predicate> = nullable_columns(between).iter().map(not_null).collect();
    let outside = |op, bound: &Expr, other_op, other: &Expr| {
        Predicate::and(
            [
                holds(compare(op, expr, bound)),
                holds(compare(other_op, expr, other)),
            ]
            .into_iter()
            .chain(values.iter().cloned()),
        )
    };
    let inside = if *negated {
        RequiredTruth::False
    } else {
        RequiredTruth::True
    };
    vec![
        CheckCase {
            predicate: unknown(between),
            passes: true,
            description: format!("with {} unknown", phrase::condition(between)),
        },
        CheckCase {
            predicate: verdict(between, inside),
            passes: !negated,
            description: format!("with {named} between {low_text} and {high_text}"),
        },
        CheckCase {
            predicate: outside(CompareOp::Less, low, below, high),
            passes: *negated,
            description: format!("with {named} below {low_text}"),
        },
        CheckCase {
            predicate: outside(CompareOp::Greater, high, above, low),
            passes: *negated,
            description: format!("with {named} above {high_text}"),
        },
    ]
}

/// Unknown, equal to each element, different from all; which of them pass depends on NOT.
fn list_clauses(membership: &Expr) -> Vec<CheckCase> {
    let Expr::InList {
        expr,
        list,
        negated,
    } = membership
    else {
        return whole(membership);
    };
    let named = phrase::condition(expr);
    let mut ways = vec![CheckCase {
        predicate: unknown(membership),
        passes: true,
        description: format!("with {} unknown", phrase::condition(membership)),
    }];
    for element in list {
        // Nothing is equal to NULL, so an element NULL is no way to be in the list.
        if matches!(element, Expr::Literal(value) if value.is_null()) {
            continue;
        }
        let equal = compare(CompareOp::Equal, expr, element);
        ways.push(CheckCase {
            predicate: verdict(&equal, RequiredTruth::True),
            passes: !negated,
            description: format!("with {}", phrase::condition(&equal)),
        });
    }
    let outside = if *negated {
        RequiredTruth::True
    } else {
        RequiredTruth::False
    };
    ways.push(CheckCase {
        predicate: verdict(membership, outside),
        passes: *negated,
        description: format!("with {named} outside its list"),
    });
    ways
}

fn holds(expr: Expr) -> Predicate {
    Predicate::Expr {
        expr,
        wanted: RequiredTruth::True,
    }
}

fn compare(op: CompareOp, left: &Expr, right: &Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left.clone()),
        right: Box::new(right.clone()),
    }
}

/// The condition with a leading NOT pushed one level in, so that its connective shows.
fn pushed(expr: &Expr) -> std::borrow::Cow<'_, Expr> {
    use std::borrow::Cow;
    let Expr::Not(inner) = expr else {
        return Cow::Borrowed(expr);
    };
    let not = |part: &Expr| match part {
        Expr::Not(inner) => inner.as_ref().clone(),
        part => Expr::Not(Box::new(part.clone())),
    };
    let mut inner = inner.as_ref().clone();
    match &mut inner {
        Expr::Not(twice) => Cow::Owned(pushed(twice).into_owned()),
        Expr::And(parts) => Cow::Owned(Expr::Or(parts.iter().map(not).collect())),
        Expr::Or(parts) => Cow::Owned(Expr::And(parts.iter().map(not).collect())),
        Expr::Between { negated, .. } | Expr::InList { negated, .. } => {
            *negated = !*negated;
            Cow::Owned(inner)
        }
        _ => Cow::Borrowed(expr),
    }
}
