//! The checkpoint protocol, kept by the driver from what it sees of the agent (SPEC section 8).
//!
//! Nothing here holds up a run: the writing has a thread of its own. Only a fix too many keeps a stage from starting.

use super::{Drive, Host, Message, gate_review};
use crate::checkpoint::update::Past;
use crate::checkpoint::{self, Checkpoints, End, Place, Report, Row, Start, State};
use crate::harness::Progress;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::project::review::Change;
use crate::run::state::{Done, Reason, Run, Step};
use crate::store::rundir::RunDir;
use chrono::{DateTime, Utc};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Attempts shorter than this are not worth a look at the whole tree.
const WORTH_A_LOOK: Duration = Duration::from_secs(1);
/// How long the last write may take when a drive ends.
const CLOSING: Duration = Duration::from_secs(1);

/// The checkpoints of a drive.
pub struct Keeper {
    book: Checkpoints,
    keys: Vec<Option<String>>,
    changed: Arc<AtomicBool>,
    rows: Vec<Row>,
}

/// Where a run's document is: its track's, else its own directory's. With what to say where the track was refused.
pub fn place(root: &Path, dir: &RunDir, run: &Run) -> (Place, Option<String>) {
    let track = run.plan.inputs.get("track_id").filter(|id| !id.is_empty());
    match track.map(|id| Place::of_track(root, id)) {
        Some(Ok(place)) => (place, None),
        Some(Err(refused)) => (Place::of_run(root, dir.path()), Some(refused.to_string())),
        None => (Place::of_run(root, dir.path()), None),
    }
}

/// Each stage's key.
pub fn keys(plan: &Plan) -> Vec<Option<String>> {
    checkpoint::keys(plan.declaration.stages.iter().map(|stage| {
        (
            stage.name.as_ref().map(|name| name.value.as_str()),
            stage.action.as_ref().map(|action| &action.value),
        )
    }))
}

impl Keeper {
    /// Opens the book of a run.
    pub fn open(host: &Arc<Host>, root: &Path, dir: &RunDir, run: &Run, drive: Sender<Message>) -> Self {
        let (place, refused) = place(root, dir, run);
        let changed = Arc::new(AtomicBool::new(true));
        let (flag, host, root) = (changed.clone(), host.clone(), root.to_owned());
        let say = move |level: &str, message: &str| {
            host.say(&json!({ "type": "notice", "root": root, "level": level, "message": message }));
        };
        if let Some(refused) = refused {
            say("warn", &refused);
        }
        let book = Checkpoints::open(place, move |report| match report {
            Report::Waiting(why) => say("warn", &why),
            Report::Mended(what) => say("warn", &what),
            Report::Recovered => say("info", "checkpoints are written again"),
            Report::Changed => {
                flag.store(true, Ordering::Relaxed);
                let _ = drive.send(Message::Checkpoints);
            }
        });
        let keys = keys(&run.plan);
        let past = past(run, &keys);
        if !past.is_empty() {
            book.restored(past);
        }
        Self { book, keys, changed, rows: Vec::new() }
    }

    /// Another declaration was put under the run: its stages have keys of their own.
    pub fn replanned(&mut self, plan: &Plan) {
        self.keys = keys(plan);
        self.touched();
    }

    /// Why the newest checkpoint could not be written yet, if it could not.
    pub fn waiting(&self) -> Option<String> {
        match self.book.state() {
            State::Waiting(why) => Some(why),
            State::Written => None,
        }
    }

    /// The key of a stage, where it has one.
    pub fn key(&self, stage: usize) -> Option<&str> {
        self.keys.get(stage)?.as_deref()
    }

    /// The document's rows, read again where something has changed.
    pub fn rows(&mut self) -> &[Row] {
        if self.changed.swap(false, Ordering::Relaxed) {
            self.rows = self.book.rows();
        }
        &self.rows
    }

