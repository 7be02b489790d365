//! UNION, INTERSECT and EXCEPT.

use crate::eval::{Stop, squeezed};
use crate::value::Value;

use super::compare::Pair;
use super::evaluate::{Outcome, Run};
use super::model::{Query, SetOp};
use super::pool::NOTHING;

impl Run<'_> {
    pub(super) fn combine(
        &self,
        op: SetOp,
        all: bool,
        query: &Query,
        (left, right): (Outcome, Outcome),
    ) -> Result<Outcome, Stop> {
        let width = left
            .rows
            .first()
            .or(right.rows.first())
            .or(left.near.first())
            .map_or(0, |(row, _)| row.len());
        let pairs: Vec<Pair<'_>> = (0..width)
            .map(|column| Pair::output(query, column))
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
                squeezed(leaving.min(left.near_cost())).max(f64::MIN_POSITIVE)
            }
        };
        let mut near = left.near;
        if op == SetOp::Union {
            near.extend(right.near);
        }
        let stepwise = match op {
            SetOp::Union => left.stepwise.min(right.stepwise),
            SetOp::Intersect => left.stepwise + right.stepwise + squeezed(distance),
            SetOp::Except => left.stepwise + squeezed(distance),
        };
        Ok(Outcome {
            rows,
            near,
            distance,
            stepwise,
            lacking: 0.0,
        })
    }

    /// The least cost of a row that both sides have.
    fn nearest_pair(&self, pairs: &[Pair<'_>], left: &Outcome, right: &Outcome) -> f64 {
        let side = |outcome: &Outcome| -> Vec<(Vec<Value>, f64)> {
            let there = outcome.rows.iter().map(|(row, _)| (row.clone(), 0.0));
            there.chain(outcome.near.iter().cloned()).take(64).collect()
        };
        let mut nearest = NOTHING;
        for (a, a_cost) in side(left) {
            for (b, b_cost) in side(right) {
                let apart: f64 = pairs
                    .iter()
                    .zip(a.iter().zip(&b))
                    .map(|(pair, (a, b))| pair.apart(a, b, self))
                    .sum();
                nearest = nearest.min(a_cost + b_cost + apart);
            }
        }
        nearest
    }
}
