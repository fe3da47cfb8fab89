//! The review of a gate: the list of files that were created, changed or deleted since the last approval.
//!
//! Making a list runs `git`, which may take long. What a decision needs later is fast: it reads only the listed files
//! (see `gate_seal`).

use crate::process::Secrets;
use crate::project::review::{self, CancelToken, Change, EARLIER, MOST, Review, ReviewDir, TreeId};
use crate::run::event::{Decision, Event};
use crate::run::log;
use crate::run::shown::Shown;
use crate::run::state::{Run, gate_id};
use crate::store::beneath::Door;
use crate::store::keyring::Keyring;
use crate::store::rundir::{self, RunDir};
use crate::store::{atomic, journal, summary};
use crate::terminal::visible;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

/// Time limit for the list of a gate. After this the gate opens without a list, and says so.
pub const LONGEST: Duration = Duration::from_secs(10);
/// Maximum number of files in a list.
const LISTED: usize = 10_000;
/// Maximum number of files in a printed list.
const PRINTED: usize = 100;

/// A list of changes, as it was shown at one visit of a gate. The journal has the trees that were compared and the digest
/// of the list. The list itself is saved in the run's directory, so that it need not be made again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GateReview {
    /// The files when the gate opened, so that edits made at the gate can be told from the agent's.
    pub after: Option<TreeId>,
    /// The changes since the last approval.
    pub files: Vec<Change>,
    /// Why there is no list.
    pub note: Option<String>,
    /// A sentence that counts what the list leaves out.
    #[serde(default)]
    pub left_out: Option<String>,
    /// A digest of each file when the gate was decided.
    #[serde(default)]
    pub(super) seals: Vec<String>,
}

impl GateReview {
    /// The printed list for headless use. `id` names it in a decision.
    pub fn lines(&self, run: &Run, stage: usize, id: &str) -> Vec<String> {
        let place = log::place(run, stage);
        let what = match (&self.note, self.files.len()) {
            (Some(note), _) => note.clone(),
            (None, 0) => "no file has changed since the last approval".to_owned(),
            (None, n) => format!("{} changed since the last approval", log::count(n, "file")),
        };
        let mut lines = vec![format!("gate of stage {place}: {what} (review={id})")];
        let count = |sign: &str, n: Option<u64>| n.filter(|n| *n > 0).map(|n| format!(" {sign}{n}"));
        lines.extend(self.files.iter().take(PRINTED).map(|file| {
            let (added, removed) = (count("+", file.added), count("-", file.removed));
            let (added, removed) = (added.unwrap_or_default(), removed.unwrap_or_default());
            format!("  {} {}{added}{removed}", file.status.sign(), visible(&file.path))
        }));
        let more = self.files.len().saturating_sub(PRINTED);
        lines.extend((more > 0).then(|| format!("  and {}", log::count(more, "more file"))));
        lines.extend(self.left_out.iter().map(|left_out| format!("  {}", visible(left_out))));
        lines
    }

    /// The SHA-256 of the list, without the seals, which are added when the gate is decided.
    fn digest(&self) -> String {
        let list =
            serde_json::to_vec(&(&self.after, &self.files, &self.note, &self.left_out)).unwrap_or_default();
        Sha256::digest(&list).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The result of comparing the files.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The files as of the comparison.
    pub after: TreeId,
    /// The changes since the last approval.
    pub files: Vec<Change>,
    /// A sentence that counts what is not in `files`.
    pub left_out: Option<String>,
}

/// Compares a project's files with an earlier state, and keeps the reviews of gates.
pub struct Comparer<'a> {
    /// Cancels the git commands.
    pub cancel: &'a CancelToken,
    pub root: &'a Path,
    /// Our state directory, where the git trees are kept, and the keys that show which runs are ours.
    pub keys: &'a Keyring,
    /// Values that are masked in file names.
    pub secrets: &'a Secrets,
}

