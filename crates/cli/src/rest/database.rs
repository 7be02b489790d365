//! `--db`: the test database behind the service.

use std::net::SocketAddr;

use clap::Args;
use isobath_exec::database::Address;
use isobath_exec::state::State;
use isobath_rest::data::{self, Data};

use super::run::Refusal;

/// The flags about the database behind the service.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DatabaseArgs {
    /// The TEST database behind the service, such as postgres://user:password@localhost/shop_test, mysql://… or sqlite:PATH. It is
    /// read, written and reset.
    #[arg(long, value_name = "URL")]
    pub db: Option<String>,

    /// Variables in which the service finds its database, besides DATABASE_URL; they are rewritten to the tap.
    #[arg(long, value_name = "NAME", requires = "db", value_delimiter = ',')]
    pub db_env: Vec<String>,

    /// Where the tap listens, such as 127.0.0.1:6432, for a service that is not started here and that you point at it.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "db")]
    pub tap: Option<SocketAddr>,

    /// Use a test database that is not on this machine.
    #[arg(long, requires = "db")]
    pub remote_db: bool,
}

impl DatabaseArgs {
    /// The test database, if one was named and we may use it.
    pub(super) fn test_database(&self) -> Result<Option<Address>, Refusal> {
        // Parsed here and not by the parser of flags, whose message would show the password.
        let Some(text) = &self.db else {
            return Ok(None);
        };
        let address =
            Address::parse(text).map_err(|error| Refusal::usage(format!("--db: {error}")))?;
        if !address.is_local() && !self.remote_db {
            return Err(Refusal::usage(format!(
                "--db {address} is not on this machine; say --remote-db if it is a test database whose rows may be changed and lost"
            )));
        }
        Ok(Some(address))
    }

    /// The test database with the rows it has now, which are those that are put back. `sees` says whether the statements
    /// of the service are seen.
    ///
    /// To be asked for when the service is up and its users are logged in: what both left in the database belongs to
    /// the first rows.
    pub(super) fn data(&self, sees: bool) -> Result<Option<Data>, Refusal> {
        let (Some(address), Some(text)) = (self.test_database()?, &self.db) else {
            return Ok(None);
        };
        if address == Address::SqliteMemory {
            return Err(Refusal::usage(
                "--db sqlite::memory: is a database that nobody shares; name the file that the service uses",
            ));
        }
        let state = State::open(text, std::slice::from_ref(text))
            .map_err(|error| Refusal::unreachable(format!("--db: {error}")))?;
        let now = jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
        let choice = data::Choice::default();
        Ok(Some(Data::new(state, now.datetime(), choice, sees)))
    }
}
