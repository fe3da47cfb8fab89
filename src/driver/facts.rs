//! Decides the conditions of stages, from the project's facts and from those that Lua provides.

use super::Drive;
use super::lua_question::Subject;
use crate::run::decide::{Verdict, decide};
use crate::run::effect::Effect;
use crate::run::event::Event;
use serde_json::json;

impl Drive {
    /// Handles `Decide` effects. The resulting events join the same flush.
    pub(super) fn decide(&mut self) {
        while let Some(at) = self.fresh.iter().position(|effect| matches!(effect, Effect::Decide { .. })) {
            let Effect::Decide { stage } = self.fresh.remove(at) else { continue };
            loop {
                match decide(&self.run, stage) {
                    Verdict::Decided { run, why } => {
                        let _ = self.step(Event::StageDecided { stage, run, why });
                        break;
                    }
                    Verdict::Needs(fact) => {
                        let Some(known) =
                            crate::project::facts::decide(&fact, &self.run.plan.inputs, &self.root)
                        else {
                            self.ask_fact(fact, stage);
                            break;
                        };
                        let (value, reason) = (known.value, known.reason);
                        if self.step(Event::FactDecided { fact, value, reason, stage }).is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Asks Lua for a fact. The answer arrives as a message.
    fn ask_fact(&mut self, fact: String, stage: usize) {
        let inputs = &self.run.plan.inputs;
        let ctx =
            json!({ "root": self.root, "inputs": inputs, "stage": stage + 1, "run_id": self.run.run_id });
        let event = json!({ "type": "ask-fact", "name": fact, "ctx": ctx });
        let next = self.performer.ask_lua(&self.run, Subject::Fact { fact, stage }, event);
        self.announcements.append(&mut self.performer.announcements);
        self.follow(next);
    }
}
