//! The journal's format version, header and errors.

use crate::store::keyring::KeyError;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The format that we write. Newer formats are read as far as we understand them, and never written. Version 1 had no
/// seals; its runs are foreign until the user accepts them.
pub const FORMAT: u32 = 2;

#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub format: u32,
    #[serde(default)]
    pub made_by: String,
}

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    #[error("cannot use the journal \"{}\": {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    /// The beginning cannot be read.
    #[error("the journal \"{}\" is damaged at line {line}, so the run cannot be read; start it again", path.display())]
    Damaged {
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// A newer version of the plugin wrote it.
    #[error("the journal \"{}\" has format {format}, newer than {FORMAT}: update superpower.nvim to continue this run", path.display())]
    Newer { path: PathBuf, format: u32 },
    /// The journal cannot be sealed.
    #[error(transparent)]
    Key(#[from] KeyError),
}
