//! What is under review at a gate: the files that were created or changed since the last approval.

use crate::project::review::{Change, Review, TreeId};
use crate::run::event::Decision;
use crate::run::state::{Run, gate_id};
use crate::store::atomic;
use crate::store::rundir::RunDir;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The review of one visit of one gate, as kept in the run's directory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GateReview {
    /// `STAGE.VISIT`.
    pub gate: String,
    /// The files as of the last approval.
    pub before: Option<String>,
    /// The files when the gate opened.
    pub after: Option<String>,
    /// What differs.
    pub files: Vec<Change>,
    /// Why there is no list, where there is none.
    pub note: Option<String>,
}

/// Opens the project's review store.
fn store(root: &Path) -> Result<Review, String> {
    let state = root.join(".claude/state");
    if !state.is_dir() {
        // It is made where a run begins, and not made anew where it was taken away from one.
        return Err("the directory \".claude/state\" is gone".into());
    }
    Review::open(root, &state.join("review.git")).map_err(|error| error.to_string())
}

/// The files as they are now.
pub fn snapshot(root: &Path) -> Result<String, String> {
    Ok(store(root)?.snapshot().map_err(|error| error.to_string())?.as_str().to_owned())
}

/// Remembers `tree` (or the files as they are now) as what the next gate compares with.
pub fn take_baseline(root: &Path, dir: &RunDir, tree: Option<String>) {
    if let Some(tree) = tree.or_else(|| snapshot(root).ok()) {
        let _ = atomic::replace(&dir.path().join("baseline"), tree.as_bytes());
    }
}

/// The tree that the next gate compares with.
pub fn baseline(dir: &RunDir) -> Option<TreeId> {
    TreeId::parse(atomic::read(&dir.path().join("baseline")).ok()?.trim())
}

/// Makes the review of a gate that opens, and keeps it.
pub fn make(root: &Path, dir: &RunDir, run: &Run, stage: usize) -> GateReview {
    let gate = gate_id(stage, run.stages[stage].visit);
    let review = compare(root, dir).map_or_else(
        |note| GateReview { gate: gate.clone(), note: Some(note), ..GateReview::default() },
        |(before, after, files)| GateReview {
            gate: gate.clone(),
            before: Some(before.as_str().to_owned()),
            after: Some(after.as_str().to_owned()),
            files,
            note: None,
        },
    );
    if let Ok(bytes) = serde_json::to_vec(&review) {
        let _ = atomic::replace(&path(dir, &gate), &bytes);
    }
    review
}

/// The kept review of a gate.
pub fn load(dir: &RunDir, gate: &str) -> Option<GateReview> {
    serde_json::from_str(&atomic::read(&path(dir, gate)).ok()?).ok()
}

/// Files under review at the newest approval that have changed since it, where no agent has started since.
pub fn changed_since_approval(root: &Path, dir: &RunDir, run: &Run) -> Vec<String> {
    let Some(decision) = run.decisions.last().filter(|decision| decision.decision == Decision::Approve)
    else {
        return Vec::new();
    };
    if decision.launches != run.launches {
        return Vec::new();
    }
    let (Some(approved), Some(review)) = (
        decision.digest.as_deref().and_then(TreeId::parse),
        load(dir, &gate_id(decision.stage, decision.visit)),
    ) else {
        return Vec::new();
    };
    let changes = store(root).ok().and_then(|store| {
        let now = store.snapshot().ok()?;
        store.changes(&approved, &now).ok()
    });
    let under_review = |path: &String| review.files.iter().any(|file| file.path == *path);
    changes.unwrap_or_default().into_iter().map(|change| change.path).filter(under_review).collect()
}

/// A file's text as of the last approval; none where it did not exist.
pub fn before(root: &Path, dir: &RunDir, path: &str) -> Result<Option<String>, String> {
    let Some(tree) = baseline(dir) else { return Ok(None) };
    store(root)?.before(&tree, path).map_err(|error| error.to_string())
}

/// The files at the last approval, the files now, and what differs.
pub fn compare(root: &Path, dir: &RunDir) -> Result<(TreeId, TreeId, Vec<Change>), String> {
    let store = store(root)?;
    let before = baseline(dir).ok_or("it is not known what the files were at the last approval")?;
    let after = store.snapshot().map_err(|error| error.to_string())?;
    let mut files = store.changes(&before, &after).map_err(|error| error.to_string())?;
    files.retain(|file| !is_bookkeeping(&file.path));
    Ok((before, after, files))
}

fn path(dir: &RunDir, gate: &str) -> std::path::PathBuf {
    dir.path().join(format!("review-{gate}.json"))
}

/// Whether a file is a track's checkpoint or its lock, which runners write and nobody reviews.
fn is_bookkeeping(path: &str) -> bool {
    let inner = path.strip_prefix("conductor/tracks/").and_then(|inner| inner.split_once('/'));
    inner.is_some_and(|(_, file)| file.starts_with("metadata.json") || file.starts_with(".metadata."))
}
