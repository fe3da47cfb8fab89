//! The saved answers: one file per project and superpower, in our own state.

use super::covered::Files;
use super::subject::Subject;
use crate::project::digest::Digest;
use crate::store::beneath::{Door, SMALL};
use crate::store::state::State;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Answers in another format do not count.
pub(super) const FORMAT: u32 = 2;
const FOLDER: &str = "trust";
/// The file that marks that answers of older versions were imported.
const TAKEN_OVER: &str = "taken-over";

/// Why an answer could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// The files have changed since they were shown.
    #[error("the files have changed since they were shown; review them again")]
    Changed,
    #[error("your answer could not be saved: {0}")]
    Io(#[from] io::Error),
}

#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    root: PathBuf,
    superpower: String,
    /// Of everything.
    pub(super) digest: String,
    /// Of the declaration only.
    pub(super) declaration: String,
    /// Of each file, to name later which of them changed.
    pub(super) files: Files,
    granted_at: String,
}

impl Record {
    /// Reads the answer about this project's superpower.
    pub(super) fn read(subject: &Subject, state: &State) -> Option<Self> {
        let bytes = state.door().read(&place(subject), SMALL).ok()?;
        let record: Self = serde_json::from_slice(&bytes).ok()?;
        let fits = record.format == FORMAT
            && record.root == subject.root
            && record.superpower == subject.sheet.superpower;
        fits.then_some(record)
    }
}

pub(super) fn write(subject: &Subject, state: &State) -> Result<(), GrantError> {
    let record = Record {
        format: FORMAT,
        root: subject.root.clone(),
        superpower: subject.sheet.superpower.clone(),
        digest: subject.digest.clone(),
        declaration: subject.declaration.clone(),
        files: subject.files.clone(),
        granted_at: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
    };
    let text = serde_json::to_vec_pretty(&record).map_err(io::Error::from)?;
    state.make(Path::new(FOLDER))?;
    Ok(state.door().replace_flushed(&place(subject), &text)?)
}

fn place(subject: &Subject) -> PathBuf {
    named(&[b"trust", subject.root.as_os_str().as_encoded_bytes(), subject.sheet.superpower.as_bytes()])
}

fn named(parts: &[&[u8]]) -> PathBuf {
    let mut digest = Digest::default();
    parts.iter().for_each(|part| digest.put(b"part", part));
    Path::new(FOLDER).join(format!("{}.json", &digest.hex()[..32]))
}

/// An answer in the format of older versions: about the declaration's file only.
#[derive(Deserialize)]
struct Older {
    format: u32,
    root: PathBuf,
    declaration: PathBuf,
}

/// Whether the user agreed to this superpower in an older version. Such an answer does not cover everything that an
/// answer covers now.
pub(super) fn is_known_from_before(subject: &Subject, state: &State) -> bool {
    let mut digest = Digest::default();
    digest.put(b"root", subject.root.as_os_str().as_encoded_bytes());
    digest.put(b"declaration", subject.path.as_os_str().as_encoded_bytes());
    let path = Path::new(FOLDER).join(format!("{}.json", &digest.hex()[..32]));
    let older = state.door().read(&path, SMALL).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    older.is_some_and(|older: Older| {
        older.format < FORMAT && older.root == subject.root && older.declaration == subject.path
    })
}

/// Imports the answers of older versions once, and leaves the originals in place.
pub fn take_over(state: &State, old: &Path) {
    let door = state.door();
    let mark = Path::new(FOLDER).join(TAKEN_OVER);
    if !old.is_absolute()
        || old == state.dir()
        || door.is_file(&mark)
        || state.make(Path::new(FOLDER)).is_err()
    {
        return;
    }
    let from = Door::state(old);
    for entry in from.list(Path::new(FOLDER)).unwrap_or_default() {
        let path = Path::new(FOLDER).join(&entry.name);
        if path.extension().is_some_and(|it| it == "json")
            && !door.is_file(&path)
            && let Ok(bytes) = from.read(&path, SMALL)
        {
            // If the copy fails, the user is asked as if for the first time.
            let _ = door.replace(&path, &bytes);
        }
    }
    let _ = door.replace(&mark, b"");
}
