//! A verb that drives: it waits until the run pauses or ends, prints the log's lines, and has an exit status for
//! scripts. Its lines and statuses are those of the bang in a headless editor.

use crate::refused::Refused;
use crate::session::{Session, utf8};
use crate::{text, trust};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How often the run's state is asked for, should the event of its end not come.
const LOOK: Duration = Duration::from_millis(500);
/// Maximum wait for the end of a drive whose run has stopped.
const END: Duration = Duration::from_secs(1);
/// How long agents may take to end after an interruption.
const GRACE: Duration = Duration::from_secs(1);

/// The events that are told with `--json`; the rest is how windows are drawn.
const TOLD: [&str; 9] = [
    "gate-decided",
    "gate-opened",
    "log",
    "notice",
    "run-finished",
    "run-paused",
    "run-started",
    "stage-finished",
    "stage-started",
];

/// How a run stopped.
#[derive(Clone, Debug, Default)]
struct Ending {
    state: String,
    reason: String,
    detail: String,
}

/// Performs a verb, and returns the exit status.
pub fn drive(session: &mut Session, verb: &str, op: &str, mut fields: Value) -> Result<u8, Refused> {
    session.out.keep();
    let root = session.root()?;
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
    let run_id = text::of(&started, "run_id").to_owned();
    let ending = wait(session, &fields["root"], &run_id);
    let status = match &ending {
        Some(ending) => status(verb, ending),
        None => 1,
    };
    if let Some(ending) = ending {
        tell_ending(session, &fields["root"], &run_id, &ending, status);
    }
    Ok(status)
}

/// Says why the run waits, and what can be done.
fn tell_ending(session: &mut Session, root: &Value, run_id: &str, ending: &Ending, status: u8) {
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

/// Waits until the run pauses or ends, and says how. None: a signal came, and the run is paused.
fn wait(session: &mut Session, root: &Value, run_id: &str) -> Option<Ending> {
    let mut ending = None;
    let mut looked = Instant::now();
    while ending.is_none() {
        if session.signals.came() {
            let stopped = session.door.interrupt(GRACE);
            while let Some(event) = next(session, Duration::ZERO) {
                tell(session, &event, run_id);
            }
            if let Err(refused) = stopped {
                session.out.say(&refused.text());
            }
            return None;
        }
        match next(session, LOOK) {
            Some(event) => ending = tell(session, &event, run_id),
            None if looked.elapsed() >= LOOK => {
                looked = Instant::now();
                ending = look(session, root, run_id);
            }
            None => {}
        }
    }
    // What is said behind the end still belongs to the run.
    let until = Instant::now() + END;
    while let Some(event) = next(session, until.saturating_duration_since(Instant::now())) {
        tell(session, &event, run_id);
        if event["type"] == "drive-ended" && event["run_id"] == run_id {
            break;
        }
    }
    ending
}

fn next(session: &mut Session, timeout: Duration) -> Option<Value> {
    session.door.next_event(timeout, session.signals.fd())
}

/// The state of a run of which no event told. One that can no longer be read, or is gone, has ended for us.
fn look(session: &mut Session, root: &Value, run_id: &str) -> Option<Ending> {
    let run = match session.door.call("status", &json!({ "root": root, "run_id": run_id })) {
        Ok(run) if run.is_object() => run,
        other => {
            let words =
                other.err().map_or_else(|| "the run is no longer there".into(), |refused| refused.text());
            session.out.say(&words);
            return Some(Ending {
                state: "paused".into(),
                reason: "interrupted".into(),
                detail: String::new(),
            });
        }
    };
    (run["state"] != "running").then(|| Ending::of(&run))
}

impl Ending {
    fn of(event: &Value) -> Self {
        let text = |key| text::of(event, key).to_owned();
        Self { state: text("state"), reason: text("reason"), detail: text("detail") }
    }
}

/// Tells an event, and returns how the run has stopped, if it has.
fn tell(session: &mut Session, event: &Value, run_id: &str) -> Option<Ending> {
    let kind = text::of(event, "type");
    if session.json && TOLD.contains(&kind) {
        session.out.object(event);
    } else if !session.json {
        match kind {
            "log" => session.out.line(&text::line(&decidable(text::of(event, "line")))),
            "notice" => session.out.say(text::of(event, "message")),
            _ => {}
        }
    }
    match kind {
        "run-paused" if event["run_id"] == run_id => {
            return Some(Ending { state: "paused".into(), ..Ending::of(event) });
        }
        "run-finished" if event["run_id"] == run_id => return Some(Ending::of(event)),
        _ => {}
    }
    None
}

/// Rewrites the hint of a pause at a gate: `resume` does not pass a gate, so the verbs that decide it are named.
fn decidable(line: &str) -> String {
    match line.split_once("PAUSED — resume with: ") {
        Some((head, _)) => format!("{head}PAUSED — decide with: approve, changes or reject"),
        None => line.to_owned(),
    }
}

/// The exit status for a run that has stopped.
fn status(verb: &str, ending: &Ending) -> u8 {
    match (ending.state.as_str(), ending.reason.as_str()) {
        ("complete", _) => 0,
        ("rejected", _) => u8::from(verb != "reject"),
        ("cancelled", _) => u8::from(verb != "cancel"),
        ("paused", "gate") => 3,
        ("paused", "trust") => 2,
        ("paused", "user") => u8::from(verb != "pause"),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_has_a_status() {
        let of = |verb: &str, state: &str, reason: &str| {
            status(verb, &Ending { state: state.into(), reason: reason.into(), detail: String::new() })
        };
        for (verb, state, reason, expected) in [
            ("run", "complete", "", 0),
            ("reject", "rejected", "", 0),
            ("approve", "rejected", "", 1),
            ("cancel", "cancelled", "", 0),
            ("resume", "cancelled", "", 1),
            ("run", "paused", "gate", 3),
            ("run", "paused", "trust", 2),
            ("pause", "paused", "user", 0),
            ("run", "paused", "user", 1),
            ("run", "paused", "failed", 1),
            ("run", "paused", "interrupted", 1),
        ] {
            assert_eq!(of(verb, state, reason), expected, "{verb} {state} {reason}");
        }
    }

    #[test]
    fn a_gate_is_not_passed_by_resume() {
        assert_eq!(
            decidable("[superpower] PAUSED — resume with: :Superpower resume one"),
            "[superpower] PAUSED — decide with: approve, changes or reject"
        );
        let failed = "[superpower] PAUSED (failed) — resume with: :Superpower resume one";
        assert_eq!(decidable(failed), failed);
    }
}
