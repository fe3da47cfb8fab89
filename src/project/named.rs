//! An agent or a skill, as the head of its file describes it.

use super::frontmatter::{Fault, Frontmatter};
use super::places::Source;
use crate::store::beneath::Door;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A frontmatter that does not fit into this is not read.
const HEAD: u64 = 64 * 1024;

/// An agent or a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its name; a skill's is its directory's.
    pub name: String,
    /// The name in a skill's frontmatter, where that differs from its directory's.
    #[serde(skip)]
    pub alias: Option<String>,
    /// Its file; for a skill its `SKILL.md`.
    pub path: PathBuf,
    /// The frontmatter's `description`, or nothing.
    pub description: String,
    /// The frontmatter's `mode` (OpenCode: `primary`, `subagent`, `all`).
    pub mode: Option<String>,
    /// Where it was found.
    pub source: Source,
    /// What in the head of its file could not be understood.
    #[serde(skip)]
    pub faults: Vec<Fault>,
}

impl Named {
    /// A fault in its head, with its place.
    pub fn said(&self, fault: &Fault) -> String {
        format!("{}:{}: {}", self.path.display(), fault.line, fault.message)
    }
}

/// What a file says of the agent or skill that it describes.
pub(super) fn named(door: &Door, path: PathBuf, name: String, source: Source) -> Named {
    let (head, unreadable) = match read_head(door, &path) {
        Ok(head) => (head.unwrap_or_default(), None),
        Err(error) => {
            (Frontmatter::default(), Some(Fault { line: 1, message: format!("it cannot be read: {error}") }))
        }
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

/// The frontmatter of a file; nothing where it has none or cannot be read.
pub fn head(door: &Door, path: &Path) -> Option<Frontmatter> {
    read_head(door, path).ok().flatten()
}

fn read_head(door: &Door, path: &Path) -> std::io::Result<Option<Frontmatter>> {
    let bytes = door.read_head(path, HEAD)?;
    Ok(Frontmatter::read(&String::from_utf8_lossy(&bytes)))
}
