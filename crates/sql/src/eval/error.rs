//! Why an expression has no value.

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum EvalError {
    /// We do not know what the database would say.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The database raises an error here.
    #[error(transparent)]
    Raised(#[from] RaisedError),
}

/// Something outside what we evaluate; counted and reported, never guessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("unsupported: {what}")]
pub struct Unsupported {
    /// The construct, quoted.
    pub what: String,
    /// The name of the function, when a call to an unknown function is the reason.
    pub function: Option<String>,
}

impl Unsupported {
    /// An unsupported construct other than a function call.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            function: None,
        }
    }
}

/// A run-time error of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum RaisedError {
    /// SQLSTATE 22012.
    #[error("division by zero")]
    DivisionByZero,
    /// SQLSTATE 22003.
    #[error("number out of range")]
    OutOfRange,
    /// SQLSTATE 22P02, 22007: text that is no value of the type.
    #[error("invalid text for the type")]
    InvalidText,
    /// SQLSTATE 42883, 42804: no such operator or function for these types.
    #[error("no operator or function for these types")]
    TypeMismatch,
    /// Any other, such as a negative length.
    #[error("invalid argument")]
    InvalidArgument,
}

impl EvalError {
    /// Something that we do not evaluate.
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(Unsupported::new(what))
    }

    /// A function that we do not evaluate.
    pub(crate) fn unsupported_function(name: &str) -> Self {
        Self::Unsupported(Unsupported {
            what: format!("the function {name}"),
            function: Some(name.to_owned()),
        })
    }
}

/// Shorthand for an error that the database raises.
pub(crate) fn raise<T>(raised: RaisedError) -> Result<T, EvalError> {
    Err(EvalError::Raised(raised))
}

/// Shorthand for something that we do not evaluate.
pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T, EvalError> {
    Err(EvalError::unsupported(what))
}
