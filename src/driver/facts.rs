//! Conditions of stages, decided with the facts of the project and those that Lua provides.

use super::Drive;
use super::lua::Wanted;
use crate::run::decide::{Verdict, decide};
use crate::run::effect::Effect;
use crate::run::event::Event;
use serde_json::{Value, json};

impl Drive {
    /// Takes `Decide` effects: what they lead to joins the same flush.
    pub(super) fn decide(&mut self) {
        while let Some(at) = self.pending.iter().position(|effect| matches!(effect, Effect::Decide { .. })) {
            let Effect::Decide { stage } = self.pending.remove(at) else { continue };
            loop {
                match decide(&self.run, stage) {
                    Verdict::Decided { run, why } => {
                        let _ = self.apply(Event::StageDecided { stage, run, why });
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
                        if self.apply(Event::FactDecided { fact, value, reason, stage }).is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Asks Lua for a fact; the answer comes as a message.
    fn ask_fact(&mut self, fact: String, stage: usize) {
        let inputs = &self.run.plan.inputs;
        let ctx =
            json!({ "root": self.root, "inputs": inputs, "stage": stage + 1, "run_id": self.run.run_id });
        let event = json!({ "type": "ask-fact", "name": fact, "ctx": ctx });
        self.ask_lua(Wanted::Fact { fact, stage }, event);
    }

    pub(super) fn fact_answered(&mut self, fact: String, stage: usize, answer: Result<Value, String>) {
        match answer {
            Ok(value) => {
                let Some(decided) = value.get("value").and_then(Value::as_bool) else {
                    let why = format!("the condition \"{fact}\" was answered by neither true nor false");
                    return self.lua_failed(&why);
                };
                let reason =
                    value.get("reason").and_then(Value::as_str).unwrap_or("your own condition").to_owned();
                let _ = self.apply(Event::FactDecided { fact, value: decided, reason, stage });
                self.pending.push(Effect::Decide { stage });
            }
            Err(error) => self.lua_failed(&format!("the condition \"{fact}\" could not be decided: {error}")),
        }
    }
}
