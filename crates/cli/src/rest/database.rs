//! `--db`: the test database of the service.

use std::net::SocketAddr;

use clap::Args;
use isobath_exec::DatabaseError;
use isobath_exec::database::Address;
use isobath_exec::tap::{Tap, environment};
use isobath_exec::test_database::TestDatabase;
use isobath_rest::feedback::{CombinedFeedback, Feedback, TapFeedback};
use isobath_rest::seeding::{self, LiveDatabase};

use super::args::RestArgs;
use super::instrumentation::InMemoryRows;
use super::launch::LaunchPlan;
use super::run::SetupError;
use crate::terminal::{Terminal, Tone};

/// Flags for the test database.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Database")]
pub(crate) struct DatabaseArgs {
    /// TEST database of the service: postgres://user:password@localhost/shop_test, mysql://… or sqlite:PATH. Isobath reads,
    /// writes and resets its rows.
    #[arg(long, value_name = "URL")]
    pub db: Option<String>,

    /// Environment variables with the database URL of the service, in addition to DATABASE_URL; redirected to the SQL tap, and to
    /// the copy of the database with --instances.
    #[arg(long, value_name = "NAME", requires = "db", value_delimiter = ',')]
    pub db_env: Vec<String>,

    /// Listen address of the SQL tap, for example 127.0.0.1:6432, for a service that you start yourself and connect to it.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "db")]
    pub tap: Option<SocketAddr>,

    /// Allow a test database on another machine.
    #[arg(long, requires = "db")]
    pub remote_db: bool,

    /// Do not insert rows before a test.
    #[arg(long)]
    pub no_rows: bool,

    /// Do not guide the search by the distance of SQL statements to returning rows.
    #[arg(long)]
    pub no_sql_distance: bool,

    /// Add the query coverage targets of the observed SQL statements (see `isobath query`) to the search.
    #[arg(long, requires = "db")]
    pub query_coverage: bool,

    /// Do not assert database rows in the generated suites.
    #[arg(long, requires = "db")]
    pub no_state_assertions: bool,
}

impl DatabaseArgs {
    /// The test database that the user named, if we may use it.
    pub(super) fn test_database(&self) -> Result<Option<Address>, SetupError> {
        self.checked(self.db.as_deref())
    }

    /// The address of a test database, if we may use it.
    pub(super) fn checked(&self, url: Option<&str>) -> Result<Option<Address>, SetupError> {
        // Parsed here and not by the parser of flags, whose message would show the password.
        let Some(text) = url else {
            return Ok(None);
        };
        let address =
            Address::parse(text).map_err(|error| SetupError::usage(format!("--db: {error}")))?;
        if !address.is_local() && !self.remote_db {
            return Err(SetupError::usage(format!(
                "--db {address} is on another machine; add --remote-db if it is a test database whose rows may be changed and lost"
            )));
        }
        Ok(Some(address))
    }

    /// The test database of an instance with the rows it has now, which are those that are put back. `sees` says whether the
    /// statements of the service are seen.
    ///
    /// To be asked for when the service is up and its users are logged in: what both left in the database belongs to
    /// the snapshot.
    pub(super) fn data(
        &self,
        launch: &LaunchPlan,
        sees: bool,
    ) -> Result<Option<LiveDatabase>, SetupError> {
        let Some(text) = &launch.database else {
            return Ok(None);
        };
        let address = self.checked(Some(text))?;
        if address == Some(Address::SqliteMemory) {
            return Err(SetupError::usage(
                "--db sqlite::memory: cannot be shared with the service; pass the database file that the service uses",
            ));
        }
        let state = TestDatabase::open(text, std::slice::from_ref(text))
            .map_err(|error| SetupError::unreachable(format!("--db: {error}")))?;
        Ok(Some(self.live_database(state, sees)))
    }

