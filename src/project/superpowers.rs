//! Finds superpower files, and decides which one a name means.

use super::links::Left;
use super::places::{Place, Places, Source, of_project, of_user};
use super::walk;
use crate::suggest;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Project folders with superpowers. Of several superpowers with one name, the first in this order counts.
/// `.claude/taffy` is the folder of tools that came later.
const PROJECT: [(&str, Source); 3] = [
    (".claude/superpowers", Source::Project),
    (".claude/taffy", Source::Project),
    (".opencode/superpowers", Source::OpenCode),
];

/// A superpower file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuperpowerFile {
    /// The name to call it by: the file's stem, or its path (`team/deploy`) if another file has the same stem.
    pub name: String,
    /// The path relative to its place, without the extension.
    pub inner: String,
    pub path: PathBuf,
    pub source: Source,
    /// The directory in which it was found.
    #[serde(skip)]
    pub place: PathBuf,
}

impl SuperpowerFile {
    /// The file's stem, which must equal the declaration's `name`.
    pub fn stem(&self) -> &str {
        self.inner.rsplit('/').next().unwrap_or(&self.inner)
    }
}

/// Several files with the same name in the same place; the first one is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    pub name: String,
    /// In order of precedence.
    pub paths: Vec<PathBuf>,
}

/// There is no superpower with this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSuperpower {
    /// The requested name.
    pub name: String,
    /// The existing names, most similar first.
    pub names: Vec<String>,
    near: Option<String>,
    /// Links that were not followed and may be the reason.
    left: Vec<String>,
}

impl UnknownSuperpower {
    pub(super) fn new(name: &str, mut names: Vec<String>) -> Self {
        names.sort_by_key(|known| strsim::damerau_levenshtein(name, known));
        let near = suggest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        Self { name: name.to_owned(), names, near, left: Vec::new() }
    }

    /// Adds the links that may lead to this superpower but were not followed.
    pub(super) fn with_left(mut self, left: &[Left]) -> Self {
        let stem = self.name.rsplit('/').next().unwrap_or(&self.name);
        let may = |left: &&Left| left.name("yaml").is_none_or(|name| name == stem);
        self.left = left.iter().filter(may).map(Left::to_string).collect();
        self
    }
}

impl std::fmt::Display for UnknownSuperpower {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "no superpower \"{}\"", self.name)?;
        if let Some(near) = &self.near {
            write!(out, " (did you mean \"{near}\"?)")?;
        }
        match self.names.as_slice() {
            [] => out.write_str("; this project has none yet, create one with :Superpower new"),
            names => write!(out, "; available: {}", names.join(", ")),
        }?;
        self.left.iter().try_for_each(|left| write!(out, "; {left}"))
    }
}

impl std::error::Error for UnknownSuperpower {}

/// The file that a name or a path means.
pub(super) fn called<'a>(
    files: &'a [SuperpowerFile],
    name: &str,
) -> Result<&'a SuperpowerFile, UnknownSuperpower> {
    let name = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
    let by_name = files.iter().find(|file| file.name == name);
    let path = name.strip_prefix("./").unwrap_or(name);
    by_name
        .or_else(|| files.iter().find(|file| file.inner == path))
        .ok_or_else(|| UnknownSuperpower::new(name, files.iter().map(|file| file.name.clone()).collect()))
}

/// The directories that are searched for superpowers, in order, whether they exist or not.
fn superpower_places(root: &Path, places: &Places) -> Vec<Place> {
    let inside = Some(root.to_path_buf());
    let mut dirs = of_project(root, &PROJECT);
    for extra in &places.extra {
        let dir = match (extra.strip_prefix("~"), &places.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => root.join(extra),
        };
        // Files in the project come from the repository, whichever way the directory is written.
        let bound = if dir.starts_with(root) { inside.clone() } else { None };
        // A directory that is already a place is not searched twice, or each of its files would look like a
        // duplicate.
        if !dirs.iter().any(|(known, ..)| *known == dir) {
            dirs.push((dir, bound, Source::Extra));
        }
    }
    dirs.extend(of_user(places, &[(".claude/superpowers", Source::User)]));
    dirs
}

/// All superpowers that can be called, in the order of `find … | sort` in each place; duplicates within a place; and
/// links that were not followed.
pub(super) fn all(root: &Path, places: &Places) -> (Vec<SuperpowerFile>, Vec<Duplicate>, Vec<Left>) {
    let mut taken: Vec<SuperpowerFile> = Vec::new();
    let (mut duplicates, mut left) = (Vec::new(), Vec::new());
    for (place, bound, source) in superpower_places(root, places) {
        let (found, not_followed) = walk::search(&place, bound.as_deref(), is_declaration);
        let news = |link: &Left| !left.contains(link);
        left.extend(not_followed.into_iter().filter(news).collect::<Vec<_>>());
        let found: Vec<(String, PathBuf)> =
            found.into_iter().filter_map(|path| Some((inner_name(&place, &path)?, path))).collect();
        let mut stems: Vec<(&str, Vec<PathBuf>)> = Vec::new();
        for (inner, path) in &found {
            let stem = inner.rsplit('/').next().unwrap_or(inner);
            match stems.iter_mut().find(|(known, _)| *known == stem) {
                Some((_, paths)) => paths.push(path.clone()),
                None => stems.push((stem, vec![path.clone()])),
            }
        }
        duplicates.extend(
            stems
                .into_iter()
                .filter(|(_, paths)| paths.len() > 1)
                .map(|(name, paths)| Duplicate { name: name.to_owned(), paths }),
        );
        for (inner, path) in found {
            if taken.iter().any(|other| other.inner == inner) {
                continue;
            }
            let stem = inner.rsplit('/').next().unwrap_or(&inner).to_owned();
            let free = !taken.iter().any(|other| other.name == stem);
            let name = match free {
                true => stem,
                // A file directly in the place has no longer path.
                false if !inner.contains('/') => format!("./{inner}"),
                false => inner.clone(),
            };
            if !taken.iter().any(|other| other.name == name) {
                taken.push(SuperpowerFile { name, inner, path, source, place: place.clone() });
            }
        }
    }
    (taken, duplicates, left)
}

fn is_declaration(name: &str) -> bool {
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    stem.is_some_and(|stem| !stem.is_empty() && stem != "schema")
}

fn inner_name(place: &Path, path: &Path) -> Option<String> {
    let inner = path.strip_prefix(place).ok()?.to_str()?;
    inner.strip_suffix(".yaml").or_else(|| inner.strip_suffix(".yml")).map(str::to_owned)
}
