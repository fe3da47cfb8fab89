//! An agent or a skill, as the front matter of its file describes it.

use super::frontmatter::{Fault, Frontmatter};
use super::places::Source;
use crate::store::beneath::Door;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Front matter is read within this many bytes.
const HEAD: u64 = 64 * 1024;

/// An agent or a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The name of an agent, or of a skill's directory.
    pub name: String,
    /// The name in a skill's front matter, if it differs from the directory's.
    #[serde(skip)]
    pub alias: Option<String>,
    /// The agent's file, or the skill's `SKILL.md`.
    pub path: PathBuf,
    /// The `description` in the front matter, or empty.
    pub description: String,
    /// The `mode` in the front matter (OpenCode: `primary`, `subagent`, `all`).
    pub mode: Option<String>,
    pub source: Source,
    /// What in its front matter could not be understood.
    #[serde(skip)]
    pub faults: Vec<Fault>,
}

impl Named {
    /// The message for a fault, with file and line.
    pub fn said(&self, fault: &Fault) -> String {
        format!("{}:{}: {}", self.path.display(), fault.line, fault.message)
    }
}

/// Reads the file of an agent or a skill.
pub(super) fn named(door: &Door, path: PathBuf, name: String, source: Source) -> Named {
    let (head, unreadable) = match read_head(door, &path) {
        Ok(head) => (head.unwrap_or_default(), None),
        Err(error) => (
            Frontmatter::default(),
            Some(Fault { line: 1, message: format!("cannot read the file: {error}") }),
        ),
    };
    let own = |key: &str| head.get(key).map(str::to_owned);
    Named {
        alias: own("name").filter(|own| *own != name),
        name,
        description: own("description").unwrap_or_default(),
        mode: own("mode"),
        faults: unreadable.into_iter().chain(head.faults().iter().cloned()).collect(),
        path,
        source,
    }
}

/// The front matter of a file; `None` if there is none or it cannot be read.
pub fn head(door: &Door, path: &Path) -> Option<Frontmatter> {
    read_head(door, path).ok().flatten()
}

fn read_head(door: &Door, path: &Path) -> std::io::Result<Option<Frontmatter>> {
    let bytes = door.read_head(path, HEAD)?;
    Ok(Frontmatter::read(&String::from_utf8_lossy(&bytes)))
}
