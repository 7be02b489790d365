//! Column criteria: NCC, ANCC, UCC and AUCC.

use isobath_sql::schema::ConstraintKind;

use super::predicates::equals;
use super::subject::{RowVerdict, TableUnderTest};
use crate::schema::phrase;
use crate::schema::predicate::{MatchMode, Predicate, RowMatch};
use crate::schema::requirement::Requirement;

/// NCC: each column is NULL; each column is not.
pub(super) fn nulls(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    per_column(subject, |column, name| {
        let mut found = Vec::new();
        if subject.admits_null(column) {
            found.push(subject.requirement(
                Predicate::null(column),
                RowVerdict::Open,
                &format!("NULL in {name}"),
            ));
        }
        found.push(subject.requirement(
            Predicate::not_null(column),
            RowVerdict::Open,
            &format!("a value in {name}"),
        ));
        found
    })
}

/// ANCC: the same while the other rules hold.
pub(super) fn active_nulls(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    per_column(subject, |column, name| {
        let clashes = positions(subject, |kind| match kind {
            ConstraintKind::NotNull { column: of } => *of == column,
            ConstraintKind::PrimaryKey { columns } => columns.contains(&column),
            _ => false,
        });
        let mut found = Vec::new();
        if subject.admits_null(column) {
            found.push(subject.requirement(
                subject.others_hold(&clashes, Predicate::null(column)),
                outcome(&clashes),
                &format!("NULL in {name}"),
            ));
        }
        let with_value = if clashes.is_empty() {
            subject.others_hold(&[], Predicate::not_null(column))
        } else {
            subject.all_hold()
        };
        found.push(subject.requirement(
            with_value,
            RowVerdict::Accepted,
            &format!("a value in {name}"),
        ));
        found
    })
}

/// UCC: each column differs from, and equals, that of the row there.
pub(super) fn values(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    per_column(subject, |column, name| {
        vec![
            comparing(subject.requirement(
                another(subject, column),
                RowVerdict::Open,
                &format!("a row with another {name}"),
            )),
            comparing(subject.requirement(
                same(subject, column),
                RowVerdict::Open,
                &format!("a second row with the same {name}"),
            )),
        ]
    })
}

/// AUCC: the same while the other rules hold.
pub(super) fn active_values(subject: &TableUnderTest<'_>) -> Vec<Requirement> {
    per_column(subject, |column, name| {
        let clashes = positions(subject, |kind| match kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                columns.as_slice() == [column]
            }
            _ => false,
        });
        vec![
            comparing(subject.requirement(
                subject.others_hold(&clashes, another(subject, column)),
                RowVerdict::Accepted,
                &format!("a row with another {name}"),
            )),
            comparing(subject.requirement(
                subject.others_hold(&clashes, same(subject, column)),
                outcome(&clashes),
                &format!("a second row with the same {name}"),
            )),
        ]
    })
}

fn per_column(
    subject: &TableUnderTest<'_>,
    requirements: impl Fn(usize, &str) -> Vec<Requirement>,
) -> Vec<Requirement> {
    (0..subject.table.columns.len())
        .filter(|column| subject.is_askable(*column))
        .flat_map(|column| requirements(column, &phrase::columns(subject.table, &[column])))
        .collect()
}

fn positions(
    subject: &TableUnderTest<'_>,
    clashes: impl Fn(&ConstraintKind) -> bool,
) -> Vec<usize> {
    subject
        .rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| clashes(&rule.kind))
        .map(|(position, _)| position)
        .collect()
}

fn outcome(clashes: &[usize]) -> RowVerdict {
    match clashes {
        [] => RowVerdict::Accepted,
        [one] => RowVerdict::Rejected(*one),
        _ => RowVerdict::RejectedSomehow,
    }
}

fn another(subject: &TableUnderTest<'_>, column: usize) -> Predicate {
    let differs = Predicate::Match(RowMatch {
        with: subject.index,
        equal: Vec::new(),
        differ: vec![(column, column)],
        mode: MatchMode::All,
    });
    Predicate::and([differs, Predicate::not_null(column)])
}

fn same(subject: &TableUnderTest<'_>, column: usize) -> Predicate {
    Predicate::and([
        equals(subject.index, &[column]),
        Predicate::not_null(column),
    ])
}

fn comparing(mut requirement: Requirement) -> Requirement {
    requirement.needs_comparison = true;
    requirement
}
