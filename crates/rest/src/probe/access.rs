//! Access control: anonymous access, and access to resources of other users.

use isobath_genes::Domain;
use serde_json::{Value, json};

use crate::action::Action;
use crate::candidate::{Candidate, Step, StepKind};
use crate::exchange::Exchange;
use crate::fault::FaultKind;

use super::{BaseCandidate, Prober};

/// Strangers that are tried for each operation.
const MAX_OTHER_USERS: usize = 3;

impl Prober<'_> {
    pub(super) fn access(&mut self, base: &BaseCandidate) {
        let security = &self.api.operation(base.operation).security;
        let optional = security
            .iter()
            .any(|requirement| requirement.schemes.is_empty());
        if security.is_empty() || optional {
            return;
        }
        self.anonymous(base);
        self.other_users(base);
    }

    /// The last call without authentication.
    fn anonymous(&mut self, base: &BaseCandidate) {
        let reads = matches!(
            &*self.api.operation(base.operation).method,
            "GET" | "HEAD" | "OPTIONS"
        );
        let kind = if reads {
            FaultKind::AnonymousRead
        } else {
            FaultKind::AnonymousWrite
        };
        if !self.checks(kind) || base.last().user.is_none() && self.n_users > 0 {
            return self.anonymous_already(base, kind);
        }
        let mut candidate = base.candidate.clone();
        if let Some(step) = candidate.steps.last_mut() {
            step.user = None;
        }
        self.report_if_accessible(candidate, base, kind);
    }

    /// The call that succeeded was anonymous in the first place.
    fn anonymous_already(&mut self, base: &BaseCandidate, kind: FaultKind) {
        if self.checks(kind) {
            self.report_if_accessible(base.candidate.clone(), base, kind);
        }
    }

    fn report_if_accessible(
        &mut self,
        candidate: Candidate,
        base: &BaseCandidate,
        kind: FaultKind,
    ) {
        let Some(last) = self.run_last::<1>(&candidate) else {
            return;
        };
        if last[0].succeeded() {
            let name = self.api.operation(base.operation).name();
            let status = last[0].status().unwrap_or_default();
            let detail = format!(
                "{name} returned {status} without authentication, which the OpenAPI document requires"
            );
            self.find(kind, base.operation, detail, candidate);
        }
    }

    /// The last call by other users, where it is about something that its user has made.
    fn other_users(&mut self, base: &BaseCandidate) {
        let Some((base, owner)) = self.as_creator(base) else {
            return;
        };
        let mut report_cross_user_access = Vec::new();
        let mut is_guarded = false;
        for other_user in (0..self.n_users)
            .filter(|&user| user != owner)
            .take(MAX_OTHER_USERS)
        {
            let mut candidate = base.candidate.clone();
            if let Some(step) = candidate.steps.last_mut() {
                step.user = Some(other_user);
            }
            let Some(last) = self.run_last::<1>(&candidate) else {
                return;
            };
            match last[0].status() {
                Some(200..300) => report_cross_user_access.push((candidate, other_user)),
                Some(403) => {
                    is_guarded = true;
                    self.existence_leak(&base, candidate, other_user);
                }
                Some(404) => is_guarded = true,
                _ => {}
            }
        }
        // Where one stranger is kept out and another is not, the other has more rights.
        if !is_guarded {
            for (candidate, other_user) in report_cross_user_access {
                self.report_cross_user_access(&base, candidate, owner, other_user);
            }
        }
    }

    /// The base with its last call made by the creator of its resource, if that succeeds too.
    fn as_creator(&mut self, base: &BaseCandidate) -> Option<(BaseCandidate, usize)> {
        let (_, reference) = own_reference(base.last())?;
        let owner = base
            .candidate
            .steps
            .iter()
            .find(|step| step.id == reference.source)?
            .user?;
        let mut base = base.clone();
        if base.last().user != Some(owner) {
            base.candidate.steps.last_mut()?.user = Some(owner);
            let last = self.run_last::<1>(&base.candidate)?;
            last[0].succeeded().then_some(())?;
        }
        Some((base, owner))
    }

    /// A stranger succeeded. That is a fault if the service itself treats the resource as not theirs elsewhere.
    fn report_cross_user_access(
        &mut self,
        base: &BaseCandidate,
        candidate: Candidate,
        owner: usize,
        other_user: usize,
    ) {
        if !self.checks(FaultKind::OtherUsersResource) {
            return;
        }
        let reads = matches!(&*self.api.operation(base.operation).method, "GET" | "HEAD");
        let witness = match self.hidden_by_other_operation(base, owner, other_user) {
            Some(witness) => witness,
            // A link may be shared with those whose lists do not show what it leads to; but not to change it.
            None if reads => return,
            None => match self.missing_from_list(base, owner, other_user) {
                Some(witness) => witness,
                None => return,
            },
        };
        let name = self.api.operation(base.operation).name();
        let detail = format!(
            "{name} lets a user access a resource that another user created, although {witness}"
        );
        self.find(
            FaultKind::OtherUsersResource,
            base.operation,
            detail,
            candidate,
        );
    }

    /// Another operation on the same resource that does not know it for the stranger, but does for the owner.
    fn hidden_by_other_operation(
        &mut self,
        base: &BaseCandidate,
        owner: usize,
        other_user: usize,
    ) -> Option<String> {
        let reads = |method: &str| matches!(method, "GET" | "HEAD");
        let api = std::sync::Arc::clone(&self.api);
        let probed_reads = reads(&api.operation(base.operation).method);
        for &sibling in self.resources.on_path(&api, base.operation) {
            let method = &*api.operation(sibling).method;
            // Reading may be open to all where writing is not: a read is only accused when a write denies that
            // the thing exists at all, a write already when it may not even be read.
            let enough: &[u16] = if reads(method) { &[403, 404] } else { &[404] };
            if sibling == base.operation || (!probed_reads && !reads(method)) {
                continue;
            }
            let action = self.on_same_path(sibling, base.last());
            let mut candidate = base.before();
            candidate.push(action.clone(), Some(other_user));
            candidate.push(action, Some(owner));
            let pair = self.run_last::<2>(&candidate)?;
            let (theirs, own) = (pair[0].status()?, pair[1].status()?);
            if enough.contains(&theirs) && !matches!(own, 401 | 403 | 404 | 405 | 410 | 500..) {
                return Some(format!(
                    "{} returns {theirs} to that user",
                    api.operation(sibling).name()
                ));
            }
        }
        None
    }

    /// The list of the collection shows the resource to the owner and not to the stranger.
    fn missing_from_list(
        &mut self,
        base: &BaseCandidate,
        owner: usize,
        other_user: usize,
    ) -> Option<String> {
        let (pointer, reference) = own_reference(base.last())?;
        let maker = base
            .candidate
            .steps
            .iter()
            .find(|step| step.id == reference.source)?
            .operation()?;
        let list = self.resources.sibling(&self.api, maker, "GET")?;
        let action = self.on_same_path(
            list,
            base.candidate
                .steps
                .iter()
                .find(|step| step.id == reference.source)?,
        );
        let mut candidate = base.before();
        candidate.push(action.clone(), Some(owner));
        candidate.push(action, Some(other_user));
        let exchanges = self.run(&candidate)?;
        let made = exchanges
            .iter()
            .find(|exchange| exchange.step == reference.source)?
            .value(&reference.place)?;
        let [.., own, theirs] = exchanges.as_slice() else {
            return None;
        };
        let listed = |exchange: &Exchange| {
            exchange
                .body
                .as_ref()
                .is_some_and(|body| lists(body, &made))
        };
        if own.succeeded() && theirs.succeeded() && listed(own) && !listed(theirs) {
            return Some(format!(
                "{} does not list it for that user ({pointer})",
                self.api.operation(list).name()
            ));
        }
        None
    }

    /// 403 for what is there, 404 for what is not: the difference tells.
    fn existence_leak(
        &mut self,
        base: &BaseCandidate,
        mut candidate: Candidate,
        other_user: usize,
    ) {
        if !self.checks(FaultKind::ExistenceLeak) {
            return;
        }
        let Some((pointer, _)) = own_reference(base.last()) else {
            return;
        };
        // What everybody may read is no secret.
        if let Some(get) = self.resources.sibling(&self.api, base.operation, "GET") {
            let action = self.on_same_path(get, base.last());
            let mut look = base.before();
            look.push(action, Some(other_user));
            match self.run_last::<1>(&look) {
                Some(last) if !last[0].succeeded() => {}
                _ => return,
            }
        }
        let StepKind::Call { action, breach } = &base.last().kind else {
            return;
        };
        let mut absent = action.gene.clone();
        let is_number = {
            let mut number = false;
            absent.walk(|place| {
                if place.pointer == pointer {
                    number = matches!(place.model.node(place.node).domain, Domain::Integer(_));
                }
            });
            number
        };
        let replaced = if is_number {
            absent.set_json(&pointer, &json!(987_654_321))
        } else {
            absent.resample(&pointer, &mut self.rng, &self.problem.sampling.tuning)
        };
        if !replaced {
            return;
        }
        let action = Action {
            operation: action.operation,
            gene: absent,
            undocumented: action.undocumented.clone(),
        };
        candidate.push(
            StepKind::Call {
                action,
                breach: breach.clone(),
            },
            Some(other_user),
        );
        let Some(pair) = self.run_last::<2>(&candidate) else {
            return;
        };
        if pair[0].status() == Some(403) && pair[1].status() == Some(404) {
            let name = self.api.operation(base.operation).name();
            let detail =
                format!("{name} returns 403 for another user's resource and 404 for a missing one");
            self.find(FaultKind::ExistenceLeak, base.operation, detail, candidate);
        }
    }
}

/// The path parameter that refers to an earlier response, the last one if there are several.
fn own_reference(step: &Step) -> Option<(String, isobath_genes::Reference)> {
    step.input()?
        .references()
        .into_iter()
        .rfind(|(pointer, _)| pointer.starts_with("/path/"))
}

/// Whether a list has an item with this identifier.
fn lists(body: &Value, id: &Value) -> bool {
    match body {
        Value::Array(items) => items.iter().any(|item| lists(item, id)),
        Value::Object(object) => object.values().any(|value| value == id || lists(value, id)),
        value => value == id,
    }
}
