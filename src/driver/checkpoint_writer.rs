//! Follows the checkpoint protocol from what the driver observes of the agent.
//!
//! Nothing here delays a run, because a thread does the writing. Only an exceeded fix limit keeps a stage from
//! starting.

use super::delivery::Delivery;
use super::gate_review;
use super::mailbox::Outbox;
use super::review_worker::ReviewWorker;
use super::unwritten_checkpoints::{Left, reason};
use super::written_files::Written;
use super::{Host, Message, Shared};
use crate::checkpoint::place::plan_file;
use crate::checkpoint::update::Past;
use crate::checkpoint::{self, Attempt, Checkpoints, End, Find, Opening, Place, Report, Row};
use crate::harness::Progress;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::project::review::CancelToken;
use crate::run::failure::Failure;
use crate::run::state::{Done, Reason, Run, Step};
use crate::store::rundir::RunDir;
use chrono::{DateTime, Utc};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time for the last write when a drive ends.
const CLOSING: Duration = Duration::from_secs(1);
/// The same if a problem has already delayed writing. Unwritten checkpoints are not lost; they are retried after the
/// drive.
const CLOSING_DELAYED: Duration = Duration::from_millis(50);
/// The same once git is no longer waited for.
const WITHOUT_GIT: Duration = Duration::from_millis(200);

/// The checkpoints of a drive.
pub struct CheckpointWriter {
    pub(super) handle: Checkpoints,
    keys: Vec<Option<String>>,
    changed: Arc<AtomicBool>,
    rows: Vec<Row>,
    /// Whether the editor shows this run rather than a later one of the project.
    shown: Arc<AtomicBool>,
    /// Cancels the lookup of files that attempts have written.
    cancel: CancelToken,
    /// Ends of launches that are not in the journal yet.
    endings: Vec<Ending>,
}

pub(super) struct Ending {
    pub(super) attempt: Attempt,
    /// `None` if the step continues by itself.
    pub(super) end: Option<End>,
    pub(super) at: DateTime<Utc>,
}

/// The place of a run's document: its track, or else its own directory. Also returns a message if the track was
/// refused.
pub fn place(root: &Path, dir: &RunDir, run: &Run) -> (Place, Option<String>) {
    let track = run.plan.inputs.get("track_id").filter(|id| !id.is_empty());
    match track.map(|id| Place::of_track(root, id)) {
        Some(Ok(place)) => (place, None),
        Some(Err(refused)) => (Place::of_run(root, dir.path()), Some(refused.to_string())),
        None => (Place::of_run(root, dir.path()), None),
    }
}

pub fn keys(plan: &Plan) -> Vec<Option<String>> {
    checkpoint::keys(plan.declaration.stages.iter().map(|stage| {
        (
            stage.name.as_ref().map(|name| name.value.as_str()),
            stage.action.as_ref().map(|action| &action.value),
        )
    }))
}

/// The file in a run's directory that keeps its unwritten checkpoints.
pub fn mark(dir: &RunDir) -> PathBuf {
    dir.path().join("checkpoint-waits")
}

/// The arguments for opening a run's checkpoints.
pub fn opening(host: &Arc<Host>, place: Place, dir: &RunDir, find: Find) -> Opening {
    let host = host.clone();
    let mask = move |text: &str| host.secrets.mask(text).into_owned();
    Opening { place, mark: Some(mark(dir)), mask: Box::new(mask), find }
}

/// For runs that are not driven, which have no attempts to look up.
pub fn find_nothing() -> Find {
    Box::new(|attempts| vec![Vec::new(); attempts.len()])
}

