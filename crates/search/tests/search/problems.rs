//! Problems that are small enough to know their answers.

use std::convert::Infallible;

use isobath_search::{
    AlgorithmKind, Budget, Evaluation, MutationContext, MutationFeedback, Problem, Rng, Score,
    Search, SearchConfig, SearchResult, StopReason, TargetId, run,
};

/// How a candidate came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Sampled,
    Mutated,
    Crossed,
}

/// A list of numbers, each a part; target `k` is covered by a number equal to the k-th goal.
///
/// Goals lie far apart in a large range, so that chance alone does not find them
/// while the distance leads to them.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) goals: Vec<i64>,
    /// Further targets that lead nowhere: their scores go up and down, and never reach 1.
    pub(crate) n_mirages: usize,
    pub(crate) made: Vec<Origin>,
    pub(crate) aims: Vec<MutationContext>,
    pub(crate) lessons: usize,
    /// Crossovers of parts that belong together.
    pub(crate) n_linked: usize,
}

pub(crate) const RANGE: std::ops::Range<i64> = -1_000_000..1_000_000;

impl Numbers {
    pub(crate) fn with_goals(n_goals: usize) -> Self {
        let mut rng = Rng::with_seed(42);
        Self {
            goals: (0..n_goals).map(|_| rng.i64(RANGE)).collect(),
            ..Self::default()
        }
    }
}

/// Where the numbers of a candidate came from does not take part in its evaluation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List {
    pub(crate) numbers: Vec<i64>,
    pub(crate) origin: Origin,
}

impl Problem for Numbers {
    type Candidate = List;
    type Answer = Vec<i64>;

    fn sample(&mut self, rng: &mut Rng) -> List {
        self.made.push(Origin::Sampled);
        List {
            numbers: (0..rng.usize(1..4)).map(|_| rng.i64(RANGE)).collect(),
            origin: Origin::Sampled,
        }
    }

    fn mutate(&mut self, rng: &mut Rng, parent: &List, target: &MutationContext) -> List {
        self.made.push(Origin::Mutated);
        self.aims.push(*target);
        let mut numbers = parent.numbers.clone();
        let place = rng.usize(..numbers.len());
        let step = 1_i64 << rng.u32(0..20);
        numbers[place] += if rng.bool() { step } else { -step };
        List {
            numbers,
            origin: Origin::Mutated,
        }
    }

    fn crossover(&mut self, rng: &mut Rng, a: &List, b: &List) -> (List, List) {
        self.made.push(Origin::Crossed);
        let (mut x, mut y) = (a.clone(), b.clone());
        let (at_x, at_y) = (rng.usize(..x.numbers.len()), rng.usize(..y.numbers.len()));
        std::mem::swap(&mut x.numbers[at_x], &mut y.numbers[at_y]);
        (x, y)
    }

    /// Numbers of the same part of the range are of one kind.
    fn part_kinds(&self, candidate: &List) -> Vec<u64> {
        let kind = |number: &i64| number.abs_diff(RANGE.start) / 250_000;
        candidate.numbers.iter().map(kind).collect()
    }

    fn crossover_linked(
        &mut self,
        rng: &mut Rng,
        a: &List,
        b: &List,
        linked: &[u64],
    ) -> (List, List) {
        assert!(linked.len() > 1, "a cluster has several kinds");
        self.n_linked += 1;
        self.crossover(rng, a, b)
    }

    fn score(&mut self, _candidate: &List, numbers: Vec<i64>) -> Evaluation {
        let nearest = |goal: &i64| numbers.iter().map(|number| number.abs_diff(*goal)).min();
        let mirages = (0..self.n_mirages).map(|index| {
            let seed = numbers.iter().fold(index as u64, |seed, number| {
                seed.rotate_left(5) ^ number.cast_unsigned()
            });
            let target = TargetId::from_index(self.goals.len() + index);
            Score::new(target, 0.9 * Rng::with_seed(seed).f64())
        });
        let scores = self
            .goals
            .iter()
            .enumerate()
            .filter_map(|(index, goal)| {
                let distance = nearest(goal)? as f64;
                Some(Score::of_distance(TargetId::from_index(index), distance))
            })
            .chain(mirages)
            .collect();
        Evaluation::new(scores, numbers.len() as u64)
    }

