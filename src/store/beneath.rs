//! The one door to files: everything below the project root and in our state folders is opened here.
//!
//! A repository is not a friend. What lies in a project may be a link to a file of the user's, a pipe that never
//! answers, a device without an end, or a file of a hundred gigabytes. So a file is opened by its way down from a
//! folder that is known, without leaving it; it must be a regular file; and no more of it is read than the caller
//! says. What is refused is an error that names the file.
//!
//! [`Links`] says which links are followed on the way. Nothing is ever written, made, renamed or deleted through one.

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

/// Bytes of a small file of ours or of the user's: settings, a summary, an agent, a story.
pub const SMALL: u64 = 16 << 20;
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Where a path really is, every link resolved: for comparing paths. Nothing is opened, and what it gives is no
/// permission to open it in another way than through a door.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

impl Door {
    /// Opens a regular file for reading. Its size is for the caller to bound; [`Door::read`] does.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        pass(Op::Read, path)?;
        self.file(path, OFlags::RDONLY)
    }

    /// Reads a regular file of at most `max` bytes.
    pub fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        pass(Op::Read, path)?;
        let (file, size) = self.sized(path, OFlags::RDONLY)?;
        read_sized(&file, size, path, max)
    }

    /// The same as text, a byte-order mark dropped. What is no text is `InvalidData`.
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

    /// Reads at most `most` bytes of a regular file from a place in it, counted from its end where negative. Gives them
    /// with the place where they really begin and the size of the file.
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

    /// Opens a regular file for writing that is there already.
    pub fn open_to_write(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::WRONLY)
    }

    /// Opens a regular file for reading and writing, and makes it where it is missing.
    pub fn open_or_create(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::RDWR | OFlags::CREATE)
    }

    /// Opens a regular file to add to its end, and makes it where it is missing.
    pub fn append(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND)
    }

    /// Opens a folder, to lock it.
    pub fn open_dir(&self, path: &Path) -> io::Result<File> {
        self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).map(File::from)
    }

    /// Makes a file that must not be there yet.
    pub fn create_new(&self, path: &Path) -> io::Result<File> {
        pass(Op::Write, path)?;
        self.file(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    /// Replaces a file by `bytes`, whole or not at all: written beside, then renamed over. Without a flush, for what
    /// can be made again.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.put(path, bytes, false)
    }

    /// The same, flushed to the disk before it takes its place.
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

    /// Renames, over what is there.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(Op::Rename, to)?;
        let ((from_dir, from), (to_dir, to)) = (self.parent(from)?, self.parent(to)?);
        Ok(rustix::fs::renameat(from_dir, from, to_dir, to)?)
    }

    /// Renames where nothing is there yet, else fails with `AlreadyExists`.
    pub fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(Op::Rename, to)?;
        let ((from_dir, from), (to_dir, to)) = (self.parent(from)?, self.parent(to)?);
        Ok(rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE)?)
    }

    /// Gives a file a second name. A link is never followed.
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

    /// Removes a folder with all that is in it. What links in it lead to stays.
    pub fn remove_tree(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        tree::remove(&dir, name, 0)
    }

    /// Makes a folder whose parent is there.
    pub fn create_dir(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        Ok(rustix::fs::mkdirat(dir, name, self.mode(true))?)
    }

    /// Makes a folder and those above it, down from the door's own.
    pub fn create_dirs(&self, path: &Path) -> io::Result<()> {
        if self.private && !self.base.is_dir() {
            use std::os::unix::fs::DirBuilderExt;
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.base)?;
        }
        let inner = self.inner(path)?.to_owned();
        if inner.as_os_str().is_empty() {
            return self.dir(&inner).map(drop);
        }
        // Most often the folder above is there.
        let mut missing = vec![inner.as_path()];
        while let Some(folder) = missing.pop() {
            match self.create_dir(folder) {
                Ok(()) => {}
                // A file or a link may stand in its place.
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

    /// What a path leads to. Links are followed as the door says; one that is not followed is itself what is there.
    pub fn stat(&self, path: &Path) -> io::Result<Meta> {
        pass(Op::Read, path)?;
        if self.links == Links::None {
            return self.lstat(path);
        }
        self.resolve(path)
    }

    /// What stands at a path, a link being what it is.
    pub fn lstat(&self, path: &Path) -> io::Result<Meta> {
        #[cfg(target_os = "linux")]
        if let Some(meta) = self.without_links_to(path)? {
            return Ok(meta);
        }
        let (dir, name) = self.parent(path)?;
        Ok(meta::of(&rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// The stamp of what a path leads to; none where there is nothing.
    pub fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.stat(path).ok().map(|meta| meta.stamp())
    }

    /// Whether there is a regular file that may be opened.
    pub fn is_file(&self, path: &Path) -> bool {
        self.stat(path).is_ok_and(|meta| meta.kind == Kind::File)
    }

    /// Whether there is a folder that may be opened.
    pub fn is_dir(&self, path: &Path) -> bool {
        self.stat(path).is_ok_and(|meta| meta.kind == Kind::Dir)
    }

    /// Where a link points, as it is written.
    pub fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let (dir, name) = self.parent(path)?;
        let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The entries of a folder, sorted by name; at most [`ENTRIES`].
    pub fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        pass(Op::Read, path)?;
        let dir = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        tree::list(dir, path)
    }

    /// The first `most` entries of a folder with what is known of each, links not followed; in no order.
    pub fn metas(&self, path: &Path, most: usize) -> io::Result<Vec<(OsString, Meta)>> {
        pass(Op::Read, path)?;
        let dir = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        tree::metas(dir, most)
    }

    /// The first `most` entries of a folder, in no order.
    pub fn some(&self, path: &Path, most: usize) -> io::Result<Vec<Entry>> {
        pass(Op::Read, path)?;
        let dir = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty())?;
        tree::some(dir, most)
    }

    /// Opens a regular file. Other kinds are opened without waiting for anybody, looked at, and refused.
    fn file(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        self.sized(path, flags).map(|(file, _)| file)
    }

    /// The same with its size.
    fn sized(&self, path: &Path, flags: OFlags) -> io::Result<(File, u64)> {
        // The kernel refuses a mode for what is not made.
        let mode = if flags.contains(OFlags::CREATE) { self.mode(false) } else { Mode::empty() };
        let opened = self.descend(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY, mode);
        let opened = opened.map_err(|error| match Errno::from_io_error(&error) {
            // A pipe that nobody reads, a socket; a folder that was to be written.
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

    /// The folder that holds `path`, and its name there.
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

    /// A path as seen from the door's folder.
    fn inner<'a>(&self, path: &'a Path) -> io::Result<&'a Path> {
        let inner = match path.strip_prefix(&self.base) {
            Ok(inner) => inner,
            Err(_) if path.is_relative() => path,
            Err(_) => return Err(Refused::NotBelow(path.to_owned()).into()),
        };
        // What we name ourselves never goes up.
        if self.links == Links::None && inner.components().any(|part| part == Component::ParentDir) {
            return Err(Refused::NotBelow(path.to_owned()).into());
        }
        asked(&self.base, inner);
        Ok(inner)
    }
}

/// Reads an open regular file to its end, but no more than `max` bytes: also one whose size is told wrong.
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
