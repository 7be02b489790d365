//! Preference sorting and fronts for many objectives.
//!
//! The preference criterion of Panichella, Kifetew and Tonella (ICST 2015): the
//! best candidate for each open target goes first, whatever else it does; the
//! rest is sorted by dominance. Within a front, those that are alone in being
//! best at something come first (the fast epsilon-dominance assignment of Köppen
//! and Yoshida, which stays meaningful where crowding distances are all infinite).

use std::cmp::Ordering;

use super::ScoredCandidate;
use crate::evaluation::Score;
use crate::target::TargetId;

/// The candidates of one front, by their place among all that were ranked.
pub(super) type Front = Vec<usize>;

/// Sorts candidates into fronts until there are `enough` in them.
///
/// The first front holds the best for each open target; it is empty when none is open.
#[expect(
    clippy::indexing_slicing,
    reason = "indexes are places among the candidates that are ranked"
)]
pub(super) fn fronts<C>(
    all: &[&ScoredCandidate<C>],
    is_open: impl Fn(TargetId) -> bool,
    enough: usize,
) -> Vec<Front> {
    let open: Vec<Vec<Score>> = all
        .iter()
        .map(|tested| {
            let scores = tested.scores.iter();
            scores
                .filter(|score| is_open(score.target()))
                .copied()
                .collect()
        })
        .collect();
    let preferred = preferred(all, &open);
    let mut is_left = vec![true; all.len()];
    for index in &preferred {
        is_left[*index] = false;
    }
    let mut n_ranked = preferred.len();
    let mut fronts = vec![preferred];
    if n_ranked >= enough {
        return fronts;
    }
    let left: Vec<usize> = (0..all.len()).filter(|index| is_left[*index]).collect();
    let mut n_dominating = vec![0_usize; all.len()];
    let mut dominated = vec![Vec::new(); all.len()];
    for (place, &a) in left.iter().enumerate() {
        for &b in &left[place + 1..] {
            match dominance(&open[a], &open[b]) {
                Some(Ordering::Greater) => {
                    dominated[a].push(b);
                    n_dominating[b] += 1;
                }
                Some(Ordering::Less) => {
                    dominated[b].push(a);
                    n_dominating[a] += 1;
                }
                Some(Ordering::Equal) | None => {}
            }
        }
    }
    let mut front: Front = left
        .into_iter()
        .filter(|index| n_dominating[*index] == 0)
        .collect();
    while !front.is_empty() && n_ranked < enough {
        let mut next = Vec::new();
        for &index in &front {
            for &below in &dominated[index] {
                n_dominating[below] -= 1;
                if n_dominating[below] == 0 {
                    next.push(below);
                }
            }
        }
        next.sort_unstable();
        n_ranked += front.len();
        fronts.push(front);
        front = next;
    }
    fronts
}

/// The best candidate for each open target: the highest score, then the smallest candidate.
#[expect(
    clippy::indexing_slicing,
    reason = "`best` has a place for each target, and holders are places among the candidates"
)]
fn preferred<C>(all: &[&ScoredCandidate<C>], open: &[Vec<Score>]) -> Front {
    let n_targets = n_targets(open);
    let mut best: Vec<Option<(Score, usize)>> = vec![None; n_targets];
    for (index, scores) in open.iter().enumerate() {
        for score in scores {
            let place = &mut best[score.target().index()];
            let is_better = place.is_none_or(|(than, holder)| {
                let smaller = || all[holder].kept.size.cmp(&all[index].kept.size);
                score.cmp_quality(&than).then_with(smaller).is_gt()
            });
            if is_better {
                *place = Some((*score, index));
            }
        }
    }
    let mut front: Front = best.into_iter().flatten().map(|(_, index)| index).collect();
    front.sort_unstable();
    front.dedup();
    front
}

/// Greater when `a` is as good everywhere and better somewhere; `None` when each is better somewhere.
fn dominance(a: &[Score], b: &[Score]) -> Option<Ordering> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut verdict = Ordering::Equal;
    loop {
        // A target that only one of them reached is a point for that one.
        let here = match (a.peek(), b.peek()) {
            (None, None) => return Some(verdict),
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (Some(x), Some(y)) => match x.target().cmp(&y.target()) {
                Ordering::Less => {
                    a.next();
                    Ordering::Greater
                }
                Ordering::Greater => {
                    b.next();
                    Ordering::Less
                }
                Ordering::Equal => {
                    let order = x.cmp_quality(y);
                    a.next();
                    b.next();
                    order
                }
            },
        };
        if here == Ordering::Equal {
            continue;
        }
        if verdict == here.reverse() {
            return None;
        }
        verdict = here;
        if a.peek().is_none() && b.peek().is_none() {
            return Some(verdict);
        }
        // The rest of the longer one cannot change what is already said.
        match (a.peek().is_none(), b.peek().is_none()) {
            (true, false) => return (verdict == Ordering::Less).then_some(verdict),
            (false, true) => return (verdict == Ordering::Greater).then_some(verdict),
            _ => {}
        }
    }
}

