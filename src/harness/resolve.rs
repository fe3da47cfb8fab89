//! Which harness, and where its program is.

use super::script::Script;
use crate::outcome::Harness;
use crate::process::{Environment, find_program};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a harness is started, as the user's configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The program and its first arguments.
    pub cmd: Vec<String>,
    /// Arguments after our own.
    pub args: Vec<String>,
}

/// The harnesses there are.
#[derive(Clone, Debug)]
pub struct Harnesses {
    /// By name. One of an unknown name is driven as `command` is.
    pub named: BTreeMap<String, Settings>,
    /// How large a launch's `output.log` may grow.
    pub max_output: u64,
    pub(super) script: Option<Script>,
}

impl Default for Harnesses {
    fn default() -> Self {
        let program =
            |cmd: &[&str]| Settings { cmd: cmd.iter().map(|&s| s.to_owned()).collect(), args: Vec::new() };
        let named =
            [("claude", &["claude"][..]), ("opencode", &["opencode"]), ("command", &[]), ("manual", &[])];
        Self {
            named: named.iter().map(|(name, cmd)| ((*name).to_owned(), program(cmd))).collect(),
            max_output: 256 << 20,
            script: None,
        }
    }
}

/// How a harness is driven.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Claude Code.
    Claude,
    /// OpenCode.
    Opencode,
    /// The user's own command.
    Command,
    /// Nobody: a human does it.
    Manual,
    /// A script of a test.
    Fake(Script),
}

/// A harness that can be launched.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Its name.
    pub name: String,
    /// How it is driven.
    pub kind: Kind,
    /// Its program; none for `manual`.
    pub program: Option<PathBuf>,
    /// The program's first arguments.
    pub first: Vec<String>,
    /// Arguments after our own.
    pub args: Vec<String>,
    pub(super) max_output: u64,
}

impl Resolved {
    /// What carries out its launches, as the journal keeps it.
    pub fn harness(&self) -> Harness {
        match self.kind {
            Kind::Manual => Harness::Manual,
            Kind::Claude | Kind::Opencode | Kind::Command | Kind::Fake(_) => {
                Harness::Agent(self.name.clone())
            }
        }
    }
}

/// A harness that cannot be launched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Missing {
    /// Its name.
    pub harness: String,
    /// The program that was looked for; empty where none is configured.
    pub program: String,
    /// What is missing, and how to set another.
    pub message: String,
}

/// The order in which `auto` tries them.
const AUTO: [&str; 2] = ["claude", "opencode"];

/// The harness of this name, with its program found. `auto` is the first of `claude` and `opencode` whose program is
/// there, else `manual`. What the project at `root` (a real path) brings along is none of these programs.
pub fn resolve(name: &str, harnesses: &Harnesses, root: Option<&Path>) -> Result<Resolved, Missing> {
    if name == "auto" {
        let found = AUTO.iter().find_map(|name| resolve(name, harnesses, root).ok());
        return found.map_or_else(|| resolve("manual", harnesses, root), Ok);
    }
    let missing = |program: &str, what: String| {
        let message = format!(
            "{what}; set \"harnesses.{name}.cmd\", or another \"harness\" ({}), in vim.g.superpower",
            others(name, harnesses)
        );
        Missing { harness: name.to_owned(), program: program.to_owned(), message }
    };
    let kind = match (name, &harnesses.script) {
        ("claude", _) => Kind::Claude,
        ("opencode", _) => Kind::Opencode,
        ("manual", _) => Kind::Manual,
        ("fake", Some(script)) => Kind::Fake(script.clone()),
        _ => Kind::Command,
    };
    let Some(settings) = harnesses.named.get(name) else {
        let hint = crate::suggest::did_you_mean(name, harnesses.named.keys().map(String::as_str));
        return Err(missing("", format!("there is no harness \"{name}\"{hint}")));
    };
    let resolved = |program, first: &[String]| Resolved {
        name: name.to_owned(),
        kind: kind.clone(),
        program,
        first: first.to_vec(),
        args: settings.args.clone(),
        max_output: harnesses.max_output,
    };
    if matches!(kind, Kind::Manual | Kind::Fake(_)) {
        return Ok(resolved(None, &[]));
    }
    let Some((program, first)) = settings.cmd.split_first() else {
        return Err(missing("", format!("harness \"{name}\" names no program")));
    };
    match find_program(program, &Environment::current(), root) {
        Ok(path) => Ok(resolved(Some(path), first)),
        Err(places) => Err(missing(
            program,
            format!("harness \"{name}\" needs the program \"{program}\", which is not found{places}"),
        )),
    }
}

fn others(name: &str, harnesses: &Harnesses) -> String {
    let others = harnesses.named.keys().filter(|other| *other != name).map(|other| format!("\"{other}\""));
    others.collect::<Vec<_>>().join(", ")
}
