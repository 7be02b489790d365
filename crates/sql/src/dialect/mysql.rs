//! MySQL and MariaDB, in their default strict mode.

use super::{Dialect, DialectName};

/// MySQL and MariaDB, in their default strict mode.
#[derive(Clone, Copy, Debug)]
pub struct MySql;

impl Dialect for MySql {
    fn name(&self) -> DialectName {
        DialectName::MySql
    }

    fn counts_on_null(&self) -> bool {
        true
    }
}
