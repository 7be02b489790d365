//! Finds rows with a required property next to the seed rows of a schema.

use isobath_sql::memory::MemoryDatabase;
use isobath_sql::row::Statement;
use isobath_sql::{Dialect, Row, Schema, Table};

use super::criterion::predicates::satisfied;
use super::enforced::rules;
use super::generator::GenerationTask;
use super::generator::constructive::{Constructive, Decision, decide};
use super::predicate::Predicate;
use super::setup_rows::SeedRows;
use crate::query::construct::{Construction, single_row};

/// Evaluations that one search may spend.
const BUDGET: u64 = 20_000;

/// Most rows that are built beside the one that is looked for.
const MAX_FRESH: usize = 8;

/// Good rows of a schema's tables, on which searches for other rows stand.
#[derive(Clone, Copy, Debug)]
pub struct RowFinder<'g, 's> {
    schema: &'g Schema,
    dialect: &'static dyn Dialect,
    seeds: &'g SeedRows<'s>,
}

/// What a search for a row gave.
#[derive(Clone, Debug)]
pub enum RowSearchResult {
    /// Rows to insert first, and the row.
    Row {
        /// The rows before it, in order, all acceptable.
        setup_rows: Vec<Statement>,
        /// The row looked for.
        row: Row,
    },
    /// There is none.
    Never {
        /// Why, as a sentence.
        proof: String,
    },
    /// We found neither a row nor a proof.
    Unknown,
}

/// One good row per table that can have one, made in the default way.
pub fn seeds<'s>(schema: &'s Schema, dialect: &'static dyn Dialect) -> SeedRows<'s> {
    SeedRows::make(schema, dialect, &mut Constructive, 0, BUDGET)
}

impl<'g, 's> RowFinder<'g, 's> {
    /// Stands on seed rows under `schema`, which must accept them: the seeds' own, or one that differs little.
    pub fn new(schema: &'g Schema, dialect: &'static dyn Dialect, seeds: &'g SeedRows<'s>) -> Self {
        Self {
            schema,
            dialect,
            seeds,
        }
    }

    /// The good row of a table.
    pub fn good_row(&self, table: usize) -> Option<&'g Row> {
        self.seeds.row(table).ok()
    }

    /// The statements that insert the good rows that a row of `table` may need; its own too when `with_own`.
    pub fn setup_rows(&self, table: usize, with_own: bool) -> Vec<Statement> {
        let mut needed = self.seeds.ancestors(table);
        if with_own {
            needed = self.seeds.closed(needed.into_iter().chain([table]));
        }
        self.seeds.statements(&needed)
    }

    /// Looks for a row of `table`, first beside the good rows only, then beside fresh rows as well.
    ///
    /// `compares` says whether another row of the table must be there.
    pub fn find(&self, table: usize, predicate: &Predicate, compares: bool) -> RowSearchResult {
        let setup_rows = self.setup_rows(table, compares);
        match self.find_beside(setup_rows.clone(), table, predicate) {
            RowSearchResult::Unknown => {}
            found => return found,
        }
        match single_row(self.schema, self.dialect, table, predicate) {
            Construction::Candidate(mut candidate) => {
                let row = candidate
                    .rows
                    .remove(&table)
                    .and_then(|mut rows| rows.pop());
                row.map_or(RowSearchResult::Unknown, |row| RowSearchResult::Row {
                    setup_rows,
                    row: Row::of(table, row),
                })
            }
            Construction::Infeasible { proof, .. } => RowSearchResult::Never { proof },
            Construction::Unknown => RowSearchResult::Unknown,
        }
    }

    /// Looks for a row of `table` beside the rows that `setup_rows` inserts, and fresh ones where they do not suffice.
    pub fn find_beside(
        &self,
        setup_rows: Vec<Statement>,
        table: usize,
        predicate: &Predicate,
    ) -> RowSearchResult {
        let Some(existing) = self.memory(&setup_rows) else {
            return RowSearchResult::Unknown;
        };
        let task = GenerationTask {
            schema: self.schema,
            dialect: self.dialect,
            table,
            predicate,
            existing: &existing,
            fresh: &[],
            budget: BUDGET,
        };
        match self.attempt(&task, &setup_rows) {
            RowSearchResult::Unknown => {}
            answer => return answer,
        }
        // Often one more row of a table referred to is enough; its own parents are there already.
        for fresh in [self.parents(table), self.fresh(table)] {
            if fresh.is_empty() {
                continue;
            }
            let task = GenerationTask {
                fresh: &fresh,
                ..task
            };
            match self.attempt(&task, &setup_rows) {
                RowSearchResult::Unknown => {}
                answer => return answer,
            }
        }
        RowSearchResult::Unknown
    }

    /// The tables that a table refers to, in the order in which rows go in.
    fn parents(&self, table: usize) -> Vec<usize> {
        let refers = |parent: &usize| {
            *parent != table
                && self.schema.tables[table]
                    .foreign_keys()
                    .any(|key| key.parent == *parent)
        };
        let mut order = self.seeds.closed([table]);
        order.retain(refers);
        order
    }

    fn attempt(&self, task: &GenerationTask<'_>, existing: &[Statement]) -> RowSearchResult {
        match decide(task) {
            Decision::Satisfiable(mut rows) => match rows.pop() {
                Some(row) => RowSearchResult::Row {
                    setup_rows: existing
                        .iter()
                        .cloned()
                        .chain(rows.into_iter().map(Statement::Insert))
                        .collect(),
                    row,
                },
                None => RowSearchResult::Unknown,
            },
            // The proof speaks of rows without NULL beside the one looked for; where no such row
            // exists, it says nothing.
            Decision::Unsatisfiable { proof } if self.has_full_row(task.table) => {
                RowSearchResult::Never { proof }
            }
            Decision::Unsatisfiable { .. } | Decision::Unknown => RowSearchResult::Unknown,
        }
    }

    fn has_full_row(&self, table: usize) -> bool {
        self.good_row(table).is_some_and(|row| {
            (0..row.cells.len()).all(|column| row.value(column).is_none_or(|v| !v.is_null()))
        })
    }

    /// A memory after these statements; `None` when one of them is refused after all.
    fn memory(&self, statements: &[Statement]) -> Option<MemoryDatabase<'g>> {
        let mut memory = MemoryDatabase::new(self.schema, self.dialect);
        for statement in statements {
            if !memory.run(statement).ok()?.is_accepted() {
                return None;
            }
        }
        Some(memory)
    }

    /// A fresh row of each table referred to, as often as references could need it beside the good one.
    fn fresh(&self, table: usize) -> Vec<usize> {
        let mut rows = vec![0_usize; self.schema.tables.len()];
        rows[table] = 2;
        let mut fresh = Vec::new();
        let order = self.seeds.closed([table]);
        for child in order.iter().rev() {
            for key in self.schema.tables[*child].foreign_keys() {
                if key.parent != *child {
                    rows[key.parent] += rows[*child];
                }
            }
        }
        for parent in order.iter().filter(|parent| **parent != table) {
            fresh.extend(std::iter::repeat_n(
                *parent,
                rows[*parent].saturating_sub(1),
            ));
        }
        if fresh.len() > MAX_FRESH {
            // One of each is the next best thing.
            fresh.dedup();
            fresh.truncate(MAX_FRESH);
        }
        fresh
    }
}

/// All rules of a table hold.
pub(crate) fn all_hold(definition: &Table, table: usize, dialect: &dyn Dialect) -> Predicate {
    Predicate::and(
        rules(definition, dialect)
            .iter()
            .map(|rule| satisfied(table, rule)),
    )
}
