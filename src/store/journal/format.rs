//! The format of a journal, and why one cannot be used.

use crate::store::keyring::KeyError;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The version that is written. Newer ones are read as far as they are understood, and never written; version 1 had no
/// seals, and its runs are foreign until a human's yes.
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
    /// The disk.
    #[error("cannot use the journal \"{}\": {error}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Not even its beginning can be read.
    #[error("the journal \"{}\" is damaged at line {line}, so the run cannot be read; start it anew", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// Written by a newer version of the plugin.
    #[error("the journal \"{}\" has format {format}, newer than {FORMAT}: update superpower.nvim to go on with this run", path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
    /// It cannot be sealed.
    #[error(transparent)]
    Key(#[from] KeyError),
}
