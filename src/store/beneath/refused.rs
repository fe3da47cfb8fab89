//! Why an existing file is not opened, in messages that name it.

use crate::terminal::visible;
use rustix::fs::FileType;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an existing file is not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The path of one of our own files leads through this link.
    Link(PathBuf),
    /// A link on the way leads out of the base folder.
    Outside(PathBuf),
    /// It is no regular file.
    NotAFile(PathBuf, &'static str),
    /// Larger than this many bytes.
    TooLarge(PathBuf, u64),
    /// The folder has more entries than this.
    TooMany(PathBuf, usize),
    /// The path is not below the base folder.
    NotBelow(PathBuf),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(path) => {
                write!(
                    f,
                    "\"{}\" is a link; remove it: the plugin does not follow links to its own files",
                    shown(path)
                )
            }
            Self::Outside(path) => {
                write!(
                    f,
                    "\"{}\" leads out of the project through a link, which is not followed",
                    shown(path)
                )
            }
            Self::NotAFile(path, what) => {
                write!(f, "\"{}\" is a {what}, not a regular file; move it away", shown(path))
            }
            Self::TooLarge(path, max) => {
                write!(f, "\"{}\" is larger than {}", shown(path), bytes(*max))
            }
            Self::TooMany(path, max) => write!(f, "\"{}\" holds more than {max} files", shown(path)),
            Self::NotBelow(path) => write!(f, "\"{}\" is not below the project", shown(path)),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::other(refused)
    }
}

impl Refused {
    /// The refusal inside an I/O error, if it is one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }
}

/// The path as one line: whoever made the file chose its name.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

fn bytes(count: u64) -> String {
    if count >= 1 << 20 { format!("{} MiB", count >> 20) } else { format!("{count} bytes") }
}

/// The user-visible word for a kind of file.
pub(super) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "folder",
        FileType::Symlink => "link",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        _ => "device",
    }
}
