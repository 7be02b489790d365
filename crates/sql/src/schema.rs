//! Tables, columns and integrity constraints.

use std::sync::Arc;

use crate::expr::Expr;
use crate::limitation::SourceLocation;
use crate::types::DataType;

/// A set of tables that refer to each other by index.
///
/// Tables are shared so that a mutant of a schema costs one changed table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// A name for reports: the file's stem or the database's name.
    pub name: String,
    /// The tables, in the order of their definition.
    pub tables: Vec<Arc<Table>>,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name, unquoted, as the database folds it or as it was written.
    pub name: String,
    /// The named schema it lives in, when the source says so.
    pub namespace: Option<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its constraints, in the order of their definition.
    pub constraints: Vec<Constraint>,
    /// SQLite's STRICT.
    pub strict: bool,
    /// SQLite's WITHOUT ROWID.
    pub without_rowid: bool,
    /// Where it is defined.
    pub location: SourceLocation,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, unquoted.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// The type as the source spells it.
    pub declared: String,
    /// Its DEFAULT.
    pub default: Option<Expr>,
    /// How the database fills it by itself, when it does.
    pub filled: Filled,
    /// The collation named by the source.
    pub collation: Option<String>,
}

/// How a database fills a column that an INSERT leaves out, beyond DEFAULT.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// It does not.
    No,
    /// SERIAL, AUTO_INCREMENT, or IDENTITY BY DEFAULT: a number, unless one is given.
    Counter,
    /// GENERATED ALWAYS AS IDENTITY: a number, and giving one is an error.
    CounterAlways,
    /// GENERATED ALWAYS AS (expression): giving a value is an error.
    Generated(Expr),
}

/// One integrity constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The name that the source gives it.
    pub name: Option<String>,
    /// What it demands.
    pub kind: ConstraintKind,
    /// Whether it may wait until the end of the transaction.
    pub deferrable: Deferrable,
    /// Where it is defined.
    pub location: SourceLocation,
}

/// When a constraint is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deferrable {
    /// At once.
    #[default]
    No,
    /// At once, unless the transaction defers it.
    InitiallyImmediate,
    /// At the end of the transaction.
    InitiallyDeferred,
}

/// What a constraint demands. Columns are indices into the table.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// PRIMARY KEY.
    PrimaryKey {
        /// The key's columns.
        columns: Vec<usize>,
    },
    /// NOT NULL.
    NotNull {
        /// The column.
        column: usize,
    },
    /// UNIQUE, or a unique index over plain columns of all rows.
    Unique {
        /// Its columns.
        columns: Vec<usize>,
        /// Whether NULLs differ from each other (all but PostgreSQL's NULLS NOT DISTINCT).
        nulls_distinct: bool,
    },
    /// A unique index over expressions or over part of the rows.
    UniqueIndex {
        /// What must be unique, one expression per key part.
        keys: Vec<Expr>,
        /// Which rows count.
        predicate: Option<Expr>,
        /// Whether NULLs differ from each other.
        nulls_distinct: bool,
    },
    /// FOREIGN KEY.
    ForeignKey(ForeignKey),
    /// CHECK.
    Check {
        /// The condition; a row is refused when it is false.
        expr: Expr,
    },
}

/// A reference to rows of another (or the same) table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<usize>,
    /// Index of the table referred to.
    pub parent: usize,
    /// The columns referred to, pairwise.
    pub parent_columns: Vec<usize>,
    /// MATCH FULL: all columns NULL or none.
    pub match_full: bool,
    /// ON DELETE.
    pub on_delete: Action,
    /// ON UPDATE.
    pub on_update: Action,
}

/// What happens to referring rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Action {
    /// Refuse, at the end of the statement.
    #[default]
    NoAction,
    /// Refuse, at once.
    Restrict,
    /// Follow.
    Cascade,
    /// Become NULL.
    SetNull,
    /// Become the default.
    SetDefault,
}

impl Schema {
    /// The index of a table by name, first exactly, then ignoring ASCII case.
    pub fn table_index(&self, name: &str) -> Option<usize> {
        self.tables
            .iter()
            .position(|table| table.name == name)
            .or_else(|| {
                self.tables
                    .iter()
                    .position(|table| table.name.eq_ignore_ascii_case(name))
            })
    }

