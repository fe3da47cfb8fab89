//! The files that declare superpowers: where they are looked for, and which of them a name means.

use super::links::Left;
use super::places::{Place, Places, Source, of_project, of_user};
use super::walk;
use crate::suggest;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Folders of the project that hold superpowers, in this order: the first of a name counts. `.claude/taffy` is where
/// tools of a later dialect keep them.
const PROJECT: [(&str, Source); 3] = [
    (".claude/superpowers", Source::Project),
    (".claude/taffy", Source::Project),
    (".opencode/superpowers", Source::OpenCode),
];

/// A file that declares a superpower.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuperpowerFile {
    /// What to call it by: the file's stem, or its path (`team/deploy`) where another file has the stem already.
    pub name: String,
    /// The path inside its place, without the extension.
    pub inner: String,
    /// The file.
    pub path: PathBuf,
    /// Where it was found.
    pub source: Source,
    /// The place's directory.
    #[serde(skip)]
    pub place: PathBuf,
}

impl SuperpowerFile {
    /// The file's stem, which the declaration's `name` must equal.
    pub fn stem(&self) -> &str {
        self.inner.rsplit('/').next().unwrap_or(&self.inner)
    }
}

/// Two or more files of one name in the same place; the first is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// The name.
    pub name: String,
    /// The files, in order.
    pub paths: Vec<PathBuf>,
}

/// No superpower is called so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSuperpower {
    /// What was asked for.
    pub name: String,
    /// The names that there are, nearest first.
    pub names: Vec<String>,
    near: Option<String>,
    /// Links that were not followed, one of which may be why.
    left: Vec<String>,
}

impl UnknownSuperpower {
    pub(super) fn new(name: &str, mut names: Vec<String>) -> Self {
        names.sort_by_key(|known| strsim::damerau_levenshtein(name, known));
        let near = suggest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        Self { name: name.to_owned(), names, near, left: Vec::new() }
    }

    /// The same with those of the links that were not followed behind which it may be.
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
            [] => out.write_str("; there are none here, :Superpower new makes one"),
            names => write!(out, "; there are {}", names.join(", ")),
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

/// The directories in which superpowers are looked for, in order, whether they exist or not.
fn superpower_places(root: &Path, places: &Places) -> Vec<Place> {
    let inside = Some(root.to_path_buf());
    let mut dirs = of_project(root, &PROJECT);
    for extra in &places.extra {
        let dir = match (extra.strip_prefix("~"), &places.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => root.join(extra),
        };
        // What lies in the project is the repository's, however the directory is written.
        let bound = if dir.starts_with(root) { inside.clone() } else { None };
        // A place of its own already is not searched twice: each of its files would seem to be there twice.
        if !dirs.iter().any(|(known, ..)| *known == dir) {
            dirs.push((dir, bound, Source::Extra));
        }
    }
    dirs.extend(of_user(places, &[(".claude/superpowers", Source::User)]));
    dirs
}

/// What can be called, in the order of `find … | sort` in each place; the files of one name in one place; and the links
/// that were not followed.
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
                // One directly in the place has no other path.
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
