//! The first pass: every operation is called once before anything is tried twice.
//!
//! Operations are grouped into tours: one that creates a resource, then those that use it, and those that delete
//! it last. So a producer is called once per pass, not once per consumer. An operation that did not succeed is toured
//! again when something new is known: a hint from an error response, or a producer that succeeded.

use std::collections::VecDeque;

use crate::openapi::Api;
use crate::per_operation::PerOperation;
use crate::resource::Resources;

/// The most steps of a tour. A longer one costs more than it saves when it is mutated.
const MAX_STEPS: usize = 12;
/// The most passes over operations that fail.
const MAX_PASSES: u32 = 8;
/// After so many candidates of the search, operations that never succeeded are toured once more; then after twice as
/// many, and so on.
const FIRST_INTERVAL: usize = 50;
/// How deep producers of producers are added to a tour.
const MAX_DEPTH: usize = 4;

/// What is left of the passes.
#[derive(Clone, Debug)]
pub(crate) struct FirstPass {
    tours: VecDeque<Vec<usize>>,
    passes: u32,
    /// Per operation, how much was known that may help it when it was last toured.
    known: Vec<usize>,
    /// Calls that should be refused, each once; those of one operation that follow one preparation go together.
    negative: Vec<NegativeCalls>,
    /// Those that were put off.
    postponed: VecDeque<NegativeCalls>,
    /// Calls of repeated tours since the last calls that should be refused.
    toured: usize,
    /// Candidates until operations that never succeeded are toured once more, and how many there were last time.
    until_next: usize,
    interval: usize,
}

/// An operation, and calls of it that one candidate makes.
pub(crate) type NegativeCalls = (usize, Vec<NegativeCall>);

/// A call that should be refused, or that careless code trips over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NegativeCall {
    /// By nobody.
    Anonymous,
    /// With a path, query, header or cookie that breaks a rule of the document.
    InvalidParameter,
    /// With a body that breaks a rule of the document.
    InvalidBody,
    /// With null as the body.
    NullBody,
    /// With an empty object as the body.
    EmptyBody,
    /// With an empty list as the body.
    ListBody,
    /// With null, or a list of it, in one field of the body; which one of them.
    OddField(usize),
    /// With a body that is not well formed.
    MalformedBody,
    /// With a body of a content type that the document does not name.
    UndocumentedContent,
    /// With all that is optional, and every value as small as it may be.
    Least,
    /// On a resource that is not there.
    Missing,
    /// On a resource with a number that no database has.
    HugeId,
    /// As in a call that succeeded: two of these in a row create something twice.
    Repeated,
    /// With a text that is valid, and that careless code trips over.
    OddText,
    /// With one value that is valid and extreme; which one of them.
    Extreme(usize),
}

impl NegativeCall {
    /// Whether the document allows it, and it is new: what is repeated mostly is in the way of what is there.
    pub(crate) fn may_succeed(self) -> bool {
        matches!(self, Self::Least | Self::OddText | Self::Extreme(_))
    }

    /// Whether it differs in one thing only from a call that succeeded. Who is refused at the door needs nothing to be there.
    pub(crate) fn is_prepared(self) -> bool {
        !matches!(self, Self::Anonymous | Self::Missing | Self::HugeId)
    }

    /// Whether it tells nothing where the service looks for what the path names first, and does not find it. The plainest
    /// violations show whether it does.
    pub(crate) fn needs_resource(self) -> bool {
        let is_plain = matches!(
            self,
            Self::InvalidParameter
                | Self::InvalidBody
                | Self::MalformedBody
                | Self::UndocumentedContent
        );
        self.is_prepared() && !is_plain
    }

    /// Those that each operation is called with, in this order; what is needed for one of a group is prepared once.
    const GROUPS: [&[Self]; 9] = [
        &[Self::Anonymous],
        &[
            Self::InvalidParameter,
            Self::InvalidBody,
            Self::MalformedBody,
            Self::UndocumentedContent,
        ],
        &[Self::NullBody, Self::EmptyBody, Self::OddText, Self::Least],
        &[Self::Missing, Self::HugeId],
        &[Self::Repeated, Self::Repeated],
        &[
            Self::ListBody,
            Self::OddField(0),
            Self::OddField(1),
            Self::OddField(2),
            Self::OddField(3),
        ],
        &[Self::Extreme(0), Self::Extreme(1), Self::Extreme(2)],
        &[Self::Extreme(3), Self::Extreme(4), Self::Extreme(5)],
        &[
            Self::OddField(4),
            Self::OddField(5),
            Self::OddField(6),
            Self::OddField(7),
        ],
    ];
}

