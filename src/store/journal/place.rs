//! Where a run's journal is, and how its seals are made and checked.

use super::format::JournalError;
use crate::store::beneath::Door;
use crate::store::keyring::{KeyError, Keyring, Newest};
use crate::store::rundir::RunDir;
use crate::store::seal::{Seal, Sealer};
use std::io;
use std::path::{Path, PathBuf};

/// Separates the journal's seals from those of other files.
const WHAT: &str = "journal";

/// A run's journal file, together with the keys that seal it.
#[derive(Clone, Debug)]
pub struct Place {
    pub(super) door: Door,
    pub(super) path: PathBuf,
    root: PathBuf,
    run_id: String,
    keys: Keyring,
}

impl Place {
    /// The run need not exist.
    pub fn new(dir: &RunDir, keys: &Keyring) -> Self {
        Self {
            door: dir.door(),
            path: dir.journal(),
            root: dir.root().to_owned(),
            run_id: dir.run_id().to_owned(),
            keys: keys.clone(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn sealer(&self) -> Option<Sealer> {
        self.keys.sealer(WHAT, &self.root, &self.run_id)
    }

    pub(super) fn make_sealer(&self) -> Result<Sealer, KeyError> {
        self.keys.make_sealer(WHAT, &self.root, &self.run_id)
    }

    pub(super) fn newest(&self) -> Option<Seal> {
        self.keys.newest(&self.root, &self.run_id)
    }

    pub(super) fn keep_newest(&self) -> Result<Newest, KeyError> {
        self.keys.keep_newest(&self.root, &self.run_id)
    }

    pub(super) fn seal_error(&self, error: io::Error) -> JournalError {
        self.keys.seal_error(error).into()
    }

    pub(super) fn io(&self) -> impl Fn(io::Error) -> JournalError {
        let path = self.path.clone();
        move |error| JournalError::Io { path: path.clone(), error }
    }
}
