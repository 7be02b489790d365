//! Headings of the help texts of `isobath schema` and `isobath query`.

/// What is read.
pub(crate) const INPUT: &str = "Input";
/// How test data is searched for.
pub(crate) const SEARCH: &str = "Search";
/// Mutation analysis.
pub(crate) const MUTATION: &str = "Mutation analysis";
/// Where tests are confirmed.
pub(crate) const DATABASE: &str = "Database";
/// What is written and printed.
pub(crate) const OUTPUT: &str = "Output";
