//! Row images of tables, and the difference between two of them.

use std::collections::BTreeMap;

use isobath_sql::{Schema, Value};

use super::Tables;

/// The rows of tables at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowImage {
    tables: BTreeMap<usize, TableImage>,
}

/// The rows of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableImage {
    /// The rows, a value per column.
    pub rows: Vec<Vec<Value>>,
    /// Whether these are all rows; of a large table only some are read.
    pub is_complete: bool,
}

/// One row that is different.
#[derive(Clone, Debug, PartialEq)]
pub struct RowChange {
    /// The table.
    pub table: usize,
    /// The row before; `None` when it is new.
    pub before: Option<Vec<Value>>,
    /// The row after; `None` when it is gone.
    pub after: Option<Vec<Value>>,
}

/// How two readings differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowDiff {
    /// Rows that are new, gone or changed, by table and in the order of the readings.
    pub changes: Vec<RowChange>,
    /// Tables of which nothing can be said because they are too large.
    pub unknown: Tables,
}

impl RowChange {
    /// The columns whose value changed; none for a row that is new or gone.
    pub fn columns(&self) -> Vec<usize> {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                let cells = before.iter().zip(after).enumerate();
                let changed = cells.filter(|(_, (before, after))| !same(before, after));
                changed.map(|(column, _)| column).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl RowDiff {
    /// Whether nothing is known to differ and nothing is unknown.
    pub fn is_nothing(&self) -> bool {
        self.changes.is_empty() && self.unknown.is_empty()
    }
}

impl TableImage {
    /// Whether both hold the same rows in the same order.
    pub(super) fn holds_same(&self, other: &Self) -> bool {
        self.rows.len() == other.rows.len()
            && self
                .rows
                .iter()
                .zip(&other.rows)
                .all(|(a, b)| same_row(a, b))
    }
}

impl RowImage {
    /// The rows of a table, if it was read.
    pub fn get(&self, table: usize) -> Option<&TableImage> {
        self.tables.get(&table)
    }

    /// The tables that were read, with their rows.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &TableImage)> {
        self.tables.iter().map(|(&table, content)| (table, content))
    }

    pub(super) fn put(&mut self, table: usize, content: TableImage) {
        self.tables.insert(table, content);
    }

    pub(super) fn take_over(&mut self, later: Self) {
        self.tables.extend(later.tables);
    }

    /// How a later reading differs, in the tables that both have.
    ///
    /// Rows are told apart by primary key; without one a changed row is one that is gone and one that is new.
    #[must_use]
    pub fn diff(&self, after: &Self, schema: &Schema) -> RowDiff {
        let mut difference = RowDiff::default();
        for (&table, later) in &after.tables {
            let Some(earlier) = self.tables.get(&table) else {
                continue;
            };
            if !(earlier.is_complete && later.is_complete) {
                difference.unknown.insert(table);
            } else if !earlier.holds_same(later) {
                let key = schema.tables.get(table).and_then(|of| of.primary_key());
                difference
                    .changes
                    .extend(changes(table, key, &earlier.rows, &later.rows));
            }
        }
        difference
    }
}

fn changes(
    table: usize,
    key: Option<&[usize]>,
    before: &[Vec<Value>],
    after: &[Vec<Value>],
) -> Vec<RowChange> {
    // Several rows share an identity only where there is no key.
    let mut old: BTreeMap<String, Vec<&Vec<Value>>> = BTreeMap::new();
    for row in before.iter().rev() {
        old.entry(identity(key, row)).or_default().push(row);
    }
    let mut changes = Vec::new();
    for row in after {
        let earlier = old.get_mut(&identity(key, row)).and_then(Vec::pop);
        if earlier.is_none_or(|earlier| !same_row(earlier, row)) {
            changes.push(RowChange {
                table,
                before: earlier.cloned(),
                after: Some(row.clone()),
            });
        }
    }
    for row in before {
        let Some(left) = old.get_mut(&identity(key, row)) else {
            continue;
        };
        if left.pop().is_some() {
            changes.push(RowChange {
                table,
                before: Some(row.clone()),
                after: None,
            });
        }
    }
    changes
}

/// What tells a row from others: its key, or all of it.
fn identity(key: Option<&[usize]>, row: &[Value]) -> String {
    match key {
        Some(key) => {
            let values: Vec<_> = key.iter().map(|&column| row.get(column)).collect();
            format!("{values:?}")
        }
        None => format!("{row:?}"),
    }
}

fn same_row(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// Whether a cell holds the same; NaN is the same as NaN here.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(i64, &str)]) -> Vec<Vec<Value>> {
        rows.iter()
            .map(|&(id, name)| vec![Value::from(id), Value::from(name)])
            .collect()
    }

    fn told(key: Option<&[usize]>, before: &[(i64, &str)], after: &[(i64, &str)]) -> String {
        let row = |row: &Option<Vec<Value>>| match row {
            Some(row) => format!("{}{}", row[0], row[1]),
            None => "-".to_owned(),
        };
        changes(0, key, &rows(before), &rows(after))
            .iter()
            .map(|change| format!("{}>{}", row(&change.before), row(&change.after)))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn rows_are_told_apart_by_their_key() {
        let key: &[usize] = &[0];
        assert_eq!(
            told(Some(key), &[(1, "a"), (2, "b")], &[(2, "c"), (3, "d")]),
            "2b>2c ->3d 1a>-"
        );
        assert_eq!(told(Some(key), &[(1, "a")], &[(1, "a")]), "");
    }

    #[test]
    fn rows_without_a_key_are_counted() {
        assert_eq!(
            told(None, &[(1, "a"), (1, "a")], &[(1, "a"), (2, "b")]),
            "->2b 1a>-"
        );
    }

    #[test]
    fn nothing_is_said_of_a_table_that_was_not_read_whole() {
        let content = |is_complete| TableImage {
            rows: Vec::new(),
            is_complete,
        };
        let mut before = RowImage::default();
        before.put(0, content(true));
        let mut after = RowImage::default();
        after.put(0, content(false));
        let difference = before.diff(&after, &Schema::default());
        assert!(difference.changes.is_empty() && !difference.is_nothing());
    }
}
