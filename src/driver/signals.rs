//! What agents tell: started, session, progress, questions, ended.

use super::Drive;
use super::judge::{Expected, judge};
use crate::harness::{Answer, Ending, Progress, Question, Signal};
use crate::project::expects;
use crate::prompt::{file_glob, head, tail};
use crate::run::event::Event;
use crate::run::state::Step;
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime};

/// Bytes of a final message that the journal keeps.
const MESSAGE: usize = 32 * 1024;
/// Bytes of output that the journal keeps of a failed attempt.
const TAIL: usize = 4 * 1024;
/// Bytes of why an attempt failed, or of what was asked, that the journal keeps.
const WHY: usize = 4 * 1024;

/// A permission waits no longer than this, whatever is configured.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// Permissions that one agent may ask for at once.
const MOST_QUESTIONS: usize = 100;

/// A permission that waits for a human.
#[derive(Debug)]
pub struct Pending {
    id: String,
    launch: u32,
    question: Question,
    until: Instant,
}

impl Pending {
    /// How long it still waits.
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl Drive {
    pub(super) fn signal(&mut self, launch: u32, signal: Signal) {
        match signal {
            Signal::Ended(ending) => self.ended(launch, ending),
            // A launch that is being stopped has nothing more to say.
            _ if self.working(launch).is_none() => {}
            Signal::Started(process) => {
                let Some(harness) =
                    self.run.current().and_then(|stage| self.run.stages[stage].harness.clone())
                else {
                    return;
                };
                let _ = self.apply(Event::AgentStarted { launch, harness, process });
            }
            Signal::Session(session) => {
                let _ = self.apply(Event::SessionOpened { launch, session });
            }
            Signal::Progress(progress) => self.progress(progress),
            Signal::Asked(question) => self.ask(launch, question),
            Signal::Withdrawn(id) => self.withdraw(launch, &id),
        }
    }

    fn progress(&mut self, progress: Progress) {
        if let Progress::Note { text } = &progress {
            self.notice("info", text);
        }
        self.checkpoint_progress(&progress);
        let files = self.live.take(progress);
        if !files.is_empty() {
            self.tell(json!({ "type": "files-changed", "paths": files }));
        }
        self.dirty = true;
    }

    fn ended(&mut self, launch: u32, ending: Ending) {
        self.stopping.retain(|agent| agent.launch != launch);
        self.agent.take_if(|agent| agent.launch == launch);
        self.forget_questions(launch);
        let Some(stage) = self.working(launch) else { return };
        let mut outcome = judge(&ending, &self.expected(stage));
        if let Step::Working { since, .. } = self.run.stages[stage].step {
            self.checkpoint_ended(stage, &outcome, &ending.message, &ending.tail, since);
        }
        if let Some(why) = outcome.text() {
            why.truncate(head(why, WHY).len());
        }
        let message = head(&ending.message, MESSAGE).to_owned();
        let tail = tail(&ending.tail, TAIL).to_owned();
        let event = Event::AttemptEnded { launch, outcome, message, tail, usage: ending.usage };
        self.live = super::live::Live::default();
        if self.apply(event).is_err() {
            self.keeper.forget();
        }
    }

    /// What the stage expects, as the disk has it now.
    fn expected(&self, stage: usize) -> Expected {
        let retry_fail = matches!(self.keeper.key(stage), Some("EXECUTE" | "FIX"));
        let Some(expects) = &self.run.plan.stage(stage).expects else {
            return Expected { retry_fail, ..Expected::default() };
        };
        let since = self.run.stages[stage].entered_at.map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
        let globs: Vec<String> =
            expects.files.iter().map(|glob| file_glob(&self.run, &glob.value, &globset::escape)).collect();
        Expected {
            declared: true,
            missing: expects::files_written_since(&self.root, &globs, since),
            verdict: expects.verdict.as_ref().map(|verdict| verdict.value.clone()),
            retry_fail,
        }
    }

    fn ask(&mut self, launch: u32, question: Question) {
        if self.questions.len() >= MOST_QUESTIONS {
            if let Some(agent) = self.agent.as_ref().filter(|agent| agent.launch == launch) {
                let why = "too many requests wait for an answer already".into();
                agent.running.answer(&question.id, Answer::Refuse { why });
            }
            return;
        }
        let id = format!("{}/{launch}/{}", self.run.run_id, question.id);
        let mut event = json!({
            "type": "permission", "id": id, "stage": self.run.current_position(),
            "tool": question.tool, "title": question.title, "input": question.input,
        });
        self.host.secrets.mask_message(&mut event, &["type", "id"]);
        self.tell(event);
        let now = Instant::now();
        let until = now.checked_add(self.host.config.permission_timeout).unwrap_or(now + A_YEAR);
        self.questions.push(Pending { id, launch, question, until });
    }

    pub(super) fn permission_answered(&mut self, id: &str, answer: Result<Value, String>) {
        let Some(at) = self.questions.iter().position(|pending| pending.id == id) else { return };
        let pending = self.questions.remove(at);
        let answer = answer
            .and_then(|value| serde_json::from_value::<Answer>(value).map_err(|_| "no answer".into()))
            .unwrap_or_else(|_| Answer::Refuse { why: "the answer could not be understood".into() });
        self.give(&pending, answer);
    }

    /// A machine's deny, where no human answered in time.
    pub(super) fn deny_late_questions(&mut self) {
        while let Some(at) = self.questions.iter().position(|pending| pending.left().is_zero()) {
            let pending = self.questions.remove(at);
            self.give(&pending, late());
        }
    }

    fn give(&self, pending: &Pending, answer: Answer) {
        if let Some(agent) = self.agent.as_ref().filter(|agent| agent.launch == pending.launch) {
            agent.running.answer(&pending.question.id, answer);
        }
        self.tell(json!({ "type": "permission-gone", "id": pending.id }));
    }

    /// The agent does not ask any more.
    fn withdraw(&mut self, launch: u32, id: &str) {
        let asked = |pending: &Pending| pending.launch == launch && pending.question.id == id;
        if let Some(at) = self.questions.iter().position(asked) {
            let pending = self.questions.remove(at);
            self.tell(json!({ "type": "permission-gone", "id": pending.id }));
        }
    }

    /// What a launch asked, and the buffer that a `manual` one works in, are no longer wanted.
    pub(super) fn forget_questions(&mut self, launch: u32) {
        for pending in std::mem::take(&mut self.questions) {
            self.tell(json!({ "type": "permission-gone", "id": pending.id }));
        }
        self.tell(json!({ "type": "manual-gone", "launch": launch }));
    }
}

/// A machine's deny.
fn late() -> Answer {
    Answer::Refuse { why: "nobody answered in time".into() }
}
