//! From the model back to SQL text: literals, expressions, statements and definitions per dialect.
//!
//! [`translate`] turns a schema of any source into the schema that an engine
//! will hold, with a note for every loss; [`create_statements`] writes it down,
//! and [`statement`] writes the statements of tests. Constraints carry the
//! names of [`constraint_name`], so that a rejection can be checked by name.

mod expr;
mod ident;
mod literal;
mod names;
mod statement;
mod table;
mod translate;
mod types;

pub use expr::{expression, phrase};
pub use ident::{identifier, table_name};
pub use literal::{array_literal, literal};
pub use names::{constraint_name, default_names};
pub use statement::{insert, statement};
pub use table::{create_statements, table_order};
pub use translate::{TranslatedSchema, translate};
pub use types::type_name;
