//! One requirement: rows found, lead-up cut to what is needed, outcome verified in memory.

use isobath_sql::eval::EvalError;
use isobath_sql::memory::{MemoryDatabase, Verdict, Violation, ViolationKind};
use isobath_sql::row::Statement;
use isobath_sql::schema::{Filled, ForeignKey};
use isobath_sql::{Dialect, Row, Schema};

use super::naming::{name, reasons};
use crate::schema::case::{ExpectedOutcome, TestCase};
use crate::schema::criterion::predicates::satisfied;
use crate::schema::enforced::rules;
use crate::schema::generator::{GenerationTask, Generator, GeneratorResult};
use crate::schema::predicate::Predicate;
use crate::schema::requirement::Requirement;
use crate::schema::setup_rows::SeedRows;

/// How often other rows are drawn when memory refuses what the generator found.
const DRAWS: usize = 5;

/// What an attempt gave.
pub(super) enum AttemptResult {
    /// Tests, the one that covers the requirement first; never none.
    Tests(Vec<TestCase>),
    /// A proof that there is none.
    Infeasible { proof: String },
    /// Nothing, for this reason.
    Uncovered { why: String },
    /// Nothing, because of something that we cannot evaluate.
    Unsupported { what: String },
}

/// A table under test with the rows that may be there first.
pub(super) struct TableContext<'a> {
    pub(super) table: usize,
    schema: &'a Schema,
    dialect: &'static dyn Dialect,
    seeds: &'a SeedRows<'a>,
    /// The seed rows of the tables referred to.
    alone: MemoryDatabase<'a>,
    /// The same with the table's own seed row.
    compared: MemoryDatabase<'a>,
    /// Why there are no rows to stand on.
    missing: Option<String>,
    /// Why there is no row to compare with.
    missing_own: Option<String>,
    /// Reused for every verification.
    scratch: MemoryDatabase<'a>,
}

/// Why rows are no test.
enum RejectedTest {
    Refused(String),
    Unsupported(String),
}

impl<'a> TableContext<'a> {
    pub(super) fn new(
        schema: &'a Schema,
        dialect: &'static dyn Dialect,
        seeds: &'a SeedRows<'a>,
        table: usize,
    ) -> Self {
        let ancestors = seeds.ancestors(table);
        let compared = seeds.closed(ancestors.iter().copied().chain([table]));
        Self {
            table,
            schema,
            dialect,
            seeds,
            alone: seeds.memory(&ancestors),
            compared: seeds.memory(&compared),
            missing: ancestors.iter().find_map(|parent| seeds.why_not(*parent)),
            missing_own: seeds.why_not(table),
            scratch: MemoryDatabase::new(schema, dialect),
        }
    }

    pub(super) fn attempt(
        &mut self,
        requirement: &Requirement,
        generator: &mut dyn Generator,
        mut rng: fastrand::Rng,
        budget: u64,
    ) -> AttemptResult {
        if let Some(proof) = self.only_the_database(requirement) {
            return AttemptResult::Infeasible { proof };
        }
        let missing_own = self.missing_own.as_ref();
        let missing = missing_own.filter(|_| requirement.needs_comparison);
        if let Some(why) = self.missing.as_ref().or(missing) {
            return AttemptResult::Uncovered { why: why.clone() };
        }
        let fresh = self.fresh(requirement, false);
        let first = self.search(requirement, generator, &mut rng, budget, &fresh);
        // In a circle a fresh parent may be impossible by itself: either nothing needs it, or it needs
        // a fresh row of this very table in turn.
        let circular = !self.alone.rows(self.table).is_empty() && !fresh.is_empty();
        if !circular || matches!(first, AttemptResult::Tests(_)) {
            return first;
        }
        for fresh in [Vec::new(), self.fresh(requirement, true)] {
            let other = self.search(requirement, generator, &mut rng, budget, &fresh);
            if matches!(other, AttemptResult::Tests(_)) {
                return other;
            }
        }
        first
    }

