//! Oracles over several calls: delete and read again, repeat, update, read as another user.
//!
//! After the search, each operation has a candidate that makes it succeed. A probe adds calls to it
//! and compares the responses. It reports a fault only if all calls that it depends on behaved as
//! expected.

mod access;
mod injection;
mod rules;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{Gene, GeneConfig};
use isobath_search::{Archive, Rng};

use crate::caller::{Caller, ServiceLost};
use crate::candidate::{Candidate, Step, StepKind};
use crate::exchange::Exchange;
use crate::fault::{Fault, FaultKind};
use crate::openapi::Api;
use crate::problem::RestProblem;
use crate::resource::Resources;
use crate::sample::copy_path;
use crate::target::Target;

/// How often all operations that write are tried with other inputs once more, if all other probes left time for it.
const WRITE_ROUNDS: usize = 4;

/// A fault, with the calls that show it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong.
    pub fault: Fault,
    /// The calls.
    pub candidate: Candidate,
}

/// What probes are to be made.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeConfig {
    /// Also probe for SQL injection. Off by default: it may damage data.
    pub sql_injection: bool,
}

/// Makes probes with a caller, as long as there is time.
pub struct Prober<'a> {
    api: Arc<Api>,
    resources: &'a Resources,
    problem: &'a RestProblem,
    n_users: usize,
    caller: &'a mut Caller,
    rng: Rng,
    left: &'a mut dyn FnMut(u64) -> bool,
    /// Per operation, candidates of the search that end with a refusal or a failure of it.
    rejections: BTreeMap<usize, Vec<BaseCandidate>>,
    findings: Vec<Finding>,
    calls: u64,
    lost: Option<ServiceLost>,
}

/// What the probes found.
#[derive(Debug, Default)]
pub struct ProbeReport {
    /// The faults, each with its calls.
    pub findings: Vec<Finding>,
    /// How many calls were made.
    pub calls: u64,
    /// Whether the service went away meanwhile.
    pub lost: Option<ServiceLost>,
}

/// Probes every operation that succeeded in the search; `left` says whether there is time for
/// more after so many calls.
pub fn probe(
    problem: &RestProblem,
    archive: &Archive<Candidate>,
    caller: &mut Caller,
    seed: u64,
    choice: ProbeConfig,
    left: &mut dyn FnMut(u64) -> bool,
) -> ProbeReport {
    let mut prober = Prober {
        api: Arc::clone(&problem.api),
        resources: &problem.resources,
        problem,
        n_users: problem.n_users,
        caller,
        rng: Rng::with_seed(seed),
        left,
        rejections: rejections(problem, archive),
        findings: Vec::new(),
        calls: 0,
        lost: None,
    };
    let mut base_candidates: Vec<BaseCandidate> = base_candidates(problem, archive)
        .into_iter()
        .filter_map(|(operation, candidates)| prober.base(operation, candidates))
        .collect();
    // What takes long must not keep the others from their turn.
    let slowness = |base: &BaseCandidate| problem.latencies.slowness_of(&base.candidate);
    base_candidates.sort_by(|a, b| slowness(a).total_cmp(&slowness(b)));
    // The kinds that take few calls first: when time is short, every operation has had its turn at those.
    base_candidates.iter().for_each(|base| prober.state(base));
    let sees_rows = prober.caller.service().database.is_some();
    if sees_rows {
        prober.failed_before();
        base_candidates
            .iter()
            .for_each(|base| prober.update_variants(base));
        for base in &base_candidates {
            prober.delete_beside_siblings(base, &base_candidates);
            prober.delete_parent(base, &base_candidates);
        }
    }
    base_candidates.iter().for_each(|base| prober.access(base));
    if choice.sql_injection {
        base_candidates
            .iter()
            .for_each(|base| prober.injection(base));
    }
    base_candidates
        .iter()
        .for_each(|base| prober.edge_case_inputs(base));
    base_candidates.iter().for_each(|base| prober.rules(base));
    for _ in 0..if sees_rows { WRITE_ROUNDS } else { 0 } {
        base_candidates
            .iter()
            .for_each(|base| prober.update_variants(base));
    }
    ProbeReport {
        findings: prober.findings,
        calls: prober.calls,
        lost: prober.lost,
    }
}

