//! A table with its seed row, on which extra tests are tried.

use isobath_sql::memory::{MemoryDatabase, Verdict, Violation};
use isobath_sql::row::Statement;
use isobath_sql::{Dialect, Row, Schema, Table, Value};

use crate::schema::case::{ExpectedOutcome, ExpectedRows, TestCase};
use crate::schema::setup_rows::SeedRows;

/// A table with its seed row and what that row stands on.
pub(super) struct SeededTable<'a> {
    pub(super) schema: &'a Schema,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) table: usize,
    pub(super) definition: &'a Table,
    pub(super) row: &'a Row,
    /// The seed rows of the tables referred to.
    pub(super) parents: Vec<Statement>,
    /// The same, and the table's own.
    pub(super) own: Vec<Statement>,
}

impl<'a> SeededTable<'a> {
    /// `None` for a table without a seed row.
    pub(super) fn new(
        schema: &'a Schema,
        dialect: &'static dyn Dialect,
        seeds: &'a SeedRows<'_>,
        table: usize,
    ) -> Option<Self> {
        let row = seeds.row(table).ok()?;
        Some(Self {
            schema,
            dialect,
            table,
            definition: &schema.tables[table],
            row,
            parents: seeds.statements(&seeds.closed(seeds.referred(row))),
            own: seeds.statements(&seeds.closed([table])),
        })
    }

    /// The table's name.
    pub(super) fn name(&self) -> &'a str {
        &self.definition.name
    }

    /// A database after some statements, when all are accepted.
    pub(super) fn after(&self, statements: &[Statement]) -> Option<MemoryDatabase<'a>> {
        let mut memory = MemoryDatabase::new(self.schema, self.dialect);
        for statement in statements {
            if !memory.run(statement).ok()?.is_accepted() {
                return None;
            }
        }
        Some(memory)
    }

    /// A test whose statement is accepted and leaves the columns of the tables as memory has them.
    pub(super) fn accepted(
        &self,
        name: String,
        setup_rows: &[Statement],
        statement: Statement,
        watched: &[(usize, Vec<usize>)],
    ) -> Option<TestCase> {
        let mut memory = self.after(setup_rows)?;
        if !memory.run(&statement).ok()?.is_accepted() {
            return None;
        }
        let after = watched
            .iter()
            .map(|(table, columns)| ExpectedRows::now(*table, columns, &memory))
            .collect();
        Some(self.case(
            name,
            setup_rows,
            statement,
            ExpectedOutcome::Accepted,
            after,
        ))
    }

    /// A test whose statement is refused for one reason, which `wanted` recognizes.
    pub(super) fn rejected(
        &self,
        name: String,
        setup_rows: &[Statement],
        statement: Statement,
        wanted: impl Fn(&Violation) -> bool,
    ) -> Option<TestCase> {
        let mut memory = self.after(setup_rows)?;
        match memory.run(&statement).ok()? {
            Verdict::Rejected(violations) => match violations.as_slice() {
                [one] if wanted(one) => {
                    let expected = ExpectedOutcome::Rejected(one.clone());
                    Some(self.case(name, setup_rows, statement, expected, Vec::new()))
                }
                _ => None,
            },
            Verdict::Accepted => None,
        }
    }

    fn case(
        &self,
        name: String,
        setup_rows: &[Statement],
        statement: Statement,
        expected: ExpectedOutcome,
        after: Vec<ExpectedRows>,
    ) -> TestCase {
        TestCase {
            table: self.table,
            name,
            covers: Vec::new(),
            setup_rows: setup_rows.to_vec(),
            statement,
            expected,
            after,
        }
    }

    /// Columns and values that select one row: its key, or everything that can be compared safely.
    pub(super) fn selecting(&self, table: usize, row: &[Value]) -> Option<Vec<(usize, Value)>> {
        let definition = &self.schema.tables[table];
        let key = definition
            .primary_key()
            .filter(|key| key.iter().all(|column| is_selectable(&row[*column])));
        let columns: Vec<usize> = match key {
            Some(key) => key.to_vec(),
            None => (0..row.len())
                .filter(|column| is_selectable(&row[*column]))
                .collect(),
        };
        (!columns.is_empty()).then(|| {
            columns
                .into_iter()
                .map(|column| (column, row[column].clone()))
                .collect()
        })
    }
}

/// Whether `column = value` finds the value again on every engine.
pub(super) fn is_selectable(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Decimal(_) | Value::Date(_) | Value::Uuid(_) => {
            true
        }
        Value::Text(text) => !text.ends_with(' '),
        _ => false,
    }
}
