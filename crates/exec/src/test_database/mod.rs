//! The test database of a run: snapshot, change detection, reset.
//!
//! A [`TestDatabase`] is a connection of our own beside the service's. It knows the
//! schema, saves a snapshot of the rows (in temporary tables of the
//! connection, so that they are restored exactly), detects what calls changed
//! ([`TestDatabase::detect_changes`]), resets the database ([`TestDatabase::reset`]) and inserts
//! rows ([`TestDatabase::insert`]). It opens only declared test databases.

mod change_stamp;
mod counters;
mod from_text;
mod image;
mod insert;
mod reset;
mod snapshot;

use std::collections::BTreeSet;
use std::time::Duration;

use isobath_sql::ddl;
use isobath_sql::referenced_tables::referenced_tables;
use isobath_sql::render::{identifier, table_name};
use isobath_sql::{DialectName, Limitation, Schema};

use crate::catalog::definitions;
use crate::database::{Database, DatabaseError, DriverDatabase, connect_writable};
use crate::driver::SharedDriver;

pub use image::{RowChange, RowDiff, RowImage, TableImage};
pub use insert::{Reference, Unfit};
pub use reset::{ResetResult, with_referring_tables};
pub use snapshot::{Counter, Snapshot};

use change_stamp::ChangeStamp;
use reset::SavedTables;

/// Tables by index into the schema.
pub type Tables = BTreeSet<usize>;

/// The most rows of a table that are read to be looked at.
pub const MAX_READ_ROWS: usize = 5_000;

/// The most rows of a table that are included in the snapshot.
pub const MAX_SNAPSHOT_ROWS: usize = 200_000;

/// The state of a test database.
pub struct TestDatabase {
    database: Box<dyn Database>,
    schema: Schema,
    limitations: Vec<Limitation>,
    has_triggers: bool,
    initial_image: RowImage,
    saved: SavedTables,
    /// The rows at the last check.
    image: RowImage,
    /// The change stamp at that time.
    change_stamp: ChangeStamp,
    cost: StateCost,
}

/// What the state of the database has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCost {
    /// Number of resets.
    pub resets: u64,
    /// Total time of these.
    pub resetting: Duration,
    /// Number of checks for changes.
    pub checks: u64,
    /// Total time of these.
    pub checking: Duration,
}

impl StateCost {
    /// The cost of two databases.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            resets: self.resets + other.resets,
            resetting: self.resetting + other.resetting,
            checks: self.checks + other.checks,
            checking: self.checking + other.checking,
        }
    }
}

impl std::fmt::Debug for TestDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("place", &self.display_address())
            .finish_non_exhaustive()
    }
}

impl TestDatabase {
    /// Opens a database that was named as a test database, and keeps its rows as those to put back.
    ///
    /// A service often makes its tables when it starts, so this comes after.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::NotATestDatabase`] when it is none, and whatever connecting and reading may meet.
    pub fn open(address: &str, test_databases: &[String]) -> Result<Self, DatabaseError> {
        Self::of(connect_writable(address, test_databases)?)
    }

    /// Takes the database in the memory of a service, which its driver reaches; it vanishes with the service, so there is
    /// nothing to lose in it.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::NoDatabase`] when the driver reaches none, and whatever reading may meet.
    pub fn in_service(driver: SharedDriver) -> Result<Self, DatabaseError> {
        Self::of(Box::new(DriverDatabase::open(driver)?))
    }

    fn of(mut database: Box<dyn Database>) -> Result<Self, DatabaseError> {
        reset::prepare(database.as_mut())?;
        let definitions = definitions(database.as_mut())?;
        let loaded = ddl::load(
            &definitions.name,
            &definitions.sources,
            Some(database.dialect()),
        );
        let has_triggers = !definitions.triggers.is_empty();
        let mut limitations = loaded.limitations;
        limitations.extend(definitions.triggers);
        limitations.extend(definitions.limitations);
        let schema = loaded.schema;
        let saved = SavedTables::save(database.as_mut(), &schema)?;
        let mut state = Self {
            database,
            schema,
            limitations,
            has_triggers,
            initial_image: RowImage::default(),
            saved,
            image: RowImage::default(),
            change_stamp: ChangeStamp::default(),
            cost: StateCost::default(),
        };
        state.change_stamp = ChangeStamp::read(state.database.as_mut())?;
        state.initial_image = state.read(&state.all_tables())?;
        state.image = state.initial_image.clone();
        Ok(state)
    }

    /// Its tables, as its catalog tells them.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What decides about rows and is not in the schema, triggers above all.
    pub fn limitations(&self) -> &[Limitation] {
        &self.limitations
    }

    /// How the database differs from others.
    pub fn dialect(&self) -> DialectName {
        self.database.dialect()
    }

    /// The address without its password.
    pub fn display_address(&self) -> &str {
        self.database.display_address()
    }

    /// Statements that switch the checks of foreign keys off and on again, where there are such.
    pub fn foreign_key_switch(&self) -> Option<[&'static str; 2]> {
        self.database.foreign_key_switch()
    }

    /// The rows at the start; of large tables only [`MAX_READ_ROWS`].
    pub fn initial_image(&self) -> &RowImage {
        &self.initial_image
    }

    /// Tables with more than [`MAX_SNAPSHOT_ROWS`] rows, which are not put back.
    pub fn not_snapshotted(&self) -> &Tables {
        &self.saved.too_large
    }

