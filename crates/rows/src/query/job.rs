//! The query job: covers all targets of one query.

use std::collections::BTreeMap;

use isobath_sql::eval::Unsupported;
use isobath_sql::query::ResolveError;
use jiff::civil::DateTime;

use super::algorithm::{Algorithm, Config};
use super::archive::Archive;
use super::candidate::Candidate;
use super::construct::{Construction, SolverContext, complete, construct};
use super::fixture::Fixture;
use super::minimize::fixtures;
use super::search::genetic::Population;
use super::search::local_search::LocalSearch;
use super::search::operators::CandidateFactory;
use super::search::random;
use super::search::space::SearchSpace;
use super::stop::StopReason;
use super::target::QueryTarget;

pub use super::archive::EngineJudge;
pub use super::construct::Cause;

/// The outcome of one target.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetStatus {
    /// The fixture of this number covers it.
    Covered(usize),
    /// No rows can.
    Infeasible {
        /// What kind of reason there is.
        cause: Cause,
        /// Why, as a sentence.
        proof: String,
    },
    /// We found neither rows nor a proof.
    Uncovered {
        /// Why.
        reason: UncoveredReason,
    },
}

/// Why a target is neither covered nor proven infeasible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UncoveredReason {
    /// The search ended without success.
    #[error("the search found no rows within its budget")]
    NotFound,
    /// The job had to end before.
    #[error(transparent)]
    Stopped(#[from] StopReason),
    /// The target cannot be resolved against the schema.
    #[error(transparent)]
    Unresolved(#[from] ResolveError),
    /// The target contains something that we do not evaluate.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The database does not return a row over the rows that we found.
    #[error("the engine disagrees: {actual}")]
    EngineDisagrees {
        /// What the database did.
        actual: String,
    },
    /// The database refused to create a table that the query reads.
    #[error("not run: the engine has no table `{table}`, because it refused its CREATE TABLE")]
    NotRun {
        /// The table.
        table: String,
    },
}

impl UncoveredReason {
    /// The function that we do not evaluate, when that is the reason.
    pub fn unsupported_function(&self) -> Option<&str> {
        match self {
            Self::Unsupported(unsupported) => unsupported.function.as_deref(),
            Self::NotFound
            | Self::Stopped(_)
            | Self::Unresolved(_)
            | Self::EngineDisagrees { .. }
            | Self::NotRun { .. } => None,
        }
    }
}

/// The outcome of a query's targets.
#[derive(Clone, Debug, Default)]
pub struct CoverageOutcome {
    /// What covers the targets.
    pub fixtures: Vec<Fixture>,
    /// One per target.
    pub statuses: Vec<TargetStatus>,
    /// How often a query was run over a candidate.
    pub evaluations: u64,
    /// The time for which rows were found: what NOW and similar functions answered.
    pub now: DateTime,
}

impl CoverageOutcome {
    /// How many targets are covered.
    pub fn covered(&self) -> usize {
        let covered = self.statuses.iter();
        covered
            .filter(|status| matches!(status, TargetStatus::Covered(_)))
            .count()
    }

    /// How many targets are proven infeasible.
    pub fn infeasible(&self) -> usize {
        let proven = self.statuses.iter();
        proven
            .filter(|status| matches!(status, TargetStatus::Infeasible { .. }))
            .count()
    }

    /// How many rows all fixtures have.
    pub fn rows(&self) -> usize {
        self.fixtures.iter().map(Fixture::row_count).sum()
    }
}

/// Covers the targets of a query.
pub fn run(
    targets: &[QueryTarget],
    context: SolverContext<'_>,
    config: &Config,
) -> CoverageOutcome {
    run_judged(targets, context, config, None)
}

/// Covers the targets of a query; an engine judges what we cannot evaluate.
pub fn run_judged<'a>(
    targets: &'a [QueryTarget],
    context: SolverContext<'a>,
    config: &Config,
    judge: Option<&'a mut EngineJudge<'a>>,
) -> CoverageOutcome {
    let mut archive = Archive::new(context, targets, judge);
    match config.algorithm {
        Algorithm::Default => ours(&mut archive, config),
        Algorithm::Ga | Algorithm::Biased | Algorithm::Random => papers(&mut archive, config),
    }
    archive.ask_about_unread();
    fixtures(archive, config.share_fixtures)
}

