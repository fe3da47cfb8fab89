//! How our git directory begins: as an index like the user's, over the user's objects.

use super::git::says_sha256;
use super::{Review, ReviewError};
use crate::project::branch::Repository;
use std::fs;
use std::path::Path;

impl Review {
    /// Makes our git directory where it is not there yet, and lets it follow a repository that came, went or moved.
    pub(super) fn make(&self) -> Result<(), ReviewError> {
        let dir = self.git.dir();
        let repository = self.repository.as_ref();
        if !dir.join("HEAD").is_file() {
            self.git.init(repository.is_some_and(uses_sha256))?;
        }
        self.exclude(repository)?;
        let known = fs::read_to_string(dir.join("seeded")).ok();
        let objects = repository.and_then(borrowed);
        let now = format!("{}\n{}\n", self.git.top().display(), objects.as_deref().unwrap_or_default());
        if known.as_ref() != Some(&now) {
            let _ = fs::remove_file(dir.join("index"));
            if let (Some(repository), Some(objects)) = (repository, objects) {
                self.seed(repository, &objects)?;
            }
            fs::write(dir.join("seeded"), now)?;
        }
        Ok(())
    }

    /// Begins again with another index, after one that git cannot use.
    pub(super) fn begin_again(&self) -> Result<(), ReviewError> {
        fs::remove_file(self.git.dir().join("seeded"))?;
        self.make()
    }

    /// What is never looked at: our own files, and what the user's repository excludes for itself.
    fn exclude(&self, repository: Option<&Repository>) -> Result<(), ReviewError> {
        let users =
            repository.and_then(|repository| fs::read_to_string(repository.common.join("info/exclude")).ok());
        let unversioned = ".hg/\n.jj/\n.svn/\n.venv/\n__pycache__/\nnode_modules/\n".to_owned();
        let mut lines = users.unwrap_or(if repository.is_none() { unversioned } else { String::new() });
        for own in &self.own {
            let escaped: String = format!("{}{own}", self.prefix)
                .chars()
                .flat_map(|c| "\\*?[ ".contains(c).then_some('\\').into_iter().chain([c]))
                .collect();
            lines.push_str(&format!("\n/{escaped}"));
        }
        let info = self.git.dir().join("info");
        fs::create_dir_all(&info)?;
        fs::write(info.join("exclude"), lines + "\n")?;
        Ok(())
    }

    fn seed(&self, repository: &Repository, objects: &str) -> Result<(), ReviewError> {
        let dir = self.git.dir();
        let info = dir.join("objects/info");
        fs::create_dir_all(&info)?;
        fs::write(info.join("alternates"), format!("{objects}\n"))?;
        let copied = copy_index(&repository.dir, dir);
        // Starting with an empty index is only slower: every file is read once.
        if copied.is_err() || self.straighten().is_err() {
            let _ = fs::remove_file(dir.join("index"));
        }
        Ok(())
    }

    /// Takes out of the copied index what would hide changes or hinder a tree: submodules, conflicts, and the flags
    /// with which users tell git not to look.
    fn straighten(&self) -> Result<(), ReviewError> {
        if !self.git.dir().join("index").exists() {
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

/// Copies the user's index with its time, by which git knows which of its entries may be stale.
fn copy_index(from: &Path, to: &Path) -> std::io::Result<()> {
    let index = from.join("index");
    if !index.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(from)?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b"sharedindex.") {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    let written = index.metadata()?.modified()?;
    fs::copy(&index, to.join("index"))?;
    fs::File::options().write(true).open(to.join("index"))?.set_modified(written)
}

/// The user's objects, as a line that git understands.
fn borrowed(repository: &Repository) -> Option<String> {
    let objects = repository.common.join("objects").canonicalize().ok()?;
    objects.to_str().filter(|path| !path.contains('\n') && path.starts_with('/')).map(str::to_owned)
}

fn uses_sha256(repository: &Repository) -> bool {
    says_sha256(&fs::read_to_string(repository.common.join("config")).unwrap_or_default())
}
