//! The REST problem for the search: samples, mutates and scores candidates.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{Gene, GeneConfig, NodeRef, Value as GeneValue, ValueClass};
use isobath_search::{Evaluation, MutationContext, Problem, Rng, Score};

use crate::candidate::{Candidate, Step, StepKind};
use crate::db_oracle::DatabaseOracle;
use crate::disruption::Disruption;
use crate::exchange::Exchange;
use crate::external::{MockCatalog, UnmockedRequests};
use crate::fault::{Fault, FaultKind};
use crate::feedback::CodeTargets;
use crate::first_pass::FirstPass;
use crate::hints::Hints;
use crate::known_faults::KnownFaults;
use crate::latency::Latencies;
use crate::openapi::{Api, Operation, PathPiece};
use crate::oracle::Oracle;
use crate::per_operation::PerOperation;
use crate::pool::ValuePool;
use crate::resource::Resources;
use crate::sample;
use crate::seeding::{self, RowSeeder};
use crate::taint::{TaintTracker, Techniques, shift_by_distance, without_named_markers};
use crate::target::{JsonShape, Target, Targets};

/// Configuration of sampling and mutation.
#[derive(Clone, Debug)]
pub struct SamplingConfig {
    /// The most steps of a candidate.
    pub steps: usize,
    /// How values are drawn.
    pub tuning: GeneConfig,
    /// That an input breaks a rule on purpose.
    pub breach: f64,
    /// That a text is odd though valid, or two values are equal.
    pub edge_case: f64,
    /// Probability that another user, or an anonymous one, makes the last call.
    pub other_user: f64,
    /// That a mutation adds or removes a step.
    pub restructure: f64,
    /// That a free value is taken from what was seen in responses.
    pub reuse: f64,
    /// Enabled white-box techniques.
    pub techniques: Techniques,
}

impl Default for SamplingConfig {
    fn default() -> Self {
        Self {
            steps: 10,
            tuning: GeneConfig::robust(),
            breach: 0.15,
            edge_case: 0.1,
            other_user: 0.1,
            restructure: 0.2,
            reuse: 0.15,
            techniques: Techniques::default(),
        }
    }
}

/// A candidate that was running when the service crashed.
#[derive(Clone, Debug)]
struct CrashSuspect {
    /// The cause of the fault.
    cause: String,
    /// The operation that was called last.
    operation: String,
    candidate: Candidate,
}

/// The search problem: cover an API.
#[derive(Debug)]
pub struct RestProblem {
    pub(crate) api: Arc<Api>,
    pub(crate) resources: Resources,
    pub(crate) sampling: SamplingConfig,
    pub(crate) pool: ValuePool,
    pub(crate) hints: Hints,
    pub(crate) access: AccessTable,
    pub(crate) n_users: usize,
    /// Per operation, candidates that end with its success; short ones first.
    pub(crate) successful_prefixes: PerOperation<Vec<Candidate>>,
    /// Every operation once, before anything is tried twice.
    pub(crate) first_pass: FirstPass,
    /// Operations that end the session or the service for everybody.
    pub(crate) disruption: Disruption,
    pub(crate) latencies: Latencies,
    oracle: Oracle,
    targets: Targets,
    faults: KnownFaults,
    crash_suspects: Vec<CrashSuspect>,
    statuses: PerOperation<BTreeMap<u16, u64>>,
    code: CodeTargets,
    taint: TaintTracker,
    seeder: Option<RowSeeder>,
    rows: Option<DatabaseOracle>,
    mock_catalog: Option<MockCatalog>,
    unmocked: UnmockedRequests,
}

