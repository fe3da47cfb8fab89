//! Collects the files that an answer covers, within limits, and reads each only when it has changed.

use super::settings;
use super::tools::is_left_out;
use crate::project::digest::Digest;
use crate::store::beneath::{self, Door, Kind, Refused, Stamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Limit of files and folders per answer.
const MAX_FILES: usize = 2_000;
/// Limit of bytes per answer.
const MAX_BYTES: u64 = 64 << 20;
/// Limit of nested folders.
const MAX_DEPTH: usize = 64;
/// A file that changed this recently may change again without changing its times.
const UNSETTLED: Duration = Duration::from_secs(2);

/// There is more than a user could review.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{folder}\" has more than 2,000 files or 64 MiB that agents would read or run, which is too much to review; \
     move what they do not need out of it"
)]
pub struct TooMuch {
    /// Relative to the project.
    pub folder: String,
}

/// A file that an answer covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Covered {
    /// SHA-256 of the part of it that counts.
    pub(super) digest: String,
    /// Who uses it: an agent, a skill, a harness, or everyone.
    #[serde(rename = "for")]
    pub(super) groups: BTreeSet<String>,
}

/// By path, relative to the project or starting with `~`.
pub(super) type Files = BTreeMap<String, Covered>;

/// Digests of files that were read before, each with the stamp for which it is valid.
#[derive(Debug, Default)]
pub struct Cache(BTreeMap<PathBuf, (Stamp, String)>);

pub(super) fn digest(bytes: &[u8]) -> String {
    of(b"file", bytes)
}

fn of(kind: &[u8], bytes: &[u8]) -> String {
    let mut digest = Digest::default();
    digest.put(kind, bytes);
    digest.hex()
}

/// Collects files.
pub(super) struct Collector<'a> {
    root: &'a Path,
    cache: &'a mut Cache,
    files: Files,
    seen: BTreeSet<(PathBuf, String)>,
    count: usize,
    bytes: u64,
}

/// A file or folder that is collected, with everything below it.
struct Top<'a> {
    door: &'a Door,
    /// The prefix of its paths in messages.
    shown: &'a Path,
    group: &'a str,
    name: String,
    /// Whether it is one of the user's own files, outside of the project.
    users: bool,
}

impl Top<'_> {
    /// Whether a path is ignored. A `.git` in the project is not: its files can be run like any other, and we cannot
    /// know who put them there. The user's own skills are clones that the user made, and git changes the files in
    /// their `.git` by itself.
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

    /// Collects a file or folder of the project.
    pub(super) fn take(&mut self, path: &Path, group: &str) -> Result<(), TooMuch> {
        let door = Door::people(self.root);
        let name = path.display().to_string();
        self.top(&Top { door: &door, shown: Path::new(""), group, name, users: false }, path)
    }

    /// Collects an agent's file or a skill's whole folder, wherever it was found.
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

    /// Collects what is at a path, if anything.
    fn any(&mut self, top: &Top, path: &Path, above: &mut Vec<(u64, u64)>) -> Result<(), TooMuch> {
        if top.leaves_out(path) {
            return Ok(());
        }
        // The folder of a skill outside of the project is the door's own base.
        let meta = if path.as_os_str().is_empty() { None } else { Some(top.door.stat(path)) };
        match meta.transpose() {
            Err(error) if is_missing(&error) => Ok(()),
            Err(error) => self.refused(top, path, &error),
            Ok(None) => self.folder(top, path, above),
            Ok(Some(meta)) => match meta.kind {
                Kind::Dir if above.contains(&meta.file) => Ok(()),
                Kind::Dir if above.len() >= MAX_DEPTH => Err(TooMuch { folder: top.name.clone() }),
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
            None => match beneath::read_from(&file, path, MAX_BYTES) {
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

    /// A file that cannot be read is represented by its link's target, or by the reason of the refusal.
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

    /// Counts a file or folder, or the bytes of a file.
    fn count(&mut self, top: &Top, bytes: u64) -> Result<(), TooMuch> {
        self.count += usize::from(bytes == 0);
        self.bytes += bytes;
        let fits = self.count <= MAX_FILES && self.bytes <= MAX_BYTES;
        if fits { Ok(()) } else { Err(TooMuch { folder: top.name.clone() }) }
    }
}

/// Converts a path to text without mapping two paths to the same text.
fn unique(path: &Path) -> String {
    let text = path.to_str().map(str::to_owned);
    text.unwrap_or_else(|| format!("{path:?}"))
}

/// Shortens a path in the home directory to `~/…`.
fn shown(dir: &Path) -> PathBuf {
    let home = super::super::root::home();
    let inner = home.as_deref().and_then(|home| dir.strip_prefix(home).ok());
    inner.map_or_else(|| dir.to_owned(), |inner| Path::new("~").join(inner))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a file has been unchanged for long enough that a later change will show in its times.
fn is_settled(stamp: &Stamp) -> bool {
    let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(stamp.changed.0).unwrap_or(0));
    SystemTime::now().duration_since(changed).is_ok_and(|age| age > UNSETTLED)
}
