//! What a harness is given.

use crate::outcome::Session;
use crate::store::beneath::Door;
use std::path::PathBuf;
use std::time::Duration;

/// What an attempt hands to an agent.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The run, as `SUPERPOWER_RUN_ID`.
    pub run_id: String,
    /// The stage's position in the list, from 1, as `SUPERPOWER_STAGE`.
    pub stage: usize,
    /// Serial number of the launch within the run, from 1, as `SUPERPOWER_ATTEMPT`.
    pub launch: u32,
    /// The name for the agent or skill.
    pub task: Task,
    /// What the agent is told.
    pub prompt: String,
    /// The agent's own session, to go on in.
    pub session: Option<Session>,
    /// The project root, where the agent works.
    pub root: PathBuf,
    /// Where this launch's files go (it exists): `prompt.md` (already there), `output.log`, and for the record
    /// `processes.jsonl`.
    pub dir: PathBuf,
    /// The door to those files.
    pub door: Door,
    /// Wall clock limit, counting time awake; none for `manual`.
    pub timeout: Option<Duration>,
    /// Silence limit, for harnesses that stream.
    pub idle: Option<Duration>,
    /// Whether somebody is there to answer permissions and questions.
    pub interactive: bool,
}

/// What is asked of the harness.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Run this agent (a pipeline is the agent `orchestrator`).
    Agent(String),
    /// Run this skill.
    Skill(String),
}
