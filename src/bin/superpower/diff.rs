//! The verb `diff`: what changed since the last approval, at an open gate. With files, how.

use crate::refused::Refused;
use crate::session::Session;
use crate::text::{self, number, of};
use crate::words::Given;
use serde_json::{Value, json};
use similar::TextDiff;
use std::path::Path;
use superpower::store::beneath::Door;

/// Size limit of a file whose lines are compared, in bytes.
const MAX_BYTES: u64 = 4 << 20;

pub fn diff(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    let files = given.rest();
    if files.is_empty() {
        let review = session.ask("review", json!({ "run_id": run_id }))?;
        session.show(&review, listed);
        return Ok(0);
    }
    let mut shown = Vec::new();
    for file in files {
        let sides = session.ask("diff", json!({ "run_id": run_id, "path": file }))?;
        let (before, after) = (side(&sides["before"]), after(session, &sides)?);
        let diff = TextDiff::from_lines(&before, &after);
        let name = |side: &str| format!("{side}/{file}");
        let text = diff.unified_diff().context_radius(3).header(&name("a"), &name("b")).to_string();
        shown.push(json!({ "path": file, "diff": text }));
    }
    session.show(&json!({ "files": shown }), |shown| {
        let files = shown["files"].as_array().into_iter().flatten();
        files.flat_map(|file| text::lines(of(file, "diff"))).filter(|line| !line.is_empty()).collect()
    });
    Ok(0)
}

/// The list of changes that the gate shows.
fn listed(review: &Value) -> Vec<String> {
    let files = review["files"].as_array().into_iter().flatten();
    let mut lines = vec![text::line(&format!(
        "{}  gate of stage {}/{}: {}  (review={})",
        of(review, "superpower"),
        review["stage"],
        review["total"],
        of(review, "label"),
        of(review, "review")
    ))];
    lines.extend(files.map(|file| {
        let counts = match (&file["added"], &file["removed"]) {
            (Value::Null, _) | (_, Value::Null) => String::new(),
            _ => format!("  +{} -{}", number(file, "added"), number(file, "removed")),
        };
        format!("  {:<8}  {}{counts}", of(file, "change"), text::line(of(file, "path")))
    }));
    for key in ["note", "left_out"] {
        let more = review[key].as_array().into_iter().flatten().chain(Some(&review[key]));
        lines.extend(more.filter_map(Value::as_str).map(|line| format!("  {}", text::line(line))));
    }
    lines
}

fn side(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The file as it is now, or the text that stands for it.
fn after(session: &mut Session, sides: &Value) -> Result<String, Refused> {
    if let Some(text) = sides["after"].as_str() {
        return Ok(text.to_owned());
    }
    let root = session.root()?;
    let path = Path::new(of(sides, "after_path"));
    match Door::people(&root).read(path, MAX_BYTES) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Refused::usage(format!("cannot read \"{}\": {error}", path.display()))),
    }
}
