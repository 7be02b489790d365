//! Rows and values without which all targets stay covered.

use isobath_sql::Value;
use isobath_sql::query::Query;
use isobath_sql::schema::Filled;

use super::Bundle;
use super::columns::{self, Column};
use super::judge::{Edit, Judge, Place};
use crate::query::candidate::Candidate;
use crate::query::construct::{Setting, fresh, is_not_null, omitted};

/// A candidate without the rows that its targets do not need, and without values that they do not
/// look at. What the targets only return is not NULL for the lack of a reason, because a NULL says
/// little about a result; `number` keeps such values apart from those of other candidates.
pub(super) fn needed(
    judge: &mut Judge<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
    number: usize,
) {
    for (table, row) in children_first(judge, candidate) {
        if is_referred_to(&judge.setting(), candidate, table, row) || judge.is_tired() {
            continue;
        }
        let mut fewer = candidate.clone();
        fewer.rows.entry(table).or_default().remove(row);
        if judge.covers_all(targets, &fewer) {
            *candidate = fewer;
        }
    }
    let shown = columns(judge, targets, columns::shown);
    let read = columns(judge, targets, columns::read);
    let edits = omissions(&judge.setting(), candidate, &[&shown[..], &read].concat());
    judge.edit(candidate, targets, &edits);
    let edits = showings(&judge.setting(), candidate, &shown, number);
    judge.edit(candidate, targets, &edits);
}

/// Leaves out values that targets look at without need. Only after merging, because values that
/// keep groups apart do not matter as long as each is alone.
pub(super) fn without_superfluous_values(judge: &mut Judge<'_, '_>, bundle: &mut Bundle) {
    let targets = bundle.targets();
    let shown = columns(judge, &targets, columns::shown);
    let edits = omissions(&judge.setting(), &bundle.candidate, &shown);
    judge.edit(&mut bundle.candidate, &targets, &edits);
}

/// Removes rows that others have made superfluous.
pub(super) fn without_superfluous_rows(judge: &mut Judge<'_, '_>, bundle: &mut Bundle) {
    // One that was not merged has lost its idle rows already.
    if bundle.covers.len() < 2 {
        return;
    }
    for (table, row) in children_first(judge, &bundle.candidate) {
        if judge.is_tired() {
            return;
        }
        remove(judge, bundle, table, row);
    }
}

/// Finds the rows that cover a target, where that is not known any more; a few questions are all
/// that it is worth.
pub(super) fn find_witnesses(judge: &mut Judge<'_, '_>, bundle: &mut Bundle) {
    let places = children_first(judge, &bundle.candidate);
    for index in 0..bundle.covers.len() {
        let (target, None) = bundle.covers[index].clone() else {
            continue;
        };
        let mut alone = bundle.candidate.clone();
        let mut kept = places.clone();
        for (table, row) in &places {
            if judge.is_tired() {
                return;
            }
            // Later rows of the table have been looked at, and may be gone.
            let at = kept
                .iter()
                .filter(|(of, place)| of == table && place < row)
                .count();
            if is_referred_to(&judge.setting(), &alone, *table, at) {
                continue;
            }
            let mut fewer = alone.clone();
            fewer.rows.entry(*table).or_default().remove(at);
            if judge.covers(target, &fewer) {
                alone = fewer;
                kept.retain(|place| *place != (*table, *row));
            }
        }
        bundle.covers[index].1 = Some(kept);
    }
}

/// The rows of a candidate, those before others that they may refer to; the last of a table first.
fn children_first(judge: &Judge<'_, '_>, candidate: &Candidate) -> Vec<(usize, usize)> {
    let setting = judge.setting();
    let refers = |child: usize, parent: usize| {
        let mut keys = setting.schema.tables[child].foreign_keys();
        child != parent && keys.any(|key| key.parent == parent)
    };
    let mut waiting: Vec<usize> = candidate.rows.keys().copied().collect();
    let mut tables = Vec::new();
    while !waiting.is_empty() {
        let is_free = |table: &usize| !waiting.iter().any(|other| refers(*other, *table));
        // Any of them, where they refer in a circle.
        let next = waiting.iter().position(is_free).unwrap_or(0);
        tables.push(waiting.remove(next));
    }
    let tables = tables.into_iter();
    tables
        .flat_map(|table| {
            let rows = 0..candidate.rows[&table].len();
            rows.rev().map(move |row| (table, row))
        })
        .collect()
}

/// Removes a row if all targets stay covered without it.
fn remove(judge: &mut Judge<'_, '_>, bundle: &mut Bundle, table: usize, row: usize) {
    if is_referred_to(&judge.setting(), &bundle.candidate, table, row) {
        return;
    }
    let mut fewer = bundle.candidate.clone();
    fewer.rows.entry(table).or_default().remove(row);
    if !all_covered(judge, bundle, (table, row), &fewer) {
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

/// Whether all targets for which a row may matter are covered by what is left.
fn all_covered(
    judge: &mut Judge<'_, '_>,
    bundle: &Bundle,
    row: (usize, usize),
    candidate: &Candidate,
) -> bool {
    bundle.covers.iter().all(|(target, witness)| {
        let matters = match witness {
            Some(rows) => rows.contains(&row) || !judge.is_monotone(*target),
            None => true,
        };
        !matters || judge.covers(*target, candidate)
    })
}

/// Values that an INSERT could leave out, outside of keys and of some columns.
fn omissions(setting: &Setting<'_>, candidate: &Candidate, kept: &[Column]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (table, rows) in &candidate.rows {
        let definition = &setting.schema.tables[*table];
        let key = definition.primary_key().unwrap_or_default();
        for (row, values) in rows.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                let Some(without) = omitted(setting, *table, column) else {
                    continue;
                };
                let mandatory = without == Value::Null && is_not_null(setting, definition, column);
                let kept = kept.contains(&(*table, column)) || key.contains(&column);
                if *value != without && !mandatory && !kept {
                    edits.push(vec![(Place::Cell(*table, row, column), without)]);
                }
            }
        }
    }
    edits
}

/// Values for what is NULL and shown.
fn showings(
    setting: &Setting<'_>,
    candidate: &Candidate,
    shown: &[Column],
    number: usize,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (table, column) in shown {
        let definition = &setting.schema.tables[*table].columns[*column];
        let rows = candidate.rows.get(table).map_or(&[][..], Vec::as_slice);
        for (row, values) in rows.iter().enumerate() {
            if values[*column].is_null() && definition.filled == Filled::No {
                let value = fresh(&definition.data_type, row + 11 + 20 * number);
                edits.push(vec![(Place::Cell(*table, row, *column), value)]);
            }
        }
    }
    edits
}

/// What targets say about columns.
fn columns(
    judge: &Judge<'_, '_>,
    targets: &[usize],
    gather: fn(&Query, &mut Vec<Column>),
) -> Vec<Column> {
    let mut found = Vec::new();
    for target in targets {
        if let Ok(query) = &judge.target(*target).query {
            gather(query, &mut found);
        }
    }
    found
}

/// Whether another row needs this one for a foreign key.
fn is_referred_to(setting: &Setting<'_>, candidate: &Candidate, table: usize, row: usize) -> bool {
    if !setting.constraints {
        return false;
    }
    let parent = &candidate.rows[&table][row];
    candidate.rows.iter().any(|(of, rows)| {
        let definition = &setting.schema.tables[*of];
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
