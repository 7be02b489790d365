//! The REST problem as the search sees it: candidates are made here, and answers judged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_genes::{Gene, GeneConfig, NodeRef, Value as GeneValue, ValueClass};
use isobath_search::{Evaluation, MutationContext, Problem, Rng, Score};

use crate::candidate::{Candidate, Step, What};
use crate::data::{self, Supply};
use crate::exchange::Exchange;
use crate::fault::{Fault, FaultKind};
use crate::feedback::Code;
use crate::goal::{Goal, Goals, Shape};
use crate::lore::{Lore, Techniques, without_named_markers};
use crate::openapi::Api;
use crate::oracle::Oracle;
use crate::outside::{Called, Repertoire};
use crate::pool::Pool;
use crate::resource::Resources;
use crate::sample;
use crate::state::Judge;

/// What sampling and mutation may do.
#[derive(Clone, Debug)]
pub struct Habits {
    /// The most steps of a candidate.
    pub steps: usize,
    /// How values are drawn.
    pub tuning: GeneConfig,
    /// That an input breaks a rule on purpose.
    pub breach: f64,
    /// That a text is odd though valid, or two values are equal.
    pub odd: f64,
    /// That the last call is made by somebody else, or by nobody.
    pub stranger: f64,
    /// That a mutation adds or removes a step.
    pub restructure: f64,
    /// That a free value is taken from what was seen in answers.
    pub reuse: f64,
    /// What is learned inside a service that can be looked into.
    pub techniques: Techniques,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            steps: 10,
            tuning: GeneConfig::robust(),
            breach: 0.15,
            odd: 0.1,
            stranger: 0.1,
            restructure: 0.2,
            reuse: 0.15,
            techniques: Techniques::default(),
        }
    }
}

/// The problem: how to cover an API.
#[derive(Debug)]
pub struct RestProblem {
    pub(crate) api: Arc<Api>,
    pub(crate) resources: Resources,
    pub(crate) habits: Habits,
    pub(crate) pool: Pool,
    pub(crate) access: Access,
    pub(crate) n_users: usize,
    /// Per operation, candidates that end with its success; short ones first.
    pub(crate) recipes: Vec<Vec<Candidate>>,
    /// Operations that have not been tried yet, last first.
    pub(crate) untried: Vec<usize>,
    oracle: Oracle,
    goals: Goals,
    faults: Vec<Fault>,
    statuses: Vec<BTreeMap<u16, u64>>,
    code: Code,
    lore: Lore,
    supply: Option<Supply>,
    rows: Option<Judge>,
    outside: Option<Repertoire>,
    called: Called,
}

impl RestProblem {
    /// The problem of an API with as many users.
    #[must_use]
    pub fn new(api: Arc<Api>, n_users: usize, oracle: Oracle, habits: Habits) -> Self {
        let resources = Resources::of(&api);
        let untried = (0..api.operations.len()).rev().collect();
        let statuses = vec![BTreeMap::new(); api.operations.len()];
        let recipes = vec![Vec::new(); api.operations.len()];
        let access = Access::new(api.operations.len(), n_users);
        Self {
            api,
            resources,
            habits,
            pool: Pool::default(),
            access,
            n_users,
            recipes,
            untried,
            oracle,
            goals: Goals::default(),
            faults: Vec::new(),
            statuses,
            code: Code::default(),
            lore: Lore::default(),
            supply: None,
            rows: None,
            outside: None,
            called: Called::default(),
        }
    }

