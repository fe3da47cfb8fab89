//! Which superpowers the user has agreed to run.
//!
//! A superpower comes with a repository, so it is somebody else's until what it will do has been shown once. The answer
//! is for exact bytes: those of the declaration that will be driven, of the agents and skills that it names, and of what
//! else in the project the agents' own tools read or execute. Any change asks again, and says what changed. The answer
//! is kept in our own state, where no repository can reach.

mod covered;
mod record;
mod settings;
mod sheet;
mod tools;

pub use covered::{Cache, TooMuch};
pub use record::{GrantError, take_over};
pub use sheet::{Sheet, SheetFile, SheetStage};
pub use tools::Tools;

use super::digest::Digest;
use super::places::Index;
use crate::declaration::model::{Action, Declaration};
use crate::store::state::State;
use crate::terminal::visible;
use covered::{Collector, Files};
use record::Record;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whether the user agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// To exactly this.
    Trusted,
    /// To other bytes: this is what has changed since.
    Changed(Vec<Change>),
    /// To nothing that still counts.
    Unknown {
        /// They agreed once, to an older version of this program, whose answers cover less.
        older: bool,
    },
}

/// A file that is not what the user agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    /// Its path, relative to the project.
    pub path: String,
    /// What happened to it.
    pub change: Changed,
}

/// What happened to a file since the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Changed {
    /// It was not there.
    Added,
    /// It had other contents.
    Changed,
    /// It is gone, or is used no more.
    Removed,
}

impl Changed {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The name of a file is written by others too, and must not look like more than one.
        write!(f, "{} ({})", visible(&self.path), self.change.word())
    }
}

/// What is going to be driven.
#[derive(Clone, Debug)]
pub struct Driven {
    /// The declaration, as it was read from `bytes`.
    pub declaration: Declaration,
    /// Its bytes: those of its file, or of the copy that a run keeps.
    pub bytes: Vec<u8>,
    /// Its file, which may be gone. An answer is kept under it.
    pub path: PathBuf,
    /// The copy that a run keeps, where that is what will be driven and is not what the file holds.
    pub kept: Option<PathBuf>,
    /// What carries out each stage, in the order of the list.
    pub tools: Vec<Tools>,
}

/// What is going to be driven, with everything that an answer covers, read once.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What to show.
    pub sheet: Sheet,
    /// SHA-256 over the declaration and the files, in hexadecimal.
    pub digest: String,
    root: PathBuf,
    path: PathBuf,
    /// The declaration's own digest.
    declaration: String,
    files: Files,
}

impl Subject {
    /// Reads the files. What is in `cache` and has not been touched since is not read again.
    pub fn read(root: &Path, index: &Index, driven: &Driven, cache: &mut Cache) -> Result<Self, TooMuch> {
        let mut files = Collector::new(root, cache);
        for stage in 0..driven.declaration.stages.len() {
            for path in tools::paths(driven.tools(stage)) {
                files.take(Path::new(path.path), path.group)?;
            }
            let Some(group) = group(&driven.declaration, stage) else { continue };
            for path in covered(index, root, &group) {
                files.named(path, &group, group.starts_with(SKILL))?;
            }
        }
        // Those who carry out no stage are read all the same: a stage may be changed to an action.
        for path in tools::paths(Tools::Nobody) {
            files.take(Path::new(path.path), path.group)?;
        }
        let files = files.finish();
        let declaration = covered::digest(&driven.bytes);
        let mut digest = Digest::default();
        digest.put(b"format", record::FORMAT.to_string().as_bytes());
        digest.put(b"superpower", declaration.as_bytes());
        for (path, file) in &files {
            digest.put(path.as_bytes(), file.digest.as_bytes());
        }
        Ok(Self {
            sheet: sheet::sheet(root, index, driven, &files),
            digest: digest.hex(),
            root: root.to_owned(),
            path: driven.path.clone(),
            declaration,
            files,
        })
    }

    /// The project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the user agreed to it.
    pub fn state(&self, state: &State) -> Trust {
        match Record::read(self, state) {
            Some(record) if record.digest == self.digest => Trust::Trusted,
            Some(record) => Trust::Changed(self.all_changes(&record)),
            None => Trust::Unknown { older: record::is_known_from_before(self, state) },
        }
    }

