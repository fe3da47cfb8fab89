//! What a project declares: superpowers, agents and skills, and the places where they are looked for.

use super::frontmatter::Frontmatter;
use super::walk;
use crate::suggest;
use serde::Serialize;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A frontmatter that does not fit into this is not read.
const HEAD: u64 = 64 * 1024;

/// Where to look besides the project itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The home directory; none looks in the project only.
    pub home: Option<PathBuf>,
    /// More directories with superpowers, from the user's own configuration: relative to the project, absolute, or `~/…`.
    pub extra: Vec<PathBuf>,
}

impl Places {
    /// The home directory from the environment, and the extra directories of the configuration.
    pub fn from_env(extra: Vec<PathBuf>) -> Self {
        Self { home: super::root::home(), extra }
    }
}

/// Which kind of place a file was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The project's `.claude`.
    Project,
    /// The project's `.opencode`.
    OpenCode,
    /// A directory of the configuration.
    Extra,
    /// `~/.claude`, or OpenCode's own configuration.
    User,
}

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

/// An agent or a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its name; a skill's is its directory's.
    pub name: String,
    /// The name in a skill's frontmatter, where that differs from its directory's.
    #[serde(skip)]
    pub alias: Option<String>,
    /// Its file; for a skill its `SKILL.md`.
    pub path: PathBuf,
    /// The frontmatter's `description`, or nothing.
    pub description: String,
    /// The frontmatter's `mode` (OpenCode: `primary`, `subagent`, `all`).
    pub mode: Option<String>,
    /// Where it was found.
    pub source: Source,
}

/// Two or more files of one name in the same place; the first is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// The name.
    pub name: String,
    /// The files, in order.
    pub paths: Vec<PathBuf>,
}

/// Everything that was found, in the order in which names are looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Index {
    /// Superpowers that can be called, the first of a name only.
    pub superpowers: Vec<SuperpowerFile>,
    /// Files of one name in one place.
    pub duplicates: Vec<Duplicate>,
    /// Agents, all of them: of one name the first counts.
    pub agents: Vec<Named>,
    /// Skills, all of them: of one name the first counts.
    pub skills: Vec<Named>,
}

impl Index {
    /// Reads all places.
    pub fn read(root: &Path, places: &Places) -> Self {
        let (superpowers, duplicates) = superpowers(root, places);
        Self { superpowers, duplicates, agents: agents(root, places), skills: skills(root, places) }
    }

    /// The agent of this name.
    pub fn agent(&self, name: &str) -> Option<&Named> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// The skill of this name.
    pub fn skill(&self, name: &str) -> Option<&Named> {
        let by_name = self.skills.iter().find(|skill| skill.name == name);
        by_name.or_else(|| self.skills.iter().find(|skill| skill.alias.as_deref() == Some(name)))
    }

    /// The superpower of this name or path.
    pub fn superpower(&self, name: &str) -> Result<&SuperpowerFile, UnknownSuperpower> {
        let name = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name);
        let by_name = self.superpowers.iter().find(|file| file.name == name);
        by_name.or_else(|| self.superpowers.iter().find(|file| file.inner == name)).ok_or_else(|| {
            let names = self.superpowers.iter().map(|file| file.name.clone()).collect();
            UnknownSuperpower::new(name, names)
        })
    }
}

/// No superpower is called so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSuperpower {
    /// What was asked for.
    pub name: String,
    /// The names that there are, nearest first.
    pub names: Vec<String>,
    near: Option<String>,
}

impl UnknownSuperpower {
    fn new(name: &str, mut names: Vec<String>) -> Self {
        names.sort_by_key(|known| strsim::damerau_levenshtein(name, known));
        let near = suggest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        Self { name: name.to_owned(), names, near }
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
        }
    }
}

impl std::error::Error for UnknownSuperpower {}

/// The superpower of this name or path (`team/deploy`).
pub fn find_superpower(
    root: &Path,
    places: &Places,
    name: &str,
) -> Result<SuperpowerFile, UnknownSuperpower> {
    let (superpowers, duplicates) = superpowers(root, places);
    Index { superpowers, duplicates, ..Index::default() }.superpower(name).cloned()
}

/// A directory to look in, with the bound for its symlinks: the project, or none for what is the user's own.
type Place = (PathBuf, Option<PathBuf>, Source);

/// The directories in which superpowers are looked for, in order, whether they exist or not.
pub fn superpower_places(root: &Path, places: &Places) -> Vec<PathBuf> {
    superpower_roots(root, places).into_iter().map(|(dir, ..)| dir).collect()
}

