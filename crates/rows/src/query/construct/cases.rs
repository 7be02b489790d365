//! CASE and NULLIF in a comparison: a choice of the branch, and the comparison with the value of that branch.

use isobath_sql::expr::CompareOp;
use isobath_sql::{DataType, Expr, Value};

use super::global_constraints::compared;
use super::state::{ConditionOrigin, Obligation, TruthRequirement};

/// The most branches that are taken apart.
const MAX_BRANCHES: usize = 4;

/// A way through a CASE.
pub(super) struct CaseBranch {
    /// Conditions that are not true.
    passed: Vec<Expr>,
    /// The condition that is, unless it is ELSE.
    taken: Option<Expr>,
    /// The comparison over the value of the branch.
    condition: Expr,
}

/// The ways through the CASE or NULLIF that is one side of a comparison; `None` where there is none, or where a
/// comparison with its value may not be one with the value of the branch.
pub(super) fn branches(expr: &Expr) -> Option<Vec<CaseBranch>> {
    let Expr::Compare { op, left, right } = expr else {
        return None;
    };
    let (case, other, swapped) = match (cased(left), cased(right)) {
        (Some(case), None) => (case, right, false),
        (None, Some(case)) => (case, left, true),
        _ => return None,
    };
    let otherwise = case.otherwise.as_ref();
    let values = case
        .branches
        .iter()
        .map(|(_, value)| value)
        .chain(otherwise);
    let class = class_of(other)?;
    for value in values {
        if class_of(value)? != class && !is_null(value) && !is_null(other) {
            return None;
        }
    }
    let condition = |value: &Expr| {
        let (value, other) = (value.clone(), (**other).clone());
        if swapped {
            compared(*op, other, value)
        } else {
            compared(*op, value, other)
        }
    };
    let mut passed = Vec::new();
    let mut ways = Vec::new();
    for (when, value) in case.branches {
        ways.push(CaseBranch {
            passed: passed.clone(),
            taken: Some(when.clone()),
            condition: condition(&value),
        });
        passed.push(when);
    }
    let null = Expr::Literal(Value::Null);
    ways.push(CaseBranch {
        passed,
        taken: None,
        condition: condition(case.otherwise.as_ref().unwrap_or(&null)),
    });
    Some(ways)
}

/// Obligations of which one holds.
pub(super) fn alternatives<'a>(
    branches: Vec<CaseBranch>,
    want: TruthRequirement,
    origin: ConditionOrigin,
) -> Vec<Obligation<'a>> {
    let holds = |expr, want| Obligation::Holds { expr, want, origin };
    let ways = branches.into_iter().map(|branch| {
        let passed = branch.passed.into_iter();
        let passed = passed.map(|expr| holds(expr, TruthRequirement::NotTrue));
        let taken = branch.taken.map(|expr| holds(expr, TruthRequirement::True));
        let all = passed.chain(taken).chain([holds(branch.condition, want)]);
        Obligation::All(all.collect())
    });
    ways.collect()
}

/// Conditions with their values, and the value without any.
struct Cased {
    branches: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
}

fn cased(expr: &Expr) -> Option<Cased> {
    match expr {
        Expr::Case {
            operand,
            branches,
            otherwise,
        } if branches.len() <= MAX_BRANCHES => {
            let branches = branches.iter().map(|(when, value)| {
                let when = match operand {
                    None => when.clone(),
                    Some(operand) => compared(CompareOp::Equal, (**operand).clone(), when.clone()),
                };
                (when, value.clone())
            });
            Some(Cased {
                branches: branches.collect(),
                otherwise: otherwise.as_deref().cloned(),
            })
        }
        Expr::Function { name, args } if name == "nullif" => {
            let [value, other] = args.as_slice() else {
                return None;
            };
            let same = compared(CompareOp::Equal, value.clone(), other.clone());
            Some(Cased {
                branches: vec![(same, Expr::Literal(Value::Null))],
                otherwise: Some(value.clone()),
            })
        }
        _ => None,
    }
}

/// Types whose values compare in one way.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Number,
    Text,
    Date,
    Null,
}

fn class_of(expr: &Expr) -> Option<Class> {
    match expr {
        Expr::Column(column) => match &column.data_type {
            DataType::Integer { .. } | DataType::Decimal { .. } => Some(Class::Number),
            DataType::Varchar { .. } | DataType::Text => Some(Class::Text),
            DataType::Date => Some(Class::Date),
            _ => None,
        },
        Expr::Literal(Value::Int(_) | Value::Decimal(_)) => Some(Class::Number),
        Expr::Literal(Value::Text(_)) => Some(Class::Text),
        Expr::Literal(Value::Date(_)) => Some(Class::Date),
        Expr::Literal(Value::Null) => Some(Class::Null),
        _ => None,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Value::Null))
}
