//! Where a run's checkpoints live: in its track, else in the run's own directory.

use super::figures::boxes;
use std::io;
use std::path::{Component, Path, PathBuf};
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
    /// A link on the way leads elsewhere.
    #[error("\"{}\" leaves the project; make it a directory inside", .0.display())]
    Outside(PathBuf),
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
        let inside = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        // The nearest directory that exists decides: what is made below it is a plain one.
        let there = dir.ancestors().find_map(|part| part.canonicalize().ok());
        if there.is_some_and(|there| !there.starts_with(&inside)) || dangles(root, &dir) {
            return Err(NoTrack::Outside(dir.strip_prefix(root).unwrap_or(&dir).to_owned()));
        }
        Ok(Self { root: root.to_owned(), dir, track: Some(id.to_owned()) })
    }

    /// Makes the directory of a track. A run's own is there, or has been taken away on purpose.
    pub fn make(&self) -> io::Result<()> {
        if self.track.is_some() { std::fs::create_dir_all(&self.dir) } else { Ok(()) }
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

/// The boxes in the plan (`EXECUTE`) or the report of failures (`FIX`) that a stage's inputs name, as the tasks in all;
/// none where there is no such file inside of the project.
pub fn planned<'a>(
    root: &Path,
    key: &str,
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<u64> {
    let wanted = match key {
        "EXECUTE" => "plan",
        "FIX" => "failures",
        _ => return None,
    };
    let (_, file) = inputs.into_iter().find(|(name, _)| *name == wanted)?;
    let path = root.join(file).canonicalize().ok()?;
    let meta = std::fs::metadata(&path).ok()?;
    if !path.starts_with(root.canonicalize().ok()?) || !meta.is_file() || meta.len() > LARGEST_PLAN {
        return None;
    }
    boxes(&std::fs::read_to_string(path).ok()?).map(|(_, total)| total)
}

/// Whether a link on the way to `dir` points to nothing: what it points to could yet be made, anywhere.
fn dangles(root: &Path, dir: &Path) -> bool {
    let Ok(below) = dir.strip_prefix(root) else { return true };
    let mut path = root.to_owned();
    below.components().any(|part| match part {
        Component::Normal(name) => {
            path.push(name);
            path.is_symlink() && !path.exists()
        }
        _ => true,
    })
}
