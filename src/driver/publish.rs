//! Publishes a drive: pictures of the run, events, and the log.

use super::announcement::Announcement;
use super::delivery::Delivery;
use super::keeper::Keeper;
use super::performer::Performer;
use super::picture::{List, Picture};
use super::run_status::Standing;
use super::user_call::{self, CallReason, UserCall};
use crate::run::effect::Notice;
use crate::run::snapshot;
use crate::run::state::Run;
use crate::terminal::visible;
use crate::zone;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Minimum interval between two pictures of progress. Together with those drawn at once for changes, there are at
/// most 30 per second.
const FRAME: Duration = Duration::from_millis(36);
/// Drawing a long run takes at most one part in this many of the time.
const SHARE: u32 = 50;

/// Keys of a notice whose values are words of the plugin's own.
const NOTICE: [&str; 6] = ["type", "outcome", "gate", "decision", "reason", "state"];

impl Keeper {
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
        (self.host.publish)(Delivery::Newest(&format!("snapshot {}", self.root.display())), event);
        self.draw = Instant::now() + FRAME.max(began.elapsed() * SHARE);
        self.dirty = false;
    }

    /// Makes one announcement.
    pub(super) fn announce(&mut self, run: &Run, announcement: Announcement) {
        match announcement {
            Announcement::Log(line) => self.log(run, &line),
            Announcement::LogUntil(line, until) => {
                let clock = zone::current().clock(until, (self.host.clock)());
                self.log(run, &format!("{line} {clock}"));
            }
            Announcement::Notice(level, text) => self.notice(run, level, &text),
            Announcement::Answer(text) => {
                self.send(run, json!({ "type": "notice", "level": "info", "answer": true, "message": text }));
            }
            Announcement::Asks(stage, what) => {
                let words = format!("stage {stage}/{} {what}", run.plan.total());
                self.call_user(run, CallReason::Asks, &words);
            }
            Announcement::Run(notice) => {
                let mut event = serde_json::to_value(&notice).unwrap_or_default();
                if matches!(notice, Notice::RunStarted) {
                    event["inputs"] = json!(run.plan.inputs);
                }
                self.host.secrets.mask_message(&mut event, &NOTICE);
                self.send(run, event);
                let leaves = self.shared.cancel.is_set();
                if let Some((reason, words)) = user_call::of(&notice, run.plan.total(), leaves) {
                    self.call_user(run, reason, &words);
                }
            }
            Announcement::Event(event) => self.send(run, event),
            Announcement::Question(id, event) => self.deliver(run, Delivery::Question(&id), event),
            Announcement::Settled(id, event) => self.deliver(run, Delivery::Settled(&id), event),
            Announcement::ForLua(id, event) => self.deliver(run, Delivery::Lua(&id), event),
        }
    }

    /// Sends an event about this run to everybody who follows.
    pub(super) fn send(&self, run: &Run, event: Value) {
        self.deliver(run, Delivery::Everyone, event);
    }

    fn deliver(&self, run: &Run, delivery: Delivery<'_>, mut event: Value) {
        event["root"] = json!(self.root);
        event["run_id"] = json!(run.run_id);
        event["superpower"] = json!(run.plan.name());
        event["total"] = json!(run.plan.total());
        (self.host.publish)(delivery, event.to_string().into());
    }

    pub(super) fn notice(&self, run: &Run, level: &str, message: &str) {
        self.send(run, json!({ "type": "notice", "level": level, "message": message }));
    }

    /// Calls the user. Secrets are masked before the text is cut.
    fn call_user(&self, run: &Run, reason: CallReason, words: &str) {
        let call = UserCall {
            root: self.root.clone(),
            run_id: run.run_id.clone(),
            superpower: run.plan.name().to_owned(),
            reason,
            title: user_call::title(&self.host.secrets.mask(run.plan.name())),
            body: user_call::body(&self.host.secrets.mask(words)),
        };
        (self.host.call_user)(call);
    }

    /// Reports, once, that a file that can be rebuilt could not be written.
    pub(super) fn cannot_write(&mut self, run: &Run, what: &'static str, error: &std::io::Error) {
        if !self.reported.contains(&what) {
            self.reported.push(what);
            self.notice(run, "warn", &format!("cannot write {what}: {error}"));
        }
    }

    /// Writes a line of the log to the editor and to `.claude/logs/superpower.log`.
    fn log(&mut self, run: &Run, line: &str) {
        let line = visible(&self.host.secrets.mask(line));
        let line = format!("[superpower] {line}");
        if let Err(error) = self.log.append(&line) {
            self.cannot_write(run, "the log", &error);
        }
        // Whoever reads the lines from now on has this one, and takes the event for what it has already.
        let number = self.shared.logged().push(&line);
        self.send(run, json!({ "type": "log", "line": line, "number": number }));
    }
}
