//! Evaluates the subqueries of an expression for a row.

use std::rc::Rc;

use isobath_distance::Truth;
use smallvec::SmallVec;

use crate::eval::{EvalError, RaisedError, RowPart, SubqueryResult, normalized};
use crate::expr::{CompareOp, Expr};
use crate::value::Value;

use super::compare::{ComparedExprs, shape};
use super::evaluate::{QueryEvaluator, QueryOutcome};
use super::model::{Select, Subquery, SubqueryUsage};
use super::scope::ROW;

/// What the subqueries of one SELECT say about the row at hand.
///
/// Those that do not look at the row are run once.
pub(super) struct SubqueryResults<'s> {
    subquery_results: Vec<SubqueryResult<'s>>,
    outcomes: Vec<Option<Rc<QueryOutcome>>>,
}

impl<'s> SubqueryResults<'s> {
    pub(super) fn new(select: &Select) -> Self {
        let count = select.subqueries.len();
        Self {
            subquery_results: vec![SubqueryResult::Truth(Truth::UNKNOWN); count],
            outcomes: vec![None; count],
        }
    }

    pub(super) fn as_slice(&self) -> &[SubqueryResult<'s>] {
        &self.subquery_results
    }
}

impl<'a> QueryEvaluator<'a> {
    /// Answers the subqueries that an expression uses.
    pub(super) fn answer<'s>(
        &self,
        expr: &'s Expr,
        row: &[RowPart<'a>],
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<(), EvalError> {
        if select.subqueries.is_empty() {
            return Ok(());
        }
        let mut used = SmallVec::<[usize; 4]>::new();
        expr.walk(&mut |part| {
            if let Expr::Subquery(number) = part {
                used.push(*number);
            }
        });
        for number in used {
            subquery_results.subquery_results[number] =
                self.ask(number, row, select, subquery_results)?;
        }
        Ok(())
    }

    fn ask<'s>(
        &self,
        number: usize,
        row: &[RowPart<'a>],
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<SubqueryResult<'s>, EvalError> {
        let subquery = &select.subqueries[number];
        let lefts: &'s [Expr] = match &subquery.usage {
            SubqueryUsage::Any { left, .. } | SubqueryUsage::All { left, .. } => match left {
                Expr::Function { name, args } if name == ROW => args,
                one => std::slice::from_ref(one),
            },
            SubqueryUsage::Exists | SubqueryUsage::Scalar => &[],
        };
        let values: SmallVec<[Value; 2]> = lefts
            .iter()
            .map(|left| self.value(left, row, select, subquery_results))
            .collect::<Result<_, _>>()?;
        let outcome = match &subquery_results.outcomes[number] {
            Some(outcome) => Rc::clone(outcome),
            None => {
                let shown = !matches!(subquery.usage, SubqueryUsage::Exists);
                let outcome = Rc::new(self.outcome(&subquery.query, row, shown)?);
                if !subquery.correlated {
                    subquery_results.outcomes[number] = Some(Rc::clone(&outcome));
                }
                outcome
            }
        };
        Ok(match &subquery.usage {
            SubqueryUsage::Exists => SubqueryResult::Truth(if outcome.rows.is_empty() {
                Truth::fails(outcome.distance_to_rows())
            } else {
                Truth::holds(outcome.distance_to_empty())
            }),
            SubqueryUsage::Scalar => {
                if outcome.rows.len() > 1 && !self.dialect.takes_first_of_many() {
                    return Err(RaisedError::InvalidArgument.into());
                }
                let first = outcome.rows.first().and_then(|(row, _)| row.first());
                SubqueryResult::Value {
                    value: first.cloned().unwrap_or(Value::Null),
                    origin: shape(&subquery.query, 0),
                    missing_row_cost: if outcome.rows.is_empty() {
                        outcome.distance_to_rows()
                    } else {
                        outcome.missing_row_cost
                    },
                }
            }
            SubqueryUsage::Any { op, .. } => {
                SubqueryResult::Truth(self.any(subquery, (&values, lefts), *op, &outcome)?)
            }
            // x op ALL (q) is NOT (x negated-op ANY (q)), also with NULLs.
            SubqueryUsage::All { op, .. } => SubqueryResult::Truth(!self.any(
                subquery,
                (&values, lefts),
                op.negated(),
                &outcome,
            )?),
        })
    }

    /// A disjunction over the rows of the subquery; near misses offer a way to make it true.
    fn any(
        &self,
        subquery: &Subquery,
        (values, lefts): (&[Value], &[Expr]),
        op: CompareOp,
        outcome: &QueryOutcome,
    ) -> Result<Truth, EvalError> {
        if lefts.len() > 1 && op != CompareOp::Equal {
            return Err(EvalError::unsupported(
                "rows compared by another operator than =",
            ));
        }
        let column_comparisons = |others: &[Value]| -> Result<Truth, EvalError> {
            if others.len() != values.len() {
                return Err(RaisedError::TypeMismatch.into());
            }
            let mut all = None;
            for (column, (value, other)) in values.iter().zip(others).enumerate() {
                let pair = ComparedExprs::of(&lefts[column], &subquery.query, column);
                let truth = pair.truth(op, value, other, self)?.rescaled(normalized);
                all = Some(all.map_or(truth, |all: Truth| all.and(truth)));
            }
            Ok(all.unwrap_or(Truth::UNKNOWN))
        };
        // Over no rows at all a disjunction is false, whatever the operand.
        let mut truth = Truth::fails(normalized(outcome.distance) + values.len() as f64);
        for (index, (others, to_remove)) in outcome.rows.iter().enumerate() {
            let equal = column_comparisons(others)?;
            let part = match equal.verdict() {
                Some(true) => Truth::holds(equal.to_false().min(*to_remove)),
                _ => equal,
            };
            truth = if index == 0 { part } else { truth.or(part) };
        }
        if truth.verdict() != Some(true) {
            for (others, cost) in &outcome.near_misses {
                if let Ok(equal) = column_comparisons(others) {
                    truth = truth.or(Truth::fails(cost + equal.to_true()));
                }
            }
        }
        Ok(truth)
    }
}