    /// A table by its index.
    ///
    /// # Panics
    ///
    /// When the index is not of this schema.
    #[expect(
        clippy::indexing_slicing,
        reason = "indexes of tables come from the schema that they are used with"
    )]
    pub fn table(&self, index: usize) -> &Arc<Table> {
        &self.tables[index]
    }

    /// The same schema with one table replaced; all others stay shared.
    #[must_use]
    pub fn with_table(&self, index: usize, table: Table) -> Self {
        let mut schema = self.clone();
        if let Some(replaced) = schema.tables.get_mut(index) {
            *replaced = Arc::new(table);
        }
        schema
    }
}

impl Table {
    /// The index of a column by name, first exactly, then ignoring ASCII case.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.name == name)
            .or_else(|| {
                self.columns
                    .iter()
                    .position(|column| column.name.eq_ignore_ascii_case(name))
            })
    }

    /// A column by its index.
    ///
    /// # Panics
    ///
    /// When the index is not of this table.
    #[expect(
        clippy::indexing_slicing,
        reason = "indexes of columns come from the table that they are used with"
    )]
    pub fn column(&self, index: usize) -> &Column {
        &self.columns[index]
    }

    /// The primary key's columns, if there is one.
    pub fn primary_key(&self) -> Option<&[usize]> {
        self.constraints
            .iter()
            .find_map(|constraint| match &constraint.kind {
                ConstraintKind::PrimaryKey { columns } => Some(columns.as_slice()),
                _ => None,
            })
    }

    /// Whether an explicit NOT NULL stands on a column.
    pub fn is_not_null(&self, column: usize) -> bool {
        self.constraints
            .iter()
            .any(|c| matches!(c.kind, ConstraintKind::NotNull { column: of } if of == column))
    }

    /// Brings every use of a column in its expressions up to date with its columns.
    ///
    /// Whoever changes a column's name, type or collation calls this. A collation
    /// that a use names for itself stays.
    pub fn refresh(&mut self) {
        let columns = self.columns.clone();
        self.for_each_expr(&mut |expr| {
            expr.walk_mut(&mut |expr| {
                if let Expr::Column(column) = expr
                    && let Some(of) = columns.get(column.slot)
                {
                    column.name.clone_from(&of.name);
                    column.data_type.clone_from(&of.data_type);
                    if column.collation.is_none() {
                        column.collation.clone_from(&of.collation);
                    }
                }
            });
        });
    }

    /// Calls `visit` on every expression of the table: defaults, generated columns, constraints.
    pub fn for_each_expr(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        for column in &mut self.columns {
            if let Some(default) = &mut column.default {
                visit(default);
            }
            if let Filled::Generated(expr) = &mut column.filled {
                visit(expr);
            }
        }
        for constraint in &mut self.constraints {
            match &mut constraint.kind {
                ConstraintKind::Check { expr } => visit(expr),
                ConstraintKind::UniqueIndex {
                    keys, predicate, ..
                } => keys.iter_mut().chain(predicate).for_each(&mut *visit),
                ConstraintKind::PrimaryKey { .. }
                | ConstraintKind::NotNull { .. }
                | ConstraintKind::Unique { .. }
                | ConstraintKind::ForeignKey(_) => {}
            }
        }
    }

    /// The foreign keys of this table.
    pub fn foreign_keys(&self) -> impl Iterator<Item = &ForeignKey> {
        self.constraints
            .iter()
            .filter_map(|constraint| match &constraint.kind {
                ConstraintKind::ForeignKey(key) => Some(key),
                _ => None,
            })
    }
}

impl Constraint {
    /// An immediate, unnamed constraint, for code and tests.
    pub fn unnamed(kind: ConstraintKind) -> Self {
        Self {
            name: None,
            kind,
            deferrable: Deferrable::No,
            location: SourceLocation::default(),
        }
    }

    /// The columns of its own table that it speaks of, each once, in order of mention.
    pub fn columns(&self) -> Vec<usize> {
        match &self.kind {
            ConstraintKind::PrimaryKey { columns } | ConstraintKind::Unique { columns, .. } => {
                columns.clone()
            }
            ConstraintKind::NotNull { column } => vec![*column],
            ConstraintKind::ForeignKey(key) => key.columns.clone(),
            ConstraintKind::Check { expr } => expr.columns(),
            ConstraintKind::UniqueIndex {
                keys, predicate, ..
            } => {
                let mut columns = Vec::new();
                for expr in keys.iter().chain(predicate) {
                    for column in expr.columns() {
                        if !columns.contains(&column) {
                            columns.push(column);
                        }
                    }
                }
                columns
            }
        }
    }
}
