//! The task that a harness is given.

use crate::outcome::Session;
use crate::store::beneath::Door;
use std::path::PathBuf;
use std::time::Duration;

/// One attempt of a stage, as an agent gets it.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The run's id, passed as `SUPERPOWER_RUN_ID`.
    pub run_id: String,
    /// The stage's position in the list, from 1, passed as `SUPERPOWER_STAGE`.
    pub stage: usize,
    /// The number of the launch in the run, from 1, passed as `SUPERPOWER_ATTEMPT`.
    pub launch: u32,
    pub task: Task,
    pub prompt: String,
    /// The agent's session to continue.
    pub session: Option<Session>,
    /// The project root, which is the agent's working directory.
    pub root: PathBuf,
    /// The directory for this launch's files, which exists: `prompt.md` (written already), `output.log` and
    /// `processes.jsonl`.
    pub dir: PathBuf,
    /// The access to that directory.
    pub door: Door,
    /// Time limit, in time awake; `None` for `manual`.
    pub timeout: Option<Duration>,
    /// Limit for silence, for harnesses that print progress.
    pub idle: Option<Duration>,
    /// Whether a user can answer permissions and questions.
    pub interactive: bool,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// An agent (a pipeline is the agent `orchestrator`).
    Agent(String),
    /// A skill.
    Skill(String),
}
