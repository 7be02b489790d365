//! Removes rows and values that no covered target needs.

use isobath_sql::Value;
use isobath_sql::query::Query;
use isobath_sql::schema::Filled;

use super::FixtureDraft;
use super::checker::{CoverageChecker, Edit, ValueSlot};
use super::columns::{self, Column};
use crate::query::candidate::Candidate;
use crate::query::construct::{SolverContext, fresh, is_not_null, omitted};

/// A candidate without the rows that its targets do not need, and without values that they do not
/// look at. What the targets only return is not NULL for the lack of a reason, because a NULL says
/// little about a result; `number` keeps such values apart from those of other candidates.
pub(super) fn needed(
    checker: &mut CoverageChecker<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
    number: usize,
) {
    for (table, row) in children_first(checker, candidate) {
        if is_referred_to(&checker.context(), candidate, table, row) || checker.is_exhausted() {
            continue;
        }
        let mut fewer = candidate.clone();
        fewer.rows.entry(table).or_default().remove(row);
        if checker.covers_all(targets, &fewer) {
            *candidate = fewer;
        }
    }
    let shown = columns(checker, targets, columns::shown);
    let read = columns(checker, targets, columns::read);
    let edits = omissions(&checker.context(), candidate, &[&shown[..], &read].concat());
    checker.edit(candidate, targets, &edits);
    let edits = showings(&checker.context(), candidate, &shown, number);
    checker.edit(candidate, targets, &edits);
}

/// Leaves out values that targets look at without need. Only after merging, because values that
/// keep groups apart do not matter as long as each is alone.
pub(super) fn without_superfluous_values(
    checker: &mut CoverageChecker<'_, '_>,
    draft: &mut FixtureDraft,
) {
    let targets = draft.targets();
    let shown = columns(checker, &targets, columns::shown);
    let edits = omissions(&checker.context(), &draft.candidate, &shown);
    checker.edit(&mut draft.candidate, &targets, &edits);
}

/// Removes rows that others have made superfluous.
pub(super) fn without_superfluous_rows(
    checker: &mut CoverageChecker<'_, '_>,
    draft: &mut FixtureDraft,
) {
    // One that was not merged has lost its idle rows already.
    if draft.covers.len() < 2 {
        return;
    }
    for (table, row) in children_first(checker, &draft.candidate) {
        if checker.is_exhausted() {
            return;
        }
        remove(checker, draft, table, row);
    }
}

/// Finds the rows that cover a target, where that is not known any more; a few questions are all
/// that it is worth.
pub(super) fn find_witnesses(checker: &mut CoverageChecker<'_, '_>, draft: &mut FixtureDraft) {
    let places = children_first(checker, &draft.candidate);
    for index in 0..draft.covers.len() {
        let (target, None) = draft.covers[index].clone() else {
            continue;
        };
        let mut alone = draft.candidate.clone();
        let mut kept = places.clone();
        for (table, row) in &places {
            if checker.is_exhausted() {
                return;
            }
            // Later rows of the table have been looked at, and may be gone.
            let at = kept
                .iter()
                .filter(|(of, place)| of == table && place < row)
                .count();
            if is_referred_to(&checker.context(), &alone, *table, at) {
                continue;
            }
            let mut fewer = alone.clone();
            fewer.rows.entry(*table).or_default().remove(at);
            if checker.covers(target, &fewer) {
                alone = fewer;
                kept.retain(|place| *place != (*table, *row));
            }
        }
        draft.covers[index].1 = Some(kept);
    }
}

/// The rows of a candidate, those before others that they may refer to; the last of a table first.
fn children_first(checker: &CoverageChecker<'_, '_>, candidate: &Candidate) -> Vec<(usize, usize)> {
    let context = checker.context();
    let refers = |child: usize, parent: usize| {
        let mut keys = context.schema.tables[child].foreign_keys();
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
fn remove(
    checker: &mut CoverageChecker<'_, '_>,
    draft: &mut FixtureDraft,
    table: usize,
    row: usize,
) {
    if is_referred_to(&checker.context(), &draft.candidate, table, row) {
        return;
    }
    let mut fewer = draft.candidate.clone();
    fewer.rows.entry(table).or_default().remove(row);
    if !all_covered(checker, draft, (table, row), &fewer) {
        return;
    }
    draft.candidate = fewer;
    for (_, witness) in &mut draft.covers {
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
    checker: &mut CoverageChecker<'_, '_>,
    draft: &FixtureDraft,
    row: (usize, usize),
    candidate: &Candidate,
) -> bool {
    draft.covers.iter().all(|(target, witness)| {
        let matters = match witness {
            Some(rows) => rows.contains(&row) || !checker.is_monotone(*target),
            None => true,
        };
        !matters || checker.covers(*target, candidate)
    })
}

/// Values that an INSERT could leave out, outside of keys and of some columns.
fn omissions(context: &SolverContext<'_>, candidate: &Candidate, kept: &[Column]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (table, rows) in &candidate.rows {
        let definition = &context.schema.tables[*table];
        let key = definition.primary_key().unwrap_or_default();
        for (row, values) in rows.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                let Some(without) = omitted(context, *table, column) else {
                    continue;
                };
                let mandatory = without == Value::Null && is_not_null(context, definition, column);
                let kept = kept.contains(&(*table, column)) || key.contains(&column);
                if *value != without && !mandatory && !kept {
                    edits.push(vec![(ValueSlot::Cell(*table, row, column), without)]);
                }
            }
        }
    }
    edits
}

/// Values for what is NULL and shown.
fn showings(
    context: &SolverContext<'_>,
    candidate: &Candidate,
    shown: &[Column],
    number: usize,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (table, column) in shown {
        let definition = &context.schema.tables[*table].columns[*column];
        let rows = candidate.rows.get(table).map_or(&[][..], Vec::as_slice);
        for (row, values) in rows.iter().enumerate() {
            if values[*column].is_null() && definition.filled == Filled::No {
                let value = fresh(&definition.data_type, row + 11 + 20 * number);
                edits.push(vec![(ValueSlot::Cell(*table, row, *column), value)]);
            }
        }
    }
    edits
}

/// What targets say about columns.
fn columns(
    checker: &CoverageChecker<'_, '_>,
    targets: &[usize],
    gather: fn(&Query, &mut Vec<Column>),
) -> Vec<Column> {
    let mut found = Vec::new();
    for target in targets {
        if let Ok(query) = &checker.target(*target).query {
            gather(query, &mut found);
        }
    }
    found
}

/// Whether another row needs this one for a foreign key.
fn is_referred_to(
    context: &SolverContext<'_>,
    candidate: &Candidate,
    table: usize,
    row: usize,
) -> bool {
    if !context.constraints {
        return false;
    }
    let parent = &candidate.rows[&table][row];
    candidate.rows.iter().any(|(of, rows)| {
        let definition = &context.schema.tables[*of];
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
