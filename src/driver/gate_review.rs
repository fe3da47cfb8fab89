//! What is under review at a gate: the files that were created or changed since the last approval.
//!
//! Comparing trees takes `git` and its time, which the drive's thread has. What a decision needs, and what is asked
//! before a run goes on, is soon found: it reads no more than the files that are listed.

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
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

/// How long the list of a gate may take. Whoever decides then is told that there is none.
pub const LONGEST: Duration = Duration::from_secs(10);
/// Files that a list names.
const LISTED: usize = 10_000;
/// Files that a printed list names.
const PRINTED: usize = 100;

/// A list of what changed, as it was shown at one visit of one gate. The journal knows which trees were compared, and
/// the digest of the list; the newest list itself is kept in the run's directory, so that it need not be made anew.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GateReview {
    /// The files when the gate opened: what a human then edits can be had back.
    pub after: Option<TreeId>,
    /// What differs from the last approval.
    pub files: Vec<Change>,
    /// Why there is no list, where there is none.
    pub note: Option<String>,
    /// What the list leaves out, counted.
    #[serde(default)]
    pub left_out: Option<String>,
    /// What each of the files was when the gate was decided.
    #[serde(default)]
    pub(super) seals: Vec<String>,
}

impl GateReview {
    /// The lines that show it where there is no window, with what names it in a decision.
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
            format!("  {} {}{added}{removed}", file.status.sign(), file.path)
        }));
        let more = self.files.len().saturating_sub(PRINTED);
        lines.extend((more > 0).then(|| format!("  and {}", log::count(more, "more file"))));
        lines.extend(self.left_out.iter().map(|left_out| format!("  {left_out}")));
        lines
    }

    /// The SHA-256 of the list, without what was added when the gate was decided.
    fn digest(&self) -> String {
        let list =
            serde_json::to_vec(&(&self.after, &self.files, &self.note, &self.left_out)).unwrap_or_default();
        Sha256::digest(&list).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a look at the files has found.
#[derive(Clone, Debug)]
pub struct Looked {
    /// The files as they were.
    pub after: TreeId,
    /// What differed then from the last approval.
    pub files: Vec<Change>,
    /// What is not among that, counted.
    pub left_out: Option<String>,
}

/// What it takes to look at a project's files.
pub struct Looks<'a> {
    /// Set where nobody waits for it.
    pub cancel: &'a CancelToken,
    /// The project.
    pub root: &'a Path,
    /// Our state, where the trees are kept, and what makes a run ours.
    pub keys: &'a Keyring,
    /// What is masked in names of files.
    pub secrets: &'a Secrets,
}

