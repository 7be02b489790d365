use super::*;

fn target(index: usize) -> TargetId {
    TargetId::from_index(index)
}

fn kept(trial: u64, size: usize) -> ArchivedCandidate<u64> {
    ArchivedCandidate {
        candidate: Arc::new(trial),
        size,
        trial,
    }
}

fn record(archive: &mut Archive<u64>, trial: u64, size: usize, value: f64) -> ArchiveUpdate {
    let mut gain = ArchiveUpdate::default();
    let evaluation = Evaluation::new(vec![Score::new(target(0), value)], 1);
    archive.record(&kept(trial, size), &evaluation, 3, &mut gain);
    gain
}

fn trials(archive: &Archive<u64>) -> Vec<u64> {
    archive
        .population(target(0))
        .iter()
        .map(|member| member.kept.trial)
        .collect()
}

#[test]
fn a_population_keeps_the_best_and_drops_the_worst() {
    let mut archive = Archive::default();
    for (trial, value) in [(0, 0.1), (1, 0.4), (2, 0.2), (3, 0.3), (4, 0.05)] {
        record(&mut archive, trial, 1, value);
    }
    assert_eq!(trials(&archive), [1, 3, 2]);
    assert_eq!(archive.best(target(0)).unwrap().score.value(), 0.4);
    assert!(archive.covering(target(0)).is_none());
}

#[test]
fn of_equals_the_shorter_comes_first_and_the_newer_drives_out_the_older() {
    let mut archive = Archive::default();
    for (trial, size) in [(0, 2), (1, 2), (2, 1), (3, 2)] {
        record(&mut archive, trial, size, 0.5);
    }
    assert_eq!(trials(&archive), [2, 3, 1]);
}

#[test]
fn the_secondary_objective_decides_between_equal_scores() {
    let mut archive = Archive::default();
    let mut gain = ArchiveUpdate::default();
    for (trial, secondary) in [(0, 9.0), (1, 2.0), (2, 5.0)] {
        let score = Score::new(target(0), 0.5).with_secondary(secondary);
        let evaluation = Evaluation::new(vec![score], 1);
        archive.record(&kept(trial, 1), &evaluation, 3, &mut gain);
        // Coming nearer by the secondary objective alone is an improvement.
        assert_eq!(gain.improved.is_empty(), trial == 2);
    }
    assert_eq!(trials(&archive), [1, 2, 0]);
}

#[test]
fn a_covered_target_keeps_only_the_smallest() {
    let mut archive = Archive::default();
    record(&mut archive, 0, 3, 0.9);
    let gain = record(&mut archive, 1, 3, 1.0);
    assert_eq!(gain.covered, [target(0)]);
    assert_eq!(trials(&archive), [1]);
    assert!(!record(&mut archive, 2, 3, 1.0).kept);
    assert!(record(&mut archive, 3, 2, 1.0).kept);
    assert!(!record(&mut archive, 4, 1, 0.99).kept);
    assert_eq!(trials(&archive), [3]);
    assert_eq!((archive.n_covered(), archive.n_targets()), (1, 1));
}

#[test]
fn a_target_that_was_seen_but_not_reached_is_known_and_has_no_population() {
    let mut archive = Archive::default();
    let gain = record(&mut archive, 0, 1, 0.0);
    assert_eq!(gain.discovered, [target(0)]);
    assert!(!gain.kept);
    assert_eq!(archive.n_targets(), 1);
    assert!(archive.draw(&mut Rng::with_seed(1), 3).is_none());
}

#[test]
fn covered_targets_are_drawn_only_when_none_is_open() {
    let mut archive = Archive::default();
    let mut gain = ArchiveUpdate::default();
    let scores = vec![Score::covered(target(0)), Score::new(target(1), 0.5)];
    archive.record(&kept(0, 1), &Evaluation::new(scores, 1), 3, &mut gain);
    let mut rng = Rng::with_seed(1);
    for _ in 0..5 {
        assert_eq!(archive.draw(&mut rng, 3).unwrap().0, target(1));
    }
    let scores = vec![Score::covered(target(1))];
    archive.record(&kept(1, 1), &Evaluation::new(scores, 1), 3, &mut gain);
    let drawn: Vec<_> = (0..2)
        .map(|_| archive.draw(&mut rng, 3).unwrap().0)
        .collect();
    assert!(drawn.contains(&target(0)) && drawn.contains(&target(1)));
}

#[test]
fn drawing_shrinks_a_population_to_the_limit_of_the_day() {
    let mut archive = Archive::default();
    for trial in 0..3 {
        record(&mut archive, trial, 1, 0.1 * (trial + 1) as f64);
    }
    let (_, member) = archive.draw(&mut Rng::with_seed(1), 1).unwrap();
    assert_eq!(member.kept.trial, 2);
    assert_eq!(archive.population(target(0)).len(), 1);
}

#[test]
fn the_suite_names_each_candidate_once_with_what_it_is_kept_for() {
    let mut archive = Archive::default();
    let mut gain = ArchiveUpdate::default();
    for (trial, covered) in [(0, vec![0, 2]), (1, vec![1, 2])] {
        let scores = covered
            .into_iter()
            .map(|index| Score::covered(target(index)))
            .collect();
        archive.record(&kept(trial, 1), &Evaluation::new(scores, 1), 3, &mut gain);
    }
    let suite: Vec<_> = archive
        .suite()
        .into_iter()
        .map(|(kept, targets)| (kept.trial, targets))
        .collect();
    assert_eq!(
        suite,
        [(0, vec![target(0), target(2)]), (1, vec![target(1)])]
    );
}
