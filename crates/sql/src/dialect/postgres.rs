//! PostgreSQL.

use super::{Dialect, DialectName};

/// PostgreSQL.
#[derive(Clone, Copy, Debug)]
pub struct Postgres;

impl Dialect for Postgres {
    fn name(&self) -> DialectName {
        DialectName::Postgres
    }
}
