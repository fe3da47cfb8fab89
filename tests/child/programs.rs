//! An editor with another `PATH`, to see which programs it finds.

use serde_json::json;
use std::fs;
use std::path::PathBuf;
use superpower::harness::{Harnesses, Settings, resolve};
use superpower::project::review::Review;
use superpower::store::state::State;

/// Searches git and the harnesses, and writes the results to `said` beside the project.
pub fn looks_for_programs(root: &str) {
    let root = PathBuf::from(root);
    let top = root.parent().unwrap();
    let looked = Review::open(&root, &State::at(Some(&top.join("state"))).unwrap())
        .and_then(|review| review.snapshot());
    let told = |name: &str, harnesses: &Harnesses| match resolve(name, harnesses, Some(&root)) {
        Ok(resolved) => json!({ "program": resolved.program }),
        Err(missing) => json!({ "message": missing.message }),
    };
    let mut known = Harnesses::default();
    for (name, cmd) in [("mine", root.join("git")), ("relative", "./git".into()), ("below", "bin/x".into())] {
        let settings = Settings { cmd: vec![cmd.display().to_string()], args: Vec::new() };
        known.named.insert(name.into(), settings);
    }
    let said = json!({
        "review": looked.map(|_| "").unwrap_or_else(|error| error.to_string().leak()),
        "claude": told("claude", &known), "auto": told("auto", &known), "mine": told("mine", &known),
        "relative": told("relative", &known), "below": told("below", &known),
    });
    fs::write(top.join("said"), said.to_string()).unwrap();
}
