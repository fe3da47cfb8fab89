//! What a project declares: superpowers, agents and skills, and the places where they are looked for.

use super::agents;
use super::frontmatter::{Fault, Frontmatter};
use super::links::Left;
use super::skills;
use super::superpowers::{self, Duplicate, SuperpowerFile, UnknownSuperpower};
use crate::store::beneath::Door;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A frontmatter that does not fit into this is not read.
const HEAD: u64 = 64 * 1024;

/// Where to look besides the project itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The home directory; none looks in the project only.
    pub home: Option<PathBuf>,
    /// More directories with superpowers, from the user's own configuration: relative to the project, absolute, or `~/…`.
    pub extra: Vec<PathBuf>,
}

impl Places {
    /// The home directory from the environment, and the extra directories of the configuration.
    pub fn from_env(extra: Vec<PathBuf>) -> Self {
        Self { home: super::root::home(), extra }
    }
}

/// Which kind of place a file was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The project's `.claude`.
    Project,
    /// The project's `.opencode`.
    OpenCode,
    /// The project's `.agents`, which several tools share.
    Agents,
    /// The project's `.github`, where Copilot keeps its agents.
    GitHub,
    /// A directory of the configuration.
    Extra,
    /// `~/.claude`.
    User,
    /// `~/.agents`.
    UserAgents,
    /// OpenCode's own configuration.
    UserOpenCode,
}

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

/// Everything that was found, in the order in which names are looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Index {
    /// Superpowers that can be called, the first of a name only.
    pub superpowers: Vec<SuperpowerFile>,
    /// Files of one name in one place.
    pub duplicates: Vec<Duplicate>,
    /// Agents, all of them: of one name the first counts.
    pub agents: Vec<Named>,
    /// Skills, all of them: of one name the first counts.
    pub skills: Vec<Named>,
    /// Links that were not followed.
    #[serde(skip)]
    pub left: LeftOut,
}

/// Links that were not followed, by what they would have led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Superpowers.
    pub superpowers: Vec<Left>,
    /// Agents.
    pub agents: Vec<Left>,
    /// Skills.
    pub skills: Vec<Left>,
}

impl LeftOut {
    /// What is said of them, each once.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for left in self.superpowers.iter().chain(&self.agents).chain(&self.skills) {
            let line = left.to_string();
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

impl Index {
    /// Reads all places.
    pub fn read(root: &Path, places: &Places) -> Self {
        let (superpowers, duplicates, left) = superpowers::all(root, places);
        let mut left = LeftOut { superpowers: left, ..LeftOut::default() };
        let agents = agents::all(root, places, &mut left.agents);
        let skills = skills::all(root, places, &mut left.skills);
        Self { superpowers, duplicates, agents, skills, left }
    }

    /// The agent of this name.
    pub fn agent(&self, name: &str) -> Option<&Named> {
        self.agents_named(name).next()
    }

    /// The skill of this name.
    pub fn skill(&self, name: &str) -> Option<&Named> {
        self.skills_named(name).next()
    }

    /// All agents of this name, the one that counts first.
    pub fn agents_named(&self, name: &str) -> impl Iterator<Item = &Named> {
        self.agents.iter().filter(move |agent| agent.name == name)
    }

    /// All skills of this name, the one that counts first: what their folders are called outranks their own names.
    pub fn skills_named(&self, name: &str) -> impl Iterator<Item = &Named> {
        let by_alias = move |skill: &&Named| skill.name != name && skill.alias.as_deref() == Some(name);
        let by_name = self.skills.iter().filter(move |skill| skill.name == name);
        by_name.chain(self.skills.iter().filter(by_alias))
    }

    /// The superpower of this name or path.
    pub fn superpower(&self, name: &str) -> Result<&SuperpowerFile, UnknownSuperpower> {
        superpowers::called(&self.superpowers, name)
            .map_err(|unknown| unknown.with_left(&self.left.superpowers))
    }
}

/// A directory to look in, with the bound for its symlinks: the project, or none for what is the user's own.
pub(super) type Place = (PathBuf, Option<PathBuf>, Source);

/// Folders of the project as places to look in, in this order.
pub(super) fn of_project(root: &Path, folders: &[(&str, Source)]) -> Vec<Place> {
    folders.iter().map(|(dir, source)| (root.join(dir), Some(root.to_path_buf()), *source)).collect()
}

/// Folders of the home directory as places to look in, in this order; none without one.
pub(super) fn of_user(places: &Places, folders: &[(&str, Source)]) -> Vec<Place> {
    let home = places.home.iter();
    home.flat_map(|home| folders.iter().map(|(dir, source)| (home.join(dir), None, *source))).collect()
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
