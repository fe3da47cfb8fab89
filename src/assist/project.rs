//! What is known of the project around a declaration.

use std::path::PathBuf;

/// An agent or a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// What its file says of it.
    pub description: String,
    /// Its file.
    pub path: PathBuf,
    /// What in the head of its file was not understood.
    pub faults: Vec<String>,
}

/// A fact as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactNow {
    /// Its name.
    pub name: String,
    /// Its value and the reason; nothing for one that only Lua can decide.
    pub now: Option<(bool, String)>,
}

/// What is known of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The stem of the declaration's file.
    pub stem: Option<String>,
    /// Agents, the first of a name only.
    pub agents: Vec<Worker>,
    /// Skills, the first of a name only.
    pub skills: Vec<Worker>,
    /// Facts: those that the engine decides, and the user's own.
    pub facts: Vec<FactNow>,
    /// Harnesses of the configuration, besides those that the engine knows.
    pub harnesses: Vec<String>,
}
