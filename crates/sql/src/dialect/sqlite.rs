//! SQLite: keys that admit NULL, row ids, affinity.

use super::{Dialect, DialectName};

/// SQLite: keys that admit NULL, row ids, affinity.
#[derive(Clone, Copy, Debug)]
pub struct Sqlite;

impl Dialect for Sqlite {
    fn name(&self) -> DialectName {
        DialectName::Sqlite
    }
}
