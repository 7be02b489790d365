//! The rows of a test database: what they were, what became of them, and back again.
//!
//! A [`State`] is a connection of our own beside the service's. It knows the
//! schema, keeps the rows that were there at first (in temporary tables of the
//! connection, so that they come back exactly), tells what calls changed
//! ([`State::look`]), puts the first rows back ([`State::reset`]) and brings
//! rows in ([`State::insert`]). It opens only what was named as a test database.

mod counters;
mod first;
mod insert;
mod keep;
mod snapshot;
mod stamp;
mod typed;

use std::collections::BTreeSet;
use std::time::Duration;

use isobath_sql::ddl;
use isobath_sql::referenced_tables::referenced_tables;
use isobath_sql::render::{identifier, table_name};
use isobath_sql::{DialectName, Limitation, Schema};

use crate::catalogue::definitions;
use crate::database::{Database, DatabaseError, Inside, writable};
use crate::driver::SharedDriver;

pub use first::{Counter, First};
pub use insert::{Reference, Unfit};
pub use keep::Reset;
pub use snapshot::{Change, Content, Difference, Snapshot};

use keep::Kept;
use stamp::Stamp;

/// Tables by index into the schema.
pub type Tables = BTreeSet<usize>;

/// The most rows of a table that are read to be looked at.
pub const MOST_READ: usize = 5_000;

/// The most rows of a table that are kept to be put back.
pub const MOST_KEPT: usize = 200_000;

/// The state of a test database.
pub struct State {
    database: Box<dyn Database>,
    schema: Schema,
    limitations: Vec<Limitation>,
    has_triggers: bool,
    baseline: Snapshot,
    kept: Kept,
    /// The rows as they were when we last looked.
    image: Snapshot,
    /// What the database said then about its age.
    stamp: Stamp,
    cost: Cost,
}

/// What the state of the database has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// How often rows were put back.
    pub resets: u64,
    /// The time that took.
    pub resetting: Duration,
    /// How often it was looked whether rows changed.
    pub looks: u64,
    /// The time that took.
    pub looking: Duration,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}

impl State {
    /// Opens a database that was named as a test database, and keeps its rows as those to put back.
    ///
    /// A service often makes its tables when it starts, so this comes after.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::NotATestDatabase`] when it is none, and whatever connecting and reading may meet.
    pub fn open(address: &str, test_databases: &[String]) -> Result<Self, DatabaseError> {
        Self::of(writable(address, test_databases)?)
    }

    /// Takes the database in the memory of a service, which its driver reaches; it vanishes with the service, so there is
    /// nothing to lose in it.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::NoDatabase`] when the driver reaches none, and whatever reading may meet.
    pub fn inside(driver: SharedDriver) -> Result<Self, DatabaseError> {
        Self::of(Box::new(Inside::open(driver)?))
    }

    fn of(mut database: Box<dyn Database>) -> Result<Self, DatabaseError> {
        keep::prepare(database.as_mut())?;
        let definitions = definitions(database.as_mut())?;
        let loaded = ddl::load(
            &definitions.name,
            &definitions.sources,
            Some(database.dialect()),
        );
        let has_triggers = definitions
            .limitations
            .iter()
            .any(|limitation| limitation.input.starts_with("TRIGGER "));
        let mut limitations = loaded.limitations;
        limitations.extend(definitions.limitations);
        let schema = loaded.schema;
        let kept = Kept::take(database.as_mut(), &schema)?;
        let mut state = Self {
            database,
            schema,
            limitations,
            has_triggers,
            baseline: Snapshot::default(),
            kept,
            image: Snapshot::default(),
            stamp: Stamp::default(),
            cost: Cost::default(),
        };
        state.stamp = Stamp::read(state.database.as_mut())?;
        state.baseline = state.read(&state.all())?;
        state.image = state.baseline.clone();
        Ok(state)
    }

    /// Its tables, as its catalogue tells them.
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
    pub fn place(&self) -> &str {
        self.database.place()
    }

    /// The rows at the start; of large tables only [`MOST_READ`].
    pub fn baseline(&self) -> &Snapshot {
        &self.baseline
    }

    /// Tables with more than [`MOST_KEPT`] rows, which are not put back.
    pub fn not_kept(&self) -> &Tables {
        &self.kept.too_big
    }

    /// Whether it is in the memory of the service, and ends with it.
    pub fn is_inside(&self) -> bool {
        self.database.told_definitions().is_some()
    }

    /// What resetting and looking have cost so far.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// All tables.
    pub fn all(&self) -> Tables {
        (0..self.schema.tables.len()).collect()
    }

