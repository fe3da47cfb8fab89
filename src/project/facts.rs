//! The facts that conditions ask for, each with a reason for the user.

use super::branch::{self, Head};
use super::stories;
use crate::store::beneath::{Door, Kind, Refused};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The design tokens whose absence [`decide`] checks.
pub const TOKENS: &str = "docs/design/identity/tokens.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub value: bool,
    /// Why it is true or false.
    pub reason: String,
}

impl Fact {
    fn new(value: bool, reason: impl Into<String>) -> Self {
        Self { value, reason: reason.into() }
    }
}

/// Decides a built-in fact by its canonical name, from the present files of the project; `None` for a name that is
/// not built in.
pub fn decide(name: &str, inputs: &BTreeMap<String, String>, root: &Path) -> Option<Fact> {
    Some(match name {
        "identity.tokens_missing" => tokens_missing(root),
        "story.ui_true" => ui_true(root, inputs),
        "branch.not_spike" => not_spike(root),
        _ => return None,
    })
}

fn tokens_missing(root: &Path) -> Fact {
    let missing = |why: &str| Fact::new(true, format!("{TOKENS} {why}"));
    match Door::people(root).stat(Path::new(TOKENS)) {
        Ok(there) if there.kind == Kind::File => Fact::new(false, format!("{TOKENS} exists")),
        Ok(_) => missing("is not a file"),
        Err(error) if Refused::of(&error).is_some() => missing("is a link that leads out of the project"),
        Err(_) => missing("does not exist"),
    }
}

fn ui_true(root: &Path, inputs: &BTreeMap<String, String>) -> Fact {
    let stories = stories::current(root, inputs);
    if let Some(story) = stories.iter().find(|story| story.ui) {
        return Fact::new(true, format!("{} has ui: true", story.path.display()));
    }
    match stories.as_slice() {
        [] => Fact::new(false, "no story matches yet"),
        [story] => Fact::new(false, format!("{} does not have ui: true", story.path.display())),
        several => Fact::new(false, format!("none of {} stories has ui: true", several.len())),
    }
}

fn not_spike(root: &Path) -> Fact {
    let Some(repository) = branch::repository(root) else {
        return Fact::new(true, "no git repository");
    };
    match branch::head(&repository) {
        Head::Branch(name) => Fact::new(!name.starts_with("spike/"), format!("the branch is {name}")),
        Head::Detached => Fact::new(true, "HEAD is detached"),
        Head::Unknown => Fact::new(true, "the branch cannot be read from .git/HEAD"),
    }
}
