//! CASE and other conditional expressions: branch selection, and their common type.

use std::borrow::Cow;

use isobath_distance::Relation;

use crate::dialect::DialectName;
use crate::expr::Expr;
use crate::value::Value;

use super::error::{EvalError, unsupported};
use super::evaluator::Evaluator;
use super::static_type::StaticType;
use super::{arithmetic, convert};

impl<'a> Evaluator<'a> {
    /// The branch of a CASE that is taken.
    pub(super) fn branch(self, case: &'a Expr) -> Result<Option<&'a Expr>, EvalError> {
        let Expr::Case {
            operand,
            branches,
            otherwise,
        } = case
        else {
            return Ok(Some(case));
        };
        let operand = match operand {
            Some(operand) => Some(self.operand(operand)?),
            None => None,
        };
        for (when, then) in branches {
            let truth = match &operand {
                Some(operand) => self.compare(Relation::Equal, operand, &self.operand(when)?)?,
                None => match self.truth(when) {
                    // MariaDB is strict about some of the conditions only.
                    Err(EvalError::Raised(_))
                        if self.env.writes && self.dialect == DialectName::MySql =>
                    {
                        return unsupported("an error in a condition of CASE");
                    }
                    other => other?,
                },
            };
            if truth.verdict() == Some(true) {
                return Ok(Some(then));
            }
        }
        Ok(otherwise.as_deref())
    }

    /// A value chosen among alternatives, brought to their common type.
    pub(super) fn alternative(
        self,
        value: Cow<'a, Value>,
        chosen: &Expr,
        common: StaticType<'_>,
    ) -> Result<Cow<'a, Value>, EvalError> {
        let own = self.kind(chosen);
        if common == StaticType::Other && self.dialect != DialectName::Sqlite {
            return unsupported("alternatives of different types");
        }
        if value.is_null() || own == common {
            return Ok(value);
        }
        match self.dialect {
            DialectName::Sqlite => Ok(value),
            DialectName::Ansi | DialectName::Postgres => convert::to_kind(self, value, own, common),
            DialectName::MySql => {
                // Alternatives of one family keep their value; others become strings.
                if own.is_number() && common.is_number() {
                    let value = match chosen {
                        // Among floats, a quotient keeps its digits.
                        Expr::Binary { .. } if matches!(common, StaticType::Float { .. }) => {
                            Cow::Owned(arithmetic::raw(self, chosen)?.into_owned())
                        }
                        _ => value,
                    };
                    return convert::to_kind(self, value, own, common);
                }
                match (&*value, common) {
                    (Value::Text(_), _) if common.is_text() => Ok(value),
                    (other, _) if common.is_text() => {
                        let text = convert::shown(self.dialect, other, chosen)?;
                        Ok(Cow::Owned(Value::Text(text)))
                    }
                    (Value::Date(day), StaticType::DateTime) => {
                        Ok(Cow::Owned(Value::DateTime(day.at(0, 0, 0, 0))))
                    }
                    _ => unsupported("alternatives of different types"),
                }
            }
        }
    }
}
