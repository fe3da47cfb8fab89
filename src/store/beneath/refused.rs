//! Why a file that is there is not opened, in words that name it.

use rustix::fs::FileType;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file that is there is not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is reached through this link, and is one of ours.
    Link(PathBuf),
    /// A link on its way leads out of the folder.
    Outside(PathBuf),
    /// It is no regular file.
    NotAFile(PathBuf, &'static str),
    /// It holds more bytes than this.
    TooLarge(PathBuf, u64),
    /// The folder holds more entries than this.
    TooMany(PathBuf, usize),
    /// The path does not lie below the folder at all.
    NotBelow(PathBuf),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(path) => {
                write!(
                    f,
                    "\"{}\" is a link; remove it: files of the plugin's own are not reached through links",
                    path.display()
                )
            }
            Self::Outside(path) => {
                write!(
                    f,
                    "\"{}\" leads out of the project through a link, which is not followed",
                    path.display()
                )
            }
            Self::NotAFile(path, what) => {
                write!(f, "\"{}\" is a {what}, not a regular file; move it away", path.display())
            }
            Self::TooLarge(path, max) => {
                write!(f, "\"{}\" is larger than {}", path.display(), bytes(*max))
            }
            Self::TooMany(path, max) => write!(f, "\"{}\" holds more than {max} files", path.display()),
            Self::NotBelow(path) => write!(f, "\"{}\" is not below the project", path.display()),
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
    /// The refusal in an error of this module, where it is one and not an error of the disk.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }
}

fn bytes(count: u64) -> String {
    if count >= 1 << 20 { format!("{} MiB", count >> 20) } else { format!("{count} bytes") }
}

/// What people call a kind of file.
pub(super) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "folder",
        FileType::Symlink => "link",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        _ => "device",
    }
}
