//! The search as an ask-and-tell interface.
//!
//! Answers may come in any order and from any number of workers, and a run is
//! still a function of its seed and of the answers: they are judged in the order
//! in which candidates were handed out, and candidate number k is always chosen
//! with exactly the answers up to number `k - in_flight` known.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Context, Evaluated, Parent, Proposal, SearchConfig};
use crate::archive::{Archive, ArchiveUpdate, ArchivedCandidate};
use crate::budget::{Budget, StopReason};
use crate::evaluation::Evaluation;
use crate::event::{Observer, Phase, SearchEvent};
use crate::problem::{MutationEffect, MutationFeedback, Problem, Rng};

/// A candidate to evaluate.
#[derive(Debug)]
pub struct Trial<C> {
    /// Its number, from 0; to be given back with the answer.
    pub number: u64,
    /// The candidate.
    pub candidate: Arc<C>,
    /// Its size, as the problem counts it.
    pub size: usize,
}

/// What to do next.
#[derive(Debug)]
pub enum Ask<C> {
    /// Evaluate this one.
    Evaluate(Trial<C>),
    /// Tell an answer that is missing first.
    Wait,
    /// Nothing; answers that are still missing may be told or not.
    Done(StopReason),
}

/// What a search leaves.
#[derive(Debug)]
pub struct SearchResult<P: Problem> {
    /// The problem, with what it learned.
    pub problem: P,
    /// The archive.
    pub archive: Archive<P::Candidate>,
    /// Why it ended; `None` when it was finished before it ended by itself.
    pub stop_reason: Option<StopReason>,
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
    budget: Budget,
    observers: Vec<Box<dyn Observer<P>>>,
    in_flight: usize,
    /// Candidates that are not judged yet, oldest first; the first has number `judged`.
    pending: VecDeque<Pending<P>>,
    judged: u64,
    evaluations: u64,
    cost: u64,
    earlier: ResumedSearch<P::Candidate>,
    /// Candidates of other searches that run meanwhile.
    imports: Imports<P::Candidate>,
    progress: f64,
    phase: Option<Phase>,
    stop_reason: Option<StopReason>,
    gain: ArchiveUpdate,
}

/// What an earlier search left, and what is used up of it.
struct ResumedSearch<C> {
    /// Candidates that are run first.
    candidates: VecDeque<C>,
    /// What the earlier search had spent.
    spent: u64,
    /// How many of its candidates were handed out.
    n_asked: u64,
    /// What they cost.
    cost: u64,
}

/// What other searches on the same problem found.
struct Imports<C> {
    /// Asked before a candidate is proposed.
    source: Option<ImportSource<C>>,
    waiting: VecDeque<C>,
    /// Candidates that were proposed since the last of these was handed out.
    n_own: u64,
}

/// Candidates of our own for each of another search: however much others find, most of the budget is for what nobody has found.
const OWN_PER_IMPORT: u64 = 7;

/// Returns the candidates that came since the last time.
pub type ImportSource<C> = Box<dyn FnMut() -> Vec<C>>;

struct Pending<P: Problem> {
    kept: ArchivedCandidate<P::Candidate>,
    parent: Option<Parent<P::Candidate>>,
    /// `None` for a candidate that the algorithm did not propose.
    tag: Option<u64>,
    /// Whether it is of an earlier search, and costs nothing.
    is_resumed: bool,
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
    pub fn new(problem: P, config: &SearchConfig, budget: Budget) -> Self {
        Self::with_algorithm(problem, config.build(), config, budget)
    }
}

impl<P: Problem> Search<P> {
    /// A search with an algorithm of one's own; of the configuration, only seed and `in_flight` count.
    pub fn with_algorithm(
        problem: P,
        algorithm: Box<dyn Algorithm<P>>,
        config: &SearchConfig,
        budget: Budget,
    ) -> Self {
        Self {
            problem,
            archive: Archive::default(),
            algorithm,
            rng: Rng::with_seed(config.seed),
            budget,
            observers: Vec::new(),
            in_flight: config.in_flight.max(1),
            pending: VecDeque::new(),
            judged: 0,
            evaluations: 0,
            cost: 0,
            earlier: ResumedSearch {
                candidates: VecDeque::new(),
                spent: 0,
                n_asked: 0,
                cost: 0,
            },
            imports: Imports {
                source: None,
                waiting: VecDeque::new(),
                n_own: OWN_PER_IMPORT,
            },
            progress: 0.0,
            phase: None,
            stop_reason: None,
            gain: ArchiveUpdate::default(),
        }
    }

