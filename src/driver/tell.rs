//! What others see and hear of a drive: pictures of the run, events, and the log.

use super::Drive;
use crate::run::snapshot;
use crate::terminal::visible;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long between two pictures of a run's progress: with those that a change makes at once, no second has more than 30.
const FRAME: Duration = Duration::from_millis(36);
/// Drawing a long run takes one part in so many of the time, at most.
const SHARE: u32 = 50;

/// A picture of a run. It is written as it is drawn, one stage after the other, and once for everybody: as a tree of values, one of
/// a long run would take ten times the memory.
#[derive(Debug)]
pub(super) struct Picture {
    /// The run without its stages.
    pub head: Value,
    /// The event that shows it.
    pub event: Arc<str>,
    /// Where the run begins in the event, which ends one byte after it.
    from: usize,
}

/// What a picture has many of, by its name.
type List<'a> = (&'a str, &'a mut dyn Iterator<Item = Value>);

impl Default for Picture {
    fn default() -> Self {
        Self { head: Value::Null, event: " null ".into(), from: 1 }
    }
}

impl Picture {
    fn draw(root: &Path, head: Value, lists: [List; 2]) -> Self {
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
        Self { head, event: text.into(), from }
    }

    /// The same picture, but for why the newest checkpoint is not written yet: of a run whose drive is over.
    pub fn with_checkpoint(&mut self, root: &Path, waiting: Option<&str>) -> Arc<str> {
        let mut run: Value = serde_json::from_str(self.run()).unwrap_or_default();
        if run.is_object() {
            run["checkpoint_waiting"] = json!(waiting);
            self.head["checkpoint_waiting"] = json!(waiting);
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

impl Drive {
    pub(super) fn publish_snapshot(&mut self) {
        let began = Instant::now();
        let now = (self.host.clock)();
        let mut head = snapshot::head(&self.run, now);
        head["root"] = json!(self.root);
        head["ours"] = json!(self.lease.is_some());
        head["driver"] = json!({ "pid": std::process::id() });
        head["live"] = self.live.view();
        let mut usage = self.run.usage();
        usage.add(self.live.usage());
        head["usage"] = json!(usage);
        if !head["live"].is_null() {
            head["live"]["checkpoint"] = json!(self.checkpoint_line());
        }
        head["checkpoint_waiting"] = json!(self.keeper.waiting());
        let masked = |mut value: Value, words: &[&str]| {
            self.host.secrets.mask_message(&mut value, words);
            value
        };
        let head = masked(head, &["root", "run_id", "superpower", "state", "reason"]);
        let stage = |stage| masked(snapshot::stage(&self.run, stage, now), &["kind", "mark"]);
        let mut stages = (0..self.run.plan.total()).map(stage);
        let mut rows = self.keeper.rows().iter().map(|row| masked(json!(row), &["key", "status"]));
        let lists: [List; 2] = [("checkpoints", &mut rows), ("stages", &mut stages)];
        let picture = Picture::draw(&self.root, head, lists);
        let event = picture.event.clone();
        *self.shared.picture() = picture;
        (self.host.publish)(Some(&format!("snapshot {}", self.root.display())), event);
        self.draw = Instant::now() + FRAME.max(began.elapsed() * SHARE);
        self.dirty = false;
    }

    /// Tells the editor something about this run.
    pub(super) fn tell(&self, mut event: Value) {
        event["root"] = json!(self.root);
        event["run_id"] = json!(self.run.run_id);
        event["superpower"] = json!(self.run.plan.name());
        event["total"] = json!(self.run.plan.total());
        self.host.say(&event);
    }

    pub(super) fn notice(&self, level: &str, message: &str) {
        self.tell(json!({ "type": "notice", "level": level, "message": message }));
    }

    /// Something that can be made anew could not be written: said once.
    pub(super) fn cannot_write(&mut self, what: &'static str, error: &std::io::Error) {
        if !self.told.contains(&what) {
            self.told.push(what);
            self.notice("warn", &format!("cannot write {what}: {error}"));
        }
    }

    /// A line of the log: to the editor, and to `.claude/logs/superpower.log`.
    pub(super) fn log(&mut self, line: &str) {
        let line = visible(&self.host.secrets.mask(line));
        let line = format!("[superpower] {line}");
        if let Err(error) = self.log.append(&line) {
            self.cannot_write("the log", &error);
        }
        self.tell(json!({ "type": "log", "line": line }));
    }
}
