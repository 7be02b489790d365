//! The archive against a model that remembers everything.

use std::sync::Arc;

use isobath_search::{Archive, ArchiveUpdate, ArchivedCandidate, Evaluation, Rng, Score, TargetId};
use proptest::collection::vec;
use proptest::prelude::*;

/// One evaluation: the size of the candidate, and targets with scores in tenths.
type Step = (usize, Vec<(usize, u8)>);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec((1_usize..5, vec((0_usize..8, 0_u8..=10), 0..6)), 1..60)
}

fn evaluation(scores: &[(usize, u8)]) -> Evaluation {
    let score = |(target, tenths): &(usize, u8)| {
        Score::new(TargetId::from_index(*target), f64::from(*tenths) / 10.0)
    };
    Evaluation::new(scores.iter().map(score).collect(), 1)
}

proptest! {
    #[test]
    fn the_archive_knows_the_best_of_all_that_it_was_given(steps in steps(), limit in 1_usize..4) {
        let mut archive = Archive::default();
        let mut rng = Rng::with_seed(1);
        let mut gain = ArchiveUpdate::default();
        let mut n_covered = 0;
        for (trial, (size, scores)) in (0..).zip(&steps) {
            let kept = ArchivedCandidate { candidate: Arc::new(()), size: *size, trial };
            archive.record(&kept, &evaluation(scores), limit, &mut gain);
            n_covered += gain.covered.len();
            // Drawing shrinks and counts, and must not lose the best.
            if let Some((target, member)) = archive.draw(&mut rng, limit) {
                prop_assert!(member.score.value() > 0.0);
                prop_assert_eq!(member.score.target(), target);
            }
        }
        prop_assert_eq!(archive.n_covered(), n_covered);
        for index in 0..8 {
            let target = TargetId::from_index(index);
            let given = steps.iter().filter_map(|(size, scores)| {
                Some((*size, evaluation(scores).score(target)?.value()))
            });
            let given: Vec<(usize, f64)> = given.collect();
            let best = given.iter().map(|(_, value)| *value).fold(0.0, f64::max);
            let smallest = given.iter().filter(|(_, value)| *value == best).map(|(size, _)| *size).min();
            let known = archive.best(target);
            prop_assert_eq!(known.map_or(0.0, |member| member.score.value()), best);
            prop_assert_eq!(archive.is_covered(target), best == 1.0);
            prop_assert_eq!(archive.targets().any(|seen| seen == target), !given.is_empty());
            if best > 0.0 {
                prop_assert_eq!(known.map(|member| member.kept.size), smallest);
            }
            let population = archive.population(target);
            prop_assert!(population.len() <= limit);
            prop_assert!(population.is_sorted_by(|a, b| a.score.cmp_quality(&b.score).is_ge()));
        }
    }
}
