//! Takes a snapshot: updates our index from the files, and writes it as a tree.

use super::rule_names::{
    self, IGNORED, LEFT_OUT, MANY, REFUSED, STAMPS, UNREAD, WORK_TREE, is_rule, one_line,
};
use super::scan_scope::ScanScope;
use super::{Review, ReviewError, TreeId};
use crate::project::branch;
use crate::store::beneath::{Door, SMALL};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of new or changed files. An agent does not write more.
const FILES: usize = 100_000;
/// Files above this size, in bytes, are compared by size and time, and not stored.
const LARGE: u64 = 8 * 1024 * 1024;
/// Maximum depth of nested repositories.
const NESTED: usize = 8;

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The mode, size and times of a file.
fn stamp(path: &Path) -> String {
    let Ok(meta) = path.symlink_metadata() else { return String::new() };
    let (modified, changed) = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
    format!("{:o} {} {}.{} {}.{}", meta.mode(), meta.len(), modified.0, modified.1, changed.0, changed.1)
}

/// A path from git's output.
pub(super) fn os(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The files that a scan has found.
#[derive(Default)]
struct Found {
    /// Names of new, changed and deleted files of the project, from the top of the work tree.
    names: BTreeSet<Vec<u8>>,
    /// Names of ignored files.
    ignored: BTreeSet<Vec<u8>>,
    /// Directories that were not scanned, each with the reason.
    left_out: BTreeSet<String>,
    /// The nested repositories that were scanned.
    nested: Vec<PathBuf>,
}

impl Found {
    /// Adds the directories that git warns it cannot open; `within` is the prefix of their names.
    fn add_unreadable(&mut self, warnings: &[String], within: &str) {
        let folders = warnings.iter().filter_map(|line| {
            Some(line.strip_prefix("warning: could not open directory '")?.rsplit_once("': ")?.0)
        });
        self.left_out.extend(folders.map(|folder| format!("{UNREAD} {within}{}", one_line(folder))));
    }
}

impl Review {
    pub(super) fn take(&self, scope: ScanScope) -> Result<TreeId, ReviewError> {
        // A killed editor may have left it. Nobody else uses the index, because we hold our own lock.
        let _ = self.door.remove_file(Path::new("index.lock"));
        // An error status only means that files differ.
        match self.git.run(&["update-index", "-q", "--refresh"], b"") {
            Err(error) if error.is_end() => return Err(error),
            _ => {}
        }
        let mut found = Found::default();
        self.list(scope, &mut found)?;
        let feed = Feed::sort(self, &found.names)?;
        let inner = |name: &str| one_line(name.strip_prefix(self.prefix.as_str()).unwrap_or(name));
        found.left_out.extend(feed.unread.iter().map(|name| format!("{UNREAD} {}", inner(&lossy(name)))));
        if !feed.info.is_empty() {
            self.git.run(&["update-index", "-z", "--index-info"], &feed.info)?;
        }
        if !feed.add.is_empty() {
            let add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
            let (_, warnings) = self.git.run_with_warnings(&add, &feed.add)?;
            let refused = warnings.iter().filter_map(|line| line.strip_prefix("Ignoring path "));
            found.left_out.extend(refused.map(|name| format!("{REFUSED} {}", inner(name))));
        }
        // Files that are listed are not counted as ignored too.
        found.ignored.retain(|name| !found.names.contains(name));
        let mut rules = self.rules();
        for repository in &found.nested {
            self.nested_rules(&mut rules, repository);
        }
        let (mut names, mut stamps) = (String::new(), String::new());
        for name in &found.ignored {
            let line = inner(&lossy(name)) + "\n";
            stamps.push_str(&stamp(&self.git.top().join(os(name))));
            stamps.push('\t');
            stamps.push_str(&line);
            names.push_str(&line);
        }
        rules.insert(IGNORED.to_owned(), names.into_bytes());
        rules.insert(STAMPS.to_owned(), stamps.into_bytes());
        if scope == ScanScope::TooManyIgnored {
            found.left_out.insert(MANY.to_owned());
        }
        let left_out = found.left_out.iter().map(|line| format!("{line}\n")).collect::<String>();
        rules.insert(LEFT_OUT.to_owned(), left_out.into_bytes());
        self.put_rules(&rules)?;
        self.write()
    }

    fn write(&self) -> Result<TreeId, ReviewError> {
        let prefix = format!("--prefix={}", self.prefix);
        let whole = self.prefix.is_empty();
        let args: &[&str] =
            if whole { &["write-tree", "--missing-ok"] } else { &["write-tree", "--missing-ok", &prefix] };
        // Write every tree to our own store, because the user's repository may lose its objects.
        let written = match self.git.run_on_trees(args, b"") {
            Err(ReviewError::Git { message, .. }) if message.contains("prefix") => {
                self.git.run_on_trees(&["mktree"], b"")?
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

    fn list(&self, scope: ScanScope, found: &mut Found) -> Result<(), ReviewError> {
        let mut warnings = Vec::new();
        let folder = if self.prefix.is_empty() { "." } else { self.prefix.as_str() };
        let mut run = |kinds: &[&str]| {
            let args = [&["--literal-pathspecs", "ls-files", "-z"], kinds, &["--", folder]].concat();
            let (listed, said) = self.git.run_with_warnings(&args, b"")?;
            warnings.extend(said);
            Ok::<_, ReviewError>(listed)
        };
        let kinds = ["--others", "--modified", "--deleted", "--exclude-standard"];
        let listed = run(if scope == ScanScope::All { &kinds[..3] } else { &kinds })?;
        let mut ignored = run(&["--others", "--ignored", "--exclude-standard"])?;
        if ignored.iter().filter(|byte| **byte == 0).count() > FILES {
            // List directories as one entry then.
            ignored = run(&["--others", "--ignored", "--exclude-standard", "--directory"])?;
        }
        let inner = warnings.iter().map(|line| line.replacen(&format!("'{}", self.prefix), "'", 1));
        found.add_unreadable(&inner.collect::<Vec<_>>(), "");
        self.gather(&listed, b"", 0, scope, found)?;
        self.add_ignored(&ignored, b"", found)
    }

    fn gather(
        &self,
        listed: &[u8],
        within: &[u8],
        depth: usize,
        scope: ScanScope,
        found: &mut Found,
    ) -> Result<(), ReviewError> {
        for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let path = [within, name].concat();
            if self.is_for_rules(&path, found) {
                continue;
            }
            if name.ends_with(b"/") {
                self.scan_nested(&path, depth, scope, found)?;
            } else if !self.is_own_bytes(&path) {
                found.names.insert(path);
            }
            if found.names.len() > FILES {
                return Err(ReviewError::TooMany(FILES));
            }
        }
        Ok(())
    }

    /// Adds ignored files, which are only counted. Rules among them that still have an effect, for example one that ignores
    /// itself, are listed like changed files.
    fn add_ignored(&self, ignored: &[u8], within: &[u8], found: &mut Found) -> Result<(), ReviewError> {
        let names = ignored.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| [within, name].concat()).filter(|path| !self.is_own_bytes(path));
        let names: Vec<Vec<u8>> = names.filter(|path| !self.is_for_rules(path, found)).collect();
        let folder = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/').map(|at| path[..at].to_vec());
        let rules: Vec<&Vec<u8>> = names.iter().filter(|path| is_rule(&lossy(path))).collect();
        if !rules.is_empty() {
            let folders: BTreeSet<Vec<u8>> = rules.iter().filter_map(|path| folder(path)).collect();
            let asked =
                folders.into_iter().flat_map(|folder| [folder, vec![0]].concat()).collect::<Vec<u8>>();
            // `check-ignore` exits with 1 if it ignores none of them.
            let output =
                self.git.run_ignoring_status(&["check-ignore", "-z", "--no-index", "--stdin"], &asked)?;
            let out: BTreeSet<&[u8]> = output.split(|byte| *byte == 0).collect();
            let obeyed =
                |path: &&&Vec<u8>| folder(path).is_none_or(|folder| !out.contains(folder.as_slice()));
            found.names.extend(rules.iter().filter(obeyed).map(|path| (*path).clone()));
        }
        found.ignored.extend(names);
        Ok(())
    }

    /// Scans a nested repository, which git itself does not.
    fn scan_nested(
        &self,
        path: &[u8],
        depth: usize,
        scope: ScanScope,
        found: &mut Found,
    ) -> Result<(), ReviewError> {
        if self.is_own_bytes(path) {
            return Ok(());
        }
        let folder = self.git.top().join(os(path));
        let name = lossy(path.strip_prefix(self.prefix.as_bytes()).unwrap_or(path));
        let name = one_line(name.trim_end_matches('/'));
        if self.is_other_tree(&folder) {
            found.left_out.insert(format!("{WORK_TREE} {name}"));
            return Ok(());
        }
        if depth >= NESTED {
            found.left_out.insert(format!("{} {name}", rule_names::NESTED));
            return Ok(());
        }
        let kinds = ["ls-files", "-z", "--others", "--exclude-standard"];
        let kinds = if scope == ScanScope::All { &kinds[..3] } else { &kinds };
        let (listed, warnings) = self.git.run_within(&folder, kinds)?;
        found.add_unreadable(&warnings, &format!("{name}/"));
        found.nested.push(folder.clone());
        self.gather(&listed, path, depth + 1, scope, found)?;
        let ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        let (ignored, _) = self.git.run_within(&folder, &ignored)?;
        self.add_ignored(&ignored, path, found)
    }

    /// Whether a directory is another work tree of the same repository, whose files are not this project's. The repository
    /// must have registered it, because anybody can write a file called `.git`.
    fn is_other_tree(&self, folder: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let nested =
            branch::repository(folder).filter(|nested| nested.top.as_path() == folder.components().as_path());
        let (Some(nested), Some(outer)) = (nested, branch::repository(self.git.top())) else { return false };
        let (Some(dir), Some(common)) = (real(&nested.dir), real(&outer.common)) else { return false };
        let registered = Door::home(&dir).read_text(Path::new("gitdir"), SMALL);
        let registered = registered.ok().and_then(|text| real(&dir.join(text.trim())));
        dir.parent() == Some(common.join("worktrees").as_path()) && registered == real(&folder.join(".git"))
    }

    /// Whether the path is reserved for rules in our index. An existing file there is counted as refused.
    fn is_for_rules(&self, path: &[u8], found: &mut Found) -> bool {
        let inner = lossy(path.strip_prefix(self.prefix.as_bytes()).unwrap_or(path));
        if !inner.starts_with(rule_names::FOLDER.trim_end_matches('/')) {
            return false;
        }
        if self.git.top().join(os(path)).symlink_metadata().is_ok() {
            found.left_out.insert(format!("{REFUSED} {}", one_line(&inner)));
        }
        true
    }

    fn is_own_bytes(&self, path: &[u8]) -> bool {
        let inner = path.strip_prefix(self.prefix.as_bytes()).unwrap_or(path);
        self.own.has(&lossy(inner))
    }
}

/// Input for `git update-index`.
struct Feed {
    /// Names of files to read.
    add: Vec<u8>,
    /// Entries to set without reading: deleted files, and files that are too large.
    info: Vec<u8>,
    /// Files that keep their last known state, because they cannot be read.
    unread: Vec<Vec<u8>>,
    /// The number of digits of an object's id.
    id_length: usize,
}

impl Feed {
    fn sort(review: &Review, names: &BTreeSet<Vec<u8>>) -> Result<Self, ReviewError> {
        let mut feed =
            Self { add: Vec::new(), info: Vec::new(), unread: Vec::new(), id_length: review.id_length() };
        let project = Door::ours(review.git.top());
        for name in names {
            let path = review.git.top().join(os(name));
            match path.symlink_metadata() {
                _ if behind_a_link(review.git.top(), &path) => feed.gone(name),
                Ok(meta) if meta.is_file() && meta.len() > LARGE => {
                    let stamp = format!(
                        "large file\0{} {} {} {} {}",
                        meta.len(),
                        meta.mtime(),
                        meta.mtime_nsec(),
                        meta.ctime(),
                        meta.ctime_nsec()
                    );
                    let id = review.git.run(&["hash-object", "-w", "--stdin"], stamp.as_bytes())?;
                    feed.set("100644", String::from_utf8_lossy(&id).trim(), name);
                }
                Ok(meta) if meta.is_symlink() => feed.read(name),
                // A file that cannot be read keeps its last known state.
                Ok(meta) if meta.is_file() && project.open(os(name)).is_ok() => feed.read(name),
                Ok(meta) if meta.is_file() => feed.unread.push(name.clone()),
                Ok(_) => feed.gone(name),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    feed.unread.push(name.clone())
                }
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

/// Whether a directory above `path` was replaced by a symlink, so that `path` is not the same file any more.
fn behind_a_link(top: &Path, path: &Path) -> bool {
    let above: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|dir| *dir != top).map(Path::to_path_buf).collect();
    above.iter().any(|dir| dir.symlink_metadata().is_ok_and(|meta| meta.is_symlink()))
}
