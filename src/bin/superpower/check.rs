//! The verb `check`: every problem of superpower files, as lines that editors, CI and pre-commit hooks understand.

use crate::refused::Refused;
use crate::session::{Session, utf8};
use crate::text::{self, number, of};
use crate::words::Given;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The status where a superpower has an error.
const FAULTY: u8 = 1;

/// A file of this name beside superpowers is none.
const SCHEMA: &str = "schema";

pub fn check(session: &mut Session, given: Given) -> Result<u8, Refused> {
    let words = given.rest();
    let (mut files, mut failed) = (Vec::new(), None);
    if words.is_empty() {
        files.extend(named(session, None)?);
    }
    for word in words {
        let checked = if is_file(&word) { file(session, &word) } else { named(session, Some(&word)) };
        match checked {
            Ok(checked) => files.extend(checked),
            // The others are checked all the same.
            Err(refused) if !matches!(refused.code.as_str(), "config" | "no-project" | "usage") => {
                session.out.say(&refused.text());
                failed = Some(refused.status("check"));
            }
            Err(refused) => return Err(refused),
        }
    }
    let cwd = std::env::current_dir().unwrap_or_default();
    session.show(&json!({ "files": files }), |shown| {
        let files = shown["files"].as_array().into_iter().flatten();
        files.flat_map(|file| lines(file, &cwd)).collect()
    });
    let faulty = files.iter().flat_map(diagnostics).any(|diagnostic| diagnostic["severity"] == 1);
    Ok(failed.unwrap_or(if faulty { FAULTY } else { 0 }))
}

/// A file, or the name of a superpower, which has no ending.
fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// The superpowers of the project, or the one of this name.
fn named(session: &mut Session, name: Option<&str>) -> Result<Vec<Value>, Refused> {
    let checked = session.ask("check-all", json!({ "name": name }))?;
    Ok(checked["files"].as_array().cloned().unwrap_or_default())
}

/// A file, in the project that it belongs to. Without one, what a project has is not checked.
fn file(session: &mut Session, word: &str) -> Result<Vec<Value>, Refused> {
    if Path::new(word).file_stem().is_some_and(|stem| stem == SCHEMA) {
        return Ok(Vec::new());
    }
    let path = std::path::absolute(word).unwrap_or_else(|_| PathBuf::from(word));
    let root = session.find(Some(&path)).ok();
    session.configure(root.as_deref())?;
    let root = root.as_deref().map(utf8).transpose()?;
    let checked = session.door.call("check", &json!({ "root": root, "path": utf8(&path)? }))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(vec![json!({ "name": name, "path": path, "diagnostics": checked["diagnostics"] })])
}

fn diagnostics(file: &Value) -> impl Iterator<Item = &Value> {
    file["diagnostics"].as_array().into_iter().flatten()
}

fn lines(file: &Value, cwd: &Path) -> Vec<String> {
    let path = Path::new(of(file, "path"));
    let path = text::line(&path.strip_prefix(cwd).unwrap_or(path).display().to_string());
    let line = |it: &Value| {
        let severity = match number(it, "severity") {
            1 => "error",
            2 => "warning",
            _ => "hint",
        };
        let (row, column) = (number(it, "lnum") + 1, number(it, "col") + 1);
        let message = text::line(of(it, "message"));
        format!("{path}:{row}:{column}: {severity}: {message} [{}]", of(it, "code"))
    };
    diagnostics(file).map(line).collect()
}
