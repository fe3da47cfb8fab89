//! Where a run's checkpoints are: in its track, or else in the run's own directory.

use super::figures::boxes;
use crate::store::beneath::{Door, Kind};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

pub const DOCUMENT: &str = "metadata.json";
/// The folder of tracks, relative to the project root.
const TRACKS: &str = "conductor/tracks";

/// Size limit of a plan, in bytes.
const LARGEST_PLAN: u64 = 1 << 20;

/// Why an id does not name a track.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoTrack {
    /// The id is not a plain directory name.
    #[error(
        "invalid track id \"{0}\"; use letters, digits, \"_\", \".\" and \"-\", and begin with a letter, a digit or \"_\""
    )]
    BadId(String),
    /// The track's directory, or one above it, is a link.
    #[error("\"{}\" is a link; make it a directory", .0.display())]
    Link(PathBuf),
}

/// The directory of a run's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
    dir: PathBuf,
    track: Option<String>,
}

impl Place {
    /// The run's own directory.
    pub fn of_run(root: &Path, run_dir: &Path) -> Self {
        Self { root: root.to_owned(), dir: run_dir.to_owned(), track: None }
    }

    /// The track with this id; it need not exist yet.
    pub fn of_track(root: &Path, id: &str) -> Result<Self, NoTrack> {
        let good = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
        let first = id.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        if !first || !id.chars().all(good) || id.len() > 200 {
            return Err(NoTrack::BadId(id.to_owned()));
        }
        let dir = root.join(TRACKS).join(id);
        if let Some(link) = link(root, &dir) {
            return Err(NoTrack::Link(link.strip_prefix(root).unwrap_or(&link).to_owned()));
        }
        Ok(Self { root: root.to_owned(), dir, track: Some(id.to_owned()) })
    }

    /// Creates the directory of a track. A run's own directory exists, or was removed on purpose. Fails if a link was
    /// put on the path, because it may lead anywhere.
    pub fn make(&self) -> io::Result<()> {
        if self.track.is_some() { self.door().create_dirs(&self.dir) } else { Ok(()) }
    }

    /// The door through which the files here are opened.
    pub fn door(&self) -> Door {
        Door::ours(&self.root)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn document(&self) -> PathBuf {
        self.dir.join(DOCUMENT)
    }

    /// The document's path relative to the project root, for messages.
    pub fn named(&self) -> String {
        format!("{}{DOCUMENT}", self.relative())
    }

    pub fn track(&self) -> Option<&str> {
        self.track.as_deref()
    }

    /// The directory relative to the project root, with a trailing slash, as the protocol's parameters expect it.
    pub fn relative(&self) -> String {
        let path = self.dir.strip_prefix(&self.root).unwrap_or(&self.dir);
        format!("{}/", path.display())
    }
}

/// The file whose boxes a stage works through, as its inputs name it: the plan (`EXECUTE`) or the report of failures
/// (`FIX`). `None` if there is no such file in the project.
pub fn plan_file<'a>(
    root: &Path,
    key: &str,
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<PathBuf> {
    let wanted = match key {
        "EXECUTE" => "plan",
        "FIX" => "failures",
        _ => return None,
    };
    let (_, file) = inputs.into_iter().find(|(name, _)| *name == wanted)?;
    let path = root.join(file);
    Door::people(root).is_file(&path).then_some(path)
}

/// The text of a plan; `None` if it cannot be read or is too large.
pub fn plan_text(root: &Path, path: &Path) -> Option<String> {
    let bytes = Door::people(root).read(path, LARGEST_PLAN).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number of boxes in that file, as the total of tasks.
pub fn planned<'a>(
    root: &Path,
    key: &str,
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<u64> {
    boxes(&plan_text(root, &plan_file(root, key, inputs)?)?).map(|(_, total)| total)
}

/// The first link on the path from `root` to `dir`.
fn link(root: &Path, dir: &Path) -> Option<PathBuf> {
    let below = dir.strip_prefix(root).ok()?;
    let mut path = root.to_owned();
    let door = Door::ours(root);
    below.components().find_map(|part| {
        path.push(part);
        door.lstat(&path).is_ok_and(|meta| meta.kind == Kind::Link).then(|| path.clone())
    })
}
