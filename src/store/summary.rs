//! A run in short, as lists show it: a projection of the journal, for speed. It carries a seal, so that a list says of no
//! run what only its files claim; and what the journal was when it was written, so that a journal that has changed since
//! is looked at.

use super::beneath::Door;
use super::keyring::{KeyError, Keyring};
use super::names;
use super::rundir::RunDir;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Bytes of a summary.
const LARGEST: u64 = 256 << 10;

/// What the seals of a summary are of.
const WHAT: &str = "summary";

/// What the list of runs shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The run.
    pub run_id: String,
    /// Its superpower.
    pub superpower: String,
    /// The word for it in `squad.json`.
    pub state: String,
    /// Why it is paused.
    pub reason: Option<String>,
    /// Position from 1.
    pub current_stage: usize,
    /// How many stages.
    pub total: usize,
    /// Milliseconds since the epoch.
    pub started_at: i64,
    /// Milliseconds since the epoch.
    pub updated_at: i64,
    /// What it waits for, or how it ended.
    pub summary: String,
    /// What it is about, among others of its superpower: the input that matters most.
    #[serde(default)]
    pub about: String,
}

impl Summary {
    /// Whether nothing can happen to the run any more.
    pub fn over(&self) -> bool {
        matches!(self.state.as_str(), "complete" | "cancelled" | "rejected")
    }

    /// Whether somebody drives it.
    pub fn running(&self) -> bool {
        self.state == "running"
    }

    /// Whether it waits for a verb.
    pub fn paused(&self) -> bool {
        self.state == "paused"
    }

    /// Whether it was listed as a run that is not ours.
    pub fn foreign(&self) -> bool {
        self.reason.as_deref() == Some("foreign")
    }

    /// Whether it waits at a gate.
    pub fn at_gate(&self) -> bool {
        self.paused() && self.reason.as_deref() == Some("gate")
    }

    /// Whether it waits because of a stage, which can be tried again or skipped.
    pub fn held(&self) -> bool {
        let stage = ["failed", "blocked", "auth", "needs-human"];
        self.paused() && self.reason.as_deref().is_some_and(|reason| stage.contains(&reason))
    }
}

/// A summary of ours, read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What it says.
    pub summary: Summary,
    /// Whether the journal is as it was then: its size and time are.
    pub current: bool,
}

/// How large the journal was, and when it was written last.
type Stamp = Option<(u64, i64, i64)>;

#[derive(Serialize, Deserialize)]
struct Document<S> {
    #[serde(flatten)]
    summary: S,
    #[serde(default)]
    journal: Stamp,
}

/// Writes a run's summary beside its journal.
pub fn write(root: &Path, summary: &Summary, keys: &Keyring) -> io::Result<()> {
    let dir = RunDir::of(root, &summary.run_id).map_err(io::Error::other)?;
    let door = dir.door();
    let mut text = serde_json::to_vec(&Document { summary, journal: stamp(&door, &dir) })?;
    let sealer = keys.make_sealer(WHAT, root, &summary.run_id).map_err(KeyError::into_io)?;
    sealer.close(None, &mut text, 0);
    door.replace(&path(&dir), &text)
}

/// The summary of a run, where it is ours.
pub fn read(root: &Path, run_id: &str, keys: &Keyring) -> Option<Kept> {
    let dir = RunDir::of(root, run_id).ok()?;
    let door = dir.door();
    let text = door.read(&path(&dir), LARGEST).ok()?;
    let (text, _) = keys.sealer(WHAT, root, run_id)?.open(None, &text)?;
    let Document { summary, journal } = serde_json::from_slice(&text).ok()?;
    Some(Kept { summary, current: journal.is_some() && journal == stamp(&door, &dir) })
}

/// What the summary of a run says that may not be ours.
pub fn claimed(root: &Path, run_id: &str) -> Option<Summary> {
    let dir = RunDir::of(root, run_id).ok()?;
    let text = dir.door().read(&path(&dir), LARGEST).ok()?;
    let summary: Summary = serde_json::from_slice(&text).ok()?;
    let named = summary.run_id == run_id && names::is_superpower(&summary.superpower);
    named.then_some(summary)
}

fn stamp(door: &Door, dir: &RunDir) -> Stamp {
    let meta = door.stat(&dir.journal()).ok()?;
    Some((meta.len, meta.modified.0, meta.modified.1))
}

fn path(dir: &RunDir) -> std::path::PathBuf {
    dir.path().join("summary.json")
}
