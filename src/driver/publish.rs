//! What others see and hear of a drive: pictures of the run, events, and the log.

use super::keeper::{Keeper, Told};
use super::performer::Performer;
use super::standing::Standing;
use crate::run::effect::Notice;
use crate::run::snapshot;
use crate::run::state::Run;
use crate::terminal::visible;
use crate::zone;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long between two pictures of a run's progress: with those that a change makes at once, no second has more than 30.
const FRAME: Duration = Duration::from_millis(36);
/// Drawing a long run takes one part in so many of the time, at most.
const SHARE: u32 = 50;

/// What a notice says in words of the program's own.
const NOTICE: [&str; 6] = ["type", "outcome", "gate", "decision", "reason", "state"];

/// A picture of a run. It is written as it is drawn, one stage after the other, and once for everybody: as a tree of values, one of
/// a long run would take ten times the memory.
#[derive(Debug)]
pub(super) struct Picture {
    /// What the run is at.
    pub standing: Standing,
    /// The event that shows it.
    pub event: Arc<str>,
    /// Where the run begins in the event, which ends one byte after it.
    from: usize,
}

/// What a picture has many of, by its name.
type List<'a> = (&'a str, &'a mut dyn Iterator<Item = Value>);

impl Default for Picture {
    fn default() -> Self {
        Self { standing: Standing::default(), event: " null ".into(), from: 1 }
    }
}

impl Picture {
    fn draw(root: &Path, standing: Standing, head: &Value, lists: [List; 2]) -> Self {
        let mut text = format!("{{\"type\":\"snapshot\",\"root\":{},\"run\":", json!(root));
        let from = text.len();
        text += &head.to_string();
        text.pop();
        for (name, list) in lists {
            let _ = write!(text, ",\"{name}\":[");
            for (at, item) in list.enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(text, "{comma}{item}");
            }
            text.push(']');
        }
        text += "}}";
        Self { standing, event: text.into(), from }
    }

    /// The same picture, but for one thing that has changed since its drive was over.
    pub fn amended(&mut self, root: &Path, name: &str, value: Value) -> Arc<str> {
        let mut run: Value = serde_json::from_str(self.run()).unwrap_or_default();
        if run.is_object() {
            run[name] = value;
            let before = format!("{{\"type\":\"snapshot\",\"root\":{},\"run\":", json!(root));
            self.from = before.len();
            self.event = format!("{before}{run}}}").into();
        }
        self.event.clone()
    }

    /// The run.
    pub fn run(&self) -> &str {
        &self.event[self.from..self.event.len() - 1]
    }
}

impl Keeper {
    /// Draws the run.
    pub(super) fn draw(&mut self, run: &Run, performer: &mut Performer) {
        let began = Instant::now();
        let now = (self.host.clock)();
        let mut head = snapshot::head(run, now);
        head["root"] = json!(self.root);
        head["ours"] = json!(self.lease.is_some());
        head["driver"] = json!({ "pid": std::process::id() });
        head["live"] = performer.live.view();
        let mut usage = run.usage();
        usage.add(performer.live.usage());
        head["usage"] = json!(usage);
        if !head["live"].is_null() {
            head["live"]["checkpoint"] = json!(performer.checkpoints.line(run));
        }
        head["checkpoint_waiting"] = json!(performer.checkpoints.waiting());
        let masked = |mut value: Value, words: &[&str]| {
            self.host.secrets.mask_message(&mut value, words);
            value
        };
        let head = masked(head, &["root", "run_id", "superpower", "state", "reason"]);
        let stage = |stage| masked(snapshot::stage(run, stage, now), &["kind", "mark"]);
        let mut stages = (0..run.plan.total()).map(stage);
        let mut rows = performer.checkpoints.rows().iter().map(|row| masked(json!(row), &["key", "status"]));
        let lists: [List; 2] = [("checkpoints", &mut rows), ("stages", &mut stages)];
        let picture = Picture::draw(&self.root, Standing::of(run), &head, lists);
        let event = picture.event.clone();
        *self.shared.picture() = picture;
        (self.host.publish)(Some(&format!("snapshot {}", self.root.display())), event);
        self.draw = Instant::now() + FRAME.max(began.elapsed() * SHARE);
        self.dirty = false;
    }

    /// Says one thing to whoever listens.
    pub(super) fn say(&mut self, run: &Run, told: Told) {
        match told {
            Told::Log(line) => self.log(run, &line),
            Told::LogUntil(line, until) => {
                let clock = zone::current().clock(until, (self.host.clock)());
                self.log(run, &format!("{line} {clock}"));
            }
            Told::Notice(level, text) => self.notice(run, level, &text),
            Told::Answer(text) => {
                self.tell(run, json!({ "type": "notice", "level": "info", "answer": true, "message": text }));
            }
            Told::Run(notice) => {
                let mut event = serde_json::to_value(&notice).unwrap_or_default();
                if matches!(notice, Notice::RunStarted) {
                    event["inputs"] = json!(run.plan.inputs);
                }
                self.host.secrets.mask_message(&mut event, &NOTICE);
                self.tell(run, event);
            }
            Told::Event(event) => self.tell(run, event),
        }
    }

    /// Tells the editor something about this run.
    pub(super) fn tell(&self, run: &Run, mut event: Value) {
        event["root"] = json!(self.root);
        event["run_id"] = json!(run.run_id);
        event["superpower"] = json!(run.plan.name());
        event["total"] = json!(run.plan.total());
        self.host.say(&event);
    }

    pub(super) fn notice(&self, run: &Run, level: &str, message: &str) {
        self.tell(run, json!({ "type": "notice", "level": level, "message": message }));
    }

    /// Something that can be made anew could not be written: said once.
    pub(super) fn cannot_write(&mut self, run: &Run, what: &'static str, error: &std::io::Error) {
        if !self.complained.contains(&what) {
            self.complained.push(what);
            self.notice(run, "warn", &format!("cannot write {what}: {error}"));
        }
    }

    /// A line of the log: to the editor, and to `.claude/logs/superpower.log`.
    fn log(&mut self, run: &Run, line: &str) {
        let line = visible(&self.host.secrets.mask(line));
        let line = format!("[superpower] {line}");
        if let Err(error) = self.log.append(&line) {
            self.cannot_write(run, "the log", &error);
        }
        self.tell(run, json!({ "type": "log", "line": line }));
    }
}