impl RestProblem {
    /// The problem of an API with as many users.
    #[must_use]
    pub fn new(api: Arc<Api>, n_users: usize, oracle: Oracle, sampling: SamplingConfig) -> Self {
        let resources = Resources::of(&api);
        let disruption = Disruption::new(&api);
        let is_avoided = |operation| disruption.is_avoided(operation);
        let first_pass = FirstPass::new(&api, &resources, is_avoided);
        let statuses = PerOperation::filled(&api, BTreeMap::new());
        let successful_prefixes = PerOperation::filled(&api, Vec::new());
        let n_operations = api.operations.len();
        let access = AccessTable::new(n_operations, n_users);
        let hints = Hints::of(&api);
        Self {
            api,
            resources,
            sampling,
            pool: ValuePool::default(),
            hints,
            access,
            n_users,
            successful_prefixes,
            first_pass,
            disruption,
            latencies: Latencies::of(n_operations, false),
            oracle,
            targets: Targets::default(),
            faults: KnownFaults::default(),
            crash_suspects: Vec::new(),
            statuses,
            code: CodeTargets::default(),
            taint: TaintTracker::default(),
            seeder: None,
            rows: None,
            mock_catalog: None,
            unmocked: UnmockedRequests::default(),
        }
    }

    /// Adds code targets.
    #[must_use]
    pub fn with_code(mut self, code: CodeTargets) -> Self {
        self.code = code.silent(!self.sampling.techniques.steering);
        self.taint.enable(self.sampling.techniques);
        self
    }

    /// Chooses slow operations less often, for a budget of time.
    #[must_use]
    pub fn with_latencies(mut self) -> Self {
        self.latencies = Latencies::of(self.api.operations.len(), true);
        self
    }

    /// Adds a row seeder.
    #[must_use]
    pub fn with_seeder(mut self, seeder: RowSeeder) -> Self {
        self.seeder = Some(seeder);
        self
    }

    /// The row seeder, if there is a database.
    #[must_use]
    pub fn seeder(&self) -> Option<&RowSeeder> {
        self.seeder.as_ref()
    }

    /// Adds a database oracle.
    #[must_use]
    pub fn with_db_oracle(mut self, judge: DatabaseOracle) -> Self {
        self.rows = Some(judge);
        self
    }

    /// The database oracle, if there is a database.
    #[must_use]
    pub fn db_oracle(&self) -> Option<&DatabaseOracle> {
        self.rows.as_ref()
    }

    /// Adds a catalog of mock responses.
    #[must_use]
    pub fn with_mock_catalog(mut self, mock_catalog: MockCatalog) -> Self {
        self.mock_catalog = Some(mock_catalog);
        self
    }

    /// Outbound requests without a mock.
    #[must_use]
    pub fn unmocked(&self) -> &UnmockedRequests {
        &self.unmocked
    }

    /// The code to cover, and what is covered of it.
    #[must_use]
    pub fn code(&self) -> &CodeTargets {
        &self.code
    }

    /// Whether there are operations that were not called yet.
    #[must_use]
    pub fn is_first_pass(&self) -> bool {
        !self.first_pass.is_over()
    }

    /// The status of all responses so far, if all operations that were called gave the same one and none worked.
    ///
    /// A service that fails with 500 everywhere is at the right address and at fault. Where the database or the code is
    /// in sight, the address is right, and what is missing can be brought. Resources that do not exist may all answer
    /// 404, so one operation must need none.
    #[must_use]
    pub fn uniform_answer(&self) -> Option<u16> {
        let needs_nothing = |(operation, seen): (&Operation, &BTreeMap<u16, u64>)| {
            let mut pieces = operation.segments.iter();
            !seen.is_empty() && !pieces.any(|piece| matches!(piece, PathPiece::Parameter(_)))
        };
        let mut operations = self.api.operations.iter().zip(&self.statuses);
        if self.seeder.is_some() || !self.code.is_empty() || !operations.any(needs_nothing) {
            return None;
        }
        let called = self.statuses.iter().filter(|seen| !seen.is_empty());
        let mut statuses = self.statuses.iter().flat_map(BTreeMap::keys);
        let first = *statuses.next()?;
        let is_refusal = matches!(first, 300..=499 | 501..=504);
        // What serves nothing at a path may refuse the method before it looks for the path.
        let status = if matches!(first, 405 | 501) {
            404
        } else {
            first
        };
        let is_same =
            |other: u16| other == first || (status == 404 && matches!(other, 404 | 405 | 501));
        (is_refusal && called.count() >= MIN_UNIFORM && statuses.all(|other| is_same(*other)))
            .then_some(status)
    }

