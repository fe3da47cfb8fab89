//! Seals the files under review when a gate is decided, to detect later changes. The decision holds one digest of all
//! files; the digests of the single files are saved with the list.

use super::gate_review::{Comparer, GateReview, baseline, keep, load, real};
use crate::process::Secrets;
use crate::project::digest::Digest;
use crate::project::review::{Change, TreeId};
use crate::run::shown::Shown;
use crate::run::state::{GateRecord, Run, gate_id};
use crate::store::beneath::{Door, Kind};
use crate::store::rundir::RunDir;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files above this size, in bytes, are compared by size and time.
const LARGE: u64 = 1024 * 1024;
/// Files after this many are compared by size and time too.
const MANY: usize = 1000;

impl Comparer<'_> {
    /// Saves the digests of the files under review as they are now, and returns a digest of all for the decision; `None` if
    /// there is no list.
    pub fn seal(&self, dir: &RunDir, gate: &str, shown: &Shown) -> Option<String> {
        let mut review = self.restore(dir, gate, shown)?;
        review.seals = seals(self.root, &review.files, self.secrets);
        keep(dir, gate, &review);
        Some(digest(&review))
    }

    /// Files under review at the newest approval that have changed since then. Empty once an agent has started.
    pub fn changed_since_approval(&self, dir: &RunDir, run: &Run) -> Vec<String> {
        let Some(decision) = run.unused_approval() else { return Vec::new() };
        let Some(decided) = &decision.digest else { return Vec::new() };
        let kept = load(dir, &gate_id(decision.stage, decision.visit));
        let Some(review) = kept.filter(|review| digest(review) == *decided) else {
            return self.changed_by_trees(run, decision).unwrap_or_default();
        };
        let now = seals(self.root, &review.files, self.secrets);
        let pairs = review.files.into_iter().zip(review.seals.into_iter().zip(now));
        pairs.filter(|(_, (then, now))| then != now).map(|(file, _)| file.path).collect()
    }

    /// Does the same with git, if the saved digests are missing or are not those of the decision. The files at the approval
    /// are the baseline that was recorded after it, or else the tree that was shown.
    fn changed_by_trees(&self, run: &Run, decision: &GateRecord) -> Option<Vec<String>> {
        let shown = run.shown_for(decision)?;
        let (from, after) = (TreeId::parse(shown.from.as_ref()?)?, TreeId::parse(shown.tree.as_ref()?)?);
        let taken = run.baseline.as_ref().is_some_and(|taken| taken.decisions == run.decisions.len());
        let then = baseline(run).filter(|_| taken).unwrap_or_else(|| after.clone());
        let listed: BTreeSet<String> =
            self.between(&from, &after).ok()?.into_iter().map(|file| file.path).collect();
        let since = self.changed_since(&then).ok()?;
        let changed = since.into_iter().map(|file| file.path).filter(|path| listed.contains(path));
        Some(changed.map(|path| self.secrets.mask(&path).into_owned()).collect())
    }
}

fn seals(root: &Path, files: &[Change], secrets: &Secrets) -> Vec<String> {
    let door = Door::people(root);
    let seal =
        |(at, file): (usize, &Change)| seal_of(&door, &root.join(real(root, &file.path, secrets)), at < MANY);
    files.iter().enumerate().map(seal).collect()
}

/// A file's seal: a digest of its contents, or its size and time if reading it would take long.
fn seal_of(door: &Door, path: &Path, read: bool) -> String {
    let Ok(meta) = door.lstat(path) else { return "gone".into() };
    let (what, bytes) = match meta.kind {
        Kind::Link => (b"link", door.read_link(path).ok().map(|to| to.as_os_str().as_bytes().to_vec())),
        Kind::File if read => (b"file", door.read(path, LARGE).ok()),
        _ => (b"file", None),
    };
    let Some(bytes) = bytes else { return format!("{} {} {}", meta.len, meta.modified.0, meta.modified.1) };
    let mut digest = Digest::default();
    digest.put(what, &bytes);
    digest.hex()
}

fn digest(review: &GateReview) -> String {
    let mut digest = Digest::default();
    for (file, seal) in review.files.iter().zip(&review.seals) {
        digest.put(file.path.as_bytes(), seal.as_bytes());
    }
    digest.hex()
}
