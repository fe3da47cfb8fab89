//! Finds programs. A repository may contain a `git` or a `claude` of its own, so `PATH` entries that are relative or inside
//! of the project are ignored.

use super::Environment;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program was not found. Its text follows "not found" in messages, and names the ignored entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// Ignored entries of `PATH`.
    left_out: Vec<PathBuf>,
    /// Whether it was named by a relative path.
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

/// The entries of `PATH` that are used for the project at `root` (a real path), if there is one.
#[derive(Clone, Debug, Default)]
pub struct Places {
    kept: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
}

impl Places {
    /// Keeps the absolute entries outside of the project. An empty entry means the working directory, so it is relative.
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

    /// The first executable with this name.
    pub fn find(self, program: &str) -> Result<PathBuf, NotFound> {
        let found = self.kept.iter().map(|place| place.join(program)).find(|path| executable(path));
        found.filter(|_| !program.is_empty()).ok_or(NotFound { left_out: self.left_out, relative: false })
    }

    /// The `PATH` for a program that may itself look for programs.
    pub fn path(&self) -> OsString {
        std::env::join_paths(&self.kept).unwrap_or_default()
    }
}

/// The outermost git work tree around the project, because all of it came with the project. The home directory does not
/// count.
fn work_tree<'a>(environment: &Environment, root: &'a Path) -> &'a Path {
    let home = environment.get("HOME").map(Path::new);
    let above = root.ancestors().take_while(|dir| home.is_none_or(|home| !home.starts_with(dir)));
    above.filter(|dir| dir.join(".git").symlink_metadata().is_ok()).last().unwrap_or(root)
}

/// A program's absolute path. An absolute path from the user's configuration is used as it is; a name is looked up in
/// `PATH`, except inside of the project at `root` (a real path).
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

    /// The project may be one directory of a larger clone, all of which is ignored. A home directory under git is not.
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
