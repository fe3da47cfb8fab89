//! The verbs that show something and change nothing.

use crate::refused::Refused;
use crate::session::Session;
use crate::text::{self, of};
use crate::words::Given;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The verb `status`: the project's run, or the named one.
pub fn status(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    given.nothing_more("status", "only run=ID")?;
    let run = session.ask("status", json!({ "run_id": run_id }))?;
    session.show(&json!({ "run": run }), |shown| {
        let run = &shown["run"];
        if run.is_null() {
            return vec!["no run in this project".into()];
        }
        let mut lines = vec![text::line(&format!(
            "{} {}  {}  stage {}/{}  run={}",
            of(run, "superpower"),
            of(run, "version"),
            state(run),
            run["current_stage"],
            run["total"],
            of(run, "run_id")
        ))];
        if !of(run, "summary").is_empty() {
            lines.push(text::line(&text::hints(of(run, "summary"))));
        }
        lines.extend(items(&run["stages"]).enumerate().map(|(at, stage)| {
            let note = Some(text::line(of(stage, "note"))).filter(|note| !note.is_empty());
            let note = note.map(|note| format!("  ({note})")).unwrap_or_default();
            format!("{:>4}  {:<10}  {}{note}", at + 1, of(stage, "mark"), text::line(of(stage, "label")))
        }));
        lines
    });
    Ok(0)
}

/// The verb `runs`: newest first.
pub fn runs(session: &mut Session, given: Given) -> Result<u8, Refused> {
    given.nothing_more("runs", "no arguments")?;
    let runs = session.ask("runs", json!({}))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
    session.show(&json!({ "runs": runs }), |shown| {
        let line = |run: &Value| {
            let line = format!(
                "{}  {}  {}  stage {}/{}  {}  {}",
                of(run, "run_id"),
                of(run, "superpower"),
                state(run),
                run["current_stage"],
                run["total"],
                text::age(now - text::number(run, "updated_at")),
                of(run, "about")
            );
            text::line(&line)
        };
        or(items(&shown["runs"]).map(line).collect(), "no runs in this project")
    });
    Ok(0)
}

/// The verb `list`: the superpowers.
pub fn list(session: &mut Session, given: Given) -> Result<u8, Refused> {
    given.nothing_more("list", "no arguments")?;
    let all = session.ask("list", json!({}))?;
    let links = session.ask("left", json!({}))?;
    session.show(&json!({ "superpowers": all }), |shown| {
        let widest = items(&shown["superpowers"]).map(|entry| of(entry, "name").chars().count()).max();
        let line = |entry: &Value| {
            let errors = text::number(entry, "errors");
            let about = match errors {
                0 => of(entry, "description").to_owned(),
                1 => "1 error: superpower check".to_owned(),
                more => format!("{more} errors: superpower check"),
            };
            let widest = widest.unwrap_or_default();
            text::line(&format!("{:widest$}  {:<8}  {about}", of(entry, "name"), of(entry, "version")))
        };
        or(items(&shown["superpowers"]).map(line).collect(), "no superpowers in this project")
    });
    if !session.json {
        items(&links).filter_map(Value::as_str).for_each(|line| session.out.say(line));
    }
    Ok(0)
}

/// The verb `plan`: what would run, skip and ask, and why.
pub fn plan(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let Some(name) = given.name() else {
        return Err(Refused::usage("name a superpower before its inputs: superpower plan NAME key=value"));
    };
    let inputs = given.pairs()?;
    let plan = session.ask("plan", json!({ "name": name, "inputs": inputs }))?;
    session.show(&plan, |plan| {
        let stage = |stage: &Value| {
            let who = match of(stage, "kind") {
                "gate" => "gate".to_owned(),
                kind => format!("{kind} {}", of(stage, "actor")),
            };
            let then = if stage["gate"] == true && of(stage, "kind") != "gate" { ", then asks" } else { "" };
            let rest = format!("{}  [{}{then}]  {}", of(stage, "label"), who.trim_end(), of(stage, "why"));
            format!("{:>4}  {:<4}  {}", text::number(stage, "position"), of(stage, "what"), text::line(&rest))
        };
        let head = text::line(&format!("{} {}", of(plan, "superpower"), of(plan, "version")));
        std::iter::once(head).chain(items(&plan["stages"]).map(stage)).collect()
    });
    Ok(0)
}

/// The verb `why`: why a stage runs or is skipped.
pub fn why(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    let stage = given.name();
    given.nothing_more("why", "run=ID and a stage's number")?;
    let number = stage.as_deref().map(|stage| {
        let number = stage.parse::<u64>().ok().filter(|number| *number > 0);
        number.ok_or_else(|| Refused::usage(format!("why takes a stage's number, got \"{stage}\"")))
    });
    let why = session.ask("why", json!({ "run_id": run_id, "stage": number.transpose()? }))?;
    session.show(&why, |why| lines(&why["lines"]));
    Ok(0)
}

/// The verb `log`: the lines of a run.
pub fn log(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    given.nothing_more("log", "only run=ID")?;
    let log = session.ask("log", json!({ "run_id": run_id }))?;
    session.show(&log, |log| lines(&log["lines"]));
    Ok(0)
}

/// The verb `schema`: the JSON Schema of superpower files, for editors.
pub fn schema(session: &mut Session, given: Given) -> Result<u8, Refused> {
    given.nothing_more("schema", "no arguments")?;
    let schema = superpower::check::json_schema();
    match session.json {
        true => session.out.object(&schema),
        false => session.out.line(&serde_json::to_string_pretty(&schema).unwrap_or_default()),
    }
    Ok(0)
}

/// `paused (gate)`, `running`.
fn state(run: &Value) -> String {
    match of(run, "reason") {
        "" => of(run, "state").to_owned(),
        reason => format!("{} ({reason})", of(run, "state")),
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn lines(value: &Value) -> Vec<String> {
    items(value).filter_map(Value::as_str).map(superpower::terminal::visible).collect()
}

fn or(lines: Vec<String>, none: &str) -> Vec<String> {
    if lines.is_empty() { vec![none.to_owned()] } else { lines }
}
