//! Runs candidates against the live service.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use isobath_exec::DatabaseError;
use isobath_exec::http::{
    BodyCompleteness, Call, CallFailure, CallOutcome, Client, Method, Request,
};
use isobath_genes::{Reference, Resolver};
use serde_json::Value;

use crate::action::broken_body;
use crate::candidate::{Candidate, Step, StepKind};
use crate::exchange::Exchange;
use crate::external::Mocks;
use crate::feedback::{CandidateTrace, Feedback};
use crate::first_look::FirstLooks;
use crate::login_guard::LoginGuard;
use crate::openapi::Api;
use crate::redact;
use crate::seeding::{LiveDatabase, SeededRows};
use crate::session::{Credentials, LoginError, Session};
use crate::supervisor::{CrashOutcome, Supervisor};
use crate::unique::UniqueTexts;

/// Request that resets the service.
#[derive(Clone, Debug)]
pub struct ResetCall {
    /// The request; a status below 400 means that it is done.
    pub request: Request,
}

/// The service is lost.
#[derive(Debug, thiserror::Error)]
#[error("the service at {url} is unreachable: {why}")]
pub struct ServiceLost {
    /// Where it was.
    pub url: String,
    /// What the last attempt met.
    pub why: String,
}

/// The service under test, shared by all callers of a run.
#[derive(Debug)]
pub struct Service {
    /// The API.
    pub api: Arc<Api>,
    /// Where it is, without a slash at the end.
    pub base: String,
    /// The users logged in at the start.
    pub sessions: Vec<Session>,
    /// Resets the service before each candidate.
    pub reset: Option<ResetCall>,
    /// Restarts the service after a crash.
    pub supervisor: Supervisor,
    /// White-box feedback; none for a black box.
    pub feedback: Option<Mutex<Box<dyn Feedback>>>,
    /// Its test database, if given.
    pub database: Option<Mutex<LiveDatabase>>,
    /// Mocks of the external services that it calls.
    pub mocks: Option<Mutex<Mocks>>,
    /// What it returned first, where nothing resets it.
    pub first_looks: FirstLooks,
}

impl Service {
    /// Whether it starts from the same state before each candidate.
    #[must_use]
    pub fn is_reset(&self) -> bool {
        self.reset.is_some() || self.database.is_some()
    }

    /// Calls `ask` with the driver feedback, if there is any.
    pub fn with_driver<R>(&self, ask: impl FnOnce(&mut dyn Feedback) -> R) -> Option<R> {
        let feedback = self.feedback.as_ref()?;
        let mut feedback = feedback.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut **feedback))
    }

    /// Calls `ask` with the test database, if there is one.
    pub fn with_database<R>(&self, ask: impl FnOnce(&mut LiveDatabase) -> R) -> Option<R> {
        let database = self.database.as_ref()?;
        let mut database = database.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut database))
    }

    /// Calls `ask` with the mocks, if there are any.
    pub fn with_mocks<R>(&self, ask: impl FnOnce(&mut Mocks) -> R) -> Option<R> {
        let mocks = self.mocks.as_ref()?;
        let mut mocks = mocks.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut mocks))
    }
}

/// How often a reset that is refused is tried.
const RESETS: usize = 3;

/// Runs candidates, one after the other, over connections of its own.
#[derive(Debug)]
pub struct Caller {
    service: Arc<Service>,
    client: Client,
    /// The users, logged in since the last restart.
    sessions: Arc<[Session]>,
    restarts: u64,
    /// The operation that was called last.
    last: Option<usize>,
    /// How often operations were answered, by status.
    answered: BTreeMap<(usize, u16), u64>,
    /// Operations that return 401 even after a new login.
    rejects_new_logins: BTreeSet<Option<usize>>,
    /// Operations that refuse calls with the cookies of a session as they do without.
    refused_with_cookies: BTreeSet<Option<usize>>,
    /// The texts that each run replaces by new ones.
    unique_texts: UniqueTexts,
    /// Puts back what users log in with.
    login_guard: LoginGuard,
    /// The step before which it waits, and how long.
    pause: Option<(u32, Duration)>,
}

