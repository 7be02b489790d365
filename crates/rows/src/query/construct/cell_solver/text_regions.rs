//! Texts by their order: a text at every constant, and one below, between and above them.

use std::cmp::Ordering;

use isobath_sql::expr::{ColumnRef, CompareOp};
use isobath_sql::{Column, DataType, Expr, Value, eval};

use super::CellSolver;

impl CellSolver<'_, '_> {
    /// A text of every region that constants divide the texts of a column into, by the order of its collation; `None`
    /// where we find no text of one, or where the column is compared with others.
    pub(super) fn text_regions(&self, index: usize, constants: &[Value]) -> Option<Vec<Value>> {
        let mut columns = self.columns(index);
        let column = columns.next()?;
        let plain = matches!(column.data_type, DataType::Varchar { .. } | DataType::Text);
        if !plain || columns.next().is_some() || self.part_sizes[index] > 1 {
            return None;
        }
        let mut sorted: Vec<Value> = Vec::new();
        for constant in constants.iter().filter(|value| !value.is_null()) {
            let Value::Text(_) = constant else {
                return None;
            };
            let mut at = 0;
            let mut known = false;
            for other in &sorted {
                match self.text_order(column, constant, other)? {
                    Ordering::Less => break,
                    Ordering::Equal => known = true,
                    Ordering::Greater => at += 1,
                }
            }
            if !known {
                sorted.insert(at, constant.clone());
            }
        }
        // Nothing comes before the empty text.
        let mut values = vec![Value::text("")];
        for (number, constant) in sorted.iter().enumerate() {
            let next = sorted.get(number + 1);
            values.push(constant.clone());
            values.push(self.text_after(index, column, constant, next)?);
        }
        Some(values)
    }

    /// A text after one and before another.
    fn text_after(
        &self,
        index: usize,
        column: &Column,
        after: &Value,
        before: Option<&Value>,
    ) -> Option<Value> {
        let Value::Text(text) = after else {
            return None;
        };
        let longer = ["0", "a", "!", "A"].map(|letter| Value::Text(format!("{text}{letter}")));
        longer.into_iter().find(|value| {
            let order = |a: &Value, b: &Value| self.text_order(column, a, b);
            order(value, after) == Some(Ordering::Greater)
                && before.is_none_or(|before| order(value, before) == Some(Ordering::Less))
                && self.stored(index, value).is_some()
        })
    }

    /// How a column orders two texts.
    fn text_order(&self, column: &Column, a: &Value, b: &Value) -> Option<Ordering> {
        let row = [a.clone()];
        let is = |op: CompareOp| {
            let expr = Expr::Compare {
                op,
                left: Box::new(Expr::Column(ColumnRef {
                    slot: 0,
                    name: column.name.clone(),
                    data_type: column.data_type.clone(),
                    collation: column.collation.clone(),
                })),
                right: Box::new(Expr::Literal(b.clone())),
            };
            let env = eval::Env::queried(&row, &[]);
            eval::truth_in(&expr, env, self.state.context.dialect)
                .ok()?
                .verdict()
        };
        match (is(CompareOp::Less)?, is(CompareOp::Greater)?) {
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (false, false) => Some(Ordering::Equal),
            (true, true) => None,
        }
    }
}
