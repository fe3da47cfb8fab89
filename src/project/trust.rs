//! Which declarations the user has agreed to run.
//!
//! A declaration comes with a repository, so it is somebody else's until its stages, agents and their files have been
//! shown once. The answer is for exact bytes: any change of the declaration, or of an agent's or a skill's file that
//! it names, asks again. It is kept with the editor's own state, where no repository can reach.

use super::digest::Digest;
use super::places::Index;
use crate::declaration::model::{Action, Declaration};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a run of the declaration would do, to be shown before the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sheet {
    /// The superpower's name.
    pub superpower: String,
    /// Its version.
    pub version: String,
    /// Its file.
    pub path: PathBuf,
    /// Its stages.
    pub stages: Vec<SheetStage>,
    /// Every file that the answer covers.
    pub files: Vec<PathBuf>,
}

/// One stage of a [`Sheet`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetStage {
    /// Position in the list, from 1.
    pub position: usize,
    /// What people see.
    pub label: String,
    /// The agent's or skill's name; empty for a gate.
    pub actor: String,
    /// `agent`, `skill`, `pipeline` or `gate`.
    pub kind: &'static str,
    /// The file that tells the agent what to be; none where it was not found, or belongs to a plugin of the agent.
    pub file: Option<PathBuf>,
}

/// Whether the user agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// To exactly this.
    Trusted,
    /// To nothing, or to other bytes.
    Untrusted {
        /// What the answer would be for.
        digest: String,
        /// They agreed once, and something has changed since.
        changed: bool,
    },
}

/// A declaration with everything that an answer covers, read once.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What to show.
    pub sheet: Sheet,
    /// SHA-256 over the declaration and the files, in hexadecimal.
    pub digest: String,
    root: PathBuf,
}

impl Subject {
    /// Reads the files that a declaration names. `text` is the declaration's own, as it was read.
    pub fn read(root: &Path, index: &Index, path: &Path, text: &str, declaration: &Declaration) -> Self {
        let stages: Vec<SheetStage> = sheet_stages(index, declaration);
        let named: BTreeSet<PathBuf> = stages.iter().filter_map(|stage| stage.file.clone()).collect();
        let mut digest = Digest::default();
        digest.put(b"declaration", text.as_bytes());
        for file in &named {
            match fs::read(file) {
                Ok(bytes) => digest.put(file.as_os_str().as_encoded_bytes(), &bytes),
                Err(_) => digest.put(file.as_os_str().as_encoded_bytes(), b"unreadable"),
            }
        }
        let sheet = Sheet {
            superpower: declaration.name.value.clone(),
            version: declaration.version.value.clone(),
            path: path.to_path_buf(),
            stages,
            files: std::iter::once(path.to_path_buf()).chain(named).collect(),
        };
        Self { sheet, digest: digest.hex(), root: root.to_path_buf() }
    }

    /// Whether the user agreed to it, by the records below `state_dir`.
    pub fn state(&self, state_dir: &Path) -> Trust {
        let record = fs::read(self.record_path(state_dir)).ok();
        let record: Option<Record> = record.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(record) = record.filter(|record| record.is_about(self)) else {
            return Trust::Untrusted { digest: self.digest.clone(), changed: false };
        };
        if record.digest == self.digest {
            return Trust::Trusted;
        }
        Trust::Untrusted { digest: self.digest.clone(), changed: true }
    }

    /// Keeps the user's answer. `digest` is the one that was shown: if the files have changed since, nothing is kept.
    pub fn grant(&self, state_dir: &Path, digest: &str) -> Result<(), GrantError> {
        if digest != self.digest {
            return Err(GrantError::Changed);
        }
        let record = Record {
            format: FORMAT,
            root: self.root.clone(),
            declaration: self.sheet.path.clone(),
            digest: self.digest.clone(),
            granted_at: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        };
        let text = serde_json::to_vec_pretty(&record).map_err(io::Error::from)?;
        write_beside(&self.record_path(state_dir), &text).map_err(GrantError::from)
    }

    fn record_path(&self, state_dir: &Path) -> PathBuf {
        let mut digest = Digest::default();
        digest.put(b"root", self.root.as_os_str().as_encoded_bytes());
        digest.put(b"declaration", self.sheet.path.as_os_str().as_encoded_bytes());
        state_dir.join("trust").join(format!("{}.json", &digest.hex()[..32]))
    }
}

/// Why an answer could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// What was agreed to is no longer what is there.
    #[error("the declaration or a file that it names has changed since it was shown; look at it again")]
    Changed,
    /// The record could not be written.
    #[error("the answer cannot be kept: {0}")]
    Io(#[from] io::Error),
}

const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    format: u32,
    root: PathBuf,
    declaration: PathBuf,
    digest: String,
    granted_at: String,
}

impl Record {
    fn is_about(&self, subject: &Subject) -> bool {
        self.format == FORMAT && self.root == subject.root && self.declaration == subject.sheet.path
    }
}

fn sheet_stages(index: &Index, declaration: &Declaration) -> Vec<SheetStage> {
    let stages = declaration.stages.iter().enumerate();
    stages
        .map(|(at, stage)| {
            let agent = |name: &str| index.agent(name).map(|agent| agent.path.clone());
            let (kind, actor, file) = match stage.action.as_ref().map(|action| &action.value) {
                Some(Action::Agent(name)) => ("agent", name.as_str(), agent(name)),
                Some(Action::Skill(name)) => {
                    ("skill", name.as_str(), index.skill(name).map(|skill| skill.path.clone()))
                }
                Some(Action::Pipeline(_)) => ("pipeline", "orchestrator", agent("orchestrator")),
                None => ("gate", "", None),
            };
            let described = stage
                .description
                .as_ref()
                .map(|text| text.value.split_whitespace().collect::<Vec<_>>().join(" "));
            let label = described.unwrap_or_else(|| format!("{kind} {actor}").trim().to_owned());
            let label = label.chars().take(200).collect();
            SheetStage { position: at + 1, label, actor: actor.to_owned(), kind, file }
        })
        .collect()
}

/// Writes a file whole: beside, flushed, then renamed over.
fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let beside = path.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
    let written = fs::File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}
