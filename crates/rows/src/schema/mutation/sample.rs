//! Small schemas for the tests of this folder.

use std::sync::Arc;

use isobath_sql::expr::{ColumnRef, CompareOp};
use isobath_sql::memory::MemoryDatabase;
use isobath_sql::row::Statement;
use isobath_sql::schema::{Action, Constraint, ConstraintKind, Filled, ForeignKey, Schema, Table};
use isobath_sql::{Column, DataType, Dialect, Expr, Row, SourceLocation, Value};

use crate::schema::case::{ExpectedOutcome, TestCase};

/// A schema of tables whose foreign keys name their parents by index.
pub(crate) fn schema(tables: Vec<Table>) -> Schema {
    Schema {
        name: "sample".to_owned(),
        tables: tables.into_iter().map(Arc::new).collect(),
    }
}

/// A table of integer columns.
pub(crate) fn table(name: &str, columns: &[&str], constraints: Vec<ConstraintKind>) -> Table {
    Table {
        name: name.to_owned(),
        namespace: None,
        columns: columns
            .iter()
            .map(|name| column(name, DataType::INT))
            .collect(),
        constraints: constraints.into_iter().map(Constraint::unnamed).collect(),
        strict: false,
        without_rowid: false,
        location: SourceLocation::default(),
    }
}

pub(crate) fn column(name: &str, data_type: DataType) -> Column {
    Column {
        name: name.to_owned(),
        data_type,
        // Not INTEGER, so that SQLite sees no row id.
        declared: "INT".to_owned(),
        default: None,
        filled: Filled::No,
        collation: None,
    }
}

pub(crate) fn key(columns: &[usize]) -> ConstraintKind {
    ConstraintKind::PrimaryKey {
        columns: columns.to_vec(),
    }
}

pub(crate) fn unique(columns: &[usize]) -> ConstraintKind {
    ConstraintKind::Unique {
        columns: columns.to_vec(),
        nulls_distinct: true,
    }
}

pub(crate) fn not_null(column: usize) -> ConstraintKind {
    ConstraintKind::NotNull { column }
}

pub(crate) fn refers(columns: &[usize], parent: usize, parent_columns: &[usize]) -> ConstraintKind {
    ConstraintKind::ForeignKey(ForeignKey {
        columns: columns.to_vec(),
        parent,
        parent_columns: parent_columns.to_vec(),
        match_full: false,
        on_delete: Action::NoAction,
        on_update: Action::NoAction,
    })
}

pub(crate) fn check(expr: Expr) -> ConstraintKind {
    ConstraintKind::Check { expr }
}

/// An integer column of the row at hand.
pub(crate) fn slot(slot: usize, name: &str) -> Expr {
    Expr::Column(ColumnRef {
        slot,
        name: name.to_owned(),
        data_type: DataType::INT,
        collation: None,
    })
}

pub(crate) fn compare(left: Expr, op: CompareOp, right: Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}

/// An INSERT of integers; `None` is NULL.
pub(crate) fn insert(table: usize, values: &[Option<i64>]) -> Statement {
    Statement::Insert(Row::of(
        table,
        values.iter().map(|v| v.map_or(Value::Null, Value::from)),
    ))
}

/// A test that expects what the original does.
pub(crate) fn test(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    setup_rows: Vec<Statement>,
    statement: Statement,
) -> TestCase {
    let mut memory = MemoryDatabase::new(schema, dialect);
    for statement in &setup_rows {
        let verdict = memory.run(statement).expect("samples are understood");
        assert!(verdict.is_accepted(), "{statement:?}: {verdict:?}");
    }
    let expected = match memory.run(&statement).expect("samples are understood") {
        isobath_sql::memory::Verdict::Accepted => ExpectedOutcome::Accepted,
        isobath_sql::memory::Verdict::Rejected(mut violations) => {
            ExpectedOutcome::Rejected(violations.remove(0))
        }
    };
    TestCase {
        table: statement.table(),
        name: "a sample".to_owned(),
        covers: Vec::new(),
        setup_rows,
        statement,
        expected,
        after: Vec::new(),
    }
}
