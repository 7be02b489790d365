//! Database addresses. A password is never part of a message.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use url::Url;

use super::mariadb::MariaDbDatabase;
use super::postgres::PostgresDatabase;
use super::sqlite::SqliteDatabase;
use super::{Database, DatabaseError};

/// A database address, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// SQLite, in memory.
    SqliteMemory,
    /// SQLite, in a file.
    SqliteFile(PathBuf),
    /// PostgreSQL.
    Postgres(Url),
    /// MariaDB or MySQL.
    MariaDb(Url),
}

impl Address {
    /// Whether two addresses name the same database, whoever logs in.
    pub fn is_same_database(&self, other: &Self) -> bool {
        let server = |url: &Url, port: u16| {
            (
                url.host_str().map(str::to_ascii_lowercase),
                url.port().unwrap_or(port),
                url.path().trim_matches('/').to_owned(),
            )
        };
        match (self, other) {
            // Each connection to memory has a database of its own.
            (Self::SqliteMemory, Self::SqliteMemory) => true,
            (Self::SqliteFile(a), Self::SqliteFile(b)) => {
                a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
            }
            (Self::Postgres(a), Self::Postgres(b)) => server(a, 5432) == server(b, 5432),
            (Self::MariaDb(a), Self::MariaDb(b)) => server(a, 3306) == server(b, 3306),
            _ => false,
        }
    }

    /// Whether the database is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::SqliteMemory | Self::SqliteFile(_) => true,
            Self::Postgres(url) | Self::MariaDb(url) => match url.host_str().map(plain_host) {
                Some(host) => {
                    host.eq_ignore_ascii_case("localhost")
                        || host
                            .parse()
                            .is_ok_and(|address: IpAddr| address.is_loopback())
                }
                None => false,
            },
        }
    }

    /// The address as [`connect`] and [`connect_writable`](super::connect_writable) take it, password included: never for messages.
    pub fn with_password(&self) -> String {
        match self {
            Self::SqliteMemory => "sqlite::memory:".to_owned(),
            Self::SqliteFile(path) => format!("sqlite:{}", path.display()),
            Self::Postgres(url) | Self::MariaDb(url) => url.to_string(),
        }
    }

    /// Reads an address.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::Address`] when it is none.
    pub fn parse(text: &str) -> Result<Self, DatabaseError> {
        let wrong = |why: &str| DatabaseError::Address {
            address: mask_password(text),
            why: why.to_owned(),
        };
        let Some((scheme, rest)) = text.trim().split_once(':') else {
            return Err(wrong("it has no scheme"));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "sqlite" | "sqlite3" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                match path {
                    "" => Err(wrong("it names no file")),
                    ":memory:" => Ok(Self::SqliteMemory),
                    path => Ok(Self::SqliteFile(PathBuf::from(path))),
                }
            }
            scheme @ ("postgres" | "postgresql" | "mysql" | "mariadb") => {
                let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
                if url.host_str().is_none_or(str::is_empty) {
                    return Err(wrong("it names no host"));
                }
                if scheme.starts_with("postgres") {
                    Ok(Self::Postgres(url))
                } else {
                    Ok(Self::MariaDb(url))
                }
            }
            _ => Err(wrong("its scheme is unknown")),
        }
    }
}

/// Without its password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&mask_password(&self.with_password()))
    }
}

/// A host without the brackets around an IPv6 address.
fn plain_host(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host)
}

/// Opens a connection that can read, and nothing else.
///
/// Only a database in memory, which nobody else has, can also be written to;
/// see [`connect_writable`](super::connect_writable) for all others.
///
/// # Errors
///
/// When the address is wrong, nothing answers there, or the login is refused.
pub fn connect(address: &str) -> Result<Box<dyn Database>, DatabaseError> {
    let parsed = Address::parse(address)?;
    let read_only = match &parsed {
        Address::SqliteMemory => return open(address),
        Address::SqliteFile(path) => return Ok(Box::new(SqliteDatabase::open_to_read(path)?)),
        Address::Postgres(_) => "SET default_transaction_read_only = on",
        Address::MariaDb(_) => "SET SESSION TRANSACTION READ ONLY",
    };
    let mut database = open(address)?;
    database.execute_required(read_only)?;
    Ok(database)
}

