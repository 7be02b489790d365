//! Uncovered targets, and the likely reason.

use std::collections::BTreeMap;

use super::finish::Finish;
use crate::openapi::{Api, StatusPattern};
use crate::per_operation::PerOperation;
use crate::problem::nearest;
use crate::target::Target;

/// A target that was not covered.
#[derive(Clone, Debug, PartialEq)]
pub struct UncoveredTarget {
    /// The target as a sentence.
    pub target: String,
    /// The operation it is about.
    pub operation: Option<usize>,
    /// The score of the nearest miss.
    pub score: f64,
    /// What was seen instead.
    pub nearest: Option<String>,
    /// Why it was not covered, where that is known.
    pub reason: Option<String>,
}

impl Finish<'_> {
    /// The targets that were met and not covered, nearest first, then the documented statuses that were never met.
    pub(super) fn uncovered(&self) -> Vec<UncoveredTarget> {
        let mut uncovered_targets: Vec<UncoveredTarget> = self
            .problem
            .targets()
            .iter()
            .filter(|(id, _)| !self.archive.is_covered(*id))
            .map(|(id, target)| {
                let best = self.archive.best(id);
                let score = best.map_or(0.0, |member| member.score.value());
                let is_about_success = matches!(target, Target::Input(..) | Target::Family(_, 2));
                UncoveredTarget {
                    target: target.describe(&self.problem.api),
                    operation: target.operation(),
                    score,
                    nearest: nearest(score)
                        .filter(|_| is_about_success)
                        .map(str::to_owned),
                    reason: None,
                }
            })
            .collect();
        uncovered_targets.sort_by(|a, b| b.score.total_cmp(&a.score));
        let has_users = !self.caller.service().sessions.is_empty();
        uncovered_targets.extend(uncovered_statuses(
            &self.problem.api,
            &self.statuses(),
            has_users,
        ));
        uncovered_targets
    }
}

/// The documented statuses that no call was answered with.
pub(super) fn uncovered_statuses(
    api: &Api,
    statuses: &PerOperation<BTreeMap<u16, u64>>,
    has_users: bool,
) -> Vec<UncoveredTarget> {
    let mut uncovered_targets = Vec::new();
    for (index, (operation, seen)) in api.operations.iter().zip(statuses).enumerate() {
        for response in &operation.responses {
            let StatusPattern::Code(status) = response.status else {
                continue;
            };
            if seen.contains_key(&status) {
                continue;
            }
            let others: Vec<String> = seen.keys().map(ToString::to_string).collect();
            uncovered_targets.push(UncoveredTarget {
                target: format!("{} returns {status}", operation.name()),
                operation: Some(index),
                score: 0.0,
                nearest: (!others.is_empty()).then(|| format!("returned {}", others.join(", "))),
                reason: Some(reason(status, seen.is_empty(), has_users).to_owned()),
            });
        }
    }
    uncovered_targets
}

/// Why a documented status may not have come.
fn reason(status: u16, is_silent: bool, has_users: bool) -> &'static str {
    match status {
        _ if is_silent => "no call of the operation received a response",
        401 | 403 if !has_users => {
            "documented, never observed: all calls were unauthenticated; add users with --auth"
        }
        401 | 403 => "documented, never observed: no user was rejected this way",
        429 | 503 => "documented, never observed: the load was too low",
        500.. => "documented, never observed: no input caused this error",
        _ => "documented, never observed: no tried input leads to it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::{NoLoader, read};

    #[test]
    fn documented_statuses_that_never_came_are_misses_with_a_reason() {
        let document = "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n  /x:\n    get: {responses: {'200': {description: a}, '403': {description: b}, '409': {description: c}, default: {description: d}}}\n  /y:\n    get: {responses: {'200': {description: a}, 4XX: {description: b}}}\n";
        let api = read(document, "x.yaml", &NoLoader).expect("a good document");
        let mut seen = PerOperation::filled(&api, BTreeMap::new());
        seen[0] = BTreeMap::from([(200, 7), (404, 2)]);
        let show = |uncovered_target: UncoveredTarget| {
            let nearest = uncovered_target.nearest.unwrap_or_default();
            format!(
                "{} | {nearest} | {}",
                uncovered_target.target,
                uncovered_target.reason.unwrap_or_default()
            )
        };
        let lines: Vec<String> = uncovered_statuses(&api, &seen, true)
            .into_iter()
            .map(show)
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        GET /x returns 403 | returned 200, 404 | documented, never observed: no user was rejected this way
        GET /x returns 409 | returned 200, 404 | documented, never observed: no tried input leads to it
        GET /y returns 200 |  | no call of the operation received a response
        ");
    }
}
