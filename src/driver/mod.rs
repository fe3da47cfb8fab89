//! The only loop. It receives a message, steps the machine, writes the journal, acts, publishes and announces; then
//! it waits for the next message. It never sends messages to itself.
//!
//! A [`Drive`] lives from the verb that starts a run until the run next pauses or finishes. It has the run and what
//! is left to do. Its [`Keeper`] has the lease, the journal and the files for others. Its [`Performer`] has the
//! agents, the comparisons of files, the questions and the checkpoints. The events of a step are flushed to the disk
//! before its effects act or are shown.

pub mod adopt;
mod announcement;
pub mod cancel_unreadable;
pub mod checkpoint_recovery;
pub mod checkpoint_writer;
mod checkpoints;
mod current_launch;
mod delivery;
mod drive;
mod effects;
mod facts;
pub mod file_stamps;
mod follow_up;
pub mod gate_review;
mod gate_seal;
pub mod handle;
mod host;
pub mod judge;
mod keeper;
mod launch;
pub mod live;
pub mod lock;
mod logged;
mod lua_question;
mod lua_requests;
pub mod mailbox;
mod message;
mod pending_permission;
mod performer;
mod permissions;
mod picture;
mod publish;
pub mod review_worker;
pub mod run_status;
mod shared;
mod signals;
pub mod start;
pub mod trust;
pub mod unwritten_checkpoints;
mod user_call;
pub mod verdict;
pub mod written_files;

use crate::run::effect::Effect;
use crate::run::event::{Event, Record};
use crate::run::machine::{self, Refusal};
use crate::run::state::{Phase, Reason, StageState, Step};
use crate::runs::open;
use crate::runs::open_error::OpenError;
use announcement::Announcement;
use chrono::{DateTime, Utc};
pub use delivery::Delivery;
pub use drive::Drive;
use drive::Leave;
use follow_up::Act;
pub use host::{Host, Publish};
pub use logged::Logged;
pub use message::{Message, Reply};
pub use shared::Shared;
use std::sync::mpsc::{RecvTimeoutError, SendError};
use std::time::{Duration, Instant};
pub use user_call::{CallReason, UserCall};

/// Longest sleep while waiting for a time of day, so that a suspended laptop notices the time when it wakes up.
const MAX_SLEEP: Duration = Duration::from_secs(1);
/// How long to wait for an editor that is about to exit.
const LEAVING: Duration = Duration::from_secs(2);
/// How long an exiting editor waits for the end of a submitted stage.
const SUBMITTED: Duration = Duration::from_millis(500);

