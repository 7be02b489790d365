//! Three-valued evaluation of expressions over a row, with distances.

use isobath_distance::Truth;

use crate::dialect::Dialect;
use crate::expr::Expr;
use crate::value::Value;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Stop {
    /// We do not know what the database would say.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The database raises an error here.
    #[error(transparent)]
    Raises(#[from] Raised),
}

/// Something outside what we evaluate; counted and reported, never guessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("unsupported: {what}")]
pub struct Unsupported {
    /// The construct, quoted.
    pub what: String,
}

/// A run-time error of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Raised {
    /// SQLSTATE 22012.
    #[error("division by zero")]
    DivisionByZero,
    /// SQLSTATE 22003.
    #[error("number out of range")]
    OutOfRange,
    /// SQLSTATE 22P02, 22007: text that is no value of the type.
    #[error("invalid text for the type")]
    InvalidText,
    /// Any other, such as a negative length.
    #[error("invalid argument")]
    InvalidArgument,
}

/// The value of an expression on a row.
///
/// # Errors
///
/// When we do not know the answer, or when the database itself raises an error.
pub fn value(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Value, Stop> {
    let _ = (row, dialect);
    Err(Unsupported {
        what: format!("{expr:?}"),
    }
    .into())
}

/// The verdict of a condition on a row, with its distances.
///
/// # Errors
///
/// As for [`value`].
pub fn truth(expr: &Expr, row: &[Value], dialect: &dyn Dialect) -> Result<Truth, Stop> {
    let _ = (row, dialect);
    Err(Unsupported {
        what: format!("{expr:?}"),
    }
    .into())
}

/// Whether two index keys, computed from the same expressions, are the same to the database.
pub fn same_keys(a: &[Value], b: &[Value], keys: &[Expr], dialect: &dyn Dialect) -> bool {
    let _ = (keys, dialect);
    a == b
}

/// Whether an expression draws the next number of a sequence.
pub fn is_next_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Function { name, .. } if name == "nextval")
}
