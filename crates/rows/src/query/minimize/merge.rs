//! Merges candidates into shared fixtures, and drops redundant candidates.

use isobath_sql::Value;
use isobath_sql::memory::MemoryDatabase;

use super::FixtureDraft;
use super::align::align;
use super::checker::CoverageChecker;
use super::readable;
use crate::query::candidate::Candidate;

/// How many bundles are tried for one more candidate.
const MAX_TRIED: usize = 8;
/// How many combinations of rows a target may have to look through when it must be asked again.
const MAX_COMBINATIONS: u64 = 1_000;
/// The same, when it need not be.
const MAX_IDLE_COMBINATIONS: u64 = 5_000;

/// Where a row of a bundle, by table and place, is in the end.
type RowMapping = Vec<((usize, usize), (usize, usize))>;

/// As few bundles as simple trying makes of many.
pub(super) fn merged(
    checker: &mut CoverageChecker<'_, '_>,
    found: Vec<FixtureDraft>,
) -> Vec<FixtureDraft> {
    let mut kept: Vec<(FixtureDraft, MemoryDatabase<'_>)> = Vec::new();
    let context = checker.context();
    for draft in found {
        let mut left = Some(draft);
        for (into, memory) in kept.iter_mut().rev().take(MAX_TRIED) {
            let Some(draft) = left.take() else {
                break;
            };
            if let Err(draft) = join(checker, into, memory, draft) {
                left = Some(draft);
            }
        }
        if let Some(draft) = left {
            let mut memory = MemoryDatabase::new(context.schema, context.dialect);
            remember(&mut memory, &draft);
            kept.push((draft, memory));
        }
    }
    kept.into_iter().map(|(draft, _)| draft).collect()
}

/// Drops bundles all of whose targets others cover, those with the fewest targets first. Before
/// merging, an earlier one is known not to cover what a later one was found for.
pub(super) fn without_superfluous(
    checker: &mut CoverageChecker<'_, '_>,
    drafts: &mut Vec<FixtureDraft>,
    only_later: bool,
) {
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    order.sort_by_key(|index| drafts[*index].covers.len());
    for index in order {
        let mut moved: Vec<(usize, usize)> = Vec::new();
        let targets = drafts[index].targets();
        for target in &targets {
            let first = if only_later { index } else { 0 };
            let others = (first..drafts.len()).filter(|other| *other != index);
            let mut others = others.filter(|other| !drafts[*other].covers.is_empty());
            let covers = |other: &usize| {
                !checker.is_exhausted() && checker.covers(*target, &drafts[*other].candidate)
            };
            match others.find(covers) {
                Some(other) => moved.push((*target, other)),
                None => break,
            }
        }
        if moved.len() == targets.len() {
            drafts[index].covers.clear();
            for (target, other) in moved {
                drafts[other].covers.push((target, None));
            }
        }
    }
    drafts.retain(|draft| !draft.covers.is_empty());
}

fn remember(memory: &mut MemoryDatabase<'_>, draft: &FixtureDraft) {
    memory.clear();
    for (table, rows) in &draft.candidate.rows {
        for row in rows {
            memory.put_stored(*table, row.clone());
        }
    }
}

/// Adds the rows of one bundle to another, unless that uncovers a target.
fn join<'s>(
    checker: &mut CoverageChecker<'_, 's>,
    into: &mut FixtureDraft,
    memory: &mut MemoryDatabase<'s>,
    draft: FixtureDraft,
) -> Result<(), FixtureDraft> {
    if checker.is_exhausted() || !is_small(checker, into, &draft) {
        return Err(draft);
    }
    let mut draft = draft;
    align(checker, into, &mut draft);
    let Some(parameters) = parameters(checker, into, &draft) else {
        return Err(draft);
    };
    let mut side_by_side = combine(checker, into, memory, &draft);
    if side_by_side.is_none() {
        remember(memory, into);
        // The same made-up key may stand in both.
        let targets = draft.targets();
        let edits = readable::clashes(checker, &into.candidate, &draft.candidate, &targets);
        if !edits.is_empty() {
            checker.edit(&mut draft.candidate, &targets, &edits);
            side_by_side = combine(checker, into, memory, &draft);
        }
    }
    let Some((mut joined, places)) = side_by_side else {
        remember(memory, into);
        return Err(draft);
    };
    joined.parameters = parameters;
    let goes = into
        .covers
        .iter()
        .chain(&draft.covers)
        .all(|(target, _)| checker.is_monotone(*target) || checker.covers(*target, &joined));
    if !goes {
        remember(memory, into);
        return Err(draft);
    }
    into.candidate = joined;
    for (target, witness) in draft.covers {
        let moved = witness.map(|rows| {
            rows.into_iter()
                .map(|row| {
                    let place = places.iter().find(|(from, _)| *from == row);
                    place.map_or(row, |(_, to)| *to)
                })
                .collect()
        });
        into.covers.push((target, moved));
    }
    Ok(())
}

