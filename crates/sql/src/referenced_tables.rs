//! Which tables a statement names, and which of them it may change.
//!
//! For statements that a service was seen to run. What does not parse, and what
//! defines instead of changing, is not understood, and then anything may have
//! been changed.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use isobath_walk::{Tree, TreeVisitor};
use sqlparser::ast::{FromTable, ObjectName, Statement, TableFactor, TableObject, TableWithJoins};

use crate::ddl::parse;
use crate::dialect::DialectName;
use crate::schema::{Action, Schema};
use crate::syntax::last_part;

/// The tables that a statement names, as indices into a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferencedTables {
    /// Tables that it names.
    pub names: BTreeSet<usize>,
    /// Tables whose rows it may change, those included that foreign keys make follow.
    pub changes: BTreeSet<usize>,
}

/// The tables that a statement touches; `None` when the statement is not understood.
pub fn referenced_tables(
    schema: &Schema,
    text: &str,
    dialect: DialectName,
) -> Option<ReferencedTables> {
    let statement = parse::statement(text, dialect).ok()?;
    let mut visitor = TableVisitor {
        schema,
        referenced_tables: ReferencedTables::default(),
        takes_away: BTreeSet::new(),
        changes_all: false,
        is_understood: true,
    };
    let _ = statement.walk(&mut visitor);
    if !visitor.is_understood {
        return None;
    }
    let mut referenced_tables = visitor.referenced_tables;
    if visitor.changes_all {
        referenced_tables.changes.extend(&referenced_tables.names);
        visitor.takes_away.extend(&referenced_tables.names);
    }
    follow(schema, visitor.takes_away, &mut referenced_tables.changes);
    Some(referenced_tables)
}

/// Adds the tables whose rows follow, or lose a reference, when rows are taken away or get another key.
fn follow(schema: &Schema, mut open: BTreeSet<usize>, changes: &mut BTreeSet<usize>) {
    let mut seen = open.clone();
    while let Some(parent) = open.pop_first() {
        for (child, table) in schema.tables.iter().enumerate() {
            let follows = table.foreign_keys().any(|key| {
                let acts = |action| !matches!(action, Action::NoAction | Action::Restrict);
                key.parent == parent && (acts(key.on_delete) || acts(key.on_update))
            });
            if follows && seen.insert(child) {
                changes.insert(child);
                open.insert(child);
            }
        }
    }
}

struct TableVisitor<'a> {
    schema: &'a Schema,
    referenced_tables: ReferencedTables,
    /// Tables of which rows may vanish or change their key.
    takes_away: BTreeSet<usize>,
    changes_all: bool,
    is_understood: bool,
}

impl TableVisitor<'_> {
    fn index(&self, name: &ObjectName) -> Option<usize> {
        self.schema.table_index(&last_part(name))
    }

    fn change(&mut self, name: &ObjectName, takes_away: bool) {
        if let Some(table) = self.index(name) {
            self.referenced_tables.changes.insert(table);
            if takes_away {
                self.takes_away.insert(table);
            }
        }
    }

    fn change_all_of(&mut self, tables: &[TableWithJoins]) {
        for table in tables {
            let joined = table.joins.iter().map(|join| &join.relation);
            for factor in std::iter::once(&table.relation).chain(joined) {
                if let TableFactor::Table { name, .. } = factor {
                    self.change(name, true);
                }
            }
        }
    }
}

impl TreeVisitor for TableVisitor<'_> {
    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        self.referenced_tables.names.extend(self.index(name));
        ControlFlow::Continue(())
    }

    /// Also called for statements within others, as PostgreSQL has them in WITH.
    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        match statement {
            Statement::Insert(insert) => {
                if let TableObject::TableName(name) = &insert.table {
                    let replaces =
                        insert.replace_into || insert.or.is_some() || insert.on.is_some();
                    self.change(name, replaces);
                } else {
                    self.is_understood = false;
                }
            }
            Statement::Update(update) => self.change_all_of(std::slice::from_ref(&update.table)),
            Statement::Delete(delete) => {
                for name in &delete.tables {
                    self.change(name, true);
                }
                let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) =
                    &delete.from;
                self.change_all_of(tables);
            }
            Statement::Merge(_) | Statement::Truncate(_) => self.changes_all = true,
            Statement::Query(_)
            | Statement::Set(_)
            | Statement::ShowVariable { .. }
            | Statement::ShowVariables { .. }
            | Statement::StartTransaction { .. }
            | Statement::Commit { .. }
            | Statement::Rollback { .. }
            | Statement::Savepoint { .. }
            | Statement::ReleaseSavepoint { .. }
            | Statement::ExplainTable { .. }
            | Statement::Pragma { .. } => {}
            _ => self.is_understood = false,
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::{Source, load};

    fn schema() -> Schema {
        let source = Source {
            name: "test".to_owned(),
            text: "CREATE TABLE a (id INT PRIMARY KEY); \
                   CREATE TABLE b (id INT PRIMARY KEY, a INT REFERENCES a ON DELETE CASCADE); \
                   CREATE TABLE c (b INT REFERENCES b ON DELETE SET NULL); \
                   CREATE TABLE d (a INT REFERENCES a);"
                .to_owned(),
        };
        load("test", &[source], Some(DialectName::Postgres)).schema
    }

    fn told(text: &str) -> String {
        let schema = schema();
        let names = |tables: &BTreeSet<usize>| {
            let names: Vec<&str> = tables
                .iter()
                .map(|&table| schema.tables[table].name.as_str())
                .collect();
            names.join(" ")
        };
        match referenced_tables(&schema, text, DialectName::Postgres) {
            Some(referenced_tables) => format!(
                "{} | {}",
                names(&referenced_tables.names),
                names(&referenced_tables.changes)
            ),
            None => "anything".to_owned(),
        }
    }

    #[test]
    fn changes_are_what_is_written_and_what_follows() {
        for (text, expected) in [
            ("SELECT * FROM a JOIN b ON b.a = a.id", "a b | "),
            ("INSERT INTO a (id) SELECT a FROM d", "a d | a"),
            (
                "insert into A values (1) on conflict do nothing",
                "a | a b c",
            ),
            (
                "UPDATE c SET b = 1 WHERE b IN (SELECT id FROM b)",
                "b c | c",
            ),
            ("DELETE FROM a WHERE id = 1", "a | a b c"),
            ("DELETE FROM d", "d | d"),
            (
                "WITH gone AS (DELETE FROM d RETURNING a) SELECT * FROM a, gone",
                "a d | d",
            ),
            ("TRUNCATE TABLE d", "d | d"),
            ("BEGIN", " | "),
            ("SELECT 1", " | "),
            ("DROP TABLE a", "anything"),
            ("this is no SQL", "anything"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }
}