impl FirstPass {
    /// A pass over all operations but those to be avoided.
    pub(crate) fn new(
        api: &Api,
        resources: &Resources,
        is_avoided: impl Fn(usize) -> bool,
    ) -> Self {
        let wanted = PerOperation::new(api, |operation| !is_avoided(operation));
        // Each group for all operations before the next group: time may end any moment.
        let mut negative: Vec<NegativeCalls> = Vec::new();
        for group in NegativeCall::GROUPS {
            for operation in wanted.positions(|is_wanted| *is_wanted) {
                // What deletes leaves nothing for the next call.
                let is_delete = &*api.operation(operation).method == "DELETE";
                let size = if is_delete { 1 } else { group.len() };
                let calls = group.chunks(size).map(|calls| (operation, calls.to_vec()));
                negative.extend(calls);
            }
        }
        negative.reverse();
        Self {
            tours: plan(api, resources, &wanted),
            passes: 1,
            known: vec![0; api.operations.len()],
            negative,
            postponed: VecDeque::new(),
            toured: 0,
            until_next: FIRST_INTERVAL,
            interval: FIRST_INTERVAL,
        }
    }

    /// Whether every operation was called once.
    pub(crate) fn is_over(&self) -> bool {
        self.passes > 1 || self.tours.is_empty()
    }

    /// Whether every operation also had its calls that should be refused, and no further tour is due.
    pub(crate) fn is_done(&self) -> bool {
        self.tours.is_empty() && self.negative.is_empty() && self.until_next > 0
    }

    /// Takes note of a candidate of the search.
    pub(crate) fn note_candidate(&mut self) {
        if self.tours.is_empty() {
            self.until_next = self.until_next.saturating_sub(1);
        }
    }

    /// The next operation to be called by nobody, once every operation was called: one call is cheaper than a tour, and
    /// mostly shows something new.
    pub(crate) fn next_anonymous(&mut self) -> Option<usize> {
        let is_anonymous = |(_, calls): &NegativeCalls| calls == &[NegativeCall::Anonymous];
        let is_due = self.is_over() && self.negative.last().is_some_and(is_anonymous);
        let next = if is_due { self.negative.pop() } else { None };
        next.map(|(operation, _)| operation)
    }

    /// The next calls that should be refused, when it is their turn: repeated tours get about as many calls.
    pub(crate) fn next_negative(&mut self) -> Option<NegativeCalls> {
        if !self.tours.is_empty() && self.toured == 0 {
            return None;
        }
        let next = self.negative.pop()?;
        self.toured = self.toured.saturating_sub(next.1.len());
        Some(next)
    }

    /// Puts off calls: the search makes them, among others.
    pub(crate) fn postpone(&mut self, calls: NegativeCalls) {
        self.postponed.push_back(calls);
    }

    /// The next calls that were put off.
    pub(crate) fn next_postponed(&mut self) -> Option<NegativeCalls> {
        self.postponed.pop_front()
    }

    /// The next tour; `news` says of an operation that failed so far how much is known that may help it, and nothing
    /// of one that needs no further tour.
    pub(crate) fn next(
        &mut self,
        api: &Api,
        resources: &Resources,
        news: impl Fn(usize) -> Option<usize>,
    ) -> Option<Vec<usize>> {
        if self.tours.is_empty() && self.until_next == 0 {
            self.interval *= 2;
            self.until_next = self.interval;
            // By now, what they need may be there more often, and chance may be kinder.
            let wanted = PerOperation::new(api, |operation| news(operation).is_some());
            self.tours = plan(api, resources, &wanted);
        }
        let tour = self.tours.pop_front()?;
        if self.passes > 1 {
            self.toured += tour.len();
        }
        if self.tours.is_empty() && self.passes < MAX_PASSES {
            self.passes += 1;
            let mut wanted = PerOperation::filled(api, false);
            for (operation, known) in self.known.iter_mut().enumerate() {
                if let Some(now) = news(operation)
                    && now > *known
                {
                    *known = now;
                    wanted[operation] = true;
                }
            }
            self.tours = plan(api, resources, &wanted);
        }
        Some(tour)
    }
}

