//! Which rows a database would accept, and which constraint would refuse them.
//!
//! A small in-memory database that only knows how to change rows and to say
//! why not. All violated constraints are found, not just the first, because a
//! test must be refused for one reason only.

mod actions;
mod check;
mod clock;

pub use check::compared_as;
pub use clock::reads_clock;

use crate::dialect::{Dialect, StoreError};
use crate::eval::{self, EvalError, RaisedError, Unsupported};
use crate::row::{Cell, Row, Statement};
use crate::schema::{Column, Filled, Schema};
use crate::value::Value;

/// The rows of every table, under the rules of a schema.
#[derive(Clone, Debug)]
pub struct MemoryDatabase<'s> {
    schema: &'s Schema,
    dialect: &'static dyn Dialect,
    rows: Vec<Vec<Vec<Value>>>,
    /// Whether rows inserted together are judged as an engine does, not as they should be.
    as_engine_runs: bool,
}

/// The outcome of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It was carried out.
    Accepted,
    /// It was refused and changed nothing; never empty.
    Rejected(Vec<Violation>),
}

/// One reason to refuse a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Index of the table whose rule it is.
    pub table: usize,
    /// Index of the constraint in that table, where a constraint is the reason.
    pub constraint: Option<usize>,
    /// What is wrong.
    pub kind: ViolationKind,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq)]
pub enum ViolationKind {
    /// NULL in a column that must have a value (NOT NULL, or part of a primary key).
    Null {
        /// The column.
        column: usize,
    },
    /// A second row with the same key.
    Duplicate,
    /// No row that the foreign key refers to.
    NoParent,
    /// Rows still refer to the row that goes away.
    StillReferenced,
    /// A CHECK is false.
    CheckFalse,
    /// Evaluating a CHECK or generated column raises an error.
    Raises(RaisedError),
    /// The value does not fit the column.
    Type {
        /// The column.
        column: usize,
        /// Why not.
        error: StoreError,
    },
    /// A value for a column that only the database may fill.
    GivenGenerated {
        /// The column.
        column: usize,
    },
}

impl Verdict {
    /// Whether it was carried out.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }

    fn of(violations: Vec<Violation>) -> Self {
        if violations.is_empty() {
            Self::Accepted
        } else {
            Self::Rejected(violations)
        }
    }
}

impl<'s> MemoryDatabase<'s> {
    /// An empty database.
    pub fn new(schema: &'s Schema, dialect: &'static dyn Dialect) -> Self {
        Self {
            schema,
            dialect,
            rows: vec![Vec::new(); schema.tables.len()],
            as_engine_runs: false,
        }
    }

    /// The same database, which judges rows that are inserted together no more strictly than a test
    /// on the engine can.
    #[must_use]
    pub fn as_engine_runs(self) -> Self {
        Self {
            as_engine_runs: true,
            ..self
        }
    }

    /// The rows of a table, as stored.
    pub fn rows(&self, table: usize) -> &[Vec<Value>] {
        &self.rows[table]
    }

