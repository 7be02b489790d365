//! Search over sets of rows: the algorithms of "Search-Based Test Data Generation for SQL Queries"
//! (Castelein et al., ICSE 2018), and the local search that ends ours.
//!
//! `space` is what may change, `draw` makes and changes rows and values; `baseline` and `genetic`
//! are the paper's, `climb` is ours.

pub(super) mod genetic;
pub(super) mod local_search;
pub(super) mod operators;
pub(super) mod random;
pub(super) mod space;
