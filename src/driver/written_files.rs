//! Finds the files that attempts have written, for their checkpoints.
//!
//! In a small project the drive knows which files were touched during each attempt ([`Stamps`]), and git tells which
//! of them are changes. In a large project only git is used, and the files' times tell which attempt wrote them.
//!
//! [`Stamps`]: super::file_stamps::Stamps

use super::gate_review::Comparer;
use super::review_worker::ReviewWorker;
use crate::checkpoint::Attempt;
use crate::project::review::{CancelToken, Change, Status, TreeId};
use crate::store::beneath::Door;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// File times come from a coarse clock, so a file may look this much older than it is.
const TICK: TimeDelta = TimeDelta::milliseconds(20);

/// Approximate limit of remembered changes.
const MAX_CHANGES: usize = 10_000;

/// Finds the files that attempts have written.
pub struct Written {
    reviews: Arc<ReviewWorker>,
    /// Set when the result is no longer needed. A cancel or the editor's exit does not set it, so that finished
    /// attempts are recorded completely.
    cancel: CancelToken,
    /// The files at the last lookup. At first this is the last approval, or else the first comparison of this drive.
    before: Option<TreeId>,
    /// Changes since the start of an attempt that still works. They are attributed when it ends.
    held: Vec<Change>,
    /// Every file that was ever seen as a change, because a lookup may come when the next attempt has already
    /// written.
    changed: BTreeSet<String>,
}

impl Written {
    /// For a run that is driven from now on. `baseline` is what its next gate compares with.
    pub fn new(reviews: Arc<ReviewWorker>, cancel: CancelToken, baseline: Option<TreeId>) -> Self {
        Self { reviews, cancel, before: baseline, held: Vec::new(), changed: BTreeSet::new() }
    }

    /// The files that each attempt has written, oldest attempt first: those that differ from the last lookup and were
    /// touched during the attempt. An attempt that still works gets none.
    pub fn by(&mut self, attempts: &[Attempt]) -> Vec<Vec<String>> {
        let mut files: Vec<Vec<String>> = vec![Vec::new(); attempts.len()];
        let Some(changes) = self.changes() else { return files };
        if self.changed.len() < MAX_CHANGES {
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

    /// The touched files that are changes. A file that was touched again or removed may no longer differ; then it
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
        files.extend(self.comparer().not_ignored(others));
        files
    }

    /// Attributes changes to attempts by the files' times.
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

    fn comparer(&self) -> Comparer<'_> {
        self.reviews.host().comparer(&self.cancel, self.reviews.root())
    }

    /// The changes since the last lookup, and those left over from it.
    fn changes(&mut self) -> Option<Vec<Change>> {
        let first = self.reviews.first().cloned();
        let tree = self.reviews.tree_cancellable(&self.cancel, self.reviews.ended()).ok()?;
        let before = self.before.replace(tree.clone()).or(first)?;
        let mut changes = self.comparer().between(&before, &tree).ok()?;
        let mut held = std::mem::take(&mut self.held);
        held.retain(|held| !changes.iter().any(|change| change.path == held.path));
        changes.append(&mut held);
        Some(changes)
    }
}

/// When a file was last changed; `None` if it no longer exists.
fn touched(door: &Door, change: &Change) -> Option<DateTime<Utc>> {
    if change.status == Status::Deleted {
        return None;
    }
    let file = door.lstat(Path::new(&change.path)).ok()?;
    DateTime::from_timestamp(file.changed.0, u32::try_from(file.changed.1).ok()?)
}

/// The attempt at this time. If two consecutive attempts cannot be told apart, the earlier one.
fn owner(attempts: &[Attempt], at: DateTime<Utc>) -> Option<usize> {
    let began = |attempt: &Attempt| attempt.since - TICK <= at;
    let within = |attempt: &Attempt| began(attempt) && attempt.until.is_none_or(|until| at <= until);
    attempts.iter().position(within).or_else(|| attempts.iter().rposition(began))
}
