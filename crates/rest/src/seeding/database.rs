//! The test database while candidates run.

use std::sync::Arc;

use isobath_exec::DatabaseError;
use isobath_exec::driver::Event;
use isobath_exec::test_database::{Reference, RowImage, StateCost, Tables, TestDatabase};
use isobath_rows::set::{ExistingRows, NewCell, NewRow};
use isobath_sql::query::Relations;
use isobath_sql::{Cell, Row, Schema, Value};
use jiff::civil::DateTime;

use super::observed::StatementContext;
use super::{SeededRows, SeedingConfig, StatementReport, Statements, UnsupportedStatement};
use crate::candidate::Candidate;
use crate::db_oracle::{CallEffect, RowObserver};
use crate::exchange::Exchange;
use crate::openapi::Api;

/// The test database while candidates run.
#[derive(Debug)]
pub struct LiveDatabase {
    /// The connection of our own.
    pub state: TestDatabase,
    schema: Arc<Schema>,
    now: DateTime,
    config: SeedingConfig,
    statements: Statements,
    /// Tables that the last candidate wrote, or that were written for it.
    written: Tables,
    /// Whether the statements of the service are seen.
    sees_statements: bool,
    cost: SeedingCost,
    watch: RowObserver,
    /// The rows before each call of the candidate, where coverage rules are looked at.
    before: Vec<Arc<RowImage>>,
    /// The rows now, if nothing was written since they were taken.
    current: Option<Arc<RowImage>>,
    /// Endpoint for inserting rows into an in-memory database of the service.
    row_endpoint: Option<String>,
    /// Why there is no reset, and so no rows, any more.
    reset_failure: Option<String>,
}

/// Cost of seeding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedingCost {
    /// Rows that were inserted for candidates.
    pub rows: u64,
    /// Candidates of which a row was refused.
    pub refused: u64,
    /// The time that went into saying how far statements were from finding rows.
    pub judging: std::time::Duration,
}

/// Database statistics of a run, for reports.
#[derive(Clone, Debug)]
pub struct DatabaseReport {
    /// Shapes of statements that were met.
    pub shapes: usize,
    /// Statements that were looked at.
    pub statements: u64,
    /// Texts of statements that had to be read for that.
    pub read: u64,
    /// Statements that we cannot evaluate, one of each shape.
    pub unsupported: Vec<UnsupportedStatement>,
    /// Inserted rows.
    pub rows: SeedingCost,
    /// What resetting and looking cost.
    pub cost: StateCost,
    /// The statements, by shape.
    pub seen: Vec<StatementReport>,
    /// Texts whose coverage rules were made.
    pub rows_for_rule: u64,
}

impl DatabaseReport {
    /// The statistics of two instances of the service, each with a database of its own.
    #[must_use]
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.statements += other.statements;
        self.read += other.read;
        self.rows_for_rule += other.rows_for_rule;
        self.rows.rows += other.rows.rows;
        self.rows.refused += other.rows.refused;
        self.rows.judging += other.rows.judging;
        self.cost = self.cost.plus(other.cost);
        for one in other.unsupported {
            match self
                .unsupported
                .iter_mut()
                .find(|known| known.shape == one.shape)
            {
                Some(known) => known.times += one.times,
                None => self.unsupported.push(one),
            }
        }
        for one in other.seen {
            match self
                .seen
                .binary_search_by(|known| known.shape.cmp(&one.shape))
            {
                Ok(at) => {
                    if let Some(known) = self.seen.get_mut(at) {
                        known.merge(one);
                    }
                }
                Err(at) => self.seen.insert(at, one),
            }
        }
        self.shapes = self.shapes.max(other.shapes).max(self.seen.len());
        self
    }
}

/// Rows of the database as a query finds them.
struct SnapshotRows<'a>(&'a RowImage);

impl Relations for SnapshotRows<'_> {
    fn rows(&self, table: usize) -> &[Vec<Value>] {
        self.0.get(table).map_or(&[], |content| &content.rows)
    }
}

/// Rows of a table that are looked at when candidates are made.
const MAX_KNOWN: usize = 200;

impl LiveDatabase {
    /// The database with the rows it has now; `now` is what its clock says, and `sees_statements` whether the statements of
    /// the service are seen.
    #[must_use]
    pub fn new(
        state: TestDatabase,
        now: DateTime,
        config: SeedingConfig,
        sees_statements: bool,
    ) -> Self {
        Self {
            schema: Arc::new(state.schema().clone()),
            watch: RowObserver::new(&state),
            state,
            now,
            config,
            statements: Statements::default(),
            written: Tables::new(),
            sees_statements,
            cost: SeedingCost::default(),
            before: Vec::new(),
            current: None,
            row_endpoint: None,
            reset_failure: None,
        }
    }

