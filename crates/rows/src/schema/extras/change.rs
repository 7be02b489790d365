//! UPDATEs that keep and that violate each kind of constraint, and DELETE of a row that nobody needs.

use isobath_sql::memory::ViolationKind;
use isobath_sql::row::Statement;
use isobath_sql::schema::ConstraintKind;
use isobath_sql::{Cell, Row, Value};

use super::stage::Stage;
use crate::schema::case::{Expected, TestCase};
use crate::schema::phrase;

/// How many accepted rows of the suite are tried as the source of an UPDATE that keeps everything.
const TRIED: usize = 20;

/// For each constraint: an UPDATE of the seed row that breaks it, and one of the same columns that does not.
pub(super) fn updates(stage: &Stage<'_>, suite: &[&TestCase]) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (constraint, definition) in stage.definition.constraints.iter().enumerate() {
        let columns = definition.columns();
        let named = phrase::columns(stage.definition, &columns);
        let table = stage.name();
        let breaking = match &definition.kind {
            ConstraintKind::NotNull { column } => update(stage, &[(*column, Value::Null)])
                .and_then(|act| {
                    let name = format!("{table} rejects an update of {named} to NULL");
                    stage.rejected(name, &stage.own, act, |violation| {
                        matches!(violation.kind, ViolationKind::Null { column: at } if at == *column)
                    })
                }),
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::UniqueIndex { .. } => duplicating(stage, suite, constraint, &columns),
            ConstraintKind::ForeignKey(_) | ConstraintKind::Check { .. } => {
                copying(stage, suite, constraint, &columns)
            }
        };
        let Some(breaking) = breaking else { continue };
        cases.push(breaking);
        if !matches!(definition.kind, ConstraintKind::NotNull { .. }) {
            cases.extend(keeping(stage, suite, &columns));
        }
    }
    cases
}

/// DELETE of the seed row while nothing refers to it.
pub(super) fn delete(stage: &Stage<'_>) -> Option<TestCase> {
    let memory = stage.after(&stage.own)?;
    let [row] = memory.rows(stage.table) else {
        return None;
    };
    let only = stage.selecting(stage.table, row)?;
    let columns = only.iter().map(|(column, _)| *column).collect();
    let act = Statement::Delete {
        table: stage.table,
        only,
    };
    let name = format!("{} lets go of a row that nothing refers to", stage.name());
    stage.accepted(name, &stage.own, act, &[(stage.table, columns)])
}

/// An UPDATE of the seed row.
fn update(stage: &Stage<'_>, set: &[(usize, Value)]) -> Option<Statement> {
    let memory = stage.after(&stage.own)?;
    let [row] = memory.rows(stage.table) else {
        return None;
    };
    update_of(stage, row, set)
}

fn update_of(stage: &Stage<'_>, row: &[Value], set: &[(usize, Value)]) -> Option<Statement> {
    let set = set.iter().cloned();
    Some(Statement::Update {
        table: stage.table,
        only: stage.selecting(stage.table, row)?,
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
    match &case.act {
        Statement::Insert(row) => Some(row),
        _ => None,
    }
}

/// The values of an INSERT that the suite shows to break the constraint, put into the seed row.
fn copying(
    stage: &Stage<'_>,
    suite: &[&TestCase],
    constraint: usize,
    columns: &[usize],
) -> Option<TestCase> {
    let named = phrase::columns(stage.definition, columns);
    suite.iter().find_map(|case| {
        let Expected::Rejected(violation) = &case.expected else {
            return None;
        };
        if violation.constraint != Some(constraint) {
            return None;
        }
        let act = update(stage, &values(inserted(case)?, columns)?)?;
        let name = format!(
            "{} rejects an update of {named} that breaks {}",
            stage.name(),
            rule(stage, constraint)
        );
        stage.rejected(name, &stage.own, act, |violation| {
            violation.constraint == Some(constraint)
        })
    })
}

/// A second row that the suite shows to be accepted, given the key of the first.
fn duplicating(
    stage: &Stage<'_>,
    suite: &[&TestCase],
    constraint: usize,
    columns: &[usize],
) -> Option<TestCase> {
    let named = phrase::columns(stage.definition, columns);
    suite
        .iter()
        .filter(|case| case.expected == Expected::Accepted)
        .find_map(|case| {
            let mut lead_up = case.lead_up.clone();
            lead_up.push(case.act.clone());
            let memory = stage.after(&lead_up)?;
            let [first, second] = memory.rows(stage.table) else {
                return None;
            };
            let set: Vec<(usize, Value)> = columns
                .iter()
                .map(|column| (*column, first[*column].clone()))
                .collect();
            let act = update_of(stage, second, &set)?;
            let name = format!(
                "{} rejects an update to the same {named} as another row",
                stage.name()
            );
            stage.rejected(name, &lead_up, act, |violation| {
                violation.constraint == Some(constraint)
                    && violation.kind == ViolationKind::Duplicate
            })
        })
}

/// An UPDATE of the same columns to values that the suite shows to be accepted.
fn keeping(stage: &Stage<'_>, suite: &[&TestCase], columns: &[usize]) -> Option<TestCase> {
    let named = phrase::columns(stage.definition, columns);
    let accepted = suite
        .iter()
        .filter(|case| case.expected == Expected::Accepted)
        .filter_map(|case| inserted(case));
    accepted.take(TRIED).find_map(|row| {
        let set = values(row, columns)?;
        // Something must change, or the update shows nothing.
        if set
            .iter()
            .all(|(column, value)| stage.row.value(*column) == Some(value))
        {
            return None;
        }
        let act = update(stage, &set)?;
        let name = format!("{} accepts an update of {named}", stage.name());
        stage.accepted(name, &stage.own, act, &[(stage.table, columns.to_vec())])
    })
}

fn rule(stage: &Stage<'_>, constraint: usize) -> String {
    match &stage.definition.constraints[constraint].kind {
        ConstraintKind::ForeignKey(key) => {
            format!("its reference to {}", stage.schema.tables[key.parent].name)
        }
        ConstraintKind::Check { expr } => phrase::condition(expr),
        _ => "a constraint".to_owned(),
    }
}
