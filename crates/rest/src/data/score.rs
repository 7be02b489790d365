//! What statements lead the search to: finding rows, finding none, and rows that come nearer.

use isobath_search::{Score, TargetId};

use super::Asked;
use crate::exchange::Exchange;
use crate::goal::{Goal, Goals};

/// What is to become of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementGoal {
    /// It finds something.
    Found,
    /// It finds nothing.
    NotFound,
}

/// The worst secondary objective: nothing was asked of the database at all.
const NOTHING_ASKED: f64 = f64::MAX;

/// The secondary objective of a call: how far its statements were from finding rows, on average; those that did are not far.
///
/// As s(g) in "SQL Data Generation to Enhance Search-Based System Testing", section 5.3, where only those that found
/// nothing count: a call that finds more is better here. Distances are squeezed, so that an empty table does
/// not hide what happens in others.
fn far(asked: &[Asked]) -> f64 {
    let distances: Vec<f64> = asked
        .iter()
        .filter_map(|asked| asked.distance)
        .map(|far| far / (far + 1.0))
        .collect();
    if distances.is_empty() {
        return NOTHING_ASKED;
    }
    distances.iter().sum::<f64>() / distances.len() as f64
}

/// Adds the targets of the statements of a call, and how near its statements came to the scores from `from` on.
pub(super) fn score(
    exchange: &Exchange,
    goals: &mut Goals,
    scores: &mut Vec<Score>,
    from: usize,
    note: &mut dyn FnMut(TargetId, &Asked),
) {
    let asked = &exchange.inside.asked;
    let secondary = far(asked);
    for score in scores.iter_mut().skip(from) {
        // What is covered is kept by its size.
        if !score.is_covered() {
            *score = score.with_secondary(secondary);
        }
    }
    for asked in asked {
        let mut goal = |what| goals.id(Goal::Statement(asked.shape.clone(), what));
        let found = goal(StatementGoal::Found);
        let not_found = goal(StatementGoal::NotFound);
        let (reached, missed, far) = if asked.found {
            (found, not_found, asked.to_none)
        } else {
            (not_found, found, asked.distance)
        };
        scores.push(Score::covered(reached));
        // Where we cannot tell, that it was asked at all is all there is.
        let far = far.unwrap_or(f64::INFINITY).max(f64::MIN_POSITIVE);
        scores.push(Score::of_distance(missed, far));
        note(found, asked);
        note(not_found, asked);
        for met in &asked.rules {
            let rule = goals.id(Goal::Rule(asked.shape.clone(), met.rule.label.clone()));
            scores.push(Score::of_distance(rule, met.distance));
            note(rule, asked);
        }
    }
}