    /// The same problem, with code to cover.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.code = code.silent(!self.habits.techniques.steering);
        self.lore.wake(self.habits.techniques);
        self
    }

    /// The same problem, with a database whose rows candidates may bring.
    #[must_use]
    pub fn with_data(mut self, supply: Supply) -> Self {
        self.supply = Some(supply);
        self
    }

    /// What is known of the rows that candidates need.
    #[must_use]
    pub fn supply(&self) -> Option<&Supply> {
        self.supply.as_ref()
    }

    /// The same problem, with rows whose changes are judged.
    #[must_use]
    pub fn with_rows(mut self, judge: Judge) -> Self {
        self.rows = Some(judge);
        self
    }

    /// Who judges the changes of rows, where there are some.
    #[must_use]
    pub fn rows(&self) -> Option<&Judge> {
        self.rows.as_ref()
    }

    /// The same problem, with outside services whose answers candidates bring.
    #[must_use]
    pub fn with_outside(mut self, repertoire: Repertoire) -> Self {
        self.outside = Some(repertoire);
        self
    }

    /// What the service was seen to call, from inside.
    #[must_use]
    pub fn called(&self) -> &Called {
        &self.called
    }

    /// The code to cover, and what is covered of it.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// What is worth covering, as far as it was met.
    #[must_use]
    pub fn goals(&self) -> &Goals {
        &self.goals
    }

    /// The faults seen so far, one for each identity, in the order of their first sight.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Per operation, the statuses seen, with how often.
    #[must_use]
    pub fn statuses(&self) -> &[BTreeMap<u16, u64>] {
        &self.statuses
    }

    /// The judge.
    #[must_use]
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// Who makes what for whom.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Takes note of a fault, and says its goal.
    pub fn note(&mut self, fault: Fault) -> Goal {
        let goal = Goal::Fault(fault.kind, fault.cause.as_str().into());
        if !self
            .faults
            .iter()
            .any(|known| known.identity() == fault.identity())
        {
            self.faults.push(fault);
        }
        goal
    }

    /// The faults that the exchanges of a candidate show.
    #[must_use]
    pub fn judge(&self, candidate: &Candidate, exchanges: &[Exchange]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for exchange in exchanges {
            let step = candidate.steps.iter().find(|step| step.id == exchange.step);
            let breach = step.and_then(|step| match &step.what {
                What::Call { breach, .. } => breach.as_ref(),
                What::Follow(_) => None,
            });
            let judged = self.oracle.judge(&self.api, exchange, breach);
            let is_passed_on = is_passed_on(exchange);
            faults.extend(
                judged
                    .into_iter()
                    .filter(|fault| fault.kind != FaultKind::ServerError || !is_passed_on),
            );
        }
        faults.extend(self.judge_rows(exchanges));
        faults
    }

    /// A candidate whose rows are acceptable, known by a number of its own.
    fn registered(&mut self, mut candidate: Candidate, rng: &mut Rng) -> Candidate {
        if let Some(supply) = &mut self.supply {
            supply.register(&mut candidate, rng);
        }
        candidate
    }

    /// The parent with other answers of outside services, where these may matter; not always, since inputs matter too.
    fn answered_otherwise(
        &self,
        rng: &mut Rng,
        parent: &Candidate,
        aimed: Option<usize>,
    ) -> Option<Candidate> {
        let outside = self.outside.as_ref()?;
        let is_aimed = aimed.is_some_and(|operation| outside.is_run_by(operation));
        if rng.f64() >= if is_aimed { 0.45 } else { 0.15 } {
            return None;
        }
        let mut child = parent.clone();
        let is_changed = outside.change(rng, &self.habits.tuning, &mut child);
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
            .filter(|fault| self.oracle.seeks(fault.kind))
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
        let (What::Call { action, breach }, Some(status)) = (&step.what, exchange.status()) else {
            return;
        };
        let (operation, input) = (action.operation, &action.gene);
        *self.statuses[operation].entry(status).or_default() += 1;
        let goals = &mut self.goals;
        let mut cover = |goals: &mut Goals, goal: Goal| scores.push(Score::covered(goals.id(goal)));
        cover(goals, Goal::Status(operation, status));
        cover(goals, Goal::Family(operation, (status / 100) as u8));
        if !self.api.operations[operation].security.is_empty() {
            cover(goals, Goal::Access(operation, step.user, status));
        }
        if let Some(breach) = breach {
            cover(
                goals,
                Goal::Breach(operation, breach.pointer.as_str().into(), breach.rule),
            );
        }
        if let Some(body) = &exchange.body {
            shapes(body, &mut |place, shape| {
                let goal = goals.shape(operation, status, place, shape);
                scores.push(Score::covered(goal));
            });
        }
        // How near the call came to a success is the only gradient that a black box has.
        let nearness = nearness(status);
        let success = goals.id(Goal::Family(operation, 2));
        scores.push(Score::new(success, nearness));
        if breach.is_none() && status < 500 {
            input.walk(|place| {
                let pointer = stable_pointer(place.pointer);
                facets(&place, &mut |facet| {
                    let goal = goals.input(operation, &pointer, facet);
                    scores.push(Score::new(goal, nearness));
                });
            });
        }
        if exchange.succeeded() {
            if breach.is_none() {
                remember(&mut self.recipes[operation], candidate, step, all);
            }
            for (pointer, reference) in input.references() {
                let producer = candidate
                    .steps
                    .iter()
                    .find(|earlier| earlier.id == reference.source)
                    .and_then(Step::operation);
                if let Some(producer) = producer {
                    scores.push(Score::covered(goals.id(Goal::Chain(
                        producer,
                        operation,
                        pointer.as_str().into(),
                    ))));
                }
            }
            let resources = &mut self.resources;
            resources.given(operation, |place| exchange.value(place).is_some());
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
        if let Some(outside) = &self.outside {
            outside.season(rng, &self.habits.tuning, &mut candidate);
        }
        self.lore.season(rng, &self.habits.tuning, &mut candidate);
        self.registered(candidate, rng)
    }

    fn mutate(&mut self, rng: &mut Rng, parent: &Candidate, aim: &MutationContext) -> Candidate {
        let parent = &*without_named_markers(parent);
        let goal = aim
            .target
            .and_then(|target| self.goals.get(target))
            .cloned();
        if let Some(supply) = &mut self.supply
            && let Some(child) = supply
                .help(rng, parent, goal.as_ref())
                .or_else(|| supply.taken(rng, parent, goal.as_ref()))
        {
            return self.registered(child, rng);
        }
        let (operation, code) = match goal {
            Some(Goal::Code(number, _)) => (self.code.operation(number), Some(number)),
            Some(Goal::Statement(..) | Goal::Rule(..)) => {
                if let Some(child) = data::fed(self, rng, parent, aim.target) {
                    return self.registered(child, rng);
                }
                let supply = self.supply.as_ref();
                let operation = supply.and_then(|supply| supply.operation(aim.target?));
                (operation, None)
            }
            Some(goal) => (goal.operation(), None),
            None => (None, None),
        };
        self.lore.advance(aim.progress, aim.focused);
        if let Some(child) = self.answered_otherwise(rng, parent, operation) {
            return self.registered(child, rng);
        }
        if !self.lore.is_awake() {
            let child = sample::mutant(self, rng, parent, operation);
            return self.registered(child, rng);
        }
        let mut child = parent.clone();
        // Code that refuses inputs is reached by inputs that are to be refused.
        if code.is_some()
            && rng.f64() < self.habits.breach
            && sample::break_a_rule(self, rng, &mut child, operation)
        {
            return self.registered(child, rng);
        }
        if self.lore.direct(rng, &self.habits.tuning, &mut child, code) {
            return self.registered(child, rng);
        }
        let child = sample::mutant(self, rng, parent, operation);
        self.registered(child, rng)
    }

    fn score(&mut self, candidate: &Candidate, exchanges: Vec<Exchange>) -> Evaluation {
        let mut scores = Vec::new();
        for exchange in &exchanges {
            let from = scores.len();
            if let Some(step) = candidate.steps.iter().find(|step| step.id == exchange.step) {
                self.score_exchange(candidate, step, exchange, &exchanges, &mut scores);
            }
            self.code.score(exchange, &mut self.goals, &mut scores);
            if let Some(supply) = &mut self.supply {
                supply.score(candidate, exchange, &mut self.goals, &mut scores, from);
            }
            self.called.learn(exchange);
            if let Some(judge) = &mut self.rows {
                judge.learn(&self.api, exchange);
            }
        }
        if let Some(supply) = &mut self.supply {
            supply.note(candidate, &exchanges);
        }
        for fault in self.judge(candidate, &exchanges) {
            let goal = self.note(fault);
            scores.push(Score::covered(self.goals.id(goal)));
        }
        if let Some(outside) = &mut self.outside {
            outside.learn(&exchanges);
        }
        self.lore.learn(&self.api, candidate, &exchanges);
        Evaluation::new(scores, exchanges.len() as u64)
    }

    fn crossover(&mut self, rng: &mut Rng, a: &Candidate, b: &Candidate) -> (Candidate, Candidate) {
        let (a, b) = (&without_named_markers(a), &without_named_markers(b));
        let (a, b) = sample::cross(rng, a, b, self.habits.steps);
        (self.registered(a, rng), self.registered(b, rng))
    }

    fn size(&self, candidate: &Candidate) -> usize {
        candidate.size()
    }

    fn without(&self, candidate: &Candidate, part: usize) -> Option<Candidate> {
        candidate.without_part(part)
    }
}

