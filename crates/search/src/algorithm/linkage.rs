//! Linkage learning: which kinds of parts belong together in good candidates.
//!
//! After Stallenberg, Olsthoorn and Panichella, "Improving Test Case Generation for REST APIs Through
//! Hierarchical Clustering" (ASE 2021). Kinds that occur in the same candidates of the first front are
//! merged into clusters, nearest first (average linkage), and crossover exchanges whole clusters.

use std::collections::{BTreeMap, BTreeSet};

/// More kinds than this are not clustered, the rarest first: the cost grows with their cube.
const MAX_KINDS: usize = 100;

/// Clusters of kinds that occur together, smaller ones first; never all kinds at once.
pub(super) fn clusters(candidates: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let occurrences = occurrences(candidates);
    let mut open: Vec<Vec<usize>> = (0..occurrences.len()).map(|kind| vec![kind]).collect();
    let mut clusters = Vec::new();
    while open.len() > 2 {
        let Some((a, b)) = nearest(&open, &occurrences) else {
            break;
        };
        let other = open.swap_remove(b);
        let Some(cluster) = open.get_mut(a) else {
            break;
        };
        cluster.extend(other);
        let kinds = cluster.iter().filter_map(|&kind| occurrences.get(kind));
        let mut kinds: Vec<u64> = kinds.map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        clusters.push(kinds);
    }
    clusters
}

/// The candidates that each kind occurs in.
fn occurrences(candidates: &[Vec<u64>]) -> Vec<(u64, BTreeSet<usize>)> {
    let mut found: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for (at, kinds) in candidates.iter().enumerate() {
        for kind in kinds {
            found.entry(*kind).or_default().insert(at);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(kind, candidates)| (std::cmp::Reverse(candidates.len()), *kind));
    found.truncate(MAX_KINDS);
    found
}

/// The two clusters whose kinds occur together most often, if any do; the first is before the second.
fn nearest(open: &[Vec<usize>], occurrences: &[(u64, BTreeSet<usize>)]) -> Option<(usize, usize)> {
    let together = |a: usize, b: usize| {
        let (Some((_, a)), Some((_, b))) = (occurrences.get(a), occurrences.get(b)) else {
            return 0.0;
        };
        let both = a.intersection(b).count();
        both as f64 / (a.len() + b.len() - both) as f64
    };
    let mut best: Option<(f64, (usize, usize))> = None;
    for (a, one) in open.iter().enumerate() {
        for (b, other) in open.iter().enumerate().skip(a + 1) {
            let pairs = one.iter().flat_map(|x| other.iter().map(move |y| (*x, *y)));
            let sum: f64 = pairs.map(|(x, y)| together(x, y)).sum();
            let linkage = sum / (one.len() * other.len()) as f64;
            if linkage > 0.0 && best.is_none_or(|(than, _)| linkage > than) {
                best = Some((linkage, (a, b)));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_the_same_candidates_are_merged_first() {
        let candidates = [
            vec![1, 2, 9],
            vec![2, 1],
            vec![3, 4],
            vec![4, 3, 9],
            vec![5],
        ];
        assert_eq!(
            clusters(&candidates),
            [vec![1, 2], vec![3, 4], vec![1, 2, 9], vec![1, 2, 3, 4, 9]]
        );
    }

    #[test]
    fn kinds_that_never_meet_are_not_linked() {
        assert!(clusters(&[vec![1], vec![2], vec![3]]).is_empty());
        assert!(clusters(&[vec![1, 2]]).is_empty());
    }
}
