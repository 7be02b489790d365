//! Predicates for a satisfied and for a violated constraint.

use isobath_sql::schema::{ConstraintKind, ForeignKey};
use isobath_sql::{Expr, Value};

use crate::schema::enforced::EnforcedConstraint;
use crate::schema::predicate::{MatchMode, Predicate, RequiredTruth, RowMatch};

/// What a row must be like for the rule to let it pass.
pub fn satisfied(table: usize, rule: &EnforcedConstraint) -> Predicate {
    match &rule.kind {
        ConstraintKind::PrimaryKey { columns } => Predicate::and(
            std::iter::once(differs(table, columns)).chain(columns.iter().map(not_null)),
        ),
        ConstraintKind::Unique {
            columns,
            nulls_distinct: true,
        } => Predicate::or(
            std::iter::once(differs(table, columns)).chain(columns.iter().map(is_null)),
        ),
        ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => {
            duplicate(rule, false)
        }
        ConstraintKind::ForeignKey(key) if key.match_full => {
            Predicate::or([refers(key), Predicate::and(key.columns.iter().map(is_null))])
        }
        ConstraintKind::ForeignKey(key) => {
            Predicate::or(std::iter::once(refers(key)).chain(key.columns.iter().map(is_null)))
        }
        ConstraintKind::NotNull { column } => Predicate::not_null(*column),
        ConstraintKind::Check { expr } => Predicate::or(
            std::iter::once(Predicate::Expr {
                expr: expr.clone(),
                wanted: if is_two_valued(expr) {
                    RequiredTruth::True
                } else {
                    RequiredTruth::NotFalse
                },
            })
            .chain(strict_columns(expr).iter().map(is_null)),
        ),
    }
}

/// What a row must be like for the rule to refuse it.
pub fn violated(table: usize, rule: &EnforcedConstraint) -> Predicate {
    match &rule.kind {
        ConstraintKind::PrimaryKey { columns } => Predicate::or(
            std::iter::once(equals(table, columns)).chain(columns.iter().map(is_null)),
        ),
        ConstraintKind::Unique {
            columns,
            nulls_distinct: true,
        } => Predicate::and(
            std::iter::once(equals(table, columns)).chain(columns.iter().map(not_null)),
        ),
        ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => duplicate(rule, true),
        ConstraintKind::ForeignKey(key) if key.match_full => Predicate::or([
            refers_not(key),
            Predicate::and([
                Predicate::or(key.columns.iter().map(is_null)),
                Predicate::or(key.columns.iter().map(not_null)),
            ]),
        ]),
        ConstraintKind::ForeignKey(key) => refers_not(key),
        ConstraintKind::NotNull { column } => Predicate::null(*column),
        ConstraintKind::Check { expr } => verdict(expr, RequiredTruth::False),
    }
}

/// The expression has a verdict, and the columns that could make it unknown have values.
pub(super) fn verdict(expr: &Expr, wanted: RequiredTruth) -> Predicate {
    Predicate::and(
        std::iter::once(Predicate::Expr {
            expr: expr.clone(),
            wanted,
        })
        .chain(nullable_columns(expr).iter().map(not_null)),
    )
}

/// The expression is unknown.
///
/// A column that makes it so by itself is named, because that is what search
/// can aim at; the expression is asked only where NULL in a column may not be
/// enough. Without such a column nothing can make it unknown, and the
/// predicate contradicts itself so that it is counted and dropped.
pub(super) fn unknown(expr: &Expr) -> Predicate {
    let nullable = nullable_columns(expr);
    if nullable.is_empty() {
        let column = expr.columns().first().copied().unwrap_or(0);
        return Predicate::And(vec![Predicate::null(column), Predicate::not_null(column)]);
    }
    let some_null = Predicate::or(nullable.iter().map(is_null));
    if strict_columns(expr).len() == nullable.len() {
        some_null
    } else {
        Predicate::and([
            some_null,
            Predicate::Expr {
                expr: expr.clone(),
                wanted: RequiredTruth::Unknown,
            },
        ])
    }
}

/// The new row differs from every row there in some of the columns.
pub(super) fn differs(table: usize, columns: &[usize]) -> Predicate {
    Predicate::Match(RowMatch {
        with: table,
        equal: Vec::new(),
        differ: columns.iter().map(|column| (*column, *column)).collect(),
        mode: some(columns),
    })
}

/// "Some of the columns" is written as "all" where there is one, so that equal conditions look equal.
fn some(columns: &[usize]) -> MatchMode {
    if columns.len() > 1 {
        MatchMode::Any
    } else {
        MatchMode::All
    }
}

/// The new row repeats a row there in all of the columns.
pub(super) fn equals(table: usize, columns: &[usize]) -> Predicate {
    Predicate::Match(RowMatch {
        with: table,
        equal: columns.iter().map(|column| (*column, *column)).collect(),
        differ: Vec::new(),
        mode: MatchMode::All,
    })
}

