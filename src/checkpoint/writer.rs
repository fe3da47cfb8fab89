//! The thread that writes a run's checkpoints, and the handle to it.
//!
//! A lock that somebody holds never holds up a run: the handle only queues, and what cannot be written waits in its
//! newest form and is tried again. What people should know of it is reported once.

use super::head::head;
use super::lock::LockError;
use super::place::Place;
use super::record::Record;
use super::store::{Found, Stamp, Store, StoreError, read};
use super::update::{End, Past, Start, Tracker};
use super::view::{Row, rows};
use crate::harness::TodoItem;
use chrono::{DateTime, Utc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// One try for the lock; what is said to us meanwhile is taken in before the next.
const TRY: Duration = Duration::from_millis(200);
/// Between two tries after a failure that a moment's waiting does not mend.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Changes from outside are looked for so often.
const LOOK: Duration = Duration::from_millis(500);
/// Between two writes, at least; and as many times what a write takes, up to [`LOOK`].
const PACE: Duration = Duration::from_millis(100);
const SHARE: u32 = 10;
/// A lock that is held longer than this is worth telling.
const WORTH_TELLING: Duration = Duration::from_secs(10);

/// What people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A checkpoint cannot be written for now; said once for each cause.
    Waiting(String),
    /// It could be written after all.
    Recovered,
    /// Something was mended on the way: a dead owner's lock broken, an unreadable document moved aside.
    Mended(String),
    /// The document is another than before, by us or by somebody else: worth reading again.
    Changed,
}

/// Where writing stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// All is written.
    Written,
    /// Something waits to be written, and this is why.
    Waiting(String),
}

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

enum Command {
    Restored(Vec<Past>),
    Started(Box<Start>, DateTime<Utc>),
    Todo(Vec<TodoItem>),
    Files(Vec<String>),
    Ended(End, DateTime<Utc>),
    Interrupted,
    Flush(Sender<bool>),
    Close,
}

