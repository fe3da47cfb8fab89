//! What was shown before a yes: the yes counts for exactly that.

use crate::project::trust::{Cache, Driven};
use crate::sync::locked;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// How many of a kind may still be agreed to.
const KEPT: usize = 8;

/// What a trust sheet was about, so that the same can be read again when the answer comes.
struct Shown {
    root: PathBuf,
    digest: String,
    driven: Driven,
}

/// Trust sheets that were shown last.
#[derive(Default)]
pub struct Sheets(Mutex<Vec<Shown>>);

impl Sheets {
    /// Keeps what is shown now.
    pub fn remember(&self, root: &Path, digest: &str, driven: &Driven) {
        let mut all = locked(&self.0);
        all.retain(|shown| shown.digest != digest);
        all.push(Shown { root: root.to_owned(), digest: digest.to_owned(), driven: driven.clone() });
        if all.len() > KEPT {
            all.remove(0);
        }
    }

    /// What the sheet of this digest was about.
    pub fn driven(&self, root: &Path, digest: &str) -> Option<Driven> {
        let all = locked(&self.0);
        let shown = all.iter().find(|shown| shown.root == root && shown.digest == digest);
        shown.map(|shown| shown.driven.clone())
    }
}

/// What was read of each project's trusted files for the windows of its gates, which look often.
#[derive(Default)]
pub struct ReadAtGates(Mutex<HashMap<PathBuf, Cache>>);

impl ReadAtGates {
    /// Reads with what is known of the project's files.
    pub fn with<T>(&self, root: &Path, read: impl FnOnce(&mut Cache) -> T) -> T {
        read(locked(&self.0).entry(root.to_owned()).or_default())
    }
}

/// A run of a project.
type OfRun = (PathBuf, String);

/// What foreign runs claimed when they were shown, as digests.
#[derive(Default)]
pub struct Claims(Mutex<Vec<(OfRun, String)>>);

impl Claims {
    /// Keeps what a foreign run claims while it is shown.
    pub fn remember(&self, root: &Path, run_id: &str, digest: String) {
        let mut claims = locked(&self.0);
        let of = (root.to_owned(), run_id.to_owned());
        claims.retain(|(shown, _)| *shown != of);
        claims.push((of, digest));
        if claims.len() > KEPT {
            claims.remove(0);
        }
    }

    /// Whether a foreign run claims what it claimed when this editor showed it. One that was not shown is agreed to by
    /// the answer alone.
    pub fn is_as_shown(&self, root: &Path, run_id: &str, digest: &str) -> bool {
        let claims = locked(&self.0);
        let shown = claims.iter().find(|((at, id), _)| at == root && id == run_id);
        shown.is_none_or(|(_, then)| then == digest)
    }
}
