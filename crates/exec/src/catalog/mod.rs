//! Reads the schema of a live database.
//!
//! Each database tells its definitions as SQL, or enough to write them again;
//! from there on they are read like a file, so that there is one loader.
//! Nothing here writes to the database.

mod mariadb;
mod postgres;
mod sqlite;

use isobath_sql::DialectName;
use isobath_sql::ddl::{self, LoadedSchema, Source};
use isobath_sql::limitation::{Limitation, Severity, SourceLocation};

use crate::database::{Database, DatabaseError, connect};

/// What a live database says about its tables.
#[derive(Clone, Debug)]
pub struct Definitions {
    /// The database's name.
    pub name: String,
    /// One text per type or table, in an order that works.
    pub sources: Vec<Source>,
    /// Triggers, which decide about rows and are not in the model.
    pub triggers: Vec<Limitation>,
    /// Whatever else decides about rows and is not in the model.
    pub limitations: Vec<Limitation>,
}

/// Reads the schema of the database at an address, without writing to it.
///
/// # Errors
///
/// When the database cannot be reached or does not show its catalog.
pub fn read(address: &str) -> Result<LoadedSchema, DatabaseError> {
    let mut database = connect(address)?;
    let definitions = definitions(database.as_mut())?;
    let mut loaded = ddl::load(
        &definitions.name,
        &definitions.sources,
        Some(database.dialect()),
    );
    loaded.limitations.extend(definitions.triggers);
    loaded.limitations.extend(definitions.limitations);
    loaded.evidence = format!("read from {}", database.display_address());
    Ok(loaded)
}

/// Reads the definitions of all tables as SQL.
///
/// # Errors
///
/// When the connection is lost or the database does not show its catalog.
pub fn definitions(database: &mut dyn Database) -> Result<Definitions, DatabaseError> {
    if let Some(told) = database.known_definitions() {
        let sources = told.iter().enumerate();
        return Ok(Definitions {
            name: database.display_address().to_owned(),
            sources: sources
                .map(|(at, sql)| {
                    source(database, "definition", &at.to_string(), format!("{sql};\n"))
                })
                .collect(),
            triggers: Vec::new(),
            limitations: Vec::new(),
        });
    }
    match database.dialect() {
        DialectName::Sqlite => sqlite::definitions(database),
        DialectName::Postgres => postgres::definitions(database),
        DialectName::MySql | DialectName::Ansi => mariadb::definitions(database),
    }
}

/// A definition with a name for messages.
fn source(database: &dyn Database, what: &str, name: &str, text: String) -> Source {
    Source {
        name: format!("{what} {name} in {}", database.display_address()),
        text,
    }
}

/// A trigger.
fn trigger(database: &dyn Database, input: String) -> Limitation {
    unsupported(database, input, "a trigger may change or refuse rows")
}

/// Something that may refuse rows and that no definition of a table can say.
fn unsupported(database: &dyn Database, input: String, why: &str) -> Limitation {
    Limitation {
        severity: Severity::Unsupported,
        location: SourceLocation {
            source: database.display_address().to_owned(),
            line: 0,
            column: 0,
        },
        input,
        why: why.to_owned(),
    }
}
