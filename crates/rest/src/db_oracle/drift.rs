//! Drift: properties whose documented constraints are weaker than those of their column.

use isobath_genes::{Domain, IntegerDomain, Node, NodeId};
use isobath_sql::eval::verdict;
use isobath_sql::render::expression;
use isobath_sql::schema::Filled;
use isobath_sql::{Column, ConstraintKind, DataType, DialectName, Schema, Table, Value};

use super::matrix::stored;
use super::names::{BodyField, body_fields, column_of, names_one, table_of};
use crate::openapi::{Api, Operation};

/// A property of a document that its column does not keep up with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drift {
    /// The operation that takes the property.
    pub operation: String,
    /// The property.
    pub property: String,
    /// The column, as `table.column`.
    pub column: String,
    /// The constraint of the document.
    pub document: String,
    /// The constraint of the database.
    pub database: String,
}

/// The properties of the bodies of operations whose columns would refuse what the document allows.
#[must_use]
pub fn drift(api: &Api, schema: &Schema, dialect: DialectName) -> Vec<Drift> {
    let mut found = Vec::new();
    for operation in &api.operations {
        if !matches!(&*operation.method, "POST" | "PUT" | "PATCH") {
            continue;
        }
        let Some(index) = table_of(schema, operation) else {
            continue;
        };
        for field in body_fields(api, operation) {
            let Some(number) = column_of(schema, index, &field.name) else {
                continue;
            };
            let table = schema.table(index);
            let case = PropertyColumn {
                api,
                operation,
                field: &field,
                table,
                number,
                dialect,
            };
            found.extend(case.all().into_iter().map(|(document, database)| Drift {
                operation: operation.name(),
                property: field.name.to_string(),
                column: format!("{}.{}", table.name, table.column(number).name),
                document,
                database,
            }));
        }
    }
    found
}

/// A property and its column.
struct PropertyColumn<'a> {
    api: &'a Api,
    operation: &'a Operation,
    field: &'a BodyField,
    table: &'a Table,
    number: usize,
    dialect: DialectName,
}