    /// The tables that statements may have changed; all, where one is not understood or triggers may act.
    pub fn written_by<'a>(&self, statements: impl IntoIterator<Item = &'a str>) -> Tables {
        let mut written = Tables::new();
        for text in statements {
            match referenced_tables(&self.schema, text, self.dialect()) {
                Some(touched) => written.extend(touched.changes),
                None => return self.all(),
            }
        }
        if self.has_triggers && !written.is_empty() {
            return self.all();
        }
        written
    }

    /// Reads tables, each up to [`MOST_READ`] rows, in the order of the primary key.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or a table is gone.
    pub fn read(&mut self, tables: &Tables) -> Result<Snapshot, DatabaseError> {
        let mut snapshot = Snapshot::default();
        let dialect = self.dialect();
        for &index in tables {
            let Some(table) = self.schema.tables.get(index) else {
                continue;
            };
            let names = |columns: &mut dyn Iterator<Item = usize>| {
                columns
                    .map(|column| identifier(&table.columns[column].name, dialect))
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
                MOST_READ + 1
            );
            let mut rows = typed::rows(self.database.rows(&sql)?.rows, table, dialect);
            let is_complete = rows.len() <= MOST_READ;
            rows.truncate(MOST_READ);
            snapshot.put(index, Content { rows, is_complete });
        }
        Ok(snapshot)
    }

    /// The rows as they were at the last look, reset or insert.
    pub fn image(&self) -> &Snapshot {
        &self.image
    }

    /// What changed since the last look, reset or insert, by whoever else writes to the database.
    ///
    /// Whether anything did is asked in a way that costs next to nothing; only then are the suspected tables
    /// read, or all when none is suspected.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or a table is gone.
    pub fn look(&mut self, suspects: &Tables) -> Result<Difference, DatabaseError> {
        let started = std::time::Instant::now();
        let stamp = Stamp::read(self.database.as_mut())?;
        let mut difference = Difference::default();
        if stamp != self.stamp {
            let tables = if suspects.is_empty() {
                self.all()
            } else {
                suspects.clone()
            };
            let after = self.read(&tables)?;
            difference = self.image.diff(&after, &self.schema);
            self.image.take_over(after);
            self.stamp = stamp;
        }
        self.cost.looks += 1;
        self.cost.looking += started.elapsed();
        Ok(difference)
    }

    /// Waits a moment and looks again, for services that write after they have answered.
    ///
    /// # Errors
    ///
    /// As [`look`](Self::look).
    pub fn look_later(&mut self, pause: Duration) -> Result<Difference, DatabaseError> {
        std::thread::sleep(pause);
        self.look(&Tables::new())
    }

    /// Puts back the first rows of the tables that were written, and the counters with them.
    ///
    /// Only these tables are touched, in one transaction; where the login may not switch foreign keys off, also those
    /// that refer to them.
    ///
    /// # Errors
    ///
    /// When the connection is lost, or the database refuses (the service holds a lock, a table is gone).
    pub fn reset(&mut self, written: &Tables) -> Result<Reset, DatabaseError> {
        let started = std::time::Instant::now();
        let mut reset = self
            .kept
            .put_back(self.database.as_mut(), &self.schema, written)?;
        for &table in &reset.tables {
            if let Some(content) = self.baseline.get(table) {
                self.image.put(table, content.clone());
            }
        }
        self.stamp = Stamp::read(self.database.as_mut())?;
        reset.took = started.elapsed();
        self.cost.resets += 1;
        self.cost.resetting += reset.took;
        Ok(reset)
    }

    /// Puts back whatever differs from the first rows, found by looking; for services whose statements are not seen.
    ///
    /// Tables that are too large to be looked at are taken for written, and so are those that are known to be: a row
    /// that was inserted and deleted again leaves a counter behind that is not where it was. Counters are looked at by
    /// themselves, because a row that was taken back moves them, too.
    ///
    /// # Errors
    ///
    /// As [`look`](Self::look) and [`reset`](Self::reset).
    pub fn reset_all(&mut self, known: &Tables) -> Result<Reset, DatabaseError> {
        self.look(&Tables::new())?;
        let mut written = known.clone();
        for (table, now) in self.image.iter() {
            let as_before = self.baseline.get(table).is_some_and(|before| {
                before.is_complete && now.is_complete && before.holds_same(now)
            });
            if !as_before {
                written.insert(table);
            }
        }
        let reset = self.reset(&written)?;
        self.kept
            .put_counters_back(self.database.as_mut(), &self.schema)?;
        Ok(reset)
    }
}