    /// Rows from the generator, verified; other draws when memory refuses them.
    fn search(
        &mut self,
        requirement: &Requirement,
        generator: &mut dyn Generator,
        rng: &mut fastrand::Rng,
        budget: u64,
        fresh: &[usize],
    ) -> AttemptResult {
        let mut why = "no row came back".to_owned();
        for _ in 0..DRAWS {
            let existing = if requirement.needs_comparison {
                &self.compared
            } else {
                &self.alone
            };
            let task = GenerationTask {
                schema: self.schema,
                dialect: self.dialect,
                table: self.table,
                predicate: &requirement.predicate,
                existing,
                fresh,
                budget,
            };
            let answers = match generator.generate(&task, rng) {
                GeneratorResult::Rows(answers) => answers,
                GeneratorResult::Infeasible { proof } => {
                    return AttemptResult::Infeasible { proof };
                }
                GeneratorResult::GaveUp { evaluations } => {
                    let why = format!("no row was found in {evaluations} evaluations");
                    return AttemptResult::Uncovered { why };
                }
                GeneratorResult::Unsupported { what } => {
                    return AttemptResult::Unsupported { what };
                }
            };
            let mut cases: Vec<TestCase> = Vec::new();
            for rows in answers {
                match self.case(requirement, rows) {
                    Ok(case) => {
                        let known = |other: &TestCase| {
                            other.statement == case.statement && other.setup_rows == case.setup_rows
                        };
                        if !cases.iter().any(known) {
                            cases.push(case);
                        }
                    }
                    Err(RejectedTest::Refused(found)) => why = found,
                    Err(RejectedTest::Unsupported(what)) => {
                        return AttemptResult::Unsupported { what };
                    }
                }
            }
            if !cases.is_empty() {
                return AttemptResult::Tests(cases);
            }
        }
        AttemptResult::Uncovered {
            why: format!("rows were found, but {why}"),
        }
    }

    /// A proof that a requirement asks for a value that only the database gives.
    fn only_the_database(&self, requirement: &Requirement) -> Option<String> {
        let Predicate::And(parts) = &requirement.predicate else {
            return self.only_the_database_in(&requirement.predicate);
        };
        parts
            .iter()
            .find_map(|part| self.only_the_database_in(part))
    }

    fn only_the_database_in(&self, part: &Predicate) -> Option<String> {
        let table = &self.schema.tables[self.table];
        let column = match part {
            Predicate::Null {
                column,
                is_null: true,
            } => *column,
            Predicate::Match(wanted) => {
                wanted
                    .equal
                    .iter()
                    .find(|(own, _)| table.columns[*own].filled == Filled::CounterAlways)?
                    .0
            }
            _ => return None,
        };
        (table.columns[column].filled == Filled::CounterAlways).then(|| {
            format!(
                "only the database gives {} a value",
                table.columns[column].name
            )
        })
    }

    /// Tables that need a second row: parents by foreign keys that lie inside compared columns, and theirs.
    fn fresh(&self, requirement: &Requirement, own: bool) -> Vec<usize> {
        let mut fresh = Vec::new();
        // Rows that refer to each other in a circle bring the table's own seed row along.
        if requirement.needs_comparison || !self.alone.rows(self.table).is_empty() {
            let mut compared = Vec::new();
            compared_columns(&requirement.predicate, self.table, &mut compared);
            self.add_fresh(self.table, &compared, own, &mut fresh);
        }
        fresh
    }

    fn add_fresh(&self, table: usize, compared: &[usize], own: bool, fresh: &mut Vec<usize>) {
        let inside = |key: &&ForeignKey| key.columns.iter().all(|c| compared.contains(c));
        for key in self.schema.tables[table].foreign_keys().filter(inside) {
            let parent = key.parent;
            if parent == table || fresh.contains(&parent) || (parent == self.table && !own) {
                continue;
            }
            if parent == self.table {
                fresh.push(parent);
                continue;
            }
            let mut theirs = Vec::new();
            for rule in rules(&self.schema.tables[parent], self.dialect) {
                compared_columns(&satisfied(parent, &rule), parent, &mut theirs);
            }
            // Marked before its own parents are looked at, so that a circle ends; they go before it.
            fresh.push(parent);
            let at = fresh.len() - 1;
            self.add_fresh(parent, &theirs, own, fresh);
            fresh[at..].rotate_left(1);
        }
    }

    /// A verified test of the rows found.
    fn case(
        &mut self,
        requirement: &Requirement,
        rows: Vec<Row>,
    ) -> Result<TestCase, RejectedTest> {
        let mut rows = rows;
        let mut expected = self.judge(requirement, &rows)?;
        // Fresh rows that turned out not to matter are dropped, children first.
        for at in (0..rows.len().saturating_sub(1)).rev() {
            let mut fewer = rows.clone();
            fewer.remove(at);
            if let Ok(same) = self.judge(requirement, &fewer) {
                expected = same;
                rows = fewer;
            }
        }
        let mut setup_rows = self.setup_rows(requirement, &rows);
        let Some(act) = rows.pop() else {
            return Err(RejectedTest::Refused("no row came back".to_owned()));
        };
        let name = name(self.schema, requirement, &act, &expected);
        setup_rows.extend(rows.into_iter().map(Statement::Insert));
        Ok(TestCase {
            table: self.table,
            name,
            covers: Vec::new(),
            setup_rows,
            statement: Statement::Insert(act),
            expected,
            after: Vec::new(),
        })
    }

