//! UPDATE and DELETE, with the referential actions of foreign keys.

use super::{MemoryDatabase, Verdict, Violation, ViolationKind};
use crate::eval::Unsupported;
use crate::row::Cell;
use crate::schema::{Action, ConstraintKind, ForeignKey};
use crate::value::Value;

/// How deep a cascade may go; circles of rows end it earlier because rows are gone or unchanged.
const DEEPEST_CASCADE: usize = 64;

/// Tables and rows, as they were, from which a cascade came here.
type CascadePath = Vec<(usize, Vec<Value>)>;

impl MemoryDatabase<'_> {
    pub(super) fn delete(
        &mut self,
        table: usize,
        only: &[(usize, Value)],
    ) -> Result<Verdict, Unsupported> {
        self.all_or_nothing(|memory, violations| {
            // A cascade may have taken other selected rows along, so each round looks anew.
            while violations.is_empty() {
                let first = memory.selected(table, only).next();
                let Some(position) = first else { break };
                memory.remove(table, position, violations, &mut Vec::new())?;
            }
            Ok(())
        })
    }

    pub(super) fn update(
        &mut self,
        table: usize,
        set: &[(usize, Cell)],
        only: &[(usize, Value)],
    ) -> Result<Verdict, Unsupported> {
        self.all_or_nothing(|memory, violations| {
            let positions: Vec<usize> = memory.selected(table, only).collect();
            for position in positions {
                let mut values = memory.rows[table][position].clone();
                for (column, cell) in set {
                    values[*column] = memory.cell(table, *column, cell, violations)?;
                }
                memory.compute_generated(table, &mut values, violations)?;
                if violations.is_empty() {
                    memory.replace(table, position, values, violations, &mut Vec::new())?;
                }
            }
            Ok(())
        })
    }

    fn all_or_nothing(
        &mut self,
        change: impl FnOnce(&mut Self, &mut Vec<Violation>) -> Result<(), Unsupported>,
    ) -> Result<Verdict, Unsupported> {
        let mut changed = self.clone();
        let mut violations = Vec::new();
        change(&mut changed, &mut violations)?;
        if violations.is_empty() {
            changed.check_orphans(&mut violations);
        }
        if violations.is_empty() {
            *self = changed;
        }
        Ok(Verdict::of(violations))
    }

    fn selected(&self, table: usize, only: &[(usize, Value)]) -> impl Iterator<Item = usize> {
        let columns = &self.schema.tables[table].columns;
        self.rows[table]
            .iter()
            .enumerate()
            .filter(move |(_, row)| {
                only.iter()
                    .all(|(column, value)| match (&row[*column], value) {
                        (Value::Null, Value::Null) => true,
                        (Value::Null, _) | (_, Value::Null) => false,
                        (stored, value) => {
                            self.dialect.duplicates(stored, value, &columns[*column])
                        }
                    })
            })
            .map(|(position, _)| position)
    }

    fn remove(
        &mut self,
        table: usize,
        position: usize,
        violations: &mut Vec<Violation>,
        path: &mut CascadePath,
    ) -> Result<(), Unsupported> {
        let gone = self.rows[table].remove(position);
        self.follow(table, &gone, None, violations, path)
    }

    fn replace(
        &mut self,
        table: usize,
        position: usize,
        values: Vec<Value>,
        violations: &mut Vec<Violation>,
        path: &mut CascadePath,
    ) -> Result<(), Unsupported> {
        self.check_row(table, &values, Some(position), violations)?;
        let before = std::mem::replace(&mut self.rows[table][position], values.clone());
        self.check_parents(table, &values, violations);
        self.follow(table, &before, Some(&values), violations, path)
    }

    /// Does to the rows that referred to `before` what their foreign keys say.
    fn follow(
        &mut self,
        parent: usize,
        before: &[Value],
        after: Option<&[Value]>,
        violations: &mut Vec<Violation>,
        path: &mut CascadePath,
    ) -> Result<(), Unsupported> {
        if path.len() > DEEPEST_CASCADE {
            return Err(Unsupported::new("a cascade over more than 64 levels"));
        }
        if self.order_decides(parent, before, after) {
            return Err(Unsupported::new(
                "a row that one foreign key keeps and another changes",
            ));
        }
        let schema = self.schema;
        for (child, definition) in schema.tables.iter().enumerate() {
            for (index, constraint) in definition.constraints.iter().enumerate() {
                let ConstraintKind::ForeignKey(key) = &constraint.kind else {
                    continue;
                };
                if key.parent != parent {
                    continue;
                }
                let Some(action) = action(key, before, after) else {
                    continue;
                };
                let keeps = matches!(action, Action::Restrict | Action::NoAction);
                let leaving = self.dialect.judges_actions_at_once()
                    && path.iter().any(|(table, row)| {
                        *table == child && self.refers(child, key, row, before)
                    });
                if keeps && leaving {
                    violations.push(still_referenced(child, index));
                    return Ok(());
                }
                let mut position = 0;
                while position < self.rows[child].len() {
                    if !self.refers(child, key, &self.rows[child][position], before) {
                        position += 1;
                        continue;
                    }
                    match self.acted(key, child, position, action, after) {
                        ReferentialEffect::Refused => {
                            violations.push(still_referenced(child, index));
                            return Ok(());
                        }
                        ReferentialEffect::Kept => position += 1,
                        ReferentialEffect::Removed => {
                            path.push((parent, before.to_vec()));
                            self.remove(child, position, violations, path)?;
                            path.pop();
                        }
                        ReferentialEffect::Changed(values) => {
                            path.push((parent, before.to_vec()));
                            self.replace(child, position, values, violations, path)?;
                            path.pop();
                            position += 1;
                        }
                    }
                    if !violations.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a row refers to another twice, and one key refuses at once what the other would do
    /// to it: engines take keys in an order that they do not promise.
    fn order_decides(&self, parent: usize, before: &[Value], after: Option<&[Value]>) -> bool {
        let refuses = |action| match action {
            Action::Restrict => true,
            Action::NoAction => self.dialect.judges_actions_at_once(),
            Action::Cascade | Action::SetNull | Action::SetDefault => false,
        };
        self.schema
            .tables
            .iter()
            .enumerate()
            .any(|(child, definition)| {
                let keys: Vec<(&ForeignKey, Action)> = definition
                    .foreign_keys()
                    .filter(|key| key.parent == parent)
                    .filter_map(|key| Some((key, action(key, before, after)?)))
                    .filter(|(_, action)| refuses(*action) || *action != Action::NoAction)
                    .collect();
                let mixed = keys.iter().any(|(_, action)| refuses(*action))
                    && keys.iter().any(|(_, action)| !refuses(*action));
                mixed
                    && self.rows[child].iter().any(|row| {
                        let referring = || {
                            keys.iter()
                                .filter(|(key, _)| self.refers(child, key, row, before))
                        };
                        referring().any(|(_, action)| refuses(*action))
                            && referring().any(|(_, action)| !refuses(*action))
                    })
            })
    }

    fn acted(
        &self,
        key: &ForeignKey,
        child: usize,
        position: usize,
        action: Action,
        after: Option<&[Value]>,
    ) -> ReferentialEffect {
        let mut values = self.rows[child][position].clone();
        match (action, after) {
            (Action::Restrict, _) => return ReferentialEffect::Refused,
            (Action::NoAction, _) if self.dialect.judges_actions_at_once() => {
                return ReferentialEffect::Refused;
            }
            // Whether the reference still holds is judged when the statement ends.
            (Action::NoAction, _) => return ReferentialEffect::Kept,
            (Action::Cascade, None) => return ReferentialEffect::Removed,
            (Action::Cascade, Some(after)) => {
                for (own, other) in key.columns.iter().zip(&key.parent_columns) {
                    values[*own] = after[*other].clone();
                }
            }
            (Action::SetNull, _) => key
                .columns
                .iter()
                .for_each(|column| values[*column] = Value::Null),
            (Action::SetDefault, _) => {
                let columns = &self.schema.tables[child].columns;
                for column in &key.columns {
                    let default = self.default_value(child, *column, &columns[*column]);
                    values[*column] = default.ok().and_then(Result::ok).unwrap_or(Value::Null);
                }
            }
        }
        ReferentialEffect::Changed(values)
    }

    /// References that nothing took care of.
    fn check_orphans(&self, violations: &mut Vec<Violation>) {
        for (table, definition) in self.schema.tables.iter().enumerate() {
            for (index, constraint) in definition.constraints.iter().enumerate() {
                let ConstraintKind::ForeignKey(key) = &constraint.kind else {
                    continue;
                };
                let orphaned = self.rows[table]
                    .iter()
                    .any(|row| !self.has_parent(table, key, row));
                if orphaned {
                    violations.push(still_referenced(table, index));
                }
            }
        }
    }
}

/// What a key does about a row that changes or goes, `None` when the change does not concern it.
fn action(key: &ForeignKey, before: &[Value], after: Option<&[Value]>) -> Option<Action> {
    match after {
        None => Some(key.on_delete),
        Some(after) => key
            .parent_columns
            .iter()
            .any(|column| after[*column] != before[*column])
            .then_some(key.on_update),
    }
}

fn still_referenced(table: usize, constraint: usize) -> Violation {
    Violation {
        table,
        constraint: Some(constraint),
        kind: ViolationKind::StillReferenced,
    }
}

/// What an action does to one referring row.
enum ReferentialEffect {
    Refused,
    Kept,
    Removed,
    Changed(Vec<Value>),
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::dialect::Postgres;
    use crate::row::{Row, Statement};
    use crate::schema::{Column, Constraint, Filled, Schema, Table};
    use crate::{DataType, SourceLocation};

    fn table(name: &str, n_columns: usize, constraints: Vec<ConstraintKind>) -> Arc<Table> {
        Arc::new(Table {
            name: name.to_owned(),
            namespace: None,
            columns: (0..n_columns)
                .map(|column| Column {
                    name: format!("c{column}"),
                    data_type: DataType::INT,
                    declared: "INT".to_owned(),
                    default: None,
                    filled: Filled::No,
                    collation: None,
                })
                .collect(),
            constraints: constraints.into_iter().map(Constraint::unnamed).collect(),
            strict: false,
            without_rowid: false,
            location: SourceLocation::default(),
        })
    }

    #[test]
    fn an_update_is_followed_only_by_keys_that_refer_to_its_table() {
        let key = |column| ConstraintKind::PrimaryKey {
            columns: vec![column],
        };
        let refers = |parent, column| {
            ConstraintKind::ForeignKey(ForeignKey {
                columns: vec![0],
                parent,
                parent_columns: vec![column],
                match_full: false,
                on_delete: Action::Cascade,
                on_update: Action::Cascade,
            })
        };
        // The key that `child` refers to lies beyond the columns of `narrow`.
        let schema = Schema {
            name: "sample".to_owned(),
            tables: vec![
                table("narrow", 1, vec![key(0)]),
                table("wide", 3, vec![key(2)]),
                table("child", 1, vec![refers(1, 2)]),
                table("follower", 1, vec![refers(0, 0)]),
            ],
        };
        let mut memory = MemoryDatabase::new(&schema, &Postgres);
        for table in [0, 3] {
            let row = Row::of(table, [Value::from(1)]);
            assert!(memory.insert(&row).unwrap().is_accepted());
        }
        let update = Statement::Update {
            table: 0,
            set: vec![(0, Cell::Value(Value::from(2)))],
            only: vec![],
        };
        assert!(memory.run(&update).unwrap().is_accepted());
        assert_eq!(memory.rows(3), [[Value::from(2)]]);
    }
}
