//! Rows of several candidates side by side.

use isobath_sql::Value;
use isobath_sql::memory::Memory;

use super::Bundle;
use crate::query::archive::Archive;

/// How many bundles are tried for one more candidate.
const MOST_TRIED: usize = 3;
/// How many combinations of rows a target may have to look through.
const MOST_COMBINATIONS: usize = 100;

/// As few bundles as simple trying makes of many.
pub(super) fn merged(archive: &mut Archive<'_>, found: Vec<Bundle>, limit: u64) -> Vec<Bundle> {
    let mut kept: Vec<(Bundle, Memory<'_>)> = Vec::new();
    let setting = archive.setting;
    for bundle in found {
        let mut left = Some(bundle);
        for (into, memory) in kept.iter_mut().rev().take(MOST_TRIED) {
            let Some(bundle) = left.take() else {
                break;
            };
            if let Err(bundle) = join(archive, into, memory, bundle, limit) {
                left = Some(bundle);
            }
        }
        if let Some(bundle) = left {
            let mut memory = Memory::new(setting.schema, setting.dialect);
            remember(&mut memory, &bundle);
            kept.push((bundle, memory));
        }
    }
    kept.into_iter().map(|(bundle, _)| bundle).collect()
}

fn remember(memory: &mut Memory<'_>, bundle: &Bundle) {
    memory.clear();
    for (table, rows) in &bundle.candidate.rows {
        for row in rows {
            memory.put_stored(*table, row.clone());
        }
    }
}

/// Adds the rows of one bundle to another, unless that uncovers a target.
fn join<'s>(
    archive: &mut Archive<'s>,
    into: &mut Bundle,
    memory: &mut Memory<'s>,
    bundle: Bundle,
    limit: u64,
) -> Result<(), Bundle> {
    let Some(parameters) = parameters(archive, into, &bundle) else {
        return Err(bundle);
    };
    let covers = || into.covers.iter().chain(&bundle.covers);
    let mut targets = covers().map(|(target, _)| *target);
    if !targets.all(|target| is_small(archive, target, into, &bundle)) {
        return Err(bundle);
    }
    let mut joined = into.candidate.clone();
    joined.parameters = parameters;
    // Where each row of the bundle is in the end.
    let mut places: Vec<((usize, usize), (usize, usize))> = Vec::new();
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    for (table, rows) in &bundle.candidate.rows {
        for (index, row) in rows.iter().enumerate() {
            let there = joined.rows.get(table);
            match there.and_then(|there| there.iter().position(|other| other == row)) {
                // A row without a key may be needed twice.
                Some(at) if archive.setting.constraints && has_key(archive, *table) => {
                    places.push(((*table, index), (*table, at)));
                }
                _ => waiting.push((*table, index)),
            }
        }
    }
    let mut lawful = true;
    // Parents may come after children, so those that are refused wait for another round.
    while !waiting.is_empty() && lawful {
        let before = waiting.len();
        waiting.retain(|(table, index)| {
            let row = &bundle.candidate.rows[table][*index];
            let accepted = !archive.setting.constraints
                || matches!(memory.insert_stored(*table, row.clone()), Ok(verdict) if verdict.is_accepted());
            if accepted {
                joined.push(*table, row.clone());
                let at = joined.rows[table].len() - 1;
                places.push(((*table, *index), (*table, at)));
            }
            !accepted
        });
        lawful = waiting.len() < before;
    }
    let still = lawful
        && archive.evaluations < limit
        && covers()
            .map(|(target, _)| *target)
            .all(|target| archive.is_monotone(target) || archive.covers(target, &joined));
    if !still {
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

/// Whether a target has few combinations of the rows of two bundles to look through.
fn is_small(archive: &Archive<'_>, target: usize, a: &Bundle, b: &Bundle) -> bool {
    let count =
        |bundle: &Bundle, table: usize| bundle.candidate.rows.get(&table).map_or(0, Vec::len);
    let mut combinations = 1usize;
    for table in &archive.relations[target] {
        let rows = count(a, *table) + count(b, *table);
        combinations = combinations.saturating_mul(rows.max(1));
    }
    combinations <= MOST_COMBINATIONS
}

fn has_key(archive: &Archive<'_>, table: usize) -> bool {
    archive.setting.schema.tables[table].primary_key().is_some()
}

/// Values that suit the targets of both; `None` when they want different ones.
fn parameters(archive: &Archive<'_>, a: &Bundle, b: &Bundle) -> Option<Vec<Value>> {
    let spoken = |bundle: &Bundle, number: usize| {
        let mut covers = bundle.covers.iter();
        covers.any(|(target, _)| archive.targets[*target].parameters.contains(&number))
    };
    let (of_a, of_b) = (&a.candidate.parameters, &b.candidate.parameters);
    let mut values = Vec::new();
    for number in 0..of_a.len().max(of_b.len()) {
        let one = of_a.get(number).filter(|_| spoken(a, number));
        let other = of_b.get(number).filter(|_| spoken(b, number));
        values.push(match (one, other) {
            (Some(one), Some(other)) if one != other => return None,
            (Some(value), _) | (None, Some(value)) => value.clone(),
            (None, None) => Value::Null,
        });
    }
    Some(values)
}
