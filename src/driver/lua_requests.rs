//! Asks Lua's main loop for facts and prompts. The drive does not wait: the answer arrives as a message, and a late
//! one is given up.

use super::announcement::Announcement;
use super::follow_up::{Dispatch, Next};
use super::lua_question::{LuaQuestion, Subject};
use super::performer::Performer;
use crate::run::event::Event;
use crate::run::state::Run;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Time limit of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

impl Performer {
    /// Asks Lua, in the editor that was used last; where there is none, the run has to wait for one. The question's id
    /// is added to `event`.
    pub(super) fn ask_lua(&mut self, run: &Run, subject: Subject, mut event: Value) -> Next {
        if !(self.host.has_lua)() {
            return Next::Happened(Box::new(Event::EditorNeeded { why: subject.needs_editor() }));
        }
        self.lua_questions += 1;
        let id = format!("{}/lua-{}", run.run_id, self.lua_questions);
        event["id"] = json!(id);
        self.announce(Announcement::ForLua(id.clone(), event));
        self.lua_question = Some(LuaQuestion { id, subject, until: Instant::now() + ANSWER_TIMEOUT });
        Next::Nothing
    }

    /// Handles an answer from Lua, or a user's answer about a permission.
    pub(super) fn answered(&mut self, run: &Run, id: &str, answer: Result<Value, String>) -> Next {
        match self.lua_question.take_if(|question| question.id == id) {
            Some(asked) => self.lua_answered(run, asked, answer),
            None => {
                self.permission_answered(id, answer);
                Next::Nothing
            }
        }
    }

    /// Whoever was asked has left, and there is nobody else to ask.
    pub(super) fn no_editor(&mut self, run: &Run, id: &str) -> Next {
        match self.lua_question.take_if(|question| question.id == id) {
            Some(asked) if asked.is_wanted(run) => {
                Next::Happened(Box::new(Event::EditorNeeded { why: asked.subject.needs_editor() }))
            }
            _ => Next::Nothing,
        }
    }

    /// Gives up a question whose answer is late.
    pub(super) fn forget_late_answer(&mut self, run: &Run) -> Next {
        match self.lua_question.take_if(|question| question.until <= Instant::now()) {
            Some(asked) => {
                let why = format!("no answer within {} seconds", ANSWER_TIMEOUT.as_secs());
                self.lua_answered(run, asked, Err(why))
            }
            None => Next::Nothing,
        }
    }

    fn lua_answered(&mut self, run: &Run, asked: LuaQuestion, answer: Result<Value, String>) -> Next {
        if !asked.is_wanted(run) {
            return Next::Nothing;
        }
        match asked.subject {
            Subject::Fact { fact, stage } => match fact_of(&fact, answer) {
                Ok((value, reason)) => {
                    let event = Box::new(Event::FactDecided { fact, value, reason, stage });
                    Next::Decide { event, stage }
                }
                Err(why) => self.lua_failed(why),
            },
            Subject::Prompt { stage, launch, session } => {
                let text = answer.map(|value| value.get("prompt").and_then(Value::as_str).map(str::to_owned));
                match text {
                    Ok(Some(prompt)) if !prompt.trim().is_empty() => {
                        Next::Dispatch(Dispatch { stage, launch, session, prompt })
                    }
                    Ok(_) => self.lua_failed("the prompt function did not return text".into()),
                    Err(error) => self.lua_failed(format!("the prompt function failed: {error}")),
                }
            }
        }
    }

    /// The user's own code has failed: the run pauses, and resuming asks again.
    fn lua_failed(&mut self, why: String) -> Next {
        self.announcements.push(Announcement::Notice("error", why.clone()));
        Next::Happened(Box::new(Event::Interrupted { why }))
    }
}

/// The value of a fact and its reason, as Lua returned them.
fn fact_of(fact: &str, answer: Result<Value, String>) -> Result<(bool, String), String> {
    let value = answer.map_err(|error| format!("cannot decide the condition \"{fact}\": {error}"))?;
    let Some(decided) = value.get("value").and_then(Value::as_bool) else {
        return Err(format!("the condition \"{fact}\" returned neither true nor false"));
    };
    let reason = value.get("reason").and_then(Value::as_str).unwrap_or("your own condition");
    Ok((decided, reason.to_owned()))
}