impl PropertyColumn<'_> {
    fn column(&self) -> &Column {
        self.table.column(self.number)
    }

    fn node(&self) -> &Node {
        let mut id: NodeId = self.field.node;
        for _ in 0..8 {
            match &self.api.model.node(id).domain {
                Domain::Choice(options) => match &**options {
                    [only] => id = *only,
                    _ => break,
                },
                _ => break,
            }
        }
        self.api.model.node(id)
    }

    /// Pairs of document and database constraints that differ.
    fn all(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        found.extend(self.null());
        found.extend(self.length());
        found.extend(self.range());
        found.extend(self.kind());
        found.extend(self.checks());
        found
    }

    fn null(&self) -> Option<(String, String)> {
        let column = self.column();
        let is_key = self
            .table
            .primary_key()
            .is_some_and(|key| key.contains(&self.number));
        if !(self.table.is_not_null(self.number) || is_key) {
            return None;
        }
        // In a PATCH null often means that nothing is said.
        if self.node().nullable && &*self.operation.method != "PATCH" {
            return Some(("may be null".into(), "NOT NULL".into()));
        }
        let is_filled = column.default.is_some() || column.filled != Filled::No;
        let makes = &*self.operation.method == "POST" && !names_one(self.operation);
        (makes && !self.field.required && !is_filled)
            .then(|| ("is optional".into(), "NOT NULL without a default".into()))
    }

    fn length(&self) -> Option<(String, String)> {
        let limit = self.column().data_type.max_chars()?;
        let max = match &self.node().domain {
            Domain::Text(text) => text.max(),
            _ => return None,
        };
        let describe = match max {
            Some(max) if max <= limit => return None,
            Some(max) => format!("maxLength {max}"),
            None => "no maxLength".to_owned(),
        };
        Some((describe, self.declared()))
    }

    fn range(&self) -> Option<(String, String)> {
        let range = self.column().data_type.integer_range()?;
        // Every integer of SQLite is one of 64 bits, whatever its column is called.
        if self.dialect == DialectName::Sqlite {
            return None;
        }
        let Domain::Integer(domain) = &self.node().domain else {
            return None;
        };
        let fits = *range.start() <= domain.min() && domain.max() <= *range.end();
        (!fits && domain.scale() == 0).then(|| (bounds(domain), self.declared()))
    }

    /// Kinds of values that a column does not take at all.
    fn kind(&self) -> Option<(String, String)> {
        let kind = &self.column().data_type;
        let is_moment = matches!(
            kind,
            DataType::Date | DataType::Time { .. } | DataType::Timestamp { .. }
        );
        let strict = self.dialect != DialectName::Sqlite || self.table.strict;
        let describe = match &self.node().domain {
            Domain::Text(_) if kind.is_numeric() => "any string",
            Domain::Text(_) if is_moment && strict => "any string",
            Domain::Text(_) if *kind == DataType::Uuid => "any string",
            Domain::Float(_) if matches!(kind, DataType::Integer { .. }) => "a non-integer number",
            Domain::Integer(_) | Domain::Float(_) | Domain::Boolean if is_moment => "a number",
            _ => return None,
        };
        Some((describe.into(), self.declared()))
    }

    /// Values at the edges of what the document allows that a CHECK of this column alone, or its labels, refuse.
    fn checks(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let values = edges(self.node());
        if let DataType::Enum { labels, .. } = &self.column().data_type {
            let refused =
                |value: &&Value| matches!(value, Value::Text(text) if !labels.contains(text));
            if let Some(describe) = list(values.iter().filter(refused)) {
                found.push((describe, format!("one of {}", labels.join(", "))));
            }
        }
        for constraint in &self.table.constraints {
            let ConstraintKind::Check { expr } = &constraint.kind else {
                continue;
            };
            if expr.columns() != [self.number] {
                continue;
            }
            let is_refused = |value: &&Value| {
                let mut row = vec![Value::Null; self.table.columns.len()];
                if let Some(cell) = row.get_mut(self.number) {
                    *cell = (*value).clone();
                }
                verdict(expr, &row, self.dialect.dialect()).ok() == Some(Some(false))
            };
            if let Some(describe) = list(values.iter().filter(is_refused)) {
                found.push((
                    describe,
                    format!("CHECK ({})", expression(expr, self.dialect)),
                ));
            }
        }
        found
    }

    fn declared(&self) -> String {
        self.column().declared.to_ascii_lowercase()
    }
}

fn bounds(domain: &IntegerDomain) -> String {
    if domain.min() == i64::MIN.into() && domain.max() == i64::MAX.into() {
        return "any 64-bit integer".to_owned();
    }
    let side = |is_bounded: bool, bound: i128, word: &str| {
        if is_bounded {
            format!("{word} {bound}")
        } else {
            format!("no {word}")
        }
    };
    format!(
        "{}, {}",
        side(domain.bounded_below(), domain.min(), "minimum"),
        side(domain.bounded_above(), domain.max(), "maximum")
    )
}

/// Values at the edges of what a node allows, as they would be stored.
fn edges(node: &Node) -> Vec<Value> {
    match &node.domain {
        Domain::Enum(values) => values.iter().filter_map(|value| stored(value)).collect(),
        Domain::Integer(domain) if domain.scale() == 0 => {
            let low = domain.bounded_below().then(|| domain.min());
            let high = domain.bounded_above().then(|| domain.max());
            // Without bounds, what is just as likely to be sent.
            [
                low.or(Some(-1)),
                high,
                (low.is_none_or(|low| low <= 0)).then_some(0),
            ]
            .into_iter()
            .flatten()
            .map(Value::Int)
            .collect()
        }
        Domain::Text(text) if text.min() == 0 => vec![Value::Text(String::new())],
        Domain::Boolean => vec![Value::Bool(true), Value::Bool(false)],
        _ => Vec::new(),
    }
}

/// `allows a, b`; `None` for none.
fn list<'a>(values: impl Iterator<Item = &'a Value>) -> Option<String> {
    let mut values: Vec<String> = values
        .map(|value| match value {
            Value::Text(text) if text.is_empty() => "empty string".to_owned(),
            other => other.to_string(),
        })
        .collect();
    values.dedup();
    (!values.is_empty()).then(|| format!("allows {}", values.join(", ")))
}
