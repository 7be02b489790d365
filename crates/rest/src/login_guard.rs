//! Puts back what a user logs in with, when a call has changed it.
//!
//! A service that nothing resets keeps the new name or password of a user: neither the rest of the run nor its suites
//! could log in. So a user logs in again after a call that may have changed that, and a call that did is made once
//! more with the old values.

use std::collections::BTreeMap;

use isobath_exec::http::{Client, Method, Request};
use serde_json::Value;

use crate::exchange::{Exchange, LoginChange};
use crate::session::Session;

/// After so many log-ins that succeeded, an operation is taken for harmless.
const MAX_CHECKS: u32 = 6;

/// What is known of the operations that may change a user.
#[derive(Debug, Default)]
pub(crate) struct LoginGuard {
    /// How often a user could log in after an operation.
    harmless: BTreeMap<usize, u32>,
}

impl LoginGuard {
    /// Checks that the users of some calls can still log in; marks the call after which one cannot, and tries to put
    /// back what it changed. Returns whether all users can log in now.
    pub(crate) fn check(
        &mut self,
        client: &mut Client,
        base: &str,
        sessions: &[Session],
        exchanges: &mut [Exchange],
    ) -> bool {
        let mut is_well = true;
        for (user, session) in sessions.iter().enumerate() {
            let Some(fields) = session.login_fields() else {
                continue;
            };
            // The last one first.
            let of_user = exchanges.iter_mut().rev();
            let of_user = of_user.filter(|exchange| exchange.user == Some(user));
            let mut suspects: Vec<&mut Exchange> = of_user
                .filter(|exchange| self.is_suspect(exchange))
                .collect();
            if suspects.is_empty() {
                continue;
            }
            if session.can_log_in(client, base) {
                let operations = suspects.iter().filter_map(|exchange| exchange.operation);
                operations.for_each(|operation| *self.harmless.entry(operation).or_default() += 1);
                continue;
            }
            let culprit = suspects.iter().position(|exchange| {
                restoring(&exchange.request, &fields).iter().any(|request| {
                    client.call(request);
                    session.can_log_in(client, base)
                })
            });
            is_well &= culprit.is_some();
            if let Some(accused) = suspects.get_mut(culprit.unwrap_or(0)) {
                accused.login_change = Some(match culprit {
                    Some(_) => LoginChange::Restored,
                    None => LoginChange::Lasting,
                });
            }
        }
        is_well
    }

    /// Whether a call succeeded that may have changed what its user logs in with.
    fn is_suspect(&self, exchange: &Exchange) -> bool {
        let checks = exchange
            .operation
            .and_then(|operation| self.harmless.get(&operation));
        let is_write = matches!(
            exchange.request.method,
            Method::POST | Method::PUT | Method::PATCH | Method::DELETE
        );
        exchange.succeeded()
            && is_write
            && checks.is_none_or(|checks| *checks < MAX_CHECKS)
            && (exchange.request.method == Method::DELETE
                || is_users_path(&exchange.request.url)
                || exchange.sent.as_ref().is_some_and(has_login_field))
    }
}

/// Words of what a user is known by.
const WORDS: [&str; 7] = [
    "passw", "mail", "login", "user", "account", "profile", "phone",
];

fn is_users_path(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    // The scheme, nothing, and the host come first.
    let mut segments = path.split('/').skip(3);
    segments.any(|segment| matches!(segment, "me" | "self") || is_about_login(segment))
}

fn is_about_login(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

fn has_login_field(sent: &Value) -> bool {
    match sent {
        Value::Object(members) => members
            .iter()
            .any(|(name, member)| is_about_login(name) || has_login_field(member)),
        Value::Array(items) => items.iter().any(has_login_field),
        _ => false,
    }
}

/// Calls that may undo a call: with what the user logs in with in place of what was sent, and then with every switch
/// on, because an account may have been switched off.
fn restoring(request: &Request, fields: &[(String, String)]) -> Vec<Request> {
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return Vec::new();
    };
    let with = |is_on: bool| {
        let mut body = body.clone();
        restore(&mut body, fields, is_on);
        let mut again = request.clone();
        again.body = body.to_string().into_bytes().into();
        again
    };
    vec![with(false), with(true)]
}

fn restore(body: &mut Value, fields: &[(String, String)], is_on: bool) {
    let Value::Object(members) = body else {
        return;
    };
    let sent: Vec<(String, Value)> = members
        .iter()
        .filter(|(name, _)| is_password(name) && !is_former(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in members {
        match value {
            Value::String(text) => {
                if is_password(name) && is_former(name) {
                    // By now, what was sent as the new one is the former one.
                    if let Some((_, Value::String(current))) = sent.first() {
                        text.clone_from(current);
                    }
                } else if let Some((_, own)) = own_field(name, fields) {
                    text.clone_from(own);
                }
            }
            Value::Bool(switch) if is_on => *switch = true,
            Value::Object(_) => restore(value, fields, is_on),
            _ => {}
        }
    }
}

/// The field of the log-in that a property of this name is.
fn own_field<'a>(name: &str, fields: &'a [(String, String)]) -> Option<&'a (String, String)> {
    let mut all = fields.iter();
    if is_password(name) {
        return all.find(|(field, _)| is_password(field));
    }
    if !is_about_login(name) && !fields.iter().any(|(field, _)| field == name) {
        return None;
    }
    let exact = fields.iter().find(|(field, _)| field == name);
    exact.or_else(|| all.find(|(field, _)| !is_password(field)))
}

fn is_password(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("pass") || name.contains("pwd") || name.contains("secret")
}

fn is_former(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["current", "old", "former", "previous", "existing"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn restored(sent: &Value) -> Value {
        let fields = [
            ("username".to_owned(), "ada@x.org".to_owned()),
            ("password".to_owned(), "engine".to_owned()),
        ];
        let request = Request::get("http://localhost/users/me").body(sent.to_string());
        let again = restoring(&request, &fields);
        serde_json::from_slice(&again[0].body).expect("JSON")
    }

    #[test]
    fn what_a_user_logs_in_with_is_put_back() {
        assert_eq!(
            restored(&json!({"email": "b@x.org", "full_name": "B", "age": 3})),
            json!({"email": "ada@x.org", "full_name": "B", "age": 3})
        );
        assert_eq!(
            restored(&json!({"current_password": "engine", "new_password": "loom"})),
            json!({"current_password": "loom", "new_password": "engine"})
        );
    }

    #[test]
    fn calls_that_name_nothing_of_a_user_are_not_suspected() {
        let sent = |body: Value| has_login_field(&json!({"path": {"id": 3}, "body": body}));
        assert!(sent(json!({"profile": {"email": "x"}})));
        assert!(!sent(json!({"title": "x", "tags": ["email"]})));
    }
}