    /// The database in the memory of the service, where the driver in it reaches one.
    ///
    /// To be asked for when the service is up, as [`data`](Self::data).
    pub(super) fn in_memory_database(
        &self,
        rows: Option<InMemoryRows>,
        terminal: &Terminal,
    ) -> Result<Option<LiveDatabase>, SetupError> {
        let Some(InMemoryRows {
            driver,
            row_endpoint,
        }) = rows
        else {
            return Ok(None);
        };
        match TestDatabase::in_service(driver) {
            Ok(state) => {
                let (place, tables) = (state.display_address(), state.schema().tables.len());
                let said =
                    format!("  database {place}: {tables} tables, will be read, written and reset");
                terminal.say(Tone::Faint, &said);
                Ok(Some(
                    self.live_database(state, true)
                        .with_row_endpoint(row_endpoint),
                ))
            }
            // Most services have none, or one that is not ours to write to.
            Err(DatabaseError::NoDatabase { .. }) => Ok(None),
            Err(error @ DatabaseError::Refused { .. }) => {
                let said = format!("warning: {error}; the run continues without rows");
                terminal.insist(Tone::Warning, &said);
                Ok(None)
            }
            Err(error) => Err(SetupError::unreachable(error.to_string())),
        }
    }

    fn live_database(&self, state: TestDatabase, sees: bool) -> LiveDatabase {
        let now = jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
        let choice = seeding::SeedingConfig {
            rows: !self.no_rows,
            distance: !self.no_sql_distance,
            rules: self.query_coverage,
        };
        LiveDatabase::new(state, now.datetime(), choice, sees)
    }
}

/// A tap before the test database, opened before the service is started.
pub(super) struct Tapped {
    tap: Tap,
}

impl Tapped {
    /// Opens a tap where one is of use: a service that runs already must be pointed at it by the user.
    pub(super) fn open(
        args: &RestArgs,
        launch: &LaunchPlan,
        terminal: &Terminal,
    ) -> Result<Option<Self>, SetupError> {
        let flags = &args.database;
        let database = flags.checked(launch.database.as_deref())?;
        let Some(database) = database.filter(|_| !args.dry_run) else {
            return Ok(None);
        };
        let is_file = matches!(database, Address::SqliteFile(_) | Address::SqliteMemory);
        // Copies of a file are told to the service by variables, too.
        let has_use = args.instances > 1 || flags.db_env.is_empty();
        if is_file && (flags.tap.is_some() || !has_use) {
            return Err(SetupError::usage(
                "--tap and --db-env require PostgreSQL or MySQL; SQLite has no connection to tap",
            ));
        }
        if is_file {
            return Ok(None);
        }
        // A service whose database is not there would only say so in its own way.
        isobath_exec::connect(&database.with_password())
            .map_err(|error| SetupError::unreachable(format!("--db: {error}")))?;
        if flags.tap.is_none() && launch.start.is_none() {
            let hint = "SQL statements of the service are not observed; add --tap 127.0.0.1:6432 and connect the service to that address";
            terminal.say(Tone::Faint, hint);
            return Ok(None);
        }
        let tap = Tap::open(&database, flags.tap)
            .map_err(|error| SetupError::usage(format!("--db: {error}")))?;
        terminal.say(
            Tone::Faint,
            &format!("SQL tap for {database} listens at {}", tap.at()),
        );
        Ok(Some(Self { tap }))
    }

    /// Points the service at the tap.
    pub(super) fn add_to(&self, args: &RestArgs, launch: &mut LaunchPlan) {
        launch.variables.extend(environment::variables(
            self.tap.database(),
            self.tap.at(),
            &args.database.db_env,
            |name| std::env::var(name).ok(),
        ));
    }

    /// The address of the database at the tap, password included.
    pub(super) fn url(&self) -> Option<String> {
        environment::url(self.tap.database(), self.tap.at())
    }

    /// Combines tap and driver feedback.
    pub(super) fn feedback(self, driver: Option<Box<dyn Feedback>>) -> Box<dyn Feedback> {
        let tap = Box::new(TapFeedback::new(self.tap));
        match driver {
            Some(driver) => Box::new(CombinedFeedback::new(driver, vec![tap])),
            None => tap,
        }
    }
}
