//! Performs the effects of a step, in order. The events that caused them are on disk by then, so that a crash cannot
//! leave an action without its reason.

use super::Drive;
use super::announcement::Announcement;
use super::follow_up::{Act, Dispatch, Next, not_started};
use super::gate_review::Comparison;
use super::launch::Prepared;
use super::performer::ComparisonPurpose;
use crate::outcome::Outcome;
use crate::run::effect::Effect;
use crate::run::event::Event;

impl Drive {
    /// Performs one action.
    pub(super) fn act(&mut self, act: Act) {
        match act {
            Act::Dispatch(dispatch) => self.dispatch(dispatch),
            Act::Effect(effect) => match effect {
                // `Drive::decide` has handled it before the flush.
                Effect::Decide { .. } => {}
                Effect::StartAgent { stage, launch, resume, session } => {
                    let next = self.performer.start(&self.run, stage, launch, resume, session);
                    self.follow(next);
                }
                Effect::TakeBaseline if self.run.phase.ended() => {}
                Effect::TakeBaseline => {
                    self.performer.start_comparison(&self.run, ComparisonPurpose::Baseline)
                }
                Effect::OpenGate { stage, visit } if self.run.open_gate() == Some((stage, visit)) => {
                    self.performer.start_comparison(&self.run, ComparisonPurpose::Gate { stage, visit });
                }
                Effect::OpenGate { .. } => {}
                Effect::Log(line) => self.announcements.push(Announcement::Log(line)),
                Effect::LogUntil { line, until } => {
                    self.announcements.push(Announcement::LogUntil(line, until))
                }
                Effect::Say(text) => self.announcements.push(Announcement::Answer(text)),
                Effect::Notify(notice) => self.announcements.push(Announcement::Run(notice)),
                Effect::Leave => self.over = true,
            },
        }
    }

    /// Continues with a result of the performer: steps its event, or queues its launch.
    pub(super) fn follow(&mut self, next: Next) {
        self.announcements.append(&mut self.performer.announcements);
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
        let prepared = match self.performer.prepare(&self.run, dispatch) {
            Prepared::Ready(prepared) => prepared,
            Prepared::Not(next) => return self.follow(next),
        };
        // Written before the launch: if the editor is killed right after, the journal still says that this agent may
        // have changed files.
        let _ = self.step(Event::AgentStarted { launch, harness: prepared.harness(), process: None });
        if let Err(error) = self.keeper.write(&self.run) {
            return self.disk_failed(&error.to_string());
        }
        if let Err(question) = self.performer.launch(&self.run, *prepared) {
            let _ = self.step(not_started(launch, Outcome::NeedsHuman { question }));
        }
        self.announcements.append(&mut self.performer.announcements);
    }

    /// Handles the result of a comparison of files.
    pub(super) fn compared(&mut self, purpose: ComparisonPurpose, result: Result<Comparison, String>) {
        match purpose {
            ComparisonPurpose::Baseline => {
                let Ok(Comparison { after: tree, .. }) = result else { return };
                let (tree, decisions) = (tree.as_str().to_owned(), self.run.decisions.len());
                let _ = self.step(Event::BaselineTaken { tree, decisions });
            }
            ComparisonPurpose::Gate { stage, visit } => {
                if let Some(shown) = self.performer.review(&self.run, stage, result) {
                    self.announcements.append(&mut self.performer.announcements);
                    let _ = self.step(shown.event(stage, visit));
                }
                self.say_what_lapsed();
            }
        }
        self.check_trust_of_queue();
    }
}
