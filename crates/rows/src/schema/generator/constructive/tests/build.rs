//! Tables and expressions in few words.

use std::sync::Arc;

use isobath_sql::expr::{BinaryOp, ColumnRef, CompareOp, PatternKind};
use isobath_sql::schema::{Action, Filled, ForeignKey};
use isobath_sql::{
    Column, Constraint, ConstraintKind, DataType, Expr, Schema, SourceLocation, Table, Value,
};

use crate::schema::predicate::{Predicate, RequiredTruth};

pub(crate) fn schema(tables: impl IntoIterator<Item = Table>) -> Schema {
    Schema {
        name: "test".to_owned(),
        tables: tables.into_iter().map(Arc::new).collect(),
    }
}

pub(crate) fn table<'n>(
    name: &str,
    columns: impl IntoIterator<Item = (&'n str, DataType)>,
    constraints: impl IntoIterator<Item = ConstraintKind>,
) -> Table {
    let columns = columns.into_iter().map(|(name, data_type)| Column {
        name: name.to_owned(),
        declared: match &data_type {
            DataType::Varchar {
                length: Some(length),
            } => format!("VARCHAR({length})"),
            DataType::Other(name) => name.clone(),
            other => format!("{other:?}"),
        },
        data_type,
        default: None,
        filled: Filled::No,
        collation: None,
    });
    Table {
        name: name.to_owned(),
        namespace: None,
        columns: columns.collect(),
        constraints: constraints.into_iter().map(Constraint::unnamed).collect(),
        strict: false,
        without_rowid: false,
        location: SourceLocation::default(),
    }
}

pub(crate) fn check(expr: Expr) -> ConstraintKind {
    ConstraintKind::Check { expr }
}

pub(crate) fn primary_key(columns: &[usize]) -> ConstraintKind {
    ConstraintKind::PrimaryKey {
        columns: columns.to_vec(),
    }
}

pub(crate) fn foreign_key(
    columns: &[usize],
    parent: usize,
    parent_columns: &[usize],
) -> ConstraintKind {
    ConstraintKind::ForeignKey(ForeignKey {
        columns: columns.to_vec(),
        parent,
        parent_columns: parent_columns.to_vec(),
        match_full: false,
        on_delete: Action::NoAction,
        on_update: Action::NoAction,
    })
}

fn column(name: &str, slot: usize, data_type: DataType) -> Expr {
    Expr::Column(ColumnRef {
        slot,
        name: name.to_owned(),
        data_type,
        collation: None,
    })
}

pub(crate) fn int(name: &str, slot: usize) -> Expr {
    column(name, slot, DataType::INT)
}

pub(crate) fn text(name: &str, slot: usize) -> Expr {
    varchar(name, slot, 40)
}

pub(crate) fn varchar(name: &str, slot: usize, length: u32) -> Expr {
    let length = Some(length);
    column(name, slot, DataType::Varchar { length })
}

pub(crate) fn lit(text: &str) -> Expr {
    Expr::Literal(Value::from(text))
}

pub(crate) fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}

pub(crate) fn gt(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::Greater, left, right)
}

pub(crate) fn ge(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::GreaterOrEqual, left, right)
}

pub(crate) fn lt(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::Less, left, right)
}

pub(crate) fn le(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::LessOrEqual, left, right)
}

pub(crate) fn eq(left: Expr, right: Expr) -> Expr {
    compare(CompareOp::Equal, left, right)
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}

pub(crate) fn plus(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Add, left, right)
}

pub(crate) fn times(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Multiply, left, right)
}

pub(crate) fn modulo(left: Expr, by: i64) -> Expr {
    binary(BinaryOp::Modulo, left, Expr::int(by))
}

pub(crate) fn call(name: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::Function {
        name: name.to_owned(),
        args: args.into_iter().collect(),
    }
}

pub(crate) fn between(expr: Expr, low: i64, high: i64) -> Expr {
    Expr::Between {
        expr: Box::new(expr),
        low: Box::new(Expr::int(low)),
        high: Box::new(Expr::int(high)),
        negated: false,
        symmetric: false,
    }
}

pub(crate) fn like(expr: Expr, pattern: &str) -> Expr {
    Expr::Like {
        expr: Box::new(expr),
        pattern: Box::new(lit(pattern)),
        escape: None,
        kind: PatternKind::Like,
        negated: false,
    }
}

pub(crate) fn holds_true(expr: Expr) -> Predicate {
    Predicate::Expr {
        expr,
        wanted: RequiredTruth::True,
    }
}

pub(crate) fn holds_false(expr: Expr) -> Predicate {
    Predicate::Expr {
        expr,
        wanted: RequiredTruth::False,
    }
}

/// As criteria say that a CHECK is satisfied: true, or some column is NULL.
pub(crate) fn satisfied_check(expr: Expr) -> Predicate {
    let nulls: Vec<Predicate> = expr.columns().into_iter().map(Predicate::null).collect();
    Predicate::or(std::iter::once(holds_true(expr)).chain(nulls))
}

fn checks(schema: &Schema, table: usize) -> Vec<Expr> {
    let checks = schema.tables[table].constraints.iter();
    checks
        .filter_map(|constraint| match &constraint.kind {
            ConstraintKind::Check { expr } => Some(expr.clone()),
            _ => None,
        })
        .collect()
}

/// All CHECKs hold, and all columns have values.
pub(crate) fn accepted(schema: &Schema, table: usize) -> Predicate {
    let nulls = (0..schema.tables[table].columns.len()).map(Predicate::not_null);
    Predicate::and(
        checks(schema, table)
            .into_iter()
            .map(satisfied_check)
            .chain(nulls),
    )
}

/// One CHECK is false, the others hold, and all columns have values.
pub(crate) fn violating(schema: &Schema, table: usize, which: usize) -> Predicate {
    let parts = checks(schema, table)
        .into_iter()
        .enumerate()
        .map(|(index, expr)| {
            if index == which {
                holds_false(expr)
            } else {
                satisfied_check(expr)
            }
        });
    let nulls = (0..schema.tables[table].columns.len()).map(Predicate::not_null);
    Predicate::and(parts.chain(nulls))
}
