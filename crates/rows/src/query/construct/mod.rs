//! Builds rows for a target instead of searching for them, and proves when there are none.
//!
//! # How it works
//!
//! 1. **Expand** (`expand`, `step`, `returns`, `join`, `plan`, `group`,
//!    `parent`, `global_constraints`, `chase`). A query returns a row when there is a row for each of
//!    its relations and all its conditions hold: ON, WHERE, HAVING. Each relation gets a row of
//!    its own, whose cells are variables, and every condition is rewritten over these cells. An
//!    outer join is a choice: its rows meet, or one side is missing and all its columns are NULL.
//!    So are OR, a NOT over AND, the sides of UNION, and the members of a group. EXISTS and IN
//!    bring rows of their own; NOT EXISTS and missing sides are conditions on all rows that are
//!    there in the end. A foreign key refers to one of the rows, to a further one, or is NULL. Two
//!    rows of a table with a key are either one row or differ in the key.
//!    What remains of every choice is a list of leaves: conditions over cells with a wanted verdict.
//! 2. **Solve** (`cell_solver`). Cells that must be equal form classes. A class has values to try: the
//!    constants that it is compared with, their neighbours, what patterns and functions suggest,
//!    a fresh value, NULL. Every leaf over one class alone is asked of every value at once, by the
//!    same evaluator that judges the whole query later; leaves over several classes are met by
//!    depth-first search.
//! 3. **Fill** (`fill`). Columns that nobody mentions become NULL, their default, or something
//!    readable; rows that foreign keys ask for are added.
//!
//! # What counts as a proof
//!
//! A class whose leaves are comparisons with constants only is decided by a value from every
//! region that the constants divide its type into. When none passes, no value does, and the
//! choices made so far are refuted. A target is infeasible when every alternative of every choice
//! is refuted and nothing was left out for convenience.

mod cases;
mod cell_solver;
mod chase;
mod expand;
mod fill;
mod global_constraints;
mod group;
mod join;
mod parent;
mod plan;
mod proof;
mod returns;
mod single_row;
mod state;
mod step;
mod valid_row;
mod values;

use isobath_sql::query::Query;
use isobath_sql::{Dialect, Schema};
use jiff::civil::DateTime;

use self::expand::Expansion;
use super::candidate::Candidate;
use super::stop::StopSignal;

pub(super) use self::fill::{blank_row, complete};
pub(crate) use self::fill::{checks_hold, is_not_null, omitted};
pub use self::proof::Cause;
pub(crate) use self::single_row::single_row;
pub(crate) use self::values::{fresh, neighbors};

/// What stays the same while candidates are made.
#[derive(Clone, Copy, Debug)]
pub struct SolverContext<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// How values compare and are stored.
    pub dialect: &'static dyn Dialect,
    /// Whether rows obey keys, foreign keys, CHECKs and lengths; NOT NULL always counts.
    pub constraints: bool,
    /// What NOW and similar functions answer.
    pub now: DateTime,
    /// Whether the job has to end before it is done.
    pub stop: StopSignal<'a>,
}

impl<'a> SolverContext<'a> {
    /// Rows of a schema under all its constraints, at a fixed time.
    pub fn new(schema: &'a Schema, dialect: &'static dyn Dialect) -> Self {
        Self {
            schema,
            dialect,
            constraints: true,
            now: jiff::civil::date(2024, 7, 1).at(12, 0, 0, 0),
            stop: StopSignal::default(),
        }
    }
}

/// The outcome of a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Construction {
    /// Candidates that should cover it, the likeliest first; not yet verified.
    Candidate(Candidate),
    /// No rows can cover it.
    Infeasible {
        /// What kind of reason there is.
        cause: Cause,
        /// Why, as a sentence.
        proof: String,
    },
    /// Neither was found.
    Unknown,
}

/// Builds a candidate for a target, or proves that there is none.
///
/// `accept` judges what is built; what it refuses is built differently, as long as there are
/// choices left. `made` is how many candidates were built before, whose keys and names are not
/// used again, so that their rows can stand side by side.
pub fn construct(
    query: &Query,
    context: SolverContext<'_>,
    made: usize,
    accept: &mut dyn FnMut(&Candidate) -> bool,
) -> Construction {
    Expansion::new(context, made, accept).run(query)
}
