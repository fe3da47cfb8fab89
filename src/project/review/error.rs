//! Errors of a review: why changed files are not listed.

use crate::process::NotFound;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no list. The gate shows the text as a note.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// `git` is missing.
    #[error("changed files are not listed, because the program \"git\" was not found{0}; install git")]
    NoGit(NotFound),
    /// There is no directory for our state.
    #[error("changed files are not listed, because there is no home directory; set $HOME or $XDG_STATE_HOME")]
    NoState,
    /// Our state directory cannot be written.
    #[error(
        "changed files are not listed, because the state directory \"{}\" cannot be written: {error}; see to its \
         permissions", dir.display()
    )]
    State { dir: PathBuf, error: io::Error },
    /// The tree to compare with is not stored.
    #[error(
        "changed files are not listed, because what the files were at the last approval is not kept any more"
    )]
    Gone,
    /// A file's text was only in the user's repository, which no longer has it.
    #[error(
        "what this file was at the last approval is not kept any more: the repository that held it has lost it"
    )]
    TextGone,
    /// A call of git failed.
    #[error("changed files are not listed, because \"git {verb}\" failed: {message}")]
    Git {
        /// The sub-command.
        verb: String,
        /// The first line that it wrote to standard error.
        message: String,
    },
    /// There are too many untracked files.
    #[error(
        "changed files are not listed, because the project holds more than {0} files that git does not track"
    )]
    TooMany(usize),
    /// Another editor was taking a snapshot all the time.
    #[error("changed files are not listed, because another editor is busy with them")]
    Busy,
    /// A call of git reached the time limit.
    #[error(
        "changed files are not listed, because \"git {verb}\" took longer than {} s; see what it waits for, and open \
         the gate again", .limit.as_secs()
    )]
    Late {
        /// The sub-command.
        verb: String,
        limit: Duration,
    },
    /// The comparison was cancelled.
    #[error("changed files are not listed, because nobody waited for them")]
    Unwanted,
    /// Our own files could not be read or written.
    #[error("changed files are not listed: {0}")]
    Io(#[from] io::Error),
}
