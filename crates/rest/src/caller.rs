//! Runs candidates against the live service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use isobath_exec::DatabaseError;
use isobath_exec::http::{
    BodyCompleteness, Call, CallFailure, CallOutcome, Client, Method, Request,
};
use isobath_genes::{Reference, Resolver};
use serde_json::Value;

use crate::candidate::{Candidate, Step, What};
use crate::data::{Data, Planted};
use crate::exchange::Exchange;
use crate::feedback::{Feedback, Seen};
use crate::keeper::{Fate, Keeper};
use crate::openapi::Api;
use crate::outside::Outbound;
use crate::said;
use crate::session::{LoginError, Proof, Session};

/// Brings the service back to its first state.
#[derive(Clone, Debug)]
pub struct ResetCall {
    /// The request; a status below 400 means that it is done.
    pub request: Request,
}

/// The service cannot be reached any more.
#[derive(Debug, thiserror::Error)]
#[error("the service at {url} is gone: {why}")]
pub struct Lost {
    /// Where it was.
    pub url: String,
    /// What the last attempt met.
    pub why: String,
}

/// What all callers of a run share.
#[derive(Debug)]
pub struct Service {
    /// The API.
    pub api: Arc<Api>,
    /// Where it is, without a slash at the end.
    pub base: String,
    /// The users who are logged in, as they were first.
    pub sessions: Vec<Session>,
    /// What brings the first state back before each candidate.
    pub reset: Option<ResetCall>,
    /// Who watches over its life.
    pub keeper: Keeper,
    /// What looks into the service; nothing when it is a black box.
    pub feedback: Option<Mutex<Box<dyn Feedback>>>,
    /// Its database, where that is known and ours to change.
    pub data: Option<Mutex<Data>>,
    /// The services that it calls, where somebody stands for them.
    pub outside: Option<Mutex<Outbound>>,
}

impl Service {
    /// Asks whoever looks into the service.
    pub fn inside<R>(&self, ask: impl FnOnce(&mut dyn Feedback) -> R) -> Option<R> {
        let feedback = self.feedback.as_ref()?;
        let mut feedback = feedback.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut **feedback))
    }

    /// Asks the database.
    pub fn beneath<R>(&self, ask: impl FnOnce(&mut Data) -> R) -> Option<R> {
        let data = self.data.as_ref()?;
        let mut data = data.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut data))
    }

    /// Asks whoever stands for the services that it calls.
    pub fn outwards<R>(&self, ask: impl FnOnce(&mut Outbound) -> R) -> Option<R> {
        let outside = self.outside.as_ref()?;
        let mut outside = outside.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut outside))
    }
}

/// How often a reset that is refused is tried.
const RESETS: usize = 3;

/// Runs candidates, one after the other, over connections of its own.
#[derive(Debug)]
pub struct Caller {
    service: Arc<Service>,
    client: Client,
    /// The users as they are in this life of the service.
    sessions: Arc<[Session]>,
    life: u64,
    /// The operation that was called last.
    last: Option<usize>,
    /// How often operations were answered, by status.
    answered: BTreeMap<(usize, u16), u64>,
    /// Operations that refuse users who have just logged in with a 401.
    unmoved: BTreeSet<Option<usize>>,
}

/// How a call left the service.
enum Pulse {
    /// It lives.
    Alive,
    /// It does not: nobody is there, or nothing is answered.
    Dead(String),
    /// It does, but died meanwhile and was brought back by another caller.
    Reborn,
    /// We were told to stop.
    Interrupted,
}

impl Caller {
    /// A caller with a client.
    #[must_use]
    pub fn new(service: Arc<Service>, client: Client) -> Self {
        let sessions = service.keeper.sessions();
        let life = service.keeper.life();
        Self {
            service,
            client,
            sessions,
            life,
            last: None,
            answered: BTreeMap::new(),
            unmoved: BTreeSet::new(),
        }
    }

    /// How often each operation was answered with each status.
    #[must_use]
    pub fn answered(&self) -> &BTreeMap<(usize, u16), u64> {
        &self.answered
    }

