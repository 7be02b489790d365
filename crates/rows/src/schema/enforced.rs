//! The constraints of a table as an engine enforces them.

use isobath_sql::schema::{ConstraintKind, Table};
use isobath_sql::{Dialect, Expr};

/// One constraint as the engine enforces it.
#[derive(Clone, Debug, PartialEq)]
pub struct EnforcedConstraint {
    /// Index of the constraint in its table.
    pub constraint: usize,
    /// What it demands here: SQLite's primary keys are UNIQUE, because they admit NULL.
    pub kind: ConstraintKind,
}

/// The rules of a table in the order used everywhere: key, NOT NULLs, UNIQUEs, foreign keys, CHECKs.
///
/// A NOT NULL that the key implies is left out, and so is one on a SQLite row
/// id or a TIMESTAMP of MySQL, where the engine replaces NULL and never refuses it.
pub fn rules(table: &Table, dialect: &dyn Dialect) -> Vec<EnforcedConstraint> {
    let alias = dialect.rowid_alias(table);
    // A row id turns NULL into a number, so that its key refuses duplicates only.
    let key_admits_null = dialect.key_admits_null(table) || alias.is_some();
    let implied: &[usize] = if key_admits_null {
        &[]
    } else {
        table.primary_key().unwrap_or_default()
    };
    let mut rules: Vec<EnforcedConstraint> = table
        .constraints
        .iter()
        .enumerate()
        .filter(|(_, constraint)| match constraint.kind {
            ConstraintKind::NotNull { column } => {
                !implied.contains(&column)
                    && alias != Some(column)
                    && !dialect.null_is_now(table, column)
            }
            _ => true,
        })
        .map(|(index, constraint)| {
            let kind = match &constraint.kind {
                ConstraintKind::PrimaryKey { columns } if key_admits_null => {
                    ConstraintKind::Unique {
                        columns: columns.clone(),
                        nulls_distinct: true,
                    }
                }
                kind => kind.clone(),
            };
            EnforcedConstraint {
                constraint: index,
                kind,
            }
        })
        .collect();
    // Stable, so that constraints of one kind keep the order of the source.
    rules.sort_by_key(|rule| match &table.constraints[rule.constraint].kind {
        ConstraintKind::PrimaryKey { .. } => 0,
        ConstraintKind::NotNull { .. } => 1,
        ConstraintKind::Unique { .. } | ConstraintKind::UniqueIndex { .. } => 2,
        ConstraintKind::ForeignKey(_) => 3,
        ConstraintKind::Check { .. } => 4,
    });
    rules
}

/// Whether an expression is unknown as soon as any column in it is NULL.
///
/// Only then is "a column is NULL" a way to satisfy a CHECK.
pub fn is_strict(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value) => !value.is_null(),
        Expr::Column(_) | Expr::Parameter(_) => true,
        Expr::Unary { expr, .. } | Expr::Not(expr) | Expr::Cast { expr, .. } => is_strict(expr),
        Expr::Binary { left, right, .. } | Expr::Compare { left, right, .. } => {
            is_strict(left) && is_strict(right)
        }
        Expr::Between {
            expr, low, high, ..
        } => is_strict(expr) && constant(low) && constant(high),
        Expr::InList { expr, list, .. } => is_strict(expr) && list.iter().all(constant),
        Expr::Like { expr, pattern, .. } => is_strict(expr) && is_strict(pattern),
        // AND and OR may be decided by their other operand; the rest handles NULL in ways of its own.
        Expr::And(_)
        | Expr::Or(_)
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::IsDistinct { .. }
        | Expr::Case { .. }
        | Expr::Function { .. }
        | Expr::Subquery(_)
        | Expr::Opaque { .. } => false,
    }
}

fn constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(value) if !value.is_null())
}
