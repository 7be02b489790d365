//! UNION, INTERSECT and EXCEPT.

use crate::eval::{EvalError, normalized};
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::{QueryEvaluator, QueryOutcome};
use super::model::{Query, SetOp};
use super::row_pool::NOTHING;

impl QueryEvaluator<'_> {
    pub(super) fn combine(
        &self,
        op: SetOp,
        all: bool,
        query: &Query,
        (left, right): (QueryOutcome, QueryOutcome),
    ) -> Result<QueryOutcome, EvalError> {
        let width = left
            .rows
            .first()
            .or(right.rows.first())
            .or(left.near_misses.first())
            .map_or(0, |(row, _)| row.len());
        let pairs: Vec<ComparedExprs<'_>> = (0..width)
            .map(|column| ComparedExprs::output(query, column))
            .collect();
        let mut rest = right.rows.clone();
        let mut rows = Vec::new();
        match op {
            SetOp::Union => {
                rows.extend(left.rows.iter().cloned());
                rows.append(&mut rest);
            }
            SetOp::Intersect | SetOp::Except => {
                for (row, to_remove) in &left.rows {
                    let mut found = None;
                    for (index, (other, _)) in rest.iter().enumerate() {
                        if self.all_same(&pairs, row, other)? {
                            found = Some(index);
                            break;
                        }
                    }
                    if found.is_some() == (op == SetOp::Intersect) {
                        rows.push((row.clone(), *to_remove));
                    }
                    // With ALL, each row of the right side answers for one row of the left.
                    if let (true, Some(index)) = (all, found) {
                        rest.remove(index);
                    }
                }
            }
        }
        if !all {
            let mut kept: Vec<(Vec<Value>, f64)> = Vec::new();
            for (row, to_remove) in rows {
                let mut seen = false;
                for (other, removal) in &mut kept {
                    if self.all_same(&pairs, &row, other)? {
                        *removal += to_remove;
                        seen = true;
                        break;
                    }
                }
                if !seen {
                    kept.push((row, to_remove));
                }
            }
            rows = kept;
        }
        let distance = match op {
            SetOp::Union => left.distance.min(right.distance),
            SetOp::Intersect => self.nearest_pair(&pairs, &left, &right),
            SetOp::Except if left.rows.is_empty() => left.distance,
            // Every row of the left is also on the right: one of them must go there, or another come here.
            SetOp::Except => {
                let leaving = right
                    .rows
                    .iter()
                    .map(|(_, to_remove)| *to_remove)
                    .fold(NOTHING, f64::min);
                normalized(leaving.min(left.nearest_cost())).max(f64::MIN_POSITIVE)
            }
        };
        let mut near_misses = left.near_misses;
        if op == SetOp::Union {
            near_misses.extend(right.near_misses);
        }
        let stepwise = match op {
            SetOp::Union => left.stepwise.min(right.stepwise),
            SetOp::Intersect => left.stepwise + right.stepwise + normalized(distance),
            SetOp::Except => left.stepwise + normalized(distance),
        };
        Ok(QueryOutcome {
            rows,
            near_misses,
            distance,
            stepwise,
            missing_row_cost: 0.0,
        })
    }

    /// The least cost of a row that both sides have.
    fn nearest_pair(
        &self,
        pairs: &[ComparedExprs<'_>],
        left: &QueryOutcome,
        right: &QueryOutcome,
    ) -> f64 {
        let side = |outcome: &QueryOutcome| -> Vec<(Vec<Value>, f64)> {
            let there = outcome.rows.iter().map(|(row, _)| (row.clone(), 0.0));
            there
                .chain(outcome.near_misses.iter().cloned())
                .take(64)
                .collect()
        };
        let mut nearest = NOTHING;
        for (a, a_cost) in side(left) {
            for (b, b_cost) in side(right) {
                let value_distance: f64 = pairs
                    .iter()
                    .zip(a.iter().zip(&b))
                    .map(|(pair, (a, b))| pair.value_distance(a, b, self))
                    .sum();
                nearest = nearest.min(a_cost + b_cost + value_distance);
            }
        }
        nearest
    }
}
