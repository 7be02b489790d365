//! Logged-in users: the credentials they send with each call, and their renewal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use isobath_exec::http::{Client, Method, Request, Response};
use serde_json::Value;

use crate::auth::{AuthCall, Login, LoginCredential, TokenLocation, TokenSource, User};

/// Names that are tried for a user who is to be created: others may have been taken by earlier runs.
const NAMES: u64 = 8;

/// A user who has logged in, and can do so again. Copies are the same user.
#[derive(Clone, Debug)]
pub struct Session {
    user: Arc<User>,
    /// Makes created users differ.
    number: u64,
    credentials: Arc<Mutex<Arc<Credentials>>>,
    /// How long the last log-in took, in microseconds.
    login_time: Arc<AtomicU64>,
}

/// What a user sends with every call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Credentials {
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Query parameters.
    pub query: Vec<(String, String)>,
    /// What stood for the placeholders when the user was created.
    pub filled: BTreeMap<String, String>,
    /// How often the user has logged in again.
    pub renewals: u64,
    /// Whether cookies that the service sets are left out.
    ignores_cookies: bool,
}

/// Shorter values are not looked for in responses: they would be found in every other word.
const SHORTEST: usize = 6;

impl Credentials {
    /// Secret values, longest first.
    #[must_use]
    pub fn secrets(&self) -> Vec<&str> {
        let headers = self.headers.iter().flat_map(|(_, value)| {
            // The scheme is none, nor is the name of a cookie.
            let cookies = value.split(';').filter_map(|pair| pair.split_once('='));
            let cookies = cookies.map(|(_, value)| value.trim());
            let credentials = value.split_once(' ').map(|(_, value)| value);
            std::iter::once(value.as_str())
                .chain(credentials)
                .chain(cookies)
        });
        let query = self.query.iter().map(|(_, value)| value.as_str());
        let mut secrets: Vec<&str> = headers.chain(query).collect();
        secrets.retain(|secret| secret.len() >= SHORTEST);
        secrets.sort_by_key(|secret| (std::cmp::Reverse(secret.len()), *secret));
        secrets.dedup();
        secrets
    }
}

/// Why a user could not log in.
#[derive(Debug, thiserror::Error)]
#[error("user `{user}` cannot log in: {problem}")]
pub struct LoginError {
    /// The user.
    pub user: String,
    /// What happened.
    pub problem: String,
}

impl Session {
    /// Creates the user if configured, and logs in. `number` makes created users distinct.
    ///
    /// # Errors
    ///
    /// When the service refuses, or its response lacks what was to be taken from it.
    pub fn open(
        client: &mut Client,
        base: &str,
        user: &User,
        number: u64,
    ) -> Result<Self, LoginError> {
        let session = Self {
            user: Arc::new(user.clone()),
            number,
            credentials: Arc::default(),
            login_time: Arc::default(),
        };
        let credentials = session.create_and_log_in(client, base, 0)?;
        *session.lock() = Arc::new(credentials);
        Ok(session)
    }

