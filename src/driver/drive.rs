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

/// A run being driven.
pub struct Drive {
    pub(super) host: Arc<Host>,
    pub(super) root: PathBuf,
    pub(super) run: Run,
    pub(super) keeper: Keeper,
    pub(super) performer: Performer,
    pub(super) inbox: Inbox,
    pub(super) shared: Arc<Shared>,
    /// What the steps since the last flush have led to.
    pub(super) fresh: Vec<Effect>,
    /// What is left to do, in order; its cause is on disk.
    pub(super) queue: VecDeque<Act>,
    /// What others are told once the step is published.
    pub(super) told: Vec<Announcement>,
    /// Verbs that are answered once they are on disk.
    pub(super) replies: Vec<(Reply, Option<Result<(), Refusal>>)>,
    /// Files that the user's trust covers, as they were read last.
    pub(super) trusted: crate::project::trust::Cache,
    /// Processes of an earlier drive; none where there was none.
    pub(super) left_behind: Option<Vec<ProcessRecord>>,
    pub(super) leave: Option<Leave>,
    /// Until when nothing begins, since the editor is about to leave.
    pub(super) held: Option<Instant>,
    /// Nothing is left to drive.
    pub(super) over: bool,
    /// The disk has failed this drive: what it still says is no longer kept.
    pub(super) failed: bool,
}

/// The editor is left.
pub(super) struct Leave {
    /// How long agents have to end.
    pub(super) grace: Duration,
    /// Until when the end of a stage that was handed in is waited for.
    pub(super) until: Instant,
}
