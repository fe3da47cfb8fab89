//! What is kept of a run while it is driven: the lock, the journal, the log, and what other editors and tools read.

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

/// Keeps a run.
pub struct Keeper {
    pub(super) host: Arc<Host>,
    pub(super) root: PathBuf,
    journal: Journal,
    pub(super) log: Log,
    pub(super) lease: Option<Lease>,
    pub(super) shared: Arc<Shared>,
    /// Whether `squad.json` is behind the run, and when it may be written next.
    behind: bool,
    project: Instant,
    stopped: bool,
    /// Whether there is something new to draw, and when that may be.
    pub(super) dirty: bool,
    pub(super) draw: Instant,
    /// What could not be written, and was told.
    pub(super) complained: Vec<&'static str>,
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
            complained: Vec::new(),
        };
        keeper.sign(run);
        keeper
    }

    /// Takes a record, which is written with the next.
    pub(super) fn record(&mut self, record: &Record) {
        self.journal.append(record);
        self.dirty = true;
    }

    /// Writes the journal: with a flush where something `acts` on it, else so that it survives the editor.
    pub(super) fn save(&mut self, run: &Run, acts: bool) -> Result<(), StartError> {
        if !acts {
            return self.write(run);
        }
        self.hold(run)?;
        self.journal.flush()?;
        self.behind = true;
        Ok(())
    }

    /// Writes the journal with a flush.
    pub(super) fn flush(&mut self) -> Result<(), JournalError> {
        self.journal.flush()
    }

    /// Writes the journal, so that it survives the editor.
    pub(super) fn write(&mut self, run: &Run) -> Result<(), StartError> {
        if self.journal.has_unwritten() {
            self.hold(run)?;
        }
        Ok(self.journal.write()?)
    }

    /// Makes sure that the lock keeps others out still. Where its file was removed it is taken anew; where somebody
    /// else has taken it meanwhile, this drive is over.
    fn hold(&mut self, run: &Run) -> Result<(), StartError> {
        if self.lease.as_ref().is_none_or(|lease| lease.holds(&self.root)) {
            return Ok(());
        }
        self.journal.ensure_ours()?;
        self.lease = Some(lock(&self.root)?);
        self.sign(run);
        Ok(())
    }

    /// Writes who drives: only for others to show, since the lock itself is what counts.
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

    /// Gives the lock back.
    pub(super) fn release(&mut self) {
        drop(self.lease.take());
    }

    /// There is something new to draw.
    pub(super) fn undrawn(&mut self) {
        self.dirty = true;
    }

    /// Writes what others read of the run, and draws it: at once where it stops, before anybody is told, and not at every
    /// step of one that is being cancelled.
    pub(super) fn publish(&mut self, run: &Run, performer: &mut Performer, told: &[Announcement]) {
        let stop = |told: &Announcement| {
            matches!(
                told,
                Announcement::Run(
                    Notice::GateOpened { .. } | Notice::RunPaused { .. } | Notice::RunFinished { .. }
                )
            )
        };
        let stops = told.iter().any(stop);
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
        // What could not be written is tried again, as long as the run is driven.
        self.behind = written.is_err();
        match written {
            Ok(None) => {}
            Ok(Some(aside)) => self.notice(run, "warn", &projection::moved(&aside)),
            Err(error) => self.cannot_write(run, "squad.json", &error),
        }
        self.project = now + INTERVAL;
    }

    /// The journal cannot be written: what others read must not be ahead of it.
    pub(super) fn stop_projecting(&mut self) {
        self.stopped = true;
    }

    /// How long nothing has to be written or drawn.
    pub(super) fn patience(&self) -> Duration {
        let mut patience = Duration::from_secs(3600);
        if self.dirty {
            patience = self.draw.saturating_duration_since(Instant::now());
        }
        if self.behind && !self.stopped {
            patience = patience.min(self.project.saturating_duration_since(Instant::now()));
        }
        patience
    }
}