    /// What one stage of a run would drive that the user did not agree to; none where all of it was agreed to. The
    /// declaration is left out: a run that goes on has it in memory. Without any answer on record nothing is agreed to,
    /// and nothing can be named.
    pub fn lapsed(&self, state: &State, driven: &Driven, stage: usize) -> Option<Vec<Change>> {
        let Some(record) = Record::read(self, state) else { return Some(Vec::new()) };
        let mut groups: BTreeSet<String> =
            tools::paths(driven.tools(stage)).map(|path| path.group.to_owned()).collect();
        groups.extend(group(&driven.declaration, stage));
        let changes = self.changes(&record, &|of| of.iter().any(|group| groups.contains(group)));
        (!changes.is_empty()).then(|| changes.into_iter().collect())
    }

    /// The files that differ from the answer on record, the declaration aside; none where there is no answer.
    pub fn changed_files(&self, state: &State) -> Vec<Change> {
        let changes = Record::read(self, state).map(|record| self.changes(&record, &|_| true));
        changes.unwrap_or_default().into_iter().collect()
    }

    /// Keeps the user's answer. `digest` is the one that was shown: if anything has changed since, nothing is kept.
    pub fn grant(&self, state: &State, digest: &str) -> Result<(), GrantError> {
        if digest != self.digest { Err(GrantError::Changed) } else { record::write(self, state) }
    }

    /// Everything that differs from a record.
    fn all_changes(&self, record: &Record) -> Vec<Change> {
        let mut changes = self.changes(record, &|_| true);
        if record.declaration != self.declaration {
            changes.insert(Change { path: self.sheet.path.clone(), change: Changed::Changed });
        }
        changes.into_iter().collect()
    }

    /// What differs from a record, among files of the groups that count.
    fn changes(&self, record: &Record, counts: &dyn Fn(&BTreeSet<String>) -> bool) -> BTreeSet<Change> {
        let now = self.files.iter().filter(|(_, file)| counts(&file.groups));
        let now = now.filter_map(|(path, file)| match record.files.get(path) {
            None => Some((path, Changed::Added)),
            Some(then) if then.digest != file.digest => Some((path, Changed::Changed)),
            Some(_) => None,
        });
        let gone = record
            .files
            .iter()
            .filter(|(path, then)| counts(&then.groups) && !self.files.contains_key(*path));
        let all = now.chain(gone.map(|(path, _)| (path, Changed::Removed)));
        all.map(|(path, change)| Change { path: path.clone(), change }).collect()
    }
}

impl Driven {
    /// What carries out a stage; nobody, for a gate.
    fn tools(&self, stage: usize) -> Tools {
        let acts = self.declaration.stages[stage].action.is_some();
        self.tools.get(stage).copied().filter(|_| acts).unwrap_or(Tools::Nobody)
    }
}

const AGENT: &str = "agent ";
const SKILL: &str = "skill ";

/// The name under which the files of a stage's agent or skill stand in a record.
fn group(declaration: &Declaration, stage: usize) -> Option<String> {
    Some(match &declaration.stages[stage].action.as_ref()?.value {
        Action::Agent(name) => format!("{AGENT}{name}"),
        Action::Skill(name) => format!("{SKILL}{name}"),
        Action::Pipeline(_) => format!("{AGENT}{}", crate::plan::ORCHESTRATOR),
    })
}

/// The file that tells a stage's agent what to be: an agent's, or a skill's `SKILL.md`.
fn file<'a>(index: &'a Index, declaration: &Declaration, stage: usize) -> Option<&'a Path> {
    all(index, &group(declaration, stage)?).next()
}

/// The same with those of the same name in the project's other places: the agent's own tool may take one of them.
fn covered<'a>(index: &'a Index, root: &'a Path, group: &str) -> impl Iterator<Item = &'a Path> {
    let named = all(index, group).enumerate();
    named.filter(move |(at, path)| *at == 0 || path.starts_with(root)).map(|(_, path)| path)
}

/// The files of everything that has a group's name, the one that counts first.
fn all<'a>(index: &'a Index, group: &str) -> impl Iterator<Item = &'a Path> {
    let agents = group.strip_prefix(AGENT).map(str::to_owned);
    let skills = group.strip_prefix(SKILL).map(str::to_owned);
    let agents = agents.into_iter().flat_map(|name| index.agents_named(&name).collect::<Vec<_>>());
    let skills = skills.into_iter().flat_map(|name| index.skills_named(&name).collect::<Vec<_>>());
    agents.chain(skills).map(|named| named.path.as_path())
}