/// Whether a failure is rightly blamed on an outside service: 502, 503 and 504 are for that.
fn is_passed_on(exchange: &Exchange) -> bool {
    matches!(exchange.status(), Some(502..=504)) && !exchange.inside.outgoing.is_empty()
}

/// Recipes kept for one operation.
const RECIPES: usize = 4;

/// Keeps what a successful step needed: first those that made what they are about, then the shorter ones.
///
/// A call that happened to meet something that is there may not meet it again.
fn remember(recipes: &mut Vec<Candidate>, candidate: &Candidate, step: &Step, all: &[Exchange]) {
    let Some(at) = candidate.steps.iter().position(|other| other.id == step.id) else {
        return;
    };
    let rank = |recipe: &Candidate| {
        let made = recipe.steps.last().is_some_and(Step::is_about_earlier);
        (!made, recipe.size())
    };
    // Most successes bring nothing new, and a slice is costly to make: what is about an earlier step takes
    // at least two.
    let made = step.is_about_earlier();
    if recipes.len() == RECIPES
        && recipes
            .last()
            .is_some_and(|worst| rank(worst) <= (!made, 1 + usize::from(made)))
    {
        return;
    }
    let succeeded = |id: u32| {
        all.iter()
            .any(|exchange| exchange.step == id && exchange.succeeded())
    };
    let slice = candidate.bound_to(succeeded).slice(at);
    if recipes.len() == RECIPES
        && recipes
            .last()
            .is_some_and(|worst| rank(worst) <= rank(&slice))
    {
        return;
    }
    recipes.push(slice);
    recipes.sort_by_key(rank);
    recipes.truncate(RECIPES);
}

