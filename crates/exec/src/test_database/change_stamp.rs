//! A cheap check whether anything was written since the last read.

use isobath_sql::{DialectName, Value};

use crate::database::{Database, DatabaseError};

/// What a database says about its age: two equal stamps mean that nobody else wrote in between.
///
/// Different ones mean no more than that somebody may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ChangeStamp(Vec<Vec<Value>>);

impl ChangeStamp {
    pub(super) fn read(database: &mut dyn Database) -> Result<Self, DatabaseError> {
        if let Some(writes) = database.write_count()? {
            return Ok(Self(vec![vec![Value::Int(writes.into())]]));
        }
        let sql = match database.dialect() {
            // Changes when another connection commits.
            DialectName::Sqlite => "PRAGMA data_version",
            // Which transactions have a number, as those do that write, and which of them are open.
            DialectName::Postgres => "SELECT txid_current_snapshot()::text",
            // Rows written by all sessions together; commits are counted for what was written before.
            DialectName::MySql | DialectName::Ansi => {
                "SHOW GLOBAL STATUS WHERE Variable_name IN \
                 ('Handler_write', 'Handler_update', 'Handler_delete', 'Handler_commit')"
            }
        };
        Ok(Self(database.query_required(sql)?.rows))
    }
}