fn superpower_roots(root: &Path, places: &Places) -> Vec<Place> {
    let inside = Some(root.to_path_buf());
    let mut dirs = vec![
        (root.join(".claude/superpowers"), inside.clone(), Source::Project),
        (root.join(".opencode/superpowers"), inside.clone(), Source::OpenCode),
    ];
    for extra in &places.extra {
        let dir = match (extra.strip_prefix("~"), &places.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => root.join(extra),
        };
        let bound = if extra.is_relative() && !extra.starts_with("~") { inside.clone() } else { None };
        dirs.push((dir, bound, Source::Extra));
    }
    if let Some(home) = &places.home {
        dirs.push((home.join(".claude/superpowers"), None, Source::User));
    }
    dirs
}

fn superpowers(root: &Path, places: &Places) -> (Vec<SuperpowerFile>, Vec<Duplicate>) {
    let mut taken: Vec<SuperpowerFile> = Vec::new();
    let mut duplicates = Vec::new();
    for (place, bound, source) in superpower_roots(root, places) {
        let found = walk::files(&place, bound.as_deref(), is_declaration);
        let found = found.into_iter().filter_map(|path| Some((inner_name(&place, &path)?, path)));
        // A file directly in the place has the better claim to its stem than one in a folder of it.
        let (mut found, deep): (Vec<_>, Vec<_>) = found.partition(|(inner, _)| !inner.contains('/'));
        found.extend(deep);
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
            let name = if free { stem } else { inner.clone() };
            if !taken.iter().any(|other| other.name == name) {
                taken.push(SuperpowerFile { name, inner, path, source, place: place.clone() });
            }
        }
    }
    (taken, duplicates)
}

fn is_declaration(name: &str) -> bool {
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    stem.is_some_and(|stem| !stem.is_empty() && stem != "schema")
}

fn inner_name(place: &Path, path: &Path) -> Option<String> {
    let inner = path.strip_prefix(place).ok()?.to_str()?;
    inner.strip_suffix(".yaml").or_else(|| inner.strip_suffix(".yml")).map(str::to_owned)
}

fn agents(root: &Path, places: &Places) -> Vec<Named> {
    let inside = Some(root.to_path_buf());
    let mut dirs: Vec<Place> = vec![(root.join(".claude/agents"), inside.clone(), Source::Project)];
    dirs.extend(
        ["agent", "agents"].map(|dir| (root.join(".opencode").join(dir), inside.clone(), Source::OpenCode)),
    );
    if let Some(home) = &places.home {
        dirs.push((home.join(".claude/agents"), None, Source::User));
        dirs.extend(
            ["agent", "agents"].map(|dir| (home.join(".config/opencode").join(dir), None, Source::User)),
        );
    }
    let markdown = |name: &str| name.ends_with(".md");
    let files = dirs.iter().flat_map(|(dir, bound, source)| {
        walk::files(dir, bound.as_deref(), markdown).into_iter().map(move |path| (path, *source))
    });
    files
        .filter_map(|(path, source)| {
            let stem = path.file_stem()?.to_str()?.to_owned();
            let mut agent = named(path, stem, source);
            agent.name = agent.alias.take().unwrap_or(agent.name);
            Some(agent)
        })
        .collect()
}

fn skills(root: &Path, places: &Places) -> Vec<Named> {
    let inside = Some(root.to_path_buf());
    let mut dirs: Vec<Place> = vec![(root.join(".claude/skills"), inside.clone(), Source::Project)];
    dirs.extend(
        ["skill", "skills"].map(|dir| (root.join(".opencode").join(dir), inside.clone(), Source::OpenCode)),
    );
    if let Some(home) = &places.home {
        dirs.push((home.join(".claude/skills"), None, Source::User));
    }
    let mut found = Vec::new();
    for (dir, bound, source) in dirs {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        let mut names: Vec<_> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names {
            let path = dir.join(&name).join("SKILL.md");
            if walk::real_inside(&path, bound.as_deref()).is_some_and(|real| real.is_file()) {
                found.push(named(path, name, source));
            }
        }
    }
    found
}

fn named(path: PathBuf, name: String, source: Source) -> Named {
    let head = head(&path).unwrap_or_default();
    let own = |key: &str| head.get(key).map(str::to_owned);
    Named {
        alias: own("name").filter(|own| *own != name),
        name,
        description: own("description").unwrap_or_default(),
        mode: own("mode"),
        path,
        source,
    }
}

/// The frontmatter of a file; nothing where it has none or cannot be read.
pub fn head(path: &Path) -> Option<Frontmatter> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    Frontmatter::read(&String::from_utf8_lossy(&bytes))
}