    /// Something new was handed in; the rows will change.
    fn touched(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    /// The drive ends: what waits is written, while the run is still ours.
    pub fn flush(&self) {
        self.book.flush(CLOSING);
    }

    /// The drive has ended.
    pub fn close(self) {
        self.book.close(Duration::ZERO);
    }
}

/// The steps that ended before this drive, which an earlier one may not have been able to write.
fn past(run: &Run, keys: &[Option<String>]) -> Vec<Past> {
    let end = |stage: usize| match (&run.stages[stage].step, run.phase.reason()) {
        (Step::Done(Done::Passed | Done::Approved) | Step::AtGate, _) => {
            let message = run.stages[stage].result.as_deref().unwrap_or_default();
            End::of(&Outcome::Passed, message, true)
        }
        (Step::Held { why }, Some(Reason::Failed)) => Some(End::Failed { why: why.clone() }),
        (Step::Held { why }, _) => Some(End::Blocked { why: why.clone() }),
        _ => None,
    };
    let one = |(stage, key): (usize, &Option<String>)| {
        let state = &run.stages[stage];
        Some(Past {
            key: key.clone()?,
            agent: run.plan.actor(stage).1.to_owned(),
            started_at: state.entered_at.filter(|_| state.launches > 0)?,
            end: end(stage)?,
            ended_at: state.done_at.unwrap_or(run.updated_at),
        })
    };
    keys.iter().enumerate().filter_map(one).collect()
}

impl Drive {
    /// A launch begins; the error says why it must not.
    pub(super) fn checkpoint_started(&mut self, stage: usize) -> Result<(), String> {
        let now = (self.host.clock)();
        let (_, actor) = self.run.plan.actor(stage);
        let first = self.run.stages[stage].launches == 1;
        let Some(key) = self.keeper.key(stage).map(str::to_owned) else { return Ok(()) };
        let inputs = self.run.plan.stage_inputs(stage, &|other| self.run.result(other));
        let inputs = inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let total = checkpoint::place::planned(&self.root, &key, inputs);
        let start = Start { key, agent: actor.to_owned(), first, total };
        let started = self.keeper.book.started(start, now);
        self.keeper.touched();
        started.map_err(|refused| refused.to_string())
    }

    /// What the agent tells on its way.
    pub(super) fn checkpoint_progress(&self, progress: &Progress) {
        match progress {
            Progress::Todo { items } => self.keeper.book.todo(items.clone()),
            Progress::Tool { files, .. } if !files.is_empty() => self.keeper.book.files(files.clone()),
            _ => return,
        }
        self.keeper.touched();
    }

    /// A launch is over.
    pub(super) fn checkpoint_ended(
        &mut self,
        stage: usize,
        outcome: &Outcome,
        message: &str,
        since: DateTime<Utc>,
    ) {
        let now = (self.host.clock)();
        let files = self.written_since(since, now);
        if !files.is_empty() {
            self.keeper.book.files(files);
        }
        let last = self.run.stages[stage].spent + 1 >= self.run.plan.max_attempts(stage);
        match End::of(outcome, message, last) {
            Some(end) => self.keeper.book.ended(end, now),
            None => self.keeper.book.interrupted(),
        }
        self.keeper.touched();
    }

    /// A launch was cut off.
    pub(super) fn checkpoint_interrupted(&self) {
        self.keeper.book.interrupted();
        self.keeper.touched();
    }

    /// A human leaves out what they were to carry out.
    pub(super) fn checkpoint_skipped(&mut self) {
        let Some(stage) = self.run.current().filter(|&stage| self.run.stages[stage].in_hand()) else {
            return;
        };
        if let Step::Working { since, .. } = self.run.stages[stage].step {
            self.checkpoint_ended(stage, &Outcome::Blocked { why: "skipped by hand".into() }, "", since);
        }
    }

    /// The running stage's checkpoint in one line, where it says how far the stage is.
    pub(super) fn checkpoint_line(&mut self) -> Option<String> {
        let key = self.keeper.key(self.run.current()?)?.to_owned();
        let row = self.keeper.rows().iter().find(|row| row.key == key)?;
        let (done, total) = (row.done?, row.total?);
        let task = row.task.as_ref().map(|task| format!(" · {task}")).unwrap_or_default();
        Some(format!("{key} {done}/{total}{task}"))
    }

    /// The parameters of a skill of the protocol, to stand before its prompt; for an agent, where it is to go on.
    pub(super) fn checkpoint_parameters(&self, stage: usize, session: bool) -> Option<String> {
        let (kind, actor) = self.run.plan.actor(stage);
        let first = self.run.stages[stage].launches == 1;
        let resume = if session || first { None } else { self.keeper.book.resume_from() };
        if kind != "skill" {
            // An agent has no parameters, but it too is told where it was.
            let resume = resume.filter(|_| self.keeper.key(stage) == Some("EXECUTE"));
            return resume.map(|task| checkpoint::params::resume_from_task(&task));
        }
        let inputs = self.run.plan.stage_inputs(stage, &|other| self.run.result(other));
        let inputs = inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let resume = resume.as_deref();
        checkpoint::parameters(actor, inputs, self.keeper.book.place(), &self.run.run_id, resume)
    }

    /// Files that the tree shows as written during the attempt, as git sees them.
    fn written_since(&mut self, since: DateTime<Utc>, now: DateTime<Utc>) -> Vec<String> {
        let worked = (now - since).to_std().unwrap_or_default();
        if worked < WORTH_A_LOOK {
            return Vec::new();
        }
        let Ok(looked) = gate_review::compare(&self.shared.hurry, &self.root, &self.dir) else {
            return Vec::new();
        };
        let (_, changes) = self.looked.insert(looked);
        let fresh = |change: &Change| {
            let modified = std::fs::metadata(self.root.join(&change.path)).and_then(|file| file.modified());
            modified.is_ok_and(|modified| DateTime::<Utc>::from(modified) >= since)
        };
        changes.iter().filter(|it| fresh(it)).map(|change| change.path.clone()).collect()
    }
}
