//! Search over sets of rows: the algorithms of "Search-Based Test Data Generation for SQL Queries"
//! (Castelein et al., ICSE 2018).
//!
//! `space` is what may change, `draw` makes and changes rows and values; `baseline` and `genetic`
//! search.

pub(super) mod baseline;
pub(super) mod draw;
pub(super) mod genetic;
pub(super) mod space;
