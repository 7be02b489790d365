//! What foreign keys do when the row referred to goes away or changes.

use isobath_sql::memory::{MemoryDatabase, ViolationKind};
use isobath_sql::row::Statement;
use isobath_sql::schema::{Action, ConstraintKind, ForeignKey};
use isobath_sql::{Cell, DialectName, Value};

use super::stage::{Stage, is_selectable};
use crate::schema::case::TestCase;
use crate::schema::phrase;

/// For each foreign key of the table: DELETE and UPDATE of the row that the seed row refers to.
pub(super) fn actions(stage: &Stage<'_>) -> Vec<TestCase> {
    let mut cases = Vec::new();
    let Some(memory) = stage.after(&stage.own) else {
        return cases;
    };
    for (constraint, definition) in stage.definition.constraints.iter().enumerate() {
        let ConstraintKind::ForeignKey(key) = &definition.kind else {
            continue;
        };
        // A row that refers to itself takes its reference along; that shows nothing about the action.
        if key.parent == stage.table {
            continue;
        }
        let Some(parent) = referred(stage, key, &memory) else {
            continue;
        };
        let Some(only) = stage.selecting(key.parent, parent) else {
            continue;
        };
        // With several references the engine chooses which of them it complains about.
        if references(stage, key.parent, parent, &memory) > 1 {
            continue;
        }
        let delete = Statement::Delete {
            table: key.parent,
            only: only.clone(),
        };
        cases.extend(test(
            stage,
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
                stage,
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
    stage: &Stage<'_>,
    key: &ForeignKey,
    constraint: usize,
    act: Statement,
    action: Action,
    doing: &str,
) -> Option<TestCase> {
    // InnoDB parses SET DEFAULT but does not carry it out.
    if action == Action::SetDefault && stage.dialect.name() == DialectName::MySql {
        return None;
    }
    let parent = &stage.schema.tables[key.parent].name;
    let child = stage.name();
    let named = phrase::columns(stage.definition, &key.columns);
    let watched = [(stage.table, key.columns.clone())];
    let effect = match action {
        Action::NoAction | Action::Restrict => {
            let name = format!("{parent} rejects {doing} a row that {child}.{named} refers to");
            return stage.rejected(name, &stage.own, act, |violation| {
                violation.constraint == Some(constraint)
                    && violation.kind == ViolationKind::StillReferenced
            });
        }
        Action::Cascade => format!("takes {child} along by {named}"),
        Action::SetNull => format!("sets {child}.{named} to NULL"),
        Action::SetDefault => format!("sets {child}.{named} to the default"),
    };
    let name = format!("{doing} a row of {parent} {effect}");
    stage.accepted(name, &stage.own, act, &watched)
}

/// The row that the seed row refers to, as stored.
fn referred<'m>(
    stage: &Stage<'_>,
    key: &ForeignKey,
    memory: &'m MemoryDatabase<'_>,
) -> Option<&'m [Value]> {
    let [child] = memory.rows(stage.table) else {
        return None;
    };
    if key.columns.iter().any(|column| child[*column].is_null()) {
        return None;
    }
    let columns = &stage.schema.tables[key.parent].columns;
    memory
        .rows(key.parent)
        .iter()
        .map(Vec::as_slice)
        .find(|parent| {
            key.columns
                .iter()
                .zip(&key.parent_columns)
                .all(|(own, other)| {
                    stage
                        .dialect
                        .duplicates(&child[*own], &parent[*other], &columns[*other])
                })
        })
}

/// How many foreign keys have a row that refers to a row.
fn references(
    stage: &Stage<'_>,
    table: usize,
    row: &[Value],
    memory: &MemoryDatabase<'_>,
) -> usize {
    let columns = &stage.schema.tables[table].columns;
    let refers = |key: &ForeignKey, child: &[Value]| {
        let mut pairs = key.columns.iter().zip(&key.parent_columns);
        pairs.all(|(own, other)| {
            let (child, parent) = (&child[*own], &row[*other]);
            !child.is_null()
                && !parent.is_null()
                && stage.dialect.duplicates(child, parent, &columns[*other])
        })
    };
    let tables = stage.schema.tables.iter().enumerate();
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
