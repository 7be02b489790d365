//! Rules of the database oracle for PUT and PATCH.

use std::collections::BTreeSet;

use isobath_exec::test_database::RowChange;

use super::display::{self, holds};
use super::effect::AddressedRow;
use super::names::{body_fields, column_of, is_bookkeeping, names_one, table_of};
use super::oracle::{DatabaseOracle, JudgedCall};
use super::rules::fault;
use crate::fault::{Fault, FaultKind};

/// A PUT or PATCH that changed other rows as well, or columns of which nothing was sent.
pub(super) fn changed_others(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    let (true, Some(target), Some(sent)) =
        (case.exchange.succeeded(), &case.effect.target, &case.sent)
    else {
        return None;
    };
    let schema = &judge.schema;
    let columns: Vec<(usize, &serde_json::Value)> = sent
        .iter()
        .filter_map(|(name, value)| Some((column_of(schema, target.table, name)?, value)))
        .collect();
    let others: Vec<&RowChange> = case
        .changes
        .iter()
        .copied()
        .filter(|change| {
            change.table == target.table && change.before.as_ref() != Some(&target.row)
        })
        .filter(|change| {
            let Some(after) = change.after.as_ref().filter(|_| change.before.is_some()) else {
                return false;
            };
            let changed = change.columns();
            let changed: Vec<usize> = changed
                .into_iter()
                .filter(|&column| {
                    let column = schema.table(change.table).columns.get(column);
                    column.is_some_and(|column| !is_bookkeeping(&column.name))
                })
                .collect();
            // Just what was sent for one row, in another one: the condition is missing.
            !changed.is_empty()
                && changed.iter().all(|column| {
                    columns.iter().any(|(of, value)| {
                        let cell = after.get(*column);
                        of == column && cell.and_then(|cell| holds(cell, value)) == Some(true)
                    })
                })
        })
        .collect();
    let table = &schema.tables.get(target.table)?.name;
    if !others.is_empty() {
        let what = format!("and also changed other rows of {table}");
        return Some(fault(
            case,
            judge,
            FaultKind::UpdateChangedOthers,
            &format!("changes other rows of {table}"),
            &what,
            &others,
        ));
    }
    let own = own_change(case, target)?;
    let unsent = unsent(judge, case, target, sent);
    let accused: Vec<&str> = own
        .columns()
        .into_iter()
        .filter(|column| unsent.contains(column))
        .filter_map(|column| schema.table(target.table).columns.get(column))
        .map(|column| column.name.as_str())
        .filter(|name| !is_bookkeeping(name))
        .collect();
    if accused.is_empty() {
        return None;
    }
    let list = accused.join(", ");
    let what = format!("and changed {list} of {table}, which the request did not contain");
    Some(fault(
        case,
        judge,
        FaultKind::UpdateChangedOthers,
        &format!("changes {table}.{list}"),
        &what,
        &[own],
    ))
}

/// The change of the row that the path names, if any.
fn own_change<'a>(case: &JudgedCall<'a>, target: &AddressedRow) -> Option<&'a RowChange> {
    case.changes.iter().copied().find(|change| {
        change.table == target.table
            && change.before.as_ref() == Some(&target.row)
            && change.after.is_some()
    })
}

/// Columns that this call must leave alone: clients set them by other means, or by this operation and did not.
fn unsent(
    judge: &DatabaseOracle,
    case: &JudgedCall<'_>,
    target: &AddressedRow,
    sent: &serde_json::Map<String, serde_json::Value>,
) -> BTreeSet<usize> {
    let column = |name: &str| column_of(&judge.schema, target.table, name);
    let given: BTreeSet<usize> = sent.keys().filter_map(|name| column(name)).collect();
    let own: BTreeSet<usize> = body_fields(case.api, case.operation)
        .iter()
        .filter_map(|field| column(&field.name))
        .collect();
    // A PUT replaces: what it could say and did not say may become empty.
    let mut unsent = if &*case.operation.method == "PATCH" {
        own.clone()
    } else {
        BTreeSet::new()
    };
    let makers = case.api.operations.iter().filter(|operation| {
        &*operation.method == "POST"
            && !names_one(operation)
            && table_of(&judge.schema, operation) == Some(target.table)
    });
    for maker in makers {
        let set = body_fields(case.api, maker);
        unsent.extend(
            set.iter()
                .filter_map(|field| column(&field.name))
                .filter(|column| !own.contains(column)),
        );
    }
    unsent.difference(&given).copied().collect()
}

/// A PUT or PATCH that dropped a value that it was sent.
pub(super) fn lost_update(judge: &DatabaseOracle, case: &JudgedCall<'_>) -> Option<Fault> {
    let (Some(200 | 204), Some(target), Some(sent)) =
        (case.exchange.status(), &case.effect.target, &case.sent)
    else {
        return None;
    };
    if !case.effect.is_complete {
        return None;
    }
    let own =
        case.effect.changes.iter().find(|change| {
            change.table == target.table && change.before.as_ref() == Some(&target.row)
        });
    let after = match own {
        Some(change) => change.after.as_ref()?,
        None => &target.row,
    };
    let columns = &judge.schema.tables.get(target.table)?.columns;
    let differs: Vec<usize> = sent
        .iter()
        // To many services null means that nothing is said.
        .filter(|(_, value)| !value.is_null())
        .filter_map(|(name, value)| {
            let column = column_of(&judge.schema, target.table, name)?;
            let was = holds(target.row.get(column)?, value)? || holds(after.get(column)?, value)?;
            (!was && after.get(column) == target.row.get(column)).then_some(column)
        })
        .collect();
    if differs.is_empty() {
        return None;
    }
    let table = &judge.schema.tables.get(target.table)?.name;
    let key = display::key(&judge.schema, target.table, &target.row);
    if case.changes.is_empty() && !judge.writes_at_all(case.index) {
        let what = format!("but the row of {table} with {key} is unchanged");
        return Some(fault(
            case,
            judge,
            FaultKind::SuccessWroteNothing,
            "writes nothing",
            &what,
            &[],
        ));
    }
    let lost: Vec<&str> = differs
        .into_iter()
        .filter(|&column| judge.changes(case.index, column))
        .filter_map(|column| Some(columns.get(column)?.name.as_str()))
        .collect();
    if lost.is_empty() {
        return None;
    }
    let list = lost.join(", ");
    let what = format!("but {list} of {table} with {key} does not have the sent value");
    let shown: Vec<&RowChange> = own.into_iter().collect();
    Some(fault(
        case,
        judge,
        FaultKind::LostUpdate,
        &format!("loses {table}.{list}"),
        &what,
        &shown,
    ))
}
