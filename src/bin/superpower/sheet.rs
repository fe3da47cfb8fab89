//! The trust sheet as text: what changed since it was trusted, what each stage tells its agent, and every file that
//! the answer covers.

use crate::text;
use serde_json::Value;

const WIDTH: usize = 88;

/// The lines of a sheet.
pub fn lines(sheet: &Value) -> Vec<String> {
    let mut lines = vec![text::line(&format!(
        "{} {}: what it will do",
        text::of(sheet, "superpower"),
        text::of(sheet, "version")
    ))];
    if let Some(claim) = sheet["claim"].as_str() {
        lines.extend(["".into(), "You did not start this run here. Only its files say what is done:".into()]);
        add(&mut lines, 2, claim);
    }
    if sheet["older"] == true {
        lines.push("You trusted this in an older version, which covered fewer of these files.".into());
    }
    let changes: Vec<&Value> = items(sheet, "changes").collect();
    if !changes.is_empty() {
        lines.extend(["".into(), "Changed since you trusted it".into()]);
        let line =
            |it: &&Value| format!("  {}  {}", text::line(text::of(it, "path")), text::of(it, "change"));
        lines.extend(changes.iter().map(line));
    }
    lines.extend(["".into(), format!("  {}", text::line(text::of(sheet, "path"))), "".into()]);
    let mut named = vec![text::of(sheet, "path")];
    for stage in items(sheet, "stages") {
        add_stage(&mut lines, stage);
        named.push(text::of(stage, "file"));
    }
    let files = items(sheet, "files").map(|file| file.as_str().unwrap_or_else(|| text::of(file, "path")));
    let others: Vec<&str> = files.filter(|file| !named.contains(file)).collect();
    if !others.is_empty() {
        lines.extend(["".into(), "Other files that its agents read or run".into()]);
        lines.extend(others.iter().map(|file| format!("  {}", text::line(file))));
    }
    lines
}

fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn add_stage(lines: &mut Vec<String>, stage: &Value) {
    let gate = stage["kind"] == "gate";
    let actor = text::of(stage, "actor");
    let who = match gate {
        true => "asks you".to_owned(),
        false => text::line(&format!("{} {actor}", text::of(stage, "kind"))),
    };
    let file = match text::of(stage, "file") {
        "" if gate => "",
        // A name with a namespace belongs to a plugin of the agent.
        "" if actor.contains(':') => "",
        "" => "no file found here",
        file => file,
    };
    let head = format!("{:>4}  {who}  {}", text::number(stage, "position"), text::line(file));
    lines.push(head.trim_end().to_owned());
    let label = text::of(stage, "label");
    if text::line(label) != who {
        add(lines, 6, label);
    }
    add(lines, 6, text::of(stage, "prompt"));
    for input in items(stage, "inputs") {
        let part = |at: usize| input[at].as_str().unwrap_or_default();
        add(lines, 8, &format!("{}: {}", part(0), part(1)));
    }
    if !gate && stage["gate"] == true {
        add(lines, 6, "then asks you");
    }
}

/// Adds a text of any length, wrapped and indented.
fn add(lines: &mut Vec<String>, indent: usize, words: &str) {
    for line in text::lines(words) {
        let wrapped = text::wrap(&line, WIDTH - indent);
        lines.extend(wrapped.iter().map(|part| format!("{:indent$}{part}", "")));
    }
}
