//! The only loop: it receives events, calls the machine, performs its effects, and publishes.
//!
//! A [`Drive`] exists from the verb that sets a run going until the run next pauses or ends. It holds the drive lock
//! and the journal. A step's events are on disk, with one flush, before its effects act or show.

pub mod adopt;
pub mod checkpoints;
mod facts;
pub mod gate_review;
mod gate_seal;
pub mod give_up;
mod hear;
pub mod judge;
pub mod live;
pub mod looker;
mod lua;
pub mod mail;
pub mod open;
pub mod perform;
pub mod projection;
pub mod signals;
pub mod stamps;
pub mod start;
mod tell;
pub mod trust;
pub mod unwritten;
pub mod verdict;
pub mod written;

use crate::config::Config;
use crate::harness::Harnesses;
use crate::harness::Running;
use crate::outcome::ProcessRecord;
use crate::process::Secrets;
use crate::project::review::Hurry;
use crate::run::effect::{Effect, Notice};
use crate::run::event::{Event, Record};
use crate::run::machine::{self, Refusal};
use crate::run::state::{Phase, Reason, Run, StageState, Step};
use crate::store::journal::Journal;
use crate::store::keyring::Keyring;
use crate::store::lease::{Holder, Lease};
use crate::store::log::Log;
use crate::store::rundir::RunDir;
use chrono::{DateTime, Utc};
pub use hear::{Message, Shared};
use live::Live;
use serde_json::{Value, json};
use start::StartError;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// Longest sleep while waiting for a wall-clock time: a laptop that wakes up must notice.
const NAP: Duration = Duration::from_secs(1);
/// What other editors and tools read of a run that goes on is written so often.
const PROJECT: Duration = Duration::from_millis(200);
/// Bytes of any one text in the journal.
const TEXT: usize = 32 * 1024;

/// Hands the editor an event, written; with a key, one that still waits under it is replaced.
pub type Publish = Box<dyn Fn(Option<&str>, Arc<str>) + Send + Sync>;

/// What a drive needs from whoever holds it.
pub struct Host {
    /// Tells the editor something. With a key, an event that still waits under the same key is replaced.
    pub publish: Publish,
    /// The wall clock.
    pub clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    /// The configuration.
    pub config: Config,
    /// The harnesses.
    pub harnesses: Harnesses,
    /// Values that never appear in anything that is kept or shown.
    pub secrets: Secrets,
    /// What makes the files of a run ours.
    pub keys: Keyring,
    /// Checkpoints that earlier drives could not write.
    pub unwritten: Arc<unwritten::Unwritten>,
}

/// A run being driven.
pub struct Drive {
    host: Arc<Host>,
    root: PathBuf,
    dir: RunDir,
    run: Run,
    journal: Journal,
    log: Log,
    lease: Option<Lease>,
    inbox: mail::Inbox,
    outbox: mail::Outbox,
    shared: Arc<Shared>,
    pending: Vec<Effect>,
    agent: Option<Agent>,
    stopping: Vec<Agent>,
    asked: Option<lua::AskedLua>,
    questions: Vec<signals::Pending>,
    wait: Option<(usize, DateTime<Utc>)>,
    live: Live,
    keeper: checkpoints::Keeper,
    /// Looks at the files.
    looker: Arc<looker::Looker>,
    /// The files as they were when the newest launch began, or the newest attempt ended; none in a large project.
    stamps: Option<stamps::Stamps>,
    /// When an attempt has ended in this step: a gate that opens in it shows the files as they were then.
    ended: Option<Instant>,
    /// Files that the user's trust covers, as they were read last.
    trusted: crate::project::trust::Cache,
    /// Processes of an earlier drive; none where there was none.
    left_behind: Option<Vec<ProcessRecord>>,
    /// When `squad.json` may be written next, and whether there is something new to write.
    project: Instant,
    unwritten: bool,
    /// When the next picture may be drawn.
    draw: Instant,
    dirty: bool,
    leaving: bool,
    /// The disk has failed this drive: what it still says is no longer kept.
    failed: bool,
    /// What could not be written, and was told.
    told: Vec<&'static str>,
    asks: u32,
}

