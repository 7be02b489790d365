//! Feedback-directed sampling: selects the target with the lowest sampling counter.
//!
//! Counting, resetting and choosing cost the same with ten targets and with
//! a hundred thousand, because targets with the same count share a bucket.

use std::collections::BTreeMap;

use crate::problem::Rng;
use crate::target::TargetId;

/// Targets in buckets by how often they had a turn since they last got better.
#[derive(Clone, Debug, Default)]
pub(super) struct SamplingCounters {
    buckets: BTreeMap<u32, Vec<TargetId>>,
    places: Vec<Option<Place>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    count: u32,
    index: u32,
}

impl SamplingCounters {
    /// Lets a target take part, with no turns so far.
    pub(super) fn reset(&mut self, target: TargetId) {
        self.remove(target);
        self.put(target, 0);
    }

    /// Lets a target no longer take part.
    pub(super) fn remove(&mut self, target: TargetId) -> Option<u32> {
        let Place { count, index } = self.places.get_mut(target.index())?.take()?;
        let bucket = self.buckets.get_mut(&count)?;
        bucket.swap_remove(index as usize);
        if let Some(moved) = bucket.get(index as usize) {
            if let Some(place) = self.places.get_mut(moved.index()) {
                *place = Some(Place { count, index });
            }
        } else if bucket.is_empty() {
            self.buckets.remove(&count);
        }
        Some(count)
    }

    /// Chooses among those with the fewest turns, and counts this one.
    pub(super) fn take(&mut self, rng: &mut Rng) -> Option<TargetId> {
        let (_, bucket) = self.buckets.first_key_value()?;
        let target = *bucket.get(rng.usize(..bucket.len()))?;
        let count = self.remove(target)?;
        self.put(target, count.saturating_add(1));
        Some(target)
    }

    fn put(&mut self, target: TargetId, count: u32) {
        if self.places.len() <= target.index() {
            self.places.resize(target.index() + 1, None);
        }
        let bucket = self.buckets.entry(count).or_default();
        let index = u32::try_from(bucket.len()).unwrap_or(u32::MAX);
        bucket.push(target);
        if let Some(place) = self.places.get_mut(target.index()) {
            *place = Some(Place { count, index });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(index: usize) -> TargetId {
        TargetId::from_index(index)
    }

    #[test]
    fn everybody_has_a_turn_before_anybody_has_a_second() {
        let mut sampling_counters = SamplingCounters::default();
        let mut rng = Rng::with_seed(1);
        for index in 0..50 {
            sampling_counters.reset(target(index));
        }
        for _ in 0..3 {
            let mut round: Vec<_> = (0..50)
                .map(|_| sampling_counters.take(&mut rng).unwrap())
                .collect();
            round.sort();
            assert_eq!(round, (0..50).map(target).collect::<Vec<_>>());
        }
    }

    #[test]
    fn who_got_better_is_next() {
        let mut sampling_counters = SamplingCounters::default();
        let mut rng = Rng::with_seed(1);
        for index in 0..5 {
            sampling_counters.reset(target(index));
        }
        for _ in 0..10 {
            sampling_counters.take(&mut rng);
        }
        sampling_counters.reset(target(3));
        assert_eq!(sampling_counters.take(&mut rng), Some(target(3)));
        assert_eq!(sampling_counters.take(&mut rng), Some(target(3)));
        sampling_counters.reset(target(3));
        sampling_counters.remove(target(3));
        assert_ne!(sampling_counters.take(&mut rng), Some(target(3)));
    }

    #[test]
    fn nobody_is_chosen_when_nobody_takes_part() {
        let mut sampling_counters = SamplingCounters::default();
        sampling_counters.reset(target(7));
        sampling_counters.remove(target(7));
        sampling_counters.remove(target(7));
        sampling_counters.remove(target(9));
        assert_eq!(sampling_counters.take(&mut Rng::with_seed(1)), None);
    }
}
