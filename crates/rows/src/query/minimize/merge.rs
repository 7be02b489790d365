//! Rows of several candidates side by side, and candidates that others make superfluous.

use isobath_sql::Value;
use isobath_sql::memory::MemoryDatabase;

use super::Bundle;
use super::align::align;
use super::judge::Judge;
use super::readable;
use crate::query::candidate::Candidate;

/// How many bundles are tried for one more candidate.
const MOST_TRIED: usize = 8;
/// How many combinations of rows a target may have to look through when it must be asked again.
const MOST_COMBINATIONS: u64 = 1_000;
/// The same, when it need not be.
const MOST_IDLE_COMBINATIONS: u64 = 5_000;

/// Where a row of a bundle, by table and place, is in the end.
type Places = Vec<((usize, usize), (usize, usize))>;

/// As few bundles as simple trying makes of many.
pub(super) fn merged(judge: &mut Judge<'_, '_>, found: Vec<Bundle>) -> Vec<Bundle> {
    let mut kept: Vec<(Bundle, MemoryDatabase<'_>)> = Vec::new();
    let setting = judge.setting();
    for bundle in found {
        let mut left = Some(bundle);
        for (into, memory) in kept.iter_mut().rev().take(MOST_TRIED) {
            let Some(bundle) = left.take() else {
                break;
            };
            if let Err(bundle) = join(judge, into, memory, bundle) {
                left = Some(bundle);
            }
        }
        if let Some(bundle) = left {
            let mut memory = MemoryDatabase::new(setting.schema, setting.dialect);
            remember(&mut memory, &bundle);
            kept.push((bundle, memory));
        }
    }
    kept.into_iter().map(|(bundle, _)| bundle).collect()
}

/// Drops bundles all of whose targets others cover, those with the fewest targets first. Before
/// merging, an earlier one is known not to cover what a later one was found for.
pub(super) fn without_superfluous(
    judge: &mut Judge<'_, '_>,
    bundles: &mut Vec<Bundle>,
    only_later: bool,
) {
    let mut order: Vec<usize> = (0..bundles.len()).collect();
    order.sort_by_key(|index| bundles[*index].covers.len());
    for index in order {
        let mut moved: Vec<(usize, usize)> = Vec::new();
        let targets = bundles[index].targets();
        for target in &targets {
            let first = if only_later { index } else { 0 };
            let others = (first..bundles.len()).filter(|other| *other != index);
            let mut others = others.filter(|other| !bundles[*other].covers.is_empty());
            let covers = |other: &usize| {
                !judge.is_tired() && judge.covers(*target, &bundles[*other].candidate)
            };
            match others.find(covers) {
                Some(other) => moved.push((*target, other)),
                None => break,
            }
        }
        if moved.len() == targets.len() {
            bundles[index].covers.clear();
            for (target, other) in moved {
                bundles[other].covers.push((target, None));
            }
        }
    }
    bundles.retain(|bundle| !bundle.covers.is_empty());
}

fn remember(memory: &mut MemoryDatabase<'_>, bundle: &Bundle) {
    memory.clear();
    for (table, rows) in &bundle.candidate.rows {
        for row in rows {
            memory.put_stored(*table, row.clone());
        }
    }
}

/// Adds the rows of one bundle to another, unless that uncovers a target.
fn join<'s>(
    judge: &mut Judge<'_, 's>,
    into: &mut Bundle,
    memory: &mut MemoryDatabase<'s>,
    bundle: Bundle,
) -> Result<(), Bundle> {
    if judge.is_tired() || !is_small(judge, into, &bundle) {
        return Err(bundle);
    }
    let mut bundle = bundle;
    align(judge, into, &mut bundle);
    let Some(parameters) = parameters(judge, into, &bundle) else {
        return Err(bundle);
    };
    let mut side_by_side = together(judge, into, memory, &bundle);
    if side_by_side.is_none() {
        remember(memory, into);
        // The same made-up key may stand in both.
        let targets = bundle.targets();
        let edits = readable::clashes(judge, &into.candidate, &bundle.candidate, &targets);
        if !edits.is_empty() {
            judge.edit(&mut bundle.candidate, &targets, &edits);
            side_by_side = together(judge, into, memory, &bundle);
        }
    }
    let Some((mut joined, places)) = side_by_side else {
        remember(memory, into);
        return Err(bundle);
    };
    joined.parameters = parameters;
    let goes = into
        .covers
        .iter()
        .chain(&bundle.covers)
        .all(|(target, _)| judge.is_monotone(*target) || judge.covers(*target, &joined));
    if !goes {
        remember(memory, into);
        return Err(bundle);
    }
    into.candidate = joined;
    for (target, witness) in bundle.covers {
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
fn together<'s>(
    judge: &Judge<'_, 's>,
    into: &Bundle,
    memory: &mut MemoryDatabase<'s>,
    bundle: &Bundle,
) -> Option<(Candidate, Places)> {
    let setting = judge.setting();
    let has_key = |table: usize| setting.schema.tables[table].primary_key().is_some();
    let mut joined = into.candidate.clone();
    let mut places = Places::new();
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    for (table, rows) in &bundle.candidate.rows {
        for (index, row) in rows.iter().enumerate() {
            let there = joined.rows.get(table);
            match there.and_then(|there| there.iter().position(|other| other == row)) {
                // A row without a key may be needed twice.
                Some(at) if setting.constraints && has_key(*table) => {
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
            let row = &bundle.candidate.rows[table][*index];
            let accepted = !setting.constraints
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
fn is_small(judge: &Judge<'_, '_>, a: &Bundle, b: &Bundle) -> bool {
    let count =
        |bundle: &Bundle, table: usize| bundle.candidate.rows.get(&table).map_or(0, Vec::len);
    let rows = |table: usize| count(a, table) + count(b, table);
    let mut targets = a.covers.iter().chain(&b.covers).map(|(target, _)| *target);
    targets.all(|target| {
        let most = if judge.is_monotone(target) {
            MOST_IDLE_COMBINATIONS
        } else {
            MOST_COMBINATIONS
        };
        judge.combinations(target, &rows) <= most
    })
}

/// Values that suit the targets of both; `None` when they want different ones.
fn parameters(judge: &Judge<'_, '_>, a: &Bundle, b: &Bundle) -> Option<Vec<Value>> {
    let (of_a, of_b) = (&a.candidate.parameters, &b.candidate.parameters);
    let mut values = Vec::new();
    for number in 0..of_a.len().max(of_b.len()) {
        let one = of_a.get(number).filter(|_| a.mentions(judge, number));
        let other = of_b.get(number).filter(|_| b.mentions(judge, number));
        values.push(match (one, other) {
            (Some(one), Some(other)) if one != other => return None,
            (Some(value), _) | (None, Some(value)) => value.clone(),
            (None, None) => Value::Null,
        });
    }
    Some(values)
}
