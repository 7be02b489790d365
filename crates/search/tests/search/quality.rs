//! How good the algorithms are, on listed seeds.

use isobath_search::AlgorithmKind;

use crate::problems::{Numbers, config, search_bits, search_problem};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

fn median(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    values[values.len() / 2]
}

fn covered_numbers(algorithm: AlgorithmKind, n_mirages: usize, evaluations: u64) -> usize {
    let covered = |seed| {
        let problem = Numbers {
            n_mirages,
            ..Numbers::with_goals(10)
        };
        let outcome = search_problem(problem, &config(algorithm, seed), evaluations);
        outcome.archive.n_covered()
    };
    median(SEEDS.map(covered).collect())
}

fn covered_bits(algorithm: AlgorithmKind, n_bits: usize, evaluations: u64) -> usize {
    let covered = |seed| search_bits(n_bits, &config(algorithm, seed), evaluations);
    median(SEEDS.map(covered).collect())
}

#[test]
fn every_algorithm_that_follows_distances_beats_chance() {
    let [mio, wts, mosa, dynamosa, lt_mosa, random] =
        AlgorithmKind::ALL.map(|algorithm| covered_numbers(algorithm, 0, 6_000));
    assert_eq!(random, 0);
    assert!(mio >= 8 && mosa >= 8 && wts >= 3, "{mio} {wts} {mosa}");
    assert!(dynamosa >= 8 && lt_mosa >= 8, "{dynamosa} {lt_mosa}");
}

#[test]
fn mio_is_the_best_among_targets_that_lead_nowhere() {
    let kinds = [
        AlgorithmKind::Mio,
        AlgorithmKind::Wts,
        AlgorithmKind::Mosa,
        AlgorithmKind::Random,
    ];
    let [mio, wts, mosa, random] = kinds.map(|algorithm| covered_numbers(algorithm, 60, 6_000));
    assert!(
        mio > wts && mio > mosa && mio > random,
        "{mio} {wts} {mosa} {random}"
    );
}

#[test]
fn targets_that_open_one_after_the_other_are_followed() {
    let [mio, wts, mosa, dynamosa, lt_mosa, random] =
        AlgorithmKind::ALL.map(|algorithm| covered_bits(algorithm, 64, 4_000));
    assert!(
        mio == 64 && mosa >= 50 && wts > random,
        "{mio} {wts} {mosa} {random}"
    );
    assert!(dynamosa >= 50 && lt_mosa >= 50, "{dynamosa} {lt_mosa}");
    // Each further bit halves the chance of a fresh candidate.
    assert!(random < 20, "{random}");
}
