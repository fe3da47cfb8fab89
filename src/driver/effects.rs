//! What a step leads to, done: in order, each thing once, after its cause is on disk.

use super::Drive;
use super::announcement::Announcement;
use super::follow_up::{Act, Dispatch, Next, not_started};
use super::gate_review::Looked;
use super::launch::Ordered;
use super::performer::Wanted;
use crate::outcome::Outcome;
use crate::run::effect::Effect;
use crate::run::event::Event;

impl Drive {
    /// Does one thing.
    pub(super) fn act(&mut self, act: Act) {
        match act {
            Act::Dispatch(dispatch) => self.dispatch(dispatch),
            Act::Effect(effect) => match effect {
                // It is decided before the flush.
                Effect::Decide { .. } => {}
                Effect::StartAgent { stage, launch, resume, session } => {
                    let next = self.performer.start(&self.run, stage, launch, resume, session);
                    self.follow(next);
                }
                Effect::TakeBaseline if self.run.phase.ended() => {}
                Effect::TakeBaseline => self.performer.look(&self.run, Wanted::Baseline),
                Effect::OpenGate { stage, visit } if self.run.open_gate() == Some((stage, visit)) => {
                    self.performer.look(&self.run, Wanted::Gate { stage, visit });
                }
                Effect::OpenGate { .. } => {}
                Effect::Log(line) => self.told.push(Announcement::Log(line)),
                Effect::LogUntil { line, until } => self.told.push(Announcement::LogUntil(line, until)),
                Effect::Say(text) => self.told.push(Announcement::Answer(text)),
                Effect::Tell(notice) => self.told.push(Announcement::Run(notice)),
                Effect::Leave => self.over = true,
            },
        }
    }

    /// Goes on with what the performer has come to.
    pub(super) fn follow(&mut self, next: Next) {
        self.told.append(&mut self.performer.told);
        match next {
            Next::Nothing => {}
            Next::Happened(event) => {
                if self.step(*event).is_err() {
                    self.performer.checkpoints.forget();
                }
            }
            Next::Decide { event, stage } => {
                let _ = self.step(*event);
                self.fresh.push(Effect::Decide { stage });
            }
            Next::Dispatch(dispatch) => self.queue.push_front(Act::Dispatch(dispatch)),
            Next::Failed(error) => self.disk_failed(&error),
        }
    }

    /// Launches the stage's agent with this prompt.
    fn dispatch(&mut self, dispatch: Dispatch) {
        let launch = dispatch.launch;
        let order = match self.performer.order(&self.run, dispatch) {
            Ordered::Ready(order) => order,
            Ordered::Not(next) => return self.follow(next),
        };
        // Should the editor be killed right after, what the agent did is not taken for anybody else's doing.
        let _ = self.step(Event::AgentStarted { launch, harness: order.harness(), process: None });
        if let Err(error) = self.keeper.write(&self.run) {
            return self.disk_failed(&error.to_string());
        }
        if let Err(question) = self.performer.launch(&self.run, *order) {
            let _ = self.step(not_started(launch, Outcome::NeedsHuman { question }));
        }
        self.told.append(&mut self.performer.told);
    }

    /// What a look at the files has found.
    pub(super) fn looked(&mut self, wanted: Wanted, looked: Result<Looked, String>) {
        match wanted {
            Wanted::Baseline => {
                let Ok(Looked { after: tree, .. }) = looked else { return };
                let (tree, decisions) = (tree.as_str().to_owned(), self.run.decisions.len());
                let _ = self.step(Event::BaselineTaken { tree, decisions });
            }
            Wanted::Gate { stage, visit } => {
                if let Some(shown) = self.performer.review(&self.run, stage, looked) {
                    self.told.append(&mut self.performer.told);
                    let _ = self.step(shown.event(stage, visit));
                }
                self.say_what_lapsed();
            }
        }
        self.check_trust_of_queue();
    }
}
