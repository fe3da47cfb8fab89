//! Runs `git` in a way that starts no program of the user's or of a repository, and writes nothing of the user's.

use super::waits::waited_for;
use super::{CancelToken, ReviewError};
use crate::process::{Environment, NotFound, Places};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Switches for every call: no hooks, no monitors, no housekeeping, no waiting for the disk.
const SWITCHES: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.attributesFile=/dev/null",
    "core.safecrlf=false",
    "core.commitGraph=false",
    "core.fsync=none",
    "core.quotePath=false",
    "core.bare=false",
    "index.sparse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "diff.orderFile=",
    "safe.directory=*",
];

/// The user's settings that are used, because they say how files are read. Settings that weaken how git detects changes are
/// not, because a file's time can be set back.
const USED_SETTINGS: &[&str] = &["core.autocrlf", "core.eol", "core.precomposeunicode", "core.symlinks"];

/// Time limit for reading settings, because a file that they include may be anything.
const BRIEF: Duration = Duration::from_secs(20);

/// The directory of our trees in our git directory. Trees are never taken from the user's objects.
pub(super) const TREES: &str = "trees";

/// The `git` program, and the `PATH` with which it finds others.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    program: PathBuf,
    path: OsString,
}

impl Tool {
    /// Finds the user's `git`, and never one inside of the project.
    pub(super) fn find(root: &Path) -> Result<Self, ReviewError> {
        let places = Places::of(&Environment::current(), Some(root));
        let path = places.path();
        Ok(Self { program: places.find("git").map_err(ReviewError::NoGit)?, path })
    }

    /// A command without git's own variables from the environment.
    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.program);
        let variables = crate::environ::variables();
        let inherited = variables.iter().filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_"));
        command.env_clear().envs(inherited).env("PATH", &self.path).env("LC_ALL", "C");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat").current_dir(directory);
        command
    }
}

/// A git directory of our own over the user's work tree.
#[derive(Debug)]
pub(super) struct Git {
    cancel: CancelToken,
    tool: Tool,
    dir: PathBuf,
    top: PathBuf,
    settings: Vec<String>,
    /// All of the user's settings.
    users: Vec<(String, String)>,
    /// The user's own ignore rules for all repositories.
    excludes: Option<PathBuf>,
}

impl Git {
    /// Reads the user's settings for files.
    pub(super) fn new(
        cancel: &CancelToken,
        tool: Tool,
        root: &Path,
        top: &Path,
        dir: &Path,
    ) -> Result<Self, ReviewError> {
        let (cancel, dir, top) = (cancel.clone(), dir.to_path_buf(), top.to_path_buf());
        let mut git =
            Self { cancel, tool, dir, top, settings: Vec::new(), users: Vec::new(), excludes: None };
        let mut excludes = super::super::root::home().map(|home| {
            let config = crate::environ::get("XDG_CONFIG_HOME").map(PathBuf::from);
            config.unwrap_or_else(|| home.join(".config")).join("git/ignore")
        });
        git.users = user_settings(&git.cancel, &git.tool, root)?;
        for (key, value) in &git.users {
            if USED_SETTINGS.contains(&key.as_str()) || is_true_of_disk(key, &git.top) {
                git.settings.push(format!("{key}={value}"));
            } else if key == "core.excludesfile" {
                excludes = Some(expand(value));
            }
        }
        git.excludes = excludes.filter(|path| path.is_file() && path.to_str().is_some());
        if let Some(path) = git.excludes.as_ref().and_then(|path| path.to_str()) {
            git.settings.push(format!("core.excludesFile={path}"));
        }
        Ok(git)
    }

    pub(super) fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    /// All of the user's settings, with keys in lower case.
    pub(super) fn users(&self) -> &[(String, String)] {
        &self.users
    }