    /// The seed rows that the rows refer to, and the row to compare with.
    fn setup_rows(&self, requirement: &Requirement, rows: &[Row]) -> Vec<Statement> {
        let own = requirement.needs_comparison.then_some(self.table);
        let referred = rows.iter().flat_map(|row| self.seeds.referred(row));
        self.seeds
            .statements(&self.seeds.closed(referred.chain(own)))
    }

    /// What memory says of the rows, if that is what the requirement asks.
    fn judge(
        &mut self,
        requirement: &Requirement,
        rows: &[Row],
    ) -> Result<ExpectedOutcome, RejectedTest> {
        let unsupported =
            |error: isobath_sql::eval::Unsupported| RejectedTest::Unsupported(error.what);
        let Some((act, fresh)) = rows.split_last() else {
            return Err(RejectedTest::Refused("no row came back".to_owned()));
        };
        let mut memory = std::mem::replace(
            &mut self.scratch,
            MemoryDatabase::new(self.schema, self.dialect),
        );
        memory.clear();
        let setup_rows = self.setup_rows(requirement, rows);
        let inserts = fresh.iter().cloned().map(Statement::Insert);
        for statement in setup_rows.into_iter().chain(inserts) {
            let verdict = memory.run(&statement).map_err(unsupported)?;
            if !verdict.is_accepted() {
                let why = reasons(self.schema, &verdict);
                return Err(RejectedTest::Refused(format!(
                    "a row of the lead-up is refused: {why}"
                )));
            }
        }
        let stored = memory.stored(act).map_err(unsupported)?;
        let Ok(stored) = stored else {
            return Err(RejectedTest::Refused(
                "a value does not fit its column".to_owned(),
            ));
        };
        let holds = requirement
            .predicate
            .holds(self.table, &stored, &memory, self.dialect)
            .map_err(|stop| match stop {
                EvalError::Unsupported(unsupported) => RejectedTest::Unsupported(unsupported.what),
                EvalError::Raised(raised) => RejectedTest::Refused(raised.to_string()),
            })?;
        if !holds {
            return Err(RejectedTest::Refused(
                "they do not show the requirement".to_owned(),
            ));
        }
        let verdict = memory.insert(act).map_err(unsupported)?;
        self.scratch = memory;
        self.expected(requirement, verdict)
    }

    /// The violation of a constraint, when it is the only reason to refuse the row.
    ///
    /// NULL in a key is one reason even if NOT NULL forbids it as well; databases
    /// name the first such column of the table.
    fn only_reason(&self, wanted: usize, found: &[Violation]) -> Option<Violation> {
        if let [one] = found {
            return (one.constraint == Some(wanted)).then(|| one.clone());
        }
        let columns = self.schema.tables[self.table].constraints[wanted].columns();
        let nulls: Option<Vec<usize>> = found.iter().map(null_column).collect();
        let nulls = nulls.filter(|nulls| nulls.iter().all(|column| columns.contains(column)))?;
        Some(Violation {
            table: self.table,
            constraint: Some(wanted),
            kind: ViolationKind::Null {
                column: nulls.into_iter().min()?,
            },
        })
    }

    fn expected(
        &self,
        requirement: &Requirement,
        verdict: Verdict,
    ) -> Result<ExpectedOutcome, RejectedTest> {
        let unfit = |verdict: &Verdict| {
            let why = reasons(self.schema, verdict);
            Err(RejectedTest::Refused(format!(
                "the outcome is another: {why}"
            )))
        };
        match &verdict {
            Verdict::Accepted if requirement.accepted != Some(false) => {
                Ok(ExpectedOutcome::Accepted)
            }
            Verdict::Rejected(found) if requirement.accepted != Some(true) => {
                let reason = match requirement.violates {
                    Some(wanted) => self.only_reason(wanted, found),
                    None => found.first().cloned(),
                };
                reason.map_or_else(
                    || unfit(&verdict),
                    |reason| Ok(ExpectedOutcome::Rejected(reason)),
                )
            }
            _ => unfit(&verdict),
        }
    }
}

/// The column of a violation that is about NULL.
fn null_column(violation: &Violation) -> Option<usize> {
    match violation.kind {
        ViolationKind::Null { column } => Some(column),
        _ => None,
    }
}

/// The columns of a table that a predicate compares with other rows of the same table.
fn compared_columns(predicate: &Predicate, table: usize, columns: &mut Vec<usize>) {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => {
            for part in parts {
                compared_columns(part, table, columns);
            }
        }
        Predicate::Match(wanted) if wanted.with == table => {
            let pairs = wanted.equal.iter().chain(&wanted.differ);
            for (own, _) in pairs {
                if !columns.contains(own) {
                    columns.push(*own);
                }
            }
        }
        _ => {}
    }
}