    /// The targets found so far.
    #[must_use]
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The faults seen so far, one for each identity, in the order of their first sight.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        self.faults.list()
    }

    /// Per operation, the statuses seen, with how often.
    #[must_use]
    pub fn statuses(&self) -> &PerOperation<BTreeMap<u16, u64>> {
        &self.statuses
    }

    /// The judge.
    #[must_use]
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// The dependencies between operations.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Records a fault, and returns its target.
    pub fn record_fault(&mut self, fault: Fault) -> Target {
        let target = Target::Fault(fault.kind, fault.cause.as_str().into());
        self.faults.add(fault);
        target
    }

    /// Whether a fault of the same identity was seen.
    pub(crate) fn is_known(&self, fault: &Fault) -> bool {
        self.faults.has(fault)
    }

    /// Replaces what is known of a fault by what a later run showed of it.
    pub(crate) fn correct_fault(&mut self, fault: &Fault) {
        if let Some(known) = self.faults.like(fault) {
            known.clone_from(fault);
        }
    }

    /// The candidates that were running when the service crashed for a certain reason, one per operation.
    pub(crate) fn crash_suspects(&self, cause: &str) -> Vec<Candidate> {
        let suspects = self.crash_suspects.iter();
        suspects
            .filter(|suspect| suspect.cause == cause)
            .map(|suspect| suspect.candidate.clone())
            .collect()
    }

    fn note_crash(&mut self, fault: &Fault, candidate: &Candidate) {
        let is_known = self
            .crash_suspects
            .iter()
            .any(|suspect| suspect.cause == fault.cause && suspect.operation == fault.operation);
        if !is_known && self.crash_suspects.len() < MAX_CRASH_SUSPECTS {
            self.crash_suspects.push(CrashSuspect {
                cause: fault.cause.clone(),
                operation: fault.operation.clone(),
                candidate: candidate.clone(),
            });
        }
    }

    /// The faults that the exchanges of a candidate show.
    #[must_use]
    pub fn judge(&self, candidate: &Candidate, exchanges: &[Exchange]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (at, exchange) in exchanges.iter().enumerate() {
            let step = candidate.steps.iter().find(|step| step.id == exchange.step);
            let breach = step.and_then(|step| match &step.kind {
                StepKind::Call { breach, .. } => breach.as_ref(),
                StepKind::Follow(_) => None,
            });
            let judged = self.oracle.judge(&self.api, exchange, breach);
            let is_passed_on = is_passed_on(exchange);
            let judged = judged
                .into_iter()
                .filter(|fault| fault.kind != FaultKind::ServerError || !is_passed_on);
            faults.extend(judged.map(|mut fault| {
                if !self.is_known(&fault) {
                    fault.note_calls(exchanges.get(..=at).unwrap_or_default());
                }
                fault
            }));
        }
        faults.extend(self.judge_rows(exchanges));
        faults
    }

    /// Registers a candidate and repairs its rows.
    fn register(&mut self, mut candidate: Candidate, rng: &mut Rng) -> Candidate {
        if let Some(seeder) = &mut self.seeder {
            seeder.register(&mut candidate, rng);
        }
        if let Some(oracle) = &self.rows {
            oracle.put_hashes(&mut candidate.rows);
        }
        // Many are kept.
        candidate.steps.shrink_to_fit();
        candidate
    }

    /// The parent with other mock responses, if the operation calls external services.
    fn with_other_mock_responses(
        &self,
        rng: &mut Rng,
        parent: &Candidate,
        aimed: Option<usize>,
    ) -> Option<Candidate> {
        let mock_catalog = self.mock_catalog.as_ref()?;
        let is_aimed = aimed.is_some_and(|operation| mock_catalog.is_called_by(operation));
        if rng.f64() >= if is_aimed { 0.45 } else { 0.15 } {
            return None;
        }
        let mut child = parent.clone();
        let is_changed = mock_catalog.mutate(rng, &self.sampling.tuning, &mut child);
        is_changed.then_some(child)
    }

    /// The faults that the exchanges of a candidate show in the rows of the database.
    #[must_use]
    pub fn judge_rows(&self, exchanges: &[Exchange]) -> Vec<Fault> {
        let Some(judge) = &self.rows else {
            return Vec::new();
        };
        let faults = (0..exchanges.len()).flat_map(|at| judge.judge(&self.api, exchanges, at));
        faults
            .filter(|fault| self.oracle.checks(fault.kind))
            .collect()
    }

    fn score_exchange(
        &mut self,
        candidate: &Candidate,
        step: &Step,
        exchange: &Exchange,
        all: &[Exchange],
        scores: &mut Vec<Score>,
    ) {
        let (StepKind::Call { action, breach }, Some(status)) = (&step.kind, exchange.status())
        else {
            return;
        };
        let (operation, input) = (action.operation, &action.gene);
        self.latencies.note(operation, exchange.call.elapsed);
        // Who was never let in here is not refused because of what others called.
        let worked = !self.successful_prefixes[operation].is_empty()
            && self.access.was_let_in(operation, step.user);
        let is_anonymous = step.user.is_none();
        self.disruption
            .note(&self.api, operation, is_anonymous, status, worked);
        if let Some(change) = exchange.login_change {
            self.disruption.note_login_change(operation, change);
        }
        *self.statuses[operation].entry(status).or_default() += 1;
        let targets = &mut self.targets;
        let mut cover =
            |targets: &mut Targets, target: Target| scores.push(Score::covered(targets.id(target)));
        cover(targets, Target::Status(operation, status));
        cover(targets, Target::Family(operation, (status / 100) as u8));
        if !self.api.operation(operation).security.is_empty() {
            cover(targets, Target::Access(operation, step.user, status));
        }
        if let Some(breach) = breach {
            cover(
                targets,
                Target::Breach(operation, breach.pointer.as_str().into(), breach.rule),
            );
        }
        if let Some(body) = &exchange.body {
            shapes(body, &mut |place, shape| {
                let target = targets.shape(operation, status, place, shape);
                scores.push(Score::covered(target));
            });
        }
        if breach.is_none() {
            self.hints.learn(operation, input, exchange);
            self.hints.note_parameters(input, status);
        }
        // How near the call came to a success is the only gradient that a black box has.
        let status_score = status_score(status);
        let success = targets.id(Target::Family(operation, 2));
        scores.push(Score::new(success, status_score));
        if breach.is_none() && status < 500 {
            input.walk(|place| {
                let pointer = stable_pointer(place.pointer);
                facets(&place, &mut |facet| {
                    let target = targets.input(operation, &pointer, facet);
                    scores.push(Score::new(target, status_score));
                });
            });
        }
        if exchange.succeeded() {
            if breach.is_none() {
                remember_prefix(
                    &mut self.successful_prefixes[operation],
                    candidate,
                    step,
                    all,
                );
            }
            for (pointer, reference) in input.references() {
                let producer = candidate
                    .steps
                    .iter()
                    .find(|earlier| earlier.id == reference.source)
                    .and_then(Step::operation);
                if let Some(producer) = producer {
                    scores.push(Score::covered(targets.id(Target::Chain(
                        producer,
                        operation,
                        pointer.as_str().into(),
                    ))));
                }
            }
            let resources = &mut self.resources;
            resources.record_response(operation, |place| exchange.value(place).is_some());
            self.resources.learn_links(&self.api, operation, exchange);
            if let Some(body) = &exchange.body {
                self.pool.learn(body);
                self.resources.learn(&self.api, operation, body);
            }
        }
        self.access.note(operation, step.user, status);
    }
}

