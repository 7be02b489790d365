//! Subqueries in expressions: answered for a row before the expression is evaluated.

use std::rc::Rc;

use isobath_distance::Truth;
use smallvec::SmallVec;

use crate::eval::{Answer, Part, Raised, Stop, squeezed};
use crate::expr::{CompareOp, Expr};
use crate::value::Value;

use super::compare::{Pair, shape};
use super::evaluate::{Outcome, Run};
use super::model::{Select, Subquery, SubqueryUsage};
use super::scope::ROW;

/// What the subqueries of one SELECT say about the row at hand.
///
/// Those that do not look at the row are run once.
pub(super) struct Answers<'s> {
    answers: Vec<Answer<'s>>,
    outcomes: Vec<Option<Rc<Outcome>>>,
}

impl<'s> Answers<'s> {
    pub(super) fn new(select: &Select) -> Self {
        let count = select.subqueries.len();
        Self {
            answers: vec![Answer::Truth(Truth::UNKNOWN); count],
            outcomes: vec![None; count],
        }
    }

    pub(super) fn as_slice(&self) -> &[Answer<'s>] {
        &self.answers
    }
}

impl<'a> Run<'a> {
    /// Answers the subqueries that an expression uses.
    pub(super) fn answer<'s>(
        &self,
        expr: &'s Expr,
        row: &[Part<'a>],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<(), Stop> {
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
            answers.answers[number] = self.ask(number, row, select, answers)?;
        }
        Ok(())
    }

    fn ask<'s>(
        &self,
        number: usize,
        row: &[Part<'a>],
        select: &'s Select,
        answers: &mut Answers<'s>,
    ) -> Result<Answer<'s>, Stop> {
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
            .map(|left| self.value(left, row, select, answers))
            .collect::<Result<_, _>>()?;
        let outcome = match &answers.outcomes[number] {
            Some(outcome) => Rc::clone(outcome),
            None => {
                let shown = !matches!(subquery.usage, SubqueryUsage::Exists);
                let outcome = Rc::new(self.outcome(&subquery.query, row, shown)?);
                if !subquery.correlated {
                    answers.outcomes[number] = Some(Rc::clone(&outcome));
                }
                outcome
            }
        };
        Ok(match &subquery.usage {
            SubqueryUsage::Exists => Answer::Truth(if outcome.rows.is_empty() {
                Truth::fails(outcome.to_some())
            } else {
                Truth::holds(outcome.to_none())
            }),
            SubqueryUsage::Scalar => {
                if outcome.rows.len() > 1 && !self.dialect.takes_first_of_many() {
                    return Err(Raised::InvalidArgument.into());
                }
                let first = outcome.rows.first().and_then(|(row, _)| row.first());
                Answer::Value {
                    value: first.cloned().unwrap_or(Value::Null),
                    origin: shape(&subquery.query, 0),
                    lacking: if outcome.rows.is_empty() {
                        outcome.to_some()
                    } else {
                        outcome.lacking
                    },
                }
            }
            SubqueryUsage::Any { op, .. } => {
                Answer::Truth(self.any(subquery, (&values, lefts), *op, &outcome)?)
            }
            // x op ALL (q) is NOT (x negated-op ANY (q)), also with NULLs.
            SubqueryUsage::All { op, .. } => {
                Answer::Truth(!self.any(subquery, (&values, lefts), op.negated(), &outcome)?)
            }
        })
    }

    /// A disjunction over the rows of the subquery; near misses offer a way to make it true.
    fn any(
        &self,
        subquery: &Subquery,
        (values, lefts): (&[Value], &[Expr]),
        op: CompareOp,
        outcome: &Outcome,
    ) -> Result<Truth, Stop> {
        if lefts.len() > 1 && op != CompareOp::Equal {
            return Err(Stop::unsupported(
                "rows compared by another operator than =",
            ));
        }
        let compared = |others: &[Value]| -> Result<Truth, Stop> {
            if others.len() != values.len() {
                return Err(Raised::TypeMismatch.into());
            }
            let mut all = None;
            for (column, (value, other)) in values.iter().zip(others).enumerate() {
                let pair = Pair::of(&lefts[column], &subquery.query, column);
                let truth = pair.truth(op, value, other, self)?.rescaled(squeezed);
                all = Some(all.map_or(truth, |all: Truth| all.and(truth)));
            }
            Ok(all.unwrap_or(Truth::UNKNOWN))
        };
        // Over no rows at all a disjunction is false, whatever the operand.
        let mut truth = Truth::fails(squeezed(outcome.distance) + values.len() as f64);
        for (index, (others, to_remove)) in outcome.rows.iter().enumerate() {
            let equal = compared(others)?;
            let part = match equal.verdict() {
                Some(true) => Truth::holds(equal.to_false().min(*to_remove)),
                _ => equal,
            };
            truth = if index == 0 { part } else { truth.or(part) };
        }
        if truth.verdict() != Some(true) {
            for (others, cost) in &outcome.near {
                if let Ok(equal) = compared(others) {
                    truth = truth.or(Truth::fails(cost + equal.to_true()));
                }
            }
        }
        Ok(truth)
    }
}