impl Drive {
    /// Runs the loop to its end, and then releases the lease.
    pub fn run(mut self) {
        self.begin();
        self.turn();
        while !self.is_over() {
            match self.inbox.recv_timeout(self.max_wait()) {
                Ok(message) => self.receive(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Messages that have already arrived share the picture, and often the flush.
            for _ in 0..256 {
                let Ok(message) = self.inbox.try_recv() else { break };
                self.receive(message);
            }
            self.timers();
            let left = self.leave_if_due();
            self.turn();
            if let Some(grace) = left {
                self.performer.kill(grace);
                self.over = true;
            }
        }
        self.end();
    }

    fn is_over(&self) -> bool {
        self.over && self.performer.is_idle()
    }

    /// Cleans up after an earlier drive of this run, or after old runs if this one is new.
    fn begin(&mut self) {
        if let Some(text) = self.performer.comparer().earlier_place() {
            self.announcements.push(Announcement::Notice("info", text));
        }
        let Some(records) = self.left_behind.take() else {
            return self.performer.tidy(&self.run);
        };
        for line in crate::process::sweep(&records, &self.run.run_id) {
            self.announcements.push(Announcement::Notice("warn", line));
        }
        if !self.fresh.contains(&Effect::TakeBaseline) && gate_review::baseline_is_due(&self.run) {
            self.fresh.insert(0, Effect::TakeBaseline);
        }
    }

    /// Handles the remaining messages while the run is still ours. Later verbs go to the next drive.
    fn end(mut self) {
        self.performer.checkpoints.flush(self.shared.cancel.is_set());
        let shared = self.shared.clone();
        loop {
            let mut closed = shared.closed();
            let Ok(message) = self.inbox.try_recv() else {
                *closed = true;
                break;
            };
            drop(closed);
            self.receive(message);
            self.turn();
        }
        self.performer.wait_for_git();
        self.keeper.release();
        // From now on the checkpoint thread publishes its own changes. Those from just before must be in the last
        // picture.
        self.inbox.close();
        self.keeper.draw(&self.run, &mut self.performer);
        while self.performer.checkpoints.has_changed() {
            self.keeper.draw(&self.run, &mut self.performer);
        }
        self.keeper.send(&self.run, serde_json::json!({ "type": "drive-ended" }));
        self.performer.checkpoints.close(&self.host, &self.root, &self.run);
    }

    /// Steps the machine with one event. The event is then in the journal's buffer, and its effects wait for the
    /// flush.
    fn step(&mut self, mut event: Event) -> Result<(), Refusal> {
        event.texts(&mut |text| self.host.prepare(text));
        let record = Record { at: (self.host.clock)(), event };
        let before = self.run.phase.clone();
        let effects = machine::step(&mut self.run, &record)?;
        self.keeper.record(&record);
        if self.run.phase != before && self.performer.cancel_comparison() {
            // Drop what would have followed the comparison, because it belongs to the run's previous state.
            self.queue.clear();
        }
        self.fresh.extend(effects);
        Ok(())
    }

    /// Journals events, performs effects, publishes, and announces. Effects may cause further events; those are
    /// journalled before their own effects.
    fn turn(&mut self) {
        while !self.failed {
            self.decide();
            self.check_trust();
            let acts = !self.fresh.is_empty() || self.may_act();
            if let Err(error) = self.keeper.save(&self.run, acts) {
                self.disk_failed(&error.to_string());
                break;
            }
            self.performer.checkpoints.journalled();
            self.performer.reconcile(&self.run, &mut self.announcements);
            self.queue.extend(self.fresh.drain(..).map(Act::Effect));
            if !self.may_act() {
                break;
            }
            while self.may_act() && !self.failed {
                let Some(act) = self.queue.pop_front() else { break };
                self.act(act);
            }
        }
        self.performer.turn_ends();
        self.keeper.publish(&self.run, &mut self.performer, &self.announcements);
        for announcement in std::mem::take(&mut self.announcements) {
            self.keeper.announce(&self.run, announcement);
        }
        self.answer_verbs();
    }

    /// Whether there is an effect that need not wait: for a comparison of files, for a cancel on its way, or for the
    /// editor's exit.
    fn may_act(&self) -> bool {
        let starts = |act: &Act| matches!(act, Act::Dispatch(_) | Act::Effect(Effect::StartAgent { .. }));
        let stopped =
            (self.shared.cancel.is_set() || self.held.is_some()) && self.run.phase == Phase::Running;
        let next = self.queue.front();
        !self.performer.is_comparing() && next.is_some_and(|act| !(stopped && starts(act)))
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Agent(launch, signal) => {
                let next = self.performer.signal(&self.run, launch, signal);
                self.keeper.mark_undrawn();
                self.follow(next);
            }
            Message::Verb(event, reply) => self.verb(event, reply),
            Message::Answer(id, answer) => {
                let next = self.performer.answered(&self.run, &id, answer);
                self.follow(next);
            }
            Message::NoEditor(id) => {
                let next = self.performer.no_editor(&self.run, &id);
                self.follow(next);
            }
            Message::Submit(launch, text, reply) => {
                let taken = self.performer.submit(&self.run, launch, text);
                self.announcements.append(&mut self.performer.announcements);
                let _ = reply.send(taken);
            }
            Message::Compared(number, result) => {
                if let Some(purpose) = self.performer.take_comparison(number) {
                    self.compared(purpose, result);
                }
            }
            Message::Leaving => self.held = Some(Instant::now() + LEAVING),
            Message::Checkpoints => self.keeper.mark_undrawn(),
            Message::Leave(grace) => {
                self.leave = Some(Leave { grace, until: Instant::now() + SUBMITTED });
            }
        }
    }

    /// Handles pause, cancel, and the skip of a manual stage. It is on disk before the reply says that it took
    /// effect.
    fn verb(&mut self, event: Event, reply: Reply) {
        let skips = matches!(event, Event::Skipped { .. });
        // A skip continues the run; a drive that is about to end leaves that to the next one.
        let lost = self.failed || (skips && self.run.phase != Phase::Running);
        let cancels = matches!(event, Event::Cancelled { .. });
        let end = if skips && !lost { self.performer.skipped(&self.run) } else { None };
        let answer = if lost { None } else { Some(self.step(event)) };
        if cancels && matches!(answer, Some(Err(_))) {
            self.shared.cancel.set(false);
        }
        if let (Some(Ok(())), Some(end)) = (&answer, end) {
            self.performer.checkpoints.ended(end);
        }
        self.replies.push((reply, answer));
    }

    fn answer_verbs(&mut self) {
        for (reply, answer) in std::mem::take(&mut self.replies) {
            let answer = answer.filter(|_| !self.failed);
            let Err(SendError(late)) = reply.send(answer) else { continue };
            // The requester was told that it would be done and no longer waits for the reply.
            let (level, text) = match late {
                Some(Ok(())) => continue,
                Some(Err(refusal)) => ("warn", refusal.to_string()),
                None => ("error", "the request could not be saved; try again".to_owned()),
            };
            self.keeper.announce(&self.run, Announcement::Notice(level, text));
        }
    }

    /// If the editor exits, interrupts the run and ends agents now, without notices. A stage submitted just before is
    /// not lost. Returns how much time agents have.
    fn leave_if_due(&mut self) -> Option<Duration> {
        let awaited = self.performer.is_submitted();
        let leave = self.leave.take_if(|leave| !awaited || leave.until <= Instant::now())?;
        self.inbox.ignore_agents();
        let _ = self.step(Event::Interrupted { why: self.host.exit_words.into() });
        self.performer.cancel_comparison();
        Some(leave.grace)
    }

    /// Handles timers that are due.
    fn timers(&mut self) {
        self.held.take_if(|until| *until <= Instant::now());
        if let Some((stage, _)) = self.delayed_stage().filter(|(_, until)| *until <= (self.host.clock)()) {
            let _ = self.step(Event::WaitEnded { stage });
        }
        let next = self.performer.forget_late_answer(&self.run);
        self.follow(next);
        self.performer.deny_late_questions(&mut self.announcements);
    }

    /// The stage that waits for a time, and that time.
    fn delayed_stage(&self) -> Option<(usize, DateTime<Utc>)> {
        let stage = self.run.current().filter(|_| self.run.phase == Phase::Running && !self.failed)?;
        match self.run.stages[stage].step {
            Step::Delayed { until, .. } => Some((stage, until)),
            _ => None,
        }
    }

    /// How long the loop may sleep.
    fn max_wait(&self) -> Duration {
        let now = Instant::now();
        let mut wait = self.keeper.max_wait().min(self.performer.max_wait());
        if let Some((_, until)) = self.delayed_stage() {
            let left = (until - (self.host.clock)()).to_std().unwrap_or(Duration::ZERO);
            wait = wait.min(left.min(MAX_SLEEP));
        }
        for until in self.leave.iter().map(|leave| leave.until).chain(self.held) {
            wait = wait.min(until.saturating_duration_since(now));
        }
        wait
    }

    /// The journal cannot be written, so nothing may act or be shown. The run on disk is as of the last flush, and
    /// can be resumed from there once the cause is fixed.
    fn disk_failed(&mut self, error: &str) {
        self.failed = true;
        self.over = true;
        self.keeper.stop_projecting();
        self.fresh.clear();
        self.queue.clear();
        // Drop announcements of what was not done.
        self.announcements.clear();
        self.performer.abandon(&mut self.announcements);
        let name = self.run.plan.name();
        let mut detail = format!("{error}; fix that, then :Superpower resume {name}");
        // For the picture only: the state in the journal, which a resume will treat as an interruption.
        match open::open(&self.root, &self.run.run_id, &self.host.keys) {
            Ok(opened) => self.run = opened.run,
            Err(OpenError::Missing(_)) => {
                // It may return, like a disk that is mounted again.
                detail += &format!("; if it is lost for good, start again with :Superpower run {name}");
                // A gate that cannot be decided now must not be shown as waiting.
                let open = |state: &&mut StageState| state.step == Step::AtGate;
                self.run.stages.iter_mut().filter(open).for_each(|state| state.step = Step::Waiting);
            }
            Err(_) => {}
        }
        let record = Record { at: (self.host.clock)(), event: Event::Interrupted { why: detail.clone() } };
        if machine::step(&mut self.run, &record).is_err() {
            self.run.phase = Phase::Paused { reason: Reason::Interrupted, detail: detail.clone() };
        }
        let stage = self.run.current_position();
        self.announcements.extend([
            Announcement::Notice("error", format!("{} is paused: {detail}", self.run.plan.name())),
            Announcement::Log(format!("PAUSED (interrupted) — {detail}")),
            Announcement::Run(crate::run::effect::Notice::RunPaused {
                stage,
                reason: Reason::Interrupted,
                detail,
            }),
        ]);
    }
}
