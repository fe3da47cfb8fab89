//! The files that an answer covers: found, bounded, and read no more often than they change.

use super::settings;
use super::tools::is_left_out;
use crate::project::digest::Digest;
use crate::store::beneath::{self, Door, Kind, Refused, Stamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Files that are read for one answer, and folders that are looked into.
const FILES: usize = 2_000;
/// Bytes that are read for one answer.
const BYTES: u64 = 64 << 20;
/// Folders inside folders.
const DEPTH: usize = 64;
/// A file that changed so recently may change again without a trace in its times.
const FRESH: Duration = Duration::from_secs(2);

/// More than anybody could agree to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{folder}\" brings more than 2,000 files or 64 MiB that agents would read or run, which is too much to agree to; \
     move what they do not need out of it"
)]
pub struct TooMuch {
    /// The folder, relative to the project.
    pub folder: String,
}

/// A file that an answer covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Covered {
    /// SHA-256 of what counts of it.
    pub(super) digest: String,
    /// Whom it is for: an agent, a skill, a harness, everybody.
    #[serde(rename = "for")]
    pub(super) groups: BTreeSet<String>,
}

/// By path: relative to the project, or from the home directory.
pub(super) type Files = BTreeMap<String, Covered>;

/// Digests of files that were read before, each with the stamp that it holds for.
#[derive(Debug, Default)]
pub struct Cache(BTreeMap<PathBuf, (Stamp, String)>);

/// The digest of a file's bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    of(b"file", bytes)
}

fn of(kind: &[u8], bytes: &[u8]) -> String {
    let mut digest = Digest::default();
    digest.put(kind, bytes);
    digest.hex()
}

/// Files in the making.
pub(super) struct Collector<'a> {
    root: &'a Path,
    cache: &'a mut Cache,
    files: Files,
    seen: BTreeSet<(PathBuf, String)>,
    count: usize,
    bytes: u64,
}

/// A file or a folder that is taken in, and all that is below it.
struct Top<'a> {
    door: &'a Door,
    /// What stands before its paths when they are shown.
    shown: &'a Path,
    group: &'a str,
    name: String,
    /// Whether it lies outside of the project, among the user's own.
    users: bool,
}

impl Top<'_> {
    /// Whether what stands at a path is not part of it. What lies in a `.git` of the project can be run like any other
    /// file, and nobody can tell who put it there. The user's own skills are clones that they made: what git keeps of
    /// these changes by itself.
    fn leaves_out(&self, path: &Path) -> bool {
        if self.users { path.ends_with(".git") } else { is_left_out(path) }
    }
}

impl<'a> Collector<'a> {
    pub(super) fn new(root: &'a Path, cache: &'a mut Cache) -> Self {
        Self { root, cache, files: Files::new(), seen: BTreeSet::new(), count: 0, bytes: 0 }
    }

    pub(super) fn finish(self) -> Files {
        self.files
    }

    /// A file or a folder of the project.
    pub(super) fn take(&mut self, path: &Path, group: &str) -> Result<(), TooMuch> {
        let door = Door::people(self.root);
        let name = path.display().to_string();
        self.top(&Top { door: &door, shown: Path::new(""), group, name, users: false }, path)
    }

