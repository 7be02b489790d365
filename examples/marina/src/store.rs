//! The tables, and what is in them when the service starts.

use rusqlite::Connection;

const TABLES: &str = include_str!("../schema.sql");

const ROWS: &str = "
    INSERT INTO users VALUES (1, 'master', 'anchor', 'master'), (2, 'ada', 'sextant', 'skipper'), (3, 'ben', 'compass', 'skipper');
    INSERT INTO berths (pier, number, length, power) VALUES ('A', 1, 900, 1), ('A', 2, 1200, 1), ('B', 1, 600, 0);
";

/// A fresh database in memory.
pub(crate) fn open() -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.execute_batch(TABLES)?;
    db.execute_batch(ROWS)?;
    Ok(db)
}