    /// Registers an observer.
    pub fn observe(&mut self, observer: impl Observer<P> + 'static) {
        self.observers.push(Box::new(observer));
    }

    /// Continues from an earlier search: its candidates are run before any other and cost nothing of the budget, of which
    /// `spent` is used.
    ///
    /// The algorithm does not learn of them other than through the archive.
    pub fn resume(&mut self, candidates: impl IntoIterator<Item = P::Candidate>, spent: u64) {
        self.earlier.candidates.extend(candidates);
        self.earlier.spent = spent;
    }

    /// Runs also what other searches on the same problem found: `source` is asked before each candidate is proposed. At most one
    /// candidate in eight comes from there.
    ///
    /// They cost as any other candidate, and the algorithm does not learn of them other than through the archive.
    pub fn import_from(&mut self, source: ImportSource<P::Candidate>) {
        self.imports.source = Some(source);
    }

    /// Lets a search that used up its budget continue, where the budget allows more by now; what happened meanwhile can
    /// be told to the problem.
    pub fn extend(&mut self, tell: impl FnOnce(&mut P)) {
        tell(&mut self.problem);
        if self.stop_reason == Some(StopReason::Budget) {
            self.stop_reason = None;
        }
    }

    /// The problem.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// The archive so far.
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
        if let Some(stop_reason) = self.stop_reason {
            return Ask::Done(stop_reason);
        }
        // All but the youngest `in_flight - 1` must be judged before the next is chosen.
        while self.pending.len() >= self.in_flight {
            if !self.judge_oldest() {
                // An interruption must not wait for an answer that may never come.
                return match self.used() {
                    Err(stop_reason @ StopReason::Interrupted) => self.end(stop_reason),
                    _ => Ask::Wait,
                };
            }
        }
        if let Some(candidate) = self.earlier.candidates.pop_front() {
            if let Err(stop_reason @ StopReason::Interrupted) = self.used() {
                return self.end(stop_reason);
            }
            self.earlier.n_asked += 1;
            return self.hand_out(candidate, None, None, true);
        }
        if let Some(source) = &mut self.imports.source {
            self.imports.waiting.extend(source());
        }
        loop {
            match self.used() {
                Ok(progress) => self.progress = progress,
                Err(stop_reason) => return self.end(stop_reason),
            }
            let phase = self.algorithm.phase(self.progress);
            if self.phase.replace(phase) != Some(phase) {
                self.emit(&SearchEvent::Phase(phase));
            }
            if self.imports.n_own >= OWN_PER_IMPORT
                && let Some(candidate) = self.imports.waiting.pop_front()
            {
                self.imports.n_own = 0;
                return self.hand_out(candidate, None, None, false);
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
                } => {
                    self.imports.n_own += 1;
                    return self.hand_out(candidate, parent, Some(tag), false);
                }
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
    fn used(&mut self) -> Result<f64, StopReason> {
        let earlier = &self.earlier;
        let asked = self.judged + self.pending.len() as u64 - earlier.n_asked;
        let cost = earlier.spent + self.cost - earlier.cost;
        self.budget.progress(asked, cost)
    }

    fn hand_out(
        &mut self,
        candidate: P::Candidate,
        parent: Option<Parent<P::Candidate>>,
        tag: Option<u64>,
        is_resumed: bool,
    ) -> Ask<P::Candidate> {
        let number = self.asked();
        let kept = ArchivedCandidate {
            size: self.problem.size(&candidate),
            candidate: Arc::new(candidate),
            trial: number,
        };
        let (candidate, size) = (Arc::clone(&kept.candidate), kept.size);
        self.pending.push_back(Pending {
            kept,
            parent,
            tag,
            is_resumed,
            answer: Answer::Missing,
        });
        Ask::Evaluate(Trial {
            number,
            candidate,
            size,
        })
    }

    /// Takes an answer; a second one for the same candidate is ignored.
    pub fn tell(&mut self, number: u64, answer: P::Answer) {
        self.put(number, Answer::Here(answer));
    }

    /// Takes note that a candidate will not be answered.
    pub fn abandon(&mut self, number: u64) {
        self.put(number, Answer::Lost);
    }

    /// Judges the answers that are here, and hands over what there is.
    pub fn finish(mut self) -> SearchResult<P> {
        let trials = self.asked();
        while let Some(first) = self.pending.front_mut() {
            if matches!(first.answer, Answer::Missing) {
                first.answer = Answer::Lost;
            }
            self.judge_oldest();
        }
        SearchResult {
            problem: self.problem,
            archive: self.archive,
            stop_reason: self.stop_reason,
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

    fn end(&mut self, stop_reason: StopReason) -> Ask<P::Candidate> {
        self.stop_reason = Some(stop_reason);
        self.emit(&SearchEvent::Ended(stop_reason));
        Ask::Done(stop_reason)
    }

    fn emit(&mut self, event: &SearchEvent) {
        for observer in &mut self.observers {
            observer.on(event, &self.problem);
        }
    }

    /// Judges the oldest candidate that is not judged yet, unless its execution is pending.
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
                    self.algorithm.on_lost(tag);
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
                .learn(&mutation_feedback(&pending.kept, parent, evaluation, &gain));
        }
        match pending.tag {
            Some(tag) => {
                let mut context = Context {
                    problem: &mut self.problem,
                    archive: &mut self.archive,
                    rng: &mut self.rng,
                    progress: self.progress,
                };
                let evaluated = Evaluated {
                    kept: &pending.kept,
                    parent: pending.parent.as_ref(),
                    evaluation,
                    gain: &gain,
                    tag,
                };
                self.algorithm.on_evaluated(&mut context, &evaluated);
            }
            None if pending.is_resumed => self.earlier.cost += evaluation.cost,
            None => {}
        }
        if !self.observers.is_empty() {
            self.report(&pending.kept, evaluation.cost, &gain);
        }
        self.gain = gain;
    }

    fn report(&mut self, kept: &ArchivedCandidate<P::Candidate>, cost: u64, gain: &ArchiveUpdate) {
        let trial = kept.trial;
        for &target in &gain.discovered {
            self.emit(&SearchEvent::Discovered { target, trial });
        }
        // Kept before it is told of: whoever dies in between has told nothing that is lost.
        if !gain.covered.is_empty() {
            for observer in &mut self.observers {
                observer.keep(&kept.candidate, &gain.covered, &self.problem);
            }
        }
        for &target in &gain.covered {
            self.emit(&SearchEvent::Covered { target, trial });
        }
        self.emit(&SearchEvent::Evaluated {
            trial,
            cost,
            progress: self.progress,
            targets: self.archive.n_targets(),
            covered: self.archive.n_covered(),
        });
    }
}

fn mutation_feedback<'a, C>(
    child: &'a ArchivedCandidate<C>,
    parent: &'a Parent<C>,
    evaluation: &Evaluation,
    gain: &'a ArchiveUpdate,
) -> MutationFeedback<'a, C> {
    let effect = match &parent.target {
        Some((target, before)) => match evaluation.score(*target) {
            Some(now) => match now.cmp_quality(before) {
                std::cmp::Ordering::Greater => MutationEffect::Improved,
                std::cmp::Ordering::Equal => MutationEffect::Unchanged,
                std::cmp::Ordering::Less => MutationEffect::Worsened,
            },
            None => MutationEffect::Worsened,
        },
        None if gain.kept => MutationEffect::Improved,
        None => MutationEffect::Unchanged,
    };
    MutationFeedback {
        parent: &parent.kept.candidate,
        child: &child.candidate,
        target: parent.target.map(|(target, _)| target),
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
            .field("ending", &self.stop_reason)
            .finish_non_exhaustive()
    }
}
