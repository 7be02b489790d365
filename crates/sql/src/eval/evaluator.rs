//! The expression evaluator: three-valued logic with distances, and dispatch to operators and
//! functions.

use std::borrow::Cow;

use isobath_distance::{Relation, Truth, member};

use crate::dialect::{Dialect, DialectName};
use crate::expr::{ColumnRef, CompareOp, Expr};
use crate::types::DataType;
use crate::value::Value;

use super::compare::Operand;
use super::error::{EvalError, RaisedError, raise, unsupported};
use super::folding::holds_constant;
use super::number::Number;
use super::static_type::{StaticType, kind_of};
use super::{Env, SubqueryResult, arithmetic, convert, parse};

/// How much the ways to satisfy a disjunction count together, beside the nearest of them.
const OTHER_WAYS: f64 = 0.1;

/// Evaluates expressions of one dialect in one setting.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'a> {
    pub(super) env: &'a Env<'a>,
    pub(super) dialect: DialectName,
    /// Whether distances are wanted, or only verdicts.
    pub(super) with_distances: bool,
    /// Whether the distance of every condition is squeezed below one before conditions are joined.
    normalizes: bool,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(env: &'a Env<'a>, dialect: &dyn Dialect) -> Self {
        Self {
            env,
            dialect: dialect.name(),
            with_distances: true,
            normalizes: false,
        }
    }

    /// The same with conditions that weigh alike, whatever the size of their numbers.
    pub(crate) fn normalizing(self) -> Self {
        Self {
            normalizes: true,
            ..self
        }
    }

    /// What a comparison with NULL is.
    pub(super) fn unknown(self) -> Truth {
        if self.normalizes {
            Truth::MISSING
        } else {
            Truth::UNKNOWN
        }
    }

    /// The same without the cost of distances between texts.
    pub(crate) fn ungraded(self) -> Self {
        Self {
            with_distances: false,
            ..self
        }
    }

    /// Whether types are checked before values are seen, as the standard has it.
    pub(super) fn typed(self) -> bool {
        matches!(self.dialect, DialectName::Ansi | DialectName::Postgres)
    }

    pub(super) fn kind<'e>(self, expr: &'e Expr) -> StaticType<'e>
    where
        'a: 'e,
    {
        match expr {
            Expr::Subquery(number) => match self.env.subquery_results.get(*number) {
                Some(SubqueryResult::Truth(_)) => StaticType::Bool,
                _ => kind_of(self.origin(expr), self.dialect),
            },
            _ => kind_of(expr, self.dialect),
        }
    }

    /// The expression that decides the type: for a scalar subquery, that of its select list.
    fn origin<'e>(self, expr: &'e Expr) -> &'e Expr
    where
        'a: 'e,
    {
        match expr {
            Expr::Subquery(number) => match self.env.subquery_results.get(*number) {
                Some(SubqueryResult::Value { origin, .. }) => origin,
                _ => expr,
            },
            _ => expr,
        }
    }

    /// The value of an expression, borrowed from the row or the expression where possible.
    pub(crate) fn value(self, expr: &'a Expr) -> Result<Cow<'a, Value>, EvalError> {
        match expr {
            Expr::Literal(value) => Ok(Cow::Borrowed(value)),
            Expr::Column(column) => self.column(column),
            Expr::Parameter(index) => match self.env.parameters.get(*index) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => unsupported(format!("parameter {index} without a value")),
            },
            Expr::Subquery(number) => match self.env.subquery_results.get(*number) {
                Some(SubqueryResult::Value { value, .. }) => Ok(Cow::Borrowed(value)),
                Some(SubqueryResult::Truth(truth)) => Ok(Cow::Owned(self.boolean(truth.verdict()))),
                None => unsupported("a subquery where there are none"),
            },
            Expr::Unary { op, expr } => arithmetic::unary(self, *op, expr).map(Cow::Owned),
            Expr::Binary { op, left, right } => {
                let value = arithmetic::binary(self, *op, left, right)?;
                arithmetic::settled(self, expr, value).map(Cow::Owned)
            }
            Expr::Case { .. } => {
                let chosen = self.branch(expr)?;
                self.quiet(expr)?;
                let Some(chosen) = chosen else {
                    let kind = self.kind(expr);
                    return self.alternative(Cow::Owned(Value::Null), expr, kind);
                };
                let value = self.value(chosen)?;
                self.alternative(value, chosen, self.kind(expr))
            }
            Expr::Cast { expr, data_type } => {
                let mut value = self.value(expr)?;
                if data_type.is_numeric() {
                    arithmetic::as_number(self, expr)?;
                }
                if data_type.is_text() && matches!(*value, Value::Decimal(_)) {
                    convert::shown(self.dialect, &value, expr)?;
                }
                if data_type.is_text()
                    && self.dialect == DialectName::MySql
                    && matches!(*value, Value::Time(_) | Value::DateTime(_))
                {
                    value = Cow::Owned(Value::Text(convert::shown(self.dialect, &value, expr)?));
                }
                convert::cast(self, value, self.kind(expr), data_type)
            }
            Expr::Function { name, args } => self.call(name, args),
            Expr::Opaque { sql, .. } => unsupported(sql.as_str()),
            Expr::Compare { .. }
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::IsNull { .. }
            | Expr::IsTruth { .. }
            | Expr::IsDistinct { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::Like { .. } => Ok(Cow::Owned(self.boolean(self.truth(expr)?.verdict()))),
        }
    }

    /// The verdict of a condition, with its distances.
    pub(crate) fn truth(self, expr: &'a Expr) -> Result<Truth, EvalError> {
        match expr {
            Expr::And(parts) => self.fold(parts, false),
            Expr::Or(parts) => self.fold(parts, true),
            Expr::Not(inner) => Ok(!self.truth(inner)?),
            leaf if self.normalizes => Ok(self.leaf(leaf)?.rescaled(normalized)),
            leaf => self.leaf(leaf),
        }
    }

    /// The verdict of a condition that is no conjunction, disjunction or negation.
    fn leaf(self, expr: &'a Expr) -> Result<Truth, EvalError> {
        match expr {
            Expr::And(_) | Expr::Or(_) | Expr::Not(_) => self.truth(expr),
            Expr::Compare {
                op,
                left: left_expr,
                right: right_expr,
            } => {
                let left = self.operand(left_expr)?;
                let right = match self.operand(right_expr) {
                    Err(EvalError::Raised(_))
                        if left.value.is_null() && self.dialect == DialectName::MySql =>
                    {
                        return unsupported("an error in a part that may not be reached");
                    }
                    other => other?,
                };
                let truth = self.compare(relation(*op), &left, &right)?;
                Ok(
                    match self.missing_row_cost(left_expr) + self.missing_row_cost(right_expr) {
                        0.0 => truth,
                        // The row that a subquery lacks can be near or far.
                        missing_row_cost => truth
                            .rescaled(|distance| distance * (1.0 + normalized(missing_row_cost))),
                    },
                )
            }
            Expr::IsNull { expr, negated } => {
                let null = match self.value(expr) {
                    // Whether something is NULL can be known without computing it.
                    Err(EvalError::Raised(_)) if self.dialect == DialectName::MySql => {
                        return unsupported("IS NULL of an error");
                    }
                    other => other?.is_null(),
                };
                Ok(match null != *negated {
                    true => Truth::holds(self.unknown().to_false()),
                    false => Truth::fails(self.unknown().to_true()),
                })
            }
            Expr::IsTruth {
                expr,
                verdict,
                negated,
            } => {
                let inner = match self.truth(expr) {
                    // Whether something is NULL can be known without computing it.
                    Err(EvalError::Raised(_))
                        if verdict.is_none() && self.dialect == DialectName::MySql =>
                    {
                        return unsupported("IS UNKNOWN of an error");
                    }
                    other => other?,
                };
                let is = match verdict {
                    Some(true) => Self::decided(inner),
                    Some(false) => Self::decided(!inner),
                    None => Truth::of(Some(inner.verdict().is_none())),
                };
                Ok(if *negated { !is } else { is })
            }
            Expr::IsDistinct {
                left,
                right,
                negated,
            } => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let same = match (left.value.is_null(), right.value.is_null()) {
                    (true, true) => Truth::TRUE,
                    (false, false) => self.compare(Relation::Equal, &left, &right)?,
                    _ => {
                        // A typed dialect still reads its literals.
                        self.compare(Relation::Equal, &left, &right)?;
                        Truth::FALSE
                    }
                };
                Ok(if *negated { same } else { !same })
            }
            Expr::Between {
                expr,
                low,
                high,
                negated,
                symmetric,
            } => {
                let x = self.operand(expr)?;
                let low = match self.operand(low) {
                    Err(EvalError::Raised(_)) if x.value.is_null() && !self.typed() => {
                        return unsupported("an error in a part that may not be reached");
                    }
                    other => other?,
                };
                let bound: &'a Expr = high;
                let high = match self.operand(bound) {
                    Err(EvalError::Raised(raised)) if !*symmetric => {
                        // Below the lower bound, the upper one is never looked at.
                        let above = self.compare(Relation::GreaterOrEqual, &x, &low)?;
                        if self.dialect != DialectName::MySql && above.verdict() == Some(false) {
                            self.never_reached(bound, raised)?;
                            return Ok(if *negated { !above } else { above });
                        }
                        return if x.value.is_null() && !self.typed() {
                            unsupported("an error in a part that may not be reached")
                        } else {
                            raise(raised)
                        };
                    }
                    other => other?,
                };
                if self.dialect == DialectName::MySql && is_logical(x.expr) {
                    return unsupported("BETWEEN over conditions");
                }
                let [x, low, high] = self.alike([x, low, high])?;
                let within = |low: &Operand<'a>, high: &Operand<'a>| {
                    Ok::<_, EvalError>(member::between(
                        self.compare(Relation::GreaterOrEqual, &x, low)?,
                        self.compare(Relation::LessOrEqual, &x, high)?,
                    ))
                };
                let mut truth = within(&low, &high)?;
                if *symmetric {
                    truth = truth.or(within(&high, &low)?);
                }
                Ok(if *negated { !truth } else { truth })
            }
            Expr::InList {
                expr,
                list,
                negated,
            } => {
                let x = self.operand(expr)?;
                self.one_collation(expr, list)?;
                self.one_type(expr, list)?;
                let mut truth = Truth::FALSE;
                for (index, element) in list.iter().enumerate() {
                    let equal = match self
                        .operand(element)
                        .and_then(|element| self.compare_member(&x, &element))
                    {
                        // MariaDB stops at the first match and compares in groups of types.
                        Err(EvalError::Raised(_)) if self.dialect == DialectName::MySql => {
                            return unsupported("an error in a part that may not be reached");
                        }
                        // Members with columns are looked at one after the other.
                        Err(EvalError::Raised(raised))
                            if list.len() > 1
                                && raised != RaisedError::TypeMismatch
                                && !holds_constant(element).0 =>
                        {
                            return unsupported("an error in a part that may not be reached");
                        }
                        other => other?,
                    };
                    truth = if index == 0 { equal } else { truth.or(equal) };
                }
                Ok(if *negated { !truth } else { truth })
            }
            Expr::Like {
                expr,
                pattern,
                escape,
                kind,
                negated,
            } => {
                let truth = self.like(expr, pattern, *escape, *kind)?;
                Ok(if *negated { !truth } else { truth })
            }
            Expr::Case { .. } if self.typed() && self.kind(expr) != StaticType::Bool => {
                let value = self.value(expr)?;
                self.condition(&value, self.kind(expr))
            }
            Expr::Case { .. } => match self.branch(expr)? {
                Some(chosen) => {
                    self.quiet(expr)?;
                    self.truth(chosen)
                }
                None => Ok(self.unknown()),
            },
            Expr::Subquery(number)
                if let Some(SubqueryResult::Truth(truth)) =
                    self.env.subquery_results.get(*number) =>
            {
                Ok(*truth)
            }
            Expr::Literal(_)
            | Expr::Column(_)
            | Expr::Parameter(_)
            | Expr::Subquery(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Cast { .. }
            | Expr::Function { .. }
            | Expr::Opaque { .. } => {
                arithmetic::as_number(self, expr)?;
                let value = self.value(expr)?;
                self.condition(&value, self.kind(expr))
            }
        }
    }

    /// How far a subquery is from having the row that it lacks; zero for anything else.
    fn missing_row_cost(self, expr: &Expr) -> f64 {
        match expr {
            Expr::Subquery(number) if self.normalizes => {
                match self.env.subquery_results.get(*number) {
                    Some(SubqueryResult::Value {
                        missing_row_cost, ..
                    }) => *missing_row_cost,
                    _ => 0.0,
                }
            }
            _ => 0.0,
        }
    }

    /// `IS TRUE` of an outcome, keeping its distances.
    fn decided(inner: Truth) -> Truth {
        if inner.verdict() == Some(true) {
            Truth::holds(inner.to_false())
        } else {
            Truth::fails(inner.to_true())
        }
    }

    /// Conjunction or disjunction from left to right, `decisive` ending it.
    fn fold(self, parts: &'a [Expr], decisive: bool) -> Result<Truth, EvalError> {
        // All parts of a conjunction are turned, so that both are disjunctions.
        let turned = |truth: Truth| if decisive { truth } else { !truth };
        let mut any: Option<Truth> = None;
        let mut ways = 0.0;
        for part in parts {
            let decided = any.is_some_and(|any| any.verdict() == Some(true));
            let truth = match self.truth(part) {
                // The database stopped before it came here, so its error never happens.
                Err(EvalError::Raised(raised)) if decided => {
                    self.never_reached(part, raised)?;
                    Truth::UNKNOWN
                }
                other => turned(other?),
            };
            ways += 1.0 / truth.to_true();
            any = Some(any.map_or(truth, |any| any.or(truth)));
        }
        let mut any = any.unwrap_or(Truth::FALSE);
        if self.normalizes && any.to_true() > 0.0 {
            // The nearest way counts most, but on none of the others does a step go unnoticed.
            let to_true = (1.0 - OTHER_WAYS) * any.to_true() + OTHER_WAYS / ways;
            any = any.with_distance_to_true(to_true);
        }
        Ok(turned(any))
    }

    /// An operand of a comparison.
    pub(super) fn operand(self, expr: &'a Expr) -> Result<Operand<'a>, EvalError> {
        Ok(Operand {
            value: self.value(expr)?,
            expr: self.origin(expr),
        })
    }

    /// A column's value, which is of its type even when the row was not stored yet.
    fn column(self, column: &'a ColumnRef) -> Result<Cow<'a, Value>, EvalError> {
        let Some(value) = self.env.row.get(column.slot) else {
            return unsupported(format!("column {} outside the row", column.name));
        };
        if self.dialect == DialectName::Sqlite || convert::conforms(value, &column.data_type) {
            return Ok(Cow::Borrowed(value));
        }
        // What a query computes may be a number of another kind than foretold, or of a type that we do not know.
        let computed = match &column.data_type {
            DataType::Other(name) => name.is_empty(),
            known => known.is_numeric() && Number::of(value).is_some(),
        };
        if computed && !self.env.writes {
            return Ok(Cow::Borrowed(value));
        }
        match convert::assign(value, &column.data_type, self.dialect) {
            Ok(value) => Ok(Cow::Owned(value)),
            Err(_) => unsupported(format!("a value of another type in column {}", column.name)),
        }
    }

    /// TRUE, FALSE or NULL as a value.
    pub(super) fn boolean(self, verdict: Option<bool>) -> Value {
        match (verdict, self.dialect) {
            (None, _) => Value::Null,
            (Some(value), DialectName::Ansi | DialectName::Postgres) => Value::Bool(value),
            (Some(value), DialectName::MySql | DialectName::Sqlite) => Value::Int(value.into()),
        }
    }

    /// The verdict of a value that stands where a condition is wanted.
    fn condition(self, value: &Value, kind: StaticType<'_>) -> Result<Truth, EvalError> {
        if value.is_null() {
            return Ok(self.unknown());
        }
        if self.typed() {
            return match (value, kind) {
                (Value::Bool(value), _) => Ok(Truth::of(Some(*value))),
                (Value::Text(text), StaticType::Unknown) => match parse::boolean(text) {
                    Ok(value) => Ok(Truth::of(Some(value))),
                    Err(bad) => Err(bad.stop(text)),
                },
                _ => raise(RaisedError::TypeMismatch),
            };
        }
        let zero = Value::Int(0);
        let number = match (value, self.dialect) {
            (Value::Text(text), DialectName::Sqlite) => parse::prefix(text).number,
            (Value::Text(text), _) => arithmetic::text_as_number(self, text)?,
            (other, DialectName::Sqlite) => match Number::of(other) {
                Some(number) => number,
                None => return unsupported("this value as a condition"),
            },
            (other, _) => match Number::of(other) {
                Some(number) => number,
                None => return unsupported("this value as a condition"),
            },
        };
        let zero = Number::of(&zero).unwrap_or(number);
        Ok(Relation::NotEqual.judge(number.order(zero), number.gap(zero)))
    }
}

/// Squeezes a distance into `0..1`, so that unlike distances can be added.
///
/// By its logarithm, because `d / (d + 1)` no longer moves where dates and
/// money lie apart: a step of one in 10⁹ must still count.
pub(crate) fn normalized(distance: f64) -> f64 {
    let logarithm = distance.ln_1p();
    logarithm / (logarithm + 1.0)
}

/// Whether an expression is a condition by its form.
fn is_logical(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Compare { .. }
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::IsNull { .. }
            | Expr::IsTruth { .. }
            | Expr::IsDistinct { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::Like { .. }
    )
}

/// The relation that an operator names.
pub(super) fn relation(op: CompareOp) -> Relation {
    match op {
        CompareOp::Equal => Relation::Equal,
        CompareOp::NotEqual => Relation::NotEqual,
        CompareOp::Less => Relation::Less,
        CompareOp::LessOrEqual => Relation::LessOrEqual,
        CompareOp::Greater => Relation::Greater,
        CompareOp::GreaterOrEqual => Relation::GreaterOrEqual,
    }
}