/// A candidate whose last step is answered as is wanted: mostly that it succeeds.
#[derive(Clone, Debug)]
struct BaseCandidate {
    candidate: Candidate,
    operation: usize,
}

/// For each operation and status of success, the candidates that may show it again, the best first: one that made what
/// it is about (what happened to be there may be gone), then what the archive keeps, without and with all its steps.
fn base_candidates(
    problem: &RestProblem,
    archive: &Archive<Candidate>,
) -> Vec<(usize, Vec<Candidate>)> {
    let mut base_candidates = Vec::new();
    for (id, target) in problem.targets().iter() {
        let Target::Status(operation, 200..300) = target else {
            continue;
        };
        let Some(kept) = archive.covering(id) else {
            continue;
        };
        let shows = |step: &Step| step.operation() == Some(*operation);
        let Some(at) = kept.candidate.steps.iter().rposition(shows) else {
            continue;
        };
        let makes = |successful_prefix: &&Candidate| {
            successful_prefix
                .steps
                .last()
                .is_some_and(Step::is_about_earlier)
        };
        let mut candidates: Vec<Candidate> = problem.successful_prefixes[*operation]
            .iter()
            .filter(makes)
            .cloned()
            .collect();
        candidates.push(kept.candidate.slice(at));
        candidates.push(kept.candidate.prefix(at + 1));
        // What disrupts the service is not called more often than it must.
        let disrupts = |step: &Step| {
            let operation = step.operation();
            operation.is_some_and(|operation| problem.disruption.is_avoided(operation))
        };
        candidates.retain(|candidate| !candidate.steps.iter().any(disrupts));
        if !candidates.is_empty() {
            base_candidates.push((*operation, candidates));
        }
    }
    base_candidates.sort_by_key(|(operation, _)| *operation);
    base_candidates
}

/// Per operation, what the archive keeps for each status that says no to what was asked (not to who asked, or where),
/// or that something broke.
fn rejections(
    problem: &RestProblem,
    archive: &Archive<Candidate>,
) -> BTreeMap<usize, Vec<BaseCandidate>> {
    let mut rejections: BTreeMap<usize, Vec<BaseCandidate>> = BTreeMap::new();
    for (id, target) in problem.targets().iter() {
        let Target::Status(operation, status) = *target else {
            continue;
        };
        let Some(kept) = archive
            .covering(id)
            .filter(|_| is_rejection(status) || status >= 500)
        else {
            continue;
        };
        let shows = |step: &Step| step.operation() == Some(operation);
        if let Some(at) = kept.candidate.steps.iter().rposition(shows) {
            rejections
                .entry(operation)
                .or_default()
                .push(BaseCandidate {
                    // With all steps before it: what made the service say no need not be what the step refers to.
                    candidate: kept.candidate.prefix(at + 1),
                    operation,
                });
        }
    }
    rejections
}

/// Whether a status rejects the content of a request (not its user, rate or missing resource).
fn is_rejection(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 404 | 405 | 410 | 429)
}