impl Comparer<'_> {
    /// Opens the project's review store.
    fn store(&self) -> Result<Review, String> {
        if !Door::ours(self.root).is_dir(Path::new(".claude/state")) {
            // The start of a run creates it. If it was removed since, it must not be created again.
            return Err("the directory \".claude/state\" is gone".into());
        }
        let state = self.keys.state().ok_or(review::ReviewError::NoState).map_err(text)?;
        Review::open_cancellable(self.cancel, self.root, state).map_err(text)
    }

    /// The files as they are now.
    pub fn tree(&self) -> Result<TreeId, String> {
        self.store()?.snapshot().map_err(text)
    }

    /// Removes the git objects that no kept run needs, and the stores of projects that no longer exist.
    pub fn prune(&self, now: DateTime<Utc>) {
        let over =
            |id: &String| summary::read(self.root, id, self.keys).is_some_and(|kept| kept.summary.over());
        let runs = || {
            let ids = rundir::ids(self.root).into_iter().filter(|id| !over(id));
            ids.map(|id| self.trees(&id)).collect()
        };
        // An error is ignored, because the next run prunes again.
        let _ = self.store().and_then(|store| store.prune(MOST, runs).map_err(text));
        if let Some(state) = self.keys.state().cloned() {
            // In a thread, because a project may be on a disk that does not respond.
            let clear = move || review::clear(&state, now.timestamp());
            let _ = std::thread::Builder::new().name("superpower-clear".into()).spawn(clear);
        }
    }

    /// The trees that the journal of a run of ours names, which its gates may still need.
    fn trees(&self, run_id: &str) -> Vec<TreeId> {
        let Ok(dir) = RunDir::of(self.root, run_id) else { return Vec::new() };
        let read = journal::read(&journal::Place::new(&dir, self.keys));
        let Some(contents) = read.ok().filter(|contents| contents.ours) else { return Vec::new() };
        let trees = contents.records.into_iter().flat_map(|record| match record.event {
            Event::BaselineTaken { tree, .. } => [Some(tree), None],
            Event::ReviewShown { from, tree, .. } => [from, tree],
            _ => [None, None],
        });
        trees.flatten().filter_map(|tree| TreeId::parse(&tree)).collect()
    }

    /// A message, once for each project, that the git directory of earlier versions is no longer used.
    pub fn earlier_place(&self) -> Option<String> {
        let place = ReviewDir::of(self.keys.state()?, self.root);
        place.earlier_is_news(self.root).then(|| {
            let now = place.git();
            format!(
                "\"{EARLIER}\" is not used any more and can be removed: reviews are kept in \"{}\" now",
                now.display()
            )
        })
    }

    /// Makes and saves the review of an open gate, and returns its record for the journal. If the comparison was
    /// cancelled there is no record, and the next request makes the review.
    pub fn make(
        &self,
        dir: &RunDir,
        run: &Run,
        stage: usize,
        result: Result<Comparison, String>,
    ) -> (GateReview, Option<Shown>) {
        let from = run.baseline.as_ref().map(|it| it.tree.clone());
        let review = match result {
            Ok(comparison) => self.listed(comparison),
            Err(note) => GateReview { note: Some(note), ..GateReview::default() },
        };
        if review.note.is_some() && self.cancel.is_set() {
            return (review, None);
        }
        keep(dir, &gate_id(stage, run.stages[stage].visit.number), &review);
        let tree = review.after.as_ref().map(|tree| tree.as_str().to_owned());
        let shown = Shown {
            from: from.filter(|_| tree.is_some()),
            tree,
            digest: Some(review.digest()),
            note: review.note.clone(),
            held: false,
            printed: false,
        };
        (review, Some(shown))
    }

    fn listed(&self, comparison: Comparison) -> GateReview {
        let Comparison { after, mut files, left_out } = comparison;
        files.iter_mut().for_each(|file| file.path = self.secrets.mask(&file.path).into_owned());
        let more = files.len().saturating_sub(LISTED);
        files.truncate(LISTED);
        let more = (more > 0).then(|| format!("not listed: {}", log::count(more, "more file")));
        let left_out: Vec<String> = more.into_iter().chain(left_out).collect();
        let left_out = (!left_out.is_empty()).then(|| self.secrets.mask(&left_out.join("; ")).into_owned());
        GateReview { after: Some(after), files, left_out, ..GateReview::default() }
    }

    /// The list that was shown: the saved one if its digest is the journal's, or else one made again from the trees.
    pub fn restore(&self, dir: &RunDir, gate: &str, shown: &Shown) -> Option<GateReview> {
        let digest = shown.digest.as_ref()?;
        load(dir, gate).filter(|review| review.digest() == *digest).or_else(|| {
            let (from, after) = (TreeId::parse(shown.from.as_ref()?)?, TreeId::parse(shown.tree.as_ref()?)?);
            let store = self.store().ok()?;
            let mut files = store.list_changes(&from, &after).ok()?;
            files.retain(|file| !is_bookkeeping(&file.path));
            let left_out = store.left_out(&from, &after);
            let review = self.listed(Comparison { after, files, left_out });
            keep(dir, gate, &review);
            Some(review)
        })
    }

    /// The current text of git settings or rules that a list names as if they were a file.
    pub fn settings(&self, listed: &str) -> Option<String> {
        let there = Door::people(self.root).lstat(Path::new(listed)).is_ok();
        if there || listed.contains('/') { None } else { self.store().ok()?.rule(listed) }
    }

    /// A file's text as of the last approval; `None` if it did not exist.
    pub fn before(&self, run: &Run, path: &str) -> Result<Option<String>, String> {
        let Some(tree) = baseline(run) else { return Ok(None) };
        self.store()?.before(&tree, path).map_err(text)
    }

    /// Takes a snapshot of the files and compares it with the last approval.
    pub fn compare(&self, run: &Run) -> Result<Comparison, String> {
        let store = self.store()?;
        match baseline(run) {
            Some(before) => compare(&store, &before, None),
            // Why the files cannot be looked at says more.
            None => Err(store.snapshot().map_or_else(text, |_| NO_BASELINE.to_owned())),
        }
    }

    /// Compares a snapshot that was just taken with an earlier one.
    pub(super) fn compare_tree(&self, before: &TreeId, after: TreeId) -> Result<Comparison, String> {
        compare(&self.store()?, before, Some(after))
    }

    /// The files that differ now from an earlier tree.
    pub fn changed_since(&self, before: &TreeId) -> Result<Vec<Change>, String> {
        let (_, mut files) = self.store()?.compare(before, None).map_err(text)?;
        files.retain(|file| !is_bookkeeping(&file.path));
        Ok(files)
    }

    /// The files that git does not ignore; all of them if git fails.
    pub(super) fn not_ignored(&self, mut files: Vec<String>) -> Vec<String> {
        let ignored = if files.is_empty() {
            None
        } else {
            self.store().and_then(|it| it.ignored(&files).map_err(text)).ok()
        };
        files.retain(|file| !is_bookkeeping(file) && !ignored.as_ref().is_some_and(|it| it.contains(file)));
        files
    }

    /// The files that differ between two trees.
    pub(super) fn between(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, String> {
        let mut files = self.store()?.changes(from, to).map_err(text)?;
        files.retain(|file| !is_bookkeeping(&file.path));
        Ok(files)
    }
}

