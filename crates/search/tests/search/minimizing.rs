//! What is handed over covers the same, with less.

use std::sync::Arc;

use isobath_search::{
    AlgorithmKind, Archive, ArchiveUpdate, ArchivedCandidate, MinimizedSuite, Problem, TargetId,
    minimize,
};

use crate::problems::{List, Numbers, Origin, config, search_numbers};

fn list(numbers: &[i64]) -> List {
    List {
        numbers: numbers.to_vec(),
        origin: Origin::Sampled,
    }
}

/// An archive that was given these lists, one after the other.
fn archive(problem: &mut Numbers, lists: &[&[i64]]) -> Archive<List> {
    let mut archive = Archive::default();
    for (trial, numbers) in (0..).zip(lists) {
        let kept = ArchivedCandidate {
            candidate: Arc::new(list(numbers)),
            size: numbers.len(),
            trial,
        };
        let evaluation = problem.score(&kept.candidate, numbers.to_vec());
        archive.record(&kept, &evaluation, 1, &mut ArchiveUpdate::default());
    }
    archive
}

fn numbers(minimized: &MinimizedSuite<List>) -> Vec<Vec<i64>> {
    let suite = minimized.suite.iter();
    suite.map(|test| test.candidate.numbers.clone()).collect()
}

fn problem(goals: &[i64]) -> Numbers {
    Numbers {
        goals: goals.to_vec(),
        ..Numbers::default()
    }
}

#[test]
fn one_candidate_that_covers_all_replaces_those_that_cover_some() {
    let mut problem = problem(&[1, 2, 3]);
    let archive = archive(&mut problem, &[&[1], &[2], &[1, 2, 3]]);
    assert_eq!(archive.suite().len(), 3);
    let minimized = minimize(&mut problem, &archive, &|_| true, |list| {
        Some(list.numbers.clone())
    });
    assert_eq!(numbers(&minimized), [[1, 2, 3]]);
    assert!(minimized.complete && minimized.unstable.is_empty());
}

#[test]
fn parts_that_cover_nothing_are_removed() {
    let mut problem = problem(&[1, 2, 5]);
    let archive = archive(&mut problem, &[&[9, 1, 8, 2, 7], &[6, 5]]);
    let minimized = minimize(&mut problem, &archive, &|_| true, |list| {
        Some(list.numbers.clone())
    });
    assert_eq!(numbers(&minimized), [vec![1, 2], vec![5]]);
}

#[test]
fn of_two_that_cover_the_same_the_shorter_is_chosen() {
    let mut problem = problem(&[1, 2, 3]);
    let archive = archive(&mut problem, &[&[3, 9, 9, 1], &[1, 2], &[3]]);
    let minimized = minimize(&mut problem, &archive, &|_| true, |list| {
        Some(list.numbers.clone())
    });
    assert_eq!(numbers(&minimized), [vec![1, 2], vec![3]]);
}

#[test]
fn without_time_everything_is_handed_over_as_it_is() {
    let mut problem = problem(&[1, 2]);
    let archive = archive(&mut problem, &[&[9, 1], &[2, 8]]);
    let minimized = minimize(&mut problem, &archive, &|_| true, |_| None);
    assert_eq!(numbers(&minimized), [vec![9, 1], vec![2, 8]]);
    assert!(!minimized.complete);
    let targets: Vec<usize> = minimized
        .suite
        .iter()
        .flat_map(|test| &test.targets)
        .map(|target| target.index())
        .collect();
    assert_eq!(targets, [0, 1]);
}

#[test]
fn without_time_in_the_middle_nothing_is_lost() {
    let mut problem = problem(&[1, 2, 3]);
    let archive = archive(&mut problem, &[&[9, 1], &[2, 8], &[7, 3]]);
    for n_runs in 0..9 {
        let mut left = n_runs;
        let minimized = minimize(&mut problem, &archive, &|_| true, |list: &List| {
            (left > 0).then(|| {
                left -= 1;
                list.numbers.clone()
            })
        });
        let all = numbers(&minimized).concat();
        assert!([1, 2, 3].iter().all(|goal| all.contains(goal)), "{n_runs}");
        // Three are run again, and five shorter ones are tried.
        assert_eq!(minimized.complete, n_runs >= 8, "{n_runs}");
    }
}

#[test]
fn a_target_that_is_not_covered_again_is_unstable_and_keeps_its_candidate() {
    let mut problem = problem(&[1, 2]);
    let archive = archive(&mut problem, &[&[1], &[2]]);
    let minimized = minimize(&mut problem, &archive, &|_| true, |list| {
        // The second time, a 2 is answered with something else.
        let changed = |number: &i64| if *number == 2 { 77 } else { *number };
        Some(list.numbers.iter().map(changed).collect())
    });
    assert_eq!(minimized.unstable, [TargetId::from_index(1)]);
    assert_eq!(numbers(&minimized), [[1], [2]]);
}

#[test]
fn a_minimized_suite_covers_what_the_search_covered() {
    for seed in 1..4 {
        let mut outcome = search_numbers(12, &config(AlgorithmKind::Mio, seed), 8_000);
        let minimized = minimize(&mut outcome.problem, &outcome.archive, &|_| true, |list| {
            Some(list.numbers.clone())
        });
        let mut again = Archive::default();
        for (trial, test) in (0..).zip(&minimized.suite) {
            let evaluation = outcome
                .problem
                .score(&test.candidate, test.candidate.numbers.clone());
            let kept = ArchivedCandidate {
                candidate: Arc::clone(&test.candidate),
                size: 1,
                trial,
            };
            again.record(&kept, &evaluation, 1, &mut ArchiveUpdate::default());
            assert!(test.targets.iter().all(|target| evaluation.covers(*target)));
        }
        assert!(outcome.archive.n_covered() > 0);
        assert_eq!(again.n_covered(), outcome.archive.n_covered());
    }
}

#[test]
fn an_empty_archive_makes_an_empty_suite() {
    let archive = Archive::default();
    let minimized = minimize(&mut problem(&[]), &archive, &|_| true, |list: &List| {
        Some(list.numbers.clone())
    });
    assert!(minimized.suite.is_empty() && minimized.complete);
}
