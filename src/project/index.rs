//! What a project declares: superpowers, agents and skills.

use super::links::Left;
use super::named::Named;
use super::places::Places;
use super::superpowers::{self, Duplicate, SuperpowerFile, UnknownSuperpower};
use super::{agents, skills};
use serde::Serialize;
use std::path::Path;

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
