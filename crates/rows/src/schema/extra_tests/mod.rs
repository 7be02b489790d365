//! Tests beyond the paper: types and their limits, defaults, generated columns, UPDATE, DELETE and
//! what foreign keys do.
//!
//! Each is proposed from rows that the suite already has, and kept only if
//! memory gives the outcome that its name says. What an engine does not
//! enforce (SQLite's lengths) is therefore never asserted of it.

mod change;
mod reference;
mod seeded_table;
#[cfg(test)]
mod tests;
mod value;

use isobath_sql::{Dialect, Schema};

use super::case::TestCase;
use super::setup_rows::SeedRows;
use seeded_table::SeededTable;

/// The tests beyond the criterion, table by table; `suite` holds the tests found so far.
pub fn extra_tests(
    schema: &Schema,
    dialect: &'static dyn Dialect,
    seeds: &SeedRows<'_>,
    suite: &[TestCase],
) -> Vec<TestCase> {
    let mut cases = Vec::new();
    let mut of_table: Vec<Vec<&TestCase>> = vec![Vec::new(); schema.tables.len()];
    for case in suite {
        of_table[case.table].push(case);
    }
    for (table, suite) in of_table.iter().enumerate() {
        let Some(seeded) = SeededTable::new(schema, dialect, seeds, table) else {
            continue;
        };
        cases.extend(value::types(&seeded));
        cases.extend(value::defaults(&seeded));
        cases.extend(value::generated(&seeded));
        cases.extend(change::updates(&seeded, suite));
        cases.extend(change::delete(&seeded));
        cases.extend(reference::actions(&seeded));
    }
    cases
}