    /// An agent's file, or the whole folder of a skill, wherever it was found.
    pub(super) fn named(&mut self, path: &Path, group: &str, folder: bool) -> Result<(), TooMuch> {
        if let Ok(inner) = path.strip_prefix(self.root) {
            return self.take(if folder { inner.parent().unwrap_or(inner) } else { inner }, group);
        }
        let (Some(dir), Some(file)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let shown = shown(dir);
        let door = Door::home(dir);
        let name = shown.display().to_string();
        let top = Top { door: &door, shown: &shown, group, name, users: true };
        self.top(&top, if folder { Path::new("") } else { Path::new(file) })
    }

    fn top(&mut self, top: &Top, path: &Path) -> Result<(), TooMuch> {
        if self.seen.insert((top.door.base().join(path), top.group.to_owned())) {
            self.any(top, path, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Takes in what stands at a path, if something does.
    fn any(&mut self, top: &Top, path: &Path, above: &mut Vec<(u64, u64)>) -> Result<(), TooMuch> {
        if top.leaves_out(path) {
            return Ok(());
        }
        // The folder of a skill outside of the project is the door's own.
        let meta = if path.as_os_str().is_empty() { None } else { Some(top.door.stat(path)) };
        match meta.transpose() {
            Err(error) if is_missing(&error) => Ok(()),
            Err(error) => self.refused(top, path, &error),
            Ok(None) => self.folder(top, path, above),
            Ok(Some(meta)) => match meta.kind {
                Kind::Dir if above.contains(&meta.file) => Ok(()),
                Kind::Dir if above.len() >= DEPTH => Err(TooMuch { folder: top.name.clone() }),
                Kind::Dir => {
                    above.push(meta.file);
                    let taken = self.folder(top, path, above);
                    above.pop();
                    taken
                }
                _ => self.file(top, path),
            },
        }
    }

    fn folder(&mut self, top: &Top, path: &Path, above: &mut Vec<(u64, u64)>) -> Result<(), TooMuch> {
        self.count(top, 0)?;
        match top.door.list(path) {
            Ok(entries) => entries.iter().try_for_each(|entry| self.any(top, &path.join(&entry.name), above)),
            Err(error) => self.refused(top, path, &error),
        }
    }

    fn file(&mut self, top: &Top, path: &Path) -> Result<(), TooMuch> {
        self.count(top, 0)?;
        let opened = top.door.open(path).and_then(|file| Ok((Stamp::of(&file)?, file)));
        let (stamp, file) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.refused(top, path, &error),
        };
        self.count(top, stamp.len)?;
        let whole = top.door.base().join(path);
        let known = self.cache.0.get(&whole).filter(|(then, _)| *then == stamp);
        let digest = match known {
            Some((_, digest)) => digest.clone(),
            None => match beneath::read_from(&file, path, BYTES) {
                Ok(bytes) if path == Path::new(settings::LOCAL) => digest(&settings::counting(&bytes)),
                Ok(bytes) => digest(&bytes),
                Err(error) if matches!(Refused::of(&error), Some(Refused::TooLarge(..))) => {
                    return Err(TooMuch { folder: top.name.clone() });
                }
                Err(error) => return self.refused(top, path, &error),
            },
        };
        if is_settled(&stamp) {
            self.cache.0.insert(whole, (stamp, digest.clone()));
        }
        if path == Path::new(settings::LOCAL) && digest == self::digest(b"") {
            return Ok(());
        }
        self.put(top, path, digest);
        Ok(())
    }

    /// What is there and cannot be read counts as what it is: where a link points, or why it is refused.
    fn refused(&mut self, top: &Top, path: &Path, error: &io::Error) -> Result<(), TooMuch> {
        if let Some(Refused::TooMany(..)) = Refused::of(error) {
            return Err(TooMuch { folder: top.name.clone() });
        }
        let digest = match top.door.read_link(path) {
            Ok(target) => of(b"link", target.as_os_str().as_encoded_bytes()),
            Err(_) => of(b"refused", error.kind().to_string().as_bytes()),
        };
        self.put(top, path, digest);
        Ok(())
    }

    fn put(&mut self, top: &Top, path: &Path, digest: String) {
        let shown = unique(&top.shown.join(path));
        let file = self.files.entry(shown).or_insert_with(|| Covered { digest, groups: BTreeSet::new() });
        file.groups.insert(top.group.to_owned());
    }

    /// Counts a file or a folder, or bytes of one.
    fn count(&mut self, top: &Top, bytes: u64) -> Result<(), TooMuch> {
        self.count += usize::from(bytes == 0);
        self.bytes += bytes;
        let fits = self.count <= FILES && self.bytes <= BYTES;
        if fits { Ok(()) } else { Err(TooMuch { folder: top.name.clone() }) }
    }
}

/// A path as text, from which no other path has the same.
fn unique(path: &Path) -> String {
    let text = path.to_str().map(str::to_owned);
    text.unwrap_or_else(|| format!("{path:?}"))
}

/// A folder of the user's as people write it.
fn shown(dir: &Path) -> PathBuf {
    let home = super::super::root::home();
    let inner = home.as_deref().and_then(|home| dir.strip_prefix(home).ok());
    inner.map_or_else(|| dir.to_owned(), |inner| Path::new("~").join(inner))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a file has been left alone for so long that a later change is seen in its times.
fn is_settled(stamp: &Stamp) -> bool {
    let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(stamp.changed.0).unwrap_or(0));
    SystemTime::now().duration_since(changed).is_ok_and(|age| age > FRESH)
}
