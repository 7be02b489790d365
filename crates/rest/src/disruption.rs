//! Operations that end the session or the service for everybody: log-out, token reset, maintenance, shutdown.
//!
//! Some say so in their names; these are called last of all. Others are recognized by what follows: operations that
//! worked before all answer 401 or 503. They are not called again, and the search tries to undo their effect by
//! calling them once more with other inputs.

use std::collections::{BTreeMap, BTreeSet};

use crate::exchange::LoginChange;
use crate::openapi::Api;

/// So many operations must be refused in a row.
const STREAK: usize = 3;
/// How often it is tried to undo the effect of a disruptive operation.
const MAX_ATTEMPTS: u32 = 12;

/// What is known about disruptive operations.
#[derive(Clone, Debug)]
pub(crate) struct Disruption {
    /// Operations that are not called by the search, and the status that everything answered after them.
    avoided: BTreeMap<usize, Option<u16>>,
    /// The operation that last changed something, and when it was called.
    last_write: Option<usize>,
    /// Operations that were refused in a row, although they worked before.
    streak: BTreeSet<usize>,
    recovery: Option<Recovery>,
    /// Operations whose effect could not be undone.
    lasting: BTreeSet<usize>,
    /// Operations that changed what a user logs in with.
    login_changes: BTreeSet<usize>,
}

/// The attempt to undo the effect of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    /// The operation.
    pub culprit: usize,
    /// An operation that worked before it.
    pub witness: usize,
    attempts: u32,
}

impl Disruption {
    /// Operations whose names say that they are disruptive are avoided from the start.
    pub(crate) fn new(api: &Api) -> Self {
        let named = (0..api.operations.len()).filter(|&operation| may_end_session(api, operation));
        Self {
            avoided: named.map(|operation| (operation, None)).collect(),
            last_write: None,
            streak: BTreeSet::new(),
            recovery: None,
            lasting: BTreeSet::new(),
            login_changes: BTreeSet::new(),
        }
    }

    /// Forgets which operation changed something last: calls were made that it did not hear of.
    pub(crate) fn forget_last_write(&mut self) {
        self.last_write = None;
        self.streak.clear();
    }

    /// Whether the search should not call an operation.
    pub(crate) fn is_avoided(&self, operation: usize) -> bool {
        self.avoided.contains_key(&operation)
    }

    /// Takes note that a user could not log in after an operation; one whose effect stays is not called again.
    pub(crate) fn note_login_change(&mut self, operation: usize, change: LoginChange) {
        self.login_changes.insert(operation);
        if change == LoginChange::Lasting {
            self.avoided.entry(operation).or_insert(None);
        }
    }

    /// The operations that changed what a user logs in with.
    pub(crate) fn login_changes(&self) -> Vec<usize> {
        self.login_changes.iter().copied().collect()
    }

    /// The operations after which everything answered 401 or 503, with that status.
    pub(crate) fn observed(&self) -> Vec<(usize, u16)> {
        let observed = self.avoided.iter();
        observed
            .filter_map(|(operation, status)| Some((*operation, (*status)?)))
            .collect()
    }

