//! A CHECK taken apart at its top: which ways there are to pass it and to fail it.

use isobath_sql::Expr;
use isobath_sql::expr::CompareOp;

use super::holds::{not_null, nullable_columns, unknown, verdict};
use crate::schema::phrase;
use crate::schema::predicate::{Predicate, Wanted};

/// One way to pass or to fail a CHECK.
pub(super) struct Way {
    /// What it asks of the row.
    pub(super) predicate: Predicate,
    /// Whether it passes.
    pub(super) passes: bool,
    /// How, as the end of a sentence about a row.
    pub(super) says: String,
}

/// The ways of a condition as a whole: unknown, true, false.
pub(super) fn whole(expr: &Expr) -> Vec<Way> {
    let text = phrase::condition(expr);
    vec![
        Way {
            predicate: unknown(expr),
            passes: true,
            says: format!("with {text} unknown"),
        },
        Way {
            predicate: verdict(expr, Wanted::True),
            passes: true,
            says: format!("with {text}"),
        },
        Way {
            predicate: verdict(expr, Wanted::False),
            passes: false,
            says: format!("without {text}"),
        },
    ]
}

/// The ways of a condition by its topmost connective.
pub(super) fn clauses(expr: &Expr) -> Vec<Way> {
    match pushed(expr).as_ref() {
        Expr::And(parts) => conjunction(parts),
        Expr::Or(parts) => disjunction(parts),
        between @ Expr::Between { .. } => between_clauses(between),
        list @ Expr::InList { .. } => list_clauses(list),
        other => whole(other),
    }
}

fn conjunction(parts: &[Expr]) -> Vec<Way> {
    let mut ways = each_unknown(parts);
    ways.push(Way {
        predicate: Predicate::and(parts.iter().map(|part| verdict(part, Wanted::True))),
        passes: true,
        says: format!("with {}", phrase::conditions(parts, " and ")),
    });
    for index in 0..parts.len() {
        ways.push(Way {
            predicate: all_but(parts, index, Wanted::False, Wanted::True),
            passes: false,
            says: format!("with only {} false", phrase::condition(&parts[index])),
        });
    }
    ways
}

fn disjunction(parts: &[Expr]) -> Vec<Way> {
    let mut ways = each_unknown(parts);
    for index in 0..parts.len() {
        ways.push(Way {
            predicate: all_but(parts, index, Wanted::True, Wanted::False),
            passes: true,
            says: format!("with only {}", phrase::condition(&parts[index])),
        });
    }
    ways.push(Way {
        predicate: Predicate::and(parts.iter().map(|part| verdict(part, Wanted::False))),
        passes: false,
        says: format!("with neither {}", phrase::conditions(parts, " nor ")),
    });
    ways
}

/// For each part: it is unknown, the others are true.
fn each_unknown(parts: &[Expr]) -> Vec<Way> {
    (0..parts.len())
        .map(|index| Way {
            predicate: Predicate::and(parts.iter().enumerate().map(|(at, part)| {
                if at == index {
                    unknown(part)
                } else {
                    verdict(part, Wanted::True)
                }
            })),
            passes: true,
            says: format!("with {} unknown", phrase::condition(&parts[index])),
        })
        .collect()
}

fn all_but(parts: &[Expr], index: usize, this: Wanted, others: Wanted) -> Predicate {
    Predicate::and(
        parts
            .iter()
            .enumerate()
            .map(|(at, part)| verdict(part, if at == index { this } else { others })),
    )
}

/// Unknown, inside, below, above; which of them pass depends on NOT.
fn between_clauses(between: &Expr) -> Vec<Way> {
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
        Wanted::False
    } else {
        Wanted::True
    };
    vec![
        Way {
            predicate: unknown(between),
            passes: true,
            says: format!("with {} unknown", phrase::condition(between)),
        },
        Way {
            predicate: verdict(between, inside),
            passes: !negated,
            says: format!("with {named} between {low_text} and {high_text}"),
        },
        Way {
            predicate: outside(CompareOp::Less, low, below, high),
            passes: *negated,
            says: format!("with {named} below {low_text}"),
        },
        Way {
            predicate: outside(CompareOp::Greater, high, above, low),
            passes: *negated,
            says: format!("with {named} above {high_text}"),
        },
    ]
}

/// Unknown, equal to each element, different from all; which of them pass depends on NOT.
fn list_clauses(membership: &Expr) -> Vec<Way> {
    let Expr::InList {
        expr,
        list,
        negated,
    } = membership
    else {
        return whole(membership);
    };
    let named = phrase::condition(expr);
    let mut ways = vec![Way {
        predicate: unknown(membership),
        passes: true,
        says: format!("with {} unknown", phrase::condition(membership)),
    }];
    for element in list {
        // Nothing is equal to NULL, so an element NULL is no way to be in the list.
        if matches!(element, Expr::Literal(value) if value.is_null()) {
            continue;
        }
        let equal = compare(CompareOp::Equal, expr, element);
        ways.push(Way {
            predicate: verdict(&equal, Wanted::True),
            passes: !negated,
            says: format!("with {}", phrase::condition(&equal)),
        });
    }
    let outside = if *negated {
        Wanted::True
    } else {
        Wanted::False
    };
    ways.push(Way {
        predicate: verdict(membership, outside),
        passes: *negated,
        says: format!("with {named} outside its list"),
    });
    ways
}

fn holds(expr: Expr) -> Predicate {
    Predicate::Expr {
        expr,
        wanted: Wanted::True,
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
