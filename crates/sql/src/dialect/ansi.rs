//! Standard SQL: the defaults of the trait, which are PostgreSQL's way where the standard is open.

use super::{Dialect, DialectName};

/// Standard SQL: the defaults of the trait.
#[derive(Clone, Copy, Debug)]
pub struct Ansi;

impl Dialect for Ansi {
    fn name(&self) -> DialectName {
        DialectName::Ansi
    }
}
