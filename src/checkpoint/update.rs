//! Decides what is written when. Pure: the clock is an argument.
//!
//! A [`Tracker`] holds each step of the run as the document should show it. What could not be written yet is kept
//! there, in its latest form only. [`Tracker::due`] says when to write, and [`Tracker::apply`] writes everything into
//! the document.

use super::attempt::Attempt;
use super::end::End;
use super::figures::Figures;
use super::merge::Written;
use super::record::{Record, View};
use super::status::{IllegalTransition, Status, read_time};
use super::step::{Dirty, Step};
use crate::harness::TodoItem;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Minimum interval between writes of progress.
const AT_MOST: TimeDelta = TimeDelta::seconds(1);
/// Maximum interval between writes of a step in progress.
const AT_LEAST: TimeDelta = TimeDelta::minutes(5);
/// Limit of listed commits per checkpoint.
const COMMITS: usize = 500;

/// The start of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The checkpoint's key, from [`super::keys::keys`].
    pub key: String,
    /// As the declaration names it.
    pub agent: String,
    /// Whether this is the first launch of a visit of the stage: not a second attempt, a continuation after an
    /// interruption, or a retry.
    pub first: bool,
    /// The total of tasks (`EXECUTE`) or issues (`FIX`), if it is known before the agent has a list.
    pub total: Option<u64>,
    /// The file whose boxes show the progress of an agent without a list.
    pub plan: Option<PathBuf>,
}

/// A step from the journal, for a document that may have missed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    pub key: String,
    pub agent: String,
    /// The keys of the run's stages before it.
    pub earlier: Vec<String>,
    /// When its last visit began.
    pub started_at: DateTime<Utc>,
    pub end: End,
    pub ended_at: DateTime<Utc>,
    /// The file whose boxes show its progress, if nothing else does.
    pub plan: Option<PathBuf>,
}

/// The steps of one run.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    steps: Vec<Step>,
    current: Option<usize>,
    /// All steps before this index are written.
    written: usize,
    /// When the drive ended, if it has. Later changes to the document take precedence.
    pub(super) drive_ended: Option<DateTime<Utc>>,
}

impl Tracker {
    /// The unwritten steps, for a later process.
    pub(super) fn waiting(&self) -> Vec<Step> {
        let waits = self.steps[self.written..].iter().filter(|step| step.dirty > Dirty::No);
        waits.map(|step| Step { written: step.written.newest(), ..step.clone() }).collect()
    }

    /// Takes over the unwritten steps of an earlier process. Changes to the document after a step's end take
    /// precedence.
    pub(super) fn take_over(&mut self, steps: Vec<Step>, seen: Option<&Record>) {
        let is_newer = |step: &Step| {
            let view = seen.and_then(|record| record.checkpoint(&step.key));
            view.and_then(View::last_updated).zip(step.completed_at).is_some_and(|(at, ended)| at > ended)
        };
        self.steps.extend(steps.into_iter().filter(|step| !is_newer(step)));
    }

    /// Restores a step from before this process. Its end is written if the document does not have it and nobody has
    /// written the step since. `boxes` are those of its plan.
    pub fn restored(&mut self, past: Past, seen: Option<&Record>, boxes: &[TodoItem]) {
        let view = seen.and_then(|record| record.checkpoint(&past.key));
        let newer = view.and_then(View::last_updated).is_some_and(|at| at > past.ended_at);
        // A document has whole seconds only, and the start of a step may have been read from it.
        let same_visit = |step: &&mut Step| {
            step.key == past.key && step.started_at.timestamp() >= past.started_at.timestamp()
        };
        if let Some(step) = self.steps.iter_mut().find(same_visit) {
            if newer {
                step.dirty = Dirty::No;
            } else if !step.status.is_end() {
                // The earlier process was killed before it could record the end.
                step.end(past.end.status(), past.end.notes(), past.ended_at);
            }
            return;
        }
        if newer || view.and_then(View::status).is_some_and(Status::is_end) {
            return;
        }
        let claim = seen.is_some_and(|record| self.may_become_current(record, &past));
        let start = Start { key: past.key, agent: past.agent, ..Start::default() };
        self.started(start, seen, past.started_at);
        if let Some(step) = self.steps.last_mut() {
            step.claim = claim;
            if step.figures.total.is_none() {
                step.take(boxes);
            }
            step.end(past.end.status(), past.end.notes(), past.ended_at);
        }
        self.current = None;
    }