/// Tours that call each of the wanted operations, cheapest first.
fn plan(api: &Api, resources: &Resources, wanted: &PerOperation<bool>) -> VecDeque<Vec<usize>> {
    let planner = Planner::new(api, resources);
    let mut left = wanted.clone();
    let mut tours: Vec<Vec<usize>> = Vec::new();
    // What needs nothing and makes nothing is a tour of its own.
    for (operation, is_left) in left.iter_mut().enumerate() {
        if *is_left && planner.is_root(operation) && !planner.is_producer[operation] {
            *is_left = false;
            tours.push(vec![operation]);
        }
    }
    // What is created here is surely there; lists may be empty.
    let mut roots: Vec<usize> = left
        .positions(|is_left| *is_left)
        .filter(|&operation| planner.is_root(operation))
        .collect();
    roots.sort_by_key(|&operation| method_rank(api, operation));
    for root in roots {
        left[root] = false;
        let mut tour = vec![root];
        planner.grow(&mut tour, &mut left);
        tours.push(planner.ordered(tour));
    }
    // What is left needs something of several roots, or of what a tour had no room for.
    for operation in 0..api.operations.len() {
        if !left[operation] {
            continue;
        }
        left[operation] = false;
        let mut tour = Vec::new();
        planner.add_producers(operation, &mut tour, MAX_DEPTH);
        for member in &tour {
            left[*member] = false;
        }
        tour.push(operation);
        planner.grow(&mut tour, &mut left);
        tours.push(planner.ordered(tour));
    }
    tours.into()
}

struct Planner<'a> {
    api: &'a Api,
    /// Per operation, the producers of each value that it cannot do without, the likeliest first.
    needs: PerOperation<Vec<Vec<usize>>>,
    is_producer: PerOperation<bool>,
}

impl<'a> Planner<'a> {
    fn new(api: &'a Api, resources: &Resources) -> Self {
        let mut is_producer = PerOperation::filled(api, false);
        let needs = PerOperation::new(api, |operation| {
            let essential = resources
                .dependencies(operation)
                .iter()
                .filter(|dependency| dependency.required);
            let producers = essential.map(|dependency| {
                let mut producers: Vec<usize> = Vec::new();
                for producer in &dependency.producers {
                    is_producer[producer.operation] = true;
                    if !producers.contains(&producer.operation) {
                        producers.push(producer.operation);
                    }
                }
                producers
            });
            producers
                .filter(|producers| !producers.is_empty())
                .collect()
        });
        Self {
            api,
            needs,
            is_producer,
        }
    }

    fn is_root(&self, operation: usize) -> bool {
        self.needs[operation].is_empty()
    }

    fn is_met(&self, operation: usize, tour: &[usize]) -> bool {
        let mut needs = self.needs[operation].iter();
        needs.all(|producers| producers.iter().any(|producer| tour.contains(producer)))
    }

    /// Adds what the tour provides for, until it is full.
    fn grow(&self, tour: &mut Vec<usize>, left: &mut PerOperation<bool>) {
        loop {
            let before = tour.len();
            for (operation, is_left) in left.iter_mut().enumerate() {
                if tour.len() >= MAX_STEPS {
                    return;
                }
                if *is_left && !self.is_root(operation) && self.is_met(operation, tour) {
                    *is_left = false;
                    tour.push(operation);
                }
            }
            if tour.len() == before {
                return;
            }
        }
    }

    /// Adds the likeliest producers of what an operation needs, before it.
    fn add_producers(&self, operation: usize, tour: &mut Vec<usize>, depth: usize) {
        if depth == 0 {
            return;
        }
        for producers in &self.needs[operation] {
            let likeliest = producers.iter().find(|&&producer| producer != operation);
            if producers.iter().any(|producer| tour.contains(producer)) {
                continue;
            }
            if let Some(&producer) = likeliest
                && tour.len() + 1 < MAX_STEPS
            {
                self.add_producers(producer, tour, depth - 1);
                if !tour.contains(&producer) {
                    tour.push(producer);
                }
            }
        }
    }