/// The new row repeats a row there in all of the columns but one, and differs in that one.
pub(super) fn equals_but(table: usize, columns: &[usize], but: usize) -> Predicate {
    let pair = |column: &usize| (*column, *column);
    Predicate::Match(RowMatch {
        with: table,
        equal: columns.iter().filter(|c| **c != but).map(pair).collect(),
        differ: vec![(but, but)],
        mode: MatchMode::All,
    })
}

/// All referring columns agree with a parent row.
pub(super) fn refers(key: &ForeignKey) -> Predicate {
    Predicate::Match(RowMatch {
        with: key.parent,
        equal: pairs(key).collect(),
        differ: Vec::new(),
        mode: MatchMode::All,
    })
}

/// All columns of the key have values, and no parent row agrees with them.
fn refers_not(key: &ForeignKey) -> Predicate {
    let differs = Predicate::Match(RowMatch {
        with: key.parent,
        equal: Vec::new(),
        differ: pairs(key).collect(),
        mode: some(&key.columns),
    });
    Predicate::and(std::iter::once(differs).chain(key.columns.iter().map(not_null)))
}

/// Pairs of referring and referred column.
pub(super) fn pairs(key: &ForeignKey) -> impl Iterator<Item = (usize, usize)> {
    key.columns
        .iter()
        .copied()
        .zip(key.parent_columns.iter().copied())
}

fn duplicate(rule: &EnforcedConstraint, duplicate: bool) -> Predicate {
    Predicate::Duplicate {
        constraint: rule.constraint,
        duplicate,
    }
}

pub(super) fn is_null(column: &usize) -> Predicate {
    Predicate::null(*column)
}

pub(super) fn not_null(column: &usize) -> Predicate {
    Predicate::not_null(*column)
}

/// The columns that make the expression unknown as soon as they are NULL, whatever the others hold.
pub fn strict_columns(expr: &Expr) -> Vec<usize> {
    let mut columns = expr.columns();
    columns.retain(|column| is_strict_in(expr, *column));
    columns
}

/// The columns that make some part of the condition unknown when they are NULL.
///
/// These are the strict columns of the leaves of AND, OR and NOT. A column
/// tested by IS NULL anywhere is not among them: there NULL is an answer.
pub fn nullable_columns(expr: &Expr) -> Vec<usize> {
    let mut tested = Vec::new();
    expr.walk(&mut |inner| {
        if let Expr::IsNull { expr, .. } = inner {
            tested.extend(expr.columns());
        }
    });
    let mut columns = expr.columns();
    columns.retain(|column| !tested.contains(column) && some_leaf_strict_in(expr, *column));
    columns
}

/// Whether the condition is never unknown, so that passing it means being true.
fn is_two_valued(expr: &Expr) -> bool {
    match expr {
        Expr::IsNull { .. } | Expr::IsTruth { .. } | Expr::IsDistinct { .. } => true,
        Expr::And(parts) | Expr::Or(parts) => parts.iter().all(is_two_valued),
        Expr::Not(inner) => is_two_valued(inner),
        _ => false,
    }
}

fn some_leaf_strict_in(expr: &Expr, column: usize) -> bool {
    match expr {
        Expr::And(parts) | Expr::Or(parts) => {
            parts.iter().any(|part| some_leaf_strict_in(part, column))
        }
        Expr::Not(inner) => some_leaf_strict_in(inner, column),
        leaf => is_strict_in(leaf, column),
    }
}

/// Whether the expression is NULL (as a condition: unknown) whenever the column is.
fn is_strict_in(expr: &Expr, column: usize) -> bool {
    let strict = |inner: &Expr| is_strict_in(inner, column);
    match expr {
        Expr::Column(used) => used.slot == column,
        Expr::Unary { expr, .. } | Expr::Not(expr) | Expr::Cast { expr, .. } => strict(expr),
        Expr::Binary { left, right, .. } | Expr::Compare { left, right, .. } => {
            strict(left) || strict(right)
        }
        Expr::Like { expr, pattern, .. } => strict(expr) || strict(pattern),
        // A bound alone may decide the matter, so only what is tested counts.
        Expr::Between { expr, .. } => strict(expr),
        Expr::InList { expr, list, .. } => !list.is_empty() && strict(expr),
        // One operand may decide, unless all of them are unknown.
        Expr::And(parts) | Expr::Or(parts) => !parts.is_empty() && parts.iter().all(strict),
        Expr::Function { name, args } => {
            STRICT_FUNCTIONS.contains(&name.as_str()) && args.iter().any(strict)
        }
        Expr::Literal(value) => matches!(value, Value::Null),
        Expr::Parameter(_)
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::IsDistinct { .. }
        | Expr::Case { .. }
        | Expr::Subquery(_)
        | Expr::Opaque { .. } => false,
    }
}

/// Functions that give NULL for NULL in every dialect.
const STRICT_FUNCTIONS: [&str; 16] = [
    "abs",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "floor",
    "length",
    "lower",
    "ltrim",
    "mod",
    "replace",
    "round",
    "rtrim",
    "substr",
    "trim",
    "upper",
];
