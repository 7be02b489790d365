//! From what was found to what is handed over: the fewest fixtures with the fewest rows and values.
//!
//! Candidates are first cut down to the rows and values that their targets need (`reduce`). Then
//! `merge` puts rows of several candidates side by side as long as all their targets stay covered,
//! and rows that have become superfluous are removed. `monotone` knows the targets that more rows
//! cannot uncover, so that they need not be asked again.

mod insertion;
mod merge;
mod monotone;
mod reduce;

pub(super) use self::monotone::is_monotone;
use super::archive::Archive;
use super::candidate::Candidate;
use super::fixture::Fixture;
use super::job::{Fate, Outcome};

/// How many evaluations a target of one relation may cost here; more relations make them dearer, so
/// that there are fewer.
const EVALUATIONS_PER_TARGET: u64 = 16;
/// How many evaluations any target may cost here.
const LEAST_PER_TARGET: u64 = 4;

/// Rows by table and place; `None` when any row may matter.
type Witness = Option<Vec<(usize, usize)>>;

/// Rows that cover targets together.
#[derive(Clone, Debug, Default)]
struct Bundle {
    candidate: Candidate,
    /// The targets, each with the rows that covered it when it was found.
    covers: Vec<(usize, Witness)>,
}

/// The outcome of a search.
pub(super) fn fixtures(mut archive: Archive<'_>, together: bool) -> Outcome {
    let mut outcome = Outcome {
        evaluations: archive.evaluations,
        now: archive.setting.now,
        ..Outcome::default()
    };
    for (index, fate) in archive.fates.iter().enumerate() {
        let fate = fate.clone().unwrap_or_else(|| Fate::Uncovered {
            why: archive.unable[index].clone().unwrap_or_default(),
        });
        outcome.fates.push(fate);
    }
    let allowed = archive.relations.iter().map(|relations| {
        (EVALUATIONS_PER_TARGET / (relations.len() as u64).max(1)).max(LEAST_PER_TARGET)
    });
    let limit = archive.evaluations + allowed.sum::<u64>();
    let found = std::mem::take(&mut archive.found);
    let mut bundles = Vec::new();
    for (number, candidate) in found.into_iter().enumerate() {
        let covers: Vec<usize> = (0..outcome.fates.len())
            .filter(|target| outcome.fates[*target] == Fate::Covered(number))
            .collect();
        if !covers.is_empty() {
            let candidate = if together {
                reduce::needed(&mut archive, candidate, &covers, limit)
            } else {
                candidate
            };
            bundles.push(Bundle::of(candidate, covers));
        }
    }
    if together {
        bundles = merge::merged(&mut archive, bundles, limit);
        for bundle in &mut bundles {
            reduce::without_superfluous_rows(&mut archive, bundle, limit);
        }
    }
    let parameters = archive.targets.iter();
    let parameters = parameters.flat_map(|target| target.parameters.iter().copied());
    let count = parameters.max().map_or(0, |most| most + 1);
    for (number, mut bundle) in bundles.into_iter().enumerate() {
        bundle.candidate.rows.retain(|_, rows| !rows.is_empty());
        bundle
            .candidate
            .parameters
            .resize(count, isobath_sql::Value::Null);
        let mut covers: Vec<usize> = bundle.covers.iter().map(|(target, _)| *target).collect();
        covers.sort_unstable();
        for target in &covers {
            outcome.fates[*target] = Fate::Covered(number);
        }
        outcome.fixtures.push(Fixture {
            rows: insertion::rows(&archive.setting, &bundle.candidate),
            candidate: bundle.candidate,
            covers,
        });
    }
    outcome
}

impl Bundle {
    fn of(candidate: Candidate, covers: Vec<usize>) -> Self {
        let mut rows = Vec::new();
        for (table, of_table) in &candidate.rows {
            rows.extend((0..of_table.len()).map(|row| (*table, row)));
        }
        let covers = covers.into_iter();
        Self {
            covers: covers.map(|target| (target, Some(rows.clone()))).collect(),
            candidate,
        }
    }
}
