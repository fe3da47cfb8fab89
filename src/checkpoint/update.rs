//! What is written when: pure, with the clock as an argument.
//!
//! A [`Tracker`] knows each step of the run as it should stand in the document. Whatever could not be written yet
//! waits there in its newest form only; [`Tracker::due`] says when to write, [`Tracker::apply`] puts it all in.

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

/// Progress is written at most so often.
const AT_MOST: TimeDelta = TimeDelta::seconds(1);
/// A step in progress is written at least so often.
const AT_LEAST: TimeDelta = TimeDelta::minutes(5);
/// Commits that a checkpoint lists.
const COMMITS: usize = 500;

/// The beginning of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The checkpoint's key, from [`super::keys::keys`].
    pub key: String,
    /// Who executes it, as the declaration names it.
    pub agent: String,
    /// Whether this is the first launch of a visit of the stage: no second attempt, no going on after an interruption,
    /// no retry.
    pub first: bool,
    /// Tasks (`EXECUTE`) or issues (`FIX`) in all, where something tells before the agent does.
    pub total: Option<u64>,
    /// The file whose boxes tell how far an agent without a list is.
    pub plan: Option<PathBuf>,
}

/// A step as the journal tells it, for a document that may have missed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The checkpoint's key.
    pub key: String,
    /// Who executed it.
    pub agent: String,
    /// The keys of the run's stages before it.
    pub earlier: Vec<String>,
    /// When its last visit began.
    pub started_at: DateTime<Utc>,
    /// How it ended.
    pub end: End,
    /// When.
    pub ended_at: DateTime<Utc>,
    /// The file whose boxes tell how far it was, where nothing else does any more.
    pub plan: Option<PathBuf>,
}

/// The steps of one run.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    steps: Vec<Step>,
    current: Option<usize>,
    /// Before this one every step is written.
    written: usize,
    /// When its drive ended, where it has: what the document says since then is newer.
    pub(super) left: Option<DateTime<Utc>>,
}

impl Tracker {
    /// The steps that wait to be written, for a process that comes later.
    pub(super) fn waiting(&self) -> Vec<Step> {
        let waits = self.steps[self.written..].iter().filter(|step| step.dirty > Dirty::No);
        waits.map(|step| Step { written: step.written.newest(), ..step.clone() }).collect()
    }

    /// The same, taken over by that process. What somebody has written since a step ended is newer.
    pub(super) fn take_over(&mut self, steps: Vec<Step>, seen: Option<&Record>) {
        let is_newer = |step: &Step| {
            let view = seen.and_then(|record| record.checkpoint(&step.key));
            view.and_then(View::last_updated).zip(step.completed_at).is_some_and(|(at, ended)| at > ended)
        };
        self.steps.extend(steps.into_iter().filter(|step| !is_newer(step)));
    }