/// How alone each candidate of a front is in being best at something, from 0 to 1.
#[expect(
    clippy::indexing_slicing,
    reason = "a front holds places among the candidates, and `tops` has a place for each target"
)]
pub(super) fn distinction<C>(
    front: &Front,
    all: &[&ScoredCandidate<C>],
    is_open: impl Fn(TargetId) -> bool,
) -> Vec<f64> {
    let scores = |index: usize| {
        let scores = all[index].scores.iter();
        scores.filter(|score| is_open(score.target()))
    };
    let last = front
        .iter()
        .flat_map(|index| scores(*index))
        .map(|score| score.target().index())
        .max();
    // Per target: the best value, how many have it, and how many reached the target at all.
    let mut tops = vec![(0.0, 0_usize, 0_usize); last.map_or(0, |last| last + 1)];
    for &index in front {
        for score in scores(index) {
            let (top, holders, reached) = &mut tops[score.target().index()];
            *reached += 1;
            if score.value() > *top {
                (*top, *holders) = (score.value(), 1);
            } else if score.value() == *top {
                *holders += 1;
            }
        }
    }
    let n = front.len() as f64;
    front
        .iter()
        .map(|index| {
            let alone = |score: &Score| {
                let (top, holders, _) = tops[score.target().index()];
                // When all are as good as each other, nobody stands out.
                if score.value() == top && holders < front.len() {
                    (n - holders as f64) / n
                } else {
                    0.0
                }
            };
            scores(*index).map(alone).fold(0.0, f64::max)
        })
        .collect()
}

fn n_targets(open: &[Vec<Score>]) -> usize {
    let last = open.iter().filter_map(|scores| scores.last());
    last.map(|score| score.target().index() + 1)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::archive::ArchivedCandidate;

    fn tested(size: usize, scores: &[(usize, f64)]) -> ScoredCandidate<()> {
        ScoredCandidate {
            kept: ArchivedCandidate {
                candidate: Arc::new(()),
                size,
                trial: 0,
            },
            scores: scores
                .iter()
                .map(|(index, value)| Score::new(TargetId::from_index(*index), *value))
                .collect(),
        }
    }

    fn ranked(all: &[ScoredCandidate<()>], enough: usize) -> Vec<Front> {
        let all: Vec<&ScoredCandidate<()>> = all.iter().collect();
        fronts(&all, |target| target.index() != 9, enough)
    }

    #[test]
    fn the_first_front_holds_the_best_for_each_open_target() {
        let all = [
            tested(1, &[(0, 0.9), (1, 0.1)]),
            tested(1, &[(0, 0.8), (1, 0.8)]),
            tested(1, &[(1, 0.9)]),
            tested(1, &[(9, 0.5)]),
        ];
        assert_eq!(ranked(&all, 4), [vec![0, 2], vec![1], vec![3]]);
    }

    #[test]
    fn of_two_that_are_as_near_the_smaller_is_preferred() {
        let all = [tested(3, &[(0, 0.5)]), tested(2, &[(0, 0.5)])];
        assert_eq!(ranked(&all, 2), [vec![1], vec![0]]);
    }

    #[test]
    fn the_rest_is_sorted_by_dominance_and_no_further_than_needed() {
        let all = [
            tested(1, &[(0, 0.9), (1, 0.9), (2, 0.9)]),
            tested(1, &[(0, 0.5), (1, 0.5)]),
            tested(1, &[(0, 0.4), (1, 0.5)]),
            tested(1, &[(2, 0.1)]),
            tested(1, &[(0, 0.4), (1, 0.4)]),
        ];
        assert_eq!(ranked(&all, 5), [vec![0], vec![1, 3], vec![2], vec![4]]);
        assert_eq!(ranked(&all, 2), [vec![0], vec![1, 3]]);
    }

    #[test]
    fn dominance_needs_no_loss_anywhere() {
        let check = |a: &[(usize, f64)], b: &[(usize, f64)]| {
            let (a, b) = (tested(1, a), tested(1, b));
            dominance(&a.scores, &b.scores)
        };
        assert_eq!(check(&[], &[]), Some(Ordering::Equal));
        assert_eq!(check(&[(0, 0.1)], &[]), Some(Ordering::Greater));
        assert_eq!(check(&[(0, 0.1)], &[(1, 0.1)]), None);
        assert_eq!(
            check(&[(0, 0.1), (1, 0.5)], &[(1, 0.5)]),
            Some(Ordering::Greater)
        );
        assert_eq!(check(&[(0, 0.1), (2, 0.1)], &[(1, 0.5)]), None);
        assert_eq!(
            check(&[(1, 0.1)], &[(1, 0.5), (2, 0.1)]),
            Some(Ordering::Less)
        );
        assert_eq!(check(&[(1, 0.6)], &[(1, 0.5), (2, 0.1)]), None);
    }

    #[test]
    fn who_is_alone_in_being_best_stands_out() {
        let all = [
            tested(1, &[(0, 0.5), (1, 0.5)]),
            tested(1, &[(0, 0.5)]),
            tested(1, &[(0, 0.4)]),
            tested(1, &[(0, 0.1)]),
        ];
        let all: Vec<&ScoredCandidate<()>> = all.iter().collect();
        let front = vec![0, 1, 2, 3];
        assert_eq!(distinction(&front, &all, |_| true), [0.75, 0.5, 0.0, 0.0]);
    }
}
