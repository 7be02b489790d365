//! The schema and the rows that exist before a test inserts its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use isobath_sql::memory::MemoryDatabase;
use isobath_sql::query::Relations;
use isobath_sql::schema::Filled;
use isobath_sql::{
    Column, ConstraintKind, DataType, Dialect, DialectName, Expr, Schema, Table, Value,
};
use jiff::civil::DateTime;

use crate::cells::values::ValuePool;
use crate::query::construct::SolverContext;

/// What rows are put on.
#[derive(Clone, Debug)]
pub struct ExistingRows {
    /// The tables.
    pub schema: Arc<Schema>,
    /// The database.
    pub dialect: DialectName,
    /// What NOW and similar functions answer, more or less.
    pub now: DateTime,
    /// The rows that are there before anything is inserted, by table; of large tables, some.
    pub existing: Vec<Vec<Vec<Value>>>,
    pub(super) profile: ValuePool,
    /// By table and column, the values that its own constraints speak of.
    pub(super) constraint_values: Vec<Vec<Vec<Value>>>,
}

/// Rows of one table beside each other: those that are there, and others.
pub(super) struct CombinedRows {
    rows: Vec<Vec<Vec<Value>>>,
}

impl Relations for CombinedRows {
    fn rows(&self, table: usize) -> &[Vec<Value>] {
        self.rows.get(table).map_or(&[], Vec::as_slice)
    }
}

impl ExistingRows {
    /// A schema with rows; `existing` has a list per table, in the order of the schema.
    pub fn new(
        schema: Arc<Schema>,
        dialect: DialectName,
        now: DateTime,
        existing: Vec<Vec<Vec<Value>>>,
    ) -> Self {
        Self {
            profile: ValuePool::mine(&schema),
            constraint_values: schema
                .tables
                .iter()
                .map(|table| constraint_values(table))
                .collect(),
            schema,
            dialect,
            now,
            existing,
        }
    }

    /// Takes note of a constant worth trying.
    pub fn learn(&mut self, value: &Value) {
        self.profile.add(value);
    }

    /// Whether the database numbers a column by itself.
    pub fn counts(&self, table: usize, column: usize) -> bool {
        let Some(of) = self.schema.tables.get(table) else {
            return false;
        };
        let filled = of.columns.get(column).map(|column| &column.filled);
        matches!(filled, Some(Filled::Counter | Filled::CounterAlways))
            || self.dialect_rules().rowid_alias(of) == Some(column)
            || of
                .columns
                .get(column)
                .and_then(|column| column.default.as_ref())
                .is_some_and(isobath_sql::eval::is_next_number)
    }

    /// The column that a row of the table is known by, and that the database numbers.
    pub fn counter(&self, table: usize) -> Option<usize> {
        let columns = self.schema.tables.get(table)?.columns.len();
        (0..columns).find(|column| self.counts(table, *column))
    }

    pub(super) fn dialect_rules(&self) -> &'static dyn Dialect {
        self.dialect.dialect()
    }

    pub(super) fn solver_context(&self) -> SolverContext<'_> {
        SolverContext {
            now: self.now,
            ..SolverContext::new(&self.schema, self.dialect_rules())
        }
    }

    /// The tables with all that they refer to, directly or not.
    pub(super) fn with_parents(&self, tables: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = tables.into_iter().collect();
        let mut all = BTreeSet::new();
        while let Some(table) = open.pop() {
            if let Some(of) = self.schema.tables.get(table)
                && all.insert(table)
            {
                open.extend(of.foreign_keys().map(|key| key.parent));
            }
        }
        all
    }

    /// A database with the rows of some tables that are there.
    pub(super) fn memory(&self, tables: &BTreeSet<usize>) -> MemoryDatabase<'_> {
        let mut memory = MemoryDatabase::new(&self.schema, self.dialect_rules());
        for &table in tables {
            for row in self.existing.get(table).into_iter().flatten() {
                memory.put_stored(table, row.clone());
            }
        }
        memory
    }

    /// What is there in the given tables, with more rows beside it.
    pub(super) fn combined_with<'r>(
        &self,
        tables: &[usize],
        more: impl IntoIterator<Item = &'r (usize, Vec<Value>)>,
    ) -> CombinedRows {
        let mut rows = vec![Vec::new(); self.schema.tables.len()];
        for &table in tables {
            if let (Some(rows), Some(existing)) = (rows.get_mut(table), self.existing.get(table)) {
                rows.clone_from(existing);
            }
        }
        for (table, row) in more {
            if tables.contains(table) {
                rows[*table].push(row.clone());
            }
        }
        CombinedRows { rows }
    }
}

/// By column, the values that a table says it may have: those of enumerations and of CHECKs, TRUE and FALSE.
fn constraint_values(table: &Table) -> Vec<Vec<Value>> {
    let of_type = |column: &Column| match &column.data_type {
        DataType::Boolean => vec![Value::Bool(true), Value::Bool(false)],
        DataType::Enum { labels, .. } => labels.iter().map(Value::text).collect(),
        _ => Vec::new(),
    };
    let mut values: Vec<Vec<Value>> = table.columns.iter().map(of_type).collect();
    for constraint in &table.constraints {
        let ConstraintKind::Check { expr } = &constraint.kind else {
            continue;
        };
        let columns = expr.columns();
        let [column] = columns.as_slice() else {
            continue;
        };
        expr.walk(&mut |part| {
            if let Expr::Literal(value) = part
                && let Some(values) = values.get_mut(*column)
                && !value.is_null()
                && !values.contains(value)
            {
                values.push(value.clone());
            }
        });
    }
    values
}