    /// Whether the track is still where it was before this step: at the start, or at an earlier step of this run. If
    /// it has moved on, the step must not become the current one.
    fn may_become_current(&self, record: &Record, past: &Past) -> bool {
        let Some(at) = record.current_step() else { return true };
        let earlier = || {
            let ended = record.checkpoint(at).filter(|view| view.status().is_some_and(Status::is_end));
            ended.and_then(View::last_updated).is_some_and(|updated| updated <= past.started_at)
        };
        at == Status::NotStarted.text()
            || self.steps.iter().any(|step| step.key == at)
            || (past.earlier.iter().any(|key| key == at) && earlier())
    }

    /// A launch starts. `seen` is the document, if it could be read.
    pub fn started(&mut self, start: Start, seen: Option<&Record>, now: DateTime<Utc>) {
        let view = seen.and_then(|record| record.checkpoint(&start.key));
        let fields = view.map(View::fields).unwrap_or_default();
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let goes_on = !start.first || view.and_then(View::status) == Some(Status::InProgress);
        let began = text("started_at").and_then(read_time).filter(|_| !start.first);
        let waiting = self.steps.iter().position(|step| step.key == start.key).map(|at| {
            self.written = self.written.min(at);
            self.steps.remove(at)
        });
        // The files of earlier attempts of the same visit count too.
        let (files, unseen) = waiting
            .as_ref()
            .filter(|_| !start.first)
            .map(|step| (step.files.clone(), step.unseen.clone()))
            .unwrap_or_default();
        // An unwritten step is newer than the document.
        let waited = waiting.as_ref().filter(|step| !start.first && step.dirty > Dirty::No);
        let tasks = || view.filter(|_| goes_on).and_then(View::tasks);
        let tasks = waited.and_then(|step| Some((step.figures.done, step.total()?))).or_else(tasks);
        let last = || view.filter(|_| goes_on).and_then(View::last_task);
        let last = waited.and_then(|step| step.figures.last.as_deref()).or_else(last);
        let last_commit = || text("last_commit").filter(|_| goes_on).map(str::to_owned);
        let last_commit = waited.and_then(|step| step.last_commit.clone()).or_else(last_commit);
        let commits = || fields.get("commits").and_then(Value::as_array).filter(|_| goes_on).cloned();
        let commits = waited.map(|step| step.commits.clone()).or_else(commits).unwrap_or_default();
        let figures = Figures::resumed(tasks, last);
        self.steps.push(Step {
            count: waiting.map_or(0, |step| step.count) + u32::from(start.first && start.key == "FIX"),
            key: start.key,
            agent: start.agent,
            status: Status::InProgress,
            started_at: began.unwrap_or(now),
            launched_at: now,
            completed_at: None,
            first: start.first,
            figures,
            listed: false,
            total: start.total,
            files,
            unseen,
            head: None,
            last_commit,
            commits,
            notes: None,
            claim: true,
            seen_step: seen.map(|record| record.current_step().map(str::to_owned)),
            written: Written::starting_from(&fields),
            written_at: None,
            dirty: Dirty::Now,
        });
        self.current = Some(self.steps.len() - 1);
    }

    /// Updates the progress from the agent's list. Returns whether a task was finished, so that HEAD is worth
    /// reading.
    pub fn todo(&mut self, list: &[TodoItem]) -> bool {
        let Some(step) = self.working() else { return false };
        // From now on the boxes of a plan are ignored.
        step.listed |= !list.is_empty();
        step.take(list)
    }

    /// Updates the progress from the boxes of the plan, for an agent without a list. Returns whether a task was
    /// finished.
    pub fn boxes(&mut self, list: &[TodoItem]) -> bool {
        let Some(step) = self.working().filter(|step| !step.listed && !list.is_empty()) else { return false };
        // Boxes that were ticked before the step began are not its work.
        let first = step.figures.is_new();
        step.take(list) && !first
    }

    /// Records git's HEAD: at the beginning, at the end, or after a task (`task_done`). The first HEAD is not a
    /// commit of this step.
    pub fn head(&mut self, sha: &str, task_done: bool) {
        let Some(step) = self.working() else { return };
        let known = step.commits.iter().any(|commit| commit["sha"].as_str() == Some(sha));
        let moved = step.head.as_ref().is_some_and(|head| head != sha);
        if moved && !known && step.commits.len() < COMMITS {
            step.commits.push(json!({ "sha": sha, "task": step.figures.last }));
        }
        if task_done || moved {
            step.last_commit = Some(sha.to_owned());
        }
        step.head = Some(sha.to_owned());
    }

    /// Records files that the agent wrote, relative to the project root. They are written with the next change, or at
    /// the end.
    pub fn files(&mut self, files: impl IntoIterator<Item = String>) {
        if let Some(step) = self.working() {
            step.list(files);
        }
    }

