//! Errors of a review: why changed files are not listed.

use super::cancel_token::Ended;
use crate::process::NotFound;
use crate::terminal::visible;
use std::io;
use std::path::{Path, PathBuf};
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
    /// It would wait forever.
    #[error(
        "changed files are not listed, because git waits for \"{}\", which is a pipe or a device; move it away, and \
         open the gate again", shown(.0)
    )]
    Waits(PathBuf),
    /// The comparison was cancelled.
    #[error("changed files are not listed, because nobody waited for them")]
    Unwanted,
    /// Our own files could not be read or written.
    #[error("changed files are not listed: {0}")]
    Io(#[from] io::Error),
}

impl ReviewError {
    /// From why a call of git was ended.
    pub(super) fn ended(ended: Ended, verb: &str) -> Self {
        match ended {
            Ended::Unwanted => Self::Unwanted,
            Ended::Late(limit) => Self::Late { verb: verb.to_owned(), limit },
            Ended::Waits(path) => Self::Waits(path),
        }
    }

    /// Whether nothing else can be told either: git was ended, and would be again.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Self::Unwanted | Self::Late { .. } | Self::Waits(_))
    }
}

/// Whoever brought the file chose its name.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}
