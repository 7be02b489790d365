//! Runs tests against mutants on the in-memory database.
//!
//! A test kills a mutant when a statement is accepted by one schema and
//! refused by the other, or when the rows afterwards differ where the test
//! asserts them. Only tests that touch the changed table are run. Most mutants
//! change one constraint, and then only that constraint is judged: all
//! violations under the original are known, so the mutant refuses a row
//! exactly when another constraint did or the changed one does.

use std::borrow::Cow;

use isobath_sql::dialect::StoreError;
use isobath_sql::memory::{MemoryDatabase, Verdict, Violation};
use isobath_sql::row::Statement;
use isobath_sql::schema::Filled;
use isobath_sql::{Dialect, Schema, Value};

use super::analysis::MutantStatus;
use super::mutant::{Mutant, MutantChange};
use crate::schema::case::TestCase;

/// A suite with its outcomes under the original, ready to be held against mutants.
pub struct MutantRunner<'a> {
    schema: &'a Schema,
    dialect: &'static dyn Dialect,
    suite: Cow<'a, [TestCase]>,
    replays: Vec<Result<TestReplay, String>>,
    /// For each table, the tests whose last statement is about it.
    acting: Vec<Vec<usize>>,
    /// For each table, the tests that touch it before that.
    leading_up: Vec<Vec<usize>>,
}

/// What the original made of a test.
struct TestReplay {
    steps: Vec<ReplayStep>,
    after: Vec<Vec<Vec<Value>>>,
    /// Whether all statements insert one row each.
    plain: bool,
}

struct ReplayStep {
    table: usize,
    /// The row as stored, for an INSERT of values that fit.
    row: Option<Vec<Value>>,
    violations: Vec<Violation>,
}

impl<'a> MutantRunner<'a> {
    /// Runs each test once under the original.
    pub fn new(schema: &'a Schema, dialect: &'static dyn Dialect, suite: &'a [TestCase]) -> Self {
        let n_tables = schema.tables.len();
        let mut runner = Self {
            schema,
            dialect,
            suite: Cow::Borrowed(suite),
            replays: Vec::with_capacity(suite.len()),
            acting: vec![Vec::new(); n_tables],
            leading_up: vec![Vec::new(); n_tables],
        };
        let mut memory = MemoryDatabase::new(schema, dialect);
        for test in suite {
            memory.clear();
            runner.add(test, &mut memory);
        }
        runner
    }

    /// One more test.
    pub fn push(&mut self, test: TestCase) {
        self.add(&test, &mut MemoryDatabase::new(self.schema, self.dialect));
        self.suite.to_mut().push(test);
    }

    fn add(&mut self, test: &TestCase, memory: &mut MemoryDatabase<'_>) {
        let index = self.replays.len();
        self.replays.push(TestReplay::of(test, memory));
        let acted = test.statement.table();
        self.acting[acted].push(index);
        for table in tables(test).into_iter().filter(|table| *table != acted) {
            self.leading_up[table].push(index);
        }
    }

    /// Whether the suite kills a mutant, and with which test first.
    pub fn status(&self, mutant: &Mutant) -> MutantStatus {
        let (killers, unsupported) = self.run(mutant, true);
        match (killers.first(), unsupported) {
            (Some(test), _) => MutantStatus::Killed { test: *test },
            (None, Some(what)) => MutantStatus::Unsupported { what },
            (None, None) => MutantStatus::Alive,
        }
    }

    /// All tests that kill a mutant.
    pub fn killers(&self, mutant: &Mutant) -> Vec<usize> {
        self.run(mutant, false).0
    }

    fn run(&self, mutant: &Mutant, only_first: bool) -> (Vec<usize>, Option<String>) {
        let narrowed = SingleConstraintMutant::of(mutant, self.schema, self.dialect);
        let judged = narrowed.as_ref().map_or(&mutant.schema, |n| &n.schema);
        let mut narrow = MemoryDatabase::new(judged, self.dialect);
        let mut full = MemoryDatabase::new(&mutant.schema, self.dialect).as_engine_runs();
        let mut killers = Vec::new();
        let mut unsupported = None;
        let touching = self.acting[mutant.table]
            .iter()
            .chain(&self.leading_up[mutant.table]);
        for test in touching {
            let verdict = match (&self.replays[*test], &narrowed) {
                (Err(what), _) => Err(what.clone()),
                (Ok(replay), Some(narrowed)) if replay.plain => {
                    narrow.clear();
                    narrowed.kills(replay, &mut narrow)
                }
                (Ok(replay), _)
                    if replay.plain && !self.is_affected(&self.suite[*test], mutant) =>
                {
                    Ok(false)
                }
                (Ok(replay), _) => {
                    full.clear();
                    kills_in_full(&self.suite[*test], replay, &mut full)
                }
            };
            match verdict {
                Ok(false) => {}
                Ok(true) => {
                    killers.push(*test);
                    if only_first {
                        break;
                    }
                }
                Err(what) => {
                    unsupported.get_or_insert(what);
                }
            }
        }
        (killers, unsupported)
    }
}

