//! What is under review at a gate: the files that were created or changed since the last approval.
//!
//! Comparing trees takes `git` and its time, which the drive's thread has. What a decision needs, and what is asked
//! before a run goes on, is soon found: it reads no more than the files that are listed.

use crate::process::Secrets;
use crate::project::digest::Digest;
use crate::project::review::{Change, Hurry, Review, TreeId};
use crate::run::event::Decision;
use crate::run::state::{Run, gate_id};
use crate::store::keyring::Keyring;
use crate::store::rundir::{self, RunDir};
use crate::store::{atomic, summary};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Larger files are told apart by size and time.
const LARGE: u64 = 1024 * 1024;
/// So are those beyond this many.
const MANY: usize = 1000;

/// The review of one visit of one gate, as kept in the run's directory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GateReview {
    /// The files when the gate opened: what a human then edits can be had back.
    pub after: Option<TreeId>,
    /// What differs from the last approval.
    pub files: Vec<Change>,
    /// Why there is no list, where there is none.
    pub note: Option<String>,
    /// What each of the files was when the gate was decided.
    #[serde(default)]
    seals: Vec<String>,
}

/// The files as they were at a look, and what differed then from the last approval.
pub type Looked = (TreeId, Vec<Change>);

/// Opens the project's review store.
fn store(hurry: &Hurry, root: &Path) -> Result<Review, String> {
    let state = root.join(".claude/state");
    if !state.is_dir() {
        // It is made where a run begins, and not made anew where it was taken away from one.
        return Err("the directory \".claude/state\" is gone".into());
    }
    Review::open_unless(hurry, root, &state.join("review.git")).map_err(|error| error.to_string())
}

/// Remembers the files as they are now as what the next gate compares with, and after how many decisions that was.
pub fn take_baseline(hurry: &Hurry, root: &Path, dir: &RunDir, run: &Run) {
    if let Ok(tree) = store(hurry, root).and_then(|store| store.snapshot().map_err(|error| error.to_string()))
    {
        let text = format!("{}\n{}\n", tree.as_str(), run.decisions.len());
        let _ = atomic::replace(&dir.path().join("baseline"), text.as_bytes());
    }
}

/// Throws away what no kept run needs any more of the files that were under review.
pub fn prune(hurry: &Hurry, root: &Path, keys: &Keyring) {
    let kept: Vec<TreeId> = rundir::ids(root)
        .iter()
        .filter(|id| !summary::read(root, id, keys).is_some_and(|kept| kept.summary.over()))
        .filter_map(|id| RunDir::of(root, id).ok())
        .flat_map(|dir| baseline(&dir).into_iter().chain(reviewed(&dir)))
        .collect();
    // What cannot be pruned now is pruned another time.
    let _ = store(hurry, root).and_then(|store| store.prune(&kept).map_err(|error| error.to_string()));
}

/// The trees of a run's gates, as they were when these opened.
fn reviewed(dir: &RunDir) -> Vec<TreeId> {
    let Ok(entries) = fs::read_dir(dir.path()) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let gate = |name: String| load(dir, name.strip_prefix("review-")?.strip_suffix(".json")?)?.after;
    names.filter_map(gate).collect()
}

/// The tree that the next gate compares with.
pub fn baseline(dir: &RunDir) -> Option<TreeId> {
    read_baseline(dir).map(|(tree, _)| tree)
}

fn read_baseline(dir: &RunDir) -> Option<(TreeId, usize)> {
    let text = atomic::read(&dir.path().join("baseline")).ok()?;
    let mut lines = text.lines();
    let tree = TreeId::parse(lines.next()?)?;
    Some((tree, lines.next().and_then(|decisions| decisions.parse().ok()).unwrap_or(0)))
}

/// Whether an editor died between the newest approval (or the beginning) and its baseline. Once an agent has been heard
/// of since, it is too late: what that did would not be under review.
pub fn baseline_is_due(dir: &RunDir, run: &Run) -> bool {
    let approved = run.decisions.iter().rposition(|it| it.decision == Decision::Approve);
    let (decisions, launches) = approved.map_or((0, 0), |at| (at + 1, run.decisions[at].launches));
    run.heard <= launches && read_baseline(dir).is_none_or(|(_, taken)| taken < decisions)
}

/// Makes the review of a gate that opens, and keeps it. What an attempt's end has just found is not looked for again.
/// Where nobody waits for it any more it is left to whoever next asks.
pub fn make(
    hurry: &Hurry,
    root: &Path,
    dir: &RunDir,
    run: &Run,
    stage: usize,
    looked: Option<Looked>,
    secrets: &Secrets,
) -> GateReview {
    let gate = gate_id(stage, run.stages[stage].visit);
    let review = match looked.map_or_else(|| compare(hurry, root, dir), Ok) {
        Ok((after, mut files)) => {
            files.iter_mut().for_each(|file| file.path = secrets.mask(&file.path).into_owned());
            GateReview { after: Some(after), files, ..GateReview::default() }
        }
        Err(note) => GateReview { note: Some(note), ..GateReview::default() },
    };
    if review.note.is_none() || !hurry.is_set() {
        keep(dir, &gate, &review);
    }
    review
}

