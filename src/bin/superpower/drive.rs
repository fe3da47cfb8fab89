//! A verb that drives: it waits until the run pauses or ends, prints the log's lines, and has an exit status for
//! scripts. Its lines and statuses are those of the bang in a headless editor.

use crate::follow::{Ending, Followed};
use crate::refused::Refused;
use crate::session::{Session, utf8};
use crate::{text, trust};
use serde_json::{Value, json};
use std::time::Duration;

/// How long agents may take to end after an interruption.
const GRACE: Duration = Duration::from_secs(1);
/// How long a driver may take to interrupt the run and to say so.
const INTERRUPTED: Duration = Duration::from_secs(5);

/// Performs a verb, and returns the exit status.
pub fn drive(session: &mut Session, verb: &str, op: &str, mut fields: Value) -> Result<u8, Refused> {
    session.out.keep();
    let root = if session.detach { session.root_of_driver()? } else { session.root()? };
    if session.detach {
        session.door.detach();
    }
    fields["root"] = json!(utf8(&root)?);
    if op != "run" {
        // Refuses if several runs fit, since no run was shown.
        fields["only"] = json!(true);
    }
    let started = start(session, op, &mut fields)?;
    let others = text::number(&started, "others");
    if others > 0 {
        let runs = if others == 1 { "run" } else { "runs" };
        session.out.say(&format!("{others} other unfinished {runs}: superpower runs"));
    }
    let run = Followed::new(&fields["root"], text::of(&started, "run_id"));
    if session.detach {
        session.notices();
        tell_started(session, &run.run_id);
        return Ok(0);
    }
    let Some(ending) = run.wait(session) else {
        interrupt(session, &run);
        return Ok(1);
    };
    let status = ending.status(verb);
    tell_ending(session, &fields["root"], &run.run_id, &ending, status);
    Ok(status)
}

/// Interrupts the run, wherever it is driven, and tells the lines of that.
fn interrupt(session: &mut Session, run: &Followed) {
    if session.door.interrupt_driver() {
        return run.rest(session, INTERRUPTED);
    }
    let stopped = session.door.interrupt(GRACE);
    run.rest(session, Duration::ZERO);
    if let Err(refused) = stopped {
        session.out.say(&refused.text());
    }
}

/// Says which run has started, and how to follow it.
fn tell_started(session: &mut Session, run_id: &str) {
    let attach = format!("superpower attach run={run_id}");
    match session.json {
        true => session.out.object(&json!({ "run_id": run_id, "attach": attach })),
        false => session.out.line(&format!("run={run_id}  follow it with: {attach}")),
    }
}

/// Says why the run waits, and what can be done.
pub fn tell_ending(session: &mut Session, root: &Value, run_id: &str, ending: &Ending, status: u8) {
    let run = session.door.call("status", &json!({ "root": root, "run_id": run_id })).unwrap_or_default();
    let summary = text::line(text::of(&run, "summary"));
    let Ending { state, reason, detail } = ending;
    if session.json {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        return session.out.object(&json!({
            "type": "stopped", "run_id": run_id, "state": state, "reason": some(reason), "detail": some(detail),
            "summary": some(&summary), "status": status,
        }));
    }
    if state != "paused" || reason == "gate" {
        return;
    }
    if !matches!(reason.as_str(), "user" | "interrupted") && !summary.is_empty() {
        session.out.say(&format!("{}: {summary}", text::line(text::of(&run, "superpower"))));
    }
    if !detail.is_empty() {
        session.out.say(&text::line(detail));
    }
}

/// Calls the operation; what it asks about trust is answered at a terminal.
fn start(session: &mut Session, op: &str, fields: &mut Value) -> Result<Value, Refused> {
    // First the superpower, then what the run's files claim, then whatever has changed meanwhile.
    for _ in 0..3 {
        match session.door.call(op, fields) {
            Err(refused) if trust::is_question(&refused) && session.is_attended() => {
                session.notices();
                trust::ask(session, &refused, fields)?;
            }
            answer => return answer,
        }
    }
    session.door.call(op, fields)
}
