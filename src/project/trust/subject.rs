//! What an answer is about.

use super::covered::Files;
use super::sheet::Sheet;
use std::path::PathBuf;

/// What will be driven, and everything that an answer covers, read once.
#[derive(Clone, Debug)]
pub struct Subject {
    pub sheet: Sheet,
    /// SHA-256 over the declaration and the files, in hexadecimal.
    pub digest: String,
    pub(super) root: PathBuf,
    pub(super) path: PathBuf,
    /// The digest of the declaration alone.
    pub(super) declaration: String,
    pub(super) files: Files,
}