impl CheckpointWriter {
    /// Opens a run's checkpoints; continues those that an earlier drive of this editor has left, if any.
    pub fn open(
        reviews: &Arc<ReviewWorker>,
        dir: &RunDir,
        run: &Run,
        drive: Outbox,
        shared: &Arc<Shared>,
    ) -> Self {
        let (host, root) = (reviews.host(), reviews.root());
        let (place, refused) = place(root, dir, run);
        let changed = Arc::new(AtomicBool::new(true));
        let shown = Arc::new(AtomicBool::new(true));
        let say = notifier(host, root);
        if let Some(refused) = refused {
            say("warn", &refused);
        }
        host.unwritten.hide(root);
        let before = host.unwritten.take(root, &run.run_id);
        let cancel = CancelToken::default();
        let mut written = Written::new(reviews.clone(), cancel.clone(), gate_review::baseline(run));
        let find: Find = Box::new(move |attempts| written.by(attempts));
        let (flag, root, publish) = (changed.clone(), root.to_owned(), host.clone());
        let (shared, is_shown) = (Arc::downgrade(shared), shown.clone());
        let report = reporter(&place, say);
        let document = place.clone();
        let handle = Checkpoints::open_after(opening(host, place, dir, find), before, move |change| {
            if matches!(change, Report::Changed | Report::State(_)) {
                flag.store(true, Ordering::Relaxed);
                if !drive.send(Message::Checkpoints)
                    && is_shown.load(Ordering::Relaxed)
                    && let Some(shared) = shared.upgrade()
                {
                    // After the drive, update the picture that it published last.
                    let (name, value) = match &change {
                        Report::State(state) => ("checkpoint_waiting", json!(reason(state))),
                        _ => ("checkpoints", shown_rows(&publish, &document)),
                    };
                    let event = shared.picture().amended(&root, name, value);
                    (publish.publish)(Delivery::Newest(&format!("snapshot {}", root.display())), event);
                }
            }
            report(change);
        });
        let keys = keys(&run.plan);
        let past = past(reviews.root(), run, &keys);
        if !past.is_empty() {
            handle.restored(past);
        }
        Self { handle, keys, changed, rows: Vec::new(), shown, endings: Vec::new(), cancel }
    }

    /// The run has another declaration now, whose stages have keys of their own.
    pub fn replanned(&mut self, plan: &Plan) {
        self.keys = keys(plan);
        self.touched();
    }

    /// Why the latest checkpoint could not be written yet.
    pub fn waiting(&self) -> Option<String> {
        reason(&self.handle.state())
    }

    pub fn key(&self, stage: usize) -> Option<&str> {
        self.keys.get(stage)?.as_deref()
    }

    /// The document's rows, read again after a change.
    pub fn rows(&mut self) -> &[Row] {
        if self.changed.swap(false, Ordering::Relaxed) {
            self.rows = self.handle.rows();
        }
        &self.rows
    }

