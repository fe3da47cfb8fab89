//! Metadata of a file: its kind, size, times and identity.

use rustix::fs::FileType;
use std::ffi::OsString;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Dir,
    /// A symbolic link that was not followed.
    Link,
    /// A socket, which cannot be opened as a file.
    Socket,
    /// A pipe or a device, and opening it may take for ever.
    Other,
}

/// Metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// When its contents last changed: seconds since the epoch, and nanoseconds.
    pub modified: (i64, i64),
    /// When it last changed in any way (`ctime`), which no program can set.
    pub changed: (i64, i64),
    /// Device and inode, which identify the file.
    pub file: (u64, u64),
    pub mode: u32,
}

/// Two equal stamps mean that the file was not changed in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode.
    file: (u64, u64),
    /// In bytes.
    pub len: u64,
    modified: (i64, i64),
    /// When it last changed in any way (`ctime`): seconds since the epoch, and nanoseconds.
    pub changed: (i64, i64),
}

impl Stamp {
    /// The metadata of an open file.
    pub fn of(file: &std::fs::File) -> std::io::Result<Self> {
        Ok(of(&rustix::fs::fstat(file)?).stamp())
    }
}

impl Meta {
    /// The stamp of this state of the file.
    pub const fn stamp(&self) -> Stamp {
        Stamp { file: self.file, len: self.len, modified: self.modified, changed: self.changed }
    }
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name in the folder.
    pub name: OsString,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Whether it is a folder; false for a link to one.
    pub is_dir: bool,
    /// Whether it is a regular file; false for a link to one.
    pub is_file: bool,
}

#[allow(clippy::unnecessary_cast, reason = "the fields' types differ from system to system")]
pub(super) fn of(stat: &rustix::fs::Stat) -> Meta {
    Meta {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Link,
            FileType::Socket => Kind::Socket,
            _ => Kind::Other,
        },
        len: stat.st_size as u64,
        modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        file: (stat.st_dev as u64, stat.st_ino as u64),
        mode: stat.st_mode as u32 & 0o7777,
    }
}