/// The checkpoints of one run. Nothing here waits for the disk, except [`Checkpoints::flush`] and
/// [`Checkpoints::close`], which are given their time.
pub struct Checkpoints {
    place: Place,
    to: Sender<Command>,
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Keeps the checkpoints at `place`. `report` is called from a thread of its own.
    pub fn open(place: Place, report: impl Fn(Report) + Send + 'static) -> Self {
        let (to, from) = channel();
        let state = Arc::new(Mutex::new(State::Written));
        let writer = Writer {
            store: Store::new(place.clone()),
            tracker: Tracker::default(),
            state: Arc::clone(&state),
            report: Box::new(report),
            told: None,
            seen: None,
            again: None,
            pace: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("superpower-checkpoint".into()).spawn(move || {
            let mut writer = writer;
            // A fault in here must not take the run along.
            if catch_unwind(AssertUnwindSafe(|| writer.run(&from))).is_err() {
                (writer.report)(Report::Waiting("checkpoints are no longer written: see the log".to_owned()));
            }
        });
        Self { place, to, state, thread: thread.ok() }
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
        let document = format!("{}{}", self.place.relative(), super::place::DOCUMENT);
        cycles.past().then_some(TooManyFixes { count: cycles.count, max: cycles.max, document })
    }

    /// The agent's to-do list, whole.
    pub fn todo(&self, list: Vec<TodoItem>) {
        self.send(Command::Todo(list));
    }

    /// Files that were written, relative to the project root; by the agent's tools, or seen in the tree at the end.
    pub fn files(&self, files: Vec<String>) {
        self.send(Command::Files(files));
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

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Writer {
    store: Store,
    tracker: Tracker,
    state: Arc<Mutex<State>>,
    report: Box<dyn Fn(Report) + Send>,
    /// The cause that was told last.
    told: Option<String>,
    /// The document as we know it.
    seen: Option<Stamp>,
    /// Not before this after a failure.
    again: Option<Instant>,
    /// Not before this after a write, unless somebody waits for it.
    pace: Instant,
}

impl Writer {
    fn run(&mut self, from: &Receiver<Command>) {
        self.seen = Stamp::at(&self.store.place().document());
        let mut flushes: Vec<Sender<bool>> = Vec::new();
        loop {
            match from.recv_timeout(self.pause()) {
                Ok(Command::Close) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Command::Flush(to)) => flushes.push(to),
                Ok(command) => self.take(command),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // All that has been said counts before the disk is asked.
            while let Ok(command) = from.try_recv() {
                match command {
                    Command::Close => return,
                    Command::Flush(to) => flushes.push(to),
                    command => self.take(command),
                }
            }
            self.look();
            let now = Utc::now();
            let due = self.tracker.due().is_some_and(|due| due <= now);
            let instant = Instant::now();
            let may = self.again.is_none_or(|again| again <= instant) && self.pace <= instant;
            if (due && may) || (!flushes.is_empty() && self.tracker.waits()) {
                self.write(now);
            }
            if !self.tracker.waits() {
                for to in flushes.drain(..) {
                    let _ = to.send(true);
                }
            }
        }
    }

    /// Until there is something to do again.
    fn pause(&self) -> Duration {
        let due = self.tracker.due().map(|due| (due - Utc::now()).to_std().unwrap_or(Duration::ZERO));
        let again =
            self.again.map_or(Duration::ZERO, |again| again.saturating_duration_since(Instant::now()));
        let pace = self.pace.saturating_duration_since(Instant::now());
        due.map_or(LOOK, |due| due.max(again).max(pace)).min(LOOK)
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Started(start, now) => {
                let seen = self.store.known();
                let empty = Record::minimal(None, now);
                let known =
                    seen.as_deref().or_else(|| (!self.store.place().document().exists()).then_some(&empty));
                self.tracker.started(*start, known, now);
                self.head(false);
            }
            Command::Restored(past) => {
                let seen = self.store.known();
                for past in past {
                    self.tracker.restored(past, seen.as_deref());
                }
            }
            Command::Todo(list) => {
                if self.tracker.todo(&list) {
                    self.head(true);
                }
            }
            Command::Files(files) => self.tracker.files(files),
            Command::Ended(end, now) => {
                self.head(false);
                if let Err(illegal) = self.tracker.ended(&end, now) {
                    (self.report)(Report::Mended(illegal.to_string()));
                }
            }
            Command::Interrupted => {
                self.head(false);
                self.tracker.interrupted();
            }
            Command::Flush(_) | Command::Close => {}
        }
    }

    fn head(&mut self, task_done: bool) {
        if let Some(sha) = head(self.store.place().root()) {
            self.tracker.head(&sha, task_done);
        }
    }

    fn write(&mut self, now: DateTime<Utc>) {
        let began = Instant::now();
        self.try_to_write(now);
        // Stages that follow each other in no time are written together, and a large document less often.
        self.pace = Instant::now() + (began.elapsed() * SHARE).clamp(PACE, LOOK);
    }

    fn try_to_write(&mut self, now: DateTime<Utc>) {
        let mut next = self.tracker.clone();
        let outcome = self.store.update(now, TRY, |record, new| {
            next = self.tracker.clone();
            // A document that was lost gets back all that this run knows.
            if new { next.apply_all(record, now) } else { next.apply(record, now) }
        });
        match outcome {
            Ok(found) => {
                self.tracker = next;
                self.again = None;
                self.written(found);
                self.look();
            }
            Err(error) => self.failed(&error),
        }
    }

    fn written(&mut self, found: Found) {
        *locked(&self.state) = State::Written;
        if self.told.take().is_some() {
            (self.report)(Report::Recovered);
        }
        if let Some(broken) = found.broken {
            let lock = self.store.place().dir().join(super::lock::LOCK);
            let text = format!(
                "\"{}\" was left by process {}, which is dead; it was broken",
                lock.display(),
                broken.pid
            );
            (self.report)(Report::Mended(text));
        }
        if let Some(aside) = found.aside {
            let document = self.store.place().document();
            (self.report)(Report::Mended(format!(
                "\"{}\" could not be used: {}; it is kept as \"{}\", and a new one was begun",
                document.display(),
                aside.why,
                aside.path.display()
            )));
        }
    }

    fn failed(&mut self, error: &StoreError) {
        let text = error.to_string();
        *locked(&self.state) = State::Waiting(text.clone());
        let (cause, worth_telling) = match error {
            StoreError::Lock(LockError::Held { holder, age, .. }) => (holder.clone(), *age >= WORTH_TELLING),
            StoreError::Lock(LockError::Abandoned { holder, .. }) => (format!("abandoned by {holder}"), true),
            StoreError::Lock(LockError::Io { .. }) | StoreError::Io { .. } => (text.clone(), true),
        };
        let held = matches!(error, StoreError::Lock(LockError::Held { .. }));
        self.again = (!held).then(|| Instant::now() + AFTER_FAILURE);
        if worth_telling && self.told.as_ref() != Some(&cause) {
            self.told = Some(cause);
            (self.report)(Report::Waiting(text));
        }
    }

    /// Tells when the document has changed.
    fn look(&mut self) {
        let stamp = Stamp::at(&self.store.place().document());
        if stamp != self.seen {
            self.seen = stamp;
            (self.report)(Report::Changed);
        }
    }
}