/// The rows of both, if a database takes them together.
fn combine<'s>(
    checker: &CoverageChecker<'_, 's>,
    into: &FixtureDraft,
    memory: &mut MemoryDatabase<'s>,
    draft: &FixtureDraft,
) -> Option<(Candidate, RowMapping)> {
    let context = checker.context();
    let has_key = |table: usize| context.schema.tables[table].primary_key().is_some();
    let mut joined = into.candidate.clone();
    let mut places = RowMapping::new();
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    for (table, rows) in &draft.candidate.rows {
        for (index, row) in rows.iter().enumerate() {
            let there = joined.rows.get(table);
            match there.and_then(|there| there.iter().position(|other| other == row)) {
                // A row without a key may be needed twice.
                Some(at) if context.constraints && has_key(*table) => {
                    places.push(((*table, index), (*table, at)));
                }
                _ => waiting.push((*table, index)),
            }
        }
    }
    // Parents may come after children, so those that are refused wait for another round.
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|(table, index)| {
            let row = &draft.candidate.rows[table][*index];
            let accepted = !context.constraints
                || matches!(memory.insert_stored(*table, row.clone()), Ok(verdict) if verdict.is_accepted());
            if accepted {
                joined.push(*table, row.clone());
                let at = joined.rows[table].len() - 1;
                places.push(((*table, *index), (*table, at)));
            }
            !accepted
        });
        if waiting.len() == before {
            return None;
        }
    }
    Some((joined, places))
}

/// Whether the targets have few combinations of the rows of two bundles to look through.
fn is_small(checker: &CoverageChecker<'_, '_>, a: &FixtureDraft, b: &FixtureDraft) -> bool {
    let count =
        |draft: &FixtureDraft, table: usize| draft.candidate.rows.get(&table).map_or(0, Vec::len);
    let rows = |table: usize| count(a, table) + count(b, table);
    let mut targets = a.covers.iter().chain(&b.covers).map(|(target, _)| *target);
    targets.all(|target| {
        let most = if checker.is_monotone(target) {
            MAX_IDLE_COMBINATIONS
        } else {
            MAX_COMBINATIONS
        };
        checker.combinations(target, &rows) <= most
    })
}

/// Values that suit the targets of both; `None` when they want different ones.
fn parameters(
    checker: &CoverageChecker<'_, '_>,
    a: &FixtureDraft,
    b: &FixtureDraft,
) -> Option<Vec<Value>> {
    let (of_a, of_b) = (&a.candidate.parameters, &b.candidate.parameters);
    let mut values = Vec::new();
    for number in 0..of_a.len().max(of_b.len()) {
        let one = of_a.get(number).filter(|_| a.mentions(checker, number));
        let other = of_b.get(number).filter(|_| b.mentions(checker, number));
        values.push(match (one, other) {
            (Some(one), Some(other)) if one != other => return None,
            (Some(value), _) | (None, Some(value)) => value.clone(),
            (None, None) => Value::Null,
        });
    }
    Some(values)
}
