//! Rows and values without which all targets stay covered.

use isobath_sql::Value;

use super::Bundle;
use crate::query::archive::Archive;
use crate::query::candidate::Candidate;
use crate::query::construct::{complete, is_not_null, omitted};

/// A candidate without the rows and values that its targets do not need.
pub(super) fn needed(
    archive: &mut Archive<'_>,
    candidate: Candidate,
    covers: &[usize],
    limit: u64,
) -> Candidate {
    let mut candidate = candidate;
    for table in candidate.rows.keys().copied().collect::<Vec<_>>() {
        for row in (0..candidate.rows[&table].len()).rev() {
            if is_referred_to(archive, &candidate, table, row) || archive.evaluations >= limit {
                continue;
            }
            let mut fewer = candidate.clone();
            fewer.rows.entry(table).or_default().remove(row);
            if covers.iter().all(|target| archive.covers(*target, &fewer)) {
                candidate = fewer;
            }
        }
        for row in 0..candidate.rows[&table].len() {
            for column in 0..archive.setting.schema.tables[table].columns.len() {
                if archive.evaluations >= limit {
                    return candidate;
                }
                omit(archive, &mut candidate, covers, (table, row, column));
            }
        }
    }
    candidate
}

/// Removes rows that others have made superfluous.
pub(super) fn without_superfluous_rows(archive: &mut Archive<'_>, bundle: &mut Bundle, limit: u64) {
    // One that was not merged has lost its idle rows already.
    if bundle.covers.len() < 2 {
        return;
    }
    for table in bundle.candidate.rows.keys().copied().collect::<Vec<_>>() {
        for row in (0..bundle.candidate.rows[&table].len()).rev() {
            if archive.evaluations >= limit {
                return;
            }
            remove(archive, bundle, table, row);
        }
    }
}

/// Removes a row if all targets stay covered without it.
fn remove(archive: &mut Archive<'_>, bundle: &mut Bundle, table: usize, row: usize) {
    if is_referred_to(archive, &bundle.candidate, table, row) {
        return;
    }
    let mut fewer = bundle.candidate.clone();
    fewer.rows.entry(table).or_default().remove(row);
    if !all_covered(archive, bundle, (table, row), &fewer) {
        return;
    }
    bundle.candidate = fewer;
    for (_, witness) in &mut bundle.covers {
        let Some(rows) = witness else {
            continue;
        };
        if rows.contains(&(table, row)) {
            // Something else covers it now, and we do not know what.
            *witness = None;
            continue;
        }
        for (of, place) in rows.iter_mut() {
            if *of == table && *place > row {
                *place -= 1;
            }
        }
    }
}

/// Leaves a value out if all targets stay covered without it.
fn omit(
    archive: &mut Archive<'_>,
    candidate: &mut Candidate,
    covers: &[usize],
    (table, row, column): (usize, usize, usize),
) {
    let setting = archive.setting;
    let definition = &setting.schema.tables[table];
    let value = &candidate.rows[&table][row][column];
    let Some(without) = omitted(&setting, table, column) else {
        return;
    };
    let in_key = definition
        .primary_key()
        .is_some_and(|key| key.contains(&column));
    if *value == without
        || in_key
        || (without == Value::Null && is_not_null(&setting, definition, column))
    {
        return;
    }
    let mut simpler = candidate.clone();
    if let Some(rows) = simpler.rows.get_mut(&table) {
        rows[row][column] = without;
    }
    if covers
        .iter()
        .all(|target| archive.covers(*target, &simpler))
        && (!setting.constraints || complete(&setting, simpler.clone()).as_ref() == Some(&simpler))
    {
        *candidate = simpler;
    }
}

/// Whether all targets for which a row may matter are covered by what is left.
fn all_covered(
    archive: &mut Archive<'_>,
    bundle: &Bundle,
    row: (usize, usize),
    candidate: &Candidate,
) -> bool {
    bundle.covers.iter().all(|(target, witness)| {
        let matters = match witness {
            Some(rows) => rows.contains(&row) || !archive.is_monotone(*target),
            None => true,
        };
        !matters || archive.covers(*target, candidate)
    })
}

/// Whether another row needs this one for a foreign key.
fn is_referred_to(archive: &Archive<'_>, candidate: &Candidate, table: usize, row: usize) -> bool {
    if !archive.setting.constraints {
        return false;
    }
    let parent = &candidate.rows[&table][row];
    candidate.rows.iter().any(|(of, rows)| {
        let definition = &archive.setting.schema.tables[*of];
        definition.foreign_keys().any(|key| {
            key.parent == table
                && rows.iter().enumerate().any(|(index, child)| {
                    let theirs = key.parent_columns.iter().map(|column| &parent[*column]);
                    let own = key.columns.iter().map(|column| &child[*column]);
                    (*of, index) != (table, row) && own.eq(theirs)
                })
        })
    })
}