/// Opens a connection for reading and writing, whoever the database belongs to.
pub(crate) fn open(address: &str) -> Result<Box<dyn Database>, DatabaseError> {
    Ok(match Address::parse(address)? {
        Address::SqliteMemory => Box::new(SqliteDatabase::in_memory()?),
        Address::SqliteFile(path) => Box::new(SqliteDatabase::open(&path)?),
        Address::Postgres(url) => Box::new(PostgresDatabase::connect(&url)?),
        Address::MariaDb(url) => Box::new(MariaDbDatabase::connect(&url)?),
    })
}

/// An address with `***` in place of its password, fit for messages.
pub fn mask_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (before_query, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest, None),
    };
    // A password may hold '/', '@' or ':' unescaped by mistake, so everything up to the last '@' counts.
    let mut mask_password = match before_query.rsplit_once('@') {
        Some((login, place)) => match login.split_once(':') {
            Some((user, _)) => format!("{scheme}://{user}:***@{place}"),
            None => format!("{scheme}://{login}@{place}"),
        },
        None => format!("{scheme}://{before_query}"),
    };
    if let Some(query) = query {
        // A '@' this far right can only mean an unescaped '?' within the password.
        if query.contains('@') {
            return format!(
                "{scheme}://***@{}",
                query.rsplit('@').next().unwrap_or_default()
            );
        }
        let parts: Vec<_> = query
            .split('&')
            .map(|part| match part.split_once('=') {
                Some((key, _)) if key.to_ascii_lowercase().contains("pass") => format!("{key}=***"),
                _ => part.to_owned(),
            })
            .collect();
        mask_password.push('?');
        mask_password.push_str(&parts.join("&"));
    }
    mask_password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (address, shown) in [
            (
                "postgres://me:secret@host:5432/db",
                "postgres://me:***@host:5432/db",
            ),
            ("mariadb://me:se@cret@host/db", "mariadb://me:***@host/db"),
            ("mysql://me@host/db", "mysql://me@host/db"),
            (
                "postgres://host/db?user=me&password=secret",
                "postgres://host/db?user=me&password=***",
            ),
            ("postgres://me:sec?ret@host/db", "postgres://***@host/db"),
            ("sqlite:a@b.db", "sqlite:a@b.db"),
        ] {
            assert_eq!(mask_password(address), shown);
        }
    }

    #[test]
    fn addresses_are_told_apart_by_scheme() {
        assert_eq!(
            Address::parse("sqlite::memory:").unwrap(),
            Address::SqliteMemory
        );
        assert_eq!(
            Address::parse("sqlite:a/b.db").unwrap(),
            Address::SqliteFile("a/b.db".into())
        );
        assert_eq!(
            Address::parse("sqlite:///a/b.db").unwrap(),
            Address::SqliteFile("/a/b.db".into())
        );
        assert!(matches!(
            Address::parse("postgresql://h/d").unwrap(),
            Address::Postgres(_)
        ));
        assert!(matches!(
            Address::parse("mariadb://h/d").unwrap(),
            Address::MariaDb(_)
        ));
    }

    #[test]
    fn an_address_is_shown_without_and_given_with_its_password() {
        for text in [
            "sqlite::memory:",
            "sqlite:a/b.db",
            "postgres://me:secret@localhost:5433/shop",
            "mysql://me:secret@[::1]/shop",
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.with_password(), text);
            assert_eq!(address.to_string(), mask_password(text));
            assert!(address.is_local(), "{text}");
        }
        for text in [
            "postgres://me@db.example.org/shop",
            "mysql://me@192.0.2.1/shop",
        ] {
            assert!(!Address::parse(text).unwrap().is_local(), "{text}");
        }
    }

    #[test]
    fn a_wrong_address_is_an_error_that_hides_the_password() {
        for address in [
            "",
            "nothing",
            "sqlite:",
            "oracle://me:secret@h/d",
            "postgres:///d",
            "mysql://me:secret@h:x/d",
        ] {
            let error = Address::parse(address).unwrap_err();
            assert!(matches!(error, DatabaseError::Address { .. }), "{address}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
