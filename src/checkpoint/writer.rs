//! The handle to the thread that writes a run's checkpoints.
//!
//! A lock that somebody holds never holds up a run: the handle only queues, and what cannot be written waits in its
//! newest form and is tried again. What people should know of it is reported once.

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

/// A stage of `FIX` that must not begin: the limit is reached. Its checkpoint is written `BLOCKED`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fix cycle {count} of at most {max}: raise \"max_fix_cycles\" in \"{document}\", or fix it by hand")]
pub struct TooManyFixes {
    /// The cycle that would begin.
    pub count: u64,
    /// As many as may be.
    pub max: u64,
    /// The document, from the project root.
    pub document: String,
}

/// The checkpoints of one run. Nothing here waits for the disk, except [`Checkpoints::flush`] and
/// [`Checkpoints::close`], which are given their time.
pub struct Checkpoints {
    place: Place,
    to: Sender<Command>,
    state: Arc<Mutex<State>>,
    left: Arc<Mutex<Option<DateTime<Utc>>>>,
    thread: Option<JoinHandle<Tracker>>,
}

impl Checkpoints {
    /// Keeps the checkpoints at `place`. `report` is called from a thread of its own.
    pub fn open(place: Place, report: impl Fn(Report) + Send + 'static) -> Self {
        Self::go_on(Opening::bare(place), None, report)
    }

    /// The same, from where `before` ends, which may have something to write still.
    pub fn go_on(
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
        let (left, place) = (Arc::default(), opening.place.clone());
        let writer = Writer::new(opening, Arc::clone(&state), Arc::clone(&left), Box::new(report));
        let thread = std::thread::Builder::new().name("superpower-checkpoint".into()).spawn(move || {
            let before = before.map(|before| before.join().unwrap_or_default());
            writer.run_from(before, &from)
        });
        Self { place, to, state, left, thread: thread.ok() }
    }

    /// Where they are.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Steps of the same run from before this process, as its journal tells them. What of them was never written is
    /// written now.
    pub fn restored(&self, past: Vec<Past>) {
        self.send(Command::Restored(past));
    }

    /// A launch begins. Refused, and written as `BLOCKED`, where it is one fix too many; then it must not be made.
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

    /// The agent's to-do list, whole.
    pub fn todo(&self, list: Vec<TodoItem>) {
        self.send(Command::Todo(list));
    }

    /// Files that were written by the agent's tools, relative to the project root.
    pub fn files(&self, files: Vec<String>) {
        self.send(Command::Files(files));
    }

    /// An attempt has ended: what the tree shows of it is found before its step is written. To be said before
    /// [`Checkpoints::ended`].
    pub fn attempt_ended(&self, attempt: Attempt) {
        self.send(Command::AttemptEnded(attempt));
    }

    /// The launch is over.
    pub fn ended(&self, end: End, now: DateTime<Utc>) {
        self.send(Command::Ended(end, now));
    }

    /// The launch was cut off: the step stays in progress, exact to the last task.
    pub fn interrupted(&self) {
        self.send(Command::Interrupted);
    }

    /// Where writing stands.
    pub fn state(&self) -> State {
        locked(&self.state).clone()
    }

    /// The last task of an `EXECUTE` that was interrupted, for `--resume-from`.
    pub fn resume_from(&self) -> Option<String> {
        read(&self.place)?.interrupted_at().map(str::to_owned)
    }

    /// The document as it is, to show.
    pub fn rows(&self) -> Vec<Row> {
        read(&self.place).map(|record| rows(&record)).unwrap_or_default()
    }

    /// Waits until all is written, at most for `grace`; says whether it is.
    pub fn flush(&self, grace: Duration) -> bool {
        let (to, from) = channel();
        self.send(Command::Flush(to));
        from.recv_timeout(grace).unwrap_or(false)
    }

    /// Nothing more is to come: the thread goes on until all is written, and then ends. A step that somebody else writes
    /// from now on is not written any more.
    pub fn leave(&self) {
        // Not by the command, which waits while the lock is waited for.
        *locked(&self.left) = Some(Utc::now());
        self.send(Command::Leave);
    }

    /// Whether the thread has ended. After [`Checkpoints::leave`]: whether all is written.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Asks for a last try, to be answered to `done`; it may be at work for several at once.
    pub fn last_try(&self, done: Sender<bool>) {
        self.send(Command::Flush(done));
    }

    /// Writes what waits, within `grace`, and ends the thread.
    pub fn close(mut self, grace: Duration) -> bool {
        let written = self.flush(grace);
        self.send(Command::Close);
        // A thread that is still waiting for a lock ends after its try; nobody waits for it then.
        if written && let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        written
    }

    fn send(&self, command: Command) {
        // It fails only where the thread is gone, which was reported.
        let _ = self.to.send(command);
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.send(Command::Close);
    }
}
