//! Conditions of stages, decided with the facts of the project and those that Lua provides.

use super::Drive;
use crate::run::decide::{Verdict, decide};
use crate::run::effect::Effect;
use crate::run::event::Event;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a fact that Lua provides may take.
const FACT: Duration = Duration::from_secs(10);

/// A fact that Lua has been asked for.
pub(super) struct AskedFact {
    id: String,
    fact: String,
    stage: usize,
    /// When nobody waits for it any more.
    pub(super) until: Instant,
}

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
        self.asks += 1;
        let id = format!("{}/fact-{}", self.run.run_id, self.asks);
        let inputs = &self.run.plan.inputs;
        let ctx =
            json!({ "root": self.root, "inputs": inputs, "stage": stage + 1, "run_id": self.run.run_id });
        self.tell(json!({ "type": "ask-fact", "id": id, "name": fact, "ctx": ctx }));
        self.asked = Some(AskedFact { id, fact, stage, until: Instant::now() + FACT });
    }

    /// What Lua says of a fact, or a human of a permission.
    pub(super) fn answered(&mut self, id: &str, answer: Result<Value, String>) {
        match self.asked.take_if(|asked| asked.id == id) {
            Some(asked) => self.fact_answered(asked, answer),
            None => self.permission_answered(id, answer),
        }
    }

    pub(super) fn fact_answered(&mut self, asked: AskedFact, answer: Result<Value, String>) {
        let AskedFact { fact, stage, .. } = asked;
        match answer {
            Ok(value) => {
                let decided = value.get("value").and_then(Value::as_bool).unwrap_or(false);
                let reason =
                    value.get("reason").and_then(Value::as_str).unwrap_or("your own condition").to_owned();
                let _ = self.apply(Event::FactDecided { fact, value: decided, reason, stage });
                self.pending.push(Effect::Decide { stage });
            }
            Err(error) => {
                let why = format!("the condition \"{fact}\" could not be decided: {error}");
                self.notice("error", &why);
                let _ = self.apply(Event::Interrupted { why });
            }
        }
    }

    /// Gives up a fact that has not come in time.
    pub(super) fn forget_late_fact(&mut self) {
        if let Some(asked) = self.asked.take_if(|asked| asked.until <= Instant::now()) {
            self.fact_answered(asked, Err(format!("no answer within {} seconds", FACT.as_secs())));
        }
    }
}
