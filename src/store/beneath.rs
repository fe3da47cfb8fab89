//! The only way to open files: every file below the project root and in our state folders is opened here.
//!
//! A repository is untrusted. A path in a project may be a link to one of the user's own files, a pipe that never
//! delivers data, an endless device, or a file of a hundred gigabytes. So we open each file by descending from a
//! known folder without leaving it, require a regular file, and limit how many bytes are read. A refusal is an error
//! that names the file.
//!
//! [`Links`] says which links are followed on the way. We never write, create, rename or delete through a link.

mod door;
mod meta;
mod refused;
mod resolve;
mod tree;

pub use door::{Door, Links};
pub use meta::{Entry, Kind, Meta, Stamp};
pub use refused::Refused;
pub use resolve::set_walking;
pub use tree::ENTRIES;

use super::disk::{Op, asked, pass};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Size limit of a small file (settings, a summary, an agent, a story), in bytes.
pub const SMALL: u64 = 16 << 20;
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// The path with every link resolved, for comparing paths. It opens nothing, and the result must still be opened
/// through a door.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

impl Door {
    /// Opens a regular file for reading. The caller limits its size, as [`Door::read`] does.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        pass(Op::Read, path)?;
        self.file(path, OFlags::RDONLY)
    }

    /// Reads a regular file of at most `max` bytes.
    pub fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        pass(Op::Read, path)?;
        let (file, size) = self.file_and_size(path, OFlags::RDONLY)?;
        read_sized(&file, size, path, max)
    }

    /// Reads a regular file as text, without its byte-order mark. Fails with `InvalidData` if it is not UTF-8.
    pub fn read_text(&self, path: &Path, max: u64) -> io::Result<String> {
        let text = String::from_utf8(self.read(path, max)?)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    /// Reads the first `most` bytes of a regular file of any size.
    pub fn read_head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads at most `most` bytes of a regular file, starting at `from` (counted from the end if negative). Returns
    /// the bytes, the offset where they really begin, and the size of the file.
    pub fn read_part(&self, path: &Path, from: i64, most: u64) -> io::Result<(Vec<u8>, u64, u64)> {
        let mut file = self.open(path)?;
        let size = file.metadata()?.len();
        let counted = from.unsigned_abs();
        let from = if from < 0 { size.saturating_sub(counted) } else { counted.min(size) };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, from, size))
    }

    /// Opens an existing regular file for writing.
    pub fn open_to_write(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::WRONLY)
    }

    /// Opens a regular file for reading and writing, and creates it if it is missing.
    pub fn open_or_create(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::RDWR | OFlags::CREATE)
    }

    /// Opens a regular file for appending, and creates it if it is missing.
    pub fn append(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND)
    }

    /// Opens a folder, to lock it.
    pub fn open_dir(&self, path: &Path) -> io::Result<File> {
        self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).map(File::from)
    }

    /// Creates a file; fails if it exists.
    pub fn create_new(&self, path: &Path) -> io::Result<File> {
        pass(Op::Write, path)?;
        self.file(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    /// Replaces a file atomically: writes a temporary file beside it and renames that over it. Does not flush, so use
    /// it for files that can be rebuilt.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.put(path, bytes, false)
    }

    /// Like [`Door::replace`], but flushes to the disk before the rename.
    pub fn replace_flushed(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.put(path, bytes, true)
    }

    fn put(&self, path: &Path, bytes: &[u8], flush: bool) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        let beside = beside(name);
        let written = (|| {
            pass(Op::Write, path)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            let mut file = File::from(resolve::at(&dir, &beside, flags, self.mode(false))?);
            file.write_all(bytes)?;
            if flush {
                pass(Op::Flush, path)?;
                file.sync_all()?;
            }
            pass(Op::Rename, path)?;
            Ok(rustix::fs::renameat(&dir, &beside, &dir, name)?)
        })();
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&dir, &beside, AtFlags::empty());
        }
        written
    }

    /// Renames a file, replacing the target.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(Op::Rename, to)?;
        let ((from_dir, from), (to_dir, to)) = (self.parent(from)?, self.parent(to)?);
        Ok(rustix::fs::renameat(from_dir, from, to_dir, to)?)
    }

    /// Renames a file; fails with `AlreadyExists` if the target exists.
    pub fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(Op::Rename, to)?;
        let ((from_dir, from), (to_dir, to)) = (self.parent(from)?, self.parent(to)?);
        Ok(rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE)?)
    }

    /// Creates a hard link. Symbolic links are never followed.
    pub fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(Op::Write, to)?;
        let ((from_dir, from), (to_dir, to)) = (self.parent(from)?, self.parent(to)?);
        Ok(rustix::fs::linkat(from_dir, from, to_dir, to, AtFlags::empty())?)
    }

    /// Removes a file or a link.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    pub fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder and everything in it. The targets of links in it are not touched.
    pub fn remove_tree(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        tree::remove(&dir, name, 0)
    }

    /// Creates a folder whose parent exists.
    pub fn create_dir(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        Ok(rustix::fs::mkdirat(dir, name, self.mode(true))?)
    }

    /// Creates a folder and its missing parents, starting at the door's base.
    pub fn create_dirs(&self, path: &Path) -> io::Result<()> {
        if self.private && !self.base.is_dir() {
            use std::os::unix::fs::DirBuilderExt;
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.base)?;
        }
        let inner = self.inner(path)?.to_owned();
        if inner.as_os_str().is_empty() {
            return self.dir(&inner).map(drop);
        }
        // Try the folder first: its parent usually exists.
        let mut missing = vec![inner.as_path()];
        while let Some(folder) = missing.pop() {
            match self.create_dir(folder) {
                Ok(()) => {}
                // A file or a link may have this name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.dir(folder).map(drop)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).ok_or(error)?;
                    missing.extend([folder, above]);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Metadata of what a path leads to, following links as the door allows. A link that is not followed describes
    /// itself.
    pub fn stat(&self, path: &Path) -> io::Result<Meta> {
        pass(Op::Read, path)?;
        if self.links == Links::None {
            return self.lstat(path);
        }
        self.resolve(path)
    }

    /// Metadata of what is at a path, without following a link at its end.
    pub fn lstat(&self, path: &Path) -> io::Result<Meta> {
        #[cfg(target_os = "linux")]
        if let Some(meta) = self.without_links_to(path)? {
            return Ok(meta);
        }
        let (dir, name) = self.parent(path)?;
        Ok(meta::of(&rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// The stamp of what a path leads to; `None` if there is nothing.
    pub fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.stat(path).ok().map(|meta| meta.stamp())
    }

    /// Whether the path is a regular file that may be opened.
    pub fn is_file(&self, path: &Path) -> bool {
        self.stat(path).is_ok_and(|meta| meta.kind == Kind::File)
    }

    /// Whether the path is a folder that may be opened.
    pub fn is_dir(&self, path: &Path) -> bool {
        self.stat(path).is_ok_and(|meta| meta.kind == Kind::Dir)
    }

    /// The target of a link, as written.
    pub fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let (dir, name) = self.parent(path)?;
        let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The entries of a folder, sorted by name. Fails if there are more than [`ENTRIES`].
    pub fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        pass(Op::Read, path)?;
        let dir = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        tree::list(dir, path)
    }

    /// The first `most` entries of a folder with their metadata, unsorted. Links are not followed.
    pub fn metas(&self, path: &Path, most: usize) -> io::Result<Vec<(OsString, Meta)>> {
        pass(Op::Read, path)?;
        let dir = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        tree::metas(dir, most)
    }

    /// The first `most` entries of a folder, unsorted.
    pub fn some(&self, path: &Path, most: usize) -> io::Result<Vec<Entry>> {
        pass(Op::Read, path)?;
        let dir = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        tree::some(dir, most)
    }

    /// Opens a regular file. `NONBLOCK` keeps the open of a pipe or device from waiting before we refuse it.
    fn file(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        self.file_and_size(path, flags).map(|(file, _)| file)
    }

    /// Opens a regular file and returns its size too.
    fn file_and_size(&self, path: &Path, flags: OFlags) -> io::Result<(File, u64)> {
        // The kernel rejects a mode without `CREATE`.
        let mode = if flags.contains(OFlags::CREATE) { self.mode(false) } else { Mode::empty() };
        let opened = self.descend(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY, mode);
        let opened = opened.map_err(|error| match Errno::from_io_error(&error) {
            // A pipe without a reader or a socket; below, a folder opened for writing.
            Some(Errno::NXIO | Errno::OPNOTSUPP) => {
                Refused::NotAFile(path.to_owned(), "pipe or a socket").into()
            }
            Some(Errno::ISDIR) => Refused::NotAFile(path.to_owned(), "folder").into(),
            _ => error,
        })?;
        let there = rustix::fs::fstat(&opened)?;
        match FileType::from_raw_mode(there.st_mode) {
            FileType::RegularFile => Ok((File::from(opened), meta::of(&there).len)),
            other => Err(Refused::NotAFile(path.to_owned(), refused::word(other)).into()),
        }
    }

    /// Opens the folder that holds `path`, and returns the last component.
    fn parent<'a>(&self, path: &'a Path) -> io::Result<(OwnedFd, &'a OsStr)> {
        let inner = self.inner(path)?;
        let name = inner.file_name().ok_or_else(|| Refused::NotBelow(path.to_owned()))?;
        Ok((self.dir(inner.parent().unwrap_or(Path::new("")))?, name))
    }

    fn mode(&self, dir: bool) -> Mode {
        Mode::from_raw_mode(match (self.private, dir) {
            (true, true) => 0o700,
            (true, false) => 0o600,
            (false, true) => 0o777,
            (false, false) => 0o666,
        })
    }

    /// The path relative to the door's base.
    fn inner<'a>(&self, path: &'a Path) -> io::Result<&'a Path> {
        let inner = match path.strip_prefix(&self.base) {
            Ok(inner) => inner,
            Err(_) if path.is_relative() => path,
            Err(_) => return Err(Refused::NotBelow(path.to_owned()).into()),
        };
        // Paths that we build ourselves never contain `..`.
        if self.links == Links::None && inner.components().any(|part| part == Component::ParentDir) {
            return Err(Refused::NotBelow(path.to_owned()).into());
        }
        asked(&self.base, inner);
        Ok(inner)
    }
}

/// Reads an open regular file to its end, but at most `max` bytes, because the reported size may be wrong.
pub fn read_from(file: &File, path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read_sized(file, file.metadata()?.len(), path, max)
}

fn read_sized(file: &File, size: u64, path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let too_large = || Refused::TooLarge(path.to_owned(), max);
    if size > max {
        return Err(too_large().into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max { Err(too_large().into()) } else { Ok(bytes) }
}

fn beside(name: &OsStr) -> OsString {
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let mut beside = OsString::from(".");
    beside.push(OsStr::from_bytes(&name.as_bytes()[..name.len().min(200)]));
    beside.push(format!(".{}.{serial}.new", std::process::id()));
    beside
}
