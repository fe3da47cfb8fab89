//! What a drive is told while it drives: by agents, by people, by the editor that is left.

use super::Drive;
use super::mail::Outbox;
use super::tell::Picture;
use crate::harness::Signal;
use crate::project::review::Hurry;
use crate::run::event::Event;
use crate::run::machine::Refusal;
use crate::run::state::Phase;
use serde_json::Value;
use std::sync::mpsc::{SendError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of a stage that was handed in is waited for, by an editor that is left.
const HANDED_IN: Duration = Duration::from_millis(500);

/// What reaches a drive.
#[derive(Debug)]
pub enum Message {
    /// From an agent.
    Agent(u32, Signal),
    /// A verb while it drives: pause, cancel or skip. The answer is none where it cannot be written down.
    Verb(Event, Sender<Option<Result<(), Refusal>>>),
    /// The answer to an `ask-fact` or a `permission`, by its id.
    Answer(String, Result<Value, String>),
    /// The result of a `manual` launch.
    Submit(u32, String),
    /// The checkpoints' document has changed.
    Checkpoints,
    /// The editor leaves: end everything within this time.
    Leave(Duration),
}

/// What others may know of a drive while it drives.
#[derive(Debug, Default)]
pub struct Shared {
    picture: Mutex<Picture>,
    /// The drive has ended: what it is told now would be heard by nobody.
    closed: Mutex<bool>,
    /// The run was cancelled, or the editor left: git is not waited for, and nothing is started.
    pub(super) hurry: Hurry,
}

impl Shared {
    /// The newest picture of the run.
    pub fn snapshot(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_default()
    }

    /// The same, written.
    pub fn text(&self) -> String {
        self.picture().run().to_owned()
    }

    /// The same without its stages.
    pub fn head(&self) -> Value {
        self.picture().head.clone()
    }

    pub(super) fn picture(&self) -> MutexGuard<'_, Picture> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> MutexGuard<'_, bool> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, outbox: &Outbox, message: Message) -> bool {
        let closed = self.closed();
        let hurry = matches!(message, Message::Leave(_) | Message::Verb(Event::Cancelled { .. }, _));
        let told = !*closed && outbox.send(message);
        if hurry {
            self.hurry.set(true);
        }
        told
    }
}

impl Drive {
    /// Takes what was told until now, while the run is still ours; from here on a verb is for the next drive.
    pub(super) fn close(&mut self) {
        let shared = self.shared.clone();
        loop {
            let mut closed = shared.closed();
            let Ok(message) = self.inbox.try_recv() else {
                *closed = true;
                return;
            };
            drop(closed);
            self.receive(message);
            self.settle();
        }
    }

    /// A look at the files may take long. Whether a cancel or the editor's end came meanwhile and changed what the run is:
    /// then nothing of what would have followed is done or said.
    pub(super) fn heed(&mut self) -> bool {
        if !self.shared.hurry.is_set() {
            return false;
        }
        let before = self.run.phase.clone();
        // Only what people ask: what agents tell may never end.
        while let Some(message) = self.inbox.try_order() {
            self.receive(message);
        }
        self.run.phase != before
    }

    pub(super) fn receive(&mut self, message: Message) {
        match message {
            Message::Agent(launch, signal) => self.signal(launch, signal),
            Message::Verb(event, reply) => self.verb(event, &reply),
            Message::Answer(id, answer) => self.answered(&id, answer),
            Message::Submit(launch, text) => {
                self.keep_handed_in(launch, &text);
                if let Some(agent) = self.agent.as_mut().filter(|agent| agent.launch == launch) {
                    agent.running.submit(text);
                    agent.submitted = true;
                }
            }
            Message::Checkpoints => self.dirty = true,
            Message::Leave(grace) => self.leave(grace),
        }
    }

    /// Pause, cancel, or skip what a human carries out. Whoever is told that it took effect can rely on that: it is on disk
    /// by then.
    pub(super) fn verb(&mut self, event: Event, reply: &Sender<Option<Result<(), Refusal>>>) {
        let skips = matches!(event, Event::Skipped { .. });
        // A skip goes on with the run, which one that is about to end leaves to the next drive.
        let lost = self.failed || (skips && self.run.phase != Phase::Running);
        if skips && !lost {
            self.checkpoint_skipped();
        }
        let answer = if lost { None } else { Some(self.apply(event)) };
        if skips && !matches!(answer, Some(Ok(()))) {
            self.keeper.forget();
        }
        self.settle();
        let answer = answer.filter(|_| !self.failed);
        if let Err(SendError(late)) = reply.send(answer) {
            // Nobody waits for the answer any more, who was told that it would be done.
            match late {
                Some(Ok(())) => {}
                Some(Err(refusal)) => self.notice("warn", &refusal.to_string()),
                None => {
                    self.notice("error", "what was asked of the run could not be written down; ask again")
                }
            }
        }
    }

    /// What a human hands in is the output of that attempt.
    fn keep_handed_in(&mut self, launch: u32, text: &str) {
        let Some(stage) = self.working(launch) else { return };
        let path = self.dir.attempt(launch, stage).join("output.log");
        let text = self.host.secrets.mask(text).into_owned();
        if let Err(error) = self.dir.door().replace(&path, format!("{text}\n").as_bytes()) {
            self.cannot_write("what was handed in", &error);
        }
    }

    /// What was handed in right before the editor was left is not lost.
    fn await_submitted(&mut self) {
        let until = Instant::now() + HANDED_IN;
        while self.agent.as_ref().is_some_and(|agent| agent.submitted) {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Message::Agent(launch, signal)) => self.signal(launch, signal),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// The editor leaves: the run is interrupted, agents are ended now, nothing is said.
    pub(super) fn leave(&mut self, grace: Duration) {
        self.await_submitted();
        self.inbox.ignore_agents();
        let _ = self.apply(Event::Interrupted { why: "the editor was left".into() });
        self.settle();
        for agent in self.agent.iter().chain(&self.stopping) {
            agent.running.kill_now(grace);
        }
        self.agent = None;
        self.stopping.clear();
        self.leaving = true;
    }
}
