//! Tests beyond the paper: types and their limits, defaults, generated columns, UPDATE, DELETE and
//! what foreign keys do.
//!
//! Each is proposed from rows that the suite already has, and kept only if
//! memory gives the outcome that its name says. What an engine does not
//! enforce (SQLite's lengths) is therefore never asserted of it.

mod change;
mod reference;
mod stage;
#[cfg(test)]
mod tests;
mod value;

use isobath_sql::{Dialect, Schema};

use super::case::TestCase;
use super::lead_up::Seeds;
use stage::Stage;

/// The tests beyond the criterion, table by table; `suite` holds the tests found so far.
pub fn extras(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    seeds: &Seeds<'_>,
    suite: &[TestCase],
) -> Vec<TestCase> {
    let mut cases = Vec::new();
    let mut of_table: Vec<Vec<&TestCase>> = vec![Vec::new(); schema.tables.len()];
    for case in suite {
        of_table[case.table].push(case);
    }
    for (table, suite) in of_table.iter().enumerate() {
        let Some(stage) = Stage::new(schema, dialect, seeds, table) else {
            continue;
        };
        cases.extend(value::types(&stage));
        cases.extend(value::defaults(&stage));
        cases.extend(value::generated(&stage));
        cases.extend(change::updates(&stage, suite));
        cases.extend(change::delete(&stage));
        cases.extend(reference::actions(&stage));
    }
    cases
}
