//! A run being driven.

use super::Host;
use super::announcement::Announcement;
use super::follow_up::Act;
use super::keeper::Keeper;
use super::mailbox::Inbox;
use super::message::Reply;
use super::performer::Performer;
use super::shared::Shared;
use crate::outcome::ProcessRecord;
use crate::run::effect::Effect;
use crate::run::machine::Refusal;
use crate::run::state::Run;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct Drive {
    pub(super) host: Arc<Host>,
    pub(super) root: PathBuf,
    pub(super) run: Run,
    pub(super) keeper: Keeper,
    pub(super) performer: Performer,
    pub(super) inbox: Inbox,
    pub(super) shared: Arc<Shared>,
    /// Effects of the steps since the last flush.
    pub(super) fresh: Vec<Effect>,
    /// What is left to do, in order. The events that caused it are on disk.
    pub(super) queue: VecDeque<Act>,
    /// Announcements to make once the step is published.
    pub(super) announcements: Vec<Announcement>,
    /// Verbs to answer once they are on disk.
    pub(super) replies: Vec<(Reply, Option<Result<(), Refusal>>)>,
    /// The trusted files as they were last read.
    pub(super) trusted: crate::project::trust::Cache,
    /// Processes of an earlier drive; `None` if there was none.
    pub(super) left_behind: Option<Vec<ProcessRecord>>,
    pub(super) leave: Option<Leave>,
    /// No launch before this, because the editor is about to exit.
    pub(super) held: Option<Instant>,
    /// Nothing is left to drive.
    pub(super) over: bool,
    /// The disk has failed; further events are no longer saved.
    pub(super) failed: bool,
}

/// The editor exits.
pub(super) struct Leave {
    /// Time for agents to end.
    pub(super) grace: Duration,
    /// Latest time to wait for the end of a submitted stage.
    pub(super) until: Instant,
}
