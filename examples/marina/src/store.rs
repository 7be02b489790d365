//! The tables, and what is in them when the service starts.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

const TABLES: &str = include_str!("../schema.sql");

const ROWS: &str = "
    INSERT INTO users VALUES (1, 'master', 'anchor', 'master'), (2, 'ada', 'sextant', 'skipper'), (3, 'ben', 'compass', 'skipper');
    INSERT INTO berths (pier, number, length, power) VALUES ('A', 1, 900, 1), ('A', 2, 1200, 1), ('B', 1, 600, 0);
";

/// Takes all rows away, children first, and starts counting anew.
const EMPTY: &str = "
    DELETE FROM invoices; DELETE FROM bookings; DELETE FROM notices; DELETE FROM boats; DELETE FROM berths; DELETE FROM users;
    DELETE FROM sqlite_sequence;
";

/// A database in memory, or in a file that others may look into; a file that is there keeps its rows.
pub(crate) fn open(file: Option<&Path>) -> rusqlite::Result<Connection> {
    let db = match file {
        Some(file) => Connection::open(file)?,
        None => Connection::open_in_memory()?,
    };
    db.busy_timeout(Duration::from_secs(5))?;
    db.pragma_update(None, "foreign_keys", true)?;
    if file.is_some() {
        db.pragma_update(None, "journal_mode", "wal")?;
    }
    let is_new = db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
        row.get(0)
    })?;
    if is_new {
        db.execute_batch(TABLES)?;
        db.execute_batch(ROWS)?;
    }
    Ok(db)
}

/// Brings the first rows back.
pub(crate) fn reset(db: &mut Connection) -> rusqlite::Result<()> {
    let change = db.transaction()?;
    change.execute_batch(EMPTY)?;
    change.execute_batch(ROWS)?;
    change.commit()
}