    /// The latest attempt has ended. Its files are looked up before its step is written.
    pub fn attempt_ended(&mut self, attempt: Attempt) {
        if let Some(step) = self.working() {
            step.unseen.push(attempt);
        }
    }

    /// The attempts whose files are not known yet, oldest first, and then the attempt that still works. Empty if
    /// there is nothing to look up.
    pub fn unseen(&self) -> Vec<Attempt> {
        let mut attempts: Vec<Attempt> = self.steps.iter().flat_map(|step| &step.unseen).cloned().collect();
        if attempts.is_empty() {
            return attempts;
        }
        attempts.sort_by_key(|attempt| attempt.since);
        let works = self.current.map(|index| &self.steps[index]);
        let works = works.filter(|step| step.status == Status::InProgress && step.unseen.is_empty());
        attempts.extend(works.map(|step| Attempt { since: step.launched_at, until: None, touched: None }));
        attempts
    }

    /// Records the files that were found for these attempts.
    pub fn seen(&mut self, attempts: &[Attempt], files: Vec<Vec<String>>) {
        for (attempt, files) in attempts.iter().zip(files) {
            if let Some(step) = self.steps.iter_mut().find(|step| step.unseen.contains(attempt)) {
                step.unseen.retain(|unseen| unseen != attempt);
                step.list(files);
            }
        }
    }

    /// The launch has ended. Fails if it had not begun, or has already ended.
    pub fn ended(&mut self, end: &End, now: DateTime<Utc>) -> Result<(), IllegalTransition> {
        let Some(index) = self.current else {
            return Status::NotStarted.step(end.status()).map(|_| ());
        };
        let step = &mut self.steps[index];
        step.status.step(end.status())?;
        step.end(end.status(), end.notes(), now);
        Ok(())
    }

    /// The launch was interrupted. The step stays in progress, up to date to the last task.
    pub fn interrupted(&mut self) {
        if let Some(step) = self.working() {
            step.dirty = Dirty::Now;
        }
    }

    /// When to write next; a time in the past means now.
    pub fn due(&self) -> Option<DateTime<Utc>> {
        let pending = self.steps[self.written..].iter().filter_map(|step| match step.dirty {
            // Due whatever the run's clock says.
            Dirty::Now => Some(DateTime::<Utc>::MIN_UTC),
            Dirty::Progress => Some(step.written_at.map_or(DateTime::<Utc>::MIN_UTC, |at| at + AT_MOST)),
            Dirty::No => None,
        });
        let beat =
            self.current.map(|index| &self.steps[index]).filter(|step| step.status == Status::InProgress);
        let beat = beat.and_then(|step| Some(step.written_at? + AT_LEAST));
        pending.chain(beat).min()
    }

    /// Whether anything is not written yet.
    pub fn waits(&self) -> bool {
        self.steps[self.written..].iter().any(|step| step.dirty > Dirty::No)
    }

    /// Applies everything unwritten to the document. If the document then cannot be written, the caller must keep the
    /// previous tracker.
    pub fn apply(&mut self, record: &mut Record, now: DateTime<Utc>) {
        let current = self.current;
        let at = self.foreign_step(record);
        for (index, step) in self.steps.iter_mut().enumerate() {
            let updated = record.checkpoint(&step.key).and_then(View::last_updated);
            if self
                .drive_ended
                .is_some_and(|drive_ended| updated.is_some_and(|updated| updated > drive_ended))
            {
                step.dirty = Dirty::No;
                continue;
            }
            let beats = current == Some(index) && step.status == Status::InProgress;
            if step.dirty > Dirty::No || beats {
                step.apply(record, at.as_deref(), now);
            }
        }
        let waits = |step: &Step| step.dirty > Dirty::No || step.status == Status::InProgress;
        self.written = self.steps.iter().position(waits).unwrap_or(self.steps.len());
    }

    /// Applies every step of the run to a document that has lost them.
    pub fn apply_all(&mut self, record: &mut Record, now: DateTime<Utc>) {
        for step in &mut self.steps {
            step.claim = true;
            step.seen_step = None;
            step.apply(record, None, now);
        }
    }

    /// The track's step, if it is not one that we are about to write.
    fn foreign_step(&self, record: &Record) -> Option<String> {
        let at = record.current_step()?;
        (!self.steps.iter().any(|step| step.claim && step.key == at)).then(|| at.to_owned())
    }

    fn working(&mut self) -> Option<&mut Step> {
        let step = &mut self.steps[self.current?];
        (step.status == Status::InProgress).then_some(step)
    }
}
