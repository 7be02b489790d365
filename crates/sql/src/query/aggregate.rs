//! Aggregate functions.

use rust_decimal::Decimal;

use crate::dialect::DialectName;
use crate::eval::static_type::{StaticType, kind_of};
use crate::eval::{self, EvalError, Row, RowPart};
use crate::expr::{BinaryOp, Expr};
use crate::types::DataType;
use crate::value::Value;

use super::compare::ComparedExprs;
use super::evaluate::QueryEvaluator;
use super::model::{Aggregate, AggregateFunction, OrderBy, OrderKey, Select};
use super::subquery::SubqueryResults;

impl<'a> QueryEvaluator<'a> {
    /// The value of an aggregate over the rows of a group.
    pub(super) fn aggregate<'r, 's>(
        &self,
        aggregate: &'s Aggregate,
        members: impl Iterator<Item = &'r [RowPart<'a>]>,
        select: &'s Select,
        subquery_results: &mut SubqueryResults<'s>,
    ) -> Result<Value, EvalError>
    where
        'a: 'r,
    {
        let mut values = Vec::new();
        let mut keys: Vec<Vec<Value>> = Vec::new();
        let mut count = 0;
        for row in members {
            if let Some(filter) = &aggregate.filter
                && self.truth(filter, row, select, subquery_results)?.verdict() != Some(true)
            {
                continue;
            }
            count += 1;
            if let Some(argument) = &aggregate.argument {
                let value = self.value(argument, row, select, subquery_results)?;
                if !value.is_null() {
                    if !aggregate.order_by.is_empty() {
                        keys.push(self.sort_keys(
                            &aggregate.order_by,
                            row,
                            &[],
                            select,
                            subquery_results,
                        )?);
                    }
                    values.push(value);
                }
            }
        }
        if !keys.is_empty() {
            values = self.in_order(values, keys, &aggregate.order_by)?;
        }
        let pair = ComparedExprs::perhaps(aggregate.argument.as_ref());
        if aggregate.distinct {
            let mut kept: Vec<Value> = Vec::new();
            for value in values {
                let mut seen = false;
                for other in &kept {
                    seen |= pair.is_same(&value, other, self)?;
                }
                if !seen {
                    kept.push(value);
                }
            }
            values = kept;
        }
        match &aggregate.function {
            AggregateFunction::Count if aggregate.argument.is_none() => Ok(Value::Int(count)),
            AggregateFunction::Count => Ok(Value::Int(values.len() as i128)),
            AggregateFunction::Min | AggregateFunction::Max => {
                let wanted = match aggregate.function {
                    AggregateFunction::Min => std::cmp::Ordering::Less,
                    _ => std::cmp::Ordering::Greater,
                };
                let mut best: Option<Value> = None;
                for value in values {
                    let better = match &best {
                        Some(best) => pair.order(&value, best, self)? == wanted,
                        None => true,
                    };
                    if better {
                        best = Some(value);
                    }
                }
                Ok(best.unwrap_or(Value::Null))
            }
            AggregateFunction::Sum => self.sum(&values, aggregate.argument.as_ref()),
            AggregateFunction::Avg => self.average(&values, aggregate.argument.as_ref()),
            AggregateFunction::Total => match self.sum(&values, aggregate.argument.as_ref())? {
                Value::Null => Ok(Value::Float(0.0)),
                Value::Int(sum) => Ok(Value::Float(sum as f64)),
                other => Ok(other),
            },
            AggregateFunction::Concat(separator) => {
                if values.is_empty() {
                    return Ok(Value::Null);
                }
                let texts: Vec<String> = values
                    .iter()
                    .map(|value| self.as_text(value))
                    .collect::<Result<_, _>>()?;
                Ok(Value::Text(texts.join(separator)))
            }
            AggregateFunction::BoolAnd | AggregateFunction::BoolOr => {
                let mut verdicts = Vec::new();
                for value in &values {
                    match value {
                        Value::Bool(verdict) => verdicts.push(*verdict),
                        other => {
                            return Err(EvalError::unsupported(format!(
                                "a boolean aggregate of {other}"
                            )));
                        }
                    }
                }
                Ok(match (&aggregate.function, verdicts.is_empty()) {
                    (_, true) => Value::Null,
                    (AggregateFunction::BoolAnd, false) => {
                        Value::Bool(verdicts.iter().all(|verdict| *verdict))
                    }
                    (_, false) => Value::Bool(verdicts.iter().any(|verdict| *verdict)),
                })
            }
        }
    }

    /// Values by the keys that ORDER BY gave them.
    fn in_order(
        &self,
        values: Vec<Value>,
        keys: Vec<Vec<Value>>,
        order_by: &[OrderKey],
    ) -> Result<Vec<Value>, EvalError> {
        let pairs: Vec<ComparedExprs<'_>> = order_by
            .iter()
            .map(|key| match &key.by {
                OrderBy::Expr(expr) => ComparedExprs::same(expr),
                OrderBy::Output(_) => ComparedExprs::perhaps(None),
            })
            .collect();
        let mut keyed: Vec<(Value, Vec<Value>)> = values.into_iter().zip(keys).collect();
        let mut stop = None;
        keyed.sort_by(|(_, a), (_, b)| {
            self.by_keys(a, b, order_by, &pairs)
                .unwrap_or_else(|error| {
                    stop = Some(error);
                    std::cmp::Ordering::Equal
                })
        });
        match stop {
            Some(stop) => Err(stop),
            None => Ok(keyed.into_iter().map(|(value, _)| value).collect()),
        }
    }

    /// Adds up by the dialect's own `+`; integers widen as sums do.
    fn sum(&self, values: &[Value], argument: Option<&Expr>) -> Result<Value, EvalError> {
        let dialect = self.dialect.name();
        let wide = argument.is_none_or(|argument| {
            !matches!(
                kind_of(argument, dialect),
                StaticType::Int {
                    bits: 8..=32,
                    unsigned: false
                }
            )
        });
        let widened = |value: &Value| -> Result<Value, EvalError> {
            Ok(match (value, dialect) {
                // SUM of integers is DECIMAL in MySQL, and in PostgreSQL that of long ones.
                (Value::Int(number), DialectName::MySql) => decimal(*number)?,
                (Value::Int(number), DialectName::Postgres | DialectName::Ansi) if wide => {
                    decimal(*number)?
                }
                (Value::Bool(verdict), DialectName::MySql) => decimal(i128::from(*verdict))?,
                (Value::Text(_), DialectName::MySql) => {
                    self.arithmetic(BinaryOp::Add, value.clone(), Value::Float(0.0))?
                }
                (Value::Int(_) | Value::Decimal(_) | Value::Float(_), _) => value.clone(),
                (Value::Bool(verdict), DialectName::Sqlite) => Value::Int(i128::from(*verdict)),
                (other, _) => return Err(EvalError::unsupported(format!("SUM of {other}"))),
            })
        };
        let Some((first, rest)) = values.split_first() else {
            return Ok(Value::Null);
        };
        let mut sum = widened(first)?;
        for value in rest {
            sum = self.arithmetic(BinaryOp::Add, sum, widened(value)?)?;
        }
        Ok(sum)
    }

    fn average(&self, values: &[Value], argument: Option<&Expr>) -> Result<Value, EvalError> {
        let count = values.len();
        match (self.sum(values, argument)?, self.dialect.name()) {
            (Value::Null, _) => Ok(Value::Null),
            (Value::Int(sum), DialectName::Sqlite) => Ok(Value::Float(sum as f64 / count as f64)),
            (Value::Int(sum), _) => {
                self.arithmetic(BinaryOp::Divide, decimal(sum)?, Value::Int(count as i128))
            }
            (sum, _) => self.arithmetic(BinaryOp::Divide, sum, Value::Int(count as i128)),
        }
    }

    fn arithmetic(&self, op: BinaryOp, a: Value, b: Value) -> Result<Value, EvalError> {
        let operand = |value: Value| Box::new(Expr::Literal(value));
        let expr = Expr::Binary {
            op,
            left: operand(a),
            right: operand(b),
        };
        eval::value_in(&expr, self.env(Row::Whole(&[])), self.dialect)
    }

    fn as_text(&self, value: &Value) -> Result<String, EvalError> {
        let expr = Expr::Cast {
            expr: Box::new(Expr::Literal(value.clone())),
            data_type: DataType::Text,
        };
        match eval::value_in(&expr, self.env(Row::Whole(&[])), self.dialect)? {
            Value::Text(text) => Ok(text),
            other => Err(EvalError::unsupported(format!("{other} as text"))),
        }
    }
}

fn decimal(number: i128) -> Result<Value, EvalError> {
    Decimal::try_from_i128_with_scale(number, 0)
        .map(Value::Decimal)
        .map_err(|_| EvalError::unsupported("a sum of very long numbers"))
}
