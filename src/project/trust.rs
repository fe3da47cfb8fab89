//! Which superpowers the user has agreed to run.
//!
//! A repository brings its superpowers along, so the user must see once what a superpower will do. The answer covers
//! exact bytes: of the declaration that is driven, of the agents and skills that it names, and of everything else in
//! the project that the agents' own tools read or execute. Any change asks again, and says what changed. The answer
//! is saved in our own state, where no repository can reach it.

mod change;
mod covered;
mod driven;
mod record;
mod settings;
mod sheet;
mod subject;
mod tools;

pub use change::{Change, Changed};
pub use covered::{Cache, TooMuch};
pub use driven::Driven;
pub use record::{GrantError, take_over};
pub use sheet::{Sheet, SheetFile, SheetStage};
pub use subject::Subject;
pub use tools::Tools;

use super::Index;
use super::digest::Digest;
use crate::store::state::State;
use covered::Collector;
use driven::{SKILL, covered, group};
use record::Record;
use std::collections::BTreeSet;
use std::path::Path;

/// Whether the user agreed to a superpower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// To exactly these bytes.
    Trusted,
    /// To other bytes; these files have changed since.
    Changed(Vec<Change>),
    /// No valid answer.
    Unknown {
        /// Whether the user agreed in an older version of this plugin, whose answers cover less.
        older: bool,
    },
}

impl Subject {
    /// Reads the files. A file in `cache` whose stamp is unchanged is not read again.
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
        // Files of stages without an agent count too, because such a stage may be changed to an action.
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

    /// The files that a stage would use and the user did not agree to; `None` if all of them were agreed to. The
    /// declaration is left out, because a continued run has it in memory. Without a saved answer nothing was agreed
    /// to, and no file can be named.
    pub fn lapsed(&self, state: &State, driven: &Driven, stage: usize) -> Option<Vec<Change>> {
        let Some(record) = Record::read(self, state) else { return Some(Vec::new()) };
        let mut groups: BTreeSet<String> =
            tools::paths(driven.tools(stage)).map(|path| path.group.to_owned()).collect();
        groups.extend(group(&driven.declaration, stage));
        let changes = self.changes(&record, &|of| of.iter().any(|group| groups.contains(group)));
        (!changes.is_empty()).then(|| changes.into_iter().collect())
    }

    /// The files that differ from the saved answer, except the declaration; empty without an answer.
    pub fn changed_files(&self, state: &State) -> Vec<Change> {
        let changes = Record::read(self, state).map(|record| self.changes(&record, &|_| true));
        changes.unwrap_or_default().into_iter().collect()
    }

    /// Saves the user's answer. `digest` is the one that was shown: if anything has changed since, nothing is saved.
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

    /// What differs from a record, in files of the groups that count.
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