/// The most evaluations of a usual size that judge what is built for one target.
const MAX_CONSTRUCTION: u64 = 2_000;

/// Builds what can be built, proves what cannot be, and searches for the rest.
fn ours(archive: &mut Archive<'_>, config: &Config) {
    let mut near: BTreeMap<usize, (f64, Candidate)> = BTreeMap::new();
    for target in 0..archive.targets.len() {
        let Ok(query) = &archive.targets[target].query else {
            continue;
        };
        if !archive.is_open(target) {
            continue;
        }
        let context = archive.context;
        let made = archive.found.len();
        let most = archive.spent() + MAX_CONSTRUCTION;
        let found = construct(query, context, made, &mut |candidate| {
            if archive.spent() > most {
                return false;
            }
            let distance = archive.distance(target, candidate);
            let best = near.get(&target);
            if distance > 0.0 && best.is_none_or(|(least, _)| distance < *least) {
                near.insert(target, (distance, candidate.clone()));
            }
            distance == 0.0
        });
        match found {
            Construction::Candidate(candidate) => archive.keep(target, candidate),
            Construction::Infeasible { cause, proof } if !archive.targets[target].takes_array => {
                archive.statuses[target] = Some(TargetStatus::Infeasible { cause, proof });
            }
            Construction::Infeasible { .. } | Construction::Unknown => {}
        }
    }
    for target in archive.open() {
        let Ok(query) = &archive.targets[target].query else {
            continue;
        };
        // A search for an earlier one may have come by.
        if !archive.is_open(target) || archive.context.stop.is_set() {
            continue;
        }
        let mut starts: Vec<Candidate> = near
            .remove(&target)
            .into_iter()
            .map(|near| near.1)
            .collect();
        starts.extend(nearest(archive, target));
        let space = SearchSpace::new(query);
        let chance = chance(config, 0, target);
        let mut factory = CandidateFactory::new(archive.context, &space, true, chance);
        LocalSearch::new(archive, target, &space, config.budget).run(starts, &mut factory);
    }
}

/// The candidates of other targets over which a target is nearest to returning a row.
fn nearest(archive: &mut Archive<'_>, target: usize) -> Vec<Candidate> {
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for index in 0..archive.found.len() {
        let candidate = archive.found[index].clone();
        scored.push((archive.distance(target, &candidate), index));
    }
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let nearest = scored.iter().take(3);
    nearest
        .map(|(_, index)| archive.found[*index].clone())
        .collect()
}

fn chance(config: &Config, round: u64, target: usize) -> u64 {
    let place = round << 32 | target as u64;
    config
        .seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(place)
}

/// One target after the other, each with its share of what is left of the budget.
fn papers(archive: &mut Archive<'_>, config: &Config) {
    let mut left = config.budget.saturating_mul(archive.targets.len() as u64);
    let mut population = Population::default();
    let mut round = 0;
    // What is left over goes to the targets that are still open.
    while left > 0 && round < 8 {
        round += 1;
        let open = archive.open();
        for (index, target) in open.iter().copied().enumerate() {
            let Ok(query) = &archive.targets[target].query else {
                continue;
            };
            let share = left / ((open.len() - index) as u64);
            let space = SearchSpace::new(query);
            let seeded = config.algorithm != Algorithm::Random;
            let chance = chance(config, round, target);
            let mut factory = CandidateFactory::new(archive.context, &space, seeded, chance);
            let mut distance = |candidate: &_| archive.constraint_distance(target, candidate);
            let (found, spent) = match config.algorithm {
                Algorithm::Ga => population.evolve(&mut factory, share, &mut distance),
                _ => random::random(&mut factory, share, &mut distance),
            };
            left = left.saturating_sub(spent);
            if let Some(candidate) = found {
                let context = archive.context;
                let completed = if context.constraints {
                    complete(&context, candidate)
                } else {
                    Some(candidate)
                };
                if let Some(candidate) = completed {
                    let number = archive.found.len();
                    archive.statuses[target] = Some(TargetStatus::Covered(number));
                    archive.found.push(candidate);
                }
            }
        }
        if archive.open().is_empty() || open.is_empty() {
            break;
        }
    }
}
