//! Inverts an expression: from its required value to the value of its only column.

use isobath_sql::expr::{BinaryOp, UnaryOp};
use isobath_sql::{Expr, Value, eval};
use jiff::Span;
use rust_decimal::Decimal;

use super::CellSolver;
use super::regions::number;

impl CellSolver<'_, '_> {
    /// A value of a class with which an expression comes to another; `None` where we know no way back.
    ///
    /// Whatever else the expression reads has to have its value. The answer is a suggestion: that
    /// it is right is for the evaluator to say.
    pub(super) fn inverted(&mut self, expr: &Expr, index: usize, wanted: &Value) -> Option<Value> {
        match expr {
            Expr::Column(column) => (self.class_of[column.slot] == index).then(|| wanted.clone()),
            Expr::Parameter(parameter) => {
                let cell = *self.state.parameters.get(parameter)?;
                (self.class_of[cell] == index).then(|| wanted.clone())
            }
            Expr::Unary {
                op: UnaryOp::Minus,
                expr,
            } => {
                let wanted = Value::Decimal(-number(wanted)?);
                self.inverted(expr, index, &wanted)
            }
            Expr::Unary { expr, .. } | Expr::Cast { expr, .. } => {
                self.inverted(expr, index, wanted)
            }
            Expr::Binary { op, left, right } => {
                let in_left = self.reads(left, index);
                let (inner, other) = if in_left {
                    (left, right)
                } else {
                    (right, left)
                };
                if self.reads(other, index) {
                    return None;
                }
                let known = eval::value_in(other, self.env(), self.state.context.dialect).ok()?;
                match undone(*op, &known, wanted, in_left) {
                    Some(value) => self.inverted(inner, index, &value),
                    None => self.shifted(expr, index, wanted),
                }
            }
            Expr::Function { name, args } => {
                let mut reading = args.iter().filter(|arg| self.reads(arg, index));
                let (first, None) = (reading.next()?, reading.next()) else {
                    return None;
                };
                match (name.as_str(), wanted) {
                    ("reverse", Value::Text(text)) => {
                        let reversed = Value::Text(text.chars().rev().collect());
                        self.inverted(first, index, &reversed)
                    }
                    ("length" | "char_length" | "character_length" | "octet_length", wanted) => {
                        let length = number(wanted)?;
                        let length = usize::try_from(length).ok().filter(|of| *of <= 1_000)?;
                        self.inverted(first, index, &Value::Text("a".repeat(length)))
                    }
                    ("concat", Value::Text(text)) => {
                        let mut text = text.clone();
                        let at = args.iter().position(|arg| std::ptr::eq(arg, first))?;
                        for arg in &args[..at] {
                            let known = self.text_of(arg)?;
                            text = text.strip_prefix(&known)?.to_owned();
                        }
                        for arg in args[at + 1..].iter().rev() {
                            let known = self.text_of(arg)?;
                            text = text.strip_suffix(&known)?.to_owned();
                        }
                        self.inverted(first, index, &Value::Text(text))
                    }
                    ("year", Value::Int(year)) => {
                        let year = i16::try_from(*year).ok()?;
                        let date = jiff::civil::Date::new(year, 1, 1).ok()?;
                        self.inverted(first, index, &Value::Date(date))
                    }
                    (
                        "ifnull" | "coalesce" | "abs" | "lower" | "upper" | "trim" | "ltrim"
                        | "rtrim" | "round" | "floor" | "ceil" | "ceiling" | "left" | "right"
                        | "substr" | "substring" | "replace" | "date" | "timestamp" | "nullif",
                        wanted,
                    ) => self.inverted(first, index, wanted),
                    _ => self.shifted(expr, index, wanted),
                }
            }
            _ => None,
        }
    }

    /// For what moves dates by a fixed amount: as far back as it moves the wanted one ahead.
    fn shifted(&mut self, expr: &Expr, index: usize, wanted: &Value) -> Option<Value> {
        let before = (self.values.clone(), self.parameters.clone());
        let stored = self.stored(index, wanted)?;
        self.assign_class(index, &stored);
        let moved = eval::value_in(expr, self.env(), self.state.context.dialect);
        (self.values, self.parameters) = before;
        match (wanted, moved.ok()?) {
            (Value::Date(wanted), Value::Date(moved)) => {
                let by = wanted.until(moved).ok()?.get_days();
                wanted
                    .checked_sub(Span::new().days(by))
                    .ok()
                    .map(Value::Date)
            }
            (Value::Date(wanted), Value::DateTime(moved)) => {
                let by = wanted.until(moved.date()).ok()?.get_days();
                wanted
                    .checked_sub(Span::new().days(by))
                    .ok()
                    .map(Value::Date)
            }
            (Value::DateTime(wanted), Value::DateTime(moved)) => {
                let by = wanted.duration_until(moved);
                wanted.checked_sub(by).ok().map(Value::DateTime)
            }
            _ => None,
        }
    }

    fn reads(&self, expr: &Expr, index: usize) -> bool {
        self.cells_of(expr)
            .iter()
            .any(|cell| self.class_of[*cell] == index)
    }

    fn text_of(&self, expr: &Expr) -> Option<String> {
        match eval::value_in(expr, self.env(), self.state.context.dialect).ok()? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The operand with which an operation on a known one comes to a value.
fn undone(op: BinaryOp, known: &Value, wanted: &Value, on_the_left: bool) -> Option<Value> {
    if let (BinaryOp::Concat, Value::Text(known), Value::Text(wanted)) = (op, known, wanted) {
        let rest = if on_the_left {
            wanted.strip_suffix(known.as_str())
        } else {
            wanted.strip_prefix(known.as_str())
        };
        return rest.map(Value::text);
    }
    let (known, wanted): (Decimal, Decimal) = (number(known)?, number(wanted)?);
    let operand = match (op, on_the_left) {
        (BinaryOp::Add, _) => wanted.checked_sub(known),
        (BinaryOp::Subtract, true) => wanted.checked_add(known),
        (BinaryOp::Subtract, false) => known.checked_sub(wanted),
        (BinaryOp::Multiply, _) => wanted.checked_div(known),
        (BinaryOp::Divide | BinaryOp::IntegerDivide, true) => wanted.checked_mul(known),
        (BinaryOp::Divide | BinaryOp::IntegerDivide, false) => known.checked_div(wanted),
        (BinaryOp::Modulo, true) => Some(wanted),
        _ => None,
    };
    operand.map(|operand| Value::Decimal(operand.normalize()))
}
