//! The configuration with which an editor last drove a project, for the command line: one file per project, in our own
//! state. Only what is data is in it.

use super::beneath::SMALL;
use super::state::{State, project};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};

const FORMAT: u32 = 1;
const FOLDER: &str = "configurations";

#[derive(Serialize, Deserialize)]
struct Kept {
    format: u32,
    root: PathBuf,
    options: Map<String, Value>,
}

/// Keeps the options of a project. Nothing is written where the same ones are kept already.
pub fn keep(state: &State, root: &Path, options: Map<String, Value>) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(&Kept { format: FORMAT, root: root.to_owned(), options })?;
    if state.door().read(&place(root), SMALL).is_ok_and(|kept| kept == text) {
        return Ok(());
    }
    state.make(Path::new(FOLDER))?;
    state.door().replace(&place(root), &text)
}

/// The options that are kept for a project.
pub fn kept(state: &State, root: &Path) -> Option<Map<String, Value>> {
    let bytes = state.door().read(&place(root), SMALL).ok()?;
    let kept: Kept = serde_json::from_slice(&bytes).ok()?;
    (kept.format == FORMAT && kept.root == root).then_some(kept.options)
}

fn place(root: &Path) -> PathBuf {
    Path::new(FOLDER).join(format!("{}.json", project(root)))
}
