//! Errors that end a run: connection, login, lost connection.

use super::Refusal;

/// Why a run cannot continue with a database.
///
/// Addresses in here never show a password.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The address is not one.
    #[error(
        "invalid database address `{address}`: {why} (expected one of: sqlite:PATH, sqlite::memory:, postgres://user:password@host:port/database, mariadb://user:password@host:port/database)"
    )]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing answers at the address.
    #[error(
        "cannot connect to {place}: {why}; check that the server is running and that host and port are correct"
    )]
    Unreachable {
        /// The address.
        place: String,
        /// What the system said.
        why: String,
    },
    /// The server does not let us in.
    #[error("login to {place} failed: {why}; check user, password and privileges")]
    Login {
        /// The address.
        place: String,
        /// What the server said.
        why: String,
    },
    /// The server has no database of that name, or there is no such file.
    #[error("no database at {place}: {why}; check its name, or create it first")]
    NoDatabase {
        /// The address.
        place: String,
        /// What the server said.
        why: String,
    },
    /// The connection broke.
    #[error(
        "lost the connection to {place} during `{statement}`: {why}; run again once the server is back"
    )]
    Lost {
        /// The address.
        place: String,
        /// The statement in flight, shortened.
        statement: String,
        /// What the transport said.
        why: String,
    },
    /// The file of a database without a server is no longer of use.
    #[error(
        "I/O error on {place} during `{statement}`: {why}; check the disk (space, permissions, corruption), then run again"
    )]
    File {
        /// The address.
        place: String,
        /// The statement in flight, shortened.
        statement: String,
        /// What the library said.
        why: String,
    },
    /// The connection stands, but no answer comes.
    #[error(
        "{place} did not finish `{statement}` within {seconds} s; check the server for load and locks"
    )]
    Silent {
        /// The address.
        place: String,
        /// The statement in flight, shortened.
        statement: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The database refused a statement that the run depends on.
    #[error("{place} rejected `{statement}`: {refusal}")]
    Refused {
        /// The address.
        place: String,
        /// The statement, shortened.
        statement: String,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// A writing connection to a database that was not named as a test database.
    #[error(
        "{place} is not declared as a test database, so nothing is written to it; declare it only if its content may be lost"
    )]
    NotATestDatabase {
        /// The address.
        place: String,
    },
    /// It cannot be copied.
    #[error("cannot copy {place}: {why}")]
    NotCopied {
        /// The address.
        place: String,
        /// Why not.
        why: String,
    },
    /// The system gave us no sockets or threads to connect with.
    #[error("failed to create the connection runtime on this system")]
    System(#[source] std::io::Error),
}

impl DatabaseError {
    /// A refusal of a statement that the run depends on.
    pub(crate) fn refused(place: &str, sql: &str, refusal: Refusal) -> Self {
        Self::Refused {
            place: place.to_owned(),
            statement: shorten(sql),
            refusal: Box::new(refusal),
        }
    }

    /// A broken connection.
    pub(crate) fn lost(place: &str, sql: &str, why: impl ToString) -> Self {
        Self::Lost {
            place: place.to_owned(),
            statement: shorten(sql),
            why: why.to_string(),
        }
    }
}

/// A statement on one line, cut where it gets long.
pub(crate) fn shorten(sql: &str) -> String {
    const LONGEST: usize = 80;
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = line.char_indices().nth(LONGEST);
    match cut.and_then(|(cut, _)| line.split_at_checked(cut)) {
        Some((beginning, _)) => format!("{beginning}…"),
        None => line,
    }
}