impl Prober<'_> {
    /// Makes what failed in the search once more: it does not look at the rows around each call, and a failure may
    /// have written.
    fn failed_before(&mut self) {
        let failed: Vec<BaseCandidate> = self.rejections.values().flatten().cloned().collect();
        for failure in failed {
            self.run(&failure.candidate);
        }
    }

    /// Makes the calls, and keeps every fault that a single answer or the rows show, whatever the probe is about;
    /// `None` when there is no time left or the service is unreachable.
    fn run(&mut self, candidate: &Candidate) -> Option<Vec<Exchange>> {
        if self.lost.is_some() || !(self.left)(self.calls) {
            return None;
        }
        match self.caller.run(candidate) {
            Ok(exchanges) => {
                self.calls += exchanges.len() as u64;
                for mut fault in self.problem.judge(candidate, &exchanges) {
                    fault.note_calls(&exchanges);
                    self.keep(fault, candidate.clone());
                }
                Some(exchanges)
            }
            Err(lost) => {
                self.lost = Some(lost);
                None
            }
        }
    }

    /// Makes the calls, and returns the exchanges of the last `n` steps if all calls were made.
    fn run_last<const N: usize>(&mut self, candidate: &Candidate) -> Option<[Exchange; N]> {
        let mut exchanges = self.run(candidate)?;
        if exchanges.len() != candidate.steps.len() {
            return None;
        }
        let last = exchanges.split_off(exchanges.len().checked_sub(N)?);
        last.try_into().ok()
    }

    /// The first of the candidates that still succeeds.
    fn base(&mut self, operation: usize, candidates: Vec<Candidate>) -> Option<BaseCandidate> {
        for candidate in candidates {
            let last = self.run_last(&candidate);
            if last.is_some_and(|[last]| last.succeeded()) {
                return Some(BaseCandidate {
                    candidate,
                    operation,
                });
            }
        }
        None
    }

    fn checks(&self, kind: FaultKind) -> bool {
        self.problem.oracle().checks(kind)
    }

    fn find(&mut self, kind: FaultKind, operation: usize, detail: String, candidate: Candidate) {
        self.find_with(kind, operation, detail, Vec::new(), candidate);
    }

    /// As [`find`](Self::find), with what else was seen.
    fn find_with(
        &mut self,
        kind: FaultKind,
        operation: usize,
        detail: String,
        evidence: Vec<String>,
        candidate: Candidate,
    ) {
        let name = self.api.operation(operation).name();
        self.keep(
            Fault {
                others: Default::default(),
                kind,
                cause: name.clone(),
                operation: name,
                detail,
                evidence,
                calls: Vec::new(),
            },
            candidate,
        );
    }

    fn keep(&mut self, fault: Fault, candidate: Candidate) {
        // What the search saw in rows may have needed rows of earlier candidates; a probe is a better witness.
        if self.problem.is_known(&fault) && !fault.kind.is_about_rows() {
            return;
        }
        let mut findings = self.findings.iter();
        if !findings.any(|finding| finding.fault.identity() == fault.identity()) {
            self.findings.push(Finding { fault, candidate });
        }
    }

    /// A call of another operation on the same path as a step, with its path parameters.
    fn on_same_path(&mut self, operation: usize, like: &Step) -> StepKind {
        let mut input = crate::problem::sample_input(self.problem, &mut self.rng, operation);
        if let Some(before) = like.input() {
            copy_path(before, &mut input);
        }
        StepKind::call(operation, input)
    }
}

impl Prober<'_> {
    /// The base with fresh inputs, in its last step only or in all before that.
    ///
    /// References and path parameters stay, so that the calls are still about the same things.
    fn vary(&mut self, base: &BaseCandidate, last_only: bool) -> Candidate {
        let tuning = GeneConfig {
            optional: 0.8,
            spread: 0.5,
            ..self.problem.sampling.tuning.clone()
        };
        let mut candidate = base.candidate.clone();
        let n = candidate.steps.len();
        for (at, step) in candidate.steps.iter_mut().enumerate() {
            let StepKind::Call { action, breach } = &mut step.kind else {
                continue;
            };
            if (at + 1 == n) != last_only || breach.is_some() {
                continue;
            }
            let mut fresh = Gene::sample(
                action.gene.model(),
                action.gene.root(),
                &mut self.rng,
                &tuning,
            );
            copy_path(&action.gene, &mut fresh);
            for (pointer, reference) in action.gene.references() {
                fresh.bind(&pointer, reference);
            }
            action.gene = fresh;
        }
        candidate
    }
}

impl BaseCandidate {
    fn last(&self) -> &Step {
        self.candidate
            .steps
            .last()
            .expect("a base ends with the step that it is about")
    }

    /// All steps but the last.
    fn before(&self) -> Candidate {
        self.candidate.prefix(self.candidate.steps.len() - 1)
    }
}