    /// The user's ignore rules for all repositories, if there are any.
    pub(super) fn excludes(&self) -> Option<&Path> {
        self.excludes.as_deref()
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// Runs at the top of the work tree, and returns the output.
    pub(super) fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, ReviewError> {
        let verb = args.iter().find(|arg| !arg.starts_with('-')).copied().unwrap_or_default();
        run(&self.cancel, self.on(&self.top).args(args), verb, input)
    }

    /// Does the same, and returns the lines of standard error too.
    pub(super) fn run_with_warnings(
        &self,
        args: &[&str],
        input: &[u8],
    ) -> Result<(Vec<u8>, Vec<String>), ReviewError> {
        run_with_warnings(&self.cancel, self.on(&self.top).args(args), args, input)
    }

    /// Does the same with the store of our trees only, without the user's objects.
    pub(super) fn run_on_trees(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, ReviewError> {
        let verb = args.iter().find(|arg| !arg.starts_with('-')).copied().unwrap_or_default();
        let mut command = self.on(&self.top);
        command.env("GIT_OBJECT_DIRECTORY", self.dir.join(TREES)).args(args);
        run(&self.cancel, &mut command, verb, input)
    }

    /// Does the same, and ignores the exit status.
    pub(super) fn run_ignoring_status(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, ReviewError> {
        let verb = args.first().copied().unwrap_or_default();
        output(&self.cancel, self.on(&self.top).args(args), verb, input).map(|output| output.stdout)
    }

    /// Runs in a directory as if it were a work tree of its own, with an empty index. Returns the lines of standard error
    /// too.
    pub(super) fn run_within(
        &self,
        folder: &Path,
        args: &[&str],
    ) -> Result<(Vec<u8>, Vec<String>), ReviewError> {
        let mut command = self.on(folder);
        command.current_dir(folder).env("GIT_INDEX_FILE", self.dir.join("no-index")).args(args);
        run_with_warnings(&self.cancel, &mut command, args, b"")
    }

    fn on(&self, work_tree: &Path) -> Command {
        let mut command = self.command();
        command.arg("--git-dir").arg(&self.dir).arg("--work-tree").arg(work_tree);
        for setting in SWITCHES.iter().copied().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command
    }

    fn command(&self) -> Command {
        let mut command = self.tool.command(&self.top);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("HOME", &self.dir)
            .env("XDG_CONFIG_HOME", &self.dir);
        command
    }
}

/// Whether the repository at `top` ignores a directory below it.
pub(super) fn ignores(cancel: &CancelToken, tool: &Tool, top: &Path, folder: &Path) -> bool {
    let mut command = tool.command(top);
    command.args(["-c", "core.fsmonitor=false", "check-ignore", "--quiet", "--no-index", "--"]).arg(folder);
    output(cancel, &mut command, "check-ignore", b"").is_ok_and(|output| output.status.success())
}

/// The user's settings for files in this project, from all of git's configuration files.
fn user_settings(
    cancel: &CancelToken,
    tool: &Tool,
    root: &Path,
) -> Result<Vec<(String, String)>, ReviewError> {
    let mut command = tool.command(root);
    command.args(["config", "--null", "--list"]);
    let output = output(&cancel.within(BRIEF), &mut command, "config", b"")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A key without a value means true.
    let pair = |field: &str| {
        let (key, value) = field.split_once('\n').unwrap_or((field, "true"));
        (key.to_ascii_lowercase(), value.to_owned())
    };
    Ok(text.split('\0').filter(|field| !field.is_empty()).map(pair).collect())
}

pub(super) fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), super::super::root::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Whether a setting about modes or letter case describes this disk. Otherwise it is not used, because it would hide
/// changes that the disk can hold.
fn is_true_of_disk(key: &str, top: &Path) -> bool {
    let git = top.join(".git");
    match key {
        // This file is executable only if all files are.
        "core.filemode" => git.join("HEAD").metadata().is_ok_and(|meta| meta.mode() & 0o111 != 0),
        "core.ignorecase" => {
            let which = |path: &Path| {
                path.symlink_metadata()
                    .ok()
                    .filter(std::fs::Metadata::is_dir)
                    .map(|meta| (meta.dev(), meta.ino()))
            };
            which(&git).is_some_and(|it| which(&top.join(".GIT")) == Some(it))
        }
        _ => false,
    }
}

fn run(
    cancel: &CancelToken,
    command: &mut Command,
    verb: &str,
    input: &[u8],
) -> Result<Vec<u8>, ReviewError> {
    successful(output(cancel, command, verb, input)?, verb).map(|output| output.stdout)
}

fn run_with_warnings(
    cancel: &CancelToken,
    command: &mut Command,
    args: &[&str],
    input: &[u8],
) -> Result<(Vec<u8>, Vec<String>), ReviewError> {
    let verb = args.iter().find(|arg| !arg.starts_with('-')).copied().unwrap_or_default();
    let output = successful(output(cancel, command, verb, input)?, verb)?;
    Ok((output.stdout, String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect()))
}

/// The output of a successful call.
fn successful(output: Output, verb: &str) -> Result<Output, ReviewError> {
    if output.status.success() {
        return Ok(output);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let message = errors
        .lines()
        .find(|line| line.contains("fatal:") || line.contains("error:"))
        .or(errors.lines().next());
    let message = message.map_or_else(|| output.status.to_string(), str::to_owned);
    Err(ReviewError::Git { verb: verb.to_owned(), message })
}

fn output(
    cancel: &CancelToken,
    command: &mut Command,
    verb: &str,
    input: &[u8],
) -> Result<Output, ReviewError> {
    if let Some(ended) = cancel.ended() {
        return Err(ReviewError::ended(ended, verb));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if command.get_current_dir().is_none_or(Path::is_dir) => {
            ReviewError::NoGit(NotFound::default())
        }
        _ => ReviewError::Io(error),
    })?;
    let (stdin, mut stdout, mut stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (running, done) = channel::<()>();
    let group = child.id();
    let folder = command.get_current_dir().map(Path::to_path_buf);
    let waits = || folder.and_then(|folder| waited_for(&folder));
    let (stdout, stderr, ended) = std::thread::scope(|scope| {
        let watching = scope.spawn(move || cancel.watch(group, &done, waits));
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let errors = scope.spawn(move || all(&mut stderr));
        let (stdout, stderr) = (all(&mut stdout), errors.join());
        drop(running);
        (stdout, stderr.unwrap_or_default(), watching.join().ok().flatten())
    });
    let status = child.wait()?;
    match ended {
        Some(ended) => Err(ReviewError::ended(ended, verb)),
        None => Ok(Output { status, stdout, stderr }),
    }
}

/// Reads a pipe to its end, or until an error.
fn all(pipe: &mut Option<impl Read>) -> Vec<u8> {
    let mut text = Vec::new();
    let _ = pipe.as_mut().map(|pipe| pipe.read_to_end(&mut text));
    text
}

/// Whether a repository's configuration selects SHA-256 for object ids.
pub(super) fn says_sha256(config: &str) -> bool {
    config.to_lowercase().lines().any(|line| line.split('=').map(str::trim).eq(["objectformat", "sha256"]))
}
