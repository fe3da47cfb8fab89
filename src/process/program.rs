//! Where a program is. A repository may bring a `git` or a `claude` of its own along, so none is looked for in places
//! that depend on the directory that the editor is in, or that lie in the project.

use super::Environment;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program was not found. Shown, it is what stands behind "not found": which places were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// Entries of `PATH` that nothing is taken from.
    left_out: Vec<PathBuf>,
    /// It was named by a relative path.
    relative: bool,
}

impl fmt::Display for NotFound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.relative {
            return out.write_str(" (a path must be absolute, since a relative one depends on the project)");
        }
        let Some((first, rest)) = self.left_out.split_first() else { return Ok(()) };
        write!(out, " (not looked for in \"{}\"", first.display())?;
        for place in rest {
            write!(out, ", \"{}\"", place.display())?;
        }
        out.write_str(": PATH entries that are relative or in the project are left out)")
    }
}

/// The places of `PATH` that programs are taken from, for whoever works in the project at `root` (a real
/// path), if in any.
#[derive(Clone, Debug, Default)]
pub struct Places {
    kept: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
}

impl Places {
    /// The absolute entries outside of the project. An empty entry means the working directory.
    pub fn of(environment: &Environment, root: Option<&Path>) -> Self {
        let mut places = Self::default();
        let root = root.map(|root| work_tree(environment, root));
        for place in environment.get("PATH").into_iter().flat_map(std::env::split_paths) {
            let real = || place.canonicalize().unwrap_or_else(|_| place.clone());
            let inside = |root: &Path| place.starts_with(root) || real().starts_with(root);
            let outside = place.is_absolute() && !root.is_some_and(inside);
            if outside { &mut places.kept } else { &mut places.left_out }.push(place);
        }
        places
    }

    /// The first of this name that can be executed.
    pub fn find(self, program: &str) -> Result<PathBuf, NotFound> {
        let found = self.kept.iter().map(|place| place.join(program)).find(|path| executable(path));
        found.filter(|_| !program.is_empty()).ok_or(NotFound { left_out: self.left_out, relative: false })
    }

    /// What `PATH` is for a program of ours, which may look for others in its turn.
    pub fn path(&self) -> OsString {
        std::env::join_paths(&self.kept).unwrap_or_default()
    }
}

/// The whole of what came with a project: git's work tree around it, short of the home directory.
fn work_tree<'a>(environment: &Environment, root: &'a Path) -> &'a Path {
    let home = environment.get("HOME").map(Path::new);
    let above = root.ancestors().take_while(|dir| home.is_none_or(|home| !home.starts_with(dir)));
    above.filter(|dir| dir.join(".git").symlink_metadata().is_ok()).last().unwrap_or(root)
}

/// A program's absolute path: itself where it is one, which is its user's word, else the first on `PATH` that can be
/// executed and does not lie in the project at `root` (a real path).
pub fn find_program(
    program: &str,
    environment: &Environment,
    root: Option<&Path>,
) -> Result<PathBuf, NotFound> {
    let path = Path::new(program);
    if path.is_absolute() {
        return executable(path).then(|| path.to_owned()).ok_or_else(NotFound::default);
    }
    if program.contains('/') {
        return Err(NotFound { relative: true, ..NotFound::default() });
    }
    Places::of(environment, root).find(program)
}

fn executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What came with a clone is all of it, also where the project is one folder of many; the home directory is not.
    #[test]
    fn the_work_tree_above_a_project_is_left_out_too() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (mono, root) = (top.join("home/mono"), top.join("home/mono/packages/app"));
        let (inside, outside) = (mono.join("node_modules/.bin"), top.join("home/bin"));
        for folder in [&root, &inside, &outside, &mono.join(".git"), &top.join("home/.git")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let path = std::env::join_paths([&inside, &outside]).unwrap();
        let variables = [("PATH".into(), path), ("HOME".into(), top.join("home").into())];
        let environment = Environment::from(std::sync::Arc::new(variables.into()));
        assert_eq!(Places::of(&environment, Some(&root)).path(), outside.as_os_str());
    }
}
