//! Small schemas for the tests of the schema job, built in code.

use std::sync::Arc;

use isobath_sql::expr::{ColumnRef, CompareOp};
use isobath_sql::schema::{Action, Filled, ForeignKey};
use isobath_sql::{
    Column, Constraint, ConstraintKind, DataType, Expr, Schema, SourceLocation, Table, Value,
};

/// A schema of these tables.
pub(crate) fn schema(tables: Vec<Table>) -> Schema {
    Schema {
        name: "sample".to_owned(),
        tables: tables.into_iter().map(Arc::new).collect(),
    }
}

/// A table of INTEGER columns without constraints.
pub(crate) fn table(name: &str, columns: &[&str]) -> Table {
    Table {
        name: name.to_owned(),
        namespace: None,
        columns: columns
            .iter()
            .map(|name| column(name, DataType::INT))
            .collect(),
        constraints: Vec::new(),
        strict: false,
        without_rowid: false,
        location: SourceLocation::default(),
    }
}

/// A column without anything special.
pub(crate) fn column(name: &str, data_type: DataType) -> Column {
    let declared = match &data_type {
        DataType::Varchar { length: Some(n) } => format!("VARCHAR({n})"),
        DataType::Text => "TEXT".to_owned(),
        DataType::Date => "DATE".to_owned(),
        _ => "INT".to_owned(),
    };
    Column {
        name: name.to_owned(),
        data_type,
        declared,
        default: None,
        filled: Filled::No,
        collation: None,
    }
}

/// Constraints by column position, chained onto a table.
pub(crate) trait TableBuilder: Sized {
    fn with(self, kind: ConstraintKind) -> Self;
    fn typed(self, column: usize, data_type: DataType) -> Self;

    fn key(self, columns: &[usize]) -> Self {
        self.with(ConstraintKind::PrimaryKey {
            columns: columns.to_vec(),
        })
    }

    fn not_null(self, column: usize) -> Self {
        self.with(ConstraintKind::NotNull { column })
    }

    fn unique(self, columns: &[usize]) -> Self {
        self.with(ConstraintKind::Unique {
            columns: columns.to_vec(),
            nulls_distinct: true,
        })
    }

    fn refers(self, columns: &[usize], parent: usize, parent_columns: &[usize]) -> Self {
        self.with(ConstraintKind::ForeignKey(ForeignKey {
            columns: columns.to_vec(),
            parent,
            parent_columns: parent_columns.to_vec(),
            match_full: false,
            on_delete: Action::NoAction,
            on_update: Action::NoAction,
        }))
    }

    fn check(self, expr: Expr) -> Self {
        self.with(ConstraintKind::Check { expr })
    }
}

impl TableBuilder for Table {
    fn with(mut self, kind: ConstraintKind) -> Self {
        self.constraints.push(Constraint::unnamed(kind));
        self
    }

    fn typed(mut self, at: usize, data_type: DataType) -> Self {
        self.columns[at] = column(&self.columns[at].name.clone(), data_type);
        self
    }
}

/// An INTEGER column in an expression.
pub(crate) fn col(slot: usize, name: &str) -> Expr {
    col_as(slot, name, DataType::INT)
}

/// A column in an expression.
pub(crate) fn col_as(slot: usize, name: &str, data_type: DataType) -> Expr {
    Expr::Column(ColumnRef {
        slot,
        name: name.to_owned(),
        data_type,
        collation: None,
    })
}

/// A comparison.
pub(crate) fn compare(left: Expr, op: CompareOp, right: Expr) -> Expr {
    Expr::Compare {
        op,
        left: Box::new(left),
        right: Box::new(right),
    }
}

/// `left > right`.
pub(crate) fn greater(left: Expr, right: Expr) -> Expr {
    compare(left, CompareOp::Greater, right)
}

/// `expr [NOT] BETWEEN low AND high`.
pub(crate) fn between(expr: Expr, low: i64, high: i64, negated: bool) -> Expr {
    Expr::Between {
        expr: Box::new(expr),
        low: Box::new(Expr::int(low)),
        high: Box::new(Expr::int(high)),
        negated,
        symmetric: false,
    }
}

/// `expr [NOT] IN (…)`.
pub(crate) fn within(expr: Expr, list: &[&str], negated: bool) -> Expr {
    Expr::InList {
        expr: Box::new(expr),
        list: list
            .iter()
            .map(|text| Expr::Literal(Value::text(*text)))
            .collect(),
        negated,
    }
}

/// `expr IS [NOT] NULL`.
pub(crate) fn is_null(expr: Expr, negated: bool) -> Expr {
    Expr::IsNull {
        expr: Box::new(expr),
        negated,
    }
}

/// Products, orders and what was ordered: keys, NOT NULLs, CHECKs and a key made of foreign keys.
pub(crate) fn shop() -> Schema {
    let price = || col(2, "price");
    let products = table("products", &["product_no", "name", "price", "reduced"])
        .typed(1, DataType::Varchar { length: Some(40) })
        .key(&[0])
        .not_null(1)
        .not_null(2)
        .check(greater(price(), col(3, "reduced")))
        .check(greater(col(3, "reduced"), Expr::int(0)));
    let orders = table("orders", &["order_id", "address"])
        .typed(1, DataType::Text)
        .key(&[0]);
    let items = table("items", &["product_no", "order_id", "quantity"])
        .key(&[0, 1])
        .refers(&[0], 0, &[0])
        .refers(&[1], 1, &[0])
        .not_null(2)
        .check(greater(col(2, "quantity"), Expr::int(0)));
    schema(vec![products, orders, items])
}
