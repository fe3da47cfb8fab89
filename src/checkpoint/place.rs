//! Where a run's checkpoints live: in its track, else in the run's own directory.

use super::figures::boxes;
use crate::store::beneath::{Door, Kind};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The document's name.
pub const DOCUMENT: &str = "metadata.json";
/// Where tracks live, from the project root.
const TRACKS: &str = "conductor/tracks";

/// Larger files are no plans.
const LARGEST_PLAN: u64 = 1 << 20;

/// Why an id names no track.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoTrack {
    /// It could name something else than a directory of its own.
    #[error(
        "\"{0}\" is no id of a track: write letters, digits, \"_\", \".\" and \"-\", the first one a letter, a digit or \"_\""
    )]
    BadId(String),
    /// It, or a directory above it, is a link.
    #[error("\"{}\" is a link; make it a directory", .0.display())]
    Link(PathBuf),
}

/// The directory that holds a run's document.
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

    /// The track `id`; it need not exist yet.
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

    /// Makes the directory of a track. A run's own is there, or has been taken away on purpose. Refused where a link
    /// has come between, since whoever made it may have made it lead anywhere.
    pub fn make(&self) -> io::Result<()> {
        if self.track.is_some() { self.door().create_dirs(&self.dir) } else { Ok(()) }
    }

    /// By which everything here is reached.
    pub fn door(&self) -> Door {
        Door::ours(&self.root)
    }

    /// The project root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The document.
    pub fn document(&self) -> PathBuf {
        self.dir.join(DOCUMENT)
    }

    /// The document from the project root, as people know it.
    pub fn named(&self) -> String {
        format!("{}{DOCUMENT}", self.relative())
    }

    /// The track's id.
    pub fn track(&self) -> Option<&str> {
        self.track.as_deref()
    }

    /// The directory from the project root, with a slash at its end, as the protocol's parameters give it.
    pub fn relative(&self) -> String {
        let path = self.dir.strip_prefix(&self.root).unwrap_or(&self.dir);
        format!("{}/", path.display())
    }
}

/// The file whose boxes a stage works through: the plan (`EXECUTE`) or the report of failures (`FIX`) that its inputs
/// name; none where there is no such file inside of the project.
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

/// The text of a plan; none where it cannot be read, or is too long to be one.
pub fn plan_text(root: &Path, path: &Path) -> Option<String> {
    let bytes = Door::people(root).read(path, LARGEST_PLAN).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The boxes of that file, as the tasks in all.
pub fn planned<'a>(
    root: &Path,
    key: &str,
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<u64> {
    boxes(&plan_text(root, &plan_file(root, key, inputs)?)?).map(|(_, total)| total)
}

/// The first link on the way from `root` down to `dir`.
fn link(root: &Path, dir: &Path) -> Option<PathBuf> {
    let below = dir.strip_prefix(root).ok()?;
    let mut path = root.to_owned();
    let door = Door::ours(root);
    below.components().find_map(|part| {
        path.push(part);
        door.lstat(&path).is_ok_and(|meta| meta.kind == Kind::Link).then(|| path.clone())
    })
}
