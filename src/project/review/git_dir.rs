//! Creates our git directory, with a copy of the user's index and the user's objects as alternates.

use super::git::{TREES, says_sha256};
use super::{Review, ReviewError};
use crate::project::branch::Repository;
use crate::store::beneath::{Door, SMALL};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Maximum size of a list in our git directory, in bytes.
pub(super) const LIST: u64 = 16 << 20;
/// Maximum size of an index to copy, in bytes.
const INDEX: u64 = 1 << 30;

impl Review {
    /// Creates our git directory if it is missing, and updates it if the user's repository was created, removed or moved.
    pub(super) fn make(&self) -> Result<(), ReviewError> {
        let repository = self.repository.as_ref();
        if !self.door.is_file(Path::new("HEAD")) {
            self.begin(repository.is_some_and(uses_sha256))?;
        }
        self.exclude(repository)?;
        self.write_attributes()?;
        let known = self.door.read_text(Path::new("seeded"), SMALL).ok();
        let objects = repository.filter(|it| uses_sha256(it) == (self.id_length() == 64)).and_then(borrowed);
        let now = format!("{}\n{}\n", self.git.top().display(), objects.as_deref().unwrap_or_default());
        self.write_alternates(objects.as_deref())?;
        if known.as_ref() != Some(&now) {
            let _ = self.door.remove_file(Path::new("index"));
            self.forget_rules();
            if let (Some(repository), Some(_)) = (repository, objects) {
                self.seed(repository);
            }
            self.door.replace(Path::new("seeded"), now.as_bytes())?;
        }
        Ok(())
    }

    /// Creates the index again, after git could not use it.
    pub(super) fn recreate_index(&self) -> Result<(), ReviewError> {
        self.door.remove_file(Path::new("seeded"))?;
        self.make()
    }

    /// Creates what git needs, for the user's kind of object ids, without settings or programs. `HEAD` is written last: if
    /// it exists, so does the rest.
    fn begin(&self, sha256: bool) -> io::Result<()> {
        for dir in ["objects/info", "refs", "info", TREES] {
            self.door.create_dirs(Path::new(dir))?;
        }
        let (version, extension) =
            if sha256 { (1, "[extensions]\n\tobjectformat = sha256\n") } else { (0, "") };
        let config = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{extension}");
        self.door.replace(Path::new("config"), config.as_bytes())?;
        self.door.replace(Path::new("HEAD"), b"ref: refs/heads/none\n")
    }

    /// The number of digits of an object's id.
    pub(super) fn id_length(&self) -> usize {
        let config = self.door.read_text(Path::new("config"), SMALL).unwrap_or_default();
        if says_sha256(&config) { 64 } else { 40 }
    }

    /// Writes the exclude rules: our own files, and those of the user's repository.
    fn exclude(&self, repository: Option<&Repository>) -> Result<(), ReviewError> {
        let users = repository.and_then(|repository| users(repository, "info/exclude"));
        let unversioned = ".hg/\n.jj/\n.svn/\n.venv/\n__pycache__/\nnode_modules/\n".to_owned();
        let mut lines = users.unwrap_or(if repository.is_none() { unversioned } else { String::new() });
        for own in self.own.patterns() {
            let escaped: String = format!("{}{own}", self.prefix)
                .chars()
                .flat_map(|c| "\\*?[ ".contains(c).then_some('\\').into_iter().chain([c]))
                .collect();
            lines.push_str(&format!("\n/{escaped}"));
        }
        lines.push('\n');
        let exclude = Path::new("info/exclude");
        if self.door.read(exclude, SMALL).is_ok_and(|there| there == lines.as_bytes()) {
            return Ok(());
        }
        Ok(self.door.replace(exclude, lines.as_bytes())?)
    }

    /// Turns off the attributes that give two different texts the same blob, except those about line ends.
    fn write_attributes(&self) -> io::Result<()> {
        let (attributes, plain) = (Path::new("info/attributes"), b"* -ident -working-tree-encoding\n");
        let there = self.door.read(attributes, SMALL).is_ok_and(|there| there == plain);
        if there { Ok(()) } else { self.door.replace(attributes, plain) }
    }

