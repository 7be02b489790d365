//! What is particular to each algorithm.

use std::sync::{Arc, Mutex};

use isobath_search::algorithm::{Mosa, Wts};
use isobath_search::{
    AlgorithmKind, Budget, MioConfig, MosaConfig, Phase, Search, SearchConfig, SearchEvent,
    TargetId, WtsConfig, run,
};

use crate::problems::{Numbers, Origin, config, search_numbers};

#[test]
fn random_never_mutates() {
    let outcome = search_numbers(20, &config(AlgorithmKind::Random, 1), 500);
    let made = outcome.problem.made;
    assert_eq!(made.len(), 500);
    assert!(made.iter().all(|origin| *origin == Origin::Sampled));
}

#[test]
fn mio_samples_ever_less_and_not_at_all_once_it_is_focused() {
    let outcome = search_numbers(20, &config(AlgorithmKind::Mio, 1), 2_000);
    let sampled = |range: std::ops::Range<usize>| {
        let made = &outcome.problem.made[range];
        made.iter()
            .filter(|origin| **origin == Origin::Sampled)
            .count()
    };
    let quarters = [sampled(0..500), sampled(500..1_000), sampled(1_000..2_000)];
    assert!(quarters[0] > quarters[1] && quarters[1] > 0, "{quarters:?}");
    assert_eq!(quarters[2], 0);
}

#[test]
fn mio_stays_with_a_target_for_ten_mutations_when_it_is_focused() {
    let focused = SearchConfig {
        mio: MioConfig {
            focus: 0.0,
            ..MioConfig::default()
        },
        ..config(AlgorithmKind::Mio, 1)
    };
    let outcome = search_numbers(20, &focused, 1_000);
    let targets: Vec<TargetId> = outcome
        .problem
        .aims
        .iter()
        .filter_map(|aim| aim.target)
        .collect();
    let stays: Vec<usize> = targets.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
    // A stay is shorter when its target is covered, and longer when the same target is drawn again.
    let full = stays.iter().filter(|stay| **stay >= 10).count();
    assert!(full * 2 > stays.len(), "{stays:?}");
    assert!(outcome.problem.aims.iter().all(|aim| aim.focused));
}

#[test]
fn the_focused_phase_is_announced_once() {
    let phases = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&phases);
    let mut search = Search::new(
        Numbers::with_goals(3),
        &config(AlgorithmKind::Mio, 1),
        Budget::default().evaluations(100),
    );
    search.observe(move |event: &SearchEvent, _: &Numbers| {
        if let SearchEvent::Phase(phase) = event {
            seen.lock().unwrap().push(*phase);
        }
    });
    run(&mut search, |list| Ok::<_, ()>(list.numbers.clone())).unwrap();
    assert_eq!(*phases.lock().unwrap(), [Phase::Explore, Phase::Focus]);
}

#[test]
fn mosa_mixes_parents_and_keeps_a_champion_for_each_open_target() {
    let outcome = search_numbers(60, &config(AlgorithmKind::Mosa, 1), 3_000);
    let made = &outcome.problem.made;
    assert!(made.contains(&Origin::Crossed) && made.contains(&Origin::Mutated));
    // More targets than places in the population: none of them loses what was reached.
    let random = search_numbers(60, &config(AlgorithmKind::Random, 1), 3_000);
    let nearest = |outcome: &isobath_search::SearchResult<Numbers>| {
        let targets = (0..60).map(TargetId::from_index);
        let best = targets.filter_map(|target| outcome.archive.best(target));
        best.map(|member| member.score.value()).sum::<f64>()
    };
    assert!(nearest(&outcome) > nearest(&random));
}

#[test]
fn lt_mosa_exchanges_parts_that_belong_together() {
    let linked = |algorithm| {
        let outcome = search_numbers(60, &config(algorithm, 1), 3_000);
        outcome.problem.n_linked
    };
    assert_eq!(linked(AlgorithmKind::Dynamosa), 0);
    assert!(linked(AlgorithmKind::LtMosa) > 100);
}

#[test]
fn mosa_of_one_candidate_works() {
    let config = SearchConfig {
        mosa: MosaConfig {
            population: 1,
            ..MosaConfig::default()
        },
        ..config(AlgorithmKind::Mosa, 1)
    };
    assert_eq!(search_numbers(2, &config, 50).evaluations, 50);
}

#[test]
fn wts_starts_with_whole_suites_and_then_breeds() {
    let outcome = search_numbers(20, &config(AlgorithmKind::Wts, 1), 2_000);
    let made = &outcome.problem.made;
    let first = made
        .iter()
        .position(|origin| *origin != Origin::Sampled)
        .unwrap();
    // 30 suites of 1 to 30 tests.
    assert!((30..=900).contains(&first), "{first}");
    assert!(made[first..].contains(&Origin::Mutated));
    // Suites are mixed, not tests.
    assert!(!made.contains(&Origin::Crossed));
}

#[test]
fn wts_of_one_suite_with_one_test_works() {
    let config = SearchConfig {
        wts: WtsConfig {
            population: 1,
            suite: 1,
            ..WtsConfig::default()
        },
        ..config(AlgorithmKind::Wts, 1)
    };
    assert_eq!(search_numbers(2, &config, 50).evaluations, 50);
}

#[test]
fn lost_answers_do_not_stop_an_algorithm() {
    for algorithm in AlgorithmKind::ALL {
        let mut search = Search::new(
            Numbers::with_goals(5),
            &config(algorithm, 1),
            Budget::default().evaluations(3_000),
        );
        let mut asked = 0;
        while let isobath_search::Ask::Evaluate(trial) = search.ask() {
            asked += 1;
            if trial.number % 3 == 0 {
                search.abandon(trial.number);
            } else {
                search.tell(trial.number, trial.candidate.numbers.clone());
            }
        }
        assert_eq!(asked, 3_000, "{algorithm}");
        assert_eq!(search.finish().evaluations, 2_000, "{algorithm}");
    }
}

#[test]
fn algorithms_are_known_by_name() {
    for kind in AlgorithmKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    let error = "dfs".parse::<AlgorithmKind>().unwrap_err();
    insta::assert_snapshot!(error, @"unknown algorithm `dfs` (expected one of: mio, wts, mosa, dynamosa, lt-mosa, random)");
}

#[test]
fn an_algorithm_can_be_brought_along() {
    let algorithms: [Box<dyn isobath_search::Algorithm<Numbers>>; 2] = [
        Box::new(Wts::new(WtsConfig::default())),
        Box::new(Mosa::new(MosaConfig::default())),
    ];
    for algorithm in algorithms {
        let budget = Budget::default().evaluations(10);
        let problem = Numbers::with_goals(1);
        let mut search =
            Search::with_algorithm(problem, algorithm, &SearchConfig::default(), budget);
        run(&mut search, |list| Ok::<_, ()>(list.numbers.clone())).unwrap();
        assert_eq!(search.finish().evaluations, 10);
    }
}
