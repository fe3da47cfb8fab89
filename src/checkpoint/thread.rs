//! The thread that writes a run's checkpoints.

use super::attempt::Attempt;
use super::end::End;
use super::figures::items;
use super::head::head;
use super::lock::LockError;
use super::opening::{Find, Opening};
use super::place::plan_text;
use super::record::{Record, Unreadable};
use super::report::{Report, State};
use super::store::{Found, Store, StoreError};
use super::update::{Past, Start, Tracker};
use super::waiting;
use crate::harness::TodoItem;
use crate::store::beneath::{Door, SMALL, Stamp};
use crate::sync::locked;
use chrono::{DateTime, Utc};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long one attempt waits for the lock. New commands are handled before the next attempt.
const TRY: Duration = Duration::from_millis(200);
/// Delay after a failure that retrying at once cannot fix.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Interval of checks for changes by other tools.
const LOOK: Duration = Duration::from_millis(500);
/// Minimum interval between two writes. A slow write lengthens it, up to [`LOOK`].
const PACE: Duration = Duration::from_millis(100);
const SHARE: u32 = 10;
/// A lock that is held longer than this is reported.
const WORTH_TELLING: Duration = Duration::from_secs(10);

/// Commands for the thread.
pub(super) enum Command {
    Restored(Vec<Past>),
    Started(Box<Start>, DateTime<Utc>),
    Todo(Vec<TodoItem>),
    Files(Vec<String>),
    AttemptEnded(Attempt),
    Ended(End, DateTime<Utc>),
    Interrupted,
    Flush(Sender<bool>),
    /// End when nothing is left to write.
    Leave,
    Close,
}

/// The state of the thread.
pub(super) struct Writer {
    store: Store,
    tracker: Tracker,
    state: Arc<Mutex<State>>,
    /// When the drive ended, if it has.
    ended_at: Arc<Mutex<Option<DateTime<Utc>>>>,
    report: Box<dyn Fn(Report) + Send>,
    /// The cause that was last reported.
    reported: Option<String>,
    /// The document's stamp when it was last checked.
    seen: Option<Stamp>,
    /// No write before this, after a failure.
    again: Option<Instant>,
    /// No write before this, after a write, unless a caller waits for it.
    pace: Instant,
    /// The file that keeps unwritten steps for a later process.
    mark: Option<PathBuf>,
    /// The text that we last wrote to it.
    kept: Option<String>,
    mask: Box<dyn Fn(&str) -> String + Send>,
    find: Find,
    /// Whether that file exists, as far as we know.
    marked: bool,
    /// The plan whose boxes are counted, and its stamp at the last count.
    plan: Option<(PathBuf, Option<Stamp>)>,
    leaving: bool,
}

impl Writer {
    pub(super) fn new(
        opening: Opening,
        state: Arc<Mutex<State>>,
        ended_at: Arc<Mutex<Option<DateTime<Utc>>>>,
        report: Box<dyn Fn(Report) + Send>,
    ) -> Self {
        Self {
            store: Store::new(opening.place.clone()),
            tracker: Tracker::default(),
            state,
            ended_at,
            report,
            reported: None,
            seen: None,
            again: None,
            pace: Instant::now(),
            marked: opening.mark.as_ref().is_some_and(|mark| opening.place.door().is_file(mark)),
            mark: opening.mark,
            kept: None,
            mask: opening.mask,
            find: opening.find,
            plan: None,
            leaving: false,
        }
    }

    /// Continues from the tracker of an earlier thread of this process, or else from what an earlier process has
    /// left. Returns the tracker for the next one.
    pub(super) fn run_from(mut self, before: Option<Tracker>, from: &Receiver<Command>) -> Tracker {
        match before {
            Some(tracker) => self.tracker = tracker,
            None => self.take_over(),
        }
        // A panic here must not end the run.
        if catch_unwind(AssertUnwindSafe(|| self.run(from))).is_err() {
            (self.report)(Report::Waiting(
                "internal error: checkpoints are no longer written; see the log".to_owned(),
            ));
        }
        self.tracker
    }