    /// Writes the alternates, the further places of objects: our trees, and the user's objects.
    fn write_alternates(&self, objects: Option<&str>) -> io::Result<()> {
        self.door.create_dirs(Path::new(TREES))?;
        let path = Path::new("objects/info/alternates");
        // The path is relative to our objects.
        let now = format!(
            "../{TREES}\n{}{}",
            objects.unwrap_or_default(),
            if objects.is_some() { "\n" } else { "" }
        );
        if self.door.read(path, SMALL).is_ok_and(|there| there == now.as_bytes()) {
            return Ok(());
        }
        self.door.replace(path, now.as_bytes())
    }

    fn seed(&self, repository: &Repository) {
        let copied = copy_index(&Door::home(&repository.dir), &self.door);
        // An empty index works too. It is only slower, because every file is read once.
        if copied.is_err() || self.clean_index().is_err() {
            let _ = self.door.remove_file(Path::new("index"));
        }
    }

    /// Removes from the copied index what would hide changes or prevent writing a tree: submodules, conflicts, and the
    /// flags `assume-unchanged` and `skip-worktree`.
    fn clean_index(&self) -> Result<(), ReviewError> {
        if !self.door.is_file(Path::new("index")) {
            return Ok(());
        }
        let listed = self.git.run(&["ls-files", "-z", "-s", "-v"], b"")?;
        let (mut remove, mut assumed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for entry in listed.split(|byte| *byte == 0) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (head, path) = (String::from_utf8_lossy(&entry[..tab]).into_owned(), &entry[tab + 1..]);
            let words: Vec<&str> = head.split(' ').collect();
            let [tag, mode, id, stage] = words[..] else { continue };
            if mode == "160000" || stage != "0" {
                remove.extend_from_slice(format!("0 {}\t", "0".repeat(id.len())).as_bytes());
                remove.extend_from_slice(path);
                remove.push(0);
                continue;
            }
            let there = || self.git.top().join(super::snapshot::os(path)).symlink_metadata().is_ok();
            if tag.eq_ignore_ascii_case("s") && there() {
                skipped.extend_from_slice(path);
                skipped.push(0);
            }
            if tag.chars().all(|c| c.is_ascii_lowercase()) {
                assumed.extend_from_slice(path);
                assumed.push(0);
            }
        }
        self.at_top(&["update-index", "-z", "--index-info"], &remove)?;
        self.at_top(&["update-index", "-z", "--no-assume-unchanged", "--stdin"], &assumed)?;
        self.at_top(&["update-index", "-z", "--no-skip-worktree", "--stdin"], &skipped)
    }

    fn at_top(&self, args: &[&str], input: &[u8]) -> Result<(), ReviewError> {
        if input.is_empty() { Ok(()) } else { self.git.run(args, input).map(drop) }
    }
}

/// Copies the user's index with its modification time, which git uses to detect stale entries.
fn copy_index(from: &Door, to: &Door) -> io::Result<()> {
    let index = Path::new("index");
    let Ok(meta) = from.stat(index) else { return Ok(()) };
    for entry in from.list(Path::new(""))? {
        if entry.name.as_encoded_bytes().starts_with(b"sharedindex.") {
            copy(from, to, Path::new(&entry.name))?;
        }
    }
    let copied = copy(from, to, index)?;
    let (seconds, nanoseconds) = meta.modified;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let second = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    let time = second.and_then(|time| time.checked_add(Duration::from_nanos(nanoseconds.unsigned_abs())));
    copied.set_modified(time.ok_or(io::ErrorKind::InvalidData)?)
}

fn copy(from: &Door, to: &Door, name: &Path) -> io::Result<File> {
    let source = from.open(name)?;
    let length = source.metadata()?.len();
    if length > INDEX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let _ = to.remove_file(name);
    let mut copy = to.create_new(name)?;
    io::copy(&mut source.take(length), &mut copy)?;
    Ok(copy)
}

/// The text of a small file in the directory that all work trees of the repository share.
fn users(repository: &Repository, name: &str) -> Option<String> {
    Door::home(&repository.common).read_text(Path::new(name), SMALL).ok()
}

/// The path of the user's objects, if it can be written as a line of the alternates.
fn borrowed(repository: &Repository) -> Option<String> {
    let objects = repository.common.join("objects").canonicalize().ok()?;
    objects.to_str().filter(|path| !path.contains('\n') && path.starts_with('/')).map(str::to_owned)
}

fn uses_sha256(repository: &Repository) -> bool {
    users(repository, "config").is_some_and(|config| says_sha256(&config))
}
