//! What is known of a file without reading it.

use rustix::fs::FileType;
use std::ffi::OsString;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link that was not followed.
    Link,
    /// A pipe, a device or a socket.
    Other,
}

/// What is known of a file without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub len: u64,
    /// When its contents changed last: seconds since the epoch, and nanoseconds.
    pub modified: (i64, i64),
    /// When it changed last in any way, which no program can set.
    pub changed: (i64, i64),
    /// Its device and inode, which tell it from another file.
    pub file: (u64, u64),
    /// Its permission bits.
    pub mode: u32,
}

/// What tells one state of a file from another, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its device and inode.
    file: (u64, u64),
    /// Its size in bytes.
    pub len: u64,
    modified: (i64, i64),
    /// When it changed last in any way: seconds since the epoch, and nanoseconds.
    pub changed: (i64, i64),
}

impl Stamp {
    /// Of a file that is open.
    pub fn of(file: &std::fs::File) -> std::io::Result<Self> {
        Ok(of(&rustix::fs::fstat(file)?).stamp())
    }
}

impl Meta {
    /// What tells this state of the file from another.
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
    /// Whether it is a folder; of a link, never.
    pub is_dir: bool,
    /// Whether it is a regular file; of a link, never.
    pub is_file: bool,
}

#[allow(clippy::unnecessary_cast, reason = "the fields' types differ from system to system")]
pub(super) fn of(stat: &rustix::fs::Stat) -> Meta {
    Meta {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        },
        len: stat.st_size as u64,
        modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        file: (stat.st_dev as u64, stat.st_ino as u64),
        mode: stat.st_mode as u32 & 0o7777,
    }
}
