//! Why a run cannot be read.

use crate::store::journal::JournalError;
use crate::store::names::NotARunId;
use thiserror::Error;

/// Why a run cannot be read.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It is called as no run can be.
    #[error(transparent)]
    Name(#[from] NotARunId),
    /// There is no such run.
    #[error("there is no run \"{0}\"")]
    Missing(String),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The declaration that it kept.
    #[error("the declaration \"{name}\" that the run kept cannot be used: {why}")]
    Declaration {
        /// The copy's name.
        name: String,
        /// Why.
        why: String,
    },
}
