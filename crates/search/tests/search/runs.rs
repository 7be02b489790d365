//! Budgets, interruptions, workers and repeatability.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use isobath_search::{
    AlgorithmKind, Ask, Budget, Observer, Search, SearchConfig, SearchEvent, SearchResult,
    StopReason, TargetId, run, run_with_workers,
};

use crate::problems::{List, Numbers, config, search_numbers};

/// All that was found, as text.
fn digest(outcome: &SearchResult<Numbers>) -> String {
    let suite = outcome.archive.suite();
    let open = outcome.archive.targets().filter_map(|target| {
        let member = outcome.archive.best(target)?;
        Some((target, member.kept.trial, member.score.value().to_bits()))
    });
    let open: Vec<_> = open.collect();
    let suite: Vec<_> = suite
        .into_iter()
        .map(|(kept, targets)| (kept.trial, kept.candidate, targets))
        .collect();
    format!("{suite:?}\n{open:?}")
}

#[test]
fn the_same_seed_finds_the_same() {
    for algorithm in AlgorithmKind::ALL {
        let run = |seed| digest(&search_numbers(10, &config(algorithm, seed), 1_500));
        assert_eq!(run(1), run(1), "{algorithm}");
        assert_ne!(run(1), run(2), "{algorithm}");
    }
}

/// Runs with answers told in an order chosen by `pick` among those that are missing.
fn told_in_order(
    config: &SearchConfig,
    mut pick: impl FnMut(usize) -> usize,
) -> SearchResult<Numbers> {
    let budget = Budget::default().evaluations(1_000);
    let mut search = Search::new(Numbers::with_goals(10), config, budget);
    let mut missing = Vec::new();
    loop {
        match search.ask() {
            Ask::Evaluate(trial) => missing.push(trial),
            Ask::Wait => {
                let trial = missing.swap_remove(pick(missing.len()));
                search.tell(trial.number, trial.candidate.numbers.clone());
            }
            Ask::Done(_) => break,
        }
    }
    for trial in missing {
        search.tell(trial.number, trial.candidate.numbers.clone());
    }
    search.finish()
}

#[test]
fn with_several_in_flight_the_order_of_answers_does_not_matter() {
    for algorithm in AlgorithmKind::ALL {
        let config = SearchConfig {
            in_flight: 4,
            ..config(algorithm, 1)
        };
        let mut rng = fastrand::Rng::with_seed(5);
        let first = told_in_order(&config, |_| 0);
        let last = told_in_order(&config, |n| n - 1);
        let any = told_in_order(&config, |n| rng.usize(..n));
        assert_eq!(first.evaluations, 1_000, "{algorithm}");
        assert_eq!(digest(&first), digest(&last), "{algorithm}");
        assert_eq!(digest(&first), digest(&any), "{algorithm}");
    }
}

#[test]
fn threads_find_the_same_as_answers_told_by_hand() {
    for algorithm in AlgorithmKind::ALL {
        let config = SearchConfig {
            in_flight: 4,
            ..config(algorithm, 1)
        };
        let budget = Budget::default().evaluations(1_000);
        let mut search = Search::new(Numbers::with_goals(10), &config, budget);
        let worker = || |list: &List| Ok::<_, ()>(list.numbers.clone());
        let workers = (0..3).map(|_| worker()).collect();
        assert_eq!(
            run_with_workers(&mut search, workers),
            Ok(StopReason::Budget)
        );
        let by_hand = told_in_order(&config, |_| 0);
        assert_eq!(digest(&search.finish()), digest(&by_hand), "{algorithm}");
    }
}

#[test]
fn all_workers_work() {
    let config = SearchConfig {
        in_flight: 2,
        ..SearchConfig::default()
    };
    let mut search = Search::new(
        Numbers::with_goals(1),
        &config,
        Budget::default().evaluations(2),
    );
    // Each of the two waits for the other, so one alone would never end.
    let barrier = std::sync::Barrier::new(2);
    let worker = |list: &List| {
        barrier.wait();
        Ok::<_, ()>(list.numbers.clone())
    };
    assert_eq!(
        run_with_workers(&mut search, vec![&worker, &worker]),
        Ok(StopReason::Budget)
    );
    // Both were told, and are judged at the end.
    assert_eq!(search.finish().evaluations, 2);
}

#[test]
fn each_worker_gets_the_same_candidates_in_every_run() {
    let config = SearchConfig {
        in_flight: 12,
        ..config(AlgorithmKind::Mio, 1)
    };
    let given = || {
        let budget = Budget::default().evaluations(1_000);
        let mut search = Search::new(Numbers::with_goals(10), &config, budget);
        let lists = [const { Mutex::new(Vec::new()) }; 3];
        let worker = |own: usize| {
            let lists = &lists;
            move |list: &List| {
                lists[own].lock().unwrap().push(list.numbers.clone());
                Ok::<_, ()>(list.numbers.clone())
            }
        };
        run_with_workers(&mut search, (0..3).map(worker).collect()).unwrap();
        lists.map(|list| list.into_inner().unwrap())
    };
    let first = given();
    assert_eq!(first, given());
    let most = first.iter().map(Vec::len).max();
    let least = first.iter().map(Vec::len).min();
    assert!(
        least >= Some(250) && most <= Some(450),
        "{least:?} to {most:?}"
    );
}

