//! UPDATEs that satisfy and that violate each kind of constraint, and DELETE of an unreferenced
//! row.

use isobath_sql::memory::ViolationKind;
use isobath_sql::row::Statement;
use isobath_sql::schema::ConstraintKind;
use isobath_sql::{Cell, Row, Value};

use super::seeded_table::SeededTable;
use crate::schema::case::{ExpectedOutcome, TestCase};
use crate::schema::phrase;

/// How many accepted rows of the suite are tried as the source of an UPDATE that keeps everything.
const TRIED: usize = 20;

/// For each constraint: an UPDATE of the seed row that breaks it, and one of the same columns that does not.
pub(super) fn updates(seeded: &SeededTable<'_>, suite: &[&TestCase]) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (constraint, definition) in seeded.definition.constraints.iter().enumerate() {
        let columns = definition.columns();
        let named = phrase::columns(seeded.definition, &columns);
        let table = seeded.name();
        let breaking = match &definition.kind {
            ConstraintKind::NotNull { column } => update(seeded, &[(*column, Value::Null)])
                .and_then(|statement| {
                    let name = format!("{table} rejects an update of {named} to NULL");
                    seeded.rejected(name, &seeded.own, statement, |violation| {
                        matches!(violation.kind, ViolationKind::Null { column: at } if at == *column)
                    })
                }),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::UniqueIndex { .. } => duplicating(seeded, suite, constraint, &columns),
            ConstraintKind::ForeignKey(_) | ConstraintKind::Check { .. } => {
                copying(seeded, suite, constraint, &columns)
            }
        };
        let Some(breaking) = breaking else { continue };
        cases.push(breaking);
        if !matches!(definition.kind, ConstraintKind::NotNull { .. }) {
            cases.extend(keeping(seeded, suite, &columns));
        }
    }
    cases
}

/// DELETE of the seed row while nothing refers to it.
pub(super) fn delete(seeded: &SeededTable<'_>) -> Option<TestCase> {
    let memory = seeded.after(&seeded.own)?;
    let [row] = memory.rows(seeded.table) else {
        return None;
    };
    let only = seeded.selecting(seeded.table, row)?;
    let columns = only.iter().map(|(column, _)| *column).collect();
    let statement = Statement::Delete {
        table: seeded.table,
        only,
    };
    let name = format!("{} lets go of a row that nothing refers to", seeded.name());
    seeded.accepted(name, &seeded.own, statement, &[(seeded.table, columns)])
}

/// An UPDATE of the seed row.
fn update(seeded: &SeededTable<'_>, set: &[(usize, Value)]) -> Option<Statement> {
    let memory = seeded.after(&seeded.own)?;
    let [row] = memory.rows(seeded.table) else {
        return None;
    };
    update_of(seeded, row, set)
}

fn update_of(seeded: &SeededTable<'_>, row: &[Value], set: &[(usize, Value)]) -> Option<Statement> {
    let set = set.iter().cloned();
    Some(Statement::Update {
        table: seeded.table,
        only: seeded.selecting(seeded.table, row)?,
        set: set
            .map(|(column, value)| (column, Cell::Value(value)))
            .collect(),
    })
}

/// The values of some columns of a row, when it gives them all.
fn values(row: &Row, columns: &[usize]) -> Option<Vec<(usize, Value)>> {
    columns
        .iter()
        .map(|column| Some((*column, row.value(*column)?.clone())))
        .collect()
}

fn inserted(case: &TestCase) -> Option<&Row> {
    match &case.statement {
        Statement::Insert(row) => Some(row),
        _ => None,
    }
}

/// The values of an INSERT that the suite shows to break the constraint, put into the seed row.
fn copying(
    seeded: &SeededTable<'_>,
    suite: &[&TestCase],
    constraint: usize,
    columns: &[usize],
) -> Option<TestCase> {
    let named = phrase::columns(seeded.definition, columns);
    suite.iter().find_map(|case| {
        let ExpectedOutcome::Rejected(violation) = &case.expected else {
            return None;
        };
        if violation.constraint != Some(constraint) {
            return None;
        }
        let statement = update(seeded, &values(inserted(case)?, columns)?)?;
        let name = format!(
            "{} rejects an update of {named} that breaks {}",
            seeded.name(),
            rule(seeded, constraint)
        );
        seeded.rejected(name, &seeded.own, statement, |violation| {
            violation.constraint == Some(constraint)
        })
    })
}

/// A second row that the suite shows to be accepted, given the key of the first.
fn duplicating(
    seeded: &SeededTable<'_>,
    suite: &[&TestCase],
    constraint: usize,
    columns: &[usize],
) -> Option<TestCase> {
    let named = phrase::columns(seeded.definition, columns);
    suite
        .iter()
        .filter(|case| case.expected == ExpectedOutcome::Accepted)
        .find_map(|case| {
            let mut setup_rows = case.setup_rows.clone();
            setup_rows.push(case.statement.clone());
            let memory = seeded.after(&setup_rows)?;
            let [first, second] = memory.rows(seeded.table) else {
                return None;
            };
            let set: Vec<(usize, Value)> = columns
                .iter()
                .map(|column| (*column, first[*column].clone()))
                .collect();
            let statement = update_of(seeded, second, &set)?;
            let name = format!(
                "{} rejects an update to the same {named} as another row",
                seeded.name()
            );
            seeded.rejected(name, &setup_rows, statement, |violation| {
                violation.constraint == Some(constraint)
                    && violation.kind == ViolationKind::Duplicate
            })
        })
}

/// An UPDATE of the same columns to values that the suite shows to be accepted.
fn keeping(seeded: &SeededTable<'_>, suite: &[&TestCase], columns: &[usize]) -> Option<TestCase> {
    let named = phrase::columns(seeded.definition, columns);
    let accepted = suite
        .iter()
        .filter(|case| case.expected == ExpectedOutcome::Accepted)
        .filter_map(|case| inserted(case));
    accepted.take(TRIED).find_map(|row| {
        let set = values(row, columns)?;
        // Something must change, or the update shows nothing.
        if set
            .iter()
            .all(|(column, value)| seeded.row.value(*column) == Some(value))
        {
            return None;
        }
        let statement = update(seeded, &set)?;
        let name = format!("{} accepts an update of {named}", seeded.name());
        seeded.accepted(
            name,
            &seeded.own,
            statement,
            &[(seeded.table, columns.to_vec())],
        )
    })
}

fn rule(seeded: &SeededTable<'_>, constraint: usize) -> String {
    match &seeded.definition.constraints[constraint].kind {
        ConstraintKind::ForeignKey(key) => {
            format!("its reference to {}", seeded.schema.tables[key.parent].name)
        }
        ConstraintKind::Check { expr } => phrase::condition(expr),
        _ => "a constraint".to_owned(),
    }
}
