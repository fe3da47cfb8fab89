//! Chooses the harness and finds its program.

use super::script::Script;
use crate::outcome::Harness;
use crate::process::{Environment, find_program};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The user's configuration of a harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The program and its first arguments.
    pub cmd: Vec<String>,
    /// Arguments after our own.
    pub args: Vec<String>,
}

/// The configured harnesses.
#[derive(Clone, Debug)]
pub struct Harnesses {
    /// By name; an unknown name is driven like `command`.
    pub named: BTreeMap<String, Settings>,
    /// Maximum size of a launch's `output.log`, in bytes.
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
    Claude,
    Opencode,
    /// The user's own command.
    Command,
    /// A person does the work.
    Manual,
    Fake(Script),
}

/// A harness that is ready to launch.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub name: String,
    pub kind: Kind,
    /// `None` for `manual` and `fake`.
    pub program: Option<PathBuf>,
    /// The program's first arguments.
    pub first: Vec<String>,
    /// Arguments after our own.
    pub args: Vec<String>,
    pub(super) max_output: u64,
}

impl Resolved {
    /// The harness as the journal names it.
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
    pub harness: String,
    /// The program that was not found; empty if none is configured.
    pub program: String,
    /// What is missing, and how to configure another.
    pub message: String,
}

/// The order in which `auto` tries harnesses.
const AUTO: [&str; 2] = ["claude", "opencode"];

/// The harness with this name, with its program. `auto` is the first of `claude` and `opencode` that is installed, or else
/// `manual`. A program inside of the project at `root` (a real path) is never used.
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
        return Err(missing("", format!("unknown harness \"{name}\"{hint}")));
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
        return Err(missing("", format!("harness \"{name}\" has no program")));
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