    /// A step of the same run from before this process: its end is written where the document does not have it, and
    /// nobody has written it since. `boxes` are those of its plan.
    pub fn restored(&mut self, past: Past, seen: Option<&Record>, boxes: &[TodoItem]) {
        let view = seen.and_then(|record| record.checkpoint(&past.key));
        let newer = view.and_then(View::last_updated).is_some_and(|at| at > past.ended_at);
        // A document holds whole seconds, and where a step has begun may have been read from there.
        let same_visit = |step: &&mut Step| {
            step.key == past.key && step.started_at.timestamp() >= past.started_at.timestamp()
        };
        if let Some(step) = self.steps.iter_mut().find(same_visit) {
            if newer {
                step.dirty = Dirty::No;
            } else if !step.status.is_end() {
                // It was cut off before it could say so.
                step.end(past.end.status(), past.end.notes(), past.ended_at);
            }
            return;
        }
        if newer || view.and_then(View::status).is_some_and(Status::is_end) {
            return;
        }
        let claim = seen.is_some_and(|record| self.was_to_claim(record, &past));
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

    /// Whether the document stands where it stood before this step: at the beginning, or at an earlier step of this run.
    /// Where the track has gone on since, the step says nothing of where it is.
    fn was_to_claim(&self, record: &Record, past: &Past) -> bool {
        let Some(at) = record.current_step() else { return true };
        let earlier = || {
            let ended = record.checkpoint(at).filter(|view| view.status().is_some_and(Status::is_end));
            ended.and_then(View::last_updated).is_some_and(|updated| updated <= past.started_at)
        };
        at == Status::NotStarted.text()
            || self.steps.iter().any(|step| step.key == at)
            || (past.earlier.iter().any(|key| key == at) && earlier())
    }

    /// A launch begins; `seen` is the document as it is, where it could be read.
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
        // What an earlier attempt of the same visit has written counts as well.
        let (files, unseen) = waiting
            .as_ref()
            .filter(|_| !start.first)
            .map(|step| (step.files.clone(), step.unseen.clone()))
            .unwrap_or_default();
        // Where it waits still, it is newer than the document.
        let waited = waiting.as_ref().filter(|step| !start.first && step.dirty > Dirty::No);
        let tasks = || view.filter(|_| goes_on).and_then(View::tasks);
        let tasks = waited.and_then(|step| Some((step.figures.done, step.total()?))).or_else(tasks);
        let last = || view.filter(|_| goes_on).and_then(View::last_task);
        let last = waited.and_then(|step| step.figures.last.as_deref()).or_else(last);
        let last_commit = || text("last_commit").filter(|_| goes_on).map(str::to_owned);
        let last_commit = waited.and_then(|step| step.last_commit.clone()).or_else(last_commit);
        let commits = || fields.get("commits").and_then(Value::as_array).filter(|_| goes_on).cloned();
        let commits = waited.map(|step| step.commits.clone()).or_else(commits).unwrap_or_default();
        let figures = Figures::going_on(tasks, last);
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

    /// The agent's list changed. Says whether a task was done: then HEAD is worth a look.
    pub fn todo(&mut self, list: &[TodoItem]) -> bool {
        let Some(step) = self.working() else { return false };
        // From here on the boxes of a plan say nothing.
        step.listed |= !list.is_empty();
        step.take(list)
    }

    /// The boxes of the plan, for an agent that keeps no list. Says whether a task was done.
    pub fn boxes(&mut self, list: &[TodoItem]) -> bool {
        let Some(step) = self.working().filter(|step| !step.listed && !list.is_empty()) else { return false };
        // Those that were ticked before it began are nothing that it did.
        let first = step.figures.is_new();
        step.take(list) && !first
    }

    /// Git's HEAD, after a task (`task_done`), at the beginning, or at the end. What it was at the beginning is nobody's
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

    /// Files that the agent wrote, relative to the project root. Written with the next change, at the latest at the
    /// end.
    pub fn files(&mut self, files: impl IntoIterator<Item = String>) {
        if let Some(step) = self.working() {
            step.list(files);
        }
    }

    /// The newest attempt is over: the files that it has written are to be found before its step is written.
    pub fn attempt_ended(&mut self, attempt: Attempt) {
        if let Some(step) = self.working() {
            step.unseen.push(attempt);
        }
    }

    /// The attempts whose files are not known yet, oldest first; behind them the one that works still. None where there
    /// is nothing to find.
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

    /// The files of these attempts were found.
    pub fn seen(&mut self, attempts: &[Attempt], files: Vec<Vec<String>>) {
        for (attempt, files) in attempts.iter().zip(files) {
            if let Some(step) = self.steps.iter_mut().find(|step| step.unseen.contains(attempt)) {
                step.unseen.retain(|unseen| unseen != attempt);
                step.list(files);
            }
        }
    }

    /// The launch is over. Refused where it had not begun, or has ended.
    pub fn ended(&mut self, end: &End, now: DateTime<Utc>) -> Result<(), IllegalTransition> {
        let Some(index) = self.current else {
            return Status::NotStarted.step(end.status()).map(|_| ());
        };
        let step = &mut self.steps[index];
        step.status.step(end.status())?;
        step.end(end.status(), end.notes(), now);
        Ok(())
    }

    /// The launch was cut off. The step stays in progress, exact to the last task.
    pub fn interrupted(&mut self) {
        if let Some(step) = self.working() {
            step.dirty = Dirty::Now;
        }
    }

    /// When to write next: now or earlier means at once.
    pub fn due(&self) -> Option<DateTime<Utc>> {
        let pending = self.steps[self.written..].iter().filter_map(|step| match step.dirty {
            // Whatever clock the run keeps.
            Dirty::Now => Some(DateTime::<Utc>::MIN_UTC),
            Dirty::Progress => Some(step.written_at.map_or(DateTime::<Utc>::MIN_UTC, |at| at + AT_MOST)),
            Dirty::No => None,
        });
        let beat =
            self.current.map(|index| &self.steps[index]).filter(|step| step.status == Status::InProgress);
        let beat = beat.and_then(|step| Some(step.written_at? + AT_LEAST));
        pending.chain(beat).min()
    }

    /// Whether anything waits to be written.
    pub fn waits(&self) -> bool {
        self.steps[self.written..].iter().any(|step| step.dirty > Dirty::No)
    }

    /// Puts everything that waits into the document. Keep the tracker as it was where the document then cannot be
    /// written.
    pub fn apply(&mut self, record: &mut Record, now: DateTime<Utc>) {
        let current = self.current;
        let at = self.foreign_step(record);
        for (index, step) in self.steps.iter_mut().enumerate() {
            let updated = record.checkpoint(&step.key).and_then(View::last_updated);
            if self.left.is_some_and(|left| updated.is_some_and(|updated| updated > left)) {
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

    /// Puts every step of the run in again, into a document that has lost them.
    pub fn apply_all(&mut self, record: &mut Record, now: DateTime<Utc>) {
        for step in &mut self.steps {
            step.claim = true;
            step.seen_step = None;
            step.apply(record, None, now);
        }
    }

    /// The step that the track is at, where it is none that we are about to write.
    fn foreign_step(&self, record: &Record) -> Option<String> {
        let at = record.current_step()?;
        (!self.steps.iter().any(|step| step.claim && step.key == at)).then(|| at.to_owned())
    }

    fn working(&mut self) -> Option<&mut Step> {
        let step = &mut self.steps[self.current?];
        (step.status == Status::InProgress).then_some(step)
    }
}
