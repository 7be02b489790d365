//! "Did you mean": the name of the schema that is nearest to one that it does not have.

use isobath_sql::Schema;
use isobath_sql::coverage::TargetError;

/// The table or column that a query probably meant.
pub(crate) fn meant<'s>(error: &TargetError, schema: &'s Schema) -> Option<&'s str> {
    let tables = schema.tables.iter();
    match error {
        TargetError::UnknownTable { name, .. } => {
            nearest(name, tables.map(|table| table.name.as_str()))
        }
        TargetError::UnknownColumn { name, .. } => {
            let column = name.rsplit('.').next().unwrap_or(name);
            let columns = tables.flat_map(|table| &table.columns);
            nearest(column, columns.map(|column| column.name.as_str()))
        }
        TargetError::Syntax { .. }
        | TargetError::Empty
        | TargetError::Several { .. }
        | TargetError::ReadsNothing { .. }
        | TargetError::AmbiguousColumn { .. }
        | TargetError::TooLarge { .. } => None,
    }
}

/// The nearest of some names, when it is near enough to be a slip of the pen.
fn nearest<'s>(name: &str, names: impl Iterator<Item = &'s str>) -> Option<&'s str> {
    let name = name.trim_matches(['"', '`']).to_lowercase();
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    names
        .map(|other| (edits(&name, &other.to_lowercase()), other))
        .filter(|(edits, _)| *edits <= allowed)
        .min()
        .map(|(_, other)| other)
}

/// How many letters to add, drop or replace.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (at, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_another_word_is_not() {
        let names = || ["people", "orders", "order_items"].into_iter();
        assert_eq!(nearest("peple", names()), Some("people"));
        assert_eq!(nearest("\"Order\"", names()), Some("orders"));
        assert_eq!(nearest("invoices", names()), None);
    }
}
