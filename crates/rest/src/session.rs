//! Users who are logged in: what each of them sends with every call.

use std::collections::BTreeMap;

use isobath_exec::http::{Client, Method, Request, Response};
use serde_json::Value;

use crate::auth::{Call, Login, Take, TokenPlace, TokenSource, User};

/// What a user sends with every call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The name of the user.
    pub name: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Query parameters.
    pub query: Vec<(String, String)>,
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
    /// Creates the user if that is asked for, and logs in. `number` makes created users differ.
    ///
    /// # Errors
    ///
    /// When the service refuses, or its answer lacks what was to be taken from it.
    pub fn open(
        client: &mut Client,
        base: &str,
        user: &User,
        number: u64,
    ) -> Result<Self, LoginError> {
        let fail = |problem: String| LoginError {
            user: user.name.clone(),
            problem,
        };
        let mut session = Self {
            name: user.name.clone(),
            headers: user.headers.clone(),
            query: Vec::new(),
        };
        let mut filled = BTreeMap::new();
        if let Some(create) = &user.create {
            for generator in &create.generators {
                filled.insert(generator.place_holder.clone(), generator.text(number));
            }
            send(client, base, &create.call, &filled).map_err(fail)?;
        }
        if let Some(login) = &user.login {
            let response = send(client, base, &login.call, &filled).map_err(fail)?;
            session.take(login, &response).map_err(fail)?;
        }
        Ok(session)
    }

    fn take(&mut self, login: &Login, response: &Response) -> Result<(), String> {
        match &login.take {
            Take::Cookies => {
                let cookies: Vec<&str> = response
                    .all_headers("set-cookie")
                    .filter_map(|cookie| cookie.split(';').next())
                    .map(str::trim)
                    .collect();
                if cookies.is_empty() {
                    return Err("the answer to the log-in sets no cookie".into());
                }
                self.headers.push(("Cookie".into(), cookies.join("; ")));
            }
            Take::Token { from, to, template } => {
                let token = find_token(from, response)?;
                let value = template.replace("{token}", &token);
                match to {
                    TokenPlace::Header(name) => self.headers.push((name.clone(), value)),
                    TokenPlace::Query(name) => self.query.push((name.clone(), value)),
                }
            }
        }
        Ok(())
    }
}

fn find_token(from: &TokenSource, response: &Response) -> Result<String, String> {
    match from {
        TokenSource::Header(name) => response
            .header(name)
            .map(str::to_owned)
            .ok_or_else(|| format!("the answer to the log-in has no header `{name}`")),
        TokenSource::Body(pointer) => {
            let body: Value = serde_json::from_slice(&response.body)
                .map_err(|_| "the answer to the log-in is not JSON".to_owned())?;
            match body.pointer(pointer) {
                Some(Value::String(token)) => Ok(token.clone()),
                Some(Value::Number(token)) => Ok(token.to_string()),
                _ => Err(format!(
                    "the answer to the log-in has no text at `{pointer}`"
                )),
            }
        }
    }
}

/// Makes a call that must succeed.
fn send(
    client: &mut Client,
    base: &str,
    call: &Call,
    filled: &BTreeMap<String, String>,
) -> Result<Response, String> {
    let fill = |text: &str| {
        filled
            .iter()
            .fold(text.to_owned(), |text, (holder, value)| {
                text.replace(holder, value)
            })
    };
    let url = if call.endpoint.contains("://") {
        call.endpoint.clone()
    } else {
        format!("{base}/{}", call.endpoint.trim_start_matches('/'))
    };
    let method = Method::from_bytes(call.method.as_bytes())
        .map_err(|_| format!("`{}` is no HTTP method", call.method))?;
    let mut request =
        Request::new(method, fill(&url)).body(call.body.as_deref().map(fill).unwrap_or_default());
    if let Some(content_type) = &call.content_type {
        request = request.header("Content-Type", content_type.clone());
    }
    for (name, value) in &call.headers {
        request = request.header(name.clone(), fill(value));
    }
    let answer = client.call(&request);
    match answer.response() {
        Some(response) if response.status < 400 => Ok(response.clone()),
        Some(response) => Err(format!(
            "{} {} was answered with {}",
            call.method, call.endpoint, response.status
        )),
        None => Err(format!(
            "{} {} was not answered",
            call.method, call.endpoint
        )),
    }
}
