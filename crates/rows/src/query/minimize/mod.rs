//! From what was found to what is handed over: the fewest fixtures with the fewest rows and values.
//!
//! Candidates are first cut down to the rows and values that their targets need (`reduce`). Then
//! `merge` puts rows of several candidates side by side as long as all their targets stay covered,
//! after `align` has brought their parameters into line;
//! rows and candidates that have become superfluous are removed. `monotone` knows the targets
//! that more rows cannot uncover, so that they need not be asked again. `readable` gives values that
//! do not matter names and numbers that people would choose. All of them ask the `judge`, whose
//! patience is bounded.

mod align;
mod columns;
mod insertion;
mod judge;
mod merge;
mod monotone;
mod readable;
mod reduce;

use self::judge::Judge;
pub(super) use self::monotone::is_monotone;
use super::archive::Archive;
use super::candidate::Candidate;
use super::fixture::Fixture;
use super::job::{Fate, Outcome};

/// What a query may cost here whatever it is, and more per target.
const PATIENCE: u64 = 300;
const PATIENCE_PER_TARGET: u64 = 24;
/// What readable values may cost per target.
const PATIENCE_FOR_READERS: u64 = 8;

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
    let found = std::mem::take(&mut archive.found);
    let mut bundles = Vec::new();
    for (number, candidate) in found.into_iter().enumerate() {
        let covers: Vec<usize> = (0..outcome.fates.len())
            .filter(|target| outcome.fates[*target] == Fate::Covered(number))
            .collect();
        if !covers.is_empty() {
            bundles.push(Bundle::of(candidate, covers));
        }
    }
    if together {
        bundles = minimized(&mut archive, bundles);
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
        bundle.covers.sort_unstable();
        for (target, _) in &bundle.covers {
            outcome.fates[*target] = Fate::Covered(number);
        }
        let (covers, witnesses) = bundle.covers.into_iter().unzip();
        outcome.fixtures.push(Fixture {
            rows: insertion::rows(&archive.setting, &bundle.candidate),
            candidate: bundle.candidate,
            covers,
            witnesses,
        });
    }
    outcome
}

fn minimized(archive: &mut Archive<'_>, found: Vec<Bundle>) -> Vec<Bundle> {
    let n_targets = found
        .iter()
        .map(|bundle| bundle.covers.len() as u64)
        .sum::<u64>();
    let mut judge = Judge::new(archive);
    judge.encourage(PATIENCE + PATIENCE_PER_TARGET * n_targets);
    let mut bundles = Vec::new();
    // Names are cheap as long as candidates are small; later only gaps between them are closed.
    let mut given = readable::Given::new();
    for (number, mut bundle) in found.into_iter().enumerate() {
        let targets = bundle.targets();
        reduce::needed(&mut judge, &mut bundle.candidate, &targets, number);
        readable::rename_used(&mut judge, &mut bundle.candidate, &targets, &mut given);
        bundles.push(Bundle::of(bundle.candidate, targets));
    }
    merge::without_superfluous(&mut judge, &mut bundles, true);
    bundles = merge::merged(&mut judge, bundles);
    for bundle in &mut bundles {
        reduce::without_superfluous_rows(&mut judge, bundle);
    }
    merge::without_superfluous(&mut judge, &mut bundles, false);
    for bundle in &mut bundles {
        let targets = bundle.targets();
        reduce::without_superfluous_values(&mut judge, bundle);
        judge.encourage(PATIENCE_FOR_READERS * targets.len() as u64);
        readable::rename(&mut judge, &mut bundle.candidate, &targets);
        reduce::find_witnesses(&mut judge, bundle);
    }
    bundles
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