/// A launched agent. It does not outlive the drive, should that panic.
struct Agent {
    launch: u32,
    running: Running,
    /// Its result was handed in: its end is on the way.
    submitted: bool,
}

impl Drop for Agent {
    fn drop(&mut self) {
        if !self.running.is_over() {
            self.running.stop();
        }
    }
}

impl Host {
    /// Tells the editor something that must arrive.
    fn say(&self, event: &Value) {
        (self.publish)(None, event.to_string().into());
    }

    /// What it takes to look at a project's files.
    pub fn looks<'a>(&'a self, hurry: &'a Hurry, root: &'a Path) -> gate_review::Looks<'a> {
        gate_review::Looks { hurry, root, keys: &self.keys, secrets: &self.secrets }
    }

    /// Prepares a text for the journal: nothing secret, and no more of it than anybody will read.
    fn keep(&self, text: &mut String) {
        if text.len() > TEXT {
            text.truncate(crate::prompt::head(text, TEXT).len());
        }
        if let Cow::Owned(masked) = self.secrets.mask(text) {
            *text = masked;
        }
    }
}

impl Drive {
    /// Runs the loop to its end, then gives the lock back.
    pub fn run(mut self) {
        self.sweep();
        self.settle();
        while !(self.leaving && self.stopping.is_empty() && self.agent.is_none()) {
            match self.inbox.recv_timeout(self.patience()) {
                Ok(message) => self.receive(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Whatever else has come meanwhile belongs to the same picture, and often to the same flush.
            for _ in 0..256 {
                let Ok(message) = self.inbox.try_recv() else { break };
                self.receive(message);
            }
            self.clocks();
            self.settle();
        }
        self.keeper.flush();
        self.close();
        drop(self.lease.take());
        self.publish_snapshot();
        self.tell(json!({ "type": "drive-ended" }));
        self.keeper.close(&self.host, &self.root, &self.run);
    }

    /// One event through the machine. It is in the journal's buffer then, and its effects wait for [`Drive::settle`].
    fn apply(&mut self, mut event: Event) -> Result<(), Refusal> {
        event.texts(&mut |text| self.host.keep(text));
        let record = Record { at: (self.host.clock)(), event };
        let effects = machine::step(&mut self.run, &record)?;
        self.journal.append(&record);
        self.pending.extend(effects);
        self.dirty = true;
        Ok(())
    }

    /// Decides what can be decided, flushes, and performs.
    fn settle(&mut self) {
        if self.failed {
            return;
        }
        while !self.pending.is_empty() {
            self.decide();
            self.check_trust();
            if self.pending.is_empty() {
                break;
            }
            if let Err(error) = self.hold().and_then(|()| Ok(self.journal.flush()?)) {
                return self.disk_failed(&error.to_string());
            }
            self.keeper.journalled();
            for effect in std::mem::take(&mut self.pending) {
                // What could not be written is not shown either.
                if self.failed || self.heed() {
                    break;
                }
                self.perform(effect);
            }
            self.unwritten = true;
        }
        self.ended = None;
        // What has no effects is the operating system's at least, without a flush: it survives the editor.
        if let Err(error) = self.journal.write() {
            return self.disk_failed(&error.to_string());
        }
        self.keeper.journalled();
        self.project();
        if self.dirty && self.draw <= Instant::now() {
            self.publish_snapshot();
        }
    }

    /// Writes what others read of the run: at once where it stops, and not at every step of one that is in a hurry.
    fn project(&mut self) {
        let now = Instant::now();
        if !self.unwritten || (self.project > now && self.run.phase == Phase::Running) {
            return;
        }
        let written = projection::write(&self.root, &self.run, &self.host.secrets, &self.host.keys);
        // What could not be written is tried again, as long as the run is driven.
        self.unwritten = written.is_err();
        match written {
            Ok(None) => {}
            Ok(Some(aside)) => self.notice("warn", &projection::moved(&aside)),
            Err(error) => self.cannot_write("squad.json", &error),
        }
        self.project = now + PROJECT;
    }

    /// Makes sure that the lock keeps others out still. Where its file was removed it is taken anew; where somebody
    /// else has taken it meanwhile, this drive is over.
    fn hold(&mut self) -> Result<(), StartError> {
        if self.lease.as_ref().is_none_or(|lease| lease.holds(&self.root)) {
            return Ok(());
        }
        self.journal.still_ours()?;
        self.lease = Some(start::lock(&self.root)?);
        self.sign();
        Ok(())
    }

    /// Writes who drives: only for others to show, since the lock itself is what counts.
    fn sign(&mut self) {
        let holder = Holder {
            pid: std::process::id(),
            run_id: self.run.run_id.clone(),
            superpower: self.run.plan.name().to_owned(),
            since: (self.host.clock)().timestamp_millis(),
        };
        if let Some(lease) = &mut self.lease {
            let _ = lease.sign(&holder);
        }
    }

    /// What has become due.
    fn clocks(&mut self) {
        if let Some((stage, _)) = self.wait.take_if(|(_, until)| *until <= (self.host.clock)()) {
            let _ = self.apply(Event::WaitEnded { stage });
        }
        self.forget_late_answer();
        self.deny_late_questions();
    }

    /// How long the loop may sleep.
    fn patience(&self) -> Duration {
        let mut patience = Duration::from_secs(3600);
        if self.dirty {
            patience = self.draw.saturating_duration_since(Instant::now());
        }
        if self.unwritten {
            patience = patience.min(self.project.saturating_duration_since(Instant::now()));
        }
        if let Some((_, until)) = self.wait {
            let left = (until - (self.host.clock)()).to_std().unwrap_or(Duration::ZERO);
            patience = patience.min(left.min(NAP));
        }
        if let Some(asked) = &self.asked {
            patience = patience.min(asked.until.saturating_duration_since(Instant::now()));
        }
        self.questions.iter().fold(patience, |patience, question| patience.min(question.left()))
    }

    /// The journal cannot be written: nothing may act or show. The run stands on disk as it was at the last flush,
    /// and goes on from there when the cause is gone.
    fn disk_failed(&mut self, error: &str) {
        self.failed = true;
        self.pending.clear();
        self.keeper.forget();
        self.wait = None;
        self.asked = None;
        if let Some(agent) = self.agent.take() {
            self.forget_questions(agent.launch);
            agent.running.stop();
            self.stopping.push(agent);
            self.checkpoint_interrupted();
        }
        let name = self.run.plan.name();
        let mut detail = format!("{error}; mend that, then :Superpower resume {name}");
        // Only for the picture: what the journal knows, which will call this an interruption.
        match open::open(&self.root, &self.run.run_id, &self.host.keys) {
            Ok(opened) => self.run = opened.run,
            Err(open::OpenError::Missing(_)) => {
                // It may come back, as a disk that is mounted again does.
                detail += &format!("; where it is lost for good, :Superpower run {name} starts anew");
                // A gate that nobody can decide waits for nobody.
                let open = |state: &&mut StageState| state.step == Step::AtGate;
                self.run.stages.iter_mut().filter(open).for_each(|state| state.step = Step::Waiting);
            }
            Err(_) => {}
        }
        let record = Record { at: (self.host.clock)(), event: Event::Interrupted { why: detail.clone() } };
        if machine::step(&mut self.run, &record).is_err() {
            self.run.phase = Phase::Paused { reason: Reason::Interrupted, detail: detail.clone() };
        }
        self.leaving = true;
        self.publish_snapshot();
        self.notice("error", &format!("{} is paused: {detail}", self.run.plan.name()));
        self.log(&format!("PAUSED (interrupted) — {detail}"));
        let stage = self.run.current_position();
        self.tell_notice(&Notice::RunPaused { stage, reason: Reason::Interrupted, detail });
    }
}
