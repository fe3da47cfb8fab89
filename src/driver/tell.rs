//! What others see and hear of a drive: pictures of the run, events, and the log.

use super::Drive;
use crate::run::log::visible;
use crate::run::snapshot::snapshot;
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// How long between two pictures of a run's progress: with those that a change makes at once, no second has more than 30.
const FRAME: Duration = Duration::from_millis(36);
/// Of a long run, drawing may take this share of the time at most.
const SHARE: u32 = 20;

impl Drive {
    pub(super) fn publish_snapshot(&mut self) {
        let began = Instant::now();
        let mut picture = snapshot(&self.run, (self.host.clock)());
        picture["root"] = json!(self.root);
        picture["ours"] = json!(self.lease.is_some());
        picture["driver"] = json!({ "pid": std::process::id() });
        picture["live"] = self.live.view();
        let mut usage = self.run.usage();
        usage.add(self.live.usage());
        picture["usage"] = json!(usage);
        picture["checkpoints"] = json!(self.keeper.rows());
        if !picture["live"].is_null() {
            picture["live"]["checkpoint"] = json!(self.checkpoint_line());
        }
        picture["checkpoint_waiting"] = json!(self.keeper.waiting());
        self.host.secrets.mask_value(&mut picture);
        *self.shared.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = picture.clone();
        let key = format!("snapshot {}", self.root.display());
        (self.host.publish)(Some(&key), json!({ "type": "snapshot", "root": self.root, "run": picture }));
        self.draw = Instant::now() + FRAME.max(began.elapsed() * SHARE);
        self.dirty = false;
    }

    /// Tells the editor something about this run.
    pub(super) fn tell(&self, mut event: Value) {
        event["root"] = json!(self.root);
        event["run_id"] = json!(self.run.run_id);
        event["superpower"] = json!(self.run.plan.name());
        event["total"] = json!(self.run.plan.total());
        (self.host.publish)(None, event);
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