    /// Whose rules it knows.
    pub fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    /// The schema it obeys.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.iter_mut().for_each(Vec::clear);
    }

    /// Carries out a statement, or says why not.
    ///
    /// # Errors
    ///
    /// When a constraint that decides it is outside what we evaluate.
    pub fn run(&mut self, statement: &Statement) -> Result<Verdict, Unsupported> {
        match statement {
            Statement::Insert(row) => self.insert(row),
            Statement::InsertTogether(rows) => self.insert_together(rows),
            Statement::Update { table, set, only } => self.update(*table, set, only),
            Statement::Delete { table, only } => self.delete(*table, only),
        }
    }

    /// Inserts one row.
    ///
    /// # Errors
    ///
    /// As for [`MemoryDatabase::run`].
    pub fn insert(&mut self, row: &Row) -> Result<Verdict, Unsupported> {
        match self.stored(row)? {
            Ok(values) => self.insert_stored(row.table, values),
            Err(violations) => Ok(Verdict::Rejected(violations)),
        }
    }

    /// Inserts a row that [`MemoryDatabase::stored`] has converted, which saves converting it again.
    ///
    /// # Errors
    ///
    /// As for [`MemoryDatabase::run`].
    pub fn insert_stored(
        &mut self,
        table: usize,
        values: Vec<Value>,
    ) -> Result<Verdict, Unsupported> {
        let mut violations = Vec::new();
        self.check_row(table, &values, None, &mut violations)?;
        self.check_parents(table, &values, &mut violations);
        if violations.is_empty() {
            self.rows[table].push(values);
        }
        Ok(Verdict::of(violations))
    }

    /// Puts a row in without judging it: one that is known to be accepted.
    pub fn put_stored(&mut self, table: usize, values: Vec<Value>) {
        self.rows[table].push(values);
    }

    fn insert_together(&mut self, rows: &[Row]) -> Result<Verdict, Unsupported> {
        let before: Vec<usize> = self.rows.iter().map(Vec::len).collect();
        let mut violations = Vec::new();
        let mut inserted = Vec::new();
        for row in rows {
            match self.stored(row)? {
                Ok(values) => {
                    self.check_row(row.table, &values, None, &mut violations)?;
                    inserted.push((row.table, values.clone()));
                    self.rows[row.table].push(values);
                }
                Err(found) => violations.extend(found),
            }
        }
        if self.dialect.judges_rows_together() || !self.as_engine_runs {
            for (table, values) in &inserted {
                self.check_parents(*table, values, &mut violations);
            }
        }
        if !violations.is_empty() {
            for (rows, len) in self.rows.iter_mut().zip(before) {
                rows.truncate(len);
            }
        }
        Ok(Verdict::of(violations))
    }

    /// The values that a row would store: defaults filled in, values converted, columns computed.
    ///
    /// The inner error lists values that do not fit their columns.
    ///
    /// # Errors
    ///
    /// As for [`MemoryDatabase::run`].
    pub fn stored(&self, row: &Row) -> Result<Result<Vec<Value>, Vec<Violation>>, Unsupported> {
        let mut violations = Vec::new();
        let mut values = Vec::with_capacity(row.cells.len());
        for (column, cell) in row.cells.iter().enumerate() {
            values.push(self.cell(row.table, column, cell, &mut violations)?);
        }
        self.compute_generated(row.table, &mut values, &mut violations)?;
        Ok(if violations.is_empty() {
            Ok(values)
        } else {
            Err(violations)
        })
    }

    /// What one cell of an INSERT or UPDATE stores; NULL for a generated column, which is computed later.
    fn cell(
        &self,
        table: usize,
        column: usize,
        cell: &Cell,
        violations: &mut Vec<Violation>,
    ) -> Result<Value, Unsupported> {
        let definition = &self.schema.tables[table].columns[column];
        let alias = self.dialect.rowid_alias(&self.schema.tables[table]) == Some(column);
        let counts = matches!(definition.filled, Filled::Counter | Filled::CounterAlways);
        let value = match (cell, &definition.filled) {
            (Cell::Value(_), Filled::CounterAlways | Filled::Generated(_)) => {
                let kind = ViolationKind::GivenGenerated { column };
                violations.push(Violation {
                    table,
                    constraint: None,
                    kind,
                });
                return Ok(Value::Null);
            }
            (Cell::Value(Value::Null), _) if alias || (counts && self.dialect.counts_on_null()) => {
                self.next_number(table, column)
            }
            (Cell::Value(Value::Null), _)
                if self.dialect.null_is_now(&self.schema.tables[table], column) =>
            {
                self.now(table, column)?
            }
            (Cell::Value(value), _) => value.clone(),
            (Cell::Default, Filled::Generated(_)) => Value::Null,
            (Cell::Default, _) if counts || alias => self.next_number(table, column),
            (Cell::Default, _) => match self.default_value(table, column, definition)? {
                Ok(value) => value,
                Err(raised) => {
                    violations.push(Violation {
                        table,
                        constraint: None,
                        kind: ViolationKind::Raises(raised),
                    });
                    Value::Null
                }
            },
        };
        self.convert(value, table, column, violations)
    }

    fn compute_generated(
        &self,
        table: usize,
        values: &mut [Value],
        violations: &mut Vec<Violation>,
    ) -> Result<(), Unsupported> {
        for (column, definition) in self.schema.tables[table].columns.iter().enumerate() {
            let Filled::Generated(expr) = &definition.filled else {
                continue;
            };
            match eval::value(expr, values, self.dialect) {
                Ok(value) => values[column] = self.convert(value, table, column, violations)?,
                Err(EvalError::Raised(raised)) => {
                    violations.push(Violation {
                        table,
                        constraint: None,
                        kind: ViolationKind::Raises(raised),
                    });
                }
                Err(EvalError::Unsupported(unsupported)) => return Err(unsupported),
            }
        }
        Ok(())
    }

    fn convert(
        &self,
        value: Value,
        table: usize,
        column: usize,
        violations: &mut Vec<Violation>,
    ) -> Result<Value, Unsupported> {
        let definition = &self.schema.tables[table].columns[column];
        if value.is_null() {
            return Ok(value);
        }
        match self
            .dialect
            .store(&value, definition, self.schema.tables[table].strict)
        {
            Ok(value) => Ok(value),
            Err(StoreError::Unknown(data_type)) => Err(Unsupported::new(format!(
                "storing {value} as {data_type:?}"
            ))),
            Err(error) => {
                violations.push(Violation {
                    table,
                    constraint: None,
                    kind: ViolationKind::Type { column, error },
                });
                Ok(Value::Null)
            }
        }
    }

    /// One more than the greatest number in a column.
    fn next_number(&self, table: usize, column: usize) -> Value {
        let greatest = self.rows[table].iter().filter_map(|row| match row[column] {
            Value::Int(number) => Some(number),
            _ => None,
        });
        Value::Int(greatest.max().unwrap_or(0).max(0) + 1)
    }

    fn default_value(
        &self,
        table: usize,
        column: usize,
        definition: &Column,
    ) -> Result<Result<Value, RaisedError>, Unsupported> {
        let Some(expr) = &definition.default else {
            let implicit = self
                .dialect
                .implicit_default(&self.schema.tables[table], column);
            return Ok(Ok(implicit.unwrap_or(Value::Null)));
        };
        match eval::value(expr, &[], self.dialect) {
            Ok(value) => Ok(Ok(value)),
            Err(EvalError::Raised(raised)) => Ok(Err(raised)),
            Err(EvalError::Unsupported(_)) if eval::is_next_number(expr) => {
                Ok(Ok(self.next_number(table, column)))
            }
            Err(EvalError::Unsupported(unsupported)) => {
                match self.clock_default(table, column, expr) {
                    Some(value) => Ok(Ok(value)),
                    None => Err(unsupported),
                }
            }
        }
    }
}
