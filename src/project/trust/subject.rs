//! What an answer is about.

use super::covered::Files;
use super::sheet::Sheet;
use std::path::PathBuf;

/// What is going to be driven, with everything that an answer covers, read once.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What to show.
    pub sheet: Sheet,
    /// SHA-256 over the declaration and the files, in hexadecimal.
    pub digest: String,
    pub(super) root: PathBuf,
    pub(super) path: PathBuf,
    /// The declaration's own digest.
    pub(super) declaration: String,
    pub(super) files: Files,
}
