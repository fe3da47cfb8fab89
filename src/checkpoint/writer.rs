//! The handle to the thread that writes a run's checkpoints.
//!
//! A held lock never delays a run: the handle only queues. What cannot be written is kept in its latest form and
//! tried again. Each problem is reported once.

use super::attempt::Attempt;
use super::end::End;
use super::opening::Opening;
use super::place::Place;
use super::report::{Report, State};
use super::store::read;
use super::thread::{Command, Writer};
use super::update::{Past, Start, Tracker};
use super::view::{Row, rows};
use crate::harness::TodoItem;
use crate::sync::locked;
use chrono::{DateTime, Utc};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A `FIX` stage that must not start because the limit is reached. Its checkpoint becomes `BLOCKED`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fix cycle {count} of at most {max}: raise \"max_fix_cycles\" in \"{document}\", or fix it manually")]
pub struct TooManyFixes {
    /// The cycle that would start.
    pub count: u64,
    /// The limit.
    pub max: u64,
    /// Relative to the project root.
    pub document: String,
}

/// The checkpoints of one run. Only [`Checkpoints::flush`] and [`Checkpoints::close`] wait for the disk, for a given
/// time.
pub struct Checkpoints {
    place: Place,
    to: Sender<Command>,
    state: Arc<Mutex<State>>,
    ended_at: Arc<Mutex<Option<DateTime<Utc>>>>,
    thread: Option<JoinHandle<Tracker>>,
}

impl Checkpoints {
    /// Opens the checkpoints at `place`. `report` is called from the thread.
    pub fn open(place: Place, report: impl Fn(Report) + Send + 'static) -> Self {
        Self::open_after(Opening::minimal(place), None, report)
    }

    /// Continues where `before` ends, which may still have something to write.
    pub fn open_after(
        opening: Opening,
        mut before: Option<Self>,
        report: impl Fn(Report) + Send + 'static,
    ) -> Self {
        let (to, from) = channel();
        let state = Arc::new(Mutex::new(State::Written));
        let before = before.as_mut().and_then(|before| {
            before.send(Command::Close);
            before.thread.take()
        });
        let (ended_at, place) = (Arc::default(), opening.place.clone());
        let writer = Writer::new(opening, Arc::clone(&state), Arc::clone(&ended_at), Box::new(report));
        let thread = std::thread::Builder::new().name("superpower-checkpoint".into()).spawn(move || {
            let before = before.map(|before| before.join().unwrap_or_default());
            writer.run_from(before, &from)
        });
        Self { place, to, state, ended_at, thread: thread.ok() }
    }

    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Restores steps from before this process, as the journal records them. Those that were never written are
    /// written now.
    pub fn restored(&self, past: Vec<Past>) {
        self.send(Command::Restored(past));
    }

    /// A launch starts. Refused if it is one fix cycle too many: the checkpoint becomes `BLOCKED`, and the launch
    /// must not happen.
    pub fn started(&self, start: Start, now: DateTime<Utc>) -> Result<(), TooManyFixes> {
        let refused = (start.first && start.key == "FIX").then(|| self.too_many_fixes()).flatten();
        self.send(Command::Started(Box::new(start), now));
        match refused {
            None => Ok(()),
            Some(refused) => {
                self.ended(End::Blocked { why: refused.to_string() }, now);
                Err(refused)
            }
        }
    }

    fn too_many_fixes(&self) -> Option<TooManyFixes> {
        let cycles = read(&self.place)?.next_fix();
        let document = self.place.named();
        cycles.past().then_some(TooManyFixes { count: cycles.count, max: cycles.max, document })
    }

    /// The agent's whole to-do list.
    pub fn todo(&self, list: Vec<TodoItem>) {
        self.send(Command::Todo(list));
    }

    /// Files that the agent's tools wrote, relative to the project root.
    pub fn files(&self, files: Vec<String>) {
        self.send(Command::Files(files));
    }

    /// An attempt has ended. Its files in the tree are looked up before its step is written. Call this before
    /// [`Checkpoints::ended`].
    pub fn attempt_ended(&self, attempt: Attempt) {
        self.send(Command::AttemptEnded(attempt));
    }

    pub fn ended(&self, end: End, now: DateTime<Utc>) {
        self.send(Command::Ended(end, now));
    }

    /// The launch was interrupted: the step stays in progress, up to date to the last task.
    pub fn interrupted(&self) {
        self.send(Command::Interrupted);
    }

    pub fn state(&self) -> State {
        locked(&self.state).clone()
    }

    /// The last task of an interrupted `EXECUTE`, for `--resume-from`.
    pub fn resume_from(&self) -> Option<String> {
        read(&self.place)?.interrupted_at().map(str::to_owned)
    }

    /// The document for display.
    pub fn rows(&self) -> Vec<Row> {
        read(&self.place).map(|record| rows(&record)).unwrap_or_default()
    }

    /// Waits until everything is written, for at most `grace`; returns whether it is.
    pub fn flush(&self, grace: Duration) -> bool {
        let (to, from) = channel();
        self.send(Command::Flush(to));
        from.recv_timeout(grace).unwrap_or(false)
    }

    /// No more commands follow: the thread ends once everything is written. A step that another tool writes from now
    /// on is left to that tool.
    pub fn leave(&self) {
        // Not sent as a command, because the thread handles none while it waits for the lock.
        *locked(&self.ended_at) = Some(Utc::now());
        self.send(Command::Leave);
    }

    /// Whether the thread has ended. After [`Checkpoints::leave`] this means that everything is written.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Requests a last attempt to write; the answer is sent to `done`, so that several can run at once.
    pub fn last_try(&self, done: Sender<bool>) {
        self.send(Command::Flush(done));
    }

    /// Writes what is left within `grace`, and ends the thread.
    pub fn close(mut self, grace: Duration) -> bool {
        let written = self.flush(grace);
        self.send(Command::Close);
        // A thread that still waits for a lock ends after its attempt, without being joined.
        if written && let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        written
    }

    fn send(&self, command: Command) {
        // This fails only if the thread has ended, which was reported.
        let _ = self.to.send(command);
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.send(Command::Close);
    }
}
