//! What the editor features know of the project around a declaration.

use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// The description in its file.
    pub description: String,
    /// Its file.
    pub path: PathBuf,
    /// Parts of the file's frontmatter that could not be understood.
    pub faults: Vec<String>,
}

/// The current value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactNow {
    /// Its name.
    pub name: String,
    /// Value and reason; none for a fact that only Lua can decide.
    pub now: Option<(bool, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The stem of the declaration's file.
    pub stem: Option<String>,
    /// The first agent of each name.
    pub agents: Vec<Worker>,
    /// The first skill of each name.
    pub skills: Vec<Worker>,
    /// Built-in facts and the user's own.
    pub facts: Vec<FactNow>,
    /// Harnesses from the configuration, in addition to the built-in ones.
    pub harnesses: Vec<String>,
}
