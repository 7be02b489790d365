//! Where questions and answers meet.
//!
//! Answers may come in any order and from any number of workers, and a run is
//! still a function of its seed and of the answers: they are judged in the order
//! in which candidates were handed out, and candidate number k is always chosen
//! with exactly the answers up to number `k - in_flight` known.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Config, Context, Parent, Proposal, Told};
use crate::archive::{Archive, Gain, Kept};
use crate::evaluation::Evaluation;
use crate::event::{Event, Observer, Phase};
use crate::limits::{Ending, Limits};
use crate::problem::{Effect, Lesson, Problem, Rng};

/// A candidate to evaluate.
#[derive(Debug)]
pub struct Trial<C> {
    /// Its number, from 0; to be given back with the answer.
    pub number: u64,
    /// The candidate.
    pub candidate: Arc<C>,
}

/// What to do next.
#[derive(Debug)]
pub enum Ask<C> {
    /// Evaluate this one.
    Evaluate(Trial<C>),
    /// Tell an answer that is missing first.
    Wait,
    /// Nothing; answers that are still missing may be told or not.
    Done(Ending),
}

/// What a search leaves.
#[derive(Debug)]
pub struct Outcome<P: Problem> {
    /// The problem, with what it learned.
    pub problem: P,
    /// What is remembered.
    pub archive: Archive<P::Candidate>,
    /// Why it ended; `None` when it was finished before it ended by itself.
    pub ending: Option<Ending>,
    /// How many candidates were answered.
    pub evaluations: u64,
    /// What they cost.
    pub cost: u64,
    /// What of that the candidates of an earlier search cost; see [`Search::resume`].
    pub resumed_cost: u64,
    /// The number of the next candidate, had there been one.
    pub trials: u64,
}

/// A search that asks to be told what candidates do.
pub struct Search<P: Problem> {
    problem: P,
    archive: Archive<P::Candidate>,
    algorithm: Box<dyn Algorithm<P>>,
    rng: Rng,
    limits: Limits,
    observers: Vec<Box<dyn Observer<P>>>,
    in_flight: usize,
    /// Candidates that are not judged yet, oldest first; the first has number `judged`.
    pending: VecDeque<Pending<P>>,
    judged: u64,
    evaluations: u64,
    cost: u64,
    earlier: Earlier<P::Candidate>,
    progress: f64,
    phase: Option<Phase>,
    ending: Option<Ending>,
    gain: Gain,
}

/// What an earlier search left, and what is used up of it.
struct Earlier<C> {
    /// Candidates that are run first.
    candidates: VecDeque<C>,
    /// What the earlier search had spent.
    spent: u64,
    /// How many of its candidates were handed out.
    n_asked: u64,
    /// What they cost.
    cost: u64,
}

struct Pending<P: Problem> {
    kept: Kept<P::Candidate>,
    parent: Option<Parent<P::Candidate>>,
    /// `None` for a candidate that the algorithm did not propose.
    tag: Option<u64>,
    answer: Answer<P::Answer>,
}

enum Answer<A> {
    Missing,
    Here(A),
    /// There will be none.
    Lost,
}

impl<P: Problem + 'static> Search<P> {
    /// A search with the algorithm of the configuration.
    pub fn new(problem: P, config: &Config, limits: Limits) -> Self {
        Self::with_algorithm(problem, config.build(), config, limits)
    }
}

impl<P: Problem> Search<P> {
    /// A search with an algorithm of one's own; of the configuration, only seed and `in_flight` count.
    pub fn with_algorithm(
        problem: P,
        algorithm: Box<dyn Algorithm<P>>,
        config: &Config,
        limits: Limits,
    ) -> Self {
        Self {
            problem,
            archive: Archive::default(),
            algorithm,
            rng: Rng::with_seed(config.seed),
            limits,
            observers: Vec::new(),
            in_flight: config.in_flight.max(1),
            pending: VecDeque::new(),
            judged: 0,
            evaluations: 0,
            cost: 0,
            earlier: Earlier {
                candidates: VecDeque::new(),
                spent: 0,
                n_asked: 0,
                cost: 0,
            },
            progress: 0.0,
            phase: None,
            ending: None,
            gain: Gain::default(),
        }
    }

