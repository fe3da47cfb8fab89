//! The verb `driver`: the processes that drive runs, and the end of one.

use crate::refused::Refused;
use crate::session::{Session, utf8};
use crate::text::{self, of};
use crate::words::Given;
use serde_json::{Value, json};

pub fn driver(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    if given.name().is_some() {
        return end(session);
    }
    let drivers = session.door.call("drivers", &json!({}))?;
    session.show(&json!({ "drivers": drivers }), |shown| {
        let lines: Vec<String> = shown["drivers"].as_array().into_iter().flatten().map(line).collect();
        if lines.is_empty() { vec!["no drivers".into()] } else { lines }
    });
    Ok(0)
}

fn end(session: &mut Session) -> Result<u8, Refused> {
    let root = session.find(None)?;
    let done = session.door.call("driver-end", &json!({ "root": utf8(&root)? }))?;
    session.show(&done, |done| {
        vec![match done["ended"]["pid"].as_i64() {
            Some(pid) => format!("ended the driver (process {pid})"),
            None => "no process drives this project's runs".to_owned(),
        }]
    });
    Ok(0)
}

/// `4711  0.1.0  ~/shop  bugfix running, stage 2/5  run=…`
fn line(driver: &Value) -> String {
    let problem = of(driver, "problem");
    if !problem.is_empty() {
        return text::line(&format!("{}: {problem}", of(driver, "socket")));
    }
    let run = &driver["run"];
    let work = match of(run, "state") {
        "" => "drives nothing".to_owned(),
        state => format!(
            "{} {state}, stage {}/{}  run={}",
            of(run, "superpower"),
            run["stage"],
            run["total"],
            of(run, "run_id")
        ),
    };
    let kind = if driver["driver"] == true { "" } else { "  (a command)" };
    let version = of(driver, "superpower");
    text::line(&format!("{}  {version}  {}  {work}{kind}", driver["pid"], of(driver, "root")))
}