impl MutantRunner<'_> {
    /// Whether a changed column makes any difference to the rows that a test inserts.
    ///
    /// Where it stores the same values, or fails to in both versions, all outcomes are the same.
    fn is_affected(&self, test: &TestCase, mutant: &Mutant) -> bool {
        let MutantChange::Column { column } = mutant.change else {
            return true;
        };
        let (before, after) = (&self.schema.tables[mutant.table], mutant.mutated_table());
        let strict = before.strict;
        let (old, new) = (&before.columns[column], &after.columns[column]);
        // Values that follow from the column, or that the database makes up, are not looked into.
        let computed = before
            .columns
            .iter()
            .any(|other| matches!(other.filled, Filled::Generated(_)));
        if computed
            || old.filled != Filled::No
            || self.dialect.rowid_alias(before) != self.dialect.rowid_alias(after)
        {
            return true;
        }
        test.statements().any(|statement| match statement {
            Statement::Insert(row) if row.table == mutant.table => match row.value(column) {
                Some(Value::Null) => false,
                Some(value) => {
                    let stored = self.dialect.store(value, old, strict);
                    match (stored, self.dialect.store(value, new, strict)) {
                        (Ok(old), Ok(new)) => old != new,
                        (Err(StoreError::Unknown(_)), _) | (_, Err(StoreError::Unknown(_))) => true,
                        (old, new) => old.is_ok() != new.is_ok(),
                    }
                }
                None => true,
            },
            _ => false,
        })
    }
}

impl TestReplay {
    fn of(test: &TestCase, memory: &mut MemoryDatabase<'_>) -> Result<Self, String> {
        let mut steps = Vec::with_capacity(test.setup_rows.len() + 1);
        let mut plain = true;
        for statement in test.statements() {
            let table = statement.table();
            let step = match statement {
                Statement::Insert(row) => match memory.stored(row).map_err(|u| u.what)? {
                    Ok(values) => ReplayStep {
                        table,
                        violations: violations(
                            memory
                                .insert_stored(table, values.clone())
                                .map_err(|u| u.what)?,
                        ),
                        row: Some(values),
                    },
                    Err(violations) => ReplayStep {
                        table,
                        violations,
                        row: None,
                    },
                },
                _ => {
                    plain = false;
                    ReplayStep {
                        table,
                        violations: violations(memory.run(statement).map_err(|u| u.what)?),
                        row: None,
                    }
                }
            };
            steps.push(step);
        }
        Ok(Self {
            steps,
            after: test.after.iter().map(|after| after.read(memory)).collect(),
            plain,
        })
    }
}

/// A mutant reduced to the one constraint in which it differs.
struct SingleConstraintMutant {
    table: usize,
    /// The original's constraint that no longer holds.
    original: Option<usize>,
    /// The schema in which the changed table has only the changed constraint, if any.
    schema: Schema,
    /// The tables whose rows that constraint looks at.
    looks_at: Vec<usize>,
}

impl SingleConstraintMutant {
    /// `None` when rows are also stored differently, so that everything must be judged again.
    fn of(mutant: &Mutant, schema: &Schema, dialect: &dyn Dialect) -> Option<Self> {
        let MutantChange::Constraint { original, mutated } = mutant.change else {
            return None;
        };
        let (before, after) = (&schema.tables[mutant.table], mutant.mutated_table());
        let stamped = |table| {
            (0..before.columns.len())
                .map(move |column| dialect.null_is_now(table, column))
                .collect::<Vec<_>>()
        };
        if stamped(before) != stamped(after)
            || dialect.rowid_alias(before) != dialect.rowid_alias(after)
            || dialect.key_admits_null(before) != dialect.key_admits_null(after)
        {
            return None;
        }
        let mut table = after.clone();
        let constraint = mutated.map(|index| table.constraints.swap_remove(index));
        table.constraints = constraint.into_iter().collect();
        let mut looks_at: Vec<usize> = table.foreign_keys().map(|key| key.parent).collect();
        looks_at.push(mutant.table);
        Some(Self {
            table: mutant.table,
            original,
            schema: mutant.schema.with_table(mutant.table, table),
            looks_at,
        })
    }

    fn kills(&self, replay: &TestReplay, memory: &mut MemoryDatabase<'_>) -> Result<bool, String> {
        for step in &replay.steps {
            let Some(row) = &step.row else { continue };
            let accepted = step.violations.is_empty();
            if step.table != self.table {
                if accepted && self.looks_at.contains(&step.table) {
                    memory.put_stored(step.table, row.clone());
                }
                continue;
            }
            let refused_by_others = step.violations.iter().any(|violation| {
                violation.table != self.table
                    || violation.constraint.is_none()
                    || violation.constraint != self.original
            });
            if refused_by_others {
                continue;
            }
            let verdict = memory
                .insert_stored(step.table, row.clone())
                .map_err(|u| u.what)?;
            if verdict.is_accepted() != accepted {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn kills_in_full(
    test: &TestCase,
    replay: &TestReplay,
    memory: &mut MemoryDatabase<'_>,
) -> Result<bool, String> {
    for (statement, step) in test.statements().zip(&replay.steps) {
        let verdict = memory.run(statement).map_err(|u| u.what)?;
        if verdict.is_accepted() != step.violations.is_empty() {
            return Ok(true);
        }
    }
    Ok(test
        .after
        .iter()
        .zip(&replay.after)
        .any(|(after, rows)| after.read(memory) != *rows))
}

fn violations(verdict: Verdict) -> Vec<Violation> {
    match verdict {
        Verdict::Accepted => Vec::new(),
        Verdict::Rejected(violations) => violations,
    }
}

/// The tables that a test's statements name, each once.
fn tables(test: &TestCase) -> Vec<usize> {
    let mut tables = Vec::new();
    for statement in test.statements() {
        match statement {
            Statement::InsertTogether(rows) => tables.extend(rows.iter().map(|row| row.table)),
            statement => tables.push(statement.table()),
        }
    }
    tables.sort_unstable();
    tables.dedup();
    tables
}