    /// Lets somebody know what happens from now on.
    pub fn observe(&mut self, observer: impl Observer<P> + 'static) {
        self.observers.push(Box::new(observer));
    }

    /// Goes on from an earlier search: its candidates are run before any other and cost nothing of the budget, of which
    /// `spent` is used.
    ///
    /// The algorithm does not learn of them other than through the archive.
    pub fn resume(&mut self, candidates: impl IntoIterator<Item = P::Candidate>, spent: u64) {
        self.earlier.candidates.extend(candidates);
        self.earlier.spent = spent;
    }

    /// The problem.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// What is remembered so far.
    pub fn archive(&self) -> &Archive<P::Candidate> {
        &self.archive
    }

    /// What the evaluated candidates cost so far.
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// How many candidates were judged so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// What to do next.
    pub fn ask(&mut self) -> Ask<P::Candidate> {
        if let Some(ending) = self.ending {
            return Ask::Done(ending);
        }
        // All but the youngest `in_flight - 1` must be judged before the next is chosen.
        while self.pending.len() >= self.in_flight {
            if !self.judge_oldest() {
                // An interruption must not wait for an answer that may never come.
                return match self.used() {
                    Err(ending @ Ending::Interrupted) => self.end(ending),
                    _ => Ask::Wait,
                };
            }
        }
        if let Some(candidate) = self.earlier.candidates.pop_front() {
            if let Err(ending @ Ending::Interrupted) = self.used() {
                return self.end(ending);
            }
            self.earlier.n_asked += 1;
            return self.hand_out(candidate, None, None);
        }
        loop {
            match self.used() {
                Ok(progress) => self.progress = progress,
                Err(ending) => return self.end(ending),
            }
            let phase = self.algorithm.phase(self.progress);
            if self.phase.replace(phase) != Some(phase) {
                self.emit(&Event::Phase(phase));
            }
            let mut context = Context {
                problem: &mut self.problem,
                archive: &mut self.archive,
                rng: &mut self.rng,
                progress: self.progress,
            };
            match self.algorithm.propose(&mut context) {
                Proposal::Try {
                    candidate,
                    parent,
                    tag,
                } => return self.hand_out(candidate, parent, Some(tag)),
                Proposal::Wait => {
                    while !self.pending.is_empty() {
                        if !self.judge_oldest() {
                            return Ask::Wait;
                        }
                    }
                }
            }
        }
    }

    /// The share of the budget that is used, or why there is no more.
    fn used(&mut self) -> Result<f64, Ending> {
        let earlier = &self.earlier;
        let asked = self.judged + self.pending.len() as u64 - earlier.n_asked;
        let cost = earlier.spent + self.cost - earlier.cost;
        self.limits.progress(asked, cost)
    }

    fn hand_out(
        &mut self,
        candidate: P::Candidate,
        parent: Option<Parent<P::Candidate>>,
        tag: Option<u64>,
    ) -> Ask<P::Candidate> {
        let number = self.asked();
        let kept = Kept {
            size: self.problem.size(&candidate),
            candidate: Arc::new(candidate),
            trial: number,
        };
        let candidate = Arc::clone(&kept.candidate);
        self.pending.push_back(Pending {
            kept,
            parent,
            tag,
            answer: Answer::Missing,
        });
        Ask::Evaluate(Trial { number, candidate })
    }

    /// Takes an answer; one for a candidate that has its answer already is ignored.
    pub fn tell(&mut self, number: u64, answer: P::Answer) {
        self.put(number, Answer::Here(answer));
    }

    /// Takes note that a candidate will not be answered.
    pub fn lose(&mut self, number: u64) {
        self.put(number, Answer::Lost);
    }

    /// Judges the answers that are here, and hands over what there is.
    pub fn finish(mut self) -> Outcome<P> {
        let trials = self.asked();
        while let Some(first) = self.pending.front_mut() {
            if matches!(first.answer, Answer::Missing) {
                first.answer = Answer::Lost;
            }
            self.judge_oldest();
        }
        Outcome {
            problem: self.problem,
            archive: self.archive,
            ending: self.ending,
            evaluations: self.evaluations,
            cost: self.cost,
            resumed_cost: self.earlier.cost,
            trials,
        }
    }

    fn asked(&self) -> u64 {
        self.judged + self.pending.len() as u64
    }

