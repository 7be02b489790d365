//! Which comparisons mean something for domains: `a * column + b` against a constant or another
//! column, membership, length, patterns.

use isobath_sql::expr::{BinaryOp, CompareOp, UnaryOp};
use isobath_sql::{DataType, Expr, Value, eval};
use rust_decimal::Decimal;

use super::problem::{CellConstraint, CellProblem, DomainConstraint, ExprConstraint};
use crate::schema::predicate::RequiredTruth;

/// What a test means, with goals that it implies.
pub(super) struct DomainConstraints<'a> {
    pub(super) main: DomainConstraint,
    pub(super) helpers: Vec<CellConstraint<'a>>,
}

/// Functions that are NULL exactly when an argument is.
const STRICT: &[&str] = &[
    "abs",
    "ascii",
    "btrim",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "floor",
    "instr",
    "left",
    "length",
    "len",
    "lower",
    "ltrim",
    "mod",
    "octet_length",
    "position",
    "replace",
    "reverse",
    "right",
    "round",
    "rtrim",
    "strpos",
    "substr",
    "substring",
    "trim",
    "trunc",
    "upper",
];

/// Functions of a moment that are NULL exactly when it is; of text that is none, some engines make NULL.
const STRICT_OF_MOMENTS: &[&str] = &[
    "date",
    "date_part",
    "day",
    "dayofmonth",
    "extract",
    "hour",
    "minute",
    "month",
    "second",
    "year",
];

/// Whether an expression is NULL (or unknown) exactly when a column in it is NULL.
pub(super) fn is_strict(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value) => !value.is_null(),
        Expr::Column(_) => true,
        Expr::Unary { expr, .. } => is_strict(expr),
        // Division by zero is NULL in some dialects.
        Expr::Binary { op, left, right } => {
            let divides = matches!(
                op,
                BinaryOp::Divide | BinaryOp::IntegerDivide | BinaryOp::Modulo
            );
            let safe = !divides || matches!(&**right, Expr::Literal(value) if !is_zero(value));
            safe && is_strict(left) && is_strict(right)
        }
        Expr::Compare { left, right, .. } => is_strict(left) && is_strict(right),
        Expr::InList { expr, list, .. } => is_strict(expr) && list.iter().all(is_constant),
        Expr::Like { expr, pattern, .. } => is_strict(expr) && is_strict(pattern),
        Expr::Function { name, args } => {
            let safe = name != "mod"
                || matches!(args.get(1), Some(Expr::Literal(value)) if !is_zero(value));
            let known = STRICT.contains(&name.as_str())
                || STRICT_OF_MOMENTS.contains(&name.as_str()) && args.iter().all(is_moment);
            safe && known && args.iter().all(is_strict)
        }
        Expr::Not(_)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Between { .. }
        | Expr::Cast { .. }
        | Expr::Parameter(_)
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::IsDistinct { .. }
        | Expr::Case { .. }
        | Expr::Subquery(_)
        | Expr::Opaque { .. } => false,
    }
}

/// A column that holds moments, or a word like YEAR that says which part of it is meant.
fn is_moment(expr: &Expr) -> bool {
    match expr {
        Expr::Column(column) => matches!(
            column.data_type,
            DataType::Date | DataType::Time { .. } | DataType::Timestamp { .. }
        ),
        Expr::Literal(_) => true,
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value) => !value.is_null(),
        Expr::Unary { expr, .. } => is_constant(expr),
        Expr::Cast { expr, .. } => is_constant(expr),
        _ => false,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(number) => *number == 0,
        Value::Decimal(number) => number.is_zero(),
        Value::Float(number) => *number == 0.0,
        _ => true,
    }
}