    /// The tour with what deletes at its end, what is nested deeper first.
    fn ordered(&self, tour: Vec<usize>) -> Vec<usize> {
        let is_delete = |operation: &usize| &*self.api.operation(*operation).method == "DELETE";
        let (mut deletes, mut order): (Vec<usize>, Vec<usize>) =
            tour.into_iter().partition(is_delete);
        let depth = |operation: &usize| self.api.operation(*operation).segments.len();
        deletes.sort_by_key(|operation| std::cmp::Reverse(depth(operation)));
        order.extend(deletes);
        order
    }
}

fn method_rank(api: &Api, operation: usize) -> u8 {
    match &*api.operation(operation).method {
        "POST" => 0,
        "PUT" => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::{NoLoader, read};

    const DOCUMENT: &str = r#"
openapi: 3.0.0
info: {title: Harbor, version: '1'}
paths:
  /boats/{id}:
    delete:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'204': {description: gone}}
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: one}}
  /boats/{id}/sails:
    post:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {'201': {description: made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /boats/{id}/sails/{sailId}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: sailId, in: path, required: true, schema: {type: integer}}]
      responses: {'200': {description: one}}
  /boats:
    get:
      responses: {'200': {description: all, content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: integer}}}}}}}}
    post:
      responses: {'201': {description: made, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /health:
    get: {responses: {'200': {description: ok}}}
"#;

    fn tours(failing: Option<&[&str]>) -> Vec<String> {
        let api = read(DOCUMENT, "harbor.yaml", &NoLoader).expect("a good document");
        let resources = Resources::of(&api);
        let wanted = PerOperation::new(&api, |operation| {
            let name = api.operation(operation).name();
            failing.is_none_or(|failing| failing.contains(&name.as_str()))
        });
        let name = |operation: &usize| api.operations[*operation].name();
        plan(&api, &resources, &wanted)
            .iter()
            .map(|tour| tour.iter().map(name).collect::<Vec<_>>().join(", "))
            .collect()
    }

    #[test]
    fn each_operation_is_called_once_and_what_deletes_comes_last() {
        insta::assert_snapshot!(tours(None).join("\n"), @"
        GET /health
        POST /boats, GET /boats/{id}, POST /boats/{id}/sails, GET /boats/{id}/sails/{sailId}, DELETE /boats/{id}
        GET /boats
        ");
    }

    #[test]
    fn every_operation_is_called_by_nobody_after_the_first_pass() {
        let api = read(DOCUMENT, "harbor.yaml", &NoLoader).expect("a good document");
        let resources = Resources::of(&api);
        let mut first_pass = FirstPass::new(&api, &resources, |_| false);
        assert_eq!(first_pass.next_anonymous(), None, "not in the first pass");
        while !first_pass.is_over() {
            first_pass.next(&api, &resources, |_| Some(1));
        }
        let anonymous = std::iter::from_fn(|| first_pass.next_anonymous());
        assert_eq!(anonymous.count(), api.operations.len());
        assert_eq!(first_pass.next_negative(), None, "a tour is due");
        let toured = first_pass.next(&api, &resources, |_| None);
        assert_eq!(toured.map(|tour| tour.len()), Some(1));
        let (_, calls) = first_pass.next_negative().expect("as many calls");
        assert_eq!(calls.first(), Some(&NegativeCall::InvalidParameter));
        assert_eq!(first_pass.next_negative(), None, "the next tour is due");
    }

    #[test]
    fn what_deletes_is_prepared_for_each_call() {
        let api = read(DOCUMENT, "harbor.yaml", &NoLoader).expect("a good document");
        let first_pass = FirstPass::new(&api, &Resources::of(&api), |_| false);
        let most = |method: &str| {
            let negative = first_pass.negative.iter();
            let calls = negative.filter(|(at, _)| &*api.operations[*at].method == method);
            calls.map(|(_, calls)| calls.len()).max()
        };
        assert_eq!((most("DELETE"), most("POST")), (Some(1), Some(5)));
    }

    #[test]
    fn operations_that_failed_are_toured_again_with_their_producers() {
        insta::assert_snapshot!(tours(Some(&["GET /boats/{id}/sails/{sailId}"])).join("\n"), @"POST /boats, POST /boats/{id}/sails, GET /boats/{id}/sails/{sailId}");
    }
}
