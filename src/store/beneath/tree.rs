//! Operations on whole folders: listing and recursive removal.

use super::resolve::at;
use super::{Entry, Meta, Refused, meta};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Entries of one folder that are listed.
pub const ENTRIES: usize = 100_000;

/// Nesting limit for recursive removal.
const DEPTH: usize = 256;

/// The entries of an open folder, sorted by name.
pub(super) fn list(dir: OwnedFd, path: &Path) -> io::Result<Vec<Entry>> {
    let names = names(dir, ENTRIES + 1)?;
    if names.len() > ENTRIES {
        return Err(Refused::TooMany(path.to_owned(), ENTRIES).into());
    }
    let mut entries: Vec<Entry> = names.into_iter().map(entry).collect();
    entries.sort_unstable();
    Ok(entries)
}

/// The first entries of an open folder, unsorted.
pub(super) fn some(dir: OwnedFd, most: usize) -> io::Result<Vec<Entry>> {
    Ok(names(dir, most)?.into_iter().map(entry).collect())
}

/// The first entries of an open folder with their metadata. An entry that disappears meanwhile is left out.
pub(super) fn metas(dir: OwnedFd, most: usize) -> io::Result<Vec<(OsString, Meta)>> {
    let mut entries = Dir::new(dir)?;
    let names = read(&mut entries, most)?;
    let dir = entries.fd()?;
    let meta = |name: &OsString| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    Ok(names.into_iter().filter_map(|(name, _)| meta(&name).map(|stat| (name, meta::of(&stat)))).collect())
}

fn entry((name, kind): (OsString, FileType)) -> Entry {
    Entry {
        name,
        is_link: kind == FileType::Symlink,
        is_dir: kind == FileType::Directory,
        is_file: kind == FileType::RegularFile,
    }
}

/// Removes the entry `name` of a folder, recursively.
pub(super) fn remove(dir: &OwnedFd, name: &OsStr, depth: usize) -> io::Result<()> {
    match at(dir, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
            return Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?);
        }
        Err(errno) => return Err(errno.into()),
        Ok(_) if depth == DEPTH => return Err(io::Error::other("folders are nested too deep to be removed")),
        Ok(inner) => {
            for (name, kind) in names(inner.try_clone()?, usize::MAX)? {
                if kind == FileType::Directory {
                    remove(&inner, &name, depth + 1)?;
                } else {
                    rustix::fs::unlinkat(&inner, &name, AtFlags::empty())?;
                }
            }
        }
    }
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

fn names(dir: OwnedFd, most: usize) -> io::Result<Vec<(OsString, FileType)>> {
    read(&mut Dir::new(dir)?, most)
}

fn read(entries: &mut Dir, most: usize) -> io::Result<Vec<(OsString, FileType)>> {
    let mut names = Vec::new();
    let mut unknown = Vec::new();
    while names.len() < most
        && let Some(entry) = entries.read()
    {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if entry.file_type() == FileType::Unknown {
            unknown.push(names.len());
        }
        names.push((OsString::from_vec(name.to_vec()), entry.file_type()));
    }
    // Some file systems do not report the kind of an entry in the listing.
    for at in unknown {
        let (name, kind) = &mut names[at];
        if let Ok(stat) = rustix::fs::statat(entries.fd()?, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            *kind = FileType::from_raw_mode(stat.st_mode);
        }
    }
    Ok(names)
}
