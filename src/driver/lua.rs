//! What Lua is asked for on its main loop: facts and prompts. The drive does not wait; the answer comes as a message, and
//! one that does not come in time is given up.

use super::Drive;
use crate::outcome::Session;
use crate::run::event::Event;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A question to Lua that is open.
pub(super) struct AskedLua {
    id: String,
    wanted: Wanted,
    /// When nobody waits for it any more.
    pub(super) until: Instant,
}

/// What is wanted.
pub(super) enum Wanted {
    /// A fact, for a stage's condition.
    Fact {
        /// Its name.
        fact: String,
        /// The stage that asks.
        stage: usize,
    },
    /// The prompt of a launch.
    Prompt {
        /// The stage.
        stage: usize,
        /// The launch.
        launch: u32,
        /// The session to go on in.
        session: Option<Session>,
    },
}

impl Drive {
    /// Asks; `event` is told with the question's id.
    pub(super) fn ask_lua(&mut self, wanted: Wanted, mut event: Value) {
        self.asks += 1;
        let id = format!("{}/lua-{}", self.run.run_id, self.asks);
        event["id"] = json!(id);
        self.tell(event);
        self.asked = Some(AskedLua { id, wanted, until: Instant::now() + PATIENCE });
    }

    /// What Lua says, or a human of a permission.
    pub(super) fn answered(&mut self, id: &str, answer: Result<Value, String>) {
        match self.asked.take_if(|asked| asked.id == id) {
            Some(asked) => self.lua_answered(asked, answer),
            None => self.permission_answered(id, answer),
        }
    }

    /// Gives up what has not come in time.
    pub(super) fn forget_late_answer(&mut self) {
        if let Some(asked) = self.asked.take_if(|asked| asked.until <= Instant::now()) {
            self.lua_answered(asked, Err(format!("no answer within {} seconds", PATIENCE.as_secs())));
        }
    }

    fn lua_answered(&mut self, asked: AskedLua, answer: Result<Value, String>) {
        match asked.wanted {
            Wanted::Fact { fact, stage } => self.fact_answered(fact, stage, answer),
            Wanted::Prompt { stage, launch, session } => {
                let text = answer.map(|value| value.get("prompt").and_then(Value::as_str).map(str::to_owned));
                match text {
                    _ if self.working(launch) != Some(stage) => {}
                    Ok(Some(text)) if !text.trim().is_empty() => self.dispatch(stage, launch, session, text),
                    Ok(_) => self.lua_failed("the prompt function gave no text"),
                    Err(error) => self.lua_failed(&format!("the prompt function failed: {error}")),
                }
            }
        }
    }

    /// What only the user's own code could give is not there: the run pauses, and resume asks again.
    pub(super) fn lua_failed(&mut self, why: &str) {
        self.notice("error", why);
        let _ = self.apply(Event::Interrupted { why: why.to_owned() });
    }
}