#[test]
fn candidates_of_other_searches_are_run_cost_and_are_kept() {
    let config = config(AlgorithmKind::Mio, 1);
    let search = |evaluations| {
        let budget = Budget::default().evaluations(evaluations);
        Search::new(Numbers::with_goals(10), &config, budget)
    };
    let answer = |list: &List| Ok::<_, ()>(list.numbers.clone());
    let mut other = search(3_000);
    run(&mut other, answer).unwrap();
    let found = other.finish().archive;
    let mut given: Vec<List> = found
        .suite()
        .into_iter()
        .map(|(kept, _)| (*kept.candidate).clone())
        .collect();
    let n_given = given.len() as u64;
    assert!(n_given > 1);
    let mut importing = search(8 * n_given);
    importing.import_from(Box::new(move || std::mem::take(&mut given)));
    run(&mut importing, answer).unwrap();
    let imported = importing.finish();
    assert_eq!(
        (imported.evaluations, imported.resumed_cost),
        (8 * n_given, 0)
    );
    assert_eq!(imported.archive.n_covered(), found.n_covered());
    let without = {
        let mut alone = search(8 * n_given);
        run(&mut alone, answer).unwrap();
        alone.finish().archive.n_covered()
    };
    assert!(without < found.n_covered(), "{without}");
}

#[test]
fn a_raised_flag_ends_the_search_with_what_it_has() {
    let flag = Arc::new(AtomicBool::new(false));
    let budget = Budget::default().interrupt(Arc::clone(&flag));
    let mut search = Search::new(Numbers::with_goals(3), &SearchConfig::default(), budget);
    let mut n = 0;
    let stop_reason = run(&mut search, |list| {
        n += 1;
        if n == 700 {
            flag.store(true, Ordering::Relaxed);
        }
        Ok::<_, ()>(list.numbers.clone())
    });
    assert_eq!(stop_reason, Ok(StopReason::Interrupted));
    let outcome = search.finish();
    assert_eq!(outcome.evaluations, 700);
    assert_eq!(outcome.archive.n_targets(), 3);
}

#[test]
fn an_interruption_does_not_wait_for_answers() {
    let flag = Arc::new(AtomicBool::new(false));
    let budget = Budget::default().interrupt(Arc::clone(&flag));
    let mut search = Search::new(Numbers::with_goals(3), &SearchConfig::default(), budget);
    assert!(matches!(search.ask(), Ask::Evaluate(_)));
    assert!(matches!(search.ask(), Ask::Wait));
    flag.store(true, Ordering::Relaxed);
    assert!(matches!(search.ask(), Ask::Done(StopReason::Interrupted)));
    assert_eq!(search.finish().evaluations, 0);
}

#[test]
fn an_error_ends_the_run_and_loses_nothing() {
    let mut search = Search::new(
        Numbers::with_goals(3),
        &SearchConfig::default(),
        Budget::default(),
    );
    let mut left = 5;
    let error = run(&mut search, |list| {
        left -= 1;
        if left == 0 {
            Err("gone")
        } else {
            Ok(list.numbers.clone())
        }
    });
    assert_eq!(error, Err("gone"));
    let outcome = search.finish();
    assert_eq!(outcome.evaluations, 4);
    assert_eq!(outcome.archive.n_targets(), 3);
}

#[test]
fn an_error_of_a_worker_ends_the_run_of_all() {
    let config = SearchConfig {
        in_flight: 4,
        ..SearchConfig::default()
    };
    let mut search = Search::new(Numbers::with_goals(3), &config, Budget::default());
    let n = AtomicU64::new(0);
    let worker = |list: &List| {
        if n.fetch_add(1, Ordering::Relaxed) >= 100 {
            Err("gone")
        } else {
            Ok(list.numbers.clone())
        }
    };
    assert_eq!(
        run_with_workers(&mut search, vec![&worker, &worker]),
        Err("gone")
    );
    assert_eq!(search.finish().evaluations, 100);
}

#[test]
fn no_candidate_is_handed_out_once_the_cost_is_used_up() {
    let budget = Budget::default().cost(100);
    let mut search = Search::new(Numbers::with_goals(3), &SearchConfig::default(), budget);
    run(&mut search, |list| Ok::<_, ()>(list.numbers.clone())).unwrap();
    let cost = search.finish().cost;
    // A candidate costs up to three.
    assert!((100..103).contains(&cost), "{cost}");
}