    /// The same database, in the memory of the service, for which the driver inside takes rows at an address.
    #[must_use]
    pub fn with_row_endpoint(mut self, row_endpoint: String) -> Self {
        self.row_endpoint = Some(row_endpoint);
        self
    }

    /// Endpoint for inserting rows into an in-memory database of the service.
    #[must_use]
    pub fn row_endpoint(&self) -> Option<&str> {
        self.row_endpoint.as_deref()
    }

    /// Why the database in the memory of the service could not be reset. The run then continues without rows.
    #[must_use]
    pub fn reset_failure(&self) -> Option<&str> {
        self.reset_failure.as_deref()
    }

    /// What may be done with it.
    #[must_use]
    pub fn config(&self) -> SeedingConfig {
        self.config
    }

    /// Its tables.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Statements met so far.
    #[must_use]
    pub fn statements(&self) -> &Statements {
        &self.statements
    }

    /// The cost so far.
    #[must_use]
    pub fn cost(&self) -> SeedingCost {
        self.cost
    }

    /// What the run made of it so far.
    #[must_use]
    pub fn report(&self) -> DatabaseReport {
        let (seen, rows_for_rule) = self.statements.report();
        DatabaseReport {
            seen,
            rows_for_rule,
            shapes: self.statements.n_shapes(),
            statements: self.statements.rule_distance,
            read: self.statements.read,
            unsupported: self.statements.unsupported_statements().cloned().collect(),
            rows: self.cost,
            cost: self.state.cost(),
        }
    }

    /// What rows are put on.
    #[must_use]
    pub fn ground(&self) -> ExistingRows {
        let baseline = self.state.initial_image();
        let there = (0..self.schema.tables.len()).map(|table| {
            let rows = baseline.get(table).map_or(&[][..], |content| &content.rows);
            rows.iter().take(MAX_KNOWN).cloned().collect()
        });
        ExistingRows::new(
            Arc::clone(&self.schema),
            self.state.dialect(),
            self.now,
            there.collect(),
        )
    }

    /// Resets the database, and inserts the rows of a candidate.
    ///
    /// # Errors
    ///
    /// When the database is unreachable, or cannot be reset.
    pub fn begin(&mut self, candidate: &Candidate) -> Result<SeededRows, DatabaseError> {
        self.before.clear();
        self.current = None;
        let written = std::mem::take(&mut self.written);
        self.reset(&written)?;
        if self.reset_failure.is_some() {
            return Ok(SeededRows::default());
        }
        let mut rows = candidate.rows.as_slice();
        let mut seeded = SeededRows::default();
        while !rows.is_empty() {
            let (plain, references) = plain(rows);
            self.written.extend(rows.iter().map(|row| row.table));
            match self.state.insert(&plain, &references)? {
                Ok(stored) => {
                    self.cost.rows += stored.len() as u64;
                    for (row, values) in rows.iter().zip(stored) {
                        let values = values.into_iter().map(Some).collect();
                        seeded.rows.insert(row.id, values);
                    }
                    break;
                }
                Err(unfit) => {
                    // That row and all after it are left out.
                    self.cost.refused += u64::from(seeded.refused.is_none());
                    seeded.refused.get_or_insert_with(|| unfit.to_string());
                    let fitting = unfit.row.min(rows.len().saturating_sub(1));
                    rows = rows.get(..fitting).unwrap_or_default();
                }
            }
        }
        Ok(seeded)
    }

    /// Takes note that the rows could not be put back at the end of the run.
    pub(crate) fn note_reset_failure(&mut self, error: &DatabaseError) {
        self.reset_failure.get_or_insert_with(|| error.to_string());
    }

