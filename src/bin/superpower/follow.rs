//! Follows a run until it pauses or ends: tells its events, and how it stopped.

use crate::session::Session;
use crate::text;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How often the run's state is asked for, should the event of its end not come.
const LOOK: Duration = Duration::from_millis(500);
/// Maximum wait for the end of a drive whose run has stopped.
const END: Duration = Duration::from_secs(1);

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

/// The run that is followed.
pub struct Followed {
    root: Value,
    pub run_id: String,
    /// The number of its log lines that were printed before.
    pub seen: usize,
    /// Whether its agent's work is shown in the terminal's last line.
    pub live: bool,
}

/// How a run stopped.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    pub state: String,
    pub reason: String,
    pub detail: String,
}

impl Ending {
    pub fn of(event: &Value) -> Self {
        let text = |key| text::of(event, key).to_owned();
        Self { state: text("state"), reason: text("reason"), detail: text("detail") }
    }

    fn interrupted() -> Self {
        Self { state: "paused".into(), reason: "interrupted".into(), detail: String::new() }
    }

    /// The exit status.
    pub fn status(&self, verb: &str) -> u8 {
        match (self.state.as_str(), self.reason.as_str()) {
            ("complete", _) => 0,
            ("rejected", _) => u8::from(verb != "reject"),
            ("cancelled", _) => u8::from(verb != "cancel"),
            ("paused", "gate") => 3,
            ("paused", "trust") => 2,
            ("paused", "user") => u8::from(verb != "pause"),
            _ => 1,
        }
    }
}

impl Followed {
    pub fn new(root: &Value, run_id: &str) -> Self {
        Self { root: root.clone(), run_id: run_id.to_owned(), seen: 0, live: false }
    }

    /// Waits until the run pauses or ends, and says how. None: a signal came.
    pub fn wait(&self, session: &mut Session) -> Option<Ending> {
        let mut ending = None;
        let mut looked = Instant::now();
        while ending.is_none() {
            if session.signals.came() {
                return None;
            }
            let event = session.door.next_event(LOOK, Some(session.signals.fd()));
            let gone = event.as_ref().is_some_and(|event| event["type"] == "driver-gone");
            if let Some(event) = event {
                ending = self.tell(session, &event);
            }
            if ending.is_none() && (gone || looked.elapsed() >= LOOK) {
                looked = Instant::now();
                ending = self.look(session);
            }
        }
        // What is said behind the end still belongs to the run.
        self.rest(session, END);
        ending
    }

    /// Tells what comes until the drive has ended, for at most `limit`.
    pub fn rest(&self, session: &mut Session, limit: Duration) {
        let until = Instant::now() + limit;
        while let Some(event) = session.door.next_event(until.saturating_duration_since(Instant::now()), None)
        {
            self.tell(session, &event);
            let ours = event["type"] == "drive-ended" && event["run_id"] == *self.run_id;
            if ours || event["type"] == "driver-gone" {
                break;
            }
        }
    }

    /// The state of a run of which no event told. One that can no longer be read, or is gone, has ended for us.
    fn look(&self, session: &mut Session) -> Option<Ending> {
        let asked = json!({ "root": self.root, "run_id": self.run_id });
        let run = match session.door.call("status", &asked) {
            Ok(run) if run.is_object() => run,
            other => {
                let words =
                    other.err().map_or_else(|| "the run is no longer there".into(), |refused| refused.text());
                session.out.say(&words);
                return Some(Ending::interrupted());
            }
        };
        (run["state"] != "running").then(|| Ending::of(&run))
    }

    /// Tells an event, and returns how the run has stopped, if it has.
    pub fn tell(&self, session: &mut Session, event: &Value) -> Option<Ending> {
        let kind = text::of(event, "type");
        let ours = event["run_id"] == *self.run_id;
        let printed = kind == "log" && ours && text::number(event, "number") <= self.seen as i64;
        if session.json && TOLD.contains(&kind) && !printed {
            session.out.object(event);
        } else if !session.json {
            match kind {
                "log" if !printed => session.out.line(&text::line(&decidable(text::of(event, "line")))),
                "notice" => session.out.say(text::of(event, "message")),
                "snapshot" if self.live && event["run"]["run_id"] == *self.run_id => {
                    session.out.live(&work(&event["run"]));
                }
                _ => {}
            }
        }
        match kind {
            "run-paused" if ours => Some(Ending { state: "paused".into(), ..Ending::of(event) }),
            "run-finished" if ours => Some(Ending::of(event)),
            _ => None,
        }
    }
}

/// What the agent does, on one line; empty where none works.
pub fn work(run: &Value) -> String {
    let live = &run["live"];
    let word =
        ["waiting", "tool", "text"].map(|key| text::of(live, key)).into_iter().find(|it| !it.is_empty());
    match (live["stage"].as_i64(), word) {
        (Some(stage), Some(word)) => text::line(&format!("{stage}/{}  {word}", run["total"])),
        _ => String::new(),
    }
}

/// Rewrites the hint of a pause at a gate: `resume` does not pass a gate, so the verbs that decide it are named.
pub fn decidable(line: &str) -> String {
    match line.split_once("PAUSED — resume with: ") {
        Some((head, _)) => format!("{head}PAUSED — decide with: approve, changes or reject"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_has_a_status() {
        let of = |verb: &str, state: &str, reason: &str| {
            Ending { state: state.into(), reason: reason.into(), detail: String::new() }.status(verb)
        };
        for (verb, state, reason, expected) in [
            ("run", "complete", "", 0),
            ("reject", "rejected", "", 0),
            ("approve", "rejected", "", 1),
            ("attach", "rejected", "", 1),
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

    #[test]
    fn the_live_line_says_what_waits_before_what_is_done() {
        let of = |live: Value| work(&json!({ "total": 3, "live": live }));
        assert_eq!(of(json!({ "stage": 2, "tool": "Read a.rs", "text": "so" })), "2/3  Read a.rs");
        assert_eq!(of(json!({ "stage": 2, "tool": null, "text": "a\u{1b}[2J" })), "2/3  a^[[2J");
        assert_eq!(of(json!({ "stage": 2, "tool": "Bash", "waiting": "asks" })), "2/3  asks");
        assert_eq!(of(Value::Null), "");
    }
}