    /// Whether the rows must be read again.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Marks the rows as outdated.
    pub(super) fn touched(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    /// A launch has ended. Its checkpoint is updated after the journal.
    pub(super) fn ended(&mut self, end: Ending) {
        self.endings.push(end);
    }

    /// The ends of launches are in the journal now, so their checkpoints may be written.
    pub fn journalled(&mut self) {
        for Ending { attempt, end, at } in std::mem::take(&mut self.endings) {
            if attempt.touched.as_ref().is_none_or(|touched| !touched.is_empty()) {
                self.handle.attempt_ended(attempt);
            }
            match end {
                Some(end) => self.handle.ended(end, at),
                None => self.handle.interrupted(),
            }
            self.touched();
        }
    }

    /// The ends of launches could not be journalled, so their checkpoints are not written.
    pub fn forget(&mut self) {
        self.endings.clear();
    }

    /// Updates the checkpoint from the agent's progress.
    pub(super) fn progress(&self, progress: &Progress) {
        match progress {
            Progress::Todo { items } => self.handle.todo(items.clone()),
            Progress::Tool { files, .. } if !files.is_empty() => self.handle.files(files.clone()),
            _ => return,
        }
        self.touched();
    }

    /// The launch was interrupted.
    pub(super) fn interrupted(&self) {
        self.handle.interrupted();
        self.touched();
    }

    /// The progress of the running stage's checkpoint, as one line.
    pub(super) fn line(&mut self, run: &Run) -> Option<String> {
        let key = self.key(run.current()?)?.to_owned();
        let row = self.rows().iter().find(|row| row.key == key)?;
        let (done, total) = (row.done?, row.total?);
        let task = row.task.as_ref().map(|task| format!(" · {task}")).unwrap_or_default();
        Some(format!("{key} {done}/{total}{task}"))
    }

    /// At the end of a drive, writes what is left while the run is still ours. If the editor exits or the run was
    /// cancelled, a slow lookup of files is given up and the rest is written.
    pub fn flush(&self, leaves: bool) {
        let written = self.handle.flush(if self.waiting().is_some() { CLOSING_DELAYED } else { CLOSING });
        if !written && leaves {
            self.cancel.set(true);
            self.handle.flush(WITHOUT_GIT);
        }
    }

    /// The drive has ended. Unwritten checkpoints are retried.
    pub fn close(self, host: &Host, root: &Path, run: &Run) {
        host.unwritten.keep(Left::new(root, run, self.handle, self.shown, self.cancel));
    }
}

/// The document's current rows, for display.
fn shown_rows(host: &Host, place: &Place) -> serde_json::Value {
    let rows = checkpoint::read(place).map(|record| checkpoint::rows(&record)).unwrap_or_default();
    let mut rows = json!(rows);
    host.secrets.mask_message(&mut rows, &["key", "status"]);
    rows
}

/// Returns a function that notifies the user about a project.
pub fn notifier(host: &Arc<Host>, root: &Path) -> impl Fn(&str, &str) + Send + 'static {
    let (host, root) = (host.clone(), root.to_owned());
    move |level, message| {
        host.send(&json!({ "type": "notice", "root": root, "level": level, "message": message }));
    }
}

/// Returns a function that handles the reports of the checkpoint writer.
pub fn reporter(
    place: &Place,
    say: impl Fn(&str, &str) + Send + 'static,
) -> impl Fn(Report) + Send + 'static {
    let document = place.named();
    move |report| match report {
        Report::Waiting(why) => say("warn", &format!("\"{document}\" is not written yet: {why}")),
        Report::Fixed(what) => say("warn", &what),
        Report::Recovered => say("info", &format!("\"{document}\" is written again")),
        Report::Changed | Report::State(_) => {}
    }
}

/// The file whose boxes a stage works through.
pub(super) fn plan_of(root: &Path, run: &Run, stage: usize, key: &str) -> Option<PathBuf> {
    let inputs = run.plan.stage_inputs(stage, &|other| run.result(other));
    plan_file(root, key, inputs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// The steps that ended before this drive, in case an earlier drive could not write them.
pub fn past(root: &Path, run: &Run, keys: &[Option<String>]) -> Vec<Past> {
    let end = |stage: usize| match (&run.stages[stage].step, run.phase.reason()) {
        (Step::Done(Done::Passed | Done::Approved) | Step::AtGate, _) => {
            let message = run.stages[stage].result.as_deref().unwrap_or_default();
            End::of(&Outcome::Passed, message, true)
        }
        (Step::Held { why }, Some(Reason::Failed)) => {
            let last = run.stages[stage].visit.failures.last().filter(|failure| failure.why == *why);
            Some(End::Failed { why: last.map_or_else(|| why.clone(), Failure::shown) })
        }
        (Step::Held { why }, _) => Some(End::Blocked { why: why.clone() }),
        _ => None,
    };
    let one = |(stage, key): (usize, &Option<String>)| {
        let state = &run.stages[stage];
        let key = key.clone()?;
        Some(Past {
            plan: plan_of(root, run, stage, &key),
            key,
            agent: run.plan.actor(stage).name().to_owned(),
            earlier: keys[..stage].iter().flatten().cloned().collect(),
            started_at: state.visit.entered_at.filter(|_| state.visit.launches > 0)?,
            end: end(stage)?,
            ended_at: state.visit.done_at.unwrap_or(run.updated_at),
        })
    };
    keys.iter().enumerate().filter_map(one).collect()
}