    fn reset(&mut self, written: &Tables) -> Result<(), DatabaseError> {
        let reset = if self.reset_failure.is_some() {
            return Ok(());
        } else if !self.sees_statements {
            self.state.reset_all(written)
        } else if !written.is_empty() {
            self.state.reset(written)
        } else {
            return Ok(());
        };
        match reset {
            Ok(_) => Ok(()),
            // The service is up, and may be searched as one whose database is not known.
            Err(error @ DatabaseError::Refused { .. }) if self.row_endpoint.is_some() => {
                self.reset_failure = Some(error.to_string());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Evaluates the statements of a candidate, and records the tables they wrote.
    ///
    /// # Errors
    ///
    /// When the database is unreachable.
    pub fn end(
        &mut self,
        exchanges: &mut [Exchange],
        seeded: SeededRows,
    ) -> Result<(), DatabaseError> {
        let texts = exchanges
            .iter()
            .flat_map(|exchange| &exchange.trace.events)
            .filter_map(|event| match event {
                Event::Statement { text, .. } => Some(text.as_str()),
                _ => None,
            });
        let written = self.state.tables_written_by(texts);
        if !written.is_empty() {
            let looked = self.state.detect_changes(&written);
            // A database in the memory of a service that died is gone with it; what is known of the candidate stays.
            if looked.is_err() && self.state.is_in_service() {
                self.distrust_tables();
            } else {
                looked?;
            }
        }
        let setting = StatementContext {
            schema: &self.schema,
            dialect: self.state.dialect(),
            now: self.now,
            rules: self.config.rules,
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "measures a cost that the summary shows; nothing is decided by it"
        )]
        let started = std::time::Instant::now();
        let last = self.state.image();
        let at = |number: usize| self.before.get(number).map_or(last, |image| &**image);
        for (number, exchange) in exchanges.iter_mut().enumerate() {
            // What a statement sees lies between the rows before its call and those after it; where the call
            // writes, its first statement that does is where it turns.
            let mut wrote = false;
            for event in &exchange.trace.events {
                let then = SnapshotRows(at(number + usize::from(wrote)));
                let observed = self
                    .statements
                    .observe(event, &setting, &SnapshotRows(last), &then);
                exchange.trace.queries.extend(observed);
                if let (true, false, Event::Statement { text, .. }) = (setting.rules, wrote, event)
                {
                    wrote = !self.state.tables_written_by([text.as_str()]).is_empty();
                }
            }
        }
        self.cost.judging += started.elapsed();
        self.written.extend(written);
        if !seeded.rows.is_empty() || seeded.refused.is_some() {
            let seeded = Arc::new(seeded);
            for exchange in exchanges {
                exchange.trace.seeded = Some(Arc::clone(&seeded));
            }
        }
        Ok(())
    }

    /// Looks at what a call did to the rows.
    ///
    /// # Errors
    ///
    /// When the database is unreachable.
    pub fn observe(
        &mut self,
        api: &Api,
        base: &str,
        exchange: &mut Exchange,
    ) -> Result<(), DatabaseError> {
        if self.config.rules {
            let state = &self.state;
            let current = self
                .current
                .get_or_insert_with(|| Arc::new(state.image().clone()));
            self.before.push(Arc::clone(current));
        }
        let effect = self.watch.look(&mut self.state, api, base, exchange)?;
        let is_same = |effect: &CallEffect| effect.is_complete && effect.changes.is_empty();
        if !effect.as_ref().is_some_and(is_same) {
            self.current = None;
        }
        if let Some(effect) = effect {
            let changes = effect.changes.iter();
            self.written.extend(changes.map(|change| change.table));
            exchange.trace.effect = Some(Arc::new(effect));
        }
        Ok(())
    }

    /// Looks at the rows around every call from now on, however many there are, or only if there are few.
    pub fn watch_every_call(&mut self, every: bool) {
        self.watch.watch_every_call(every);
    }

    /// Takes what was written until now as given, so that no call is blamed for it.
    ///
    /// # Errors
    ///
    /// When the database is unreachable.
    pub fn accept_writes(&mut self) -> Result<(), DatabaseError> {
        self.watch.begin(&mut self.state)
    }

    /// Makes the next candidate start with a reset of all tables.
    pub fn distrust_tables(&mut self) {
        self.written = self.state.all_tables();
    }
}

/// Rows as they are inserted: references apart from the rest.
fn plain(rows: &[NewRow]) -> (Vec<Row>, Vec<Reference>) {
    let place = |id: u32| rows.iter().position(|row| row.id == id);
    let mut references = Vec::new();
    let plain = rows.iter().enumerate().map(|(at, row)| {
        let cells = row
            .cells
            .iter()
            .enumerate()
            .map(|(column, cell)| match cell {
                NewCell::Value(value) => Cell::Value(value.clone()),
                NewCell::Default => Cell::Default,
                NewCell::Of {
                    row,
                    column: of_column,
                } => {
                    if let Some(of_row) = place(*row).filter(|of_row| *of_row < at) {
                        references.push(Reference {
                            row: at,
                            column,
                            of_row,
                            of_column: *of_column,
                        });
                    }
                    Cell::Value(Value::Null)
                }
            });
        Row {
            table: row.table,
            cells: cells.collect(),
        }
    });
    let plain = plain.collect();
    (plain, references)
}