/// What it means that `expr` is true (or false, with all columns not NULL).
pub(super) fn forms<'a>(
    problem: &CellProblem<'a>,
    row: usize,
    expr: &Expr,
    holds: bool,
) -> DomainConstraints<'a> {
    let reader = TestReader { problem, row };
    let mut helpers = Vec::new();
    let main = match expr {
        Expr::Compare { op, left, right } => {
            let op = if holds { *op } else { op.negated() };
            reader
                .compare(op, left, right, &mut helpers)
                .or_else(|| reader.compare(op.swapped(), right, left, &mut helpers))
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => reader.member(expr, list, *negated != holds),
        Expr::Like { expr, negated, .. } => (matches!(&**expr, Expr::Column(_))
            && *negated != holds)
            .then_some(DomainConstraint::Pattern),
        _ => None,
    };
    DomainConstraints {
        main: main.unwrap_or(DomainConstraint::Opaque),
        helpers,
    }
}

/// `factor * cell + offset`.
struct LinearTerm {
    factor: Decimal,
    cell: usize,
    offset: Decimal,
}

struct TestReader<'p, 'a> {
    problem: &'p CellProblem<'a>,
    row: usize,
}

impl<'a> TestReader<'_, 'a> {
    /// The value of an expression without columns.
    fn constant(&self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Literal(value) => Some(value.clone()),
            _ if !expr.columns().is_empty() => None,
            _ => eval::value(expr, &[], self.problem.dialect).ok(),
        }
        .filter(|value| !value.is_null())
    }

    fn compare(
        &self,
        op: CompareOp,
        left: &Expr,
        right: &Expr,
        helpers: &mut Vec<CellConstraint<'a>>,
    ) -> Option<DomainConstraint> {
        if let Some(form) = self.function(op, left, right, helpers) {
            return Some(form);
        }
        if let Expr::Column(column) = left {
            let cell = self.problem.cell(self.row, column.slot);
            if self.problem.cells[cell].axis.is_none() {
                return self.plain(op, cell, right);
            }
        }
        let left = self.linear(left)?;
        let axis = self.problem.cells[left.cell].axis?;
        if let Some(right) = self.linear(right) {
            let other = self.problem.cells[right.cell].axis?;
            let one = Decimal::ONE;
            if axis.line != other.line || left.factor != one || right.factor != one {
                return None;
            }
            return Some(DomainConstraint::Order {
                left: left.cell,
                op,
                right: right.cell,
                offset: right.offset.checked_sub(left.offset)?,
            });
        }
        let constant = self.constant(right)?;
        let point = self.point(left.cell, &constant)?;
        let target = point.checked_sub(left.offset)?;
        let point = target.checked_div(left.factor)?;
        // A quotient that was rounded is no bound.
        (point.checked_mul(left.factor)? == target).then_some(())?;
        let op = if left.factor.is_sign_negative() {
            op.swapped()
        } else {
            op
        };
        Some(DomainConstraint::Bound {
            cell: left.cell,
            op,
            point,
        })
    }

    /// The point of a constant on the axis of a cell.
    fn point(&self, cell: usize, constant: &Value) -> Option<Decimal> {
        let plan = &self.problem.cells[cell];
        let axis = plan.axis?;
        if let Some(point) = axis.point(constant) {
            return Some(point);
        }
        // Text stands for a value of the column's type, unless converting it loses something.
        let Value::Text(text) = constant else {
            return None;
        };
        if plan.definition.data_type == DataType::Date && text.len() > 10 {
            return None;
        }
        axis.point(&self.problem.stored(cell, constant)?)
    }

    fn linear(&self, expr: &Expr) -> Option<LinearTerm> {
        match expr {
            Expr::Column(column) => {
                let cell = self.problem.cell(self.row, column.slot);
                self.problem.cells[cell].axis?;
                Some(LinearTerm {
                    factor: Decimal::ONE,
                    cell,
                    offset: Decimal::ZERO,
                })
            }
            Expr::Unary {
                op: UnaryOp::Plus,
                expr,
            } => self.linear(expr),
            Expr::Unary {
                op: UnaryOp::Minus,
                expr,
            } => {
                let inner = self.exact(expr)?;
                Some(LinearTerm {
                    factor: -inner.factor,
                    cell: inner.cell,
                    offset: -inner.offset,
                })
            }
            Expr::Binary { op, left, right } => {
                let (inner, constant, turned) = match (self.constant(left), self.constant(right)) {
                    (None, Some(constant)) => (self.exact(left)?, constant, false),
                    (Some(constant), None) => (self.exact(right)?, constant, true),
                    _ => return None,
                };
                let plan = &self.problem.cells[inner.cell];
                let axis = plan.axis?;
                let (factor, offset) = match op {
                    BinaryOp::Add => {
                        let step = axis.step(&constant, &plan.definition.data_type)?;
                        (inner.factor, inner.offset.checked_add(step)?)
                    }
                    BinaryOp::Subtract if turned => {
                        let start = axis.point(&constant)?;
                        (-inner.factor, start.checked_sub(inner.offset)?)
                    }
                    BinaryOp::Subtract => {
                        let step = axis.step(&constant, &plan.definition.data_type)?;
                        (inner.factor, inner.offset.checked_sub(step)?)
                    }
                    BinaryOp::Multiply => {
                        let by = match constant {
                            Value::Int(_) | Value::Decimal(_) => axis.point(&constant)?,
                            _ => return None,
                        };
                        (!by.is_zero()).then_some(())?;
                        (inner.factor.checked_mul(by)?, inner.offset.checked_mul(by)?)
                    }
                    _ => return None,
                };
                Some(LinearTerm {
                    factor,
                    cell: inner.cell,
                    offset,
                })
            }
            _ => None,
        }
    }

    /// A linear form whose arithmetic the database does exactly.
    fn exact(&self, expr: &Expr) -> Option<LinearTerm> {
        let inner = self.linear(expr)?;
        let plan = &self.problem.cells[inner.cell];
        let float = matches!(plan.definition.data_type, DataType::Float { .. });
        // A flexible column may hold text, which arithmetic reads as a number.
        let exact = !float && plan.axis.is_some_and(|axis| !axis.dense);
        exact.then_some(inner)
    }

    /// A column without an axis against a constant or such a column.
    fn plain(&self, op: CompareOp, cell: usize, right: &Expr) -> Option<DomainConstraint> {
        if let Expr::Column(column) = right {
            let right = self.problem.cell(self.row, column.slot);
            if self.problem.cells[right].axis.is_some() {
                return None;
            }
            return match op {
                CompareOp::Equal => Some(DomainConstraint::Equal { left: cell, right }),
                CompareOp::NotEqual => Some(DomainConstraint::Unequal { left: cell, right }),
                _ => None,
            };
        }
        let constant = self.constant(right)?;
        match op {
            CompareOp::Equal => self.one_of(cell, [constant]),
            CompareOp::NotEqual => self.none_of(cell, [constant]),
            _ => None,
        }
    }

    fn member(&self, expr: &Expr, list: &[Expr], inside: bool) -> Option<DomainConstraint> {
        let Expr::Column(column) = expr else {
            return None;
        };
        let cell = self.problem.cell(self.row, column.slot);
        let constants = list.iter().map(|item| self.constant(item));
        let constants: Vec<Value> = constants.collect::<Option<_>>()?;
        if inside {
            self.one_of(cell, constants)
        } else {
            self.none_of(cell, constants)
        }
    }

    fn one_of(
        &self,
        cell: usize,
        constants: impl IntoIterator<Item = Value>,
    ) -> Option<DomainConstraint> {
        let mut values = Vec::new();
        for constant in constants {
            if let Some(value) = self.as_stored(cell, &constant)? {
                values.push(value);
            }
        }
        let exact = self.problem.cells[cell].axis.is_some()
            || self.problem.cells[cell].definition.data_type.is_text();
        Some(DomainConstraint::OneOf {
            cell,
            values,
            exact,
        })
    }

    fn none_of(
        &self,
        cell: usize,
        constants: impl IntoIterator<Item = Value>,
    ) -> Option<DomainConstraint> {
        let mut values = Vec::new();
        for constant in constants {
            if let Some(value) = self.as_stored(cell, &constant)? {
                values.push(value);
            }
        }
        Some(DomainConstraint::NoneOf { cell, values })
    }

    /// The stored value that equals a constant; inner `None` when the type has no such value.
    fn as_stored(&self, cell: usize, constant: &Value) -> Option<Option<Value>> {
        let plan = &self.problem.cells[cell];
        let data_type = &plan.definition.data_type;
        if let Some(axis) = plan.axis {
            let point = self.point(cell, constant)?;
            let on_grid = axis.at_or_above(point, false)? == point;
            if !axis.dense && !on_grid {
                return Some(None);
            }
            let value = axis.value(point, data_type)?;
            return match self.problem.stored(cell, &value) {
                Some(stored) => Some(Some(stored)),
                None if axis.limited && !axis.dense => Some(None),
                None => None,
            };
        }
        if let (Value::Text(text), true) = (constant, data_type.is_text()) {
            // Trailing blanks may not count, and then they do not make a value too long.
            let trimmed = Value::text(text.trim_end_matches(' '));
            return match self.problem.stored(cell, constant) {
                Some(stored) => Some(Some(stored)),
                None => self
                    .problem
                    .stored(cell, &trimmed)
                    .map_or(Some(None), |_| None),
            };
        }
        self.problem.stored(cell, constant).map(Some)
    }

    /// `f(column) op constant` for functions that can be turned around.
    fn function(
        &self,
        op: CompareOp,
        left: &Expr,
        right: &Expr,
        helpers: &mut Vec<CellConstraint<'a>>,
    ) -> Option<DomainConstraint> {
        let Expr::Function { name, args } = left else {
            return None;
        };
        let Some(Expr::Column(column)) = args.first() else {
            return None;
        };
        let cell = self.problem.cell(self.row, column.slot);
        let constant = self.constant(right)?;
        match (name.as_str(), args.len(), &constant) {
            ("length" | "char_length" | "character_length", 1, Value::Int(count)) => {
                let data_type = &self.problem.cells[cell].definition.data_type;
                // CHAR's blanks count in some dialects and not in others.
                matches!(data_type, DataType::Varchar { .. } | DataType::Text).then_some(())?;
                Some(DomainConstraint::Length {
                    cell,
                    op,
                    count: i64::try_from(*count).ok()?,
                })
            }
            ("left", 2, Value::Text(text)) if op == CompareOp::Equal => {
                Some(DomainConstraint::Prefix {
                    cell,
                    text: text.clone(),
                })
            }
            ("substr" | "substring", 3, Value::Text(text))
                if op == CompareOp::Equal && self.constant(&args[1]) == Some(Value::Int(1)) =>
            {
                Some(DomainConstraint::Prefix {
                    cell,
                    text: text.clone(),
                })
            }
            ("abs", 1, _) => {
                let axis = self.problem.cells[cell].axis?;
                let point = axis.point(&constant)?;
                helpers.push(self.absolute(cell, op, point)?);
                Some(DomainConstraint::Opaque)
            }
            _ => None,
        }
    }

    fn absolute(&self, cell: usize, op: CompareOp, point: Decimal) -> Option<CellConstraint<'a>> {
        self.exact_cell(cell)?;
        if point.is_sign_negative() {
            return None;
        }
        let bound = |op, point| {
            CellConstraint::Test(ExprConstraint {
                row: self.row,
                expr: None,
                wanted: RequiredTruth::True,
                cells: vec![cell],
                form: DomainConstraint::Bound { cell, op, point },
            })
        };
        let pair = [bound(op, point), bound(op.swapped(), -point)];
        Some(match op {
            CompareOp::Equal | CompareOp::Greater | CompareOp::GreaterOrEqual => {
                CellConstraint::any(pair)
            }
            CompareOp::NotEqual | CompareOp::Less | CompareOp::LessOrEqual => {
                CellConstraint::all(pair)
            }
        })
    }

    fn exact_cell(&self, cell: usize) -> Option<()> {
        let plan = &self.problem.cells[cell];
        let float = matches!(plan.definition.data_type, DataType::Float { .. });
        let axis = plan.axis?;
        (!float && axis.limited && !axis.dense).then_some(())
    }
}
