//! Permission requests of agents, until the user or a timeout answers them.

use super::announcement::Announcement;
use super::pending_permission::PendingPermission;
use super::performer::Performer;
use crate::harness::{Answer, Question};
use crate::run::state::Run;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Upper limit of the wait for an answer, whatever is configured.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// Limit of open requests per agent.
const MAX_REQUESTS: usize = 100;

impl Performer {
    pub(super) fn ask(&mut self, run: &Run, launch: u32, question: Question) {
        if self.questions.len() >= MAX_REQUESTS {
            if let Some(agent) = self.agent.as_ref().filter(|agent| agent.launch == launch) {
                let why = "too many requests are waiting for an answer".into();
                agent.running.answer(&question.id, Answer::Refuse { why });
            }
            return;
        }
        let id = format!("{}/{launch}/{}", run.run_id, question.id);
        let mut event = json!({
            "type": "permission", "id": id, "stage": run.current_position(),
            "tool": question.tool, "title": question.title, "input": question.input, "rule": question.rule,
        });
        self.host.secrets.mask_message(&mut event, &["type", "id"]);
        self.announce(Announcement::Question(id.clone(), event));
        self.announce(Announcement::Asks(run.current_position(), format!("asks: {}", question.title)));
        let now = Instant::now();
        let until = now.checked_add(self.host.config.permission_timeout).unwrap_or(now + A_YEAR);
        self.questions.push(PendingPermission { id, launch, question, until });
    }

    pub(super) fn permission_answered(&mut self, id: &str, answer: Result<Value, String>) {
        let Some(at) = self.questions.iter().position(|pending| pending.id == id) else { return };
        let pending = self.questions.remove(at);
        let answer = answer
            .and_then(|value| serde_json::from_value::<Answer>(value).map_err(|_| "no answer".into()))
            .unwrap_or_else(|_| Answer::Refuse { why: "invalid answer".into() });
        self.give(&pending, answer);
    }

    /// Denies requests that the user did not answer in time.
    pub(super) fn deny_late_questions(&mut self, announcements: &mut Vec<Announcement>) {
        while let Some(at) = self.questions.iter().position(|pending| pending.left().is_zero()) {
            let pending = self.questions.remove(at);
            self.give(&pending, late());
        }
        announcements.append(&mut self.announcements);
    }

    fn give(&mut self, pending: &PendingPermission, answer: Answer) {
        if let Some(agent) = self.agent.as_ref().filter(|agent| agent.launch == pending.launch) {
            agent.running.answer(&pending.question.id, answer);
        }
        self.permission_gone(&pending.id);
    }

    /// The agent no longer asks.
    pub(super) fn withdraw(&mut self, launch: u32, id: &str) {
        let asked = |pending: &PendingPermission| pending.launch == launch && pending.question.id == id;
        if let Some(at) = self.questions.iter().position(asked) {
            let pending = self.questions.remove(at);
            self.permission_gone(&pending.id);
        }
    }

    /// Removes the requests of a launch, and the buffer of a manual one.
    pub(super) fn forget_questions(&mut self, launch: u32) {
        for pending in taken(&mut self.questions, launch) {
            self.permission_gone(&pending.id);
        }
        let gone = json!({ "type": "manual-gone", "launch": launch });
        self.announce(Announcement::Settled(self.manual_id(launch), gone));
    }

    /// The id of the question for a manual launch's result.
    pub(super) fn manual_id(&self, launch: u32) -> String {
        format!("{}/manual-{launch}", self.root.display())
    }

    fn permission_gone(&mut self, id: &str) {
        let gone = json!({ "type": "permission-gone", "id": id });
        self.announce(Announcement::Settled(id.to_owned(), gone));
    }
}

/// Removes and returns the requests of one launch; those of others stay.
fn taken(questions: &mut Vec<PendingPermission>, launch: u32) -> Vec<PendingPermission> {
    questions.extract_if(.., |pending| pending.launch == launch).collect()
}

fn late() -> Answer {
    Answer::Refuse { why: "nobody answered in time".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_launch_keeps_the_questions_of_other_launches() {
        let question = |id: &str| Question {
            id: id.to_owned(),
            tool: "Bash".into(),
            title: "run it".into(),
            input: Value::Null,
            rule: None,
        };
        let asked = |launch: u32, id: &str| PendingPermission {
            id: id.to_owned(),
            launch,
            question: question(id),
            until: Instant::now(),
        };
        let mut questions = vec![asked(1, "old"), asked(2, "new"), asked(1, "older")];
        let gone: Vec<String> = taken(&mut questions, 1).into_iter().map(|pending| pending.id).collect();
        assert_eq!(gone, ["old", "older"]);
        assert_eq!(questions.len(), 1);
        assert_eq!(questions[0].question.id, "new");
    }
}