fn compare(store: &Review, before: &TreeId, after: Option<TreeId>) -> Result<Comparison, String> {
    let (after, mut files) = store.compare(before, after).map_err(text)?;
    files.retain(|file| !is_bookkeeping(&file.path));
    let left_out = store.left_out(before, &after);
    Ok(Comparison { after, files, left_out })
}

fn text(error: review::ReviewError) -> String {
    error.to_string()
}

/// The note of a gate without a baseline.
pub(super) const NO_BASELINE: &str = "it is not known what the files were at the last approval";

/// The tree that the next gate compares with.
pub fn baseline(run: &Run) -> Option<TreeId> {
    TreeId::parse(&run.baseline.as_ref()?.tree)
}

/// Whether the baseline is missing, because the editor was killed before it was recorded, and can still be recorded. Once
/// an agent has started since the newest approval (or the beginning) it cannot: the agent's changes would be missing
/// from the review.
pub fn baseline_is_due(run: &Run) -> bool {
    let approved = run.decisions.iter().rfind(|it| it.decision == Decision::Approve);
    run.baseline.is_none() && run.last_started <= approved.map_or(0, |it| it.launches)
}

pub(super) fn keep(dir: &RunDir, gate: &str, review: &GateReview) {
    if let Ok(bytes) = serde_json::to_vec(&review) {
        let _ = atomic::replace(&path(dir, gate), &bytes);
    }
}

/// Reads a gate's saved review. Callers must check it against the journal's digest, because anybody can write the file.
pub(super) fn load(dir: &RunDir, gate: &str) -> Option<GateReview> {
    serde_json::from_str(&atomic::read(&path(dir, gate)).ok()?).ok()
}

/// The real path of a listed file: secrets in the names of a list are masked.
pub fn real(root: &Path, listed: &str, secrets: &Secrets) -> String {
    let door = Door::people(root);
    if door.lstat(Path::new(listed)).is_ok() || secrets.is_empty() {
        return listed.to_owned();
    }
    let mut path = String::new();
    for part in listed.split('/') {
        let entries = door.list(Path::new(&path)).unwrap_or_default().into_iter();
        let names = entries.filter_map(|entry| entry.name.into_string().ok());
        let is = |name: &String| name == part || secrets.mask(name) == part;
        let name = names.into_iter().find(is).unwrap_or_else(|| part.to_owned());
        path = if path.is_empty() { name } else { format!("{path}/{name}") };
    }
    path
}

fn path(dir: &RunDir, gate: &str) -> std::path::PathBuf {
    dir.path().join(format!("review-{gate}.json"))
}

/// Whether a file is a track's checkpoint or its lock, which runners write and users need not review.
fn is_bookkeeping(path: &str) -> bool {
    let inner = path.strip_prefix("conductor/tracks/").and_then(|inner| inner.split_once('/'));
    let Some((_, file)) = inner else { return false };
    let beside = |name: &str| {
        let numbers = name.strip_prefix(".metadata.json.").and_then(|rest| rest.strip_suffix(".new"));
        numbers.is_some_and(|numbers| numbers.split('.').all(|part| part.parse::<u64>().is_ok()))
    };
    // The lock is a directory with the owner's record. While it is created or broken, its name ends in the owner's
    // numbers.
    let lock = |name: &str| {
        let Some(rest) = name.strip_prefix(".metadata.lock") else { return false };
        let rest = rest.strip_suffix("/owner.json").unwrap_or(rest);
        let owner = rest.strip_prefix('.').and_then(|rest| rest.split_once('-'));
        let numbers = |text: &str| text.split('-').all(|part| part.parse::<u64>().is_ok());
        rest.is_empty() || owner.is_some_and(|(what, rest)| !what.contains('/') && numbers(rest))
    };
    file == "metadata.json" || beside(file) || lock(file)
}