    fn size(&self, candidate: &List) -> usize {
        candidate.numbers.len()
    }

    fn without(&self, candidate: &List, part: usize) -> Option<List> {
        let mut shorter = candidate.clone();
        (shorter.numbers.len() > 1).then(|| {
            shorter.numbers.remove(part);
            shorter
        })
    }

    fn learn(&mut self, _lesson: &MutationFeedback<'_, List>) {
        self.lessons += 1;
    }
}

/// A string of bits; target `k` is covered when bit k is set, and seen only when the bit before it is.
#[derive(Debug)]
pub(crate) struct Bits {
    pub(crate) n_bits: usize,
}

impl Problem for Bits {
    type Candidate = Vec<bool>;
    type Answer = Vec<bool>;

    fn sample(&mut self, rng: &mut Rng) -> Vec<bool> {
        (0..self.n_bits).map(|_| rng.bool()).collect()
    }

    fn mutate(&mut self, rng: &mut Rng, parent: &Vec<bool>, _aim: &MutationContext) -> Vec<bool> {
        let mut bits = parent.clone();
        let place = rng.usize(..bits.len());
        bits[place] = !bits[place];
        bits
    }

    fn crossover(&mut self, rng: &mut Rng, a: &Vec<bool>, b: &Vec<bool>) -> (Vec<bool>, Vec<bool>) {
        let point = rng.usize(..a.len());
        let mix = |a: &[bool], b: &[bool]| [&a[..point], &b[point..]].concat();
        (mix(a, b), mix(b, a))
    }

    fn score(&mut self, _candidate: &Vec<bool>, bits: Vec<bool>) -> Evaluation {
        let n_set = bits.iter().take_while(|bit| **bit).count();
        let mut scores: Vec<Score> = (0..n_set)
            .map(|index| Score::covered(TargetId::from_index(index)))
            .collect();
        if n_set < bits.len() {
            scores.push(Score::new(TargetId::from_index(n_set), 0.5));
        }
        Evaluation::new(scores, 1)
    }

    fn prerequisite(&self, target: TargetId) -> Option<TargetId> {
        target.index().checked_sub(1).map(TargetId::from_index)
    }
}

pub(crate) fn config(algorithm: AlgorithmKind, seed: u64) -> SearchConfig {
    SearchConfig {
        seed,
        algorithm,
        ..SearchConfig::default()
    }
}

/// Runs a search on numbers.
pub(crate) fn search_numbers(
    n_goals: usize,
    config: &SearchConfig,
    evaluations: u64,
) -> SearchResult<Numbers> {
    search_problem(Numbers::with_goals(n_goals), config, evaluations)
}

/// Runs a search on numbers of one's own.
pub(crate) fn search_problem(
    problem: Numbers,
    config: &SearchConfig,
    evaluations: u64,
) -> SearchResult<Numbers> {
    let budget = Budget::default().evaluations(evaluations);
    let mut search = Search::new(problem, config, budget);
    let stop_reason = run(&mut search, |list| {
        Ok::<_, Infallible>(list.numbers.clone())
    });
    assert_eq!(stop_reason, Ok(StopReason::Budget));
    search.finish()
}

/// Runs a search on bits and says how many are covered.
pub(crate) fn search_bits(n_bits: usize, config: &SearchConfig, evaluations: u64) -> usize {
    let budget = Budget::default().evaluations(evaluations);
    let mut search = Search::new(Bits { n_bits }, config, budget);
    let stop_reason = run(&mut search, |bits| Ok::<_, Infallible>(bits.clone()));
    assert_eq!(stop_reason, Ok(StopReason::Budget));
    search.finish().archive.n_covered()
}
