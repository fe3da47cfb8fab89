//! Persists a run while it is driven: the lease, the journal, the log, and the files for other editors and tools.

use super::announcement::Announcement;
use super::lock::{StartError, lock};
use super::performer::Performer;
use super::{Host, Shared};
use crate::run::effect::Notice;
use crate::run::event::Record;
use crate::run::state::{Phase, Run};
use crate::runs::projection;
use crate::store::journal::{Journal, JournalError};
use crate::store::lease::{Holder, Lease};
use crate::store::log::Log;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Minimum interval between writes of `squad.json` while a run is active.
const INTERVAL: Duration = Duration::from_millis(200);

pub struct Keeper {
    pub(super) host: Arc<Host>,
    pub(super) root: PathBuf,
    journal: Journal,
    pub(super) log: Log,
    pub(super) lease: Option<Lease>,
    pub(super) shared: Arc<Shared>,
    /// Whether `squad.json` is outdated, and when it may next be written.
    behind: bool,
    project: Instant,
    stopped: bool,
    /// Whether a picture is due, and when it may be drawn.
    pub(super) dirty: bool,
    pub(super) draw: Instant,
    /// Files whose write error was already reported.
    pub(super) reported: Vec<&'static str>,
}

impl Keeper {
    pub(super) fn new(
        host: Arc<Host>,
        root: &Path,
        run: &Run,
        journal: Journal,
        lease: Lease,
        shared: Arc<Shared>,
    ) -> Self {
        let log = Log::new(root, host.config.max_log);
        let (now, root) = (Instant::now(), root.to_owned());
        let mut keeper = Self {
            host,
            root,
            journal,
            log,
            lease: Some(lease),
            shared,
            behind: false,
            project: now,
            stopped: false,
            dirty: true,
            draw: now,
            reported: Vec::new(),
        };
        keeper.sign(run);
        keeper
    }

    /// Queues a record for the next write.
    pub(super) fn record(&mut self, record: &Record) {
        self.journal.append(record);
        self.dirty = true;
    }

    /// Writes the journal. If something `acts` on it, it is flushed; otherwise it only has to survive a crash of the
    /// editor.
    pub(super) fn save(&mut self, run: &Run, acts: bool) -> Result<(), StartError> {
        if !acts {
            return self.write(run);
        }
        self.ensure_lease(run)?;
        self.journal.flush()?;
        self.behind = true;
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), JournalError> {
        self.journal.flush()
    }

    /// Writes the journal without a flush, so that it survives a crash of the editor.
    pub(super) fn write(&mut self, run: &Run) -> Result<(), StartError> {
        if self.journal.has_unwritten() {
            self.ensure_lease(run)?;
        }
        Ok(self.journal.write()?)
    }

    /// Makes sure that the lease still excludes others. If the lock file was removed, the lease is taken again; if
    /// another process has it by then, this drive ends.
    fn ensure_lease(&mut self, run: &Run) -> Result<(), StartError> {
        if self.lease.as_ref().is_none_or(|lease| lease.holds(&self.root)) {
            return Ok(());
        }
        self.journal.ensure_ours()?;
        self.lease = Some(lock(&self.root)?);
        self.sign(run);
        Ok(())
    }

    /// Writes the driver's description for others. An error is ignored, because only the lock itself counts.
    fn sign(&mut self, run: &Run) {
        let holder = Holder {
            pid: std::process::id(),
            run_id: run.run_id.clone(),
            superpower: run.plan.name().to_owned(),
            since: (self.host.clock)().timestamp_millis(),
        };
        if let Some(lease) = &mut self.lease {
            let _ = lease.sign(&holder);
        }
    }

    /// Releases the lease.
    pub(super) fn release(&mut self) {
        drop(self.lease.take());
    }

    /// Marks that there is something new to draw.
    pub(super) fn mark_undrawn(&mut self) {
        self.dirty = true;
    }

    /// Updates the files that others read, and draws the run. This is immediate when the run stops, so that it
    /// precedes all announcements; while a run is being cancelled, not every step is drawn.
    pub(super) fn publish(&mut self, run: &Run, performer: &mut Performer, announcements: &[Announcement]) {
        let stop = |announcement: &Announcement| {
            matches!(
                announcement,
                Announcement::Run(
                    Notice::GateOpened { .. } | Notice::RunPaused { .. } | Notice::RunFinished { .. }
                )
            )
        };
        let stops = announcements.iter().any(stop);
        self.behind |= stops;
        self.project(run, stops);
        if stops || (self.dirty && self.draw <= Instant::now()) {
            self.draw(run, performer);
        }
    }

    fn project(&mut self, run: &Run, stops: bool) {
        let now = Instant::now();
        if self.stopped || !self.behind || (!stops && self.project > now && run.phase == Phase::Running) {
            return;
        }
        let written = projection::write(&self.root, run, &self.host.secrets, &self.host.keys);
        // A failed write is retried while the run is driven.
        self.behind = written.is_err();
        match written {
            Ok(None) => {}
            Ok(Some(aside)) => self.notice(run, "warn", &projection::moved(&aside)),
            Err(error) => self.cannot_write(run, "squad.json", &error),
        }
        self.project = now + INTERVAL;
    }

    /// The journal cannot be written, and other files must not be ahead of it.
    pub(super) fn stop_projecting(&mut self) {
        self.stopped = true;
    }

    /// The time until something has to be written or drawn.
    pub(super) fn max_wait(&self) -> Duration {
        let mut wait = Duration::from_secs(3600);
        if self.dirty {
            wait = self.draw.saturating_duration_since(Instant::now());
        }
        if self.behind && !self.stopped {
            wait = wait.min(self.project.saturating_duration_since(Instant::now()));
        }
        wait
    }
}
