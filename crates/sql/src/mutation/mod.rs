//! Mutants of a query, and the queries that tell each from the original.
//!
//! `mutate` makes the mutants by the operators of [`operator`](MutationOperator), each of one small change.
//! `difference` asks for rows on which a mutant and the original differ; where it asks for all of them and there
//! are none, the mutant is equivalent.

mod difference;
mod mutate;
mod operator;
mod raise;

pub use mutate::{DifferenceQuery, QueryMutant, mutants};
pub use operator::MutationOperator;

#[cfg(test)]
mod tests;
