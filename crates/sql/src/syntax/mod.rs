//! From `sqlparser`'s syntax trees to our expressions, types and values.
//!
//! Shared by whoever reads SQL: definitions today, queries later. Names are
//! resolved by the caller through [`NameResolver`], so that a column of a table, the
//! VALUE of a domain and a column of a join are all the same here.

#![deny(clippy::indexing_slicing)]

mod expr;
mod is_operator;
mod literal;
mod operator;
mod tuple;
mod types;

use sqlparser::ast::{Ident, ObjectName};
use sqlparser::tokenizer::Span;

use crate::expr::{ColumnRef, Expr};
use crate::types::DataType;

pub(crate) use expr::ExprConverter;
pub(crate) use is_operator::spelled_out;
pub(crate) use operator::compare_op;
pub(crate) use types::data_type;

/// What names mean where an expression stands.
pub(crate) trait NameResolver {
    /// The column that a (qualified) name stands for.
    fn column(&self, path: &[Ident]) -> Option<ColumnRef>;

    /// The type that the user defined under a name.
    fn user_type(&self, name: &ObjectName) -> Option<DataType>;

    /// What an expression stands for that only the caller understands: subqueries, aggregates.
    fn special(&self, ast: &sqlparser::ast::Expr) -> Option<Expr> {
        let _ = ast;
        None
    }
}

/// A part of an expression that has no form in the model.
#[derive(Clone, Debug)]
pub(crate) struct UnsupportedSyntax {
    /// Where it is, relative to the text that was parsed.
    pub(crate) span: Span,
    /// The part, as SQL.
    pub(crate) input: String,
    /// Why, a lowercase fragment.
    pub(crate) why: String,
}

/// The last part of a name, unquoted.
pub(crate) fn last_part(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|part| part.as_ident())
        .map(|ident| ident.value.clone())
        .unwrap_or_default()
}