impl Looks<'_> {
    /// Opens the project's review store.
    fn store(&self) -> Result<Review, String> {
        if !Door::ours(self.root).is_dir(Path::new(".claude/state")) {
            // It is made where a run begins, and not made anew where it was taken away from one.
            return Err("the directory \".claude/state\" is gone".into());
        }
        let state = self.keys.state().ok_or(review::ReviewError::NoState).map_err(text)?;
        Review::open_unless(self.cancel, self.root, state).map_err(text)
    }

    /// The files as they are now.
    pub fn tree(&self) -> Result<TreeId, String> {
        self.store()?.snapshot().map_err(text)
    }

    /// Throws away what no kept run needs any more of the files that were under review, and what is kept of projects
    /// that are gone.
    pub fn prune(&self, now: DateTime<Utc>) {
        let over =
            |id: &String| summary::read(self.root, id, self.keys).is_some_and(|kept| kept.summary.over());
        let runs = || {
            let ids = rundir::ids(self.root).into_iter().filter(|id| !over(id));
            ids.map(|id| self.trees(&id)).collect()
        };
        // What cannot be pruned now is pruned another time.
        let _ = self.store().and_then(|store| store.prune(MOST, runs).map_err(text));
        if let Some(state) = self.keys.state().cloned() {
            // A project may have lain on a disk that does not answer.
            let clear = move || review::clear(&state, now.timestamp());
            let _ = std::thread::Builder::new().name("superpower-clear".into()).spawn(clear);
        }
    }

    /// The trees that the gates of a run of ours may still be asked about, as its journal tells them.
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

    /// What to tell the user, once a project, where earlier versions kept the files under review in it.
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

    /// Makes the review of a gate that opens, and keeps it; gives what the journal is to know of it. Where nobody waits
    /// for it any more it is left to whoever next asks.
    pub fn make(
        &self,
        dir: &RunDir,
        run: &Run,
        stage: usize,
        looked: Result<Looked, String>,
    ) -> (GateReview, Option<Shown>) {
        let from = run.baseline.as_ref().map(|it| it.tree.clone());
        let review = match looked {
            Ok(looked) => self.listed(looked),
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

    fn listed(&self, looked: Looked) -> GateReview {
        let Looked { after, mut files, left_out } = looked;
        files.iter_mut().for_each(|file| file.path = self.secrets.mask(&file.path).into_owned());
        let more = files.len().saturating_sub(LISTED);
        files.truncate(LISTED);
        let more = (more > 0).then(|| format!("not listed: {}", log::count(more, "more file")));
        let left_out: Vec<String> = more.into_iter().chain(left_out).collect();
        let left_out = (!left_out.is_empty()).then(|| self.secrets.mask(&left_out.join("; ")).into_owned());
        GateReview { after: Some(after), files, left_out, ..GateReview::default() }
    }

    /// The list that was shown: the kept one where it is what the journal says, else made again from its trees.
    pub fn again(&self, dir: &RunDir, gate: &str, shown: &Shown) -> Option<GateReview> {
        let digest = shown.digest.as_ref()?;
        load(dir, gate).filter(|review| review.digest() == *digest).or_else(|| {
            let (from, after) = (TreeId::parse(shown.from.as_ref()?)?, TreeId::parse(shown.tree.as_ref()?)?);
            let store = self.store().ok()?;
            let mut files = store.list_changes(&from, &after).ok()?;
            files.retain(|file| !is_bookkeeping(&file.path));
            let left_out = store.left_out(&from, &after);
            let review = self.listed(Looked { after, files, left_out });
            keep(dir, gate, &review);
            Some(review)
        })
    }

    /// The text of git's settings as they are now, where a list names them.
    pub fn settings(&self, listed: &str) -> Option<String> {
        let there = Door::people(self.root).lstat(Path::new(listed)).is_ok();
        if there || listed.contains('/') { None } else { self.store().ok()?.rule(listed) }
    }

    /// A file's text as of the last approval; none where it did not exist.
    pub fn before(&self, run: &Run, path: &str) -> Result<Option<String>, String> {
        let Some(tree) = baseline(run) else { return Ok(None) };
        self.store()?.before(&tree, path).map_err(text)
    }

    /// The files as they are now, and what differs from the last approval.
    pub fn compare(&self, run: &Run) -> Result<Looked, String> {
        let store = self.store()?;
        let before = baseline(run).ok_or(NO_BASELINE)?;
        compare(&store, &before, None)
    }

    /// The same, where the files were just looked at.
    pub(super) fn compare_look(&self, before: &TreeId, look: TreeId) -> Result<Looked, String> {
        compare(&self.store()?, before, Some(look))
    }

    /// What differs now from another tree.
    pub fn changed_since(&self, before: &TreeId) -> Result<Vec<Change>, String> {
        let (_, mut files) = self.store()?.compare(before, None).map_err(text)?;
        files.retain(|file| !is_bookkeeping(&file.path));
        Ok(files)
    }

    /// Those of these files that git does not ignore; all of them where it cannot be asked.
    pub(super) fn not_ignored(&self, mut files: Vec<String>) -> Vec<String> {
        let ignored = if files.is_empty() {
            None
        } else {
            self.store().and_then(|it| it.ignored(&files).map_err(text)).ok()
        };
        files.retain(|file| !is_bookkeeping(file) && !ignored.as_ref().is_some_and(|it| it.contains(file)));
        files
    }

    /// The files of the project that differ between two trees.
    pub(super) fn between(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, String> {
        let mut files = self.store()?.changes(from, to).map_err(text)?;
        files.retain(|file| !is_bookkeeping(&file.path));
        Ok(files)
    }
}

fn compare(store: &Review, before: &TreeId, look: Option<TreeId>) -> Result<Looked, String> {
    let (after, mut files) = store.compare(before, look).map_err(text)?;
    files.retain(|file| !is_bookkeeping(&file.path));
    let left_out = store.left_out(before, &after);
    Ok(Looked { after, files, left_out })
}

fn text(error: review::ReviewError) -> String {
    error.to_string()
}

/// What is said where there is nothing to compare with.
pub(super) const NO_BASELINE: &str = "it is not known what the files were at the last approval";

/// The tree that the next gate compares with.
pub fn baseline(run: &Run) -> Option<TreeId> {
    TreeId::parse(&run.baseline.as_ref()?.tree)
}

/// Whether an editor died before there was anything to compare with. Once an agent has been heard of since the newest
/// approval (or the beginning), it is too late: what that did would not be under review.
pub fn baseline_is_due(run: &Run) -> bool {
    let approved = run.decisions.iter().rfind(|it| it.decision == Decision::Approve);
    run.baseline.is_none() && run.last_started <= approved.map_or(0, |it| it.launches)
}

pub(super) fn keep(dir: &RunDir, gate: &str, review: &GateReview) {
    if let Ok(bytes) = serde_json::to_vec(&review) {
        let _ = atomic::replace(&path(dir, gate), &bytes);
    }
}

/// What lies in the place of a gate's kept review: to be believed only where the journal agrees.
pub(super) fn load(dir: &RunDir, gate: &str) -> Option<GateReview> {
    serde_json::from_str(&atomic::read(&path(dir, gate)).ok()?).ok()
}

/// The file of the project that is listed under this path: a secret in its name is masked there.
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

/// Whether a file is a track's checkpoint, or its lock with what stands in it, which runners write and nobody reviews.
fn is_bookkeeping(path: &str) -> bool {
    let inner = path.strip_prefix("conductor/tracks/").and_then(|inner| inner.split_once('/'));
    let Some((_, file)) = inner else { return false };
    let beside = |name: &str| {
        let numbers = name.strip_prefix(".metadata.json.").and_then(|rest| rest.strip_suffix(".new"));
        numbers.is_some_and(|numbers| numbers.split('.').all(|part| part.parse::<u64>().is_ok()))
    };
    // The lock is a folder with its owner's record; one that is being made or broken is named by the owner's numbers.
    let lock = |name: &str| {
        let Some(rest) = name.strip_prefix(".metadata.lock") else { return false };
        let rest = rest.strip_suffix("/owner.json").unwrap_or(rest);
        let owner = rest.strip_prefix('.').and_then(|rest| rest.split_once('-'));
        let numbers = |text: &str| text.split('-').all(|part| part.parse::<u64>().is_ok());
        rest.is_empty() || owner.is_some_and(|(what, rest)| !what.contains('/') && numbers(rest))
    };
    file == "metadata.json" || beside(file) || lock(file)
}
