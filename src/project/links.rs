//! Links that are not followed because they lead out of the project. If something is missing, such a link may be the
//! reason, and is reported.

use crate::store::beneath::{Door, Kind};
use crate::terminal::visible;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// A link that was not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Relative to the project.
    pub path: PathBuf,
    /// Whether its target exists.
    pub leads_somewhere: bool,
}

impl Left {
    /// The first link on the path from the project to `path` that is not followed.
    pub fn on_the_way(root: &Path, path: &Path) -> Option<Self> {
        let inner = path.strip_prefix(root).ok()?;
        let (door, anywhere) = (Door::people(root), Door::home(root));
        let mut at = PathBuf::new();
        for part in inner.components() {
            at.push(part);
            let here = root.join(&at);
            if door.lstat(&here).ok()?.kind == Kind::Link && door.stat(&here).is_err() {
                return Some(Self { path: at, leads_somewhere: anywhere.stat(&here).is_ok() });
            }
        }
        None
    }

    /// The name of the agent, skill or superpower that the link may be: a file's stem, or a skill's folder. `None` if
    /// it may be a folder of several.
    pub fn name(&self, extension: &str) -> Option<String> {
        if self.path.file_name()? == "SKILL.md" {
            return Some(self.path.parent()?.file_name()?.to_string_lossy().into_owned());
        }
        if let Some(agent) = self.path.to_str().and_then(|path| path.strip_suffix(".agent.md")) {
            return agent.strip_prefix(".github/agents/").map(str::to_owned);
        }
        let is_file = self.path.extension().is_some_and(|own| own == extension || own == "yml");
        is_file.then(|| self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?
    }
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = visible(&self.path.to_string_lossy());
        if self.leads_somewhere {
            write!(out, "{path} is a link out of the project, which is not followed")
        } else {
            write!(out, "{path} is a broken link")
        }
    }
}