fn keep(dir: &RunDir, gate: &str, review: &GateReview) {
    if let Ok(bytes) = serde_json::to_vec(&review) {
        let _ = atomic::replace(&path(dir, gate), &bytes);
    }
}

/// The kept review of a gate.
pub fn load(dir: &RunDir, gate: &str) -> Option<GateReview> {
    serde_json::from_str(&atomic::read(&path(dir, gate)).ok()?).ok()
}

/// A digest of the files under review as they are now, for the decision; none where there is no list of them. What
/// each of them is, is kept beside it.
pub fn seal(root: &Path, dir: &RunDir, gate: &str, secrets: &Secrets) -> Option<String> {
    let mut review = load(dir, gate).filter(|review| review.note.is_none())?;
    review.seals = seals(root, &review.files, secrets);
    keep(dir, gate, &review);
    Some(digest(&review))
}

/// Files under review at the newest approval that have changed since it, where no agent has started since.
pub fn changed_since_approval(root: &Path, dir: &RunDir, run: &Run, secrets: &Secrets) -> Vec<String> {
    let Some(decision) = run.unused_approval() else { return Vec::new() };
    let sealed = load(dir, &gate_id(decision.stage, decision.visit))
        .filter(|review| decision.digest.as_ref() == Some(&digest(review)));
    let Some(review) = sealed else { return Vec::new() };
    let now = seals(root, &review.files, secrets);
    let pairs = review.files.into_iter().zip(review.seals.into_iter().zip(now));
    pairs.filter(|(_, (then, now))| then != now).map(|(file, _)| file.path).collect()
}

fn seals(root: &Path, files: &[Change], secrets: &Secrets) -> Vec<String> {
    let seal = |(at, file): (usize, &Change)| seal_of(&root.join(real(root, &file.path, secrets)), at < MANY);
    files.iter().enumerate().map(seal).collect()
}

/// The file of the project that is listed under this path: a secret in its name is masked there.
pub fn real(root: &Path, listed: &str, secrets: &Secrets) -> String {
    if root.join(listed).symlink_metadata().is_ok() || secrets.is_empty() {
        return listed.to_owned();
    }
    let mut path = String::new();
    for part in listed.split('/') {
        let entries = fs::read_dir(root.join(&path)).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is = |name: &String| name == part || secrets.mask(name) == part;
        let name = names.into_iter().find(is).unwrap_or_else(|| part.to_owned());
        path = if path.is_empty() { name } else { format!("{path}/{name}") };
    }
    path
}

/// What a file is: its contents' digest, where that is soon made.
fn seal_of(path: &Path, read: bool) -> String {
    let Ok(meta) = path.symlink_metadata() else { return "gone".into() };
    let bytes = match fs::read_link(path) {
        Ok(target) => Some(target.as_os_str().as_bytes().to_vec()),
        Err(_) if read && meta.is_file() && meta.len() <= LARGE => fs::read(path).ok(),
        Err(_) => None,
    };
    let Some(bytes) = bytes else { return format!("{} {} {}", meta.len(), meta.mtime(), meta.mtime_nsec()) };
    let mut digest = Digest::default();
    digest.put(if meta.is_symlink() { b"link" } else { b"file" }, &bytes);
    digest.hex()
}

fn digest(review: &GateReview) -> String {
    let mut digest = Digest::default();
    for (file, seal) in review.files.iter().zip(&review.seals) {
        digest.put(file.path.as_bytes(), seal.as_bytes());
    }
    digest.hex()
}

/// A file's text as of the last approval; none where it did not exist.
pub fn before(hurry: &Hurry, root: &Path, dir: &RunDir, path: &str) -> Result<Option<String>, String> {
    let Some(tree) = baseline(dir) else { return Ok(None) };
    store(hurry, root)?.before(&tree, path).map_err(|error| error.to_string())
}

/// The files as they are now, and what differs from the last approval.
pub fn compare(hurry: &Hurry, root: &Path, dir: &RunDir) -> Result<Looked, String> {
    let store = store(hurry, root)?;
    let before = baseline(dir).ok_or("it is not known what the files were at the last approval")?;
    let after = store.snapshot().map_err(|error| error.to_string())?;
    let mut files = store.changes(&before, &after).map_err(|error| error.to_string())?;
    files.retain(|file| !is_bookkeeping(&file.path));
    Ok((after, files))
}

/// What differs between two looks.
pub fn changes(hurry: &Hurry, root: &Path, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, String> {
    let mut files = store(hurry, root)?.changes(from, to).map_err(|error| error.to_string())?;
    files.retain(|file| !is_bookkeeping(&file.path));
    Ok(files)
}

fn path(dir: &RunDir, gate: &str) -> std::path::PathBuf {
    dir.path().join(format!("review-{gate}.json"))
}

/// Whether a file is a track's checkpoint or its lock, which runners write and nobody reviews.
fn is_bookkeeping(path: &str) -> bool {
    let inner = path.strip_prefix("conductor/tracks/").and_then(|inner| inner.split_once('/'));
    inner.is_some_and(|(_, file)| file.starts_with("metadata.json") || file.starts_with(".metadata."))
}
