//! Why changed files are not listed.

use crate::process::NotFound;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why changes cannot be told. The text is a note for the gate.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The program is missing.
    #[error("changed files are not listed, because the program \"git\" was not found{0}; install git")]
    NoGit(NotFound),
    /// There is no home for our state.
    #[error("changed files are not listed, because there is no home directory; set $HOME or $XDG_STATE_HOME")]
    NoState,
    /// Our state cannot be written.
    #[error(
        "changed files are not listed, because the state directory \"{}\" cannot be written: {error}; see to its \
         permissions", dir.display()
    )]
    State {
        /// Where it is.
        dir: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A tree that was to be compared with is not kept, or not any more.
    #[error(
        "changed files are not listed, because what the files were at the last approval is not kept any more"
    )]
    Gone,
    /// A file's text was the user's repository's, and is gone with it.
    #[error(
        "what this file was at the last approval is not kept any more: the repository that held it has lost it"
    )]
    TextGone,
    /// It said no.
    #[error("changed files are not listed, because \"git {verb}\" failed: {message}")]
    Git {
        /// Its sub-command.
        verb: String,
        /// The first line that it wrote to standard error.
        message: String,
    },
    /// The project is no place for this.
    #[error(
        "changed files are not listed, because the project holds more than {0} files that git does not track"
    )]
    TooMany(usize),
    /// Another editor has been looking at the files all the time.
    #[error("changed files are not listed, because another editor is busy with them")]
    Busy,
    /// It did not end.
    #[error(
        "changed files are not listed, because \"git {verb}\" took longer than {} s; see what it waits for, and open \
         the gate again", .limit.as_secs()
    )]
    Late {
        /// Its sub-command.
        verb: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// Whoever wanted to know does so no more.
    #[error("changed files are not listed, because nobody waited for them")]
    Unwanted,
    /// Our own files could not be written.
    #[error("changed files are not listed: {0}")]
    Io(#[from] io::Error),
}