impl Problem for RestProblem {
    type Candidate = Candidate;
    type Answer = Vec<Exchange>;

    fn sample(&mut self, rng: &mut Rng) -> Candidate {
        let mut candidate = sample::candidate(self, rng);
        if let Some(mock_catalog) = &self.mock_catalog {
            mock_catalog.add_mock_responses(rng, &self.sampling.tuning, &mut candidate);
        }
        self.taint
            .apply_hints(rng, &self.sampling.tuning, &mut candidate);
        self.register(candidate, rng)
    }

    fn wants_samples(&self) -> bool {
        !self.first_pass.is_done() || self.disruption.recovery().is_some()
    }

    fn mutate(&mut self, rng: &mut Rng, parent: &Candidate, aim: &MutationContext) -> Candidate {
        let parent = &*without_named_markers(parent);
        let target = aim
            .target
            .and_then(|target| self.targets.get(target))
            .cloned();
        if let Some(seeder) = &mut self.seeder
            && let Some(child) = seeder
                .mutate_rows(rng, parent, target.as_ref())
                .or_else(|| seeder.inputs_from_rows(rng, parent, target.as_ref()))
        {
            return self.register(child, rng);
        }
        let (operation, code) = match target {
            Some(Target::Code(number, _)) => (self.code.operation(number), Some(number)),
            Some(Target::Statement(..) | Target::Rule(..)) => {
                if let Some(child) = seeding::with_row_producers(self, rng, parent, aim.target) {
                    return self.register(child, rng);
                }
                let seeder = self.seeder.as_ref();
                let operation = seeder.and_then(|seeder| seeder.operation(aim.target?));
                (operation, None)
            }
            Some(target) => (target.operation(), None),
            None => (None, None),
        };
        self.taint.advance(aim.progress, aim.focused);
        let parent = &*sample::only_needed(rng, parent, operation);
        if let Some(child) = self.with_other_mock_responses(rng, parent, operation) {
            return self.register(child, rng);
        }
        if !self.taint.is_enabled() {
            let child = sample::mutant(self, rng, parent, operation);
            return self.register(child, rng);
        }
        let mut child = parent.clone();
        let score = code.and(aim.score);
        if shift_by_distance(rng, &mut child, operation, score) {
            return self.register(child, rng);
        }
        // Code that refuses inputs is reached by inputs that are to be refused.
        if code.is_some()
            && rng.f64() < self.sampling.breach
            && sample::violate_constraint(self, rng, &mut child, operation)
        {
            return self.register(child, rng);
        }
        if self
            .taint
            .mutate_toward(rng, &self.sampling.tuning, &mut child, code)
        {
            return self.register(child, rng);
        }
        let child = sample::mutant(self, rng, parent, operation);
        self.register(child, rng)
    }