/// How near a status is to success.
fn nearness(status: u16) -> f64 {
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

/// What the answer that came nearest to a success was like.
pub(crate) fn nearest(nearness: f64) -> Option<&'static str> {
    let all = [
        (0.7, "answered 3xx"),
        (0.6, "answered 409, 412, 422 or 423"),
        (0.5, "answered 400, 406, 413 or 415"),
        (0.4, "answered 404 or 410"),
        (0.3, "answered 403 or 405"),
        (0.2, "answered 401 or 407"),
    ];
    let near = |(known, _): &&(f64, &str)| (nearness - known).abs() < 0.01;
    all.iter().find(near).map(|(_, words)| *words)
}

/// The facets of a place that are worth a goal. Which thing is meant has none: those are covered as chains.
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

/// Calls `add` for the shapes of an answer: the body, and what is two levels below it.
fn shapes(body: &serde_json::Value, add: &mut dyn FnMut(&str, Shape)) {
    fn walk(
        value: &serde_json::Value,
        at: &mut String,
        depth: usize,
        add: &mut dyn FnMut(&str, Shape),
    ) {
        add(at, Shape::of(value));
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

/// Which user may call what, as far as answers told.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    n_users: usize,
    /// Per operation and user: let in, and kept out.
    counts: Vec<(u32, u32)>,
}

impl Access {
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
        let (in_, out) = &mut self.counts[operation * self.n_users + user];
        match status {
            401 | 403 => *out += 1,
            200..500 => *in_ += 1,
            _ => {}
        }
    }

    /// Somebody who may call the operation: `preferred`, unless that user was only ever kept out.
    pub(crate) fn user(&self, rng: &mut Rng, operation: usize, preferred: usize) -> usize {
        let counts = &self.counts[operation * self.n_users..(operation + 1) * self.n_users];
        let kept_out = |user: usize| counts[user].0 == 0 && counts[user].1 >= 2;
        if !kept_out(preferred) {
            return preferred;
        }
        let others: Vec<usize> = (0..self.n_users).filter(|&user| !kept_out(user)).collect();
        if others.is_empty() {
            preferred
        } else {
            others[rng.usize(..others.len())]
        }
    }
}

/// Fresh input of an operation.
pub(crate) fn fresh(problem: &RestProblem, rng: &mut Rng, operation: usize) -> Gene {
    Gene::sample(
        &problem.api.model,
        problem.api.operations[operation].input,
        rng,
        &problem.habits.tuning,
    )
}