    /// What is called.
    #[must_use]
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// Makes the calls of a candidate; a step that fails does not keep the others from being tried.
    ///
    /// A call that brings the service down is the last one, and says so in [`Exchange::fatal`]. Where it is
    /// gone for good, that is told by the next run: what was seen until then is worth keeping.
    ///
    /// # Errors
    ///
    /// When the service is gone.
    pub fn run(&mut self, candidate: &Candidate) -> Result<Vec<Exchange>, Lost> {
        loop {
            if let Some(why) = self.service.keeper.gone() {
                return Err(self.lost(why));
            }
            self.catch_up();
            if !self.reset()? {
                continue;
            }
            let planted = self.plant(candidate)?;
            self.settle()?;
            self.service
                .inside(|feedback| feedback.begin(candidate.texts()));
            self.service.outwards(|outside| outside.begin(candidate));
            let attempt = self.attempt(candidate, planted.as_ref());
            let seen: Option<Seen> = self.service.inside(|feedback| feedback.end());
            match attempt? {
                Some(mut exchanges) => {
                    if let Some(seen) = seen {
                        seen.give_to(&mut exchanges);
                    }
                    self.service
                        .outwards(|outside| outside.end(candidate, &mut exchanges));
                    self.look_beneath(&mut exchanges, planted)?;
                    return Ok(exchanges);
                }
                None => {
                    self.service.beneath(Data::distrust);
                }
            }
        }
    }

    /// Brings the first rows of the database back, and inserts those of a candidate.
    fn plant(&self, candidate: &Candidate) -> Result<Option<Planted>, Lost> {
        let planted = self.service.beneath(|data| data.begin(candidate));
        planted.transpose().map_err(|error| self.lost_data(&error))
    }

    /// Says of the statements of each call what they looked for.
    fn look_beneath(
        &self,
        exchanges: &mut [Exchange],
        planted: Option<Planted>,
    ) -> Result<(), Lost> {
        let looked = self
            .service
            .beneath(|data| data.end(exchanges, planted.unwrap_or_default()));
        looked
            .unwrap_or(Ok(()))
            .map_err(|error| self.lost_data(&error))
    }

    fn lost_data(&self, error: &DatabaseError) -> Lost {
        self.lost(format!("its database cannot be used: {error}"))
    }

    /// Makes the calls; `None` when the service was found dead by no fault of theirs, and is back.
    fn attempt(
        &mut self,
        candidate: &Candidate,
        planted: Option<&Planted>,
    ) -> Result<Option<Vec<Exchange>>, Lost> {
        let mut exchanges: Vec<Exchange> = Vec::with_capacity(candidate.steps.len());
        for step in &candidate.steps {
            let session = step.user.and_then(|user| self.sessions.get(user));
            let session = session.cloned();
            let proof = session.as_ref().map(Session::proof);
            let answers = Answers::new(&exchanges, planted);
            let Some((mut request, mut sent)) = self.request(step, proof.as_deref(), &answers)
            else {
                continue;
            };
            let number = u16::try_from(exchanges.len()).unwrap_or(u16::MAX);
            self.service.inside(|feedback| feedback.call(number));
            self.service.outwards(|outside| outside.call(number));
            let since = self.service.keeper.mark();
            let mut call = whole(self.client.call(&request));
            let mut is_renewed = false;
            if call.status() == Some(401)
                && let (Some(session), Some(stale)) = (&session, &proof)
                && self.log_in_again(session, stale, step.operation())
                && self.settle().is_ok()
                && let Some(again) = self.request(step, Some(&session.proof()), &answers)
            {
                (request, sent) = again;
                is_renewed = exchanges.iter().any(|earlier| earlier.user == step.user);
                call = whole(self.client.call(&request));
                if call.status() == Some(401) {
                    self.unmoved.insert(step.operation());
                }
            }
            let said = self.service.keeper.said(since);
            let pulse = self.pulse(&call);
            let was_made = !matches!(
                call.failure(),
                Some(CallFailure::Refused | CallFailure::Unreachable(_) | CallFailure::Tls(_))
            );
            let operation = step.operation();
            match pulse {
                Pulse::Interrupted => break,
                Pulse::Reborn => return Ok(None),
                Pulse::Dead(_) if !was_made => {}
                Pulse::Dead(_) | Pulse::Alive => {
                    if matches!(pulse, Pulse::Alive) {
                        self.last = operation;
                    }
                    let mut exchange =
                        Exchange::new(step.id, operation, step.user, request, call).with_sent(sent);
                    exchange.is_renewed = is_renewed;
                    exchange.proof = session.as_ref().map(Session::proof);
                    if !said.is_empty() {
                        let said = said::masked(&said, &exchange.request);
                        exchange.said = exchange.masked(said);
                    }
                    if let (Some(operation), Some(status)) = (operation, exchange.status()) {
                        *self.answered.entry((operation, status)).or_default() += 1;
                    }
                    if matches!(pulse, Pulse::Alive) {
                        self.observe(&mut exchange)?;
                    }
                    exchanges.push(exchange);
                }
            }
            let Pulse::Dead(why) = pulse else { continue };
            // A call that was not answered before all went silent is to blame; else the one before.
            let is_silent = matches!(
                exchanges.last().and_then(Exchange::failure),
                Some(CallFailure::TimedOut)
            );
            let operation = exchanges
                .last()
                .map_or(self.last, |exchange| exchange.operation);
            // That calls are not answered in time is a finding of its own.
            let is_shown = !exchanges.is_empty() || is_silent;
            let fate = self
                .service
                .keeper
                .found_dead(self.life, operation, is_shown, &why);
            match fate {
                // Somebody else's call may have done it.
                Fate::Back(None) => return Ok(None),
                Fate::Back(Some(_)) if exchanges.is_empty() => return Ok(None),
                Fate::Back(Some(obituary)) if !is_silent => mark(&mut exchanges, obituary),
                Fate::Back(Some(_)) => {}
                Fate::Gone(why) if exchanges.is_empty() => return Err(self.lost(why)),
                Fate::Gone(why) if !is_silent => mark(&mut exchanges, why),
                Fate::Gone(_) => {}
            }
            break;
        }
        Ok(Some(exchanges))
    }

