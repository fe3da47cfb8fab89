//! Remembers what was shown before an agreement, so that the agreement covers exactly that.

use crate::project::trust::{Cache, Driven};
use crate::sync::locked;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Maximum number of entries of each kind.
const MAX_KEPT: usize = 8;

/// What a trust sheet was about, so that the same can be read again when the answer arrives.
struct Shown {
    root: PathBuf,
    digest: String,
    driven: Driven,
}

/// The trust sheets that were shown last.
#[derive(Default)]
pub struct Sheets(Mutex<Vec<Shown>>);

impl Sheets {
    /// Stores what is shown now.
    pub fn remember(&self, root: &Path, digest: &str, driven: &Driven) {
        let mut all = locked(&self.0);
        all.retain(|shown| shown.digest != digest);
        all.push(Shown { root: root.to_owned(), digest: digest.to_owned(), driven: driven.clone() });
        if all.len() > MAX_KEPT {
            all.remove(0);
        }
    }

    /// What the sheet with this digest was about.
    pub fn driven(&self, root: &Path, digest: &str) -> Option<Driven> {
        let all = locked(&self.0);
        let shown = all.iter().find(|shown| shown.root == root && shown.digest == digest);
        shown.map(|shown| shown.driven.clone())
    }
}

/// What was read of each project's trusted files for gate windows, which ask often.
#[derive(Default)]
pub struct GateCaches(Mutex<HashMap<PathBuf, Cache>>);

impl GateCaches {
    /// Reads with the project's cache.
    pub fn with<T>(&self, root: &Path, read: impl FnOnce(&mut Cache) -> T) -> T {
        read(locked(&self.0).entry(root.to_owned()).or_default())
    }
}

type OfRun = (PathBuf, String);

/// Digests of the claims of foreign runs, from when they were shown.
#[derive(Default)]
pub struct Claims(Mutex<Vec<(OfRun, String)>>);

impl Claims {
    /// Stores the claim that is shown now.
    pub fn remember(&self, root: &Path, run_id: &str, digest: String) {
        let mut claims = locked(&self.0);
        let of = (root.to_owned(), run_id.to_owned());
        claims.retain(|(shown, _)| *shown != of);
        claims.push((of, digest));
        if claims.len() > MAX_KEPT {
            claims.remove(0);
        }
    }

    /// Whether a foreign run still claims what this editor has shown; true if nothing was shown, because then the answer
    /// was typed.
    pub fn is_as_shown(&self, root: &Path, run_id: &str, digest: &str) -> bool {
        let claims = locked(&self.0);
        let shown = claims.iter().find(|((at, id), _)| at == root && id == run_id);
        shown.is_none_or(|(_, then)| then == digest)
    }
}