#[test]
fn the_clock_of_the_caller_ends_the_search() {
    let mut ticks = 0.0;
    let budget = Budget::default().elapsed(move || {
        ticks += 0.01;
        ticks
    });
    let mut search = Search::new(Numbers::with_goals(3), &SearchConfig::default(), budget);
    let stop_reason = run(&mut search, |list| Ok::<_, ()>(list.numbers.clone()));
    assert_eq!(stop_reason, Ok(StopReason::Budget));
    assert!((95..=100).contains(&search.finish().evaluations));
}

#[test]
fn observers_hear_of_every_target_and_every_evaluation() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let budget = Budget::default().evaluations(2_000);
    let mut search = Search::new(
        Numbers::with_goals(2),
        &config(AlgorithmKind::Mio, 1),
        budget,
    );
    search.observe(move |event: &SearchEvent, _: &Numbers| heard.lock().unwrap().push(*event));
    run(&mut search, |list| Ok::<_, ()>(list.numbers.clone())).unwrap();
    let outcome = search.finish();
    let events = events.lock().unwrap();
    let count = |is: fn(&SearchEvent) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(
        count(|event| matches!(event, SearchEvent::Discovered { .. })),
        2
    );
    let covered = count(|event| matches!(event, SearchEvent::Covered { .. }));
    assert_eq!(covered, outcome.archive.n_covered());
    let is_end = |event: &SearchEvent| *event == SearchEvent::Ended(StopReason::Budget);
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1);
    // The last candidate is judged when the search is finished, after the end was announced.
    assert_eq!(
        count(|event| matches!(event, SearchEvent::Evaluated { .. })),
        2_000
    );
}

/// Keeps what is the first to cover something.
struct Keeping(Arc<Mutex<Vec<List>>>);

impl Observer<Numbers> for Keeping {
    fn on(&mut self, _event: &SearchEvent, _problem: &Numbers) {}

    fn keep(&mut self, candidate: &List, _covered: &[TargetId], _problem: &Numbers) {
        let mut kept = self.0.lock().expect("nobody panicked");
        kept.push(candidate.clone());
    }
}

#[test]
fn a_search_goes_on_from_what_an_earlier_one_covered() {
    for algorithm in AlgorithmKind::ALL {
        for in_flight in [1, 4] {
            let config = SearchConfig {
                in_flight,
                ..config(algorithm, 1)
            };
            let search = |evaluations| {
                let budget = Budget::default().evaluations(evaluations);
                Search::new(Numbers::with_goals(2), &config, budget)
            };
            let answer = |list: &List| Ok::<_, ()>(list.numbers.clone());
            let kept = Arc::new(Mutex::new(Vec::new()));
            let mut first = search(4_000);
            first.observe(Keeping(Arc::clone(&kept)));
            run_with_workers(&mut first, vec![answer]).unwrap();
            let covered = first.finish().archive.n_covered();
            let kept = std::mem::take(&mut *kept.lock().unwrap());
            // Chance alone covers nothing here.
            let is_random = algorithm == AlgorithmKind::Random;
            assert!(covered > 0 || is_random, "{algorithm}");
            assert!(kept.len() <= covered && kept.is_empty() == (covered == 0));

            // With no budget at all, what was covered is covered again.
            let mut again = search(0);
            again.resume(kept.clone(), 77);
            run_with_workers(&mut again, vec![answer]).unwrap();
            let again = again.finish();
            assert_eq!(again.archive.n_covered(), covered, "{algorithm}");
            assert_eq!(again.evaluations, kept.len() as u64);
            assert_eq!(again.cost, again.resumed_cost);

            let mut more = search(4_000);
            more.resume(kept.clone(), 0);
            run_with_workers(&mut more, vec![answer]).unwrap();
            let more = more.finish();
            assert!(more.archive.n_covered() >= covered, "{algorithm}");
            assert_eq!(more.evaluations, 4_000 + kept.len() as u64, "{algorithm}");
        }
    }
}

#[test]
fn what_an_earlier_search_spent_is_spent() {
    let budget = Budget::default().cost(1_000);
    let config = config(AlgorithmKind::Mio, 1);
    let mut search = Search::new(Numbers::with_goals(3), &config, budget);
    search.resume([], 900);
    run(&mut search, |list| Ok::<_, ()>(list.numbers.clone())).unwrap();
    assert!((95..=100).contains(&search.finish().cost));
}

#[test]
fn problems_learn_from_every_mutation() {
    let outcome = search_numbers(5, &config(AlgorithmKind::Mio, 1), 1_000);
    assert_eq!(outcome.problem.lessons, outcome.problem.aims.len());
    let known: Vec<TargetId> = outcome.archive.targets().collect();
    let aimed = |target: &TargetId| known.contains(target);
    assert!(
        outcome
            .problem
            .aims
            .iter()
            .filter_map(|aim| aim.target)
            .all(|target| aimed(&target))
    );
}
