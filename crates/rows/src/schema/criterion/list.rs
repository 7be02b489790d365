//! The requirements of a criterion: trivially infeasible ones removed, equal ones merged.

use isobath_sql::{Dialect, Expr, Schema, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

use super::name::{Criterion, CriterionName};
use super::subject::TableUnderTest;
use super::{column, constraint};
use crate::schema::predicate::Predicate;
use crate::schema::requirement::Requirement;

/// The requirements of a criterion on a schema.
#[derive(Clone, Debug)]
pub struct Requirements {
    /// The requirements to attempt, table by table.
    pub attempted: Vec<Requirement>,
    /// How many there were at each stage.
    pub counts: RequirementCounts,
}

/// How many requirements there are at each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequirementCounts {
    /// As the criteria make them.
    pub raw: usize,
    /// Without those that ask for NULL and for a value in one column.
    pub feasible: usize,
    /// With equal ones merged.
    pub attempted: usize,
}

/// The requirements of a criterion on all tables of a schema, under a dialect's rules.
pub fn requirements(schema: &Schema, dialect: &dyn Dialect, criterion: &Criterion) -> Requirements {
    let mut counts = RequirementCounts::default();
    let mut attempted = Vec::new();
    for index in 0..schema.tables.len() {
        let subject = TableUnderTest::new(schema, index, dialect);
        let mut raw: Vec<Requirement> = Vec::new();
        for name in criterion.names() {
            raw.extend(match name {
                CriterionName::Apc => constraint::acceptance(&subject),
                CriterionName::Icc => constraint::each(&subject),
                CriterionName::Aicc => constraint::active(&subject),
                CriterionName::CondAicc => constraint::active_by_condition(&subject),
                CriterionName::ClauseAicc => constraint::active_by_clause(&subject),
                CriterionName::Ncc => column::nulls(&subject),
                CriterionName::Ancc => column::active_nulls(&subject),
                CriterionName::Ucc => column::values(&subject),
                CriterionName::Aucc => column::active_values(&subject),
            });
        }
        counts.raw += raw.len();
        raw.retain(|requirement| !is_trivially_infeasible(&requirement.predicate));
        counts.feasible += raw.len();
        merge_into(&mut attempted, raw);
    }
    counts.attempted = attempted.len();
    Requirements { attempted, counts }
}

/// Whether a conjunction asks for NULL and for a value in one column, directly or by a choice of NULLs.
fn is_trivially_infeasible(predicate: &Predicate) -> bool {
    let Predicate::And(parts) = predicate else {
        return false;
    };
    let denied = |part: &Predicate| match part {
        Predicate::Null { column, is_null } => parts.contains(&Predicate::Null {
            column: *column,
            is_null: !is_null,
        }),
        _ => false,
    };
    parts.iter().any(|part| match part {
        Predicate::Or(choices) => !choices.is_empty() && choices.iter().all(denied),
        part => denied(part),
    })
}

/// Appends the requirements of one table, those with the same predicate as one.
fn merge_into(attempted: &mut Vec<Requirement>, raw: Vec<Requirement>) {
    let mut positions: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for requirement in raw {
        let bucket = positions
            .entry(fingerprint(&requirement.predicate))
            .or_default();
        let same = bucket
            .iter()
            .copied()
            .find(|at| attempted[*at].predicate.same_as(&requirement.predicate));
        match same {
            Some(at) => attempted[at].absorb(requirement),
            None => {
                bucket.push(attempted.len());
                attempted.push(requirement);
            }
        }
    }
}

/// A number that predicates share when they are the same up to the order of their parts.
fn fingerprint(predicate: &Predicate) -> u64 {
    let mut hasher = FxHasher::default();
    std::mem::discriminant(predicate).hash(&mut hasher);
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts
            .iter()
            .map(fingerprint)
            .fold(0u64, u64::wrapping_add)
            .hash(&mut hasher),
        Predicate::Null { column, is_null } => (column, is_null).hash(&mut hasher),
        Predicate::Expr { expr, wanted } => {
            wanted.hash(&mut hasher);
            fingerprint_expr(expr, &mut hasher);
        }
        Predicate::Match(wanted) => wanted.hash(&mut hasher),
        Predicate::Duplicate {
            constraint,
            duplicate,
        } => (constraint, duplicate).hash(&mut hasher),
        Predicate::Fits {
            column,
            data_type,
            fits,
        } => (column, data_type, fits).hash(&mut hasher),
    }
    hasher.finish()
}

fn fingerprint_expr(expr: &Expr, hasher: &mut FxHasher) {
    expr.walk(&mut |inner| {
        std::mem::discriminant(inner).hash(hasher);
        match inner {
            Expr::Column(column) => column.slot.hash(hasher),
            Expr::Literal(Value::Int(number)) => number.hash(hasher),
            Expr::Literal(Value::Text(text)) => text.hash(hasher),
            Expr::Literal(value) => value.to_string().hash(hasher),
            Expr::Compare { op, .. } => op.hash(hasher),
            _ => {}
        }
    });
}
