//! The archive: for each target, the candidates with the best scores.
//!
//! A target that is not covered keeps a small population, best first; a covered
//! one keeps the smallest candidate that covers it. An evaluation costs work for
//! the targets that it touched and for no others.

mod sampling_counters;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::evaluation::{Evaluation, Score};
use crate::problem::Rng;
use crate::target::TargetId;
use sampling_counters::SamplingCounters;

/// A candidate that was evaluated.
#[derive(Debug)]
pub struct ArchivedCandidate<C> {
    /// The candidate.
    pub candidate: Arc<C>,
    /// How many parts it has.
    pub size: usize,
    /// Its number in the run, from 0.
    pub trial: u64,
}

// Derived, it would ask that candidates can be cloned.
impl<C> Clone for ArchivedCandidate<C> {
    fn clone(&self) -> Self {
        Self {
            candidate: Arc::clone(&self.candidate),
            size: self.size,
            trial: self.trial,
        }
    }
}

/// A candidate in the population of a target.
#[derive(Debug)]
pub struct Member<C> {
    /// The candidate.
    pub kept: ArchivedCandidate<C>,
    /// How near it came to the target.
    pub score: Score,
}

impl<C> Clone for Member<C> {
    fn clone(&self) -> Self {
        Self {
            kept: self.kept.clone(),
            score: self.score,
        }
    }
}

impl<C> Member<C> {
    /// Orders members of one population: the better one is greater.
    fn cmp_quality(&self, score: &Score, size: usize) -> Ordering {
        self.score
            .cmp_quality(score)
            .then_with(|| size.cmp(&self.kept.size))
    }
}

/// What an evaluation added to the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveUpdate {
    /// Targets touched for the first time.
    pub discovered: Vec<TargetId>,
    /// Targets covered for the first time.
    pub covered: Vec<TargetId>,
    /// Targets, not covered, that nothing came as near to before.
    pub improved: Vec<TargetId>,
    /// Whether any population took the candidate.
    pub kept: bool,
}

impl ArchiveUpdate {
    fn clear(&mut self) {
        self.discovered.clear();
        self.covered.clear();
        self.improved.clear();
        self.kept = false;
    }
}

#[derive(Clone, Debug)]
struct Slot<C> {
    members: Vec<Member<C>>,
    discovered: bool,
    covered: bool,
}

impl<C> Default for Slot<C> {
    fn default() -> Self {
        Self {
            members: Vec::new(),
            discovered: false,
            covered: false,
        }
    }
}

/// The candidates worth remembering, by target.
#[derive(Debug)]
pub struct Archive<C> {
    slots: Vec<Slot<C>>,
    open: SamplingCounters,
    done: SamplingCounters,
    discovered: usize,
    covered: usize,
}

impl<C> Default for Archive<C> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            open: SamplingCounters::default(),
            done: SamplingCounters::default(),
            discovered: 0,
            covered: 0,
        }
    }
}

impl<C> Archive<C> {
    /// How many targets were touched so far, covered or not.
    pub fn n_targets(&self) -> usize {
        self.discovered
    }

    /// How many targets are covered.
    pub fn n_covered(&self) -> usize {
        self.covered
    }

    /// Whether a target is covered.
    pub fn is_covered(&self, target: TargetId) -> bool {
        self.slots
            .get(target.index())
            .is_some_and(|slot| slot.covered)
    }

    /// The best that is known for a target: what covers it, or its nearest miss.
    pub fn best(&self, target: TargetId) -> Option<&Member<C>> {
        self.slots.get(target.index())?.members.first()
    }

    /// The smallest candidate that covers a target.
    pub fn covering(&self, target: TargetId) -> Option<&ArchivedCandidate<C>> {
        let slot = self.slots.get(target.index())?;
        slot.members
            .first()
            .filter(|_| slot.covered)
            .map(|member| &member.kept)
    }

    /// The population of a target, best first.
    pub fn population(&self, target: TargetId) -> &[Member<C>] {
        self.slots
            .get(target.index())
            .map_or(&[], |slot| &slot.members)
    }