    /// Whether it is in the memory of the service, and ends with it.
    pub fn is_in_service(&self) -> bool {
        self.database.known_definitions().is_some()
    }

    /// What resetting and looking have cost so far.
    pub fn cost(&self) -> StateCost {
        self.cost
    }

    /// All tables.
    pub fn all_tables(&self) -> Tables {
        (0..self.schema.tables.len()).collect()
    }

    /// The tables that statements may have changed; all, where one is not understood or triggers may act.
    pub fn tables_written_by<'a>(&self, statements: impl IntoIterator<Item = &'a str>) -> Tables {
        let mut written = Tables::new();
        for text in statements {
            match referenced_tables(&self.schema, text, self.dialect()) {
                Some(touched) => written.extend(touched.changes),
                None => return self.all_tables(),
            }
        }
        if self.has_triggers && !written.is_empty() {
            return self.all_tables();
        }
        written
    }

    /// Reads tables, each up to [`MAX_READ_ROWS`] rows, in the order of the primary key.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or a table is missing.
    pub fn read(&mut self, tables: &Tables) -> Result<RowImage, DatabaseError> {
        let mut image = RowImage::default();
        let dialect = self.dialect();
        for &index in tables {
            let Some(table) = self.schema.tables.get(index) else {
                continue;
            };
            let names = |columns: &mut dyn Iterator<Item = usize>| {
                columns
                    .map(|column| identifier(&table.column(column).name, dialect))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let order = match table.primary_key() {
                Some(key) => format!(" ORDER BY {}", names(&mut key.iter().copied())),
                None => String::new(),
            };
            let sql = format!(
                "SELECT {} FROM {}{order} LIMIT {}",
                names(&mut (0..table.columns.len())),
                table_name(table, dialect),
                MAX_READ_ROWS + 1
            );
            let mut rows = self.database.query_required(&sql)?.rows;
            if self.database.known_definitions().is_some() {
                rows = from_text::rows(rows, table, dialect);
            }
            let is_complete = rows.len() <= MAX_READ_ROWS;
            rows.truncate(MAX_READ_ROWS);
            image.put(index, TableImage { rows, is_complete });
        }
        Ok(image)
    }

    /// The rows at the last check, reset or insert.
    pub fn image(&self) -> &RowImage {
        &self.image
    }

    /// Detects what others changed since the last check, reset or insert.
    ///
    /// Whether anything did is asked in a way that costs next to nothing; only then are the suspected tables
    /// read, or all when none is suspected.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or a table is missing.
    pub fn detect_changes(&mut self, suspects: &Tables) -> Result<RowDiff, DatabaseError> {
        let started = std::time::Instant::now();
        let change_stamp = ChangeStamp::read(self.database.as_mut())?;
        let mut difference = RowDiff::default();
        if change_stamp != self.change_stamp {
            let tables = if suspects.is_empty() {
                self.all_tables()
            } else {
                suspects.clone()
            };
            let after = self.read(&tables)?;
            difference = self.image.diff(&after, &self.schema);
            self.image.take_over(after);
            self.change_stamp = change_stamp;
        }
        self.cost.checks += 1;
        self.cost.checking += started.elapsed();
        Ok(difference)
    }

    /// Waits, then detects changes again; for services that write after they have responded.
    ///
    /// # Errors
    ///
    /// As `detect_changes`](Self::detect_changes).
    pub fn detect_changes_after(&mut self, pause: Duration) -> Result<RowDiff, DatabaseError> {
        std::thread::sleep(pause);
        self.detect_changes(&Tables::new())
    }

    /// Resets the tables that were written, and the counters with them.
    ///
    /// Only these tables are touched, in one transaction; where the login may not switch foreign keys off, also those
    /// that refer to them.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or the database refuses (the service holds a lock, a table is missing).
    pub fn reset(&mut self, written: &Tables) -> Result<ResetResult, DatabaseError> {
        let started = std::time::Instant::now();
        let mut reset = self
            .saved
            .restore(self.database.as_mut(), &self.schema, written)?;
        for &table in &reset.tables {
            if let Some(content) = self.initial_image.get(table) {
                self.image.put(table, content.clone());
            }
        }
        self.change_stamp = ChangeStamp::read(self.database.as_mut())?;
        reset.took = started.elapsed();
        self.cost.resets += 1;
        self.cost.resetting += reset.took;
        Ok(reset)
    }

    /// Resets all tables that differ from the snapshot; for services whose statements are not observed.
    ///
    /// Tables that are too large to be looked at are taken for written, and so are those that are known to be: a row
    /// that was inserted and deleted again leaves a counter behind that is not where it was. Counters are looked at by
    /// themselves, because a row that was taken back moves them, too.
    ///
    /// # Errors
    ///
    /// As `detect_changes`](Self::detect_changes) and [`reset`](Self::reset).
    pub fn reset_all(&mut self, known: &Tables) -> Result<ResetResult, DatabaseError> {
        self.detect_changes(&Tables::new())?;
        let mut written = known.clone();
        for (table, now) in self.image.iter() {
            let as_before = self.initial_image.get(table).is_some_and(|before| {
                before.is_complete && now.is_complete && before.holds_same(now)
            });
            if !as_before {
                written.insert(table);
            }
        }
        let reset = self.reset(&written)?;
        self.saved
            .restore_counters(self.database.as_mut(), &self.schema)?;
        Ok(reset)
    }
}
