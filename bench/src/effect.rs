//! How samples compare: median, effect size, and whether chance alone would do that.

use std::cmp::Ordering;

/// The middle value; the upper one of two.
pub(crate) fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The chance that a value of the first is greater than one of the second, ties counting half (Vargha and Delaney).
pub(crate) fn a12(first: &[u64], second: &[u64]) -> f64 {
    let wins: f64 = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)))
        .map(|(a, b)| match a.cmp(b) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        })
        .sum();
    wins / (first.len() * second.len()).max(1) as f64
}

/// How likely ranks at least as unequal are when both come from the same: the two-sided test of Mann and Whitney, exact,
/// ties sharing their ranks.
///
/// All ways of choosing which values are the first are counted by the sum of their ranks.
pub(crate) fn chance(first: &[u64], second: &[u64]) -> f64 {
    if first.is_empty() || second.is_empty() {
        return 1.0;
    }
    let all: Vec<u64> = first.iter().chain(second).copied().collect();
    // Twice the rank, so that a shared one is whole.
    let rank = |value: &u64| -> usize {
        let below = all.iter().filter(|other| *other < value).count();
        let equal = all.iter().filter(|other| *other == value).count();
        2 * below + equal + 1
    };
    let total: usize = all.iter().map(rank).sum();
    let seen: usize = first.iter().map(rank).sum();
    let n = first.len();
    // ways[k][s]: how many choices of k values have ranks that sum up to s.
    let mut ways = vec![vec![0.0; total + 1]; n + 1];
    ways[0][0] = 1.0;
    for value in &all {
        let rank = rank(value);
        for k in (1..=n).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            let (fewer, more) = (&fewer[k - 1], &mut more[0]);
            for sum in rank..=total {
                more[sum] += fewer[sum - rank];
            }
        }
    }
    let middle = (total * n) as f64 / all.len() as f64;
    let far = |sum: usize| (sum as f64 - middle).abs();
    let sums = ways[n].iter().enumerate();
    let unequal: f64 = sums
        .filter(|(sum, _)| far(*sum) >= far(seen) - 1e-9)
        .map(|(_, ways)| ways)
        .sum();
    unequal / ways[n].iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_never_meet_are_as_unequal_as_can_be() {
        let (low, high) = ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]);
        assert!((a12(&high, &low) - 1.0).abs() < 1e-12);
        // Two of the 252 ways to choose five of ten.
        assert!((chance(&high, &low) - 2.0 / 252.0).abs() < 1e-12);
        assert!((chance(&low, &high) - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn the_same_twice_is_no_difference() {
        let same = [3, 3, 4, 5];
        assert!((a12(&same, &same) - 0.5).abs() < 1e-12);
        assert!((chance(&same, &same) - 1.0).abs() < 1e-12);
        assert_eq!(median(&same), 4);
    }

    #[test]
    fn ties_share_their_ranks() {
        // Doubled ranks are 2, 5, 5, 8; of the six pairs, {2, 5} twice and {5, 8} twice are as far out as what is seen.
        assert!((chance(&[1, 2], &[2, 3]) - 4.0 / 6.0).abs() < 1e-12);
    }
}