    fn score(&mut self, candidate: &Candidate, exchanges: Vec<Exchange>) -> Evaluation {
        let mut scores = Vec::new();
        self.first_pass.note_candidate();
        for exchange in &exchanges {
            let from = scores.len();
            if let Some(step) = candidate.steps.iter().find(|step| step.id == exchange.step) {
                self.score_exchange(candidate, step, exchange, &exchanges, &mut scores);
            }
            self.code.score(exchange, &mut self.targets, &mut scores);
            if let Some(seeder) = &mut self.seeder {
                seeder.score(candidate, exchange, &mut self.targets, &mut scores, from);
            }
            self.unmocked.learn(exchange);
            if let Some(judge) = &mut self.rows {
                judge.learn(&self.api, exchange);
            }
        }
        if let Some(seeder) = &mut self.seeder {
            seeder.note(candidate, &exchanges);
        }
        for mut fault in self.judge(candidate, &exchanges) {
            if fault.calls.is_empty() && !self.is_known(&fault) {
                fault.note_calls(&exchanges);
            }
            if fault.kind == FaultKind::ServiceDied {
                self.note_crash(&fault, candidate);
            }
            let target = self.record_fault(fault);
            scores.push(Score::covered(self.targets.id(target)));
        }
        if let Some(mock_catalog) = &mut self.mock_catalog {
            mock_catalog.learn(&exchanges);
        }
        self.taint.learn(&self.api, candidate, &exchanges);
        Evaluation::new(scores, exchanges.len() as u64)
    }

    fn crossover(&mut self, rng: &mut Rng, a: &Candidate, b: &Candidate) -> (Candidate, Candidate) {
        let (a, b) = (&without_named_markers(a), &without_named_markers(b));
        let (a, b) = sample::cross(rng, a, b, self.sampling.steps);
        (self.register(a, rng), self.register(b, rng))
    }

