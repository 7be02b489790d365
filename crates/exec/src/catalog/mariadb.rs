//! Reads table definitions with `SHOW CREATE TABLE` (MariaDB and MySQL).

use isobath_sql::Value;

use super::{Definitions, source, trigger};
use crate::database::{Database, DatabaseError};

pub(super) fn definitions(database: &mut dyn Database) -> Result<Definitions, DatabaseError> {
    let name = match database
        .query_required("SELECT DATABASE()")?
        .rows
        .first()
        .and_then(|row| row.first())
    {
        Some(Value::Text(name)) => name.clone(),
        _ => {
            return Err(DatabaseError::NoDatabase {
                place: database.display_address().to_owned(),
                why: "the address names none".to_owned(),
            });
        }
    };
    let tables = database.query_required(
        "SELECT TABLE_NAME FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME",
    )?;
    let mut sources = Vec::new();
    for table in tables.texts(0) {
        let quoted = table.replace('`', "``");
        let shown = database.query_required(&format!("SHOW CREATE TABLE `{quoted}`"))?;
        for sql in shown.texts(1) {
            sources.push(source(database, "table", table, format!("{sql};\n")));
        }
    }
    let triggers = database.query_required(
        "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS \
         WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY TRIGGER_NAME",
    )?;
    let triggers = triggers
        .texts(0)
        .zip(triggers.texts(1))
        .map(|(name, table)| trigger(database, format!("TRIGGER {name} ON {table}")))
        .collect();
    Ok(Definitions {
        name,
        sources,
        triggers,
        limitations: Vec::new(),
    })
}
