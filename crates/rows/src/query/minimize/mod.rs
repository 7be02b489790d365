//! From what was found to what is handed over: the fewest fixtures with the fewest rows and values.
//!
//! Candidates are first cut down to the rows and values that their targets need (`reduce`). Then
//! `merge` puts rows of several candidates side by side as long as all their targets stay covered,
//! after `align` has brought their parameters into line;
//! rows and candidates that have become superfluous are removed. `monotone` knows the targets
//! that more rows cannot uncover, so that they need not be asked again. `readable` gives values that
//! do not matter names and numbers that people would choose. All of them ask the `checker`, whose
//! patience is bounded.

mod align;
mod checker;
mod columns;
mod insertion;
mod merge;
mod monotone;
mod readable;
mod reduce;

use self::checker::CoverageChecker;
pub(super) use self::insertion::rows as insertion_rows;
pub(super) use self::monotone::is_monotone;
use super::archive::Archive;
use super::candidate::Candidate;
use super::fixture::Fixture;
use super::job::{CoverageOutcome, TargetStatus, UncoveredReason};

/// What a query may cost here whatever it is, and more per target.
const CHECK_BUDGET: u64 = 300;
const CHECK_BUDGET_PER_TARGET: u64 = 24;
/// What readable values may cost per target.
const CHECK_BUDGET_FOR_READABILITY: u64 = 8;

/// Rows by table and place; `None` when any row may matter.
type Witness = Option<Vec<(usize, usize)>>;

/// Rows that cover targets together.
#[derive(Clone, Debug, Default)]
struct FixtureDraft {
    candidate: Candidate,
    /// The targets, each with the rows that covered it when it was found.
    covers: Vec<(usize, Witness)>,
}

/// The outcome of a search.
pub(super) fn fixtures(mut archive: Archive<'_>, share_fixtures: bool) -> CoverageOutcome {
    let mut outcome = CoverageOutcome {
        evaluations: archive.evaluations,
        now: archive.context.now,
        ..CoverageOutcome::default()
    };
    for (index, status) in archive.statuses.iter().enumerate() {
        let status = status.clone().unwrap_or_else(|| TargetStatus::Uncovered {
            reason: match (archive.context.stop.reason(), &archive.unsupported[index]) {
                (Some(stopped), _) => stopped.into(),
                (None, Some(unsupported)) => unsupported.clone().into(),
                (None, None) => UncoveredReason::NotFound,
            },
        });
        outcome.statuses.push(status);
    }
    let found = std::mem::take(&mut archive.found);
    let mut drafts = Vec::new();
    for (number, candidate) in found.into_iter().enumerate() {
        let covers: Vec<usize> = (0..outcome.statuses.len())
            .filter(|target| outcome.statuses[*target] == TargetStatus::Covered(number))
            .collect();
        if !covers.is_empty() {
            drafts.push(FixtureDraft::of(candidate, covers));
        }
    }
    if share_fixtures {
        drafts = minimized(&mut archive, drafts);
    }
    let parameters = archive.targets.iter();
    let parameters = parameters.flat_map(|target| target.parameters.iter().copied());
    let count = parameters.max().map_or(0, |most| most + 1);
    for (number, mut draft) in drafts.into_iter().enumerate() {
        draft.candidate.rows.retain(|_, rows| !rows.is_empty());
        draft
            .candidate
            .parameters
            .resize(count, isobath_sql::Value::Null);
        draft.covers.sort_unstable();
        for (target, _) in &draft.covers {
            outcome.statuses[*target] = TargetStatus::Covered(number);
        }
        let (covers, witnesses) = draft.covers.into_iter().unzip();
        outcome.fixtures.push(Fixture {
            rows: insertion::rows(&archive.context, &draft.candidate),
            candidate: draft.candidate,
            covers,
            witnesses,
        });
    }
    outcome
}

fn minimized(archive: &mut Archive<'_>, found: Vec<FixtureDraft>) -> Vec<FixtureDraft> {
    let n_targets = found
        .iter()
        .map(|draft| draft.covers.len() as u64)
        .sum::<u64>();
    let mut checker = CoverageChecker::new(archive);
    checker.add_budget(CHECK_BUDGET + CHECK_BUDGET_PER_TARGET * n_targets);
    let mut drafts = Vec::new();
    // Names are cheap as long as candidates are small; later only gaps between them are closed.
    let mut given = readable::UsedNames::new();
    for (number, mut draft) in found.into_iter().enumerate() {
        let targets = draft.targets();
        reduce::needed(&mut checker, &mut draft.candidate, &targets, number);
        readable::rename_used(&mut checker, &mut draft.candidate, &targets, &mut given);
        drafts.push(FixtureDraft::of(draft.candidate, targets));
    }
    merge::without_superfluous(&mut checker, &mut drafts, true);
    drafts = merge::merged(&mut checker, drafts);
    for draft in &mut drafts {
        reduce::without_superfluous_rows(&mut checker, draft);
    }
    merge::without_superfluous(&mut checker, &mut drafts, false);
    for draft in &mut drafts {
        let targets = draft.targets();
        reduce::without_superfluous_values(&mut checker, draft);
        checker.add_budget(CHECK_BUDGET_FOR_READABILITY * targets.len() as u64);
        readable::rename(&mut checker, &mut draft.candidate, &targets);
        reduce::find_witnesses(&mut checker, draft);
    }
    drafts
}

impl FixtureDraft {
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
