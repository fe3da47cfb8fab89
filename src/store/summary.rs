//! A short description of a run for lists, projected from the journal for speed. It is sealed, so that a list never
//! repeats what only a foreign file claims. It records the journal's size and time, so that a journal that has
//! changed since is read again.

use super::beneath::Door;
use super::keyring::{KeyError, Keyring};
use super::names;
use super::rundir::RunDir;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Size limit of a summary, in bytes.
const MAX_BYTES: u64 = 256 << 10;

/// Separates the summary's seals from those of other files.
const WHAT: &str = "summary";

/// What the list of runs shows of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub run_id: String,
    pub superpower: String,
    /// As in `squad.json`.
    pub state: String,
    /// Why the run is paused.
    pub reason: Option<String>,
    /// Position from 1.
    pub current_stage: usize,
    pub total: usize,
    /// Milliseconds since the epoch.
    pub started_at: i64,
    /// Milliseconds since the epoch.
    pub updated_at: i64,
    /// What it waits for, or how it ended.
    pub summary: String,
    /// The most telling input, which distinguishes runs of the same superpower.
    #[serde(default)]
    pub about: String,
}

impl Summary {
    /// Whether the run is finished.
    pub fn over(&self) -> bool {
        matches!(self.state.as_str(), "complete" | "cancelled" | "rejected")
    }

    pub fn running(&self) -> bool {
        self.state == "running"
    }

    /// Whether the run is paused.
    pub fn paused(&self) -> bool {
        self.state == "paused"
    }

    /// Whether the run was listed as foreign.
    pub fn foreign(&self) -> bool {
        self.reason.as_deref() == Some("foreign")
    }

    /// Whether it waits at a gate.
    pub fn at_gate(&self) -> bool {
        self.paused() && self.reason.as_deref() == Some("gate")
    }

    /// Whether a stage paused the run, so that it can be retried or skipped.
    pub fn held(&self) -> bool {
        let stage = ["failed", "blocked", "auth", "needs-human"];
        self.paused() && self.reason.as_deref().is_some_and(|reason| stage.contains(&reason))
    }
}

/// A sealed summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub summary: Summary,
    /// Whether the journal still has the size and time of back then.
    pub current: bool,
}

/// The journal's size in bytes, and when it was last written (seconds and nanoseconds).
type Stamp = Option<(u64, i64, i64)>;

#[derive(Serialize, Deserialize)]
struct Document<S> {
    #[serde(flatten)]
    summary: S,
    #[serde(default)]
    journal: Stamp,
}

/// Writes a run's summary next to its journal.
pub fn write(root: &Path, summary: &Summary, keys: &Keyring) -> io::Result<()> {
    let dir = RunDir::of(root, &summary.run_id).map_err(io::Error::other)?;
    let door = dir.door();
    let mut text = serde_json::to_vec(&Document { summary, journal: stamp(&door, &dir) })?;
    let sealer = keys.make_sealer(WHAT, root, &summary.run_id).map_err(KeyError::into_io)?;
    sealer.close(None, &mut text, 0);
    door.replace(&path(&dir), &text)
}

/// The summary of a run; `None` if it is not ours.
pub fn read(root: &Path, run_id: &str, keys: &Keyring) -> Option<Kept> {
    let dir = RunDir::of(root, run_id).ok()?;
    let door = dir.door();
    let text = door.read(&path(&dir), MAX_BYTES).ok()?;
    let (text, _) = keys.sealer(WHAT, root, run_id)?.open(None, &text)?;
    let Document { summary, journal } = serde_json::from_slice(&text).ok()?;
    Some(Kept { summary, current: journal.is_some() && journal == stamp(&door, &dir) })
}

/// The summary of a run without checking its seal: what it says is only a claim.
pub fn claimed(root: &Path, run_id: &str) -> Option<Summary> {
    let dir = RunDir::of(root, run_id).ok()?;
    let text = dir.door().read(&path(&dir), MAX_BYTES).ok()?;
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