    fn take_over(&mut self) {
        let Some(mark) = self.mark.as_ref().filter(|_| self.marked) else { return };
        let text = self.store.place().door().read_text(mark, SMALL).unwrap_or_default();
        let seen = self.store.known();
        self.tracker.take_over(waiting::steps(&text), seen.as_deref());
    }

    fn run(&mut self, from: &Receiver<Command>) {
        self.seen = self.stamp();
        let mut flushes: Vec<Sender<bool>> = Vec::new();
        loop {
            match from.recv_timeout(self.pause()) {
                Ok(Command::Close) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Command::Flush(to)) => flushes.push(to),
                Ok(command) => self.take(command),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Handle all queued commands before using the disk.
            while let Ok(command) = from.try_recv() {
                match command {
                    Command::Close => return,
                    Command::Flush(to) => flushes.push(to),
                    command => self.take(command),
                }
            }
            self.look();
            self.count_boxes();
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
                self.unmark();
                if self.leaving {
                    return;
                }
            }
        }
    }

    /// The time until the next action.
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
                let known = seen.as_deref().or_else(|| self.stamp().is_none().then_some(&empty));
                self.plan = start.plan.clone().map(|plan| (plan, None));
                self.tracker.started(*start, known, now);
                self.head(false);
                self.count_boxes();
            }
            Command::Restored(past) => {
                let seen = self.store.known();
                for past in past {
                    let boxes = past.plan.as_deref().map(|plan| self.boxes(plan)).unwrap_or_default();
                    self.tracker.restored(past, seen.as_deref(), &boxes);
                }
            }
            Command::Todo(list) => {
                if self.tracker.todo(&list) {
                    self.head(true);
                }
            }
            Command::Files(files) => self.tracker.files(files),
            Command::AttemptEnded(attempt) => self.tracker.attempt_ended(attempt),
            Command::Ended(end, now) => {
                self.count_boxes();
                self.head(false);
                if let Err(illegal) = self.tracker.ended(&end, now) {
                    (self.report)(Report::Fixed(illegal.to_string()));
                }
            }
            Command::Interrupted => {
                self.count_boxes();
                self.head(false);
                self.tracker.interrupted();
            }
            Command::Leave => self.leaving = true,
            Command::Flush(_) | Command::Close => {}
        }
    }

    fn head(&mut self, task_done: bool) {
        if let Some(sha) = head(self.store.place().root()) {
            self.tracker.head(&sha, task_done);
        }
    }

    /// Counts the boxes of the plan if it has changed.
    fn count_boxes(&mut self) {
        let Some((plan, counted)) = &mut self.plan else { return };
        let stamp = Door::people(self.store.place().root()).stamp(plan);
        if stamp == *counted {
            return;
        }
        *counted = stamp;
        let plan = plan.clone();
        let items = self.boxes(&plan);
        if self.tracker.boxes(&items) {
            self.head(true);
        }
    }

    fn boxes(&self, plan: &Path) -> Vec<TodoItem> {
        let text = plan_text(self.store.place().root(), plan);
        text.map(|text| items(&(self.mask)(&text))).unwrap_or_default()
    }

    /// The document's stamp; `None` if there is none.
    fn stamp(&self) -> Option<Stamp> {
        self.store.place().door().stamp(&self.store.place().document())
    }

    fn unmark(&mut self) {
        self.kept = None;
        if std::mem::take(&mut self.marked)
            && let Some(mark) = &self.mark
        {
            let _ = self.store.place().door().remove_file(mark);
        }
    }

    fn mark(&mut self) {
        let Some(mark) = &self.mark else { return };
        let waits = waiting::text(&self.tracker);
        if self.kept.as_ref() != Some(&waits) {
            // If this cannot be written either, the run's journal is all that is left.
            if self.store.place().door().replace(mark, waits.as_bytes()).is_ok() {
                self.marked = true;
                self.kept = Some(waits);
            }
        }
    }

    fn set_state(&self, state: State) {
        let before = std::mem::replace(&mut *locked(&self.state), state.clone());
        // A longer wait alone is not reported.
        if std::mem::discriminant(&before) != std::mem::discriminant(&state) {
            (self.report)(Report::State(state));
        }
    }

    fn write(&mut self, now: DateTime<Utc>) {
        let began = Instant::now();
        self.find_files();
        if !self.try_to_write(now) {
            // A held lock is tried again at once; other failures set their own delay.
            return;
        }
        // Short stages are written together, and a large document less often.
        self.pace = Instant::now() + (began.elapsed() * SHARE).clamp(PACE, LOOK);
    }

    /// Looks up the files of attempts that have ended since the last time.
    fn find_files(&mut self) {
        let unseen = self.tracker.unseen();
        if !unseen.is_empty() {
            let files = (self.find)(&unseen);
            self.tracker.seen(&unseen, files);
        }
    }

    /// Returns whether it was written.
    fn try_to_write(&mut self, now: DateTime<Utc>) -> bool {
        let mut written = None;
        let outcome = self.store.update(now, TRY, |record, new| {
            let next = written.insert(self.tracker.clone());
            next.drive_ended = *locked(&self.ended_at);
            // A lost document gets everything that this run knows.
            if new { next.apply_all(record, now) } else { next.apply(record, now) }
        });
        match outcome {
            Ok(found) => {
                self.tracker = written.unwrap_or_else(|| self.tracker.clone());
                self.again = None;
                self.written(found);
                self.look();
                true
            }
            Err(error) => {
                self.failed(&error);
                false
            }
        }
    }

    fn written(&mut self, found: Found) {
        self.set_state(State::Written);
        if self.reported.take().is_some() {
            (self.report)(Report::Recovered);
        }
        if let Some(broken) = found.broken {
            let lock = self.store.place().dir().join(super::lock::LOCK);
            let text = format!(
                "removed the stale lock \"{}\" of process {}, which no longer runs",
                lock.display(),
                broken.pid
            );
            (self.report)(Report::Fixed(text));
        }
        if let Some(aside) = found.aside {
            let (document, why) = (self.store.place().document(), &aside.why);
            let (document, kept) = (document.display(), aside.path.display());
            (self.report)(Report::Fixed(match why {
                Unreadable::Twice(_) | Unreadable::Unfit(..) => {
                    format!("\"{document}\": {why}; the original was saved as \"{kept}\"")
                }
                _ => format!(
                    "cannot use \"{document}\": {why}; it was moved to \"{kept}\", and a new one was created"
                ),
            }));
        }
    }

    fn failed(&mut self, error: &StoreError) {
        let text = error.to_string();
        self.mark();
        self.set_state(State::Waiting(text.clone()));
        let (cause, worth_telling) = match error {
            StoreError::Lock(LockError::Held { holder, age, .. }) => (holder.clone(), *age >= WORTH_TELLING),
            StoreError::Lock(LockError::Abandoned { holder, .. }) => (format!("abandoned by {holder}"), true),
            StoreError::Lock(LockError::Io { .. }) | StoreError::Io { .. } => (text.clone(), true),
        };
        let held = matches!(error, StoreError::Lock(LockError::Held { .. }));
        self.again = (!held).then(|| Instant::now() + AFTER_FAILURE);
        if worth_telling && self.reported.as_ref() != Some(&cause) {
            self.reported = Some(cause);
            (self.report)(Report::State(State::Waiting(text.clone())));
            (self.report)(Report::Waiting(text));
        }
    }

    /// Reports a changed document.
    fn look(&mut self) {
        let stamp = self.stamp();
        if stamp != self.seen {
            self.seen = stamp;
            (self.report)(Report::Changed);
        }
    }
}
