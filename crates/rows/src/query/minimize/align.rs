//! Aligns the parameter values of candidates that were found with different ones.

use isobath_sql::Value;
use jiff::civil::Date;
use rust_decimal::Decimal;

use super::FixtureDraft;
use super::checker::{CoverageChecker, Edit, ValueSlot, put};
use super::columns;

/// What is done with a value of a row when a parameter goes from the second value to the third.
type AlignmentRule<'w> = &'w dyn Fn(&Value, &Value, &Value) -> Option<Value>;

/// Gives a bundle the parameters of another, if its targets stay covered. The rows may stay, take
/// the new value where they have the old one, or keep their distance from it.
pub(super) fn align(
    checker: &mut CoverageChecker<'_, '_>,
    to: &FixtureDraft,
    draft: &mut FixtureDraft,
) {
    let wanted: Vec<(usize, Value, Value)> = conflicts(checker, to, draft);
    if wanted.is_empty() {
        return;
    }
    let targets = draft.targets();
    let mut read = Vec::new();
    for target in &targets {
        if let Ok(query) = &checker.target(*target).query {
            columns::read(query, &mut read);
        }
    }
    let same = |value: &Value, old: &Value, new: &Value| (value == old).then(|| new.clone());
    let ways: [AlignmentRule<'_>; 3] = [&|_, _, _| None, &same, &moved];
    for way in ways {
        if checker.is_exhausted() {
            return;
        }
        let mut edit: Edit = Vec::new();
        for (number, old, new) in &wanted {
            edit.push((ValueSlot::Parameter(*number), new.clone()));
            for (table, column) in &read {
                let rows = draft
                    .candidate
                    .rows
                    .get(table)
                    .map_or(&[][..], Vec::as_slice);
                for (row, values) in rows.iter().enumerate() {
                    if let Some(value) = way(&values[*column], old, new) {
                        edit.push((ValueSlot::Cell(*table, row, *column), value));
                    }
                }
            }
        }
        let mut aligned = draft.candidate.clone();
        for (place, value) in edit {
            put(&mut aligned, place, value);
        }
        if checker.satisfies_constraints(&aligned) && checker.covers_all(&targets, &aligned) {
            draft.candidate = aligned;
            return;
        }
    }
}

/// The parameters that both speak of and that differ: their values here and there.
fn conflicts(
    checker: &CoverageChecker<'_, '_>,
    to: &FixtureDraft,
    draft: &FixtureDraft,
) -> Vec<(usize, Value, Value)> {
    let pairs = draft.candidate.parameters.iter();
    let pairs = pairs.zip(&to.candidate.parameters).enumerate();
    pairs
        .filter(|(number, (old, new))| {
            old != new && to.mentions(checker, *number) && draft.mentions(checker, *number)
        })
        .map(|(number, (old, new))| (number, old.clone(), new.clone()))
        .collect()
}

/// A value as far from the new one as it was from the old one, where there is a distance.
fn moved(value: &Value, old: &Value, new: &Value) -> Option<Value> {
    if value == old {
        return Some(new.clone());
    }
    if let (Some(at), Some(from), Some(to)) = (day(value), day(old), day(new)) {
        let at = at.checked_add(from.until(to).ok()?).ok()?;
        return Some(match value {
            Value::Text(_) => Value::Text(at.to_string()),
            _ => Value::Date(at),
        });
    }
    match (value, old, new) {
        (Value::Int(value), Value::Int(old), Value::Int(new)) => {
            let by = new.checked_sub(*old)?;
            value.checked_add(by).map(Value::Int)
        }
        (Value::DateTime(value), Value::DateTime(old), Value::DateTime(new)) => {
            let by = old.until(*new).ok()?;
            value.checked_add(by).ok().map(Value::DateTime)
        }
        (Value::Instant(value), Value::Instant(old), Value::Instant(new)) => {
            let by = old.duration_until(*new);
            value.checked_add(by).ok().map(Value::Instant)
        }
        (Value::Float(value), old, new) => Some(Value::Float(value + number(new)? - number(old)?)),
        (Value::Decimal(_) | Value::Int(_), _, _) => {
            let sum = exact(value)?.checked_add(exact(new)?)?;
            sum.checked_sub(exact(old)?).map(Value::Decimal)
        }
        _ => None,
    }
}

/// A date, also as SQLite stores it.
fn day(value: &Value) -> Option<Date> {
    match value {
        Value::Date(day) => Some(*day),
        Value::Text(text) if text.len() == "2024-01-01".len() => text.parse().ok(),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn exact(value: &Value) -> Option<Decimal> {
    match value {
        Value::Int(number) => Decimal::try_from_i128_with_scale(*number, 0).ok(),
        Value::Decimal(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_distance() {
        let int = |value: i128| Value::Int(value);
        assert_eq!(moved(&int(9), &int(7), &int(3)), Some(int(5)));
        let text = |text: &str| Value::text(text);
        assert_eq!(
            moved(
                &text("2024-03-01"),
                &text("2024-02-28"),
                &text("2024-01-30")
            ),
            Some(text("2024-02-01"))
        );
        assert_eq!(moved(&text("x"), &text("y"), &text("z")), None);
        assert_eq!(moved(&text("y"), &text("y"), &text("z")), Some(text("z")));
        let price = Value::Decimal(Decimal::new(150, 2));
        let moved = moved(&price, &int(1), &int(3));
        assert_eq!(moved, Some(Value::Decimal(Decimal::new(350, 2))));
    }
}
