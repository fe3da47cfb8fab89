//! The verb `attach`: the lines of a run that another process drives, from the first one on, and then each as it comes.

use crate::drive::tell_ending;
use crate::follow::{Ending, Followed, work};
use crate::refused::Refused;
use crate::session::{Session, utf8};
use crate::text::{self, of};
use crate::words::Given;
use serde_json::{Value, json};

pub fn attach(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    given.nothing_more("attach", "only run=ID")?;
    session.out.keep();
    let path = session.root_of_driver()?;
    let root = json!(utf8(&path)?);
    let run = session.door.call("status", &json!({ "root": root, "run_id": run_id }))?;
    if run.is_null() {
        return Err(Refused::new("nothing", "no run in this project"));
    }
    let mut followed = Followed::new(&root, of(&run, "run_id"));
    // Events have come since the first call. Those of lines that are among these are recognized by their numbers.
    let log = session.door.call("log", &json!({ "root": root, "run_id": followed.run_id }))?;
    for line in log["lines"].as_array().into_iter().flatten() {
        followed.seen += 1;
        let event = json!({
            "type": "log", "line": line, "number": followed.seen, "root": root, "run_id": followed.run_id,
            "superpower": run["superpower"], "total": run["total"],
        });
        Followed::new(&root, "").tell(session, &event);
    }
    let mut ending = Ending::of(&run);
    if ending.state == "running" {
        if !session.door.follows(&path) {
            return Err(elsewhere(&run));
        }
        followed.live = !session.json;
        session.out.live(&work(&run));
        match followed.wait(session) {
            Some(stopped) => ending = stopped,
            None => return Ok(1),
        }
    } else if !session.json {
        let reason = Some(&ending.reason).filter(|reason| !reason.is_empty());
        let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        session.out.say(&text::line(&format!("{}: {}{reason}", of(&run, "superpower"), ending.state)));
    }
    let status = ending.status("attach");
    tell_ending(session, &root, &followed.run_id, &ending, status);
    Ok(status)
}

/// Why a run that works cannot be followed.
fn elsewhere(run: &Value) -> Refused {
    let who = match run["driver"]["pid"].as_i64() {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    };
    Refused::internal(format!("{} is driven by {who}, which nobody can attach to", of(run, "superpower")))
}