    /// Looks at what a call did to the rows.
    fn observe(&self, exchange: &mut Exchange) -> Result<(), Lost> {
        let service = &self.service;
        let observed = service.beneath(|data| data.observe(&service.api, &service.base, exchange));
        observed
            .unwrap_or(Ok(()))
            .map_err(|error| self.lost_data(&error))
    }

    /// Takes what was written until now as given, so that no call is blamed for it.
    fn settle(&self) -> Result<(), Lost> {
        let settled = self.service.beneath(Data::settle);
        settled
            .unwrap_or(Ok(()))
            .map_err(|error| self.lost_data(&error))
    }

    /// Logs a user in again whose call was refused as if it came from nobody. Operations that say so even to
    /// those who have just logged in are not believed again.
    fn log_in_again(&mut self, session: &Session, stale: &Proof, operation: Option<usize>) -> bool {
        session.can_expire()
            && !self.unmoved.contains(&operation)
            && session
                .renew(&mut self.client, &self.service.base, stale)
                .is_ok()
    }

    /// Makes users who were created for this run into others, so that what is theirs alone can be told.
    ///
    /// # Errors
    ///
    /// When the service refuses to create more.
    pub fn replace_users(&mut self) -> Result<(), LoginError> {
        let sessions = Arc::clone(&self.sessions);
        sessions
            .iter()
            .try_for_each(|session| session.replace(&mut self.client, &self.service.base))
    }

    /// Takes over what changed when the service was brought back by another caller.
    fn catch_up(&mut self) {
        let life = self.service.keeper.life();
        if life != self.life {
            self.life = life;
            self.sessions = self.service.keeper.sessions();
        }
    }

    fn lost(&self, why: String) -> Lost {
        Lost {
            url: self.service.base.clone(),
            why,
        }
    }

    /// Brings the first state back; says whether it did, and not the dead service instead.
    fn reset(&mut self) -> Result<bool, Lost> {
        let service = Arc::clone(&self.service);
        let Some(reset) = &service.reset else {
            return Ok(true);
        };
        let mut call = self.client.call(&reset.request);
        for _ in 1..RESETS {
            match self.pulse(&call) {
                Pulse::Interrupted => return Ok(true),
                Pulse::Dead(why) => {
                    return match service.keeper.found_dead(self.life, self.last, false, &why) {
                        Fate::Back(_) => Ok(false),
                        Fate::Gone(why) => Err(self.lost(why)),
                    };
                }
                Pulse::Reborn => return Ok(false),
                Pulse::Alive => {}
            }
            if call.status().is_some_and(|status| status < 400) {
                return Ok(true);
            }
            call = self.client.call(&reset.request);
        }
        match call.status() {
            Some(status) if status < 400 => Ok(true),
            _ => Err(self.lost(format!("the reset failed: {}", describe(&call)))),
        }
    }

