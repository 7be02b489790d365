//! Own small queries, one per rule and criterion.

mod chaos;
mod extended;
mod fpc;
mod manual;
mod shop;
mod statement;

use super::{Criterion, Options, Target, TargetError, targets};
use crate::dialect::DialectName;

fn try_targets(
    dialect: DialectName,
    query: &str,
    criterion: Criterion,
    boundaries: bool,
) -> Result<Vec<Target>, TargetError> {
    targets(
        query,
        &shop::shop(),
        dialect,
        criterion,
        Options { boundaries },
    )
}

fn fpc(dialect: DialectName, query: &str) -> Vec<Target> {
    try_targets(dialect, query, Criterion::Fpc, true).expect("the query is good")
}

fn extended(dialect: DialectName, query: &str) -> Vec<Target> {
    try_targets(dialect, query, Criterion::Extended, true).expect("the query is good")
}

fn without_boundaries(dialect: DialectName, query: &str) -> Vec<Target> {
    try_targets(dialect, query, Criterion::Extended, false).expect("the query is good")
}

/// Label and SQL, a line each.
fn sql(targets: &[Target]) -> String {
    lines(targets, |target| {
        format!("{:<4} {}", target.label(), target.sql)
    })
}

/// The same with the sentence.
fn says(targets: &[Target]) -> String {
    lines(targets, |target| {
        format!("{:<4} {} -- {}", target.label(), target.sql, target.says)
    })
}

fn lines(targets: &[Target], line: impl Fn(&Target) -> String) -> String {
    targets.iter().map(line).collect::<Vec<_>>().join("\n")
}
