//! "Did you mean": the name of the schema that is nearest to one that it does not have.

use isobath_rows::query::cover::{ProblemReason, QueryProblem};
use isobath_sql::Schema;
use isobath_sql::coverage::TargetError;

use crate::nearest::nearest;

/// What is wrong with a query, and the name that it probably meant.
pub(super) fn explain(problem: &QueryProblem, schema: &Schema) -> String {
    let why = problem.reason.to_string();
    match &problem.reason {
        ProblemReason::Targets(error) => match meant(error, schema) {
            Some(meant) => format!("{why}; did you mean `{meant}`?"),
            None => why,
        },
        ProblemReason::Broken(_) | ProblemReason::Unevaluated(_) | ProblemReason::Function(_) => {
            why
        }
    }
}

/// The table or column that a query probably meant.
fn meant<'s>(error: &TargetError, schema: &'s Schema) -> Option<&'s str> {
    let tables = schema.tables.iter();
    match error {
        TargetError::UnknownTable { name, .. } => {
            nearest(name, tables.map(|table| table.name.as_str()))
        }
        TargetError::UnknownColumn { name, .. } => {
            let column = name.rsplit('.').next().unwrap_or(name);
            let columns = tables.flat_map(|table| &table.columns);
            nearest(column, columns.map(|column| column.name.as_str()))
        }
        TargetError::Syntax { .. }
        | TargetError::Empty
        | TargetError::Several { .. }
        | TargetError::ReadsNothing { .. }
        | TargetError::AmbiguousColumn { .. }
        | TargetError::TooLarge { .. } => None,
    }
}
