//! The row that an expression is evaluated on, put together from parts without copying them.

use std::rc::Rc;

use crate::value::Value;

/// Stands where an outer join found no row.
static NOTHING: Value = Value::Null;

/// The row that an expression is evaluated on.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// All its values in one list.
    Whole(&'a [Value]),
    /// The rows of several relations, by the slots at which they start, the last first to be asked.
    ///
    /// What no part holds is NULL, as it is in the rows that an outer join pads.
    Parts(&'a [RowPart<'a>]),
}

impl<'a> Row<'a> {
    /// The value in a slot; `None` when the row is too short.
    pub fn get(self, slot: usize) -> Option<&'a Value> {
        match self {
            Self::Whole(values) => values.get(slot),
            Self::Parts(parts) => Some(
                parts
                    .iter()
                    .rev()
                    .find(|part| part.start <= slot)
                    .and_then(|part| part.get(slot))
                    .unwrap_or(&NOTHING),
            ),
        }
    }
}

impl<'a> From<&'a [Value]> for Row<'a> {
    fn from(values: &'a [Value]) -> Self {
        Self::Whole(values)
    }
}

/// The row of one relation inside a row of several.
#[derive(Clone, Debug)]
pub struct RowPart<'a> {
    start: usize,
    len: usize,
    values: PartValues<'a>,
}

/// Values that a table holds, or that the query computed.
#[derive(Clone, Debug)]
enum PartValues<'a> {
    Lent(&'a [Value]),
    Kept(Rc<[Value]>),
}

impl<'a> RowPart<'a> {
    /// A row of a table.
    pub(crate) fn lent(start: usize, values: &'a [Value]) -> Self {
        Self {
            start,
            len: values.len(),
            values: PartValues::Lent(values),
        }
    }

    /// A row that was computed.
    pub(crate) fn kept(start: usize, values: Vec<Value>) -> Self {
        Self {
            start,
            len: values.len(),
            values: PartValues::Kept(values.into()),
        }
    }

    /// The same without the slots from `end` on; `None` when none are left.
    pub(crate) fn before(&self, end: usize) -> Option<Self> {
        let len = end.checked_sub(self.start).filter(|len| *len > 0)?;
        Some(Self {
            len: len.min(self.len),
            ..self.clone()
        })
    }

    /// The first of its slots.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    fn values(&self) -> &[Value] {
        let values = match &self.values {
            PartValues::Lent(values) => *values,
            PartValues::Kept(values) => &**values,
        };
        values.get(..self.len).unwrap_or_default()
    }

    fn get(&self, slot: usize) -> Option<&Value> {
        self.values().get(slot - self.start)
    }

    /// Changes one of its values.
    pub(crate) fn set(&mut self, slot: usize, value: Value) {
        let mut values = self.values().to_vec();
        if let Some(place) = values.get_mut(slot - self.start) {
            *place = value;
        }
        *self = Self::kept(self.start, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_in_the_part_that_holds_them() {
        let (a, b) = ([Value::from(1), Value::from(2)], [Value::from(3)]);
        let parts = [RowPart::lent(0, &a), RowPart::lent(4, &b)];
        let row = Row::Parts(&parts);
        assert_eq!(row.get(1), Some(&Value::from(2)));
        assert_eq!(row.get(4), Some(&Value::from(3)));
    }

    #[test]
    fn what_no_part_holds_is_null() {
        let a = [Value::from(1)];
        let parts = [RowPart::lent(1, &a)];
        for slot in [0, 2, 9] {
            assert_eq!(Row::Parts(&parts).get(slot), Some(&Value::Null));
        }
        assert_eq!(Row::Whole(&a).get(1), None);
    }

    #[test]
    fn a_part_can_be_cut_and_changed() {
        let a = [Value::from(1), Value::from(2)];
        let mut part = RowPart::lent(3, &a);
        assert!(part.before(3).is_none());
        assert_eq!(part.before(4).and_then(|part| part.get(4).cloned()), None);
        part.set(4, Value::from(7));
        assert_eq!(part.get(4), Some(&Value::from(7)));
        assert_eq!(part.get(3), Some(&Value::from(1)));
    }
}