    /// All targets that were touched, by number.
    pub fn targets(&self) -> impl Iterator<Item = TargetId> + '_ {
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.discovered)
            .map(|(index, _)| TargetId::from_index(index))
    }

    /// The candidates that cover something, each once with the targets it is kept for, oldest first.
    pub fn suite(&self) -> Vec<(ArchivedCandidate<C>, Vec<TargetId>)> {
        let mut tests: Vec<(&ArchivedCandidate<C>, TargetId)> = self
            .targets()
            .filter_map(|target| Some((self.covering(target)?, target)))
            .collect();
        tests.sort_by_key(|(kept, target)| (kept.trial, *target));
        tests
            .chunk_by(|a, b| a.0.trial == b.0.trial)
            .filter_map(|chunk| {
                let (kept, _) = chunk.first()?;
                let targets = chunk.iter().map(|(_, target)| *target).collect();
                Some(((*kept).clone(), targets))
            })
            .collect()
    }

    /// Remembers an evaluated candidate where it is worth it, with populations of at most `limit`.
    ///
    /// What it added is written to `gain`, which is emptied first.
    pub fn record(
        &mut self,
        kept: &ArchivedCandidate<C>,
        evaluation: &Evaluation,
        limit: usize,
        gain: &mut ArchiveUpdate,
    ) {
        gain.clear();
        for score in evaluation.scores() {
            let target = score.target();
            if self.slots.len() <= target.index() {
                self.slots.resize_with(target.index() + 1, Slot::default);
            }
            let Some(slot) = self.slots.get_mut(target.index()) else {
                continue;
            };
            if !slot.discovered {
                slot.discovered = true;
                self.discovered += 1;
                gain.discovered.push(target);
            }
            if score.value() <= 0.0 {
                continue;
            }
            if slot.covered {
                if score.is_covered()
                    && let Some(best) = slot.members.first_mut()
                    && best.cmp_quality(score, kept.size).is_lt()
                {
                    *best = member(kept, score);
                    gain.kept = true;
                }
            } else if score.is_covered() {
                slot.covered = true;
                slot.members = vec![member(kept, score)];
                self.covered += 1;
                self.open.remove(target);
                self.done.reset(target);
                gain.covered.push(target);
                gain.kept = true;
            } else {
                let better = match slot.members.first() {
                    Some(best) => best.score.cmp_quality(score).is_lt(),
                    None => true,
                };
                gain.kept |= slot.insert(kept, score, limit);
                if better {
                    self.open.reset(target);
                    gain.improved.push(target);
                }
            }
        }
    }

    /// Chooses the target whose turn it is and a member of its population, at most `limit` large from now on.
    ///
    /// The turn goes to an open target that was tried least often since it last
    /// got better (feedback-directed sampling); where none is open, to a covered
    /// one, from which new targets may be near.
    pub fn draw(&mut self, rng: &mut Rng, limit: usize) -> Option<(TargetId, Member<C>)> {
        let target = self.open.take(rng).or_else(|| self.done.take(rng))?;
        let members = &mut self.slots.get_mut(target.index())?.members;
        members.truncate(limit.max(1));
        let member = members.get(rng.usize(..members.len()))?;
        Some((target, member.clone()))
    }
}

impl<C> Slot<C> {
    /// Inserts before members that are as good, so that the older ones give way.
    fn insert(&mut self, kept: &ArchivedCandidate<C>, score: &Score, limit: usize) -> bool {
        let limit = limit.max(1);
        let place = self
            .members
            .partition_point(|member| member.cmp_quality(score, kept.size).is_gt());
        if place >= limit {
            return false;
        }
        self.members.truncate(limit);
        if self.members.len() == limit {
            self.members.pop();
        }
        self.members.insert(place, member(kept, score));
        true
    }
}

fn member<C>(kept: &ArchivedCandidate<C>, score: &Score) -> Member<C> {
    Member {
        kept: kept.clone(),
        score: *score,
    }
}

#[cfg(test)]
mod tests;
