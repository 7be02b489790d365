//! Values that violate a type: just past its limit first, then of another type.

use isobath_sql::dialect::StoreError;
use isobath_sql::{DataType, Value};
use rust_decimal::Decimal;

use super::problem::{CellConstraint, CellProblem};
use super::value_selection::{SelectedValues, SelectionStyle};
use crate::schema::generator::GenerationTask;

/// The picked values, with one that does not fit in each misfit cell; several proposals.
pub(super) fn fill(
    problem: &CellProblem<'_>,
    task: &GenerationTask<'_>,
    type_violations: &[usize],
    picked: &SelectedValues,
    style: SelectionStyle,
) -> Vec<SelectedValues> {
    let mut all = vec![picked.clone()];
    for cell in type_violations {
        let plan = &problem.cells[*cell];
        let mut types = Vec::new();
        for (constraint, _) in &problem.constraints {
            types_of(constraint, *cell, &mut types);
        }
        let mut next = Vec::new();
        for data_type in types {
            let mut column = plan.definition.clone();
            column.data_type = data_type.clone();
            for value in proposals(data_type, style) {
                let refused = task.dialect.store(&value, &column, plan.strict);
                if !matches!(&refused, Err(error) if !matches!(error, StoreError::Unknown(_))) {
                    continue;
                }
                for picked in &all {
                    let mut picked = picked.clone();
                    let stored = problem.stored(*cell, &value);
                    picked.stored[plan.row][plan.column] = stored.unwrap_or_else(|| value.clone());
                    picked.given[*cell] = Some(value.clone());
                    next.push(picked);
                }
            }
        }
        all = next;
        all.truncate(32);
    }
    all
}

fn types_of<'a>(constraint: &CellConstraint<'a>, cell: usize, types: &mut Vec<&'a DataType>) {
    match constraint {
        CellConstraint::All(parts) | CellConstraint::Any(parts) => {
            parts.iter().for_each(|part| types_of(part, cell, types));
        }
        CellConstraint::Misfit {
            cell: of,
            data_type,
        } if *of == cell => types.push(data_type),
        _ => {}
    }
}

fn proposals(data_type: &DataType, style: SelectionStyle) -> Vec<Value> {
    let mut values = match data_type {
        DataType::Integer { .. } => {
            let range = data_type.integer_range().unwrap_or(0..=0);
            vec![
                Value::Int(range.end() + 1),
                Value::Int(range.start() - 1),
                Value::text("not a number"),
            ]
        }
        DataType::Decimal {
            precision: Some(precision),
            scale,
        } => {
            let whole = precision.saturating_sub(scale.unwrap_or(0)).min(27);
            let past = Decimal::try_from_i128_with_scale(10i128.pow(whole), 0).unwrap_or_default();
            vec![
                Value::Decimal(past),
                Value::Decimal(-past),
                Value::text("not a number"),
            ]
        }
        DataType::Char { length }
        | DataType::Varchar {
            length: Some(length),
        } => {
            let length = usize::try_from(*length).unwrap_or(0).min(100_000);
            let long = |count: usize| Value::Text(('a'..='z').cycle().take(count).collect());
            vec![long(length + 1), long(length * 2 + 2)]
        }
        DataType::Bytes {
            length: Some(length),
            ..
        } => {
            let length = usize::try_from(*length).unwrap_or(0).min(100_000);
            vec![Value::Bytes(vec![0x61; length + 1])]
        }
        DataType::Enum { .. } => vec![Value::text("no such label"), Value::text("other")],
        DataType::Year => vec![Value::Int(1900), Value::Int(2156)],
        DataType::Date | DataType::Timestamp { .. } => {
            vec![Value::text("2021-02-30"), Value::text("not a date")]
        }
        DataType::Time { .. } => vec![Value::text("25:61:00"), Value::text("not a time")],
        DataType::Uuid => vec![Value::text("not a uuid")],
        DataType::Json { .. } => vec![Value::text("{not json")],
        DataType::Boolean => vec![Value::text("neither"), Value::Int(2)],
        DataType::Interval => vec![Value::text("no span")],
        _ => vec![Value::text("no such value")],
    };
    match style {
        SelectionStyle::Edge => {}
        SelectionStyle::OtherEdge => {
            if values.len() > 1 {
                values.rotate_left(1);
            }
        }
        SelectionStyle::Off | SelectionStyle::Far => values.reverse(),
    }
    values
}
