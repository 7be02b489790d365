//! Scores of statement targets: returning rows, returning none, and the distance to either.

use isobath_search::{Score, TargetId};

use super::ObservedQuery;
use crate::exchange::Exchange;
use crate::target::{Target, Targets};

/// What is to become of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementTarget {
    /// It finds something.
    Found,
    /// It finds nothing.
    NotFound,
}

/// The worst secondary objective: no query was sent.
const NO_QUERY_DISTANCE: f64 = f64::MAX;

/// The secondary objective of a call: how far its statements were from finding rows, on average; those that did are not far.
///
/// As s(g) in "SQL Data Generation to Enhance Search-Based System Testing", section 5.3, where only those that found
/// nothing count: a call that finds more is better here. Distances are squeezed, so that an empty table does
/// not hide what happens in others.
fn far(observed: &[ObservedQuery]) -> f64 {
    let distances: Vec<f64> = observed
        .iter()
        .filter_map(|observed| observed.distance)
        .map(|far| far / (far + 1.0))
        .collect();
    if distances.is_empty() {
        return NO_QUERY_DISTANCE;
    }
    distances.iter().sum::<f64>() / distances.len() as f64
}

/// Adds the targets of the statements of a call, and how near its statements came to the scores from `from` on.
pub(super) fn score(
    exchange: &Exchange,
    targets: &mut Targets,
    scores: &mut Vec<Score>,
    from: usize,
    note: &mut dyn FnMut(TargetId, &ObservedQuery),
) {
    let observed = &exchange.trace.queries;
    let secondary = far(observed);
    for score in scores.iter_mut().skip(from) {
        // What is covered is kept by its size.
        if !score.is_covered() {
            *score = score.with_secondary(secondary);
        }
    }
    for observed in observed {
        let mut target = |what| targets.id(Target::Statement(observed.shape.clone(), what));
        let found = target(StatementTarget::Found);
        let not_found = target(StatementTarget::NotFound);
        let (reached, missed, far) = if observed.found {
            (found, not_found, observed.to_none)
        } else {
            (not_found, found, observed.distance)
        };
        scores.push(Score::covered(reached));
        // Where we cannot tell, that it was asked at all is all there is.
        let far = far.unwrap_or(f64::INFINITY).max(f64::MIN_POSITIVE);
        scores.push(Score::of_distance(missed, far));
        note(found, observed);
        note(not_found, observed);
        for rule_distance in &observed.rules {
            let rule = targets.id(Target::Rule(
                observed.shape.clone(),
                rule_distance.rule.label.clone(),
            ));
            scores.push(Score::of_distance(rule, rule_distance.distance));
            note(rule, observed);
        }
    }
}