    /// Whether the service lives, as far as a call shows.
    fn pulse(&mut self, call: &Call) -> Pulse {
        let keeper = &self.service.keeper;
        match call.failure() {
            None => {
                keeper.heard(true);
                Pulse::Alive
            }
            Some(CallFailure::Interrupted) => Pulse::Interrupted,
            Some(
                failure
                @ (CallFailure::Refused | CallFailure::Unreachable(_) | CallFailure::Tls(_)),
            ) => Pulse::Dead(failure.to_string()),
            // A connection that was closed may mean that one request failed, or that everything did.
            Some(CallFailure::Dropped) => {
                let question = self.client.call(&Request::get(&self.service.base));
                let dead =
                    || Pulse::Dead("the connection was closed, and the next one refused".into());
                match question.failure() {
                    Some(CallFailure::Refused) => dead(),
                    Some(CallFailure::Interrupted) => Pulse::Interrupted,
                    // A listener that is about to close may still take a connection, but not another one.
                    Some(CallFailure::Dropped)
                        if self.client.open_connection(&self.service.base)
                            == Err(CallFailure::Refused) =>
                    {
                        dead()
                    }
                    _ if keeper.settled_life() != self.life => Pulse::Reborn,
                    _ => Pulse::Alive,
                }
            }
            Some(CallFailure::TimedOut) if keeper.heard(false) => {
                let question = whole(self.client.call(&Request::get(&self.service.base)));
                match question.failure() {
                    Some(CallFailure::TimedOut | CallFailure::Refused) => {
                        Pulse::Dead("it does not answer any more".into())
                    }
                    Some(CallFailure::Interrupted) => Pulse::Interrupted,
                    _ => {
                        keeper.heard(true);
                        Pulse::Alive
                    }
                }
            }
            Some(_) => Pulse::Alive,
        }
    }

    /// The request of a step, and the input that it is made of; `None` when it is to follow a Location that did
    /// not come.
    fn request(
        &self,
        step: &Step,
        proof: Option<&Proof>,
        answers: &Answers<'_>,
    ) -> Option<(Request, Option<Value>)> {
        let service = &self.service;
        let (mut request, input) = match &step.what {
            What::Call { action, .. } => {
                let written = action.request(&service.api, answers);
                let method = Method::from_bytes(written.method.as_bytes()).ok()?;
                let mut request =
                    Request::new(method, format!("{}{}", service.base, written.target()));
                request.headers = written
                    .headers
                    .into_iter()
                    .map(|(name, value)| (name.to_string(), value))
                    .collect();
                if let Some(body) = written.body {
                    request = request
                        .header("Content-Type", body.content_type)
                        .body(body.bytes);
                }
                (request, written.input)
            }
            What::Follow(source) => {
                let location = answers
                    .exchanges
                    .iter()
                    .find(|exchange| exchange.step == *source)?
                    .location()?;
                (Request::get(absolute(&service.base, location)?), None)
            }
        };
        if let Some(proof) = proof {
            proof.apply(&mut request);
        }
        Some((request, input))
    }
}

/// A call as it counts for us: half an answer is none.
fn whole(mut call: Call) -> Call {
    let failure = match call.response().map(|response| response.completeness) {
        Some(BodyCompleteness::Dropped) => CallFailure::Dropped,
        Some(BodyCompleteness::TimedOut) => CallFailure::TimedOut,
        _ => return call,
    };
    call.outcome = CallOutcome::Failed(failure);
    call
}

/// Blames the call that was made last for the end of the service.
fn mark(exchanges: &mut [Exchange], obituary: String) {
    if let Some(last) = exchanges.last_mut() {
        let obituary = said::masked(&obituary, &last.request);
        last.fatal = Some(last.masked(obituary));
    }
}

/// A Location as a whole URL. One that starts with a slash is relative to the host.
fn absolute(base: &str, location: &str) -> Option<String> {
    let base = url::Url::parse(&format!("{base}/")).ok()?;
    let target = base.join(location).ok()?;
    // Wherever a service may point to, calls stay with the service.
    (target.origin() == base.origin()).then(|| target.to_string())
}

fn describe(call: &Call) -> String {
    match &call.outcome {
        CallOutcome::Answered(response) => format!("status {}", response.status),
        CallOutcome::Failed(failure) => failure.to_string(),
    }
}

/// The rows and the answers so far, for values that refer to them.
pub(crate) struct Answers<'a> {
    exchanges: &'a [Exchange],
    planted: Option<&'a Planted>,
}

impl<'a> Answers<'a> {
    pub(crate) fn new(exchanges: &'a [Exchange], planted: Option<&'a Planted>) -> Self {
        Self { exchanges, planted }
    }
}

impl Resolver for Answers<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        if let Some(planted) = self.planted
            && let Some(value) = planted.value(reference.source, &reference.place)
        {
            return Some(value);
        }
        self.exchanges
            .iter()
            .find(|exchange| exchange.step == reference.source)?
            .value(&reference.place)
    }
}
