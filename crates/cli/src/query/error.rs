//! Why a run over queries ends early.

use crate::exit::Exit;
use crate::input::InputError;
use crate::output::OutputError;
use crate::terminal::Terminal;

/// Why a run ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryRunError {
    /// A flag has a value that means nothing, or an input has nothing to work on.
    #[error("{0}")]
    Flag(String),
    /// A path cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No database to work with.
    #[error(transparent)]
    Server(#[from] isobath_exec::server::ServerError),
    /// The database went away.
    #[error(transparent)]
    Database(#[from] isobath_exec::DatabaseError),
    /// Files cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl QueryRunError {
    /// Says what went wrong and returns the exit code for it.
    pub(crate) fn tell(&self, terminal: &Terminal) -> Exit {
        terminal.complain(&format!("error: {self}"));
        match self {
            Self::Flag(_) | Self::Input(_) | Self::Output(_) => Exit::Usage,
            Self::Server(_) | Self::Database(_) => Exit::Unreachable,
        }
    }
}