    fn part_kinds(&self, candidate: &Candidate) -> Vec<u64> {
        let operations = candidate.steps.iter().filter_map(Step::operation);
        operations.map(|operation| operation as u64).collect()
    }

    fn crossover_linked(
        &mut self,
        rng: &mut Rng,
        a: &Candidate,
        b: &Candidate,
        linked: &[u64],
    ) -> (Candidate, Candidate) {
        let (a, b) = (&without_named_markers(a), &without_named_markers(b));
        let (a, b) = sample::cross_linked(a, b, linked, self.sampling.steps);
        (self.register(a, rng), self.register(b, rng))
    }

    fn size(&self, candidate: &Candidate) -> usize {
        candidate.size()
    }

    fn relative_cost(&self, candidate: &Candidate) -> f64 {
        self.latencies.slowness_of(candidate)
    }

    fn without(&self, candidate: &Candidate, part: usize) -> Option<Candidate> {
        candidate.without_part(part)
    }
}

/// Whether a failure is correctly attributed to an external service (502, 503, 504).
fn is_passed_on(exchange: &Exchange) -> bool {
    matches!(exchange.status(), Some(502..=504)) && !exchange.trace.outgoing.is_empty()
}

/// So many operations must give the same answer before it is taken for that of a wrong address.
const MIN_UNIFORM: usize = 3;

/// Successful prefixes kept for one operation.
const MAX_PREFIXES: usize = 4;

/// Candidates kept that may have crashed the service.
const MAX_CRASH_SUSPECTS: usize = 64;

/// Keeps what a successful step needed: first those that made what they are about, then the shorter ones.
///
/// A call that happened to meet something that is there may not meet it again.
fn remember_prefix(
    successful_prefixes: &mut Vec<Candidate>,
    candidate: &Candidate,
    step: &Step,
    all: &[Exchange],
) {
    let Some(at) = candidate.steps.iter().position(|other| other.id == step.id) else {
        return;
    };
    let rank = |successful_prefix: &Candidate| {
        let made = successful_prefix
            .steps
            .last()
            .is_some_and(Step::is_about_earlier);
        (!made, successful_prefix.size())
    };
    // Most successes bring nothing new, and a slice is costly to make: what is about an earlier step takes
    // at least two.
    let made = step.is_about_earlier();
    if successful_prefixes.len() == MAX_PREFIXES
        && successful_prefixes
            .last()
            .is_some_and(|worst| rank(worst) <= (!made, 1 + usize::from(made)))
    {
        return;
    }
    let succeeded = |id: u32| {
        all.iter()
            .any(|exchange| exchange.step == id && exchange.succeeded())
    };
    let slice = candidate
        .bound_to(|reference| succeeded(reference.source))
        .slice(at);
    if successful_prefixes.len() == MAX_PREFIXES
        && successful_prefixes
            .last()
            .is_some_and(|worst| rank(worst) <= rank(&slice))
    {
        return;
    }
    successful_prefixes.push(slice);
    successful_prefixes.sort_by_key(rank);
    successful_prefixes.truncate(MAX_PREFIXES);
}

/// Score of a status for the target of a successful call.
fn status_score(status: u16) -> f64 {
    match status {
        200..300 => 1.0,
        300..400 => 0.7,
        // The input was understood, and what it is about is there.
        409 | 422 | 412 | 423 => 0.6,
        400 | 406 | 413 | 415 => 0.5,
        404 | 410 => 0.4,
        403 | 405 => 0.3,
        401 | 407 => 0.2,
        _ => 0.1,
    }
}

/// What the response that came nearest to a success was like.
pub(crate) fn nearest(status_score: f64) -> Option<&'static str> {
    let all = [
        (0.7, "returned 3xx"),
        (0.6, "returned 409, 412, 422 or 423"),
        (0.5, "returned 400, 406, 413 or 415"),
        (0.4, "returned 404 or 410"),
        (0.3, "returned 403 or 405"),
        (0.2, "returned 401 or 407"),
    ];
    let near = |(known, _): &&(f64, &str)| (status_score - known).abs() < 0.01;
    all.iter().find(near).map(|(_, words)| *words)
}

