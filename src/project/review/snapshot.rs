//! Brings our index up to date with the files, and writes it as a tree.

use super::{Review, ReviewError, TreeId};
use crate::project::branch;
use crate::store::beneath::Door;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More new files than this are no work of an agent's.
const FILES: usize = 100_000;
/// Larger files are told apart by size and time, and not kept.
const LARGE: u64 = 8 * 1024 * 1024;
/// Repositories inside repositories inside repositories.
const NESTED: usize = 4;

/// A path as git prints it.
pub(super) fn os(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl Review {
    pub(super) fn take(&self) -> Result<TreeId, ReviewError> {
        // Left by a killed one: whoever holds our lock is alone.
        let _ = self.door.remove_file(Path::new("index.lock"));
        // Its status says that files differ, which is no fault.
        let _ = self.git.run(&["update-index", "-q", "--refresh"], b"");
        let mut names = BTreeSet::new();
        self.list(&mut names)?;
        let feed = Feed::sort(self, &names)?;
        if !feed.info.is_empty() {
            self.git.run(&["update-index", "-z", "--index-info"], &feed.info)?;
        }
        if !feed.add.is_empty() {
            self.git.run(&["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], &feed.add)?;
        }
        self.write()
    }

    fn write(&self) -> Result<TreeId, ReviewError> {
        let prefix = format!("--prefix={}", self.prefix);
        let whole = self.prefix.is_empty();
        let args: &[&str] =
            if whole { &["write-tree", "--missing-ok"] } else { &["write-tree", "--missing-ok", &prefix] };
        let written = match self.git.run(args, b"") {
            Err(ReviewError::Git { message, .. }) if message.contains("prefix") => {
                self.git.run(&["mktree"], b"")?
            }
            other => other?,
        };
        let id = String::from_utf8_lossy(&written).trim().to_owned();
        let odd = || ReviewError::Git {
            verb: "write-tree".to_owned(),
            message: format!("unexpected answer \"{id}\""),
        };
        TreeId::parse(&id).ok_or_else(odd)
    }

    /// Names, from the top of the work tree, of everything below the project that is new, different or gone.
    fn list(&self, names: &mut BTreeSet<Vec<u8>>) -> Result<(), ReviewError> {
        let scope = if self.prefix.is_empty() { "." } else { self.prefix.as_str() };
        let kinds = ["--others", "--modified", "--deleted", "--exclude-standard", "--", scope];
        let listed = self.git.run(&[&["--literal-pathspecs", "ls-files", "-z"], &kinds[..]].concat(), b"")?;
        self.gather(&listed, b"", 0, names)
    }

    fn gather(
        &self,
        listed: &[u8],
        within: &[u8],
        depth: usize,
        names: &mut BTreeSet<Vec<u8>>,
    ) -> Result<(), ReviewError> {
        for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let path = [within, name].concat();
            if name.ends_with(b"/") {
                self.look_into(&path, depth, names)?;
            } else if !self.is_own_bytes(&path) {
                names.insert(path);
            }
            if names.len() > FILES {
                return Err(ReviewError::TooMany(FILES));
            }
        }
        Ok(())
    }

    /// A nested repository, which git itself would not look into.
    fn look_into(&self, path: &[u8], depth: usize, names: &mut BTreeSet<Vec<u8>>) -> Result<(), ReviewError> {
        let folder = self.git.top().join(os(path));
        let nested = branch::repository(&folder)
            .filter(|nested| nested.top.as_path() == folder.components().as_path());
        let real = |path: &Path| path.canonicalize().ok();
        let common = branch::repository(self.git.top()).and_then(|outer| real(&outer.common));
        // Another work tree of the same repository is another place to work in, and none of this project's files.
        let other_tree = nested.is_some_and(|nested| common.is_some() && real(&nested.common) == common);
        if depth >= NESTED || other_tree || self.is_own_bytes(path) {
            return Ok(());
        }
        let listed = self.git.run_within(&folder, &["ls-files", "-z", "--others", "--exclude-standard"])?;
        self.gather(&listed, path, depth + 1, names)
    }

    fn is_own_bytes(&self, path: &[u8]) -> bool {
        let inner = path.strip_prefix(self.prefix.as_bytes()).unwrap_or(path);
        self.own.iter().any(|own| inner.starts_with(own.as_bytes()))
    }
}

/// What git is told.
struct Feed {
    /// Names to read.
    add: Vec<u8>,
    /// Entries to set without reading: what is gone, and what is too large.
    info: Vec<u8>,
    /// How many digits an object's id has.
    id_length: usize,
}

impl Feed {
    fn sort(review: &Review, names: &BTreeSet<Vec<u8>>) -> Result<Self, ReviewError> {
        let mut feed = Self { add: Vec::new(), info: Vec::new(), id_length: review.id_length() };
        let project = Door::ours(review.git.top());
        for name in names {
            let path = review.git.top().join(os(name));
            match path.symlink_metadata() {
                _ if behind_a_link(review.git.top(), &path) => feed.gone(name),
                Ok(meta) if meta.is_file() && meta.len() > LARGE => {
                    let told = format!("large file\0{} {} {}", meta.len(), meta.mtime(), meta.mtime_nsec());
                    let id = review.git.run(&["hash-object", "-w", "--stdin"], told.as_bytes())?;
                    feed.set("100644", String::from_utf8_lossy(&id).trim(), name);
                }
                Ok(meta) if meta.is_symlink() => feed.read(name),
                // What cannot be read keeps the state that was last seen.
                Ok(meta) if meta.is_file() && project.open(os(name)).is_ok() => feed.read(name),
                Ok(meta) if meta.is_file() => {}
                Ok(_) => feed.gone(name),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(_) => feed.gone(name),
            }
        }
        Ok(feed)
    }

    fn read(&mut self, name: &[u8]) {
        self.add.extend_from_slice(name);
        self.add.push(0);
    }

    fn gone(&mut self, name: &[u8]) {
        self.set("0", &"0".repeat(self.id_length), name);
    }

    fn set(&mut self, mode: &str, id: &str, name: &[u8]) {
        self.info.extend_from_slice(format!("{mode} {id}\t").as_bytes());
        self.info.extend_from_slice(name);
        self.info.push(0);
    }
}

/// Whether a folder above `path` was replaced by a symlink, so that what is found there is something else.
fn behind_a_link(top: &Path, path: &Path) -> bool {
    let above: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|dir| *dir != top).map(Path::to_path_buf).collect();
    above.iter().any(|dir| dir.symlink_metadata().is_ok_and(|meta| meta.is_symlink()))
}