    /// The attempt to undo an effect that is due, if there is one.
    pub(crate) fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// Takes note of a response; `worked` says whether the operation succeeded before.
    pub(crate) fn note(
        &mut self,
        api: &Api,
        operation: usize,
        is_anonymous: bool,
        status: u16,
        worked: bool,
    ) {
        if let Some(recovery) = &mut self.recovery
            && recovery.witness == operation
        {
            recovery.attempts += 1;
            let is_undone = !matches!(status, 401 | 503);
            if is_undone || recovery.attempts >= MAX_ATTEMPTS {
                if !is_undone {
                    self.lasting.insert(recovery.culprit);
                }
                self.recovery = None;
                self.streak.clear();
            }
            return;
        }
        let is_refused = status == 503 || (status == 401 && !is_anonymous);
        // A 401 of an operation that never worked says more about its users than about what was called before.
        if status == 503 || (is_refused && worked) {
            self.streak.insert(operation);
        } else if !is_refused {
            self.streak.clear();
            let is_read = matches!(
                &*api.operation(operation).method,
                "GET" | "HEAD" | "OPTIONS"
            );
            if (200..300).contains(&status) && !is_read {
                self.last_write = Some(operation);
            }
        }
        // What did it once is the likeliest to have done it again: as a step of an older candidate, or in a probe.
        let known = self.avoided.iter();
        let known = known.filter(|(_, after)| **after == Some(status));
        let culprit = known.map(|(operation, _)| *operation).next();
        let culprit = culprit.or_else(|| self.last_write.filter(|write| !self.is_avoided(*write)));
        if self.streak.len() >= STREAK
            && self.recovery.is_none()
            && let Some(culprit) = culprit.filter(|culprit| !self.lasting.contains(culprit))
        {
            self.avoided.insert(culprit, Some(status));
            self.recovery = Some(Recovery {
                culprit,
                witness: operation,
                attempts: 0,
            });
        }
    }
}

/// Whether an operation sounds as if it ended the session or the service for everybody.
pub fn may_end_session(api: &Api, operation: usize) -> bool {
    const WORDS: [&str; 10] = [
        "logout",
        "logoff",
        "signout",
        "shutdown",
        "maintenance",
        "restart",
        "resettoken",
        "tokenreset",
        "rotatetoken",
        "revokealltokens",
    ];
    let operation = api.operation(operation);
    let is_read = matches!(&*operation.method, "GET" | "HEAD" | "OPTIONS");
    let path: String = operation
        .path
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_logout = path.contains("logout") || path.contains("signout");
    (!is_read || is_logout) && WORDS.iter().any(|word| path.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::{NoLoader, read};

    fn api() -> Api {
        let document = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n".to_owned()
            + &["a", "b", "c", "d"]
                .map(|name| {
                    format!("  /{name}:\n    get: {{responses: {{'200': {{description: ok}}}}}}\n")
                })
                .concat()
            + "  /mode:\n    put: {responses: {'200': {description: ok}}}\n"
            + "  /users/me/reset-token:\n    post: {responses: {'200': {description: ok}}}\n"
            + "  /boats:\n    post: {responses: {'200': {description: ok}}}\n";
        read(&document, "api.yaml", &NoLoader).expect("a document")
    }

    #[test]
    fn an_operation_after_which_everything_is_refused_is_found_and_undone() {
        let api = api();
        let mut disruption = Disruption::new(&api);
        assert!(disruption.is_avoided(5), "its name says so");
        disruption.note(&api, 4, false, 200, false);
        for operation in 0..3 {
            assert!(disruption.recovery().is_none());
            disruption.note(&api, operation, false, 503, true);
        }
        let recovery = disruption.recovery().expect("something to undo");
        assert_eq!((recovery.culprit, recovery.witness), (4, 2));
        assert_eq!(disruption.observed(), [(4, 503)]);
        disruption.note(&api, 2, false, 200, true);
        assert!(disruption.recovery().is_none());
        assert!(disruption.is_avoided(4));
        // When it happens again, nobody else is blamed.
        disruption.note(&api, 6, false, 200, false);
        for operation in 0..3 {
            disruption.note(&api, operation, false, 503, true);
        }
        let recovery = disruption.recovery().expect("something to undo");
        assert_eq!(recovery.culprit, 4);
        assert!(!disruption.is_avoided(6));
    }

    #[test]
    fn failures_of_single_operations_and_of_strangers_are_no_disruption() {
        let api = api();
        let mut disruption = Disruption::new(&api);
        disruption.note(&api, 4, false, 200, false);
        for round in 0..10 {
            disruption.note(&api, 0, false, 503, true);
            disruption.note(&api, 1, false, 503, false);
            disruption.note(&api, round % 4, true, 401, true);
        }
        assert!(disruption.observed().is_empty());
    }
}