/// The facets of an input that become targets. References have none: they are covered as chains.
fn facets(place: &NodeRef<'_>, add: &mut dyn FnMut(ValueClass)) {
    if place.pointer.is_empty()
        || place.pointer.starts_with("/path")
        || matches!(place.value, GeneValue::Bound(_))
    {
        return;
    }
    place.value_classes(&mut *add);
}

/// A pointer with all items of a list taken together.
pub(crate) fn stable_pointer(pointer: &str) -> Cow<'_, str> {
    if !pointer.bytes().any(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(pointer);
    }
    let segments = pointer.split('/').map(|segment| {
        if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            "*"
        } else {
            segment
        }
    });
    Cow::Owned(segments.collect::<Vec<_>>().join("/"))
}

/// Calls `add` for the shapes of a response: the body, and what is two levels below it.
fn shapes(body: &serde_json::Value, add: &mut dyn FnMut(&str, JsonShape)) {
    fn walk(
        value: &serde_json::Value,
        at: &mut String,
        depth: usize,
        add: &mut dyn FnMut(&str, JsonShape),
    ) {
        add(at, JsonShape::of(value));
        if depth == 0 {
            return;
        }
        let end = at.len();
        match value {
            serde_json::Value::Object(object) => {
                for (name, value) in object.iter().take(60) {
                    isobath_genes::push_segment(at, name);
                    walk(value, at, depth - 1, add);
                    at.truncate(end);
                }
            }
            serde_json::Value::Array(items) => {
                if let Some(first) = items.first() {
                    at.push_str("/*");
                    walk(first, at, depth - 1, add);
                    at.truncate(end);
                }
            }
            _ => {}
        }
    }
    walk(body, &mut String::new(), 3, add);
}

/// Observed access rights of users per operation.
#[derive(Clone, Debug)]
pub(crate) struct AccessTable {
    n_users: usize,
    /// Per operation and user: let in, and kept out.
    counts: Vec<(u32, u32)>,
}

impl AccessTable {
    fn new(n_operations: usize, n_users: usize) -> Self {
        Self {
            n_users,
            counts: vec![(0, 0); n_operations * n_users],
        }
    }

    fn note(&mut self, operation: usize, user: Option<usize>, status: u16) {
        let Some(user) = user.filter(|user| *user < self.n_users) else {
            return;
        };
        let count = self.counts.get_mut(operation * self.n_users + user);
        let Some((in_, out)) = count else {
            return;
        };
        match status {
            401 | 403 => *out += 1,
            200..500 => *in_ += 1,
            _ => {}
        }
    }

    /// Whether a user was ever let in; so is everybody where nobody logs in.
    fn was_let_in(&self, operation: usize, user: Option<usize>) -> bool {
        let Some(user) = user.filter(|user| *user < self.n_users) else {
            return true;
        };
        let counts = self.counts.get(operation * self.n_users + user);
        counts.is_some_and(|(let_in, _)| *let_in > 0)
    }

    /// A user who may call the operation: `preferred`, unless always rejected before.
    pub(crate) fn user(&self, rng: &mut Rng, operation: usize, preferred: usize) -> usize {
        let kept_out = |user: usize| {
            let counts = self.counts.get(operation * self.n_users + user);
            counts.is_some_and(|&(let_in, out)| let_in == 0 && out >= 2)
        };
        if !kept_out(preferred) {
            return preferred;
        }
        let others: Vec<usize> = (0..self.n_users).filter(|&user| !kept_out(user)).collect();
        rng.choice(others).unwrap_or(preferred)
    }
}

/// Fresh input of an operation.
pub(crate) fn sample_input(problem: &RestProblem, rng: &mut Rng, operation: usize) -> Gene {
    Gene::sample(
        &problem.api.model,
        problem.api.operation(operation).input,
        rng,
        &problem.sampling.tuning,
    )
}
