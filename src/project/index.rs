//! The index of what a project declares: superpowers, agents and skills.

use super::links::Left;
use super::named::Named;
use super::places::Places;
use super::superpowers::{self, Duplicate, SuperpowerFile, UnknownSuperpower};
use super::{agents, skills};
use serde::Serialize;
use std::path::Path;

/// Everything that was found, in order of precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Index {
    /// The superpowers that can be called. Of several with one name, only the first is listed.
    pub superpowers: Vec<SuperpowerFile>,
    /// Files with the same name in the same place.
    pub duplicates: Vec<Duplicate>,
    /// All agents; of several with one name, the first counts.
    pub agents: Vec<Named>,
    /// All skills; of several with one name, the first counts.
    pub skills: Vec<Named>,
    /// Links that were not followed.
    #[serde(skip)]
    pub left: LeftOut,
}

/// Links that were not followed, by what was expected behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub superpowers: Vec<Left>,
    pub agents: Vec<Left>,
    pub skills: Vec<Left>,
}

impl LeftOut {
    /// The messages about them, without duplicates.
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
    pub fn read(root: &Path, places: &Places) -> Self {
        let (superpowers, duplicates, left) = superpowers::all(root, places);
        let mut left = LeftOut { superpowers: left, ..LeftOut::default() };
        let agents = agents::all(root, places, &mut left.agents);
        let skills = skills::all(root, places, &mut left.skills);
        Self { superpowers, duplicates, agents, skills, left }
    }

    pub fn agent(&self, name: &str) -> Option<&Named> {
        self.agents_named(name).next()
    }

    pub fn skill(&self, name: &str) -> Option<&Named> {
        self.skills_named(name).next()
    }

    /// All agents with this name, in order of precedence.
    pub fn agents_named(&self, name: &str) -> impl Iterator<Item = &Named> {
        self.agents.iter().filter(move |agent| agent.name == name)
    }

    /// All skills with this name, in order of precedence: folder names come before names in front matter.
    pub fn skills_named(&self, name: &str) -> impl Iterator<Item = &Named> {
        let by_alias = move |skill: &&Named| skill.name != name && skill.alias.as_deref() == Some(name);
        let by_name = self.skills.iter().filter(move |skill| skill.name == name);
        by_name.chain(self.skills.iter().filter(by_alias))
    }

    /// The superpower with this name or path.
    pub fn superpower(&self, name: &str) -> Result<&SuperpowerFile, UnknownSuperpower> {
        superpowers::called(&self.superpowers, name)
            .map_err(|unknown| unknown.with_left(&self.left.superpowers))
    }
}