    fn put(&mut self, number: u64, answer: Answer<P::Answer>) {
        let place = number.checked_sub(self.judged);
        let pending = place.and_then(|place| self.pending.get_mut(usize::try_from(place).ok()?));
        if let Some(pending) = pending
            && matches!(pending.answer, Answer::Missing)
        {
            pending.answer = answer;
        }
    }

    fn end(&mut self, ending: Ending) -> Ask<P::Candidate> {
        self.ending = Some(ending);
        self.emit(&Event::Ended(ending));
        Ask::Done(ending)
    }

    fn emit(&mut self, event: &Event) {
        for observer in &mut self.observers {
            observer.on(event, &self.problem);
        }
    }

    /// Judges the oldest candidate that is not judged yet, unless its answer is missing.
    fn judge_oldest(&mut self) -> bool {
        let Some(mut pending) = self.pending.pop_front() else {
            return false;
        };
        match std::mem::replace(&mut pending.answer, Answer::Missing) {
            Answer::Missing => {
                self.pending.push_front(pending);
                return false;
            }
            Answer::Lost => {
                if let Some(tag) = pending.tag {
                    self.algorithm.forget(tag);
                }
            }
            Answer::Here(answer) => {
                let evaluation = self.problem.score(&pending.kept.candidate, answer);
                self.judge(&pending, &evaluation);
            }
        }
        self.judged += 1;
        true
    }

    fn judge(&mut self, pending: &Pending<P>, evaluation: &Evaluation) {
        let mut gain = std::mem::take(&mut self.gain);
        let limit = self.algorithm.population(self.progress);
        self.archive
            .record(&pending.kept, evaluation, limit, &mut gain);
        self.evaluations += 1;
        self.cost += evaluation.cost;
        if let Some(parent) = &pending.parent {
            self.problem
                .learn(&lesson(&pending.kept, parent, evaluation, &gain));
        }
        match pending.tag {
            Some(tag) => {
                let mut context = Context {
                    problem: &mut self.problem,
                    archive: &mut self.archive,
                    rng: &mut self.rng,
                    progress: self.progress,
                };
                let told = Told {
                    kept: &pending.kept,
                    parent: pending.parent.as_ref(),
                    evaluation,
                    gain: &gain,
                    tag,
                };
                self.algorithm.absorb(&mut context, &told);
            }
            None => self.earlier.cost += evaluation.cost,
        }
        if !self.observers.is_empty() {
            self.report(&pending.kept, evaluation.cost, &gain);
        }
        self.gain = gain;
    }

    fn report(&mut self, kept: &Kept<P::Candidate>, cost: u64, gain: &Gain) {
        let trial = kept.trial;
        for &target in &gain.discovered {
            self.emit(&Event::Discovered { target, trial });
        }
        // Kept before it is told of: whoever dies in between has told nothing that is lost.
        if !gain.covered.is_empty() {
            for observer in &mut self.observers {
                observer.keep(&kept.candidate, &self.problem);
            }
        }
        for &target in &gain.covered {
            self.emit(&Event::Covered { target, trial });
        }
        self.emit(&Event::Evaluated {
            trial,
            cost,
            progress: self.progress,
            targets: self.archive.n_targets(),
            covered: self.archive.n_covered(),
        });
    }
}

fn lesson<'a, C>(
    child: &'a Kept<C>,
    parent: &'a Parent<C>,
    evaluation: &Evaluation,
    gain: &'a Gain,
) -> Lesson<'a, C> {
    let effect = match &parent.aim {
        Some((target, before)) => match evaluation.score(*target) {
            Some(now) => match now.cmp_quality(before) {
                std::cmp::Ordering::Greater => Effect::Improved,
                std::cmp::Ordering::Equal => Effect::Unchanged,
                std::cmp::Ordering::Less => Effect::Worsened,
            },
            None => Effect::Worsened,
        },
        None if gain.kept => Effect::Improved,
        None => Effect::Unchanged,
    };
    Lesson {
        parent: &parent.kept.candidate,
        child: &child.candidate,
        target: parent.aim.map(|(target, _)| target),
        effect,
        gain,
    }
}

impl<P: Problem> fmt::Debug for Search<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("asked", &self.asked())
            .field("judged", &self.judged)
            .field("targets", &self.archive.n_targets())
            .field("covered", &self.archive.n_covered())
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}