    /// The name of the user.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.user.name
    }

    /// How long the user takes to log in.
    #[must_use]
    pub fn login_time(&self) -> Duration {
        Duration::from_micros(self.login_time.load(Ordering::Relaxed))
    }

    /// What the user sends with every call at present.
    #[must_use]
    pub fn credentials(&self) -> Arc<Credentials> {
        Arc::clone(&self.lock())
    }

    /// Whether the user logs in by a call, so that what it gave may expire.
    #[must_use]
    pub fn can_expire(&self) -> bool {
        self.user.login.is_some()
    }

    /// The names and values that the user logs in with; `None` where that is no call, or where users are created anew.
    pub(crate) fn login_fields(&self) -> Option<Vec<(String, String)>> {
        let login = self.user.login.as_ref()?;
        if self.user.create.is_some() {
            return None;
        }
        let body = login.call.body.as_deref().unwrap_or_default();
        let fields = match serde_json::from_str(body) {
            Ok(Value::Object(members)) => members
                .into_iter()
                .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
                .collect(),
            _ => form_urlencoded::parse(body.as_bytes())
                .into_owned()
                .collect(),
        };
        Some(fields)
    }

    /// Whether the user can log in at present.
    pub(crate) fn can_log_in(&self, client: &mut Client, base: &str) -> bool {
        let (filled, renewals) = {
            let credentials = self.lock();
            (credentials.filled.clone(), credentials.renewals)
        };
        self.log_in(client, base, filled, renewals).is_ok()
    }

    /// Keeps the cookies that a response sets, for a user who proves a password with every call.
    ///
    /// Services hash such a password anew for each call, which takes most of its time, but not within a session.
    pub(crate) fn keep_cookies(&self, response: &Response) {
        if !self.sends_password() || response.header("set-cookie").is_none() {
            return;
        }
        let mut credentials = self.lock();
        if credentials.ignores_cookies {
            return;
        }
        let mut cookies: Vec<(String, String)> = (credentials.kept_cookies())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        for (name, value) in response.all_headers("set-cookie").filter_map(cookie) {
            cookies.retain(|(other, _)| other != name);
            if !value.is_empty() {
                cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        let mut kept = (**credentials).clone();
        kept.set_cookies(&cookies);
        *credentials = Arc::new(kept);
    }

    /// Drops the cookies that were kept; false if there are none.
    pub(crate) fn drop_cookies(&self) -> bool {
        let mut credentials = self.lock();
        if !self.sends_password() || credentials.kept_cookies().next().is_none() {
            return false;
        }
        let mut without = (**credentials).clone();
        without.set_cookies(&[]);
        *credentials = Arc::new(without);
        true
    }

    /// Keeps no cookies from now on: the service treats calls with them differently.
    pub(crate) fn ignore_cookies(&self) {
        let mut credentials = self.lock();
        let mut without = (**credentials).clone();
        without.ignores_cookies = true;
        *credentials = Arc::new(without);
    }

    /// Whether all that the user sends is headers, a password for HTTP's Basic scheme among them, and no cookies.
    fn sends_password(&self) -> bool {
        let headers = &self.user.headers;
        let is_basic = |(name, value): &(String, String)| {
            let scheme = value.split(' ').next().unwrap_or_default();
            name.eq_ignore_ascii_case("authorization") && scheme.eq_ignore_ascii_case("basic")
        };
        self.user.login.is_none()
            && headers.iter().any(is_basic)
            && !headers.iter().any(|(name, _)| is_cookie(name))
    }

    /// Logs in again after `stale` was refused; creates the user again if the service does not know it any more.
    ///
    /// # Errors
    ///
    /// When the service refuses that too.
    pub fn renew(
        &self,
        client: &mut Client,
        base: &str,
        stale: &Credentials,
    ) -> Result<(), LoginError> {
        let mut credentials = self.lock();
        // Somebody else was faster.
        if credentials.renewals != stale.renewals {
            return Ok(());
        }
        let renewals = credentials.renewals + 1;
        let again = match self.log_in(client, base, credentials.filled.clone(), renewals) {
            Err(_) if self.user.create.is_some() => {
                self.create_and_log_in(client, base, renewals)?
            }
            other => other?,
        };
        *credentials = Arc::new(again);
        Ok(())
    }

    /// Becomes another user, where users are created: what differs from now on is the user's own.
    ///
    /// # Errors
    ///
    /// When the service refuses to create one more.
    pub fn replace(&self, client: &mut Client, base: &str) -> Result<(), LoginError> {
        if self.user.create.is_none() {
            return Ok(());
        }
        let mut credentials = self.lock();
        *credentials = Arc::new(self.create_and_log_in(client, base, credentials.renewals + 1)?);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<Credentials>> {
        self.credentials
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, problem: String) -> LoginError {
        LoginError {
            user: self.user.name.clone(),
            problem,
        }
    }

    fn create_and_log_in(
        &self,
        client: &mut Client,
        base: &str,
        renewals: u64,
    ) -> Result<Credentials, LoginError> {
        let Some(create) = &self.user.create else {
            return self.log_in(client, base, BTreeMap::new(), renewals);
        };
        let mut refusal = None;
        for attempt in 0..NAMES {
            let number = self.number + (renewals * NAMES + attempt) * 1_000_000;
            let filled: BTreeMap<String, String> = create
                .generators
                .iter()
                .map(|generator| (generator.place_holder.clone(), generator.text(number)))
                .collect();
            match send(client, base, &create.call, &filled) {
                Ok(_) => return self.log_in(client, base, filled, renewals),
                Err(problem) => refusal = Some(problem),
            }
        }
        Err(self.fail(refusal.unwrap_or_default()))
    }

    fn log_in(
        &self,
        client: &mut Client,
        base: &str,
        filled: BTreeMap<String, String>,
        renewals: u64,
    ) -> Result<Credentials, LoginError> {
        let fill = |(name, value): &(String, String)| (name.clone(), fill(value, &filled));
        let mut credentials = Credentials {
            headers: self.user.headers.iter().map(fill).collect(),
            query: Vec::new(),
            filled: BTreeMap::new(),
            renewals,
            ignores_cookies: false,
        };
        if let Some(login) = &self.user.login {
            let (response, elapsed) =
                send(client, base, &login.call, &filled).map_err(|problem| self.fail(problem))?;
            self.login_time
                .store(elapsed.as_micros() as u64, Ordering::Relaxed);
            credentials
                .take(login, &response)
                .map_err(|problem| self.fail(problem))?;
        }
        credentials.filled = filled;
        Ok(credentials)
    }
}

impl Credentials {
    fn kept_cookies(&self) -> impl Iterator<Item = (&str, &str)> {
        let headers = self.headers.iter().filter(|(name, _)| is_cookie(name));
        headers.flat_map(|(_, value)| value.split("; ").filter_map(|pair| pair.split_once('=')))
    }

    fn set_cookies(&mut self, cookies: &[(String, String)]) {
        self.headers.retain(|(name, _)| !is_cookie(name));
        if !cookies.is_empty() {
            let pairs = cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            let value = pairs.collect::<Vec<_>>().join("; ");
            self.headers.push(("Cookie".into(), value));
        }
    }

    fn take(&mut self, login: &Login, response: &Response) -> Result<(), String> {
        match &login.take {
            LoginCredential::Cookies => {
                let cookies: Vec<&str> = response
                    .all_headers("set-cookie")
                    .filter_map(|cookie| cookie.split(';').next())
                    .map(str::trim)
                    .collect();
                if cookies.is_empty() {
                    return Err("the login response sets no cookie".into());
                }
                self.headers.push(("Cookie".into(), cookies.join("; ")));
            }
            LoginCredential::Token { from, to, template } => {
                let token = find_token(from, response)?;
                let value = template.replace("{token}", &token);
                match to {
                    TokenLocation::Header(name) => self.headers.push((name.clone(), value)),
                    TokenLocation::Query(name) => self.query.push((name.clone(), value)),
                }
            }
        }
        Ok(())
    }

    /// Puts the proof into a request. It replaces headers of the same name; cookies are sent side by side.
    pub fn apply(&self, request: &mut Request) {
        for (name, value) in &self.headers {
            let mut value = value.clone();
            request.headers.retain(|(other, own)| {
                let same = other.eq_ignore_ascii_case(name);
                if same && is_cookie(name) {
                    value = format!("{value}; {own}");
                }
                !same
            });
            request.headers.push((name.clone(), value));
        }
        for (name, value) in &self.query {
            let between = if request.url.contains('?') { '&' } else { '?' };
            let mut pair = form_urlencoded::Serializer::new(String::new());
            request.url.push(between);
            request
                .url
                .push_str(&pair.append_pair(name, value).finish());
        }
    }
}

fn is_cookie(header: &str) -> bool {
    header.eq_ignore_ascii_case("cookie")
}

/// The name and value of a `Set-Cookie` header; the value is empty where it removes the cookie.
fn cookie(header: &str) -> Option<(&str, &str)> {
    let mut parts = header.split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let is_removed = parts.any(|attribute| {
        let age = attribute
            .split_once('=')
            .filter(|(name, _)| name.eq_ignore_ascii_case("max-age"));
        age.is_some_and(|(_, age)| age.parse::<i64>().is_ok_and(|age| age <= 0))
    });
    Some((name, if is_removed { "" } else { value }))
}

fn find_token(from: &TokenSource, response: &Response) -> Result<String, String> {
    match from {
        TokenSource::Header(name) => response
            .header(name)
            .map(str::to_owned)
            .ok_or_else(|| format!("the login response has no header `{name}`")),
        TokenSource::Body(pointer) => {
            let body: Value = serde_json::from_slice(&response.body)
                .map_err(|_| "the login response is not JSON".to_owned())?;
            match body.pointer(pointer) {
                Some(Value::String(token)) => Ok(token.clone()),
                Some(Value::Number(token)) => Ok(token.to_string()),
                _ => Err(format!("the login response has no string at `{pointer}`")),
            }
        }
    }
}

fn fill(text: &str, filled: &BTreeMap<String, String>) -> String {
    filled
        .iter()
        .fold(text.to_owned(), |text, (holder, value)| {
            text.replace(holder, value)
        })
}

/// Makes a call that must succeed.
fn send(
    client: &mut Client,
    base: &str,
    call: &AuthCall,
    filled: &BTreeMap<String, String>,
) -> Result<(Response, Duration), String> {
    let url = if call.endpoint.contains("://") {
        call.endpoint.clone()
    } else {
        format!("{base}/{}", call.endpoint.trim_start_matches('/'))
    };
    let method = Method::from_bytes(call.method.as_bytes())
        .map_err(|_| format!("invalid HTTP method `{}`", call.method))?;
    let body = call.body.as_deref().map(|body| fill(body, filled));
    let mut request = Request::new(method, fill(&url, filled)).body(body.unwrap_or_default());
    if let Some(content_type) = &call.content_type {
        request = request.header("Content-Type", content_type.clone());
    }
    for (name, value) in &call.headers {
        request = request.header(name.clone(), fill(value, filled));
    }
    let answer = client.call(&request);
    match answer.response() {
        Some(response) if response.status < 400 => Ok((response.clone(), answer.elapsed)),
        Some(response) => Err(format!(
            "{} {url} returned {}",
            call.method, response.status
        )),
        None => Err(format!("{} {url} received no response", call.method)),
    }
}
