//! What attempts have written, as the tree of files tells it: for their checkpoints.
//!
//! Where the project is small, the drive knows which files were touched while each attempt worked ([`Stamps`]), and git
//! says which of them are changes. In a large one git alone is asked, and the files' times tell whose they are.
//!
//! [`Stamps`]: super::file_stamps::Stamps

use super::gate_review::Looks;
use super::review_worker::ReviewWorker;
use crate::checkpoint::Attempt;
use crate::project::review::{CancelToken, Change, Status, TreeId};
use crate::store::beneath::Door;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A file's time may be so much older than the moment it was written at: the system's clock for files ticks slowly.
const TICK: TimeDelta = TimeDelta::milliseconds(20);

/// Files that are known as changes, about.
const MOST: usize = 10_000;

/// Finds out what attempts have written.
pub struct Written {
    reviews: Arc<ReviewWorker>,
    /// Set where nobody waits for it any more. Not by a cancel or the editor's end: what has ended may be told whole.
    cancel: CancelToken,
    /// The files as they were at the last look for a checkpoint; at first, at the last approval, else at the first look
    /// of this drive.
    before: Option<TreeId>,
    /// What was written since an attempt began that works still: its own end tells of it.
    held: Vec<Change>,
    /// Every file that was a change at some look. A look may come when the next attempt has written already.
    changed: BTreeSet<String>,
}

impl Written {
    /// For a run that is driven from here on, with what its next gate compares with.
    pub fn new(reviews: Arc<ReviewWorker>, cancel: CancelToken, baseline: Option<TreeId>) -> Self {
        Self { reviews, cancel, before: baseline, held: Vec::new(), changed: BTreeSet::new() }
    }

    /// The files that each of these attempts has written, oldest attempt first: those that differ from what they were
    /// at the last look, and were touched while it worked. An attempt that works still gets none.
    pub fn by(&mut self, attempts: &[Attempt]) -> Vec<Vec<String>> {
        let mut files: Vec<Vec<String>> = vec![Vec::new(); attempts.len()];
        let Some(changes) = self.changes() else { return files };
        if self.changed.len() < MOST {
            self.changed.extend(changes.iter().map(|change| change.path.clone()));
        }
        for (at, attempt) in attempts.iter().enumerate() {
            if let Some(touched) = &attempt.touched {
                files[at] = self.of_touched(touched, &attempts[at + 1..]);
            }
        }
        self.held.clear();
        if attempts.iter().any(|attempt| attempt.until.is_some() && attempt.touched.is_none()) {
            self.by_time(attempts, changes, &mut files);
        }
        let mask = |file: &mut String| *file = self.reviews.mask(file);
        files.iter_mut().flatten().for_each(mask);
        files
    }

    /// Those of the touched files that are changes. One that was touched again, or removed, may be none any more; then it
    /// counts unless git ignores it.
    fn of_touched(&self, touched: &[String], later: &[Attempt]) -> Vec<String> {
        let door = Door::people(self.reviews.root());
        let again = |path: &String| {
            later.iter().any(|attempt| attempt.touched.as_ref().is_none_or(|touched| touched.contains(path)))
        };
        let (mut files, others): (Vec<String>, Vec<String>) =
            touched.iter().cloned().partition(|path| self.changed.contains(path));
        let gone = |path: &String| door.lstat(Path::new(path)).is_err();
        let others: Vec<String> = others.into_iter().filter(|path| gone(path) || again(path)).collect();
        files.extend(self.looks().not_ignored(others));
        files
    }

    /// The attempts in whose time the files were touched.
    fn by_time(&mut self, attempts: &[Attempt], changes: Vec<Change>, files: &mut [Vec<String>]) {
        let door = Door::people(self.reviews.root());
        for change in changes {
            let Some(at) = touched(&door, &change).and_then(|at| owner(attempts, at)) else { continue };
            match &attempts[at] {
                Attempt { until: None, .. } => self.held.push(change),
                Attempt { touched: None, .. } => files[at].push(change.path),
                Attempt { .. } => {}
            }
        }
    }

    fn looks(&self) -> Looks<'_> {
        self.reviews.host().looks(&self.cancel, self.reviews.root())
    }

    /// What differs from the last look, with what was left over then.
    fn changes(&mut self) -> Option<Vec<Change>> {
        let first = self.reviews.first().cloned();
        let tree = self.reviews.tree_unless(&self.cancel, self.reviews.ended()).ok()?;
        let before = self.before.replace(tree.clone()).or(first)?;
        let mut changes = self.looks().between(&before, &tree).ok()?;
        let mut held = std::mem::take(&mut self.held);
        held.retain(|held| !changes.iter().any(|change| change.path == held.path));
        changes.append(&mut held);
        Some(changes)
    }
}

/// When a file was changed last; none for one that is gone.
fn touched(door: &Door, change: &Change) -> Option<DateTime<Utc>> {
    if change.status == Status::Deleted {
        return None;
    }
    let file = door.lstat(Path::new(&change.path)).ok()?;
    DateTime::from_timestamp(file.changed.0, u32::try_from(file.changed.1).ok()?)
}

/// The attempt in whose time this moment falls. Where that of two that follow each other cannot be told apart, it is the
/// earlier one.
fn owner(attempts: &[Attempt], at: DateTime<Utc>) -> Option<usize> {
    let began = |attempt: &Attempt| attempt.since - TICK <= at;
    let within = |attempt: &Attempt| began(attempt) && attempt.until.is_none_or(|until| at <= until);
    attempts.iter().position(within).or_else(|| attempts.iter().rposition(began))
}
