//! Referential actions: what foreign keys do when the referenced row is deleted or changed.

use isobath_sql::memory::{MemoryDatabase, ViolationKind};
use isobath_sql::row::Statement;
use isobath_sql::schema::{Action, ConstraintKind, ForeignKey};
use isobath_sql::{Cell, DialectName, Value};

use super::seeded_table::{SeededTable, is_selectable};
use crate::schema::case::TestCase;
use crate::schema::phrase;

/// For each foreign key of the table: DELETE and UPDATE of the row that the seed row refers to.
pub(super) fn actions(seeded: &SeededTable<'_>) -> Vec<TestCase> {
    let mut cases = Vec::new();
    let Some(memory) = seeded.after(&seeded.own) else {
        return cases;
    };
    for (constraint, definition) in seeded.definition.constraints.iter().enumerate() {
        let ConstraintKind::ForeignKey(key) = &definition.kind else {
            continue;
        };
        // A row that refers to itself takes its reference along; that shows nothing about the action.
        if key.parent == seeded.table {
            continue;
        }
        let Some(parent) = referred(seeded, key, &memory) else {
            continue;
        };
        let Some(only) = seeded.selecting(key.parent, parent) else {
            continue;
        };
        // With several references the engine chooses which of them it complains about.
        if references(seeded, key.parent, parent, &memory) > 1 {
            continue;
        }
        let delete = Statement::Delete {
            table: key.parent,
            only: only.clone(),
        };
        cases.extend(test(
            seeded,
            key,
            constraint,
            delete,
            key.on_delete,
            "deleting",
        ));
        if let Some(set) = changed(key, parent) {
            let update = Statement::Update {
                table: key.parent,
                set,
                only,
            };
            cases.extend(test(
                seeded,
                key,
                constraint,
                update,
                key.on_update,
                "changing",
            ));
        }
    }
    cases
}

fn test(
    seeded: &SeededTable<'_>,
    key: &ForeignKey,
    constraint: usize,
    statement: Statement,
    action: Action,
    doing: &str,
) -> Option<TestCase> {
    // InnoDB parses SET DEFAULT but does not carry it out.
    if action == Action::SetDefault && seeded.dialect.name() == DialectName::MySql {
        return None;
    }
    let parent = &seeded.schema.tables[key.parent].name;
    let child = seeded.name();
    let named = phrase::columns(seeded.definition, &key.columns);
    let watched = [(seeded.table, key.columns.clone())];
    let effect = match action {
        Action::NoAction | Action::Restrict => {
            let name = format!("{parent} rejects {doing} a row that {child}.{named} refers to");
            return seeded.rejected(name, &seeded.own, statement, |violation| {
                violation.constraint == Some(constraint)
                    && violation.kind == ViolationKind::StillReferenced
            });
        }
        Action::Cascade => format!("takes {child} along by {named}"),
        Action::SetNull => format!("sets {child}.{named} to NULL"),
        Action::SetDefault => format!("sets {child}.{named} to the default"),
    };
    let name = format!("{doing} a row of {parent} {effect}");
    seeded.accepted(name, &seeded.own, statement, &watched)
}

/// The row that the seed row refers to, as stored.
fn referred<'m>(
    seeded: &SeededTable<'_>,
    key: &ForeignKey,
    memory: &'m MemoryDatabase<'_>,
) -> Option<&'m [Value]> {
    let [child] = memory.rows(seeded.table) else {
        return None;
    };
    if key.columns.iter().any(|column| child[*column].is_null()) {
        return None;
    }
    let columns = &seeded.schema.tables[key.parent].columns;
    memory
        .rows(key.parent)
        .iter()
        .map(Vec::as_slice)
        .find(|parent| {
            key.columns
                .iter()
                .zip(&key.parent_columns)
                .all(|(own, other)| {
                    seeded
                        .dialect
                        .duplicates(&child[*own], &parent[*other], &columns[*other])
                })
        })
}

/// How many foreign keys have a row that refers to a row.
fn references(
    seeded: &SeededTable<'_>,
    table: usize,
    row: &[Value],
    memory: &MemoryDatabase<'_>,
) -> usize {
    let columns = &seeded.schema.tables[table].columns;
    let refers = |key: &ForeignKey, child: &[Value]| {
        let mut pairs = key.columns.iter().zip(&key.parent_columns);
        pairs.all(|(own, other)| {
            let (child, parent) = (&child[*own], &row[*other]);
            !child.is_null()
                && !parent.is_null()
                && seeded.dialect.duplicates(child, parent, &columns[*other])
        })
    };
    let tables = seeded.schema.tables.iter().enumerate();
    tables
        .map(|(child, definition)| {
            definition
                .foreign_keys()
                .filter(|key| key.parent == table)
                .filter(|key| memory.rows(child).iter().any(|row| refers(key, row)))
                .count()
        })
        .sum()
}

/// Another value for the first column referred to.
fn changed(key: &ForeignKey, parent: &[Value]) -> Option<Vec<(usize, Cell)>> {
    let column = *key.parent_columns.first()?;
    let value = match &parent[column] {
        value if !is_selectable(value) => return None,
        Value::Int(number) if *number < 100 => Value::Int(number + 1),
        Value::Int(number) => Value::Int(number - 1),
        Value::Text(text) if !text.is_empty() => {
            let last = text.chars().next_back()?;
            let other = if last == 'z' { 'y' } else { 'z' };
            let mut text = text.clone();
            text.pop();
            text.push(other);
            Value::Text(text)
        }
        Value::Date(date) => Value::Date(date.tomorrow().ok()?),
        _ => return None,
    };
    Some(vec![(column, Cell::Value(value))])
}