/// State of the service after a call.
enum Liveness {
    /// It responds.
    Alive,
    /// It does not accept connections, or does not respond.
    Dead(String),
    /// It responds, but was restarted by another caller meanwhile.
    Restarted,
    /// The run was interrupted.
    Interrupted,
}

impl Caller {
    /// A caller with a client.
    #[must_use]
    pub fn new(service: Arc<Service>, client: Client) -> Self {
        let sessions = service.supervisor.sessions();
        let restarts = service.supervisor.restarts();
        Self {
            service,
            client,
            sessions,
            restarts,
            last: None,
            answered: BTreeMap::new(),
            rejects_new_logins: BTreeSet::new(),
            refused_with_cookies: BTreeSet::new(),
            unique_texts: UniqueTexts::default(),
            login_guard: LoginGuard::default(),
            pause: None,
        }
    }

    /// The same caller, whose unique texts differ from those of other seeds.
    pub(crate) fn with_seed(mut self, seed: u64) -> Self {
        self.unique_texts = UniqueTexts::new(seed);
        self
    }

    /// Waits before a step of the candidates that are run next, or before none.
    pub(crate) fn pause_before(&mut self, step: Option<u32>, time: Duration) {
        self.pause = step.map(|step| (step, time));
    }

    /// The texts that each run replaces by new ones.
    pub(crate) fn unique_texts(&mut self) -> &mut UniqueTexts {
        &mut self.unique_texts
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
    /// When the service is unreachable.
    pub fn run(&mut self, candidate: &Candidate) -> Result<Vec<Exchange>, ServiceLost> {
        let refreshed = self.unique_texts.refresh(candidate);
        let candidate = refreshed.as_ref().map_or(candidate, |(fresh, _)| fresh);
        let mut exchanges = self.run_as_it_is(candidate)?;
        if let Some((_, texts)) = &refreshed {
            let texts = Arc::clone(texts);
            (exchanges.iter_mut()).for_each(|exchange| exchange.unique_texts = Arc::clone(&texts));
        }
        if !self.service.is_reset() {
            let looks = &self.service.first_looks;
            exchanges.iter().for_each(|exchange| looks.note(exchange));
            let (client, base) = (&mut self.client, &self.service.base);
            let guard = &mut self.login_guard;
            if !guard.check(client, base, &self.sessions, &mut exchanges) {
                // What cannot be put back is gone with a restart, where the service was started here.
                let _ = self.service.supervisor.restart_fresh();
            }
        }
        Ok(exchanges)
    }

    fn run_as_it_is(&mut self, candidate: &Candidate) -> Result<Vec<Exchange>, ServiceLost> {
        loop {
            if let Some(why) = self.service.supervisor.lost_reason() {
                return Err(self.lost(why));
            }
            self.catch_up();
            if !self.reset()? {
                continue;
            }
            let seeded = self.seed_rows(candidate)?;
            self.accept_writes()?;
            self.service
                .with_driver(|feedback| feedback.begin(candidate.texts()));
            self.service.with_mocks(|mocks| mocks.begin(candidate));
            let attempt = self.make_calls(candidate, seeded.as_ref());
            let seen: Option<CandidateTrace> = self.service.with_driver(|feedback| feedback.end());
            match attempt? {
                Some(mut exchanges) => {
                    if let Some(seen) = seen {
                        seen.attach_to(&mut exchanges);
                    }
                    self.service
                        .with_mocks(|mocks| mocks.end(candidate, &mut exchanges));
                    self.finish_database(&mut exchanges, seeded)?;
                    return Ok(exchanges);
                }
                None => {
                    self.service.with_database(LiveDatabase::distrust_tables);
                }
            }
        }
    }

    /// Resets the database, and inserts the rows of a candidate.
    fn seed_rows(&self, candidate: &Candidate) -> Result<Option<SeededRows>, ServiceLost> {
        let seeded = self
            .service
            .with_database(|database| database.begin(candidate));
        seeded
            .transpose()
            .map_err(|error| self.database_lost(&error))
    }

    /// Evaluates the statements of each call.
    fn finish_database(
        &self,
        exchanges: &mut [Exchange],
        seeded: Option<SeededRows>,
    ) -> Result<(), ServiceLost> {
        let looked = self
            .service
            .with_database(|database| database.end(exchanges, seeded.unwrap_or_default()));
        looked
            .unwrap_or(Ok(()))
            .map_err(|error| self.database_lost(&error))
    }

    fn database_lost(&self, error: &DatabaseError) -> ServiceLost {
        self.lost(format!("cannot use its database: {error}"))
    }

    /// Makes the calls; `None` if the service had crashed before and was restarted.
    fn make_calls(
        &mut self,
        candidate: &Candidate,
        seeded: Option<&SeededRows>,
    ) -> Result<Option<Vec<Exchange>>, ServiceLost> {
        let mut exchanges: Vec<Exchange> = Vec::with_capacity(candidate.steps.len());
        for step in &candidate.steps {
            if let Some((_, time)) = self.pause.filter(|(before, _)| *before == step.id) {
                std::thread::sleep(time);
            }
            let session = step.user.and_then(|user| self.sessions.get(user));
            let session = session.cloned();
            let credentials = session.as_ref().map(Session::credentials);
            let resolver = ResponseResolver::new(&exchanges, seeded);
            let Some((mut request, mut sent)) =
                self.request(step, credentials.as_deref(), &resolver)
            else {
                continue;
            };
            let number = u16::try_from(exchanges.len()).unwrap_or(u16::MAX);
            self.service.with_driver(|feedback| feedback.call(number));
            self.service.with_mocks(|mocks| mocks.call(number));
            let since = self.service.supervisor.mark();
            let mut call = whole(self.client.call(&request));
            let mut reauthenticated = false;
            if call.status() == Some(401)
                && let (Some(session), Some(stale)) = (&session, &credentials)
                && self.log_in_again(session, stale, step.operation())
                && self.accept_writes().is_ok()
                && let Some(again) = self.request(step, Some(&session.credentials()), &resolver)
            {
                (request, sent) = again;
                reauthenticated = exchanges.iter().any(|earlier| earlier.user == step.user);
                call = whole(self.client.call(&request));
                if call.status() == Some(401) {
                    self.rejects_new_logins.insert(step.operation());
                }
            }
            if matches!(call.status(), Some(401 | 403))
                && !self.refused_with_cookies.contains(&step.operation())
                && let Some(session) = &session
                && session.drop_cookies()
                && self.accept_writes().is_ok()
                && let Some(again) = self.request(step, Some(&session.credentials()), &resolver)
            {
                // Cookies only save time: what is refused with them must be refused without them.
                let refused = call.status();
                (request, sent) = again;
                call = whole(self.client.call(&request));
                if call.status() == refused {
                    self.refused_with_cookies.insert(step.operation());
                } else {
                    session.ignore_cookies();
                }
            }
            let output = self.service.supervisor.output_since(since);
            let liveness = self.liveness(&call);
            let was_made = !matches!(
                call.failure(),
                Some(CallFailure::Refused | CallFailure::Unreachable(_) | CallFailure::Tls(_))
            );
            let operation = step.operation();
            match liveness {
                Liveness::Interrupted => break,
                Liveness::Restarted => return Ok(None),
                Liveness::Dead(_) if !was_made => {}
                Liveness::Dead(_) | Liveness::Alive => {
                    if matches!(liveness, Liveness::Alive) {
                        self.last = operation;
                    }
                    let mut exchange =
                        Exchange::new(step.id, operation, step.user, request, call).with_sent(sent);
                    exchange.reauthenticated = reauthenticated;
                    exchange.credentials = session.as_ref().map(Session::credentials);
                    if let (Some(session), Some(response)) = (&session, exchange.response()) {
                        session.keep_cookies(response);
                    }
                    if !output.is_empty() {
                        let output = redact::request_secrets(&output, &exchange.request);
                        exchange.service_output = exchange.redacted(output);
                    }
                    if let (Some(operation), Some(status)) = (operation, exchange.status()) {
                        *self.answered.entry((operation, status)).or_default() += 1;
                    }
                    if matches!(liveness, Liveness::Alive) {
                        self.observe(&mut exchange)?;
                    }
                    exchanges.push(exchange);
                }
            }
            let Liveness::Dead(why) = liveness else {
                continue;
            };
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
            let outcome =
                self.service
                    .supervisor
                    .handle_crash(self.restarts, operation, is_shown, &why);
            match outcome {
                // Somebody else's call may have done it.
                CrashOutcome::Restarted(None) => return Ok(None),
                CrashOutcome::Restarted(Some(_)) if exchanges.is_empty() => return Ok(None),
                CrashOutcome::Restarted(Some(exit_reason)) if !is_silent => {
                    mark_fatal(&mut exchanges, exit_reason)
                }
                CrashOutcome::Restarted(Some(_)) => {}
                CrashOutcome::Lost(why) if exchanges.is_empty() => return Err(self.lost(why)),
                CrashOutcome::Lost(why) if !is_silent => mark_fatal(&mut exchanges, why),
                CrashOutcome::Lost(_) => {}
            }
            break;
        }
        Ok(Some(exchanges))
    }

    /// Looks at what a call did to the rows.
    fn observe(&self, exchange: &mut Exchange) -> Result<(), ServiceLost> {
        let service = &self.service;
        let observed = service
            .with_database(|database| database.observe(&service.api, &service.base, exchange));
        observed
            .unwrap_or(Ok(()))
            .map_err(|error| self.database_lost(&error))
    }

    /// Takes what was written until now as given, so that no call is blamed for it.
    fn accept_writes(&self) -> Result<(), ServiceLost> {
        let settled = self.service.with_database(LiveDatabase::accept_writes);
        settled
            .unwrap_or(Ok(()))
            .map_err(|error| self.database_lost(&error))
    }

    /// Logs a user in again whose call was refused as if it came from nobody. Operations that say so even to
    /// those who have just logged in are not believed again.
    fn log_in_again(
        &mut self,
        session: &Session,
        stale: &Credentials,
        operation: Option<usize>,
    ) -> bool {
        session.can_expire()
            && !self.rejects_new_logins.contains(&operation)
            && session
                .renew(&mut self.client, &self.service.base, stale)
                .is_ok()
    }

    /// Replaces the users created for this run by new ones, so that their resources can be distinguished.
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

    /// Takes over the sessions after a restart by another caller.
    fn catch_up(&mut self) {
        let restarts = self.service.supervisor.restarts();
        if restarts != self.restarts {
            self.restarts = restarts;
            self.sessions = self.service.supervisor.sessions();
        }
    }

    fn lost(&self, why: String) -> ServiceLost {
        ServiceLost {
            url: self.service.base.clone(),
            why,
        }
    }

    /// Resets the service; false if it had to be restarted instead.
    fn reset(&mut self) -> Result<bool, ServiceLost> {
        let service = Arc::clone(&self.service);
        let Some(reset) = &service.reset else {
            return Ok(true);
        };
        let mut call = self.client.call(&reset.request);
        for _ in 1..RESETS {
            match self.liveness(&call) {
                Liveness::Interrupted => return Ok(true),
                Liveness::Dead(why) => {
                    return match service.supervisor.handle_crash(
                        self.restarts,
                        self.last,
                        false,
                        &why,
                    ) {
                        CrashOutcome::Restarted(_) => Ok(false),
                        CrashOutcome::Lost(why) => Err(self.lost(why)),
                    };
                }
                Liveness::Restarted => return Ok(false),
                Liveness::Alive => {}
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

    /// Whether the service is alive, judged by a call.
    fn liveness(&mut self, call: &Call) -> Liveness {
        let supervisor = &self.service.supervisor;
        match call.failure() {
            None => {
                supervisor.record_response(true);
                Liveness::Alive
            }
            Some(CallFailure::Interrupted) => Liveness::Interrupted,
            Some(
                failure
                @ (CallFailure::Refused | CallFailure::Unreachable(_) | CallFailure::Tls(_)),
            ) => Liveness::Dead(failure.to_string()),
            // A connection that was closed may mean that one request failed, or that everything did.
            Some(CallFailure::Dropped) => {
                let question = self.client.call(&Request::get(&self.service.base));
                let dead =
                    || Liveness::Dead("the connection was closed and the next one refused".into());
                match question.failure() {
                    Some(CallFailure::Refused) => dead(),
                    Some(CallFailure::Interrupted) => Liveness::Interrupted,
                    // A listener that is about to close may still take a connection, but not another one.
                    Some(CallFailure::Dropped)
                        if self.client.open_connection(&self.service.base)
                            == Err(CallFailure::Refused) =>
                    {
                        dead()
                    }
                    _ if supervisor.settled_restarts() != self.restarts => Liveness::Restarted,
                    _ => Liveness::Alive,
                }
            }
            Some(CallFailure::TimedOut) if supervisor.record_response(false) => {
                let question = whole(self.client.call(&Request::get(&self.service.base)));
                match question.failure() {
                    Some(CallFailure::TimedOut | CallFailure::Refused) => {
                        Liveness::Dead("it stopped responding".into())
                    }
                    Some(CallFailure::Interrupted) => Liveness::Interrupted,
                    _ => {
                        supervisor.record_response(true);
                        Liveness::Alive
                    }
                }
            }
            Some(_) => Liveness::Alive,
        }
    }

    /// The request of a step, and the input that it is made of; `None` when it is to follow a Location that did
    /// not come.
    fn request(
        &self,
        step: &Step,
        credentials: Option<&Credentials>,
        resolver: &ResponseResolver<'_>,
    ) -> Option<(Request, Option<Value>)> {
        let service = &self.service;
        let (mut request, input) = match &step.kind {
            StepKind::Call { action, breach } => {
                let mut written = action.request(&service.api, resolver);
                let operation = service.api.operation(action.operation);
                let broken = breach.as_ref();
                if let Some(body) = broken.and_then(|breach| broken_body(breach.rule, operation)) {
                    written.body = Some(body);
                }
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
            StepKind::Follow(source) => {
                let location = resolver
                    .exchanges
                    .iter()
                    .find(|exchange| exchange.step == *source)?
                    .location()?;
                (Request::get(absolute(&service.base, location)?), None)
            }
        };
        if let Some(credentials) = credentials {
            credentials.apply(&mut request);
        }
        Some((request, input))
    }
}

/// A call as it counts for us: half a response is none.
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
fn mark_fatal(exchanges: &mut [Exchange], exit_reason: String) {
    if let Some(last) = exchanges.last_mut() {
        let exit_reason = redact::request_secrets(&exit_reason, &last.request);
        last.fatal = Some(last.redacted(exit_reason));
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

/// The rows and the responses so far, for values that refer to them.
pub(crate) struct ResponseResolver<'a> {
    exchanges: &'a [Exchange],
    seeded: Option<&'a SeededRows>,
}

impl<'a> ResponseResolver<'a> {
    pub(crate) fn new(exchanges: &'a [Exchange], seeded: Option<&'a SeededRows>) -> Self {
        Self { exchanges, seeded }
    }
}

impl Resolver for ResponseResolver<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        if let Some(seeded) = self.seeded
            && let Some(value) = seeded.value(reference.source, &reference.place)
        {
            return Some(value);
        }
        self.exchanges
            .iter()
            .find(|exchange| exchange.step == reference.source)?
            .value(&reference.place)
    }
}
