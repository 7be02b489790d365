//! Own small queries, one per rule and criterion.

mod chaos;
mod extended;
mod fpc;
mod manual;
mod shop;
mod statement;

use super::{CoverageOptions, CoverageTarget, QueryCriterion, TargetError, targets};
use crate::dialect::DialectName;

fn try_targets(
    dialect: DialectName,
    query: &str,
    criterion: QueryCriterion,
    boundaries: bool,
) -> Result<Vec<CoverageTarget>, TargetError> {
    targets(
        query,
        &shop::shop(),
        dialect,
        criterion,
        CoverageOptions { boundaries },
    )
}

fn fpc(dialect: DialectName, query: &str) -> Vec<CoverageTarget> {
    try_targets(dialect, query, QueryCriterion::Fpc, true).expect("the query is good")
}

fn extended(dialect: DialectName, query: &str) -> Vec<CoverageTarget> {
    try_targets(dialect, query, QueryCriterion::Extended, true).expect("the query is good")
}

fn without_boundaries(dialect: DialectName, query: &str) -> Vec<CoverageTarget> {
    try_targets(dialect, query, QueryCriterion::Extended, false).expect("the query is good")
}

/// Label and SQL, a line each.
fn sql(targets: &[CoverageTarget]) -> String {
    lines(targets, |target| {
        format!("{:<4} {}", target.label(), target.sql)
    })
}

/// The same with the sentence.
fn description(targets: &[CoverageTarget]) -> String {
    lines(targets, |target| {
        format!(
            "{:<4} {} -- {}",
            target.label(),
            target.sql,
            target.description
        )
    })
}

fn lines(targets: &[CoverageTarget], line: impl Fn(&CoverageTarget) -> String) -> String {
    targets.iter().map(line).collect::<Vec<_>>().join("\n")
}
